//! Cartridges are read from end to end: those that others wrote, and ours whose catalogue was lost or is
//! older than the tape. All drives read at once.

use super::join::{FoundParts, LeftOut, Rest, is_file, whole};
use super::session::DriveContext;
use super::{MoveError, Mover};
use crate::catalogue::{Entry, HOLDS_MORE, Recorded, Rejoined, too_long};
use crate::deliver::InnerPath;
use crate::foreign::{ForeignVolume, is_same_label};
use crate::ltfs::volume::{LtfsError, LtfsVolume, label_in_drive, name_in_drive};
use crate::record::{File, Owner, Segment, Volume, VolumeFormat, VolumeState};
use crate::sums::{Kind, Sum};
use crate::volume::{
    Found, Located, Member, Scanned, Trouble, VolumeError, Wrong, read_label, scan,
};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tapewise_library::pool::{Trouble as WorkTrouble, WorkError};
use tapewise_run::{Log, Recorder, RunError, barcode};
use tapewise_scsi::TapeDrive;

/// What was found on a cartridge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// How many files and copies are in the catalogue now.
    pub joined: Rejoined,
    /// Members that are no files of the archive, and why.
    pub left_out: Vec<LeftOut>,
    /// What is not as it should be on the tape, a sentence each.
    pub troubles: Vec<String>,
}

/// What came of reading a cartridge in.
#[derive(Debug)]
pub enum ReadIn {
    /// It is in the catalogue.
    Added(Added),
    /// It is blank, not one of ours, or of a format that is not known; it is not in the catalogue.
    Passed(String),
    /// It could not be read; nothing of it was added.
    Failed(MoveError),
}

/// What came of reading cartridges in.
#[derive(Debug, Default)]
pub struct Rebuilt {
    /// By label.
    pub volumes: Vec<(String, ReadIn)>,
    /// Files in parts that could be joined, of all cartridges.
    pub joined: Rejoined,
    /// Files of which parts are missing, and which.
    pub left_out: Vec<LeftOut>,
}

/// What is done with cartridges that are not ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// Their tar archives and LTFS volumes are added below the cartridge's label, and never written.
    Add,
    /// They are passed over.
    Pass,
}

/// What all drives that read cartridges in share.
struct Reading<'a> {
    with: DriveContext<'a>,
    others: Others,
    copies_wanted: u32,
    /// The longest path that the catalogue takes.
    longest_path: Option<usize>,
    /// Which of the labels no library has: a person puts these cartridges in.
    by_hand: Vec<bool>,
    parts: Mutex<FoundParts>,
    /// The volumes of ours, by their place among the labels.
    ours: Mutex<HashMap<usize, Volume>>,
}

impl Mover<'_> {
    /// Labels of all cartridges that can be had, cleaning cartridges left out.
    pub fn cartridges(&self) -> Vec<String> {
        let places = self.pool.volumes().into_iter();
        let present = places.filter(|(label, place)| {
            !matches!(place, tapewise_library::pool::Whereabouts::Missing(_))
                && !super::migrate::is_cleaning(label)
        });
        present.map(|(label, _)| label).collect()
    }

    /// Reads cartridges of tar archives whole and adds what is on them: of ours the files under the paths
    /// that they had, joined to what the catalogue knows, each wanted on `copies_wanted` volumes where the
    /// tape does not say on how many; of others see [`Others`].
    ///
    /// # Errors
    /// [`MoveError`]; what was added until then stays. A cartridge that cannot be read is none.
    pub fn read_in(
        &mut self,
        labels: &[String],
        others: Others,
        copies_wanted: u32,
    ) -> Result<Rebuilt, MoveError> {
        let in_libraries = self.pool.volumes();
        let by_hand = labels.iter().map(|label| !in_libraries.contains_key(label));
        let reading = Reading {
            with: self.with(),
            others,
            copies_wanted,
            longest_path: self.catalogue.longest_path()?,
            by_hand: by_hand.collect(),
            parts: Mutex::default(),
            ours: Mutex::default(),
        };
        let pace = self.pool.pace();
        let job = |number: usize, drive: &mut TapeDrive, log: &mut dyn Log| {
            reading.read(number, &labels[number], drive, log)
        };
        let results = self.pool.work(labels, pace, self.log, self.stop, &job);
        let mut rebuilt = Rebuilt::default();
        for (label, result) in labels.iter().zip(results) {
            let read = match result {
                Ok(read) => read,
                Err(WorkError::Pool(error)) => ReadIn::Failed(error.into()),
                Err(WorkError::Run(source)) => {
                    let error = MoveError::Run {
                        label: label.clone(),
                        source,
                    };
                    if error.is_interrupted() {
                        return Err(error);
                    }
                    ReadIn::Failed(error)
                }
            };
            rebuilt.volumes.push((label.clone(), read));
        }
        reading.join_parts(labels, &mut rebuilt)?;
        Ok(rebuilt)
    }
}

