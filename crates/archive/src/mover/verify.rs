//! Volumes are read whole, in the order of the tape, and summed, on all drives at once.

use super::doubts::{Doubts, Next, reads};
use super::session::DriveContext;
use super::{MoveError, Mover};
use crate::catalogue::{
    CatalogueError, CopyState, FileId, NOT_VERIFIED, OnVolume, VERIFIED, VolumeId,
};
use crate::read::{Lost, Receiver};
use crate::record::{File, Segment};
use crate::sums::{Sum, Summer};
use crate::volume::Expander;
use std::collections::{HashMap, HashSet};
use std::io::Error;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tapewise_library::pool::{Fit, Trouble, Work, WorkError};
use tapewise_model::Micros;
use tapewise_run::{Log, RunError};
use tapewise_scsi::TapeDrive;

/// What a look at a volume found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Copies whose bytes sum up to what they should.
    pub right: u64,
    /// Of these, copies that were lost before: they are whole again.
    pub taken_back: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Copies that were read but no sum is known of.
    pub unknown: u64,
    /// Copies that are part of a file that spans volumes: they are summed when all of it is read.
    pub parts: u64,
    /// Copies that cannot be read or are not what they should be: path, and why.
    pub lost: Vec<(Vec<u8>, String)>,
    /// Files that lack copies and have one to make them from: see [`Mover::remake`]. Their copies here are lost, or
    /// others were given up.
    pub to_remake: Vec<FileId>,
    /// The time that drives took.
    pub took: Micros,
}

/// A volume, and what a look at it found or why it could not be read.
pub type VolumeVerified = (VolumeId, Result<Verified, MoveError>);

/// Copies read together: they lie one behind the other, so that there is little to order.
const AT_ONCE: usize = 256;

/// What all drives that verify share.
struct Verifying<'a> {
    with: DriveContext<'a>,
    /// How often a copy is read before it is lost.
    reads: u32,
    /// Drive time after which no further volume is begun.
    budget: Micros,
    doubts: Doubts,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Volumes that nobody reads, by label, in the order in which they are to be read.
    waiting: Vec<String>,
    volumes: HashMap<String, Looked>,
    took: Micros,
}

/// How it stands with a volume.
struct Looked {
    id: VolumeId,
    found: Verified,
    /// Copies that another drive is to read again; none before the volume was read.
    doubtful: Option<HashSet<(FileId, u32)>>,
    ended: Option<Result<(), MoveError>>,
}

impl Mover<'_> {
    /// Reads all copies on volumes and compares their sums. What cannot be read or is not right is read
    /// again, in another drive where there is one, and then marked lost in the catalogue: it is not read for
    /// recalls, and copied again from its sister or from the cache. A copy that cannot be read stays as it is
    /// where nothing else has the file; a lost one that is right is whole again.
    ///
    /// After `budget` of drive time no further volume is begun; what was not is left out of the answer, which
    /// has the volumes in their order.
    ///
    /// # Errors
    /// [`MoveError`] for each volume; what was found until then is noted.
    pub fn verify(
        &mut self,
        volumes: &[VolumeId],
        budget: Micros,
    ) -> Result<Vec<VolumeVerified>, MoveError> {
        let mut state = State::default();
        for &id in volumes {
            let label = self.catalogue.volume(id)?.label;
            let looked = Looked {
                id,
                found: Verified::default(),
                doubtful: None,
                ended: None,
            };
            if state.volumes.insert(label.clone(), looked).is_none() {
                state.waiting.push(label);
            }
        }
        let labels = state.waiting.clone();
        let verifying = Verifying {
            with: self.with(),
            reads: reads(self.pool.drives()),
            budget,
            doubts: Doubts::default(),
            state: Mutex::new(state),
        };
        self.pool.work_off(&verifying, self.log, self.stop);
        if !verifying.state().waiting.is_empty() {
            // No other drive could take what was doubtful: one that has read it decides.
            self.pool.work_off(&verifying, self.log, self.stop);
        }
        let state = verifying.state.into_inner();
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let is_stopped = self.stop.load(Ordering::Relaxed);
        let mut results = Vec::new();
        for label in labels {
            let Some(looked) = state.volumes.remove(&label) else {
                continue;
            };
            let (id, found) = (looked.id, looked.found);
            let result = match looked.ended {
                Some(ended) => ended.map(|()| found),
                None if is_stopped => Err(MoveError::Run {
                    label,
                    source: RunError::Interrupted,
                }),
                None if state.took >= budget => continue,
                None => Err(self.pool.none_for(&label).into()),
            };
            let fact = match &result {
                Ok(_) => VERIFIED,
                Err(_) => NOT_VERIFIED,
            };
            if result.is_ok() || !is_stopped {
                let now_ns = (self.now_ns)();
                self.catalogue.note_facts(id, &[(fact, "")], now_ns)?;
            }
            results.push((id, result));
        }
        Ok(results)
    }
}

