//! What needs no tape: files of the cache, and empty ones, are delivered.

use super::full::{Full, FullPlace};
use super::place::{Place, Underway};
use super::session::DriveContext;
use super::{MoveError, Settings};
use crate::cache::DiskFile;
use crate::catalogue::{Answer, Cause, Failure, FileId, RequestId};
use crate::deliver::{DeliverError, Expected, InnerPath};
use crate::record::File;
use std::io::{ErrorKind, Read};

/// What recalls did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recalled {
    /// Requests delivered, and their bytes.
    pub delivered: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Of these, without the tape: from the cache, empty, or there already.
    pub at_hand: u64,
    /// Of these, without any sum to compare.
    pub unverified: u64,
    /// Requests that could not be served, and why.
    pub failed: Vec<(RequestId, Failure)>,
    /// Copies that are given up: they could not be read, or were wrong, and their files came from other copies.
    pub lost: u64,
    /// Volumes that could not be read as a whole, and why; what waits for them and has no other copy
    /// stays in the queue.
    pub unavailable: Vec<(String, String)>,
    /// Destinations that are full, the cache among them, and buckets that cannot be used.
    pub full: Vec<FullPlace>,
    /// Volumes read, each time counted.
    pub reads: u64,
    /// How many of these times the cartridge was not in the drive already.
    pub mounts: u64,
    /// Requests that were asked for while their volume was being read, and were read with it.
    pub joined: u64,
    /// Times that a volume was left before all was read, for another one that must not wait.
    pub cut: u64,
    /// Labels of the volumes read, each with where the positions of its blocks came from.
    pub positions: Vec<(String, String)>,
    /// Places learned from the drives.
    pub learned: u64,
}

impl Recalled {
    /// What another drive did as well.
    pub(super) fn add(&mut self, other: Recalled) {
        self.delivered += other.delivered;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.at_hand += other.at_hand;
        self.unverified += other.unverified;
        self.failed.extend(other.failed);
        self.lost += other.lost;
        self.unavailable.extend(other.unavailable);
        self.full.extend(other.full);
        self.reads += other.reads;
        self.mounts += other.mounts;
        self.joined += other.joined;
        self.cut += other.cut;
        self.positions.extend(other.positions);
        self.learned += other.learned;
    }
}