impl Reading<'_> {
    fn read(
        &self,
        number: usize,
        label: &str,
        drive: &mut TapeDrive,
        log: &mut dyn Log,
    ) -> Result<ReadIn, WorkTrouble> {
        if self.by_hand[number]
            && let Some(found) = self.other_name(label, drive, log)?
        {
            return Err(WorkTrouble::Another(found));
        }
        // An LTFS volume is known by its label and read by its index: nobody reads all of it for that.
        if self.others == Others::Add && label_in_drive(drive).is_ok() {
            let volume = match LtfsVolume::look(drive) {
                Err(LtfsError::Scsi(error)) => return Err(RunError::from(error).into()),
                looked => looked,
            };
            let added = volume
                .map_err(|error| no_index(label, &error))
                .and_then(|volume| self.add_ltfs(label, &volume));
            return Ok(added.map_or_else(ReadIn::Failed, ReadIn::Added));
        }
        let mut recorder = Recorder::new(drive, log, self.with.stop);
        let mut found = Contents::default();
        let scanned = scan(&mut recorder, &mut |one| {
            found.take(one);
            Ok(())
        });
        let scanned = match scanned {
            Ok(scanned) => scanned,
            Err(VolumeError::Run(error)) => return Err(error.into()),
            Err(source) => {
                let label = label.to_owned();
                return Ok(ReadIn::Failed(MoveError::Volume { label, source }));
            }
        };
        let added = match (&scanned.label, self.others) {
            (Some(_), _) => self.add_ours(number, label, &scanned, found),
            (None, _) if scanned.end_of_data == 0 => {
                return Ok(ReadIn::Passed("it is blank".to_owned()));
            }
            (None, Others::Add) if found.members.is_empty() && found.left_out.is_empty() => {
                let why = "it holds neither a tar archive nor an LTFS volume";
                return Ok(ReadIn::Passed(why.to_owned()));
            }
            (None, Others::Add) => self.add_others(label, &scanned, found),
            (None, Others::Pass) => {
                let why = "it has no label of tapewise: `catalog add` adds cartridges of others";
                return Ok(ReadIn::Passed(why.to_owned()));
            }
        };
        Ok(added.map_or_else(ReadIn::Failed, ReadIn::Added))
    }

    /// What the cartridge in a drive calls itself, if that is another label than the person was asked for. No library
    /// has read its barcode, so its own words are all there is: the label on tape, and the barcode in its memory.
    fn other_name(
        &self,
        label: &str,
        drive: &mut TapeDrive,
        log: &mut dyn Log,
    ) -> Result<Option<String>, RunError> {
        let on_tape = match read_label(&mut Recorder::new(drive, log, self.with.stop)) {
            Ok(ours) => Some(ours.barcode),
            Err(VolumeError::Run(error)) => return Err(error),
            Err(_) => match name_in_drive(drive) {
                Err(LtfsError::Scsi(error)) => return Err(error.into()),
                name => name.unwrap_or_default(),
            },
        };
        let names: Vec<String> = on_tape.into_iter().chain(barcode(drive)).collect();
        let is_it = names.iter().any(|name| is_same_label(name, label));
        Ok(names.into_iter().next().filter(|_| !is_it))
    }

    /// Says why a file stays out if its path is too long for the catalogue: the others of its cartridge come in.
    fn fits(&self, path: &[u8]) -> Result<(), String> {
        match self.longest_path {
            Some(most) if path.len() > most => Err(too_long(path.len(), most)),
            _ => Ok(()),
        }
    }

    /// Adds what is whole on a volume of ours, and keeps its parts of files for later.
    fn add_ours(
        &self,
        number: usize,
        label: &str,
        scanned: &Scanned,
        found: Contents,
    ) -> Result<Added, MoveError> {
        let Some(on_tape) = &scanned.label else {
            return Ok(Added::default());
        };
        let mut left_out = found.left_out;
        let (mut copies, mut parts) = (Vec::new(), Vec::new());
        for located in &found.members {
            let is_taken = is_file(located).and_then(|()| self.fits(&located.member.path));
            let taken = is_taken.and_then(|()| match located.member.part {
                Some(_) => {
                    let mut all = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
                    all.add(number, located)?;
                    parts.push(&located.member);
                    Ok(())
                }
                None => {
                    copies.push(whole(located, 0, self.copies_wanted)?);
                    Ok(())
                }
            });
            if let Err(why) = taken {
                left_out.push((located.member.name(), why));
            }
        }
        let volume = Volume {
            label: label.to_owned(),
            uuid: on_tape.uuid.clone(),
            format: VolumeFormat::Tapewise,
            // What could not be read may have been more than the end.
            state: if found.troubles.is_empty() {
                VolumeState::Filling
            } else {
                VolumeState::Full
            },
            block_bytes: on_tape.block_bytes,
            next_block: scanned.next_block,
            written_bytes: scanned.bytes,
        };
        let (catalogue, now_ns) = (self.with.catalogue, self.with.now());
        // Where something could not be read, what is missing may be there all the same.
        let missing = if found.troubles.is_empty() {
            let places: Vec<Segment> = found.members.iter().map(|one| one.segment).collect();
            catalogue.give_up_missing(&volume.uuid, &places, now_ns)?
        } else {
            0
        };
        let mut joined = catalogue.rejoin(std::slice::from_ref(&volume), &copies, now_ns)?;
        joined.displaced += missing;
        let added = Added {
            joined,
            left_out,
            troubles: found.troubles,
        };
        // What comes of the parts is known when all cartridges were read, which may not happen.
        self.note_more(&volume, &parts, &added)?;
        let mut ours = self.ours.lock().unwrap_or_else(PoisonError::into_inner);
        ours.insert(number, volume);
        Ok(added)
    }

    /// Adds the files of an LTFS volume below the cartridge's label.
    fn add_ltfs(&self, label: &str, volume: &LtfsVolume) -> Result<Added, MoveError> {
        let mut files = Vec::new();
        let visited = volume.index.visit(|file| files.push(file));
        visited.map_err(|error| no_index(label, &error))?;
        let found = ForeignVolume::of_index(label, &volume.index.head, &files, &volume.layout);
        let (mut recorded, mut too_long) = (Vec::new(), Vec::new());
        for file in found.recorded {
            match self.fits(&file.file.path) {
                Ok(()) => recorded.push(file),
                Err(why) => too_long.push((file.file.path, why)),
            }
        }
        let catalogue = self.with.catalogue;
        catalogue.add_recorded(&found.volume, &recorded, self.with.now())?;
        let left_out = found.left_out.into_iter();
        let fallback = volume.fallback.iter().map(ToString::to_string);
        let doubts = volume.doubts.iter().map(ToString::to_string);
        Ok(Added {
            joined: Rejoined {
                files: recorded.len() as u64,
                ..Rejoined::default()
            },
            left_out: left_out
                .map(|(path, why)| (path, why.to_string()))
                .chain(too_long)
                .collect(),
            troubles: fallback.chain(doubts).collect(),
        })
    }

    /// Adds the files of a tape of others below its label; the last of several of one path counts, as for tar.
    fn add_others(
        &self,
        label: &str,
        scanned: &Scanned,
        found: Contents,
    ) -> Result<Added, MoveError> {
        let mut left_out = found.left_out;
        let (mut recorded, mut at) = (Vec::new(), HashMap::new());
        for located in &found.members {
            let found = of_others(located, label);
            match found.and_then(|one| self.fits(&one.file.path).map(|()| one)) {
                Ok(one) => {
                    let known = at.entry(one.file.path.clone()).or_insert(recorded.len());
                    match recorded.get_mut(*known) {
                        Some(other) => *other = one,
                        None => recorded.push(one),
                    }
                }
                Err(why) => left_out.push((located.member.name(), why)),
            }
        }
        let volume = Volume {
            label: label.to_owned(),
            // A tape of others has none: its label is all that it can be known by.
            uuid: format!("tar:{label}"),
            format: VolumeFormat::Tar,
            state: VolumeState::Full,
            block_bytes: scanned.longest_block,
            next_block: scanned.next_block,
            written_bytes: scanned.bytes,
        };
        let catalogue = self.with.catalogue;
        catalogue.add_recorded(&volume, &recorded, self.with.now())?;
        Ok(Added {
            joined: Rejoined {
                files: recorded.len() as u64,
                ..Rejoined::default()
            },
            left_out,
            troubles: found.troubles,
        })
    }

    /// Adds the files in parts all of which were read, and notes of each volume of ours what is not in the catalogue of
    /// what it holds.
    fn join_parts(self, labels: &[String], rebuilt: &mut Rebuilt) -> Result<(), MoveError> {
        let ours = self.ours.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_added = |volume: usize| ours.contains_key(&volume);
        let mut joined = std::mem::take(&mut *parts).join(self.copies_wanted, labels, &is_added);
        if !joined.copies.is_empty() {
            let on: Vec<Volume> = ours.values().cloned().collect();
            let at: HashMap<usize, usize> = ours.keys().copied().zip(0..).collect();
            for (volume, _) in (joined.copies.iter_mut()).flat_map(|copy| &mut copy.segments) {
                *volume = at[volume];
            }
            let catalogue = self.with.catalogue;
            rebuilt.joined = catalogue.rejoin(&on, &joined.copies, self.with.now())?;
        }
        rebuilt.left_out = joined.left_out;
        let mut alone: Vec<(usize, &Member)> = Vec::new();
        for Rest {
            member,
            why,
            on,
            is_alone,
        } in &joined.rest
        {
            if *is_alone {
                alone.extend(on.iter().map(|&volume| (volume, member)));
            }
            // Of a version that was replaced nothing is missing, nor of one that has all of its copies: then these parts are
            // what a copy left that was given up.
            let is_wanted = self.live(&member.path)?.is_none_or(|live| {
                match member.stored_ns.cmp(&Some(live.created_ns)) {
                    Ordering::Less => false,
                    Ordering::Equal => live.lacks() > 0,
                    Ordering::Greater => true,
                }
            });
            if is_wanted {
                rebuilt.left_out.push((member.path.clone(), why.clone()));
            }
        }
        for (number, volume) in ours.iter() {
            if let ReadIn::Added(added) = &rebuilt.volumes[*number].1 {
                let parts = alone.iter().filter(|(on, _)| on == number);
                let parts: Vec<&Member> = parts.map(|(_, member)| *member).collect();
                self.note_more(volume, &parts, added)?;
            }
        }
        Ok(())
    }

    /// The file that has a path now.
    fn live(&self, path: &[u8]) -> Result<Option<Entry>, MoveError> {
        let live = self.with.catalogue.live_file(path)?;
        Ok(live
            .map(|file| self.with.catalogue.file(file))
            .transpose()?)
    }

    /// Notes what a volume holds that is not in the catalogue: what was left out, and those of these parts of files that the
    /// catalogue has nowhere.
    fn note_more(
        &self,
        volume: &Volume,
        parts: &[&Member],
        added: &Added,
    ) -> Result<(), MoveError> {
        let catalogue = self.with.catalogue;
        let mut alone = 0;
        for member in parts {
            // Of a file that the catalogue has, the other parts were just not read this time; and of a version that was
            // replaced nothing is kept.
            let live = self.live(&member.path)?;
            let is_replaced = live.is_some_and(|live| Some(live.created_ns) > member.stored_ns);
            alone += usize::from(!is_replaced && !self.with.is_safe(member, None)?);
        }
        if let Some((id, _)) = catalogue.find_volume(&volume.label)? {
            let more = more_than_known(alone, added);
            catalogue.note_facts(id, &[(HOLDS_MORE, more.as_str())], self.with.now())?;
        }
        Ok(())
    }
}