impl Verifying<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what is to be read of a volume; what is still doubtful then.
    fn read(
        &self,
        id: VolumeId,
        only: Option<&HashSet<(FileId, u32)>>,
        drive: &mut TapeDrive,
        log: &mut dyn Log,
        found: &mut Verified,
    ) -> Result<HashSet<(FileId, u32)>, MoveError> {
        let record = self.with.catalogue.volume(id)?;
        let mut copies = copies(self.with.catalogue.all_contents(id)?);
        if let Some(only) = only {
            copies.retain(|(on, _)| only.contains(&(on.file, on.number)));
        }
        let wants: Vec<Vec<Segment>> = copies
            .iter()
            .map(|(_, segments)| segments.clone())
            .collect();
        let mut checker = Checker {
            with: &self.with,
            reads: self.reads,
            doubts: &self.doubts,
            copies: &copies,
            open: HashMap::new(),
            doubtful: HashSet::new(),
            found,
        };
        let name = |want: usize| format!("verify {}", copies[want].0.file.0);
        let wants = (wants.as_slice(), AT_ONCE);
        self.with
            .read_mounted(&record, drive, log, wants, &name, &mut checker)?;
        Ok(checker.doubtful)
    }

    /// Reads a volume, and what was doubtful a second time; whether another drive has to read some of it.
    fn look(
        &self,
        label: &str,
        drive: &mut TapeDrive,
        log: &mut dyn Log,
    ) -> Result<bool, MoveError> {
        let (id, mut found, mut only) = match self.state().volumes.get(label) {
            Some(looked) => (looked.id, looked.found.clone(), looked.doubtful.clone()),
            None => return Ok(false),
        };
        let began = drive.now();
        self.with.note_loads(id, drive)?;
        let mut passes = 2;
        let read = loop {
            match self.read(id, only.as_ref(), drive, log, &mut found) {
                Ok(doubtful) => only = Some(doubtful),
                Err(error) => break Err(error),
            }
            passes -= 1;
            if passes == 0 || only.as_ref().is_none_or(HashSet::is_empty) {
                break Ok(only.as_ref().is_some_and(|doubtful| !doubtful.is_empty()));
            }
        };
        let took = drive.now().saturating_sub(began);
        let took = Micros(i64::try_from(took.as_micros()).unwrap_or(i64::MAX));
        found.took += took;
        let mut state = self.state();
        state.took += took;
        if let (Some(looked), Ok(_)) = (state.volumes.get_mut(label), &read) {
            looked.found = found;
            looked.doubtful = only;
        }
        read
    }

    fn end(&self, label: &str, ended: Result<(), MoveError>) {
        if let Some(looked) = self.state().volumes.get_mut(label) {
            looked.ended = Some(ended);
        }
    }
}

