//! Cartridges that go home before anybody needs their drive, and all of them at the end.

use super::floor::Floor;
use super::{Admission, Shared, Shift};
use crate::pool::bay::{Bay, State};
use crate::pool::desk::lock;
use crate::pool::mount::{dismount, give_back};
use crate::pool::{Pace, Pool, PoolError};
use crate::turns;
use std::sync::Mutex;
use std::thread::Builder;
use tapewise_run::Log;

impl Shift<'_> {
    /// Whether the cartridge of a drive without work goes home now.
    pub(super) fn goes_home(&self, floor: &Floor, index: usize) -> bool {
        if !floor.may_empty(index) {
            return false;
        }
        if floor.is_quiet() {
            return self.work.ends_empty();
        }
        self.work
            .goes_home(index, &floor.free(), floor.soon_empty())
    }

    /// Brings the cartridge of a drive home. If that fails it stays there, and whoever listens is told.
    pub(super) fn go_home(&self, index: usize, bay: &mut Bay, log: &mut dyn Log) {
        if let Err(error) = self.empty(bay, log) {
            lock(self.desk).say(&error.to_string());
            if matches!(bay.state, State::Aside { .. }) {
                give_back(bay, self.desk, log);
            }
        }
        self.floor().is_home(index, bay);
        self.changed.notify_all();
    }

    fn empty(&self, bay: &mut Bay, log: &mut dyn Log) -> Result<(), PoolError> {
        dismount(bay, self.desk, log)?;
        match self.work.emptied(&mut bay.drive) {
            Ok(Admission::Go | Admission::NotNow) => Ok(()),
            Ok(Admission::Leave(why)) => Err(bay.failed(&why)),
            Err(error) => Err(bay.blamed(error)),
        }
    }
}

impl Pool {
    /// Dismounts all drives, side by side where each has a thread; what could not be dismounted.
    pub fn dismount_all(&mut self, log: &mut (dyn Log + Send)) -> Vec<PoolError> {
        let threads = match self.pace {
            Pace::Threads | Pace::Looking(_) => self.bays.len(),
            Pace::Turns | Pace::Seeded(_) => 1,
        };
        let desk = &self.desk;
        let bays: Mutex<Vec<&mut Bay>> = Mutex::new(self.bays.iter_mut().rev().collect());
        let (log, failed) = (Mutex::new(log), Mutex::new(Vec::new()));
        let next = || turns::lock(&bays).pop();
        let dismount_some = || {
            while let Some(bay) = next() {
                let dismounted = dismount(bay, desk, &mut Shared(&log));
                bay.release();
                turns::lock(&failed).extend(dismounted.err());
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // If no thread can be had, the others do its work.
                let _ = Builder::new().spawn_scoped(scope, dismount_some);
            }
            dismount_some();
        });
        turns::into_inner(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::{Fit, Pace, Trouble, Whereabouts, Work, WorkError};
    use crate::testing::pool;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use tapewise_formats::event::{Action, Event};
    use tapewise_run::RunError;
    use tapewise_scsi::TapeDrive;
    use tapewise_sim::mounts::FreeDrive;

    /// Two volumes, of which no drive takes both.
    struct Two {
        waiting: Mutex<Vec<&'static str>>,
        both: Barrier,
        /// Whether the second one is not done before the first has gone home.
        is_slow: bool,
        ends_empty: bool,
        emptied: AtomicUsize,
    }

    impl Two {
        fn new(is_slow: bool, ends_empty: bool) -> Two {
            Two {
                waiting: Mutex::new(vec!["TW0002", "TW0001"]),
                both: Barrier::new(2),
                is_slow,
                ends_empty,
                emptied: AtomicUsize::new(0),
            }
        }
    }

    impl Work for Two {
        fn next(&self, fits: &dyn Fn(&str) -> Fit) -> Option<String> {
            let mut waiting = self.waiting.lock().unwrap();
            let place = waiting.iter().rposition(|one| fits(one) != Fit::Not)?;
            Some(waiting.remove(place).to_owned())
        }

        fn carry_out(
            &self,
            volume: &str,
            _: &mut TapeDrive,
            _: &mut dyn Log,
        ) -> Result<(), Trouble> {
            self.both.wait();
            while self.is_slow && volume == "TW0002" && self.emptied.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            Ok(())
        }

        fn goes_home(&self, drive: usize, free: &[FreeDrive], _: usize) -> bool {
            let own = |free: &&FreeDrive| free.drive as usize == drive && free.loaded;
            self.is_slow && free.iter().filter(own).count() == 1
        }

        fn ends_empty(&self) -> bool {
            self.ends_empty
        }

        fn emptied(&self, _: &mut TapeDrive) -> Result<Admission, RunError> {
            self.emptied.fetch_add(1, Ordering::SeqCst);
            Ok(Admission::Go)
        }

        fn put_back(&self, _: &str) {}

        fn give_up(&self, volume: &str, error: WorkError) {
            panic!("{volume}: {error}");
        }
    }

    #[test]
    fn a_cartridge_that_nobody_asks_for_goes_home_while_another_drive_works() {
        let (mut pool, work) = (pool(2), Two::new(true, false));
        let mut log: Vec<Event> = Vec::new();
        pool.work_off(&work, &mut log, &AtomicBool::new(false));
        let is_home = |volume: &str| matches!(pool.volumes()[volume], Whereabouts::Element(_));
        assert!(is_home("TW0001"));
        // Nobody works any more who could need its drive.
        assert!(!is_home("TW0002"));
        assert_eq!(work.emptied.into_inner(), 1);
    }

    #[test]
    fn at_the_end_of_work_that_ends_empty_all_cartridges_are_home() {
        let (mut pool, work) = (pool(2), Two::new(false, true));
        let mut log: Vec<Event> = Vec::new();
        pool.work_off(&work, &mut log, &AtomicBool::new(false));
        assert!(pool.status().iter().all(|drive| drive.volume.is_none()));
        let returns = log.iter().filter(|event| event.action == Action::Return);
        assert_eq!((returns.count(), work.emptied.into_inner()), (2, 2));
        // All of it is found again.
        pool.work_off(&Two::new(false, true), &mut log, &AtomicBool::new(false));
        assert!(pool.status().iter().all(|drive| drive.mounts == 2));
    }

    #[test]
    fn all_drives_are_dismounted_whatever_the_pace() {
        for pace in [Pace::Turns, Pace::Threads] {
            let mut pool = pool(2);
            let mut log: Vec<Event> = Vec::new();
            for volume in ["TW0001", "TW0002"] {
                pool.mount(volume, &mut log).unwrap();
            }
            pool.set_pace(pace);
            assert!(pool.dismount_all(&mut log).is_empty());
            let is_empty =
                |drive: &crate::pool::DriveStatus| drive.volume.is_none() && !drive.in_use;
            assert!(pool.status().iter().all(is_empty));
            let returns = log.iter().filter(|event| event.action == Action::Return);
            assert_eq!(returns.count(), 2);
        }
    }
}
