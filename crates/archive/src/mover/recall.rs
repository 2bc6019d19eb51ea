//! What waits for a volume is read together, in our order, and delivered; see [`super::drives`] for which
//! drive reads what.
//!
//! A file is delivered when it has its name, after its sums matched; then its request is answered. A
//! mover that is killed between the two finds the file there and answers without reading it again.
//! What a volume cannot give is asked of the file's other copies before the request fails.

use super::MoveError;
use super::arriving::{Arrived, Arriving};
use super::doubts::{Doubts, Next};
use super::session::With;
use crate::cache::CacheError;
use crate::catalogue::{
    Answer, Catalogue, CatalogueError, Cause, CopyState, Failure, FileId, RequestId, RequestState,
    Waiting,
};
use crate::deliver::{
    DeliverError, Delivery, Destination, Expected, InnerPath, Metadata, Presence,
};
use crate::read::{Lost, Receiver};
use crate::record::File;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::io::{Error, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    /// Volumes that could not be read as a whole, and why; what waits for them and has no other copy
    /// stays in the queue.
    pub unavailable: Vec<(String, String)>,
    /// Destinations that are full, and what they said; what is to go there stays in the queue.
    pub full: Vec<(Vec<u8>, String)>,
    /// Volumes read, each time counted.
    pub mounts: u64,
    /// Labels of the volumes read, each with whence it was known where their blocks lie.
    pub positions: Vec<(String, String)>,
    /// Places learned from the drives.
    pub learned: u64,
}

impl Recalled {
    /// What another drive did as well.
    pub(super) fn add(&mut self, other: Recalled) {
        self.delivered += other.delivered;
        self.bytes += other.bytes;
        self.at_hand += other.at_hand;
        self.unverified += other.unverified;
        self.failed.extend(other.failed);
        self.unavailable.extend(other.unavailable);
        self.full.extend(other.full);
        self.mounts += other.mounts;
        self.positions.extend(other.positions);
        self.learned += other.learned;
    }
}

