//! From events to mounts: what was read while a cartridge was in a drive, and what it took.

use super::hours::{Ledger, NOT_SAID};
use std::collections::BTreeMap;
use tapewise_formats::WrapLpos;
use tapewise_formats::event::{Action, Event, Outcome, Spot};
use tapewise_formats::event_log::Header;
use tapewise_model::Micros;

/// A run of blocks that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// Partition.
    pub partition: u8,
    /// First block.
    pub first_block: u64,
    /// Blocks, filemarks counted.
    pub blocks: u64,
    /// Bytes on the tape.
    pub bytes: u64,
    /// Where it began, where that was recorded.
    pub start: Option<WrapLpos>,
    /// Where the head was then, where that was recorded.
    pub end: Option<WrapLpos>,
    /// Time on the way to it, as measured: nothing where it followed upon the read before.
    pub way: Micros,
}

impl Read {
    /// The first block behind it.
    pub fn behind(&self) -> u64 {
        self.first_block.saturating_add(self.blocks)
    }

    fn of(event: &Event, byte_scale: u64) -> Option<Read> {
        let from = event.from?;
        let first_block = from.block?;
        let to_block = event.to.and_then(|to| to.block);
        let by_places = || to_block?.checked_sub(first_block);
        let blocks = Some(event.blocks).filter(|&blocks| blocks > 0);
        let blocks = blocks.or_else(by_places).filter(|&blocks| blocks > 0)?;
        Some(Read {
            partition: from.partition,
            first_block,
            blocks,
            bytes: event.bytes.saturating_mul(byte_scale),
            start: place(&from),
            end: event.to.as_ref().and_then(place),
            way: Micros::ZERO,
        })
    }
}

/// The physical position of a spot, where both halves of it are known.
pub fn place(spot: &Spot) -> Option<WrapLpos> {
    let (wrap, lpos) = (spot.wrap?, spot.lpos?);
    Some(WrapLpos { wrap, lpos })
}

/// What was read while a cartridge was in a drive.
#[derive(Clone, Debug, Default)]
pub struct Mount {
    /// The drive, where it was said.
    pub drive: Option<String>,
    /// The cartridge, where it was said.
    pub volume: Option<String>,
    /// The profile that the log names.
    pub profile: Option<String>,
    /// Where the head was before the first read; `None` where nobody said, which is taken to be the
    /// beginning of tape.
    pub head: Option<Spot>,
    /// What was read, in that order.
    pub reads: Vec<Read>,
    /// From the head's first place to the last read, without reading.
    pub locating: Micros,
    /// Reading.
    pub reading: Micros,
    /// The rewind behind the last read, where there was one.
    pub rewind: Option<Micros>,
    /// Reads of which the log does not say which blocks they were.
    pub unplaced: u64,
    /// Things that failed or were given up; their times are in no price.
    pub failed: u64,
    /// Whether anything was written.
    pub wrote: bool,
    /// Whether it began before the time from which on events count: what was read before is not known.
    pub began_before: bool,
    /// Locating since the last read, which counts if another read follows.
    pending: Micros,
    /// When the last event ended.
    until: Option<Micros>,
    /// What the last read was for.
    purpose: Option<String>,
}

impl Mount {
    /// Locating, the rewind at the end included.
    pub fn moving(&self) -> Micros {
        self.locating + self.rewind.unwrap_or(Micros::ZERO)
    }

    /// Whether an event says that another cartridge is in the drive.
    fn is_of_another(&self, event: &Event) -> bool {
        let both = self.volume.as_ref().zip(event.cartridge.as_ref());
        both.is_some_and(|(mine, other)| mine != other)
    }

    /// Takes in an event, which must be one of this mount.
    fn add(&mut self, event: &Event, byte_scale: u64) {
        if event.outcome != Outcome::Done {
            self.failed += 1;
            return;
        }
        match event.action {
            Action::Mount => {
                self.head = Some(Spot {
                    block: Some(0),
                    ..Spot::default()
                })
            }
            Action::Locate | Action::ReadThrough => {
                if self.reads.is_empty() && self.pending == Micros::ZERO {
                    self.head = event.from.or(self.head);
                }
                self.pending += event.took_us;
            }
            // Before the first read it is no part of any order, but where the head begins.
            Action::Rewind if self.reads.is_empty() => {
                self.head = Some(Spot {
                    block: Some(0),
                    ..Spot::default()
                });
                self.pending = Micros::ZERO;
            }
            Action::Rewind => {
                self.rewind = Some(event.took_us);
                self.pending += event.took_us;
            }
            Action::Read => self.read(event, byte_scale),
            Action::Write | Action::WriteFilemarks => self.wrote = true,
            Action::Fetch | Action::Return | Action::Unmount | Action::Pause => {}
        }
    }

