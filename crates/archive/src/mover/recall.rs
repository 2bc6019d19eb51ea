//! What waits for a volume is read together, in our order, and delivered; see [`super::drives`] for which
//! drive reads what.
//!
//! A file is delivered when it has its name, after its sums matched; then its request is answered. A
//! mover that is killed between the two finds the file there and answers without reading it again.
//! What a volume cannot give is asked of the file's other copies before the request fails.

use super::MoveError;
use super::arriving::{Arrived, Arriving};
use super::doubts::{Doubts, Next};
use super::full::Full;
use super::hand_over::{Recalled, Target};
use super::place::Underway;
use super::session::DriveContext;
use crate::cache::{CacheError, is_no_room};
use crate::catalogue::{Answer, Cause, CopyState, Failure, RequestId, RequestState, Waiting};
use crate::deliver::{DeliverError, Delivered};
use crate::finishing::Finishing;
use crate::read::{Change, Lost, Receiver};
use crate::record::File;
use std::collections::{HashMap, HashSet};
use std::io::Error;
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    /// Whether nothing has come of any.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

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

/// Takes what a volume gives.
pub(super) struct Deliverer<'a> {
    with: DriveContext<'a>,
    waiting: Vec<Waiting>,
    /// The requests of these, which name reads in the log.
    asked: &'a Mutex<Vec<RequestId>>,
    between: &'a mut (dyn Between + 'a),
    /// What is on its way, by the number of the want, with what came of it from other volumes.
    open: HashMap<usize, Partial>,
    /// What was answered or queued again before its end: its bytes come all the same.
    settled: HashSet<usize>,
    /// Parts that began a second time behind parts of other volumes: the file has to begin anew.
    again: HashSet<usize>,
    shared: Shared<'a>,
    /// What was read wrongly and is to be read again from this volume.
    doubtful: HashSet<usize>,
    /// Files that are being synced and named while the tape goes on.
    finishing: Finishing<Box<Underway>, Named>,
    /// What is known of them, by the number of the want.
    unnamed: HashMap<usize, File>,
    done: &'a mut Recalled,
}

/// What became of a file that was to get its name.
type Named = Result<Delivered, DeliverError>;

/// Who is asked between two reads of a mount. `rest` gives what is still to be read.
pub(super) trait Between: Send {
    /// Whether the mount ends here, for something that must not wait.
    fn leaves(&mut self, rest: &dyn Fn() -> Vec<Waiting>) -> Result<bool, MoveError>;

