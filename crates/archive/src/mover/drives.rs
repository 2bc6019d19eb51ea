//! Recalls on all drives at once: a drive that is free takes the volume that is wanted most.
//!
//! What is asked for meanwhile is seen each time a drive is free. What a drive reads is claimed before
//! its cartridge moves, so that no other drive reads another copy of it.

use super::choice::{Chooser, Floor, Next};
use super::doubts::{Doubts, reads};
use super::hand_over::{Full, Recalled};
use super::recall::{Deliverer, Parts, Shared};
use super::session::DriveContext;
use super::{MoveError, Mover};
use crate::catalogue::{Answer, Cause, CopyState, Failure, RequestId, VolumeQueue, Waiting};
use crate::record::Segment;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tapewise_library::pool::{Fit, Trouble, Work, WorkError};
use tapewise_run::{Log, RunError};
use tapewise_scsi::TapeDrive;

/// What all drives of a recall share.
pub(super) struct Recalling<'a> {
    with: DriveContext<'a>,
    chooser: Chooser<'a>,
    /// Drives of the archive.
    drives: usize,
    parts: Mutex<Parts>,
    full: Full,
    doubts: Doubts,
    /// How often a copy is read before it is lost.
    reads: u32,
    /// Held by whoever delivers what needs no tape.
    hands: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    done: Recalled,
    /// What is being read, and for which user, by label.
    claimed: HashMap<String, (VolumeQueue, String)>,
    /// Labels of volumes that cannot be had.
    unavailable: HashSet<String>,
    /// Why nothing more is begun.
    ended: Option<MoveError>,
}