impl DriveContext<'_> {
    /// A file that the cache has, or that is empty. What its destination does not take is this
    /// request's affair alone; where nothing more fits there it stays in the queue.
    pub fn deliver_at_hand(
        &self,
        request: RequestId,
        file: FileId,
        full: &Full,
        done: &mut Recalled,
    ) -> Result<(), MoveError> {
        let now_ns = self.now();
        let place = self.catalogue.request(request)?.place;
        // What the cache has already needs no room there.
        if place.is_some() && full.has(place.as_deref()) {
            return Ok(());
        }
        let entry = self.catalogue.file(file)?;
        let handed = match &place {
            Some(place) => self.hand_over(file, &entry.file, place, now_ns),
            None if entry.cached.is_some() => Ok(Handed::Over { verified: true }),
            // It needs no tape, but a place.
            None if entry.file.bytes == 0 => self.stage_empty(file, now_ns),
            // Evicted since it was looked up.
            None => Ok(Handed::Gone),
        };
        match handed {
            Ok(Handed::Over { verified }) => {
                if !self.answer(request, &Answer::Delivered)? {
                    return Ok(());
                }
                done.unverified += u64::from(!verified);
                done.delivered += 1;
                done.at_hand += 1;
                done.bytes = done.bytes.saturating_add(entry.file.bytes);
                Ok(())
            }
            // It is asked of the tape next.
            Ok(Handed::Gone) => Ok(()),
            Err(error) if error.is_full() => {
                full.note(place, &error);
                Ok(())
            }
            Err(error) if error.is_of_a_file() => {
                let failure = Failure::new(Cause::Destination, error.to_string());
                if self.answer(request, &Answer::Failed(failure.clone()))? {
                    done.failed.push((request, failure));
                }
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn stage_empty(&self, file: FileId, now_ns: i64) -> Result<Handed, MoveError> {
        let arrived = self.cache.reserve(0, now_ns)?.create()?.finish()?;
        self.cache.stage(self.catalogue, arrived, file, now_ns)?;
        Ok(Handed::Over { verified: true })
    }

    /// Delivers a file of the cache, or an empty one, unless it is there already. One that is damaged on disk, or
    /// gone, is asked of the tape, if a copy there is whole.
    fn hand_over(
        &self,
        id: FileId,
        file: &File,
        place: &[u8],
        now_ns: i64,
    ) -> Result<Handed, MoveError> {
        let handed = self.hand_over_once(id, file, place, now_ns);
        if !handed.as_ref().is_err_and(is_of_the_cache) {
            return handed;
        }
        // One wrong read gives up nothing.
        match self.hand_over_once(id, file, place, now_ns) {
            Err(error) if is_of_the_cache(&error) && self.cache.discard(id)? => Ok(Handed::Gone),
            handed => handed,
        }
    }

    fn hand_over_once(
        &self,
        id: FileId,
        file: &File,
        place: &[u8],
        now_ns: i64,
    ) -> Result<Handed, MoveError> {
        let Some(mut underway) = Target::new(place, file, self.settings)?.begin()? else {
            return Ok(Handed::Over { verified: true });
        };
        if !self.copy_cached(id, file, &mut underway, now_ns)? {
            return Ok(Handed::Gone);
        }
        Ok(Handed::Over {
            verified: !underway.finish()?.sums.is_empty(),
        })
    }

    /// Writes what the cache has of a file; false where it has it no more.
    fn copy_cached(
        &self,
        id: FileId,
        file: &File,
        underway: &mut Underway,
        now_ns: i64,
    ) -> Result<bool, MoveError> {
        if file.bytes == 0 {
            return Ok(true);
        }
        let Some(contents) = self.cache.read(id, Some(now_ns))? else {
            return Ok(false);
        };
        copy(contents, underway, &file.path)?;
        Ok(true)
    }
}

/// Whether it says that a file of the cache is damaged or gone, and nothing of the place where it was to go.
fn is_of_the_cache(error: &MoveError) -> bool {
    match error {
        MoveError::Deliver(error) => error.is_of_contents(),
        error => error.is_of_a_file(),
    }
}

/// What became of a file that was at hand.
enum Handed {
    /// It is where it was to go.
    Over {
        /// Whether there was a sum to compare, or nothing to be compared.
        verified: bool,
    },
    /// The cache has it no more: evicted since the queue was looked at, or damaged.
    Gone,
}

/// Hands a file of the cache on.
fn copy(
    mut contents: Box<dyn DiskFile>,
    underway: &mut Underway,
    path: &[u8],
) -> Result<(), MoveError> {
    let mut buffer = vec![0; 1 << 20];
    loop {
        match contents.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => underway.write(&buffer[..count])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(source) => {
                let path = path.to_owned();
                return Err(MoveError::Copy { path, source });
            }
        }
    }
}

/// Where a recall goes.
pub(super) struct Target {
    place: Place,
    path: InnerPath,
    expected: Expected,
}

impl Target {
    pub fn new(place: &[u8], file: &File, settings: &Settings) -> Result<Target, MoveError> {
        let place = Place::open(place, &settings.buckets)?;
        Ok(Target {
            place: place.watched_by(settings.watch.clone()),
            path: InnerPath::new(&file.path).map_err(crate::deliver::DeliverError::from)?,
            expected: Expected::of_file(file),
        })
    }

    /// A delivery, or nothing where the file is there already.
    pub fn begin(self) -> Result<Option<Underway>, DeliverError> {
        self.place.begin(&self.path, self.expected)
    }
}
