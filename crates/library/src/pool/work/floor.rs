//! What the drives of a pool are at while they work off what there is to do.
//!
//! Drives look at it for every volume that waits, and a robot that is at work keeps the desk for as long as its move
//! takes. So what is asked most often stands here.

use crate::pool::bay::{Bay, Holds, State};
use std::collections::{HashMap, HashSet};
use tapewise_model::Micros;
use tapewise_sim::mounts::{FreeDrive, KindId};

/// What a free drive may do with a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Nothing: another drive has it or is better placed for it, or this one has failed at it.
    Not,
    /// Have it fetched.
    Fetch,
    /// Begin at once: it is in this drive.
    Here,
}

/// What the drives are at.
pub(super) struct Floor {
    drives: Vec<OnFloor>,
    /// Volumes that are worked on.
    running: HashSet<String>,
    /// Drives that failed at a volume.
    failed: HashMap<String, Vec<usize>>,
    /// The libraries of volumes that were in slots, or in these drives, when the work began.
    homes: HashMap<String, usize>,
    /// No drive takes anything any more.
    is_closed: bool,
}

/// One drive.
struct OnFloor {
    /// The library whose robot loads it; none where a person does.
    library: Option<usize>,
    /// What is in it, or on its way into it.
    holds: Option<String>,
    /// What is still in it when it has taken another volume.
    gives_back: Option<String>,
    at: At,
    /// What it holds stays there: it is somebody else's, or could not be brought home.
    stays: bool,
    /// How often in a row it has left a volume to another drive.
    has_left: u32,
}

/// How often in a row a drive leaves a volume to another one.
const PATIENCE: u32 = 3;

/// What a drive is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// It looks for work, since this time on its clock.
    Free(Micros),
    Work,
    /// Its cartridge goes home.
    WayHome,
    /// It takes nothing any more.
    Gone,
}

impl OnFloor {
    /// Nobody brings a cartridge home early from a drive that a person loads.
    fn may_empty(&self) -> bool {
        self.holds.is_some() && !self.stays && self.library.is_some()
    }
}