    fn read(&mut self, event: &Event, byte_scale: u64) {
        let follows = self.pending == Micros::ZERO;
        let way = self.pending;
        self.locating += way;
        self.reading += event.took_us;
        self.pending = Micros::ZERO;
        self.rewind = None;
        let same = self.purpose.is_some() && self.purpose == event.purpose;
        self.purpose.clone_from(&event.purpose);
        let Some(read) = Read::of(event, byte_scale) else {
            self.unplaced += 1;
            return;
        };
        if self.reads.is_empty() && follows {
            self.head = event.from.or(self.head);
        }
        match self.reads.last_mut() {
            // One request read in several pieces stays one.
            Some(last)
                if same
                    && follows
                    && (last.partition, last.behind()) == (read.partition, read.first_block) =>
            {
                last.blocks = last.blocks.saturating_add(read.blocks);
                last.bytes = last.bytes.saturating_add(read.bytes);
                last.end = read.end;
            }
            _ => self.reads.push(Read { way, ..read }),
        }
    }
}

/// The mounts that are going on, one for each drive.
#[derive(Debug, Default)]
pub struct Mounts {
    /// What everything took.
    pub ledger: Ledger,
    /// Events that began before the one before them on the same drive had ended.
    pub overlaps: u64,
    /// By how much, summed: logs that round their times overlap by very little.
    pub overlapped: Micros,
    /// Events that began before [`Mounts::since`], which are not counted.
    pub before: u64,
    /// Events that began before this time are not counted.
    pub since: Option<Micros>,
    /// Whether the current log has dates: times since 1970.
    pub has_dates: bool,
    /// The profile that the current session names.
    profile: Option<String>,
    /// What a byte of the current session stands for.
    byte_scale: Option<u64>,
    open: BTreeMap<String, Mount>,
}

impl Mounts {
    /// Takes in the header of a session: mounts that are open end, and what the header says of profile
    /// and scale holds for the mounts that follow.
    pub fn begin(&mut self, header: &Header, close: &mut dyn FnMut(Mount)) {
        self.close_all(close);
        self.profile.clone_from(&header.profile);
        self.byte_scale = header.byte_scale;
    }

    /// Ends a log: its mounts are closed, and nothing it said holds for the next one.
    pub fn end(&mut self, close: &mut dyn FnMut(Mount)) {
        self.close_all(close);
        (self.profile, self.byte_scale) = (None, None);
        self.has_dates = false;
    }

    /// Takes in an event, and hands out the mounts that it ends.
    pub fn add(&mut self, event: &Event, close: &mut dyn FnMut(Mount)) {
        let is_before = self.since.is_some_and(|since| event.at_us < since);
        self.before += u64::from(is_before);
        if matches!(event.action, Action::Fetch | Action::Return) {
            if !is_before {
                self.count(event, Micros::ZERO);
            }
            return;
        }
        let drive = event.device.as_deref().unwrap_or(NOT_SAID);
        if let Some(mount) = self.open.get(drive)
            && (event.action == Action::Mount || mount.is_of_another(event))
            && let Some(mount) = self.open.remove(drive)
        {
            close(mount);
        }
        if !self.open.contains_key(drive) {
            let mount = Mount {
                drive: event.device.clone(),
                volume: event.cartridge.clone(),
                profile: self.profile.clone(),
                ..Mount::default()
            };
            self.open.insert(drive.to_owned(), mount);
        }
        let Some(mount) = self.open.get_mut(drive) else {
            return;
        };
        if mount.volume.is_none() {
            mount.volume.clone_from(&event.cartridge);
        }
        if is_before {
            mount.began_before = true;
        } else {
            let gap = event.at_us - mount.until.unwrap_or(event.at_us);
            self.overlaps += u64::from(gap < Micros::ZERO);
            self.overlapped += (-gap).max(Micros::ZERO).min(event.took_us);
            let end = event.at_us + event.took_us;
            mount.until = Some(mount.until.map_or(end, |until| until.max(end)));
            mount.add(event, self.byte_scale.unwrap_or(1));
            self.count(event, gap.max(Micros::ZERO));
        }
        if event.action == Action::Unmount
            && event.outcome == Outcome::Done
            && let Some(mount) = self.open.remove(drive)
        {
            close(mount);
        }
    }

    /// Counts an event, and the time that its drive did nothing before.
    fn count(&mut self, event: &Event, idle: Micros) {
        self.ledger.add(event, idle);
        if self.has_dates {
            self.ledger.add_day(event, idle);
        }
    }

    fn close_all(&mut self, close: &mut dyn FnMut(Mount)) {
        std::mem::take(&mut self.open).into_values().for_each(close);
    }
}