impl With<'_> {
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
        if full.has(place.as_deref()) {
            return Ok(());
        }
        let entry = self.catalogue.file(file)?;
        let handed = match &place {
            Some(place) => self.hand_over(file, &entry.file, place, now_ns),
            None if entry.cached.is_none() => {
                // An empty file: it needs no tape, but a place.
                let arrived = self.cache.reserve(0, now_ns)?.create()?.finish()?;
                self.cache.stage(arrived, file, now_ns)?;
                Ok(Handed::Over { verified: true })
            }
            None => Ok(Handed::Over { verified: true }),
        };
        match handed {
            Ok(Handed::Over { verified }) => {
                done.unverified += u64::from(!verified);
                self.catalogue.answer(request, &Answer::Delivered, now_ns)?;
                done.delivered += 1;
                done.at_hand += 1;
                done.bytes += entry.file.bytes;
                Ok(())
            }
            // It is asked of the tape next.
            Ok(Handed::Gone) => Ok(()),
            Err(MoveError::Deliver(error)) if error.is_full() => {
                full.note(place, &error);
                Ok(())
            }
            Err(error) if error.is_of_a_file() => {
                let failure = Failure::new(Cause::Destination, error.to_string());
                self.catalogue
                    .answer(request, &Answer::Failed(failure.clone()), now_ns)?;
                done.failed.push((request, failure));
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Delivers a file of the cache, or an empty one, unless it is there already.
    fn hand_over(
        &self,
        id: FileId,
        file: &File,
        place: &[u8],
        now_ns: i64,
    ) -> Result<Handed, MoveError> {
        let Some(mut delivery) = Target::new(place, file)?.begin()? else {
            return Ok(Handed::Over { verified: true });
        };
        match self.copy_cached(id, file, &mut delivery, now_ns) {
            Ok(true) => {}
            Ok(false) => return Ok(Handed::Gone),
            Err(error) => return self.damaged(id, error),
        }
        match delivery.finish() {
            Ok(delivered) => Ok(Handed::Over {
                verified: !delivered.sums.is_empty(),
            }),
            Err(error) => self.damaged(id, error.into()),
        }
    }

    /// Writes what the cache has of a file; false where it has it no more.
    fn copy_cached(
        &self,
        id: FileId,
        file: &File,
        delivery: &mut Delivery,
        now_ns: i64,
    ) -> Result<bool, MoveError> {
        if file.bytes == 0 {
            return Ok(true);
        }
        let Some(contents) = self.cache.read(id, Some(now_ns))? else {
            return Ok(false);
        };
        copy(contents, delivery, &file.path)?;
        Ok(true)
    }

    /// A file is damaged on disk, or gone: the tape has it still, unless this is the only copy.
    fn damaged(&self, id: FileId, error: MoveError) -> Result<Handed, MoveError> {
        let is_of_the_place =
            matches!(&error, MoveError::Deliver(error) if !error.is_of_contents());
        match error.is_of_a_file() && !is_of_the_place && self.cache.discard(id)? {
            true => Ok(Handed::Gone),
            false => Err(error),
        }
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
    mut contents: std::fs::File,
    delivery: &mut Delivery,
    path: &[u8],
) -> Result<(), MoveError> {
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = contents
            .read(&mut buffer)
            .map_err(|source| MoveError::Copy {
                path: path.to_owned(),
                source,
            })?;
        match count {
            0 => return Ok(()),
            count => delivery.write(&buffer[..count])?,
        }
    }
}

/// Where a recall goes.
struct Target {
    destination: Destination,
    path: InnerPath,
    expected: Expected,
}

impl Target {
    fn new(place: &[u8], file: &File) -> Result<Target, MoveError> {
        let directory = Path::new(OsStr::from_bytes(place));
        Ok(Target {
            destination: Destination::open(directory)?,
            path: InnerPath::new(&file.path).map_err(crate::deliver::DeliverError::from)?,
            expected: Expected {
                sums: file.sums.clone(),
                metadata: Metadata {
                    modified_ns: Some(file.modified_ns),
                    mode: Some(file.mode),
                    ..Metadata::default()
                },
                ..Expected::of(file.bytes)
            },
        })
    }

    /// A delivery, or nothing where the file is there already.
    fn begin(self) -> Result<Option<Delivery>, MoveError> {
        match self.destination.presence(&self.path, &self.expected)? {
            Presence::Delivered(..) => Ok(None),
            _ => Ok(Some(self.destination.begin(&self.path, self.expected)?)),
        }
    }
}

/// Files of which other volumes have more.
#[derive(Default)]
pub(super) struct Parts(HashMap<RequestId, Partial>);

struct Partial {
    /// The number of the copy that it comes from.
    number: u32,
    file: File,
    /// None where the file turned out to be there already.
    arriving: Option<Arriving>,
    /// Bytes that have come, as they stand on the tapes.
    bytes: u64,
}

impl Parts {
    /// Bytes of a copy that have come; an offset that no part has where another copy was begun.
    pub fn come(&self, request: RequestId, number: u32) -> u64 {
        match self.0.get(&request) {
            Some(partial) if partial.number == number => partial.bytes,
            Some(_) => u64::MAX,
            None => 0,
        }
    }

    /// Whether what waits has not come yet.
    pub fn lacks(&self, waiting: &Waiting) -> bool {
        let begun = self.0.get(&waiting.request);
        let begun = begun.filter(|partial| partial.number == waiting.number);
        let come = begun.map_or(0, |partial| partial.bytes);
        let mut segments = waiting.segments.iter();
        segments.any(|segment| segment.file_offset >= come)
    }

    /// Nothing more comes of these copies.
    pub fn give_up(&mut self, copies: &HashSet<(RequestId, u32)>) {
        self.0
            .retain(|request, partial| !copies.contains(&(*request, partial.number)));
    }
}

/// Destinations that are full, and what they said.
#[derive(Default)]
pub(super) struct Full(Mutex<BTreeMap<Vec<u8>, String>>);

impl Full {
    fn places(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, place: Option<Vec<u8>>, error: &DeliverError) {
        let why = || error.to_string();
        self.places()
            .entry(place.unwrap_or_default())
            .or_insert_with(why);
    }

    /// Whether a request's destination is one of them. The cache is none.
    fn has(&self, place: Option<&[u8]>) -> bool {
        place.is_some_and(|place| self.places().contains_key(place))
    }

    /// Whether there is one.
    pub fn is_empty(&self) -> bool {
        self.places().is_empty()
    }

    /// Whether a request has to wait for room.
    pub fn stops(
        &self,
        catalogue: &dyn Catalogue,
        request: RequestId,
    ) -> Result<bool, CatalogueError> {
        Ok(!self.is_empty() && self.has(catalogue.request(request)?.place.as_deref()))
    }

    pub fn into_vec(self) -> Vec<(Vec<u8>, String)> {
        let places = self.0.into_inner();
        let places = places.unwrap_or_else(PoisonError::into_inner);
        places.into_iter().collect()
    }
}

/// Takes what a volume gives.
pub(super) struct Deliverer<'a> {
    with: With<'a>,
    waiting: &'a [Waiting],
    /// What is on its way, by the number of the want, with what came of it from other volumes.
    open: HashMap<usize, Partial>,
    /// What was answered or queued again before its end: its bytes come all the same.
    settled: HashSet<usize>,
    /// Parts that began a second time behind parts of other volumes: the file has to begin anew.
    again: HashSet<usize>,
    shared: Shared<'a>,
    /// What was read wrongly and is to be read again from this volume.
    doubtful: HashSet<usize>,
    done: &'a mut Recalled,
}