/// Since when a drive has been free, on its clock.
fn free_since(bay: &Bay) -> Micros {
    let since = match bay.state {
        State::Idle { since } => since.saturating_sub(bay.began),
        State::InUse | State::Aside { .. } => bay.drive.now().saturating_sub(bay.began),
    };
    Micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

impl Floor {
    /// Drives that begin to work; `homes` are the libraries of volumes in slots.
    pub fn new(bays: &[Bay], mut homes: HashMap<String, usize>) -> Floor {
        for bay in bays {
            homes.extend(bay.volume().map(str::to_owned).zip(bay.library()));
        }
        let of_bay = |bay: &Bay| OnFloor {
            library: bay.library(),
            holds: bay.volume().map(str::to_owned),
            gives_back: None,
            at: match bay.state {
                State::Idle { .. } if bay.holds != Holds::Unlabelled => At::Free(free_since(bay)),
                _ => At::Gone,
            },
            stays: bay.is_left,
            has_left: 0,
        };
        Floor {
            drives: bays.iter().map(of_bay).collect(),
            running: HashSet::new(),
            failed: HashMap::new(),
            homes,
            is_closed: false,
        }
    }

    /// What a free drive may do with a volume. `serves` says whether its library has the volume, where that is not known
    /// here.
    pub fn fit(&self, index: usize, volume: &str, serves: impl FnOnce() -> bool) -> Fit {
        let own = &self.drives[index];
        let is_in = |held: &Option<String>| held.as_deref() == Some(volume);
        if self.running.contains(volume) || self.has_failed(index, volume) {
            return Fit::Not;
        }
        if is_in(&own.holds) {
            return Fit::Here;
        }
        let mut drives = self.drives.iter();
        let is_held = drives.any(|drive| is_in(&drive.holds) || is_in(&drive.gives_back));
        let is_served = || match self.homes.get(volume) {
            Some(home) => own.library == Some(*home),
            None => serves(),
        };
        if is_held || !is_served() {
            Fit::Not
        } else {
            Fit::Fetch
        }
    }

    /// Whether another drive that looks for work is better placed to have a volume fetched: an empty one, or else the one
    /// that has been idle for longest. It is waited for a few times only, as it may be busy with what needs no drive.
    pub fn is_left_to_another(&self, index: usize, volume: &str) -> bool {
        let own = &self.drives[index];
        if own.has_left >= PATIENCE {
            return false;
        }
        let place = |drive: &OnFloor| match drive.at {
            At::Free(since) => Some((drive.holds.is_some(), since)),
            At::Work | At::WayHome | At::Gone => None,
        };
        let is_better = |(other, drive): (usize, &OnFloor)| {
            let is_before = place(drive).is_some_and(|before| Some(before) < place(own));
            let may = drive.holds.is_none() || !drive.stays;
            is_before && may && drive.library == own.library && !self.has_failed(other, volume)
        };
        own.holds.is_some() && self.drives.iter().enumerate().any(is_better)
    }

    fn has_failed(&self, index: usize, volume: &str) -> bool {
        let failed = self.failed.get(volume);
        failed.is_some_and(|drives| drives.contains(&index))
    }

    /// Whether no drive works on a volume.
    pub fn is_quiet(&self) -> bool {
        self.running.is_empty()
    }

    /// Whether no drive works on a volume, and none brings one home.
    pub fn is_over(&self) -> bool {
        self.is_quiet() && self.soon_empty() == 0
    }

    /// Whether drives that look for work have cartridges that may go home.
    pub fn are_some_loaded(&self) -> bool {
        let mut drives = self.drives.iter();
        drives.any(|drive| matches!(drive.at, At::Free(_)) && drive.may_empty())
    }

    /// Drives whose cartridges are on their way home.
    pub fn soon_empty(&self) -> usize {
        let at = self.drives.iter().map(|drive| drive.at);
        at.filter(|at| *at == At::WayHome).count()
    }

    /// The drives that look for work, without those whose cartridges stay.
    pub fn free(&self) -> Vec<FreeDrive> {
        let drives = self.drives.iter().enumerate();
        let free = drives.filter_map(|(index, drive)| match drive.at {
            At::Free(since) if drive.holds.is_none() || drive.may_empty() => Some(FreeDrive {
                drive: index as u32,
                kind: KindId(0),
                loaded: drive.holds.is_some(),
                since,
            }),
            _ => None,
        });
        free.collect()
    }

    /// Whether a drive holds a cartridge that may go home.
    pub fn may_empty(&self, index: usize) -> bool {
        self.drives[index].may_empty()
    }

    /// A drive takes nothing for now, and has left a volume to another one or not.
    pub fn pass(&mut self, index: usize, leaves: bool) {
        let has_left = &mut self.drives[index].has_left;
        *has_left = if leaves { *has_left + 1 } else { 0 };
    }

    /// Whether a drive leaves a volume to another one that looks for work.
    pub fn has_left(&self, index: usize) -> bool {
        self.drives[index].has_left > 0
    }

    /// Whether any drive does.
    pub fn have_left(&self) -> bool {
        (0..self.drives.len()).any(|index| self.has_left(index))
    }

    /// A drive has taken a volume.
    pub fn begin(&mut self, index: usize, volume: &str) {
        self.running.insert(volume.to_owned());
        let drive = &mut self.drives[index];
        let before = drive.holds.replace(volume.to_owned());
        drive.gives_back = before.filter(|before| before != volume);
        (drive.at, drive.has_left) = (At::Work, 0);
    }

    /// A drive has nothing else in it any more than the volume that it has taken.
    pub fn gave_back(&mut self, index: usize) {
        self.drives[index].gives_back = None;
    }

    /// A drive brings its cartridge home.
    pub fn go_home(&mut self, index: usize) {
        self.drives[index].at = At::WayHome;
    }

    /// A drive that brought its cartridge home is free again.
    pub fn is_home(&mut self, index: usize, bay: &Bay) {
        self.be_free(index, bay);
        self.drives[index].stays |= bay.volume().is_some();
    }

    /// A drive failed at a volume. Whether others are left that may try.
    pub fn fail(&mut self, index: usize, volume: &str, most: usize) -> bool {
        let drives = self.drives.len();
        let failed = self.failed.entry(volume.to_owned()).or_default();
        failed.push(index);
        failed.len() < most && (0..drives).any(|one| !failed.contains(&one))
    }

    /// A drive is done with a volume.
    pub fn end(&mut self, index: usize, volume: &str, bay: &Bay) {
        self.running.remove(volume);
        self.be_free(index, bay);
        self.drives[index].stays = bay.is_left;
        if let State::Aside { .. } = bay.state {
            // Only the library knows what becomes of what is in it.
            bay.volume().map(|held| self.homes.remove(held));
        }
    }

    fn be_free(&mut self, index: usize, bay: &Bay) {
        let drive = &mut self.drives[index];
        drive.gives_back = None;
        (drive.holds, drive.at) = match bay.state {
            State::Aside { .. } => (None, At::Gone),
            State::Idle { .. } | State::InUse => {
                (bay.volume().map(str::to_owned), At::Free(free_since(bay)))
            }
        };
    }

    /// No drive takes anything any more: what comes now is for the next call.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// A drive takes nothing any more.
    pub fn leave(&mut self, index: usize) {
        let drive = &mut self.drives[index];
        (drive.at, drive.has_left) = (At::Gone, 0);
    }

    /// A drive is not worked on. Only the library knows what becomes of what is in it.
    pub fn leave_out(&mut self, index: usize) {
        self.leave(index);
        let held = self.drives[index].holds.take();
        held.map(|held| self.homes.remove(&held));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;
    use crate::testing;

    /// Three drives, of which the first holds TW0001.
    fn pool() -> Pool {
        let mut pool = testing::pool(3);
        let mut log: Vec<tapewise_formats::event::Event> = Vec::new();
        let first = pool.mount("TW0001", &mut log).unwrap();
        assert_eq!(first, 0);
        pool.release(first);
        pool
    }

    /// The floor of a pool whose slots hold these volumes.
    fn floor(pool: &Pool) -> Floor {
        let slots = ["TW0002", "TW0003"].map(|label| (label.to_owned(), 0));
        Floor::new(&pool.bays, slots.into())
    }

    /// What a drive may do with a volume, and does not leave to another one.
    fn fit(floor: &Floor, index: usize, volume: &str) -> Fit {
        match floor.fit(index, volume, || panic!("{volume} is known")) {
            Fit::Fetch if floor.is_left_to_another(index, volume) => Fit::Not,
            fit => fit,
        }
    }

    #[test]
    fn a_drive_with_a_cartridge_leaves_a_volume_to_one_that_is_empty_and_free() {
        let pool = pool();
        let mut floor = floor(&pool);
        assert_eq!(fit(&floor, 0, "TW0001"), Fit::Here);
        assert_eq!(fit(&floor, 1, "TW0001"), Fit::Not);
        assert_eq!(fit(&floor, 0, "TW0002"), Fit::Not);
        assert_eq!(fit(&floor, 1, "TW0002"), Fit::Fetch);
        assert_eq!(floor.fit(0, "TW0002", || true), Fit::Fetch);
        // The second one is at work, and the third one has failed at it.
        floor.begin(1, "TW0003");
        assert_eq!(fit(&floor, 0, "TW0002"), Fit::Not);
        assert!(floor.fail(2, "TW0002", 2));
        assert_eq!(fit(&floor, 2, "TW0002"), Fit::Not);
        assert_eq!(fit(&floor, 0, "TW0002"), Fit::Fetch);
    }

    #[test]
    fn a_drive_does_not_wait_for_long_for_one_that_is_better_placed() {
        let pool = pool();
        let mut floor = floor(&pool);
        for leaves in [true, true, false, true, true, true] {
            assert_eq!(fit(&floor, 0, "TW0002"), Fit::Not);
            floor.pass(0, leaves);
        }
        assert_eq!(fit(&floor, 0, "TW0002"), Fit::Fetch);
        floor.pass(0, false);
        assert_eq!(fit(&floor, 0, "TW0002"), Fit::Not);
    }

    #[test]
    fn a_volume_is_nobodys_until_the_drive_that_had_it_has_given_it_back() {
        let pool = pool();
        let mut floor = floor(&pool);
        floor.begin(0, "TW0002");
        assert_eq!(fit(&floor, 1, "TW0001"), Fit::Not);
        floor.gave_back(0);
        assert_eq!(fit(&floor, 1, "TW0001"), Fit::Fetch);
    }

    #[test]
    fn work_is_over_when_no_drive_works_and_none_brings_a_cartridge_home() {
        let pool = pool();
        let mut floor = floor(&pool);
        let loaded = |floor: &Floor| -> Vec<bool> {
            floor.free().into_iter().map(|drive| drive.loaded).collect()
        };
        assert_eq!(loaded(&floor), [true, false, false]);
        floor.begin(1, "TW0002");
        assert_eq!(
            (floor.is_quiet(), loaded(&floor)),
            (false, vec![true, false])
        );
        floor.go_home(0);
        assert_eq!((floor.soon_empty(), loaded(&floor)), (1, vec![false]));
        floor.end(1, "TW0002", &pool.bays[1]);
        assert_eq!((floor.is_quiet(), floor.is_over()), (true, false));
        // It could not be brought home, and is not tried again.
        floor.is_home(0, &pool.bays[0]);
        assert!(floor.is_over() && !floor.may_empty(0));
    }

    #[test]
    fn without_an_empty_drive_the_one_that_was_idle_for_longest_is_emptied() {
        let mut pool = pool();
        let mut log: Vec<tapewise_formats::event::Event> = Vec::new();
        for volume in ["TW0002", "TW0003"] {
            let drive = pool.mount(volume, &mut log).unwrap();
            pool.drive(drive).wait(std::time::Duration::from_secs(9));
            pool.release(drive);
        }
        let mut floor = Floor::new(&pool.bays, [("TW0004".to_owned(), 0)].into());
        let fits = |floor: &Floor| [0, 1, 2].map(|index| fit(floor, index, "TW0004"));
        assert_eq!(fits(&floor), [Fit::Fetch, Fit::Not, Fit::Not]);
        floor.begin(0, "TW0009");
        assert_eq!(fits(&floor)[1..], [Fit::Fetch, Fit::Not]);
    }
}