impl Work for Verifying<'_> {
    fn next(&self, fits: &dyn Fn(&str) -> Fit) -> Option<String> {
        let mut state = self.state();
        if state.took >= self.budget {
            return None;
        }
        let fit = |label: &&String| fits(label);
        let here = state.waiting.iter().find(|label| fit(label) == Fit::Here);
        let any = || state.waiting.iter().find(|label| fit(label) != Fit::Not);
        let label = here.or_else(any)?.clone();
        state.waiting.retain(|other| *other != label);
        Some(label)
    }

    fn carry_out(
        &self,
        volume: &str,
        drive: &mut TapeDrive,
        log: &mut dyn Log,
    ) -> Result<(), Trouble> {
        let error = match self.look(volume, drive, log) {
            Ok(true) => return Err(Trouble::Elsewhere),
            Ok(false) => {
                self.end(volume, Ok(()));
                return Ok(());
            }
            Err(error) => error,
        };
        if let Some(found) = error.other_cartridge() {
            return Err(Trouble::Another(found));
        }
        match error.of_drive() {
            Ok(source) => Err(Trouble::Run(source)),
            Err(error) => {
                self.end(volume, Err(error));
                Ok(())
            }
        }
    }

    fn put_back(&self, volume: &str) {
        self.state().waiting.push(volume.to_owned());
    }

    fn give_up(&self, volume: &str, error: WorkError) {
        let error = match error {
            WorkError::Pool(error) => error.into(),
            WorkError::Run(source) => MoveError::Run {
                label: volume.to_owned(),
                source,
            },
        };
        self.end(volume, Err(error));
    }
}

/// Segments by copy, the copies in the order of the tape, the segments of each in that of the file.
fn copies(contents: Vec<OnVolume>) -> Vec<(OnVolume, Vec<Segment>)> {
    let mut at = HashMap::new();
    let mut copies: Vec<(OnVolume, Vec<Segment>)> = Vec::new();
    for on in contents {
        let index = *at.entry((on.file, on.number)).or_insert(copies.len());
        match copies.get_mut(index) {
            Some((_, segments)) => segments.push(on.segment),
            None => {
                let segments = vec![on.segment];
                copies.push((on, segments));
            }
        }
    }
    for (_, segments) in &mut copies {
        segments.sort_by_key(|segment| segment.file_offset);
    }
    copies
}

/// Sums what it is given.
struct Checker<'a> {
    with: &'a DriveContext<'a>,
    reads: u32,
    doubts: &'a Doubts,
    copies: &'a [(OnVolume, Vec<Segment>)],
    /// Copies whose bytes come: what they must sum up to, and their sums so far.
    open: HashMap<usize, (File, Contents)>,
    /// Copies that are to be read again.
    doubtful: HashSet<(FileId, u32)>,
    found: &'a mut Verified,
}

/// What a copy stands for, summed: the bytes on the tape, or what a frame of them was made of.
enum Contents {
    Plain(Summer),
    Frame(Expander<'static, Summer>),
    Broken(String),
}

impl Contents {
    fn push(&mut self, bytes: &[u8]) {
        match self {
            Contents::Plain(summer) => summer.update(bytes),
            Contents::Frame(expander) => {
                if let Err(error) = expander.push(bytes) {
                    *self = Contents::Broken(error.to_string());
                }
            }
            Contents::Broken(_) => {}
        }
    }