/// What the drives of a recall share.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    pub parts: &'a Mutex<Parts>,
    pub full: &'a Full,
    pub doubts: &'a Doubts,
    /// How often a copy is read before it is lost.
    pub reads: u32,
}

impl<'a> Deliverer<'a> {
    pub fn new(
        with: With<'a>,
        waiting: &'a [Waiting],
        shared: Shared<'a>,
        done: &'a mut Recalled,
    ) -> Deliverer<'a> {
        Deliverer {
            with,
            waiting,
            open: HashMap::new(),
            settled: HashSet::new(),
            again: HashSet::new(),
            shared,
            doubtful: HashSet::new(),
            done,
        }
    }

    /// What is to be read again from this volume.
    pub fn doubtful(self) -> HashSet<usize> {
        self.doubtful
    }

    fn parts(&self) -> MutexGuard<'a, Parts> {
        self.shared
            .parts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&mut self, want: usize) -> Result<Partial, MoveError> {
        let waiting = &self.waiting[want];
        let begun = self.parts().0.remove(&waiting.request);
        if let Some(partial) = begun.filter(|partial| partial.number == waiting.number) {
            return Ok(partial);
        }
        let is_frame = waiting.zstd_bytes.is_some();
        let entry = self.with.catalogue.file(waiting.file)?;
        let file = entry.file;
        let arriving = match self.with.catalogue.request(waiting.request)?.place {
            None if entry.cached.is_some() => None,
            None => Some(Arriving::into_cache(
                self.with.cache,
                &file,
                is_frame,
                self.with.now(),
            )?),
            Some(place) => match Target::new(&place, &file)?.begin()? {
                None => None,
                Some(delivery) => {
                    let arriving = Arriving::into_directory(delivery, is_frame);
                    Some(arriving.map_err(|source| MoveError::Copy {
                        path: file.path.clone(),
                        source,
                    })?)
                }
            },
        };
        Ok(Partial {
            number: waiting.number,
            file,
            arriving,
            bytes: 0,
        })
    }

    fn close(&mut self, want: usize, partial: Partial) -> Result<(), MoveError> {
        let waiting = &self.waiting[want];
        if partial.bytes < waiting.zstd_bytes.unwrap_or(partial.file.bytes) {
            self.parts().0.insert(waiting.request, partial);
            // The rest comes from another volume.
            return Ok(self.with.catalogue.requeue(&[waiting.request])?);
        }
        let (file, now_ns) = (partial.file, self.with.now());
        if let Some(arriving) = partial.arriving {
            match arriving.finish(self.with.cache, waiting.file, &file, now_ns) {
                Ok(Arrived::Whole) if file.sums.is_empty() => self.done.unverified += 1,
                Ok(Arrived::Whole) => {
                    let copy = (waiting.file, waiting.number);
                    self.shared.doubts.right(copy);
                    self.with
                        .catalogue
                        .note_verified(waiting.file, waiting.number, now_ns)?;
                }
                Ok(Arrived::Wrong(why)) => {
                    let failure = Failure::new(Cause::WrongContents, why);
                    return self.doubt(want, failure);
                }
                Err(MoveError::Deliver(error)) => return self.refuse(want, error),
                Err(error) => return Err(error),
            }
        }
        self.with
            .catalogue
            .answer(waiting.request, &Answer::Delivered, now_ns)?;
        self.done.delivered += 1;
        self.done.bytes += file.bytes;
        Ok(())
    }

    /// This copy was read wrongly, or could not be read: it is read again, from this volume where all of it
    /// is here, and given up when it has been read often enough.
    fn doubt(&mut self, want: usize, failure: Failure) -> Result<(), MoveError> {
        let waiting = &self.waiting[want];
        self.parts().0.remove(&waiting.request);
        let copy = (waiting.file, waiting.number);
        let here: u64 = waiting.segments.iter().map(|segment| segment.bytes).sum();
        let entry = self.with.catalogue.file(waiting.file)?;
        let is_here = here >= waiting.zstd_bytes.unwrap_or(entry.file.bytes);
        // What spans volumes is read again from its first part on.
        let reads = if is_here { self.shared.reads } else { 2 };
        if self.shared.doubts.wrong(copy, reads) == Next::Again {
            if is_here {
                self.doubtful.insert(want);
                return Ok(());
            }
            return Ok(self.with.catalogue.requeue(&[waiting.request])?);
        }
        if failure.cause == Cause::Unreadable && entry.is_only_in(waiting.number) {
            // Another day, or a clean head, may bring it.
            return self.fail(want, failure);
        }
        self.with
            .catalogue
            .mark_lost(waiting.file, waiting.number, self.with.now())?;
        let copies = self.with.catalogue.file(waiting.file)?.copies;
        match copies.iter().any(|copy| copy.state == CopyState::Whole) {
            true => Ok(self.with.catalogue.requeue(&[waiting.request])?),
            false => self.fail(want, failure),
        }
    }

    /// This copy could not be read.
    fn lose(&mut self, want: usize, why: &Lost) -> Result<(), MoveError> {
        let failure = match why {
            Lost::Unreadable(why) => Failure::new(Cause::Unreadable, why.clone()),
            why => Failure::new(Cause::WrongContents, why.to_string()),
        };
        self.doubt(want, failure)
    }

    fn fail(&mut self, want: usize, failure: Failure) -> Result<(), MoveError> {
        let request = self.waiting[want].request;
        self.parts().0.remove(&request);
        self.with
            .catalogue
            .answer(request, &Answer::Failed(failure.clone()), self.with.now())?;
        self.done.failed.push((request, failure));
        Ok(())
    }

    /// The destination does not take a file: the request fails. Where nothing more fits there it waits,
    /// and what goes elsewhere goes on; an error when nothing is left that does.
    fn refuse(&mut self, want: usize, error: DeliverError) -> Result<(), MoveError> {
        if !error.is_full() {
            let failure = Failure::new(Cause::Destination, error.to_string());
            return self.fail(want, failure);
        }
        let request = self.waiting[want].request;
        let place = self.with.catalogue.request(request)?.place;
        self.shared.full.note(place, &error);
        self.wait(want)?;
        for waiting in self.waiting {
            let request = self.with.catalogue.request(waiting.request)?;
            if request.state == RequestState::Started
                && !self.shared.full.has(request.place.as_deref())
            {
                return Ok(());
            }
        }
        Err(error.into())
    }

    /// The request waits again; what comes of it is passed over.
    fn wait(&mut self, want: usize) -> Result<(), MoveError> {
        let request = self.waiting[want].request;
        self.parts().0.remove(&request);
        self.settled.insert(want);
        Ok(self.with.catalogue.requeue(&[request])?)
    }

    /// Bytes of a file cannot be taken: where that is the file's affair the others go on.
    fn not_taken(&mut self, want: usize, error: Error) -> Result<(), Error> {
        let is_frame = self.waiting[want].zstd_bytes.is_some();
        match error.downcast::<DeliverError>() {
            // More than the file has: other contents than the catalogue's.
            Ok(error @ DeliverError::Beyond { .. }) => {
                let failure = Failure::new(Cause::WrongContents, error.to_string());
                self.settle(want, |this| this.doubt(want, failure))
            }
            Ok(error) => self.settle(want, |this| this.refuse(want, error)),
            // Not the disk: what was read is no zstd frame.
            Err(error) if is_frame && error.raw_os_error().is_none() => {
                let failure = Failure::new(Cause::WrongContents, error.to_string());
                self.settle(want, |this| this.doubt(want, failure))
            }
            Err(error) => Err(error),
        }
    }

    /// Answers a request, or queues it again, before its end: what still comes of it is passed over.
    fn settle(
        &mut self,
        want: usize,
        how: impl FnOnce(&mut Self) -> Result<(), MoveError>,
    ) -> Result<(), Error> {
        self.open.remove(&want);
        self.settled.insert(want);
        how(self).map_err(Error::other)
    }
}

