//! Recalls on all drives at once: a drive that is free takes the volume that is wanted most.
//!
//! What is asked for meanwhile is seen each time a drive is free, and for the cartridge in it between two
//! reads ([`meanwhile`]). What a drive reads is claimed before its cartridge moves, so that no other drive
//! reads another copy of it.

mod at_hand;
mod home;
mod kept;
mod meanwhile;
mod seen;
mod unread;
mod work;

use super::busy::{Busy, Floor, OwnMount, ReadFor};
use super::choice::{Chooser, Next};
use super::doubts::{Doubts, reads};
use super::full::Full;
use super::hand_over::Recalled;
use super::lessee::{Denied, Leased};
use super::recall::{Between, Deliverer, Parts, Shared};
use super::session::DriveContext;
use super::wanted::WantedVolume;
use super::{MoveError, Mover};
use crate::catalogue::{CatalogueError, CopyState, RequestId, VolumeQueue, Waiting};
use crate::record::Segment;
use kept::Kept;
use seen::Seen;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tapewise_library::pool::{Admission, Fit, Whereabouts, Work};
use tapewise_run::{Log, RunError};
use tapewise_scsi::TapeDrive;
use tapewise_sim::mounts::Owner;

/// How long a volume that others have is not asked for again.
const DENIED_NS: i64 = 2_000_000_000;

/// What all drives of a recall share.
pub(super) struct Recalling<'a> {
    with: DriveContext<'a>,
    chooser: Chooser<'a>,
    /// Drives of the archive.
    drives: usize,
    /// Those that were not set aside when the recall began.
    usable: usize,
    parts: Mutex<Parts>,
    full: Full,
    doubts: Doubts,
    /// How often a copy is read before it is lost.
    reads: u32,
    /// Labels of the volumes within reach, where others may reach those that are not.
    within_reach: Option<HashSet<String>>,
    /// What waits.
    kept: Kept<'a>,
    /// Held by whoever delivers what needs no tape.
    hands: Mutex<()>,
    /// When the recall began.
    began_ns: i64,
    /// Where this serves others: whether no further volume is to be begun. Then cartridges go home at the end, too.
    ends: Option<&'a Ends<'a>>,
    /// Hears what was done.
    tell: &'a (dyn Fn(&Recalled) + Sync),
    state: Mutex<State>,
}

/// Says whether there is something else to do before more is read.
pub type Ends<'a> = dyn Fn() -> bool + Sync + 'a;

#[derive(Default)]
struct State {
    done: Recalled,
    /// Whether no further volume is begun, as something else is to be done.
    is_over: bool,
    /// What the drives have done so far, for those that have nothing to do.
    seen: Seen,
    /// What is being read, by label.
    claimed: HashMap<String, Claimed>,
    /// For whom volumes were read since they were mounted, by label.
    read_for: HashMap<String, ReadFor>,
    /// Labels of volumes that cannot be had.
    unavailable: HashSet<String>,
    /// Labels of volumes that others have, and when they were asked for.
    denied: HashMap<String, i64>,
    /// Volumes whose label a drive could not read, by label, with what that drive said: another drive is to try.
    unread: HashMap<String, MoveError>,
    /// Labels of volumes for which a mount was cut short, and which have not been read since.
    cut_for: HashSet<String>,
    /// Why nothing more is begun.
    ended: Option<MoveError>,
}

/// A volume that is being read.
#[derive(Clone)]
struct Claimed {
    queue: VolumeQueue,
    /// Bytes of the longest file among it that is to go into the cache.
    longest_to_cache: u64,
    /// Whom it is read for.
    owner: Owner,
    /// When it was begun with.
    started_ns: i64,
    /// The newest request when it was chosen.
    newest: RequestId,
    /// It was in the drive already.
    is_here: bool,
    /// The lease, where others read volumes of the same archive.
    leased: Option<Leased>,
}

impl Claimed {
    fn mount(&self) -> OwnMount<'_> {
        OwnMount {
            owner: &self.owner,
            queue: &self.queue,
            epoch: self.leased.as_ref().map(|leased| leased.lease.epoch),
        }
    }
}