/// What a cartridge holds that is not in the catalogue, in words; nothing if all of it is.
fn more_than_known(parts: usize, added: &Added) -> String {
    let counts = [
        (
            parts,
            "part of a file without the others",
            "parts of files without the others",
        ),
        (
            added.left_out.len(),
            "file that was left out",
            "files that were left out",
        ),
        (
            added.troubles.len(),
            "place that could not be read",
            "places that could not be read",
        ),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let words: Vec<String> = counts
        .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
        .collect();
    words.join(", ")
}

/// What a scan of a cartridge gave.
#[derive(Default)]
struct Contents {
    members: Vec<Located>,
    left_out: Vec<LeftOut>,
    troubles: Vec<String>,
    /// The member that comes next is not what its header says.
    is_wrong: bool,
}

impl Contents {
    fn take(&mut self, found: Found) {
        match found {
            Found::Member(located) if std::mem::take(&mut self.is_wrong) => {
                let why = "its contents are not what its header says".to_owned();
                self.left_out.push((located.member.name(), why));
            }
            Found::Member(located) => self.members.push(located),
            Found::Trouble(trouble) => {
                self.is_wrong = matches!(trouble.what, Wrong::Sum { .. });
                self.troubles.push(words(&trouble));
            }
        }
    }
}

/// The file that a member of a tape of others is.
fn of_others(located: &Located, label: &str) -> Result<Recorded, String> {
    is_file(located)?;
    let member = &located.member;
    let mut path = label.as_bytes().to_vec();
    path.push(b'/');
    path.extend_from_slice(&member.name());
    let path = InnerPath::new(&path).map_err(|error| error.to_string())?;
    let sum = member.xxh3.map(|sum| Sum {
        kind: Kind::Xxh3,
        value: sum.to_be_bytes().to_vec(),
    });
    Ok(Recorded {
        file: File {
            path: path.as_bytes().to_vec(),
            bytes: member.bytes,
            modified_ns: member.modified_ns,
            mode: member.mode,
            sums: sum.into_iter().collect(),
        },
        owner: Owner::default(),
        zstd_bytes: None,
        segments: vec![located.segment],
    })
}

/// An LTFS volume whose index cannot be had.
fn no_index(label: &str, error: &LtfsError) -> MoveError {
    MoveError::NoMap {
        label: label.to_owned(),
        what: format!("an LTFS volume that cannot be added: {error}"),
    }
}

/// What is wrong, and where.
fn words(trouble: &Trouble) -> String {
    format!(
        "partition {}, block {}, byte {}: {}",
        trouble.partition, trouble.block, trouble.offset, trouble.what
    )
}