impl Receiver for Deliverer<'_> {
    fn begin(&mut self, want: usize) -> Result<(), Error> {
        if self.settled.contains(&want) || self.again.contains(&want) {
            return Ok(());
        }
        let request = self.waiting[want].request;
        let stopped = self.shared.full.stops(self.with.catalogue, request);
        if stopped.map_err(Error::other)? {
            self.open.remove(&want);
            return self.wait(want).map_err(Error::other);
        }
        let before: u64 = self.waiting[want]
            .segments
            .first()
            .map_or(0, |segment| segment.file_offset);
        if self.open.remove(&want).is_some() && before > 0 {
            // What came of the other parts went with what came of this one.
            self.again.insert(want);
            return Ok(());
        }
        let partial = match self.open(want) {
            // Something else has its name, or its directory is gone: that is this request's affair.
            Err(MoveError::Deliver(error)) => {
                return self.settle(want, |this| this.refuse(want, error));
            }
            // Its own too: others may well fit the cache.
            Err(MoveError::Cache(error @ CacheError::TooLarge { .. })) => {
                let failure = Failure::new(Cause::Destination, error.to_string());
                return self.settle(want, |this| this.fail(want, failure));
            }
            partial => partial.map_err(Error::other)?,
        };
        self.open.insert(want, partial);
        Ok(())
    }

    fn bytes(&mut self, want: usize, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let Some(partial) = self.open.get_mut(&want) else {
            return Ok(());
        };
        if offset != partial.bytes {
            let why = format!("byte {offset} came where byte {} is next", partial.bytes);
            let failure = Failure::new(Cause::WrongContents, why);
            return self.settle(want, |this| this.fail(want, failure));
        }
        partial.bytes += bytes.len() as u64;
        let arriving = partial.arriving.as_mut();
        match arriving.map(|arriving| arriving.push(bytes)) {
            Some(Err(error)) => self.not_taken(want, error),
            _ => Ok(()),
        }
    }

    fn end(&mut self, want: usize) -> Result<(), Error> {
        if self.again.remove(&want) {
            let request = self.waiting[want].request;
            return self
                .with
                .catalogue
                .requeue(&[request])
                .map_err(Error::other);
        }
        match self.open.remove(&want) {
            Some(partial) => self.close(want, partial).map_err(Error::other),
            None => Ok(()),
        }
    }

    fn lost(&mut self, want: usize, why: &Lost) -> Result<(), Error> {
        self.open.remove(&want);
        self.again.remove(&want);
        if self.settled.remove(&want) {
            return Ok(());
        }
        let lost = self.lose(want, why);
        lost.map_err(Error::other)
    }
}