    /// The recalls that join the mount, which are begun with.
    fn joins(&mut self, rest: &dyn Fn() -> Vec<Waiting>) -> Result<Vec<Waiting>, MoveError>;
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
        with: DriveContext<'a>,
        waiting: Vec<Waiting>,
        asked: &'a Mutex<Vec<RequestId>>,
        between: &'a mut (dyn Between + 'a),
        shared: Shared<'a>,
        done: &'a mut Recalled,
    ) -> Deliverer<'a> {
        Deliverer {
            with,
            waiting,
            asked,
            between,
            open: HashMap::new(),
            settled: HashSet::new(),
            again: HashSet::new(),
            shared,
            doubtful: HashSet::new(),
            finishing: Finishing::new(|underway: Box<Underway>| underway.finish())
                .in_turns(!with.settings.overlap),
            unnamed: HashMap::new(),
            done,
        }
    }

    /// What is to be read again from this volume.
    pub fn doubtful(self) -> Vec<Waiting> {
        let waiting = self.waiting.into_iter().enumerate();
        let doubtful = waiting.filter(|(want, _)| self.doubtful.contains(want));
        doubtful.map(|(_, one)| one).collect()
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
        let arriving = match &waiting.place {
            None if entry.cached.is_some() => None,
            None => Some(Arriving::into_cache(
                self.with.cache,
                &file,
                is_frame,
                self.with.now(),
            )?),
            Some(place) => match Target::new(place, &file, self.with.settings)?.begin()? {
                None => None,
                Some(underway) => {
                    let arriving = Arriving::into_place(underway, is_frame);
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
        let file = partial.file;
        let Some(arriving) = partial.arriving else {
            return self.answer(want, &file);
        };
        let into = (self.with.cache, self.with.catalogue);
        match arriving.finish(into, waiting.file, &file, self.with.now()) {
            Ok(Arrived::Whole) => self.arrived(want, &file),
            Ok(Arrived::Unnamed(underway)) => {
                self.unnamed.insert(want, file);
                let named = self.finishing.finish(want, underway);
                self.take_named(named)
            }
            Ok(Arrived::Wrong(why)) => {
                let failure = Failure::new(Cause::WrongContents, why);
                self.doubt(want, failure)
            }
            Err(MoveError::Deliver(error)) => self.refuse(want, error),
            Err(error) if error.is_full() => self.hold_back(want, error),
            Err(error) => Err(error),
        }
    }

    /// Waits until every file all of which has come has its name, and answers.
    pub fn name_the_rest(&mut self) -> Result<(), MoveError> {
        let named = self.finishing.rest();
        self.take_named(named)
    }

    /// Answers for files that have their names, or could not get them: for all of them, whatever comes of one.
    fn take_named(&mut self, named: Vec<(usize, Named)>) -> Result<(), MoveError> {
        let mut taken = Ok(());
        for (want, named) in named {
            let Some(file) = self.unnamed.remove(&want) else {
                continue;
            };
            let one = match named {
                Ok(_) => self.arrived(want, &file),
                Err(error) if error.is_of_contents() => {
                    let failure = Failure::new(Cause::WrongContents, error.to_string());
                    self.doubt(want, failure)
                }
                Err(error) => self.refuse(want, error),
            };
            taken = taken.and(one);
        }
        taken
    }

    /// A file is in its place, and its contents are right as far as anybody knows.
    fn arrived(&mut self, want: usize, file: &File) -> Result<(), MoveError> {
        if file.sums.is_empty() {
            self.done.unverified += 1;
        } else {
            let Waiting { file, number, .. } = self.waiting[want];
            self.shared.doubts.right((file, number));
            let now_ns = self.with.now();
            self.with.catalogue.note_verified(file, number, now_ns)?;
        }
        self.answer(want, file)
    }

    fn answer(&mut self, want: usize, file: &File) -> Result<(), MoveError> {
        let request = self.waiting[want].request;
        if self.with.answer(request, &Answer::Delivered)? {
            self.done.delivered += 1;
            self.done.bytes = self.done.bytes.saturating_add(file.bytes);
        }
        Ok(())
    }

    /// This copy was read wrongly, or could not be read: it is read again, from this volume where all of it
    /// is here, and given up when it has been read often enough.
    fn doubt(&mut self, want: usize, failure: Failure) -> Result<(), MoveError> {
        let waiting = &self.waiting[want];
        self.parts().0.remove(&waiting.request);
        let copy = (waiting.file, waiting.number);
        let here: u64 = waiting
            .segments
            .iter()
            .map(|segment| segment.bytes)
            .fold(0, u64::saturating_add);
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
        if copies.iter().any(|copy| copy.state == CopyState::Whole) {
            self.done.lost += 1;
            Ok(self.with.catalogue.requeue(&[waiting.request])?)
        } else {
            self.fail(want, failure)
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
        if self
            .with
            .answer(request, &Answer::Failed(failure.clone()))?
        {
            self.done.failed.push((request, failure));
        }
        Ok(())
    }

    /// The destination does not take a file: the request fails, unless no file is taken there for now.
    fn refuse(&mut self, want: usize, error: DeliverError) -> Result<(), MoveError> {
        if error.is_of_destination() {
            return self.hold_back(want, error);
        }
        let failure = Failure::new(Cause::Destination, error.to_string());
        self.fail(want, failure)
    }

    /// Where a file is to go there is no room for now: the request waits, and what goes elsewhere goes on; an error when
    /// nothing is left that does.
    fn hold_back<E>(&mut self, want: usize, error: E) -> Result<(), MoveError>
    where
        E: std::fmt::Display + Into<MoveError>,
    {
        self.shared
            .full
            .note(self.waiting[want].place.clone(), &error);
        self.wait(want)?;
        for waiting in &self.waiting {
            let request = self.with.catalogue.request(waiting.request)?;
            if request.state == RequestState::Started && !self.shared.full.stops(waiting) {
                return Ok(());
            }
        }
        // What is on its way has its room.
        if !self.open.is_empty() {
            return Ok(());
        }
        Err(error.into())
    }

    fn has_room(&self, want: usize) -> bool {
        self.open.contains_key(&want) || !self.shared.full.stops(&self.waiting[want])
    }

    /// The request waits again; what comes of it is passed over.
    fn wait(&mut self, want: usize) -> Result<(), MoveError> {
        let request = self.waiting[want].request;
        self.parts().0.remove(&request);
        self.settled.insert(want);
        Ok(self.with.catalogue.requeue(&[request])?)
    }

    /// Bytes of a file were rejected. An error in one file does not stop the others.
    fn not_taken(&mut self, want: usize, error: Error) -> Result<(), Error> {
        match error.downcast::<DeliverError>() {
            // More than the file has: other contents than the catalogue's.
            Ok(error @ DeliverError::Beyond { .. }) => {
                let failure = Failure::new(Cause::WrongContents, error.to_string());
                self.settle(want, |this| this.doubt(want, failure))
            }
            Ok(error) => self.settle(want, |this| this.refuse(want, error)),
            // Not the disk: what was read is no zstd frame, or more than the cache was told.
            Err(error) if error.raw_os_error().is_none() => {
                let failure = Failure::new(Cause::WrongContents, error.to_string());
                self.settle(want, |this| this.doubt(want, failure))
            }
            // Others have filled the disk of the cache meanwhile.
            Err(source) if is_no_room(&source) => {
                let path = self.with.catalogue.file(self.waiting[want].file);
                let path = path.map_err(Error::other)?.file.path;
                let error = MoveError::Copy { path, source };
                self.settle(want, |this| this.hold_back(want, error))
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
    /// Not what somebody has cancelled since its cartridge was asked for, and not what no room is left for.
    fn is_wanted(&mut self, want: usize) -> Result<bool, Error> {
        let request = self.waiting[want].request;
        let request = self.with.catalogue.request(request);
        if request.map_err(Error::other)?.state == RequestState::Cancelled {
            return Ok(false);
        }
        let has_room = self.has_room(want);
        if !has_room && !self.settled.contains(&want) {
            self.wait(want).map_err(Error::other)?;
        }
        Ok(has_room)
    }

    fn change(&mut self, left: &dyn Fn() -> Vec<usize>) -> Result<Change, Error> {
        let waiting = &self.waiting;
        let rest = || {
            left()
                .into_iter()
                .map(|want| waiting[want].clone())
                .collect()
        };
        if self.between.leaves(&rest).map_err(Error::other)? {
            self.done.cut += 1;
            return Ok(Change::Leave);
        }
        let joining = self.between.joins(&rest).map_err(Error::other)?;
        if joining.is_empty() {
            return Ok(Change::Nothing);
        }
        self.done.joined += joining.len() as u64;
        let requests = joining.iter().map(|one| one.request);
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.extend(requests);
        let segments = joining.iter().map(|one| one.segments.clone());
        let more = segments.collect();
        self.waiting.extend(joining);
        Ok(Change::More(more))
    }

    fn begin(&mut self, want: usize) -> Result<(), Error> {
        if self.settled.contains(&want) || self.again.contains(&want) {
            return Ok(());
        }
        if !self.has_room(want) {
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
            Err(MoveError::Cache(error)) if error.is_full() => {
                return self.settle(want, |this| this.hold_back(want, error));
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
            let queued = self.with.catalogue.requeue(&[request]);
            return queued.map_err(|error| Error::other(MoveError::from(error)));
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