impl Mover<'_> {
    /// Serves all recalls that are queued, on all drives.
    ///
    /// # Errors
    /// [`MoveError`]; what was started and not answered is queued again. A destination that is full is none:
    /// see [`Recalled::full`]. What others have or read is none either, where they do.
    pub fn recall(&mut self) -> Result<Recalled, MoveError> {
        self.recall_telling(&|_| ())
    }

    /// The same; `tell` hears what was done after each mount, whatever comes later.
    ///
    /// # Errors
    /// As [`Mover::recall`].
    pub fn recall_telling(
        &mut self,
        tell: &(dyn Fn(&Recalled) + Sync),
    ) -> Result<Recalled, MoveError> {
        self.recall_on_all(tell, None)
    }

    /// The same for a service: when nothing is left to be read cartridges go home, and drives that are empty serve what is
    /// asked for meanwhile. `ends` is asked whenever a drive is free; once it says yes, no further volume is begun.
    ///
    /// # Errors
    /// As [`Mover::recall`].
    pub fn recall_and_empty(
        &mut self,
        tell: &(dyn Fn(&Recalled) + Sync),
        ends: &Ends<'_>,
    ) -> Result<Recalled, MoveError> {
        self.recall_on_all(tell, Some(ends))
    }

    fn recall_on_all(
        &mut self,
        tell: &(dyn Fn(&Recalled) + Sync),
        ends: Option<&Ends<'_>>,
    ) -> Result<Recalled, MoveError> {
        let places = self.pool.volumes().into_iter();
        let places = places.filter(|(_, place)| !matches!(place, Whereabouts::Missing(_)));
        let recalling = Recalling {
            with: self.with(),
            chooser: Chooser::new(self.settings),
            drives: self.pool.drives(),
            usable: (self.pool.status().iter())
                .filter(|drive| drive.set_aside.is_none())
                .count(),
            parts: Mutex::default(),
            full: Full::default(),
            doubts: Doubts::default(),
            reads: reads(self.pool.drives()),
            within_reach: self
                .lessee
                .map(|_| places.map(|(label, _)| label).collect()),
            kept: Kept::new(self.catalogue, self.now_ns),
            hands: Mutex::default(),
            began_ns: (self.now_ns)(),
            ends,
            tell,
            state: Mutex::default(),
        };
        // What needs no tape needs no drive either, and every drive may be set aside.
        recalling.prepare();
        self.pool.work_off(&recalling, self.log, self.stop);
        if !recalling.doubts.left().is_empty() {
            // No other drive could take what was doubtful: one that has read it decides.
            self.pool.work_off(&recalling, self.log, self.stop);
        }
        recalling.end_the_unread();
        let decided = recalling.decide_the_rest();
        // To look for what is left a long queue is read once more.
        let is_over = lock(&recalling.state).is_over;
        let left = match self.lessee {
            None if !is_over => recalling.left(),
            _ => Ok(None),
        };
        let full = recalling.full.into_vec();
        let state = recalling.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = state.ended {
            self.catalogue.requeue_started()?;
            return Err(error);
        }
        decided?;
        let done = Recalled { full, ..state.done };
        match left? {
            None => Ok(done),
            // It came when the drives had just ended: whoever asked for it recalls it, and a service calls again.
            Some(_) if self.pool.all_serve() || ends.is_some() && done.reads > 0 => Ok(done),
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
    /// What waits for volumes, and has room where it is to go. Of the cache `spoken_for` bytes are left to what drives
    /// have begun.
    fn volumes(&self, spoken_for: u64) -> Result<Vec<WantedVolume>, MoveError> {
        let mut volumes = self.kept.volumes()?;
        if let Some(within_reach) = &self.within_reach {
            volumes.retain(|wanted| within_reach.contains(wanted.label()));
        }
        let Range { start, end } = self.with.cache.too_long_for_now(self.with.now())?;
        let too_long = start.saturating_sub(spoken_for).max(1)..end;
        Ok(self.full.keep_what_has_room(volumes, &too_long))
    }

    /// What waits for volumes that can be had. A copy of which a part is still to come from one that
    /// cannot is left for the file's other copies, and what came of it is given up.
    fn available(
        &self,
        unavailable: &HashSet<String>,
        spoken_for: u64,
    ) -> Result<Vec<WantedVolume>, MoveError> {
        let volumes = self.volumes(spoken_for)?;
        let (out, mut within): (Vec<WantedVolume>, Vec<WantedVolume>) =
            (volumes.into_iter()).partition(|wanted| unavailable.contains(wanted.label()));
        let mut parts = lock(&self.parts);
        let out_of_reach: HashSet<(RequestId, u32)> = out
            .iter()
            .flat_map(|wanted| &wanted.queue().waiting)
            .filter(|waiting| parts.lacks(waiting))
            .map(|waiting| (waiting.request, waiting.number))
            .collect();
        parts.give_up(&out_of_reach);
        if !out_of_reach.is_empty() {
            let is_within = |one: &Waiting| !out_of_reach.contains(&(one.request, one.number));
            let all = within.into_iter();
            within = all.filter_map(|wanted| wanted.keeping(is_within)).collect();
        }
        Ok(within)
    }

    /// What waits for volumes that nobody else has.
    fn open_to(&self, state: &State) -> Result<Vec<WantedVolume>, MoveError> {
        // Each drive that reads gets its longest file in: else all of them mount for one that has room.
        let longest = state
            .claimed
            .values()
            .map(|claimed| claimed.longest_to_cache);
        let spoken_for = longest.fold(0, u64::saturating_add);
        let mut volumes = self.available(&state.unavailable, spoken_for)?;
        let long_ago = self.with.now().saturating_sub(DENIED_NS);
        let is_denied = |label: &str| {
            let asked_ns = state.denied.get(label);
            asked_ns.is_some_and(|asked_ns| *asked_ns > long_ago)
        };
        volumes.retain(|wanted| !is_denied(wanted.label()));
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
            let newest = self.kept.newest();
            let mut volumes = self.open_to(state)?;
            volumes.retain(|wanted| {
                let fit = fits(wanted.label());
                if fit == Fit::Here {
                    here.insert(wanted.label().to_owned());
                }
                fit != Fit::Not
            });
            let own = state.claimed.values().map(Claimed::mount);
            let mut busy = Busy::of(&self.with, self.drives, &own.collect::<Vec<_>>())?;
            let read_for = here.iter().find_map(|label| state.read_for.get(label));
            busy.read_for = read_for.cloned();
            let Some(next) = self.choose(volumes, &here, &busy) else {
                // Nor is it left to what is kept whether the last drive ends.
                if state.claimed.is_empty() && self.kept.forget_old() {
                    continue;
                }
                return Ok(None);
            };
            if !self.kept.still_waits(&next.queue)? {
                continue;
            }
            let label = next.queue.label.clone();
            let (catalogue, started_ns) = (self.with.catalogue, self.with.now());
            let chosen = next.queue.requests();
            let started = match self.with.lessee {
                // Begun with when the drive has its lease.
                Some(_) => Ok(()),
                None => catalogue.start(&chosen, started_ns),
            };
            match started {
                // Somebody withdrew one of them since we looked: look again.
                Err(error) if error.is_withdrawn() => self.kept.forget(),
                started => {
                    started?;
                    self.kept.remove(&chosen);
                    let to_cache = next.queue.waiting.iter().filter(|one| one.place.is_none());
                    let is_here = here.contains(&label);
                    let claimed = Claimed {
                        is_here,
                        longest_to_cache: to_cache.map(|one| one.file_bytes).max().unwrap_or(0),
                        queue: next.queue,
                        owner: next.owner,
                        started_ns,
                        newest,
                        leased: None,
                    };
                    state.seen.begin(&claimed.queue, is_here);
                    if !is_here {
                        state.read_for.remove(&label);
                    }
                    state.claimed.insert(label.clone(), claimed);
                    return Ok(Some(label));
                }
            }
        }
    }

    /// The next volume for a drive that has `here` in it.
    fn choose(
        &self,
        volumes: Vec<WantedVolume>,
        here: &HashSet<String>,
        busy: &Busy,
    ) -> Option<Next> {
        self.ask(here, busy, |floor| self.chooser.next(volumes, floor))
    }

    /// Asks the chooser, for a drive that has `here` in it.
    fn ask<T>(
        &self,
        here: &HashSet<String>,
        busy: &Busy,
        question: impl FnOnce(&Floor<'_>) -> T,
    ) -> T {
        let parts = lock(&self.parts);
        let come = |request, number| parts.come(request, number);
        question(&Floor {
            now_ns: self.with.now(),
            drives: busy.drives,
            here,
            read_for: busy.read_for.as_ref(),
            at_work: &busy.at_work,
            begun: &busy.begun,
            come: (!parts.is_empty()).then_some(&come),
        })
    }

    /// A volume that still waits after all drives have ended.
    fn left(&self) -> Result<Option<String>, MoveError> {
        self.kept.forget();
        let volumes = self.available(&lock(&self.state).unavailable, 0)?;
        let idle = Busy {
            drives: self.drives,
            ..Busy::default()
        };
        let left = self.choose(volumes, &HashSet::new(), &idle);
        Ok(left.map(|next| next.queue.label))
    }

    /// Reads what waits for a volume, and what was doubtful a second time; whether another drive has to read
    /// some of it.
    fn read(
        &self,
        claimed: &Claimed,
        drive: &mut TapeDrive,
        log: &mut dyn Log,
        done: &mut Recalled,
    ) -> Result<bool, MoveError> {
        let mut between = self.between(claimed);
        let all = claimed.queue.waiting.clone();
        let again = self.read_once(claimed, all, &mut between, drive, log, done);
        // Another cartridge than the one that was asked for is mounted, and not read.
        let is_other = |error: &MoveError| error.other_cartridge().is_some();
        let reads = u64::from(!again.as_ref().is_err_and(is_other));
        done.reads += reads;
        done.mounts += if claimed.is_here { 0 } else { reads };
        let again = again?;
        if again.is_empty() {
            return Ok(false);
        }
        let again = self.read_once(claimed, again, &mut between, drive, log, done)?;
        Ok(!again.is_empty())
    }

    /// Reads once; what was read wrongly and is to be read again.
    fn read_once(
        &self,
        claimed: &Claimed,
        waiting: Vec<Waiting>,
        between: &mut dyn Between,
        drive: &mut TapeDrive,
        log: &mut dyn Log,
        done: &mut Recalled,
    ) -> Result<Vec<Waiting>, MoveError> {
        let queue = &claimed.queue;
        let with = match &claimed.leased {
            Some(leased) => self.with.under(leased),
            None => self.with,
        };
        let record = with.catalogue.volume(queue.volume)?;
        let wants: Vec<Vec<Segment>> = waiting.iter().map(|one| one.segments.clone()).collect();
        let asked = Mutex::new(requests(&waiting));
        let name = |want: usize| lock(&asked)[want].0.to_string();
        let shared = Shared {
            parts: &self.parts,
            full: &self.full,
            doubts: &self.doubts,
            reads: self.reads,
        };
        let mut receiver = Deliverer::new(with, waiting, &asked, between, shared, done);
        let wants = (wants.as_slice(), usize::MAX);
        let read = with.read_mounted(&record, drive, log, wants, &name, &mut receiver);
        let settled = receiver.name_the_rest();
        let again = receiver.doubtful();
        let read = read?;
        settled.map_err(|error| MoveError::Run {
            label: queue.label.clone(),
            source: RunError::Sink(std::io::Error::other(error)),
        })?;
        let left: Vec<RequestId> = {
            let asked = lock(&asked);
            let left = read.outcome.left.iter();
            left.map(|&want| asked[want]).collect()
        };
        with.catalogue.requeue(&left)?;
        self.kept.look_again(&lock(&asked))?;
        done.learned += read.outcome.learned as u64;
        let map_source = read.map_source.to_string();
        done.positions.push((queue.label.clone(), map_source));
        Ok(again)
    }

    /// Copies that were read wrongly and not again, because their files came from elsewhere, are lost.
    fn decide_the_rest(&self) -> Result<(), MoveError> {
        let catalogue = self.with.catalogue;
        let mut done = Recalled::default();
        for (file, number) in self.doubts.left() {
            let entry = catalogue.file(file)?;
            let mut others = entry.copies.iter().filter(|copy| copy.number != number);
            if others.any(|copy| copy.state == CopyState::Whole) {
                catalogue.mark_lost(file, number, self.with.now())?;
                done.lost += 1;
            }
        }
        (self.tell)(&done);
        lock(&self.state).done.add(done);
        Ok(())
    }

    /// What was claimed of a volume and not answered waits again.
    fn release(&self, state: &mut State, volume: &str) -> Result<(), MoveError> {
        let Some(Claimed { queue, leased, .. }) = state.claimed.remove(volume) else {
            return Ok(());
        };
        let with = match (&leased, self.with.lessee) {
            (Some(leased), _) => self.with.under(leased),
            // Nothing was begun yet.
            (None, Some(_)) => return Ok(()),
            (None, None) => self.with,
        };
        let requests = queue.requests();
        match with.catalogue.requeue(&requests) {
            // They wait again already.
            Err(CatalogueError::LeaseLost { .. }) => return Ok(()),
            queued => queued?,
        }
        self.kept.look_again(&requests)?;
        Ok(())
    }

    /// Others have a volume: it is asked for again after a while, for they may be gone.
    fn deny(&self, state: &mut State, volume: &str) {
        state.denied.insert(volume.to_owned(), self.with.now());
    }

    /// Claims volume and drive among all movers, and begins with what still waits for the volume.
    fn lease(&self, volume: &str, drive: &mut TapeDrive) -> Result<Admission, MoveError> {
        let Some(lessee) = self.with.lessee else {
            return Ok(Admission::Go);
        };
        let Some(id) = lock(&self.state)
            .claimed
            .get(volume)
            .map(|one| one.queue.volume)
        else {
            return Ok(Admission::NotNow);
        };
        let leased = match lessee.claim(drive, Some(id))? {
            Ok(leased) => leased,
            Err(Denied::Drive(why)) => return Ok(Admission::Leave(why)),
            Err(Denied::Volume(_)) => {
                self.deny(&mut lock(&self.state), volume);
                return Ok(Admission::NotNow);
            }
        };
        let mut state = lock(&self.state);
        let Some(claimed) = state.claimed.get_mut(volume) else {
            return Ok(Admission::NotNow);
        };
        let waiting = &mut claimed.queue.waiting;
        let ours = lessee.take(&leased, &requests(waiting))?;
        waiting.retain(|one| ours.contains(&one.request));
        let is_empty = waiting.is_empty();
        claimed.leased = Some(leased);
        Ok(if is_empty {
            Admission::NotNow
        } else {
            Admission::Go
        })
    }

    /// Nothing more comes of a volume: what has another copy is read there, unless the error is of
    /// more than this volume.
    fn end(&self, state: &mut State, volume: &str, error: MoveError) {
        if let Err(error) = self.release(state, volume) {
            state.ended.get_or_insert(error);
        }
        if self.with.lessee.is_some() && error.is_lease_lost() {
            // Whoever has it now sees to it.
            self.deny(state, volume);
        } else if error.is_of_the_volume() {
            state.unavailable.insert(volume.to_owned());
            let mut why = error.of_volume();
            if self.with.lessee.is_some() && error.is_for_good() {
                // A mover would mount it again and again, which wears the cartridge.
                why = format!(
                    "{why}; after `tapewise mover resume --volume {volume}` it is tried again"
                );
                if let Err(error) = self.disable(volume, &why) {
                    state.ended.get_or_insert(error);
                }
            }
            state.done.unavailable.push((volume.to_owned(), why));
        } else {
            state.ended.get_or_insert(error);
        }
    }
}

fn requests(waiting: &[Waiting]) -> Vec<RequestId> {
    waiting.iter().map(|one| one.request).collect()
}
