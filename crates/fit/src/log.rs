//! Locates from logs of all kinds, with where each came from.

mod kind;

pub use kind::{HEAD_BYTES, LogFormat, LogKind, recognise};

use crate::blind::{Move, Volume};
use crate::sample::Sample;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{BufRead, Cursor, Read};
use tapewise_formats::TableError;
use tapewise_formats::block_moves_csv::{BlockMove, read_block_moves};
use tapewise_formats::cta_log::{CtaLogError, read_cta_log};
use tapewise_formats::event::{Action, Event, Outcome, Spot};
use tapewise_formats::event_log::{EventLogError, Session, read_events};
use tapewise_formats::locate_csv::read_locates;
use tapewise_model::{Micros, Position, PositionSource};

/// Why a log could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// A compressed file.
    #[error("compressed with gzip")]
    Gzip,
    /// The input could not be read.
    #[error("cannot read: {0}")]
    Read(#[source] std::io::Error),
    /// A log that was read before: each locate counts once.
    #[error("given twice; each locate counts once")]
    Twice,
    /// No event log.
    #[error(transparent)]
    Events(#[from] EventLogError),
    /// No CSV with positions or block numbers.
    #[error(transparent)]
    Table(#[from] TableError),
    /// No log of CTA's tape daemon.
    #[error(transparent)]
    Cta(#[from] CtaLogError),
    /// Some logs have positions, others block numbers only.
    #[error(
        "some logs have positions, others block numbers only, and their times may not mean the same"
    )]
    Mixed,
}

/// A locate of an event log that knows blocks, but not where they lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockLocate {
    /// The cartridge, numbered as in [`Sample`].
    pub cartridge: u32,
    /// Partition and block where the head was.
    pub from: (u8, u64),
    /// Partition and block where it was asked to go.
    pub to: (u8, u64),
    /// How long it took.
    pub time: Micros,
    /// File and number of the event.
    pub origin: String,
}

/// What was read of one log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadLog {
    /// What it was read as.
    pub kind: LogKind,
    /// Locates or moves that can be fitted.
    pub moves: usize,
    /// For a log of CTA: files that were read from tape.
    pub files: usize,
    /// For a log of CTA: lines of something else.
    pub other_lines: u64,
    /// For a log of CTA: moves that are not known because they come first after a mount, or after an error.
    pub not_known: [u64; 2],
    /// Locates of an event log that are left out because they tell neither positions nor blocks.
    pub unplaced: usize,
    /// Locates of an event log that are left out because they did not get there.
    pub failed: usize,
    /// Locates that are left out because they were read before: logs overlap, and what is held out must not be seen.
    pub repeated: usize,
    /// What the reader of the format noticed.
    pub notices: Vec<String>,
}

impl ReadLog {
    fn new(kind: LogKind, moves: usize) -> ReadLog {
        ReadLog {
            kind,
            moves,
            files: 0,
            other_lines: 0,
            not_known: [0; 2],
            unplaced: 0,
            failed: 0,
            repeated: 0,
            notices: Vec::new(),
        }
    }
}

/// The locates of several logs.
#[derive(Debug, Default)]
pub struct Records {
    /// The locates with places: those that the drive told, or, once maps were found, those on the maps.
    pub samples: Vec<Sample>,
    /// File and line, or number of the event, of each whose ends are known.
    pub origins: Vec<String>,
    /// Locates of event logs whose ends are known by block only.
    pub block_locates: Vec<BlockLocate>,
    /// Moves of other logs that are known by block numbers only, volume by volume.
    pub moves: BTreeMap<String, Vec<Move>>,
    /// What the files on CTA's tapes take: bytes of data, and blocks with their labels.
    pub cta_files: Option<[u64; 2]>,
    /// What the event logs read and wrote: bytes on the tape, and blocks.
    pub transferred: [u64; 2],
    /// The files, as given.
    pub files: Vec<String>,
    /// Whether a log says that its times come from an emulated drive.
    pub emulated: bool,
    /// The profiles that the event logs were made with.
    pub profiles: BTreeSet<String>,
    cartridges: BTreeMap<String, u32>,
    seen: HashSet<Identity>,
}

/// What no two locates have in common: the cartridge, if it has a name, both ends, the time taken, and of an event when
/// it began.
type Identity = (Option<String>, [(u64, u64); 2], Micros, Option<Micros>);