    fn finish(self) -> Result<Vec<Sum>, String> {
        match self {
            Contents::Plain(summer) => Ok(summer.finish()),
            Contents::Frame(expander) => match expander.finish() {
                Ok(summer) => Ok(summer.finish()),
                Err(error) => Err(error.to_string()),
            },
            Contents::Broken(why) => Err(why),
        }
    }
}

impl Checker<'_> {
    fn close(&mut self, want: usize) -> Result<(), CatalogueError> {
        let Some((file, contents)) = self.open.remove(&want) else {
            return Ok(());
        };
        let (copy, segments) = &self.copies[want];
        let bytes: u64 = segments
            .iter()
            .map(|segment| segment.bytes)
            .fold(0, u64::saturating_add);
        if bytes < copy.zstd_bytes.unwrap_or(file.bytes) {
            self.found.bytes = self.found.bytes.saturating_add(bytes);
            self.found.parts += 1;
            return self.note_lacking(copy);
        }
        if file.sums.is_empty() {
            self.found.bytes = self.found.bytes.saturating_add(bytes);
            self.found.unknown += 1;
            return Ok(());
        }
        let sums = match contents.finish() {
            Ok(sums) => sums,
            Err(why) => return self.doubt(want, format!("its zstd frame is broken: {why}"), true),
        };
        if let Some(known) = file.sums.iter().find(|known| !sums.contains(known)) {
            let other = sums.iter().find(|sum| sum.kind == known.kind);
            let read = other.map_or_else(String::new, Sum::to_string);
            let why = format!("{read} was read, {known} is known");
            return self.doubt(want, why, true);
        }
        self.doubts.right((copy.file, copy.number));
        self.found.bytes = self.found.bytes.saturating_add(bytes);
        self.found.right += 1;
        let (catalogue, now_ns) = (self.with.catalogue, self.with.now());
        if copy.lost {
            self.found.taken_back += 1;
            catalogue.take_back(copy.file, copy.number, now_ns)?;
        } else {
            catalogue.note_verified(copy.file, copy.number, now_ns)?;
        }
        self.note_lacking(copy)
    }

    /// Notes a file that lacks copies, if one is whole. What the cache has goes to tape by itself.
    fn note_lacking(&mut self, copy: &OnVolume) -> Result<(), CatalogueError> {
        let entry = self.with.catalogue.file(copy.file)?;
        let is_whole = |copy: &crate::catalogue::Copy| copy.state == CopyState::Whole;
        if copy.live
            && entry.cached.is_none()
            && entry.lacks() > 0
            && entry.copies.iter().any(is_whole)
        {
            self.found.to_remake.push(copy.file);
        }
        Ok(())
    }

    /// A copy was read wrongly, or could not be read: once more, or it is lost. One that could not be read
    /// stays where nothing else has the file: another day, or a clean head, may bring it.
    fn doubt(&mut self, want: usize, why: String, is_wrong: bool) -> Result<(), CatalogueError> {
        let copy = &self.copies[want].0;
        let key = (copy.file, copy.number);
        if self.doubts.wrong(key, self.reads) == Next::Again {
            self.doubtful.insert(key);
            return Ok(());
        }
        let catalogue = self.with.catalogue;
        let entry = catalogue.file(copy.file)?;
        let is_only = entry.is_only_in(copy.number);
        if !copy.lost && (is_wrong || !is_only) {
            catalogue.mark_lost(copy.file, copy.number, self.with.now())?;
        }
        let is_whole = |other: &crate::catalogue::Copy| other.state == CopyState::Whole;
        if copy.live && !is_only && (entry.cached.is_some() || entry.copies.iter().any(is_whole)) {
            self.found.to_remake.push(copy.file);
        }
        self.found.lost.push((copy.path.clone(), why));
        Ok(())
    }
}

impl Receiver for Checker<'_> {
    fn begin(&mut self, want: usize) -> Result<(), Error> {
        let file = self.copies[want].0.file;
        let file = self.with.catalogue.file(file).map_err(Error::other)?.file;
        let summer = Summer::new(file.sums.iter().map(|sum| sum.kind));
        let contents = match self.copies[want].0.zstd_bytes {
            Some(_) => Contents::Frame(Expander::new(summer)?),
            None => Contents::Plain(summer),
        };
        self.open.insert(want, (file, contents));
        Ok(())
    }

    fn bytes(&mut self, want: usize, _: u64, bytes: &[u8]) -> Result<(), Error> {
        if let Some((_, contents)) = self.open.get_mut(&want) {
            contents.push(bytes);
        }
        Ok(())
    }

    fn end(&mut self, want: usize) -> Result<(), Error> {
        self.close(want).map_err(Error::other)
    }

    fn lost(&mut self, want: usize, why: &Lost) -> Result<(), Error> {
        self.open.remove(&want);
        let is_wrong = !matches!(why, Lost::Unreadable(_));
        self.doubt(want, why.to_string(), is_wrong)
            .map_err(Error::other)
    }
}