impl Mover<'_> {
    /// Serves all recalls that are queued, on all drives.
    ///
    /// # Errors
    /// [`MoveError`]; what was started and not answered is queued again. A destination that is full is none:
    /// see [`Recalled::full`].
    pub fn recall(&mut self) -> Result<Recalled, MoveError> {
        let recalling = Recalling {
            with: self.with(),
            chooser: Chooser::new(self.settings),
            drives: self.pool.drives(),
            parts: Mutex::default(),
            full: Full::default(),
            doubts: Doubts::default(),
            reads: reads(self.pool.drives()),
            hands: Mutex::default(),
            state: Mutex::default(),
        };
        // What needs no tape needs no drive either, and every drive may be set aside.
        recalling.prepare();
        self.pool.work_off(&recalling, self.log, self.stop);
        if !recalling.doubts.left().is_empty() {
            // No other drive could take what was doubtful: one that has read it decides.
            self.pool.work_off(&recalling, self.log, self.stop);
        }
        recalling.decide_the_rest()?;
        let left = recalling.left();
        let full = recalling.full.into_vec();
        let State {
            mut done, ended, ..
        } = recalling
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = ended {
            self.catalogue.requeue_started()?;
            return Err(error);
        }
        done.full = full;
        match left? {
            None => Ok(done),
            Some(label) if self.stop.load(Ordering::Relaxed) => Err(MoveError::Run {
                label,
                source: RunError::Interrupted,
            }),
            Some(label) => Err(self.pool.none_for(&label).into()),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recalling<'_> {
    /// Delivers what is at hand, and answers what cannot be served.
    fn deliver_at_hand(&self, done: &mut Recalled) -> Result<(), MoveError> {
        let queue = self.with.catalogue.recall_queue()?;
        for (request, file) in queue.at_hand {
            self.with.deliver_at_hand(request, file, &self.full, done)?;
        }
        for (request, _) in queue.stranded {
            let failure = Failure::new(Cause::NoCopy, "no copy of the file is whole");
            let answer = Answer::Failed(failure.clone());
            if self.with.answer(request, &answer)? {
                done.failed.push((request, failure));
            }
        }
        Ok(())
    }

    /// What waits for volumes, without what goes to destinations that are full.
    fn volumes(&self) -> Result<Vec<VolumeQueue>, MoveError> {
        let mut volumes = self.with.catalogue.recall_queue()?.volumes;
        if self.full.is_empty() {
            return Ok(volumes);
        }
        for queue in &mut volumes {
            let mut kept = Vec::with_capacity(queue.waiting.len());
            for waiting in std::mem::take(&mut queue.waiting) {
                if !self.full.stops(self.with.catalogue, waiting.request)? {
                    kept.push(waiting);
                }
            }
            queue.waiting = kept;
        }
        Ok(volumes)
    }

    /// What waits for volumes that can be had. A copy of which a part is still to come from one that
    /// cannot is left for the file's other copies, and what came of it is given up.
    fn available(&self, unavailable: &HashSet<String>) -> Result<Vec<VolumeQueue>, MoveError> {
        let mut volumes = self.volumes()?;
        let mut parts = lock(&self.parts);
        let out_of_reach: HashSet<(RequestId, u32)> = volumes
            .iter()
            .filter(|queue| unavailable.contains(&queue.label))
            .flat_map(|queue| &queue.waiting)
            .filter(|waiting| parts.lacks(waiting))
            .map(|waiting| (waiting.request, waiting.number))
            .collect();
        parts.give_up(&out_of_reach);
        volumes.retain(|queue| !unavailable.contains(&queue.label));
        for queue in &mut volumes {
            let waiting = &mut queue.waiting;
            waiting.retain(|one| !out_of_reach.contains(&(one.request, one.number)));
        }
        Ok(volumes)
    }

    /// Claims the volume that is wanted most of those that fit.
    fn claim(
        &self,
        state: &mut State,
        fits: &dyn Fn(&str) -> Fit,
    ) -> Result<Option<String>, MoveError> {
        loop {
            let mut here = HashSet::new();
            let mut volumes = self.available(&state.unavailable)?;
            volumes.retain(|queue| {
                let fit = fits(&queue.label);
                if fit == Fit::Here {
                    here.insert(queue.label.clone());
                }
                fit != Fit::Not
            });
            let at_work = state.claimed.values().map(|(_, user)| user.clone());
            let Some(next) = self.choose(volumes, &here, &at_work.collect::<Vec<_>>()) else {
                return Ok(None);
            };
            let label = next.queue.label.clone();
            let catalogue = self.with.catalogue;
            match catalogue.start(&requests(&next.queue), self.with.now()) {
                // Somebody withdrew one of them since we looked: look again.
                Err(error) if error.is_withdrawn() => {}
                started => {
                    started?;
                    state.claimed.insert(label.clone(), (next.queue, next.user));
                    return Ok(Some(label));
                }
            }
        }
    }

    /// The next volume for a drive that has `here` in it, while others work for these users.
    fn choose(
        &self,
        volumes: Vec<VolumeQueue>,
        here: &HashSet<String>,
        at_work: &[String],
    ) -> Option<Next> {
        let parts = lock(&self.parts);
        let floor = Floor {
            now_ns: self.with.now(),
            drives: self.drives,
            here,
            at_work,
            come: &|request, number| parts.come(request, number),
        };
        self.chooser.next(volumes, &floor)
    }

    /// A volume that still waits after all drives have ended.
    fn left(&self) -> Result<Option<String>, MoveError> {
        let volumes = self.available(&lock(&self.state).unavailable)?;
        let left = self.choose(volumes, &HashSet::new(), &[]);
        Ok(left.map(|next| next.queue.label))
    }

    /// Reads what waits for a volume, and what was doubtful a second time; whether another drive has to read
    /// some of it.
    fn read(
        &self,
        queue: &VolumeQueue,
        drive: &mut TapeDrive,
        log: &mut dyn Log,
        done: &mut Recalled,
    ) -> Result<bool, MoveError> {
        let again = self.read_once(queue, &queue.waiting, drive, log, done)?;
        done.mounts += 1;
        if again.is_empty() {
            return Ok(false);
        }
        let again = self.read_once(queue, &again, drive, log, done)?;
        Ok(!again.is_empty())
    }

    /// Reads once; what was read wrongly and is to be read again.
    fn read_once(
        &self,
        queue: &VolumeQueue,
        waiting: &[Waiting],
        drive: &mut TapeDrive,
        log: &mut dyn Log,
        done: &mut Recalled,
    ) -> Result<Vec<Waiting>, MoveError> {
        let record = self.with.catalogue.volume(queue.volume)?;
        let wants: Vec<Vec<Segment>> = waiting.iter().map(|one| one.segments.clone()).collect();
        let name = |want: usize| waiting[want].request.0.to_string();
        let shared = Shared {
            parts: &self.parts,
            full: &self.full,
            doubts: &self.doubts,
            reads: self.reads,
        };
        let mut receiver = Deliverer::new(self.with, waiting, shared, done);
        let wants = (wants.as_slice(), usize::MAX);
        let read = self
            .with
            .read_mounted(&record, drive, log, wants, &name, &mut receiver);
        let settled = receiver.name_the_rest();
        let doubtful = receiver.doubtful();
        let read = read?;
        settled.map_err(|error| MoveError::Run {
            label: queue.label.clone(),
            source: RunError::Sink(std::io::Error::other(error)),
        })?;
        done.learned += read.outcome.learned as u64;
        let map_source = read.map_source.to_string();
        done.positions.push((queue.label.clone(), map_source));
        let mut again: Vec<usize> = doubtful.into_iter().collect();
        again.sort_unstable();
        Ok(again
            .into_iter()
            .map(|want| waiting[want].clone())
            .collect())
    }

    /// Copies that were read wrongly and not again, because their files came from elsewhere, are lost.
    fn decide_the_rest(&self) -> Result<(), MoveError> {
        let catalogue = self.with.catalogue;
        for (file, number) in self.doubts.left() {
            let entry = catalogue.file(file)?;
            let mut others = entry.copies.iter().filter(|copy| copy.number != number);
            if others.any(|copy| copy.state == CopyState::Whole) {
                catalogue.mark_lost(file, number, self.with.now())?;
            }
        }
        Ok(())
    }

    /// What was claimed of a volume and not answered waits again.
    fn release(&self, state: &mut State, volume: &str) -> Result<(), MoveError> {
        let Some((queue, _)) = state.claimed.remove(volume) else {
            return Ok(());
        };
        for request in requests(&queue) {
            if self.with.catalogue.request(request)?.done_ns.is_none() {
                self.with.requeue(request)?;
            }
        }
        Ok(())
    }

    /// Nothing more comes of a volume: what has another copy is read there, unless the error is of
    /// more than this volume.
    fn end(&self, state: &mut State, volume: &str, error: MoveError) {
        if let Err(error) = self.release(state, volume) {
            state.ended.get_or_insert(error);
        }
        if error.is_of_the_volume() {
            state.unavailable.insert(volume.to_owned());
            let why = error.to_string();
            state.done.unavailable.push((volume.to_owned(), why));
        } else {
            state.ended.get_or_insert(error);
        }
    }
}

impl Work for Recalling<'_> {
    fn prepare(&self) {
        // One at a time: another drive does not wait for a copy, it looks for a volume.
        let Ok(_hands) = self.hands.try_lock() else {
            return;
        };
        if lock(&self.state).ended.is_some() {
            return;
        }
        let mut done = Recalled::default();
        let delivered = self.deliver_at_hand(&mut done);
        let mut state = lock(&self.state);
        state.done.add(done);
        if let Err(error) = delivered {
            state.ended.get_or_insert(error);
        }
    }

    fn next(&self, fits: &dyn Fn(&str) -> Fit) -> Option<String> {
        let mut state = lock(&self.state);
        if state.ended.is_some() {
            return None;
        }
        let claimed = self.claim(&mut state, fits);
        claimed.unwrap_or_else(|error| {
            state.ended = Some(error);
            None
        })
    }

    fn carry_out(
        &self,
        volume: &str,
        drive: &mut TapeDrive,
        log: &mut dyn Log,
    ) -> Result<(), Trouble> {
        let Some((queue, _)) = lock(&self.state).claimed.get(volume).cloned() else {
            return Ok(());
        };
        let mut done = Recalled::default();
        let read = self.read(&queue, drive, log, &mut done);
        let mut state = lock(&self.state);
        state.done.add(done);
        let error = match read {
            Ok(true) => return Err(Trouble::Elsewhere),
            Ok(false) => {
                state.claimed.remove(volume);
                return Ok(());
            }
            Err(error) => error,
        };
        if let Some(found) = error.other_cartridge() {
            return Err(Trouble::Another(found));
        }
        if error.is_full() {
            // All that is left of it goes where nothing fits.
            return match self.release(&mut state, volume) {
                Ok(()) => Ok(()),
                Err(error) => {
                    state.ended.get_or_insert(error);
                    Ok(())
                }
            };
        }
        match error.of_drive() {
            Ok(source) => Err(Trouble::Run(source)),
            Err(error) => {
                self.end(&mut state, volume, error);
                Ok(())
            }
        }
    }

    fn put_back(&self, volume: &str) {
        let mut state = lock(&self.state);
        if let Err(error) = self.release(&mut state, volume) {
            state.ended.get_or_insert(error);
        }
    }

    fn give_up(&self, volume: &str, error: WorkError) {
        let error = match error {
            WorkError::Pool(error) => error.into(),
            WorkError::Run(source) => MoveError::Run {
                label: volume.to_owned(),
                source,
            },
        };
        self.end(&mut lock(&self.state), volume, error);
    }
}

fn requests(queue: &VolumeQueue) -> Vec<RequestId> {
    queue
        .waiting
        .iter()
        .map(|waiting| waiting.request)
        .collect()
}