impl Records {
    /// Adds the locates of a log called `name`.
    ///
    /// # Errors
    /// [`LogError`], without the name.
    pub fn read(
        &mut self,
        name: &str,
        mut input: impl BufRead,
        format: Option<LogFormat>,
    ) -> Result<ReadLog, (Option<LogKind>, LogError)> {
        if self.files.iter().any(|file| file == name) {
            return Err((None, LogError::Twice));
        }
        let mut head = Vec::new();
        let read = input.by_ref().take(HEAD_BYTES).read_to_end(&mut head);
        read.map_err(|error| (None, LogError::Read(error)))?;
        let kind = recognise(&head, format).map_err(|error| (None, error))?;
        let input = Cursor::new(head).chain(input);
        let read = match kind {
            LogKind::Events => self.read_events(name, input),
            LogKind::Locates => self.read_locates(name, input),
            LogKind::BlockMoves => self.read_block_moves(input),
            LogKind::Cta => self.read_cta(input),
        };
        let read = read.map_err(|error| (Some(kind), error))?;
        self.files.push(name.to_owned());
        Ok(read)
    }

    /// Refuses logs whose times may not mean the same.
    ///
    /// # Errors
    /// [`LogError::Mixed`].
    pub fn check(&self) -> Result<(), LogError> {
        let has_places = !self.samples.is_empty() || !self.block_locates.is_empty();
        if !self.moves.is_empty() && has_places {
            Err(LogError::Mixed)
        } else {
            Ok(())
        }
    }

    /// The volumes that are known by block numbers only, by name.
    pub fn volumes(&self) -> Vec<Volume> {
        let volumes = self.moves.iter().map(|(name, moves)| Volume {
            name: name.clone(),
            moves: moves.clone(),
        });
        volumes.collect()
    }

    fn read_block_moves(&mut self, input: impl BufRead) -> Result<ReadLog, LogError> {
        let mut read = ReadLog::new(LogKind::BlockMoves, 0);
        let moves = read_block_moves(input)?;
        (read.notices).extend(odd_unit(moves.iter().map(|each| each.took)));
        self.add_moves(moves, &mut read);
        Ok(read)
    }

    fn read_cta(&mut self, input: impl BufRead) -> Result<ReadLog, LogError> {
        let log = read_cta_log(input)?;
        let found = log.moves();
        let [bytes, blocks] = self.cta_files.get_or_insert_default();
        for read in &log.reads {
            *bytes += read.data_bytes;
            *blocks += read.end_block() - read.first_block();
        }
        let mut read = ReadLog {
            files: log.reads.len(),
            other_lines: log.passed_over,
            not_known: [found.first_of_mount, found.behind_error],
            notices: log.notices.iter().map(ToString::to_string).collect(),
            ..ReadLog::new(LogKind::Cta, 0)
        };
        self.add_moves(found.moves, &mut read);
        Ok(read)
    }

    fn add_moves(&mut self, moves: Vec<BlockMove>, read: &mut ReadLog) {
        for each in moves {
            let ends = [(0, each.from_block), (0, each.to_block)];
            let volume = Some(each.volume.clone());
            if !self.seen.insert((volume, ends, each.took, None)) {
                read.repeated += 1;
                continue;
            }
            read.moves += 1;
            self.moves.entry(each.volume).or_default().push(Move {
                from_block: each.from_block,
                to_block: each.to_block,
                time: each.took,
            });
        }
    }

    fn read_locates(&mut self, name: &str, input: impl BufRead) -> Result<ReadLog, LogError> {
        let locates = read_locates(input)?;
        let before = self.samples.len();
        let mut read = ReadLog::new(LogKind::Locates, 0);
        (read.notices).extend(odd_unit(locates.iter().map(|each| each.took)));
        for locate in locates {
            let cartridge = self.cartridge(locate.volume.as_deref().unwrap_or(name));
            let from = recorded(locate.from_wrap, locate.from_lpos);
            let to = recorded(locate.to_wrap, locate.to_lpos);
            let ends = [from, to].map(of_place);
            if !self.seen.insert((locate.volume, ends, locate.took, None)) {
                read.repeated += 1;
                continue;
            }
            self.samples.push(Sample {
                cartridge,
                from,
                to,
                time: locate.took,
            });
            self.origins.push(format!("{name}, line {}", locate.line));
        }
        read.moves = self.samples.len() - before;
        Ok(read)
    }

    fn read_events(&mut self, name: &str, input: impl BufRead) -> Result<ReadLog, LogError> {
        let log = read_events(input)?;
        let before = self.samples.len() + self.block_locates.len();
        let mut read = ReadLog::new(LogKind::Events, 0);
        read.notices = log.notices.iter().map(ToString::to_string).collect();
        let mut nth = 0;
        for session in &log.sessions {
            self.read_session(name, session, &mut nth, &mut read);
        }
        read.moves = self.samples.len() + self.block_locates.len() - before;
        Ok(read)
    }

    fn read_session(&mut self, name: &str, session: &Session, nth: &mut usize, read: &mut ReadLog) {
        let header = session.header.as_ref();
        self.emulated |= header.is_some_and(|header| header.emulated);
        self.profiles
            .extend(header.and_then(|header| header.profile.clone()));
        let scale = header.and_then(|header| header.byte_scale).unwrap_or(1);
        let mut is_first_of_mount = false;
        for event in &session.events {
            *nth += 1;
            match event.action {
                Action::Mount => is_first_of_mount = true,
                Action::Read | Action::Write if event.outcome == Outcome::Done => {
                    let bytes = event.bytes.saturating_mul(scale);
                    self.transferred[0] = self.transferred[0].saturating_add(bytes);
                    self.transferred[1] = self.transferred[1].saturating_add(event.blocks);
                }
                Action::Locate => {
                    let origin = format!("{name}, event {nth}");
                    let cartridge = event.cartridge.as_deref().unwrap_or(name);
                    let ends = places(event).map(|ends| ends.map(of_place));
                    let ends = ends.or_else(|| Some(blocks(event)?.map(|(p, b)| (p.into(), b))));
                    let is_repeated = ends.is_some_and(|ends| {
                        let (named, at) = (event.cartridge.clone(), Some(event.at_us));
                        !self.seen.insert((named, ends, event.took_us, at))
                    });
                    if event.outcome != Outcome::Done {
                        read.failed += 1;
                    } else if is_repeated {
                        read.repeated += 1;
                    } else if !self.add_locate(cartridge, event, is_first_of_mount, origin) {
                        read.unplaced += 1;
                    }
                    is_first_of_mount = false;
                }
                _ => {}
            }
        }
    }

    /// Adds a locate, and says whether its ends are known.
    fn add_locate(
        &mut self,
        cartridge: &str,
        event: &Event,
        is_first_of_mount: bool,
        origin: String,
    ) -> bool {
        let (time, cartridge) = (event.took_us, self.cartridge(cartridge));
        if let Some([from, to]) = places(event) {
            self.samples.push(Sample {
                cartridge,
                from,
                to,
                time,
            });
            self.origins.push(origin);
            return true;
        }
        match blocks(event) {
            // What a drive does first with a cartridge is part of loading it, and a locate to where the head stands
            // moves nothing.
            Some([from, to]) if !is_first_of_mount && from != to => {
                self.block_locates.push(BlockLocate {
                    cartridge,
                    from,
                    to,
                    time,
                    origin,
                });
                true
            }
            _ => false,
        }
    }

    fn cartridge(&mut self, name: &str) -> u32 {
        let next = self.cartridges.len() as u32;
        *self.cartridges.entry(name.to_owned()).or_insert(next)
    }

    /// The name of a numbered cartridge.
    pub fn cartridge_name(&self, number: u32) -> Option<&str> {
        let mut names = self.cartridges.iter();
        names
            .find(|(_, each)| **each == number)
            .map(|(name, _)| name.as_str())
    }
}

/// What to say of times that no drive takes for most locates: they may be in another unit than their column says.
fn odd_unit(times: impl Iterator<Item = Micros>) -> Option<String> {
    let mut times: Vec<Micros> = times.collect();
    times.sort_unstable();
    let median = times.get(times.len() / 2)?.as_secs_f64();
    (!(0.1..=1000.0).contains(&median)).then(|| {
        format!(
            "the median locate takes {median} s, and drives take seconds to minutes: see whether the times are in the unit \
             that the name of their column says (locate_us, locate_ms, locate_s)"
        )
    })
}

fn of_place(place: Position) -> (u64, u64) {
    (place.wrap.into(), place.lpos.into())
}

fn places(event: &Event) -> Option<[Position; 2]> {
    let place = |spot: &Option<Spot>| {
        let spot = spot.as_ref()?;
        Some(recorded(spot.wrap?, spot.lpos?))
    };
    Some([place(&event.from)?, place(&event.to)?])
}

fn blocks(event: &Event) -> Option<[(u8, u64); 2]> {
    let place = |spot: &Option<Spot>| {
        let spot = spot.as_ref()?;
        Some((spot.partition, spot.block?))
    };
    Some([place(&event.from)?, place(&event.to)?])
}

fn recorded(wrap: u16, lpos: u32) -> Position {
    Position {
        partition: 0,
        wrap,
        lpos,
        source: PositionSource::Recorded,
        error_lpos: 0,
    }
}
