//! Work on many volumes at once: every drive takes the next volume when it is done with one.
//!
//! What the next one is, [`Work`] says each time a drive is free, so that what is asked for meanwhile is
//! not waited for. Where clocks are real each drive has a thread. Emulated devices on a virtual clock
//! share that clock, and a command of one is time that passes for the others: there the drives take
//! turns, the one that was busy for the shortest time first: the same is done, and the same seed gives the
//! same events in the same order. Where each has a time of its own, that is the one whose time is earliest. What it
//! does in a turn is a [`Step`], so that drives come to the robot in the order of their times, and a drive is at work
//! for the others until its own time has come to the end of its work.

mod floor;
mod idle;
mod task;

pub use floor::Fit;
pub use task::{Admission, Trouble, Work, WorkError};

use super::bay::{Bay, Holds, Site, State};
use super::desk::{Desk, lock};
use super::error::{Blame, PoolError};
use super::mount::{bring, give_back, load, make_room, reject};
use super::{Pool, TRIES};
use floor::Floor;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tapewise_formats::event::Event;
use tapewise_model::Random;
use tapewise_run::Log;

/// How the drives' work is spread over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// A thread for each drive.
    #[default]
    Threads,
    /// A thread for each drive. One that finds nothing to do looks again after this long on its drive's own clock: for
    /// emulated devices whose time passes only while all threads wait.
    Looking(Duration),
    /// One drive after the other, the one that was busy for the shortest time first: for devices that share a
    /// virtual clock.
    Turns,
    /// One drive after the other, in an order that a seed gives: to try many of them.
    Seeded(u64),
}

/// The stream of a seed that the order of turns is drawn from.
const TURNS: u64 = 0;

/// What a drive does next with a volume that it has taken.
enum Step {
    /// Unloads what is still in it.
    MakeRoom(String),
    /// Has the robot bring the volume.
    Bring(String),
    /// Loads it and works on it.
    Work(String),
    /// It is done with it.
    End(String, Result<Ended, WorkError>),
}

/// A drive that takes turns with others.
struct Turn<'a> {
    /// For how long it has been busy.
    busy: Duration,
    index: usize,
    bay: &'a mut Bay,
    /// What it does next; none if it takes a volume.
    next: Option<Step>,
}

/// How the work on a volume ended, where nothing failed.
enum Ended {
    Done,
    Elsewhere,
    NotNow,
}

/// The work of one call.
struct Shift<'a> {
    work: &'a dyn Work,
    desk: &'a Mutex<Desk>,
    by_hand: bool,
    floor: Mutex<Floor>,
    changed: Condvar,
    /// After how long a drive without work looks again, on its own clock; else on the host's, or when it is woken.
    looks: Option<Duration>,
    stop: &'a AtomicBool,
}

impl Pool {
    /// Works off what there is to do, on all drives that are free, until nothing is left that any of
    /// them could take, at the pool's pace. After `stop` is set no further volume is begun.
    pub fn work_off(&mut self, work: &dyn Work, log: &mut (dyn Log + Send), stop: &AtomicBool) {
        self.work_off_at(self.pace, work, log, stop);
    }

    pub(super) fn work_off_at(
        &mut self,
        pace: Pace,
        work: &dyn Work,
        log: &mut (dyn Log + Send),
        stop: &AtomicBool,
    ) {
        let mut shift = Shift::new(&self.bays, &self.desk, work, stop);
        if let Pace::Looking(after) = pace {
            shift.looks = Some(after);
        }
        let free = self.bays.iter_mut().enumerate();
        let free = free.filter(|(_, bay)| matches!(bay.state, State::Idle { .. }));
        match pace {
            Pace::Threads | Pace::Looking(_) => {
                let log = Mutex::new(log);
                std::thread::scope(|scope| {
                    let (shift, log) = (&shift, &log);
                    // The first drive is worked on here, so that work goes on where no thread can be had.
                    let mut free = free;
                    let first = free.next();
                    for (index, bay) in free {
                        let name = bay.name();
                        let work = move || shift.work_on(index, bay, log);
                        if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, work) {
                            shift.leave_out(index, &name, &error);
                        }
                    }
                    if let Some((index, bay)) = first {
                        shift.work_on(index, bay, log);
                    }
                });
            }
            Pace::Turns => shift.take_turns(free.collect(), log, None),
            Pace::Seeded(seed) => {
                let random = Random::new(seed, TURNS);
                shift.take_turns(free.collect(), log, Some(random));
            }
        }
    }
}

impl<'a> Shift<'a> {
    fn new(
        bays: &[Bay],
        desk: &'a Mutex<Desk>,
        work: &'a dyn Work,
        stop: &'a AtomicBool,
    ) -> Shift<'a> {
        Shift {
            work,
            desk,
            by_hand: bays.iter().any(|bay| bay.library().is_none()),
            floor: Mutex::new(Floor::new(bays, lock(desk).homes())),
            changed: Condvar::new(),
            looks: None,
            stop,
        }
    }

    fn floor(&self) -> MutexGuard<'_, Floor> {
        self.floor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no volume is begun in this drive any more. A cartridge without a readable label stays there: it has no name
    /// by which the robot could be told to take it out.
    fn is_over_for(&self, bay: &Bay) -> bool {
        matches!(bay.state, State::Aside { .. })
            || bay.holds == Holds::Unlabelled
            || self.stop.load(Ordering::Relaxed)
    }

    /// Takes a volume for this drive, unless another one that looks for work is better placed.
    fn take(&self, floor: &mut Floor, index: usize, bay: &Bay) -> Option<String> {
        let leaves = Cell::new(false);
        let fits = |volume: &str| {
            let serves = || match lock(self.desk).home_of(volume, self.by_hand) {
                Ok(home) => home == bay.library(),
                // It may be one of ours, which is about to give it back for what it takes next.
                Err(PoolError::Elsewhere { .. }) => floor.is_quiet(),
                // Whoever takes it finds out why not.
                Err(_) => true,
            };
            match floor.fit(index, volume, serves) {
                Fit::Fetch if bay.is_left => Fit::Not,
                Fit::Fetch if floor.is_left_to_another(index, volume) => {
                    leaves.set(true);
                    Fit::Not
                }
                fit => fit,
            }
        };
        let taken = self.work.next(&fits);
        match &taken {
            Some(volume) => floor.begin(index, volume),
            None => floor.pass(index, leaves.get()),
        }
        taken
    }

    /// As [`Shift::take`], but waits while another drive may still give a volume back. Meanwhile its own may go home.
    fn wait_for(&self, index: usize, bay: &mut Bay, log: &mut dyn Log) -> Option<String> {
        while !self.is_over_for(bay) {
            self.work.prepare();
            let mut floor = self.floor();
            if floor.is_closed() {
                break;
            }
            let taken = self.take(&mut floor, index, bay);
            if taken.is_some() {
                return taken;
            }
            if self.goes_home(&floor, index) {
                floor.go_home(index);
                drop(floor);
                self.go_home(index, bay, log);
                continue;
            }
            let ends_empty = self.work.ends_empty();
            if floor.is_over() && !floor.have_left() && !(ends_empty && floor.are_some_loaded()) {
                // Else one that is left would have all that comes to itself.
                if ends_empty {
                    floor.close();
                }
                floor.leave(index);
                return None;
            }
            if let Some(after) = self.looks {
                drop(floor);
                bay.drive.wait(after);
                continue;
            }
            // With a limit, because whoever sets `stop` or asks for more wakes nobody.
            let limit = Duration::from_millis(200);
            drop(self.changed.wait_timeout(floor, limit));
        }
        self.floor().leave(index);
        None
    }

    /// Works on one drive until nothing is left for it.
    fn work_on(&self, index: usize, bay: &mut Bay, log: &Mutex<&mut (dyn Log + Send)>) {
        while let Some(volume) = self.wait_for(index, bay, &mut Shared(log)) {
            let mut next = Some(Step::MakeRoom(volume));
            while let Some(step) = next {
                next = self.step(step, index, bay, &mut Shared(log));
            }
        }
    }

    /// A drive is not worked on, because there is no thread for it.
    fn leave_out(&self, index: usize, name: &str, error: &std::io::Error) {
        self.floor().leave_out(index);
        lock(self.desk).say(&format!(
            "{name} is not used this time: no thread can be started for it ({error})"
        ));
    }

    fn take_turns(
        &self,
        free: Vec<(usize, &mut Bay)>,
        log: &mut dyn Log,
        mut random: Option<Random>,
    ) {
        let turn = |(index, bay)| Turn {
            busy: Duration::ZERO,
            index,
            bay,
            next: None,
        };
        let mut turns: Vec<Turn<'_>> = free.into_iter().map(turn).collect();
        loop {
            match &mut random {
                Some(random) => random.shuffle(&mut turns),
                None => turns.sort_by_key(|turn| (turn.busy, turn.index)),
            }
            let Some((step, place)) = self.next_turn(&mut turns) else {
                if self.floor().have_left() {
                    continue;
                }
                return;
            };
            let turn = &mut turns[place];
            let began = turn.bay.drive.now();
            turn.next = self.step(step, turn.index, turn.bay, log);
            turn.busy += turn.bay.drive.now().saturating_sub(began);
        }
    }

    /// The first turn in which there is something to do, and what.
    fn next_turn(&self, turns: &mut [Turn<'_>]) -> Option<(Step, usize)> {
        turns.iter_mut().enumerate().find_map(|(place, turn)| {
            let step = match turn.next.take() {
                Some(step) => step,
                None if self.is_over_for(turn.bay) => {
                    self.floor().leave(turn.index);
                    return None;
                }
                None => {
                    self.work.prepare();
                    let taken = self.take(&mut self.floor(), turn.index, turn.bay);
                    Step::MakeRoom(taken?)
                }
            };
            Some((step, place))
        })
    }

    /// Does the next step with a volume, and says what follows; nothing if the drive is free again.
    fn step(&self, step: Step, index: usize, bay: &mut Bay, log: &mut dyn Log) -> Option<Step> {
        let (volume, done) = match step {
            Step::MakeRoom(volume) => match self.make_room(bay, &volume, log) {
                Ok(Ended::Done) => return Some(Step::Bring(volume)),
                ended => (volume, ended),
            },
            Step::Bring(volume) => match bring(bay, self.desk, &volume, log) {
                Ok(()) => {
                    self.floor().gave_back(index);
                    return Some(Step::Work(volume));
                }
                Err(error) => {
                    let error = self.not_mounted(&volume, bay, error, log);
                    (volume, Err(error))
                }
            },
            Step::Work(volume) => match self.load_and_do(bay, &volume, log) {
                Ok(None) => return Some(Step::Bring(volume)),
                Ok(Some(ended)) => (volume, Ok(ended)),
                Err(error) => (volume, Err(error)),
            },
            Step::End(volume, done) => {
                self.end(&volume, done, index, bay);
                return None;
            }
        };
        Some(Step::End(volume, done))
    }

    /// A drive is done with a volume; where the drive is to blame the volume goes back.
    fn end(&self, volume: &str, done: Result<Ended, WorkError>, index: usize, bay: &mut Bay) {
        bay.release();
        let mut floor = self.floor();
        let is_drives = matches!(
            done,
            Err(WorkError::Pool(
                PoolError::DriveFailed { .. }
                    | PoolError::Reserved { .. }
                    | PoolError::Unusable { .. }
                    | PoolError::TakenOut { .. }
            ))
        );
        let is_elsewhere = matches!(done, Ok(Ended::Elsewhere));
        let is_left = (is_drives || is_elsewhere) && floor.fail(index, volume, TRIES);
        match done {
            Ok(Ended::Done) => self.work.done(volume),
            Ok(Ended::NotNow | Ended::Elsewhere) => self.work.put_back(volume),
            Err(_) if is_left => self.work.put_back(volume),
            Err(error) => self.work.give_up(volume, error),
        }
        floor.end(index, volume, bay);
        drop(floor);
        self.changed.notify_all();
    }

    /// Whether the drive may have the volume; then what is still in it is unloaded.
    fn make_room(
        &self,
        bay: &mut Bay,
        volume: &str,
        log: &mut dyn Log,
    ) -> Result<Ended, WorkError> {
        match self.work.admit(volume, &mut bay.drive) {
            Ok(Admission::Go) => {}
            Ok(Admission::NotNow) => return Ok(Ended::NotNow),
            Ok(Admission::Leave(why)) => return Err(bay.failed(&why).into()),
            Err(error) => return Err(bay.blamed(error).into()),
        }
        match make_room(bay, volume, log) {
            Ok(()) => Ok(Ended::Done),
            Err(error) => Err(self.not_mounted(volume, bay, error, log)),
        }
    }

    /// Loads the volume and works on it; nothing where a person is to bring another cartridge.
    fn load_and_do(
        &self,
        bay: &mut Bay,
        volume: &str,
        log: &mut dyn Log,
    ) -> Result<Option<Ended>, WorkError> {
        if let Err(error) = load(bay, self.desk, volume, log) {
            return Err(self.not_mounted(volume, bay, error, log));
        }
        let mut stamp = bay.stamp(log);
        match self.work.carry_out(volume, &mut bay.drive, &mut stamp) {
            Ok(()) => Ok(Some(Ended::Done)),
            Err(Trouble::Elsewhere) => {
                give_back(bay, self.desk, log);
                Ok(Some(Ended::Elsewhere))
            }
            Err(Trouble::Run(error)) if Blame::of_run(&error) == Blame::Drive => {
                let failed = bay.failed(&error.to_string());
                give_back(bay, self.desk, log);
                Err(failed.into())
            }
            Err(Trouble::Run(error)) => Err(error.into()),
            // A person is asked again; a robot would only bring the same cartridge.
            Err(Trouble::Another(found)) => {
                let place = bay.name();
                let is_by_hand = bay.site == Site::ByHand;
                reject(bay, self.desk, &found, log)?;
                if is_by_hand {
                    return Ok(None);
                }
                Err(WorkError::Pool(PoolError::WrongLabel {
                    place,
                    expected: volume.to_owned(),
                    found,
                }))
            }
        }
    }

    /// A volume could not be mounted. If drive or cartridge is to blame, what is in the drive goes home.
    fn not_mounted(
        &self,
        volume: &str,
        bay: &mut Bay,
        error: PoolError,
        log: &mut dyn Log,
    ) -> WorkError {
        lock(self.desk).say_of(volume, &error.to_string());
        let is_cartridges = matches!(error, PoolError::Unusable { .. });
        if is_cartridges || matches!(bay.state, State::Aside { .. }) {
            give_back(bay, self.desk, log);
        }
        error.into()
    }
}

/// A log that several drives write.
struct Shared<'a, 'l>(&'a Mutex<&'l mut (dyn Log + Send)>);

impl Log for Shared<'_, '_> {
    fn event(&mut self, event: &Event) -> std::io::Result<()> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.event(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::pool;
    use tapewise_scsi::TapeDrive;

    struct FirstVolume;

    impl Work for FirstVolume {
        fn next(&self, fits: &dyn Fn(&str) -> Fit) -> Option<String> {
            (fits("TW0001") != Fit::Not).then(|| "TW0001".to_owned())
        }

        fn carry_out(&self, _: &str, _: &mut TapeDrive, _: &mut dyn Log) -> Result<(), Trouble> {
            Ok(())
        }

        fn put_back(&self, _: &str) {}

        fn give_up(&self, _: &str, _: WorkError) {}
    }

    #[test]
    fn a_volume_that_another_drive_is_about_to_give_back_is_waited_for() {
        let mut pool = pool(2);
        let mut log: Vec<Event> = Vec::new();
        let first = pool.mount("TW0001", &mut log).unwrap();
        pool.release(first);
        let stop = AtomicBool::new(false);
        let shift = Shift::new(&pool.bays, &pool.desk, &FirstVolume, &stop);
        let second = 1 - first;
        let mut floor = shift.floor();
        let take = |floor: &mut Floor| shift.take(floor, second, &pool.bays[second]);
        // The first drive has taken another volume, and holds this one still.
        floor.begin(first, "TW0002");
        assert_eq!(take(&mut floor), None);
        // It has been brought home.
        floor.gave_back(first);
        assert_eq!(take(&mut floor).as_deref(), Some("TW0001"));
    }

    #[test]
    fn a_drive_that_holds_a_cartridge_without_a_readable_label_takes_nothing() {
        for pace in [Pace::Turns, Pace::Threads] {
            let mut pool = pool(2);
            pool.bays[0].holds = Holds::Unlabelled;
            let volumes = [1, 2, 3].map(|number| format!("TW000{number}"));
            let mut log: Vec<Event> = Vec::new();
            let stop = AtomicBool::new(false);
            let done = pool.work(&volumes, pace, &mut log, &stop, &|_, drive, _| {
                Ok(drive.identity().serial.clone().unwrap_or_default())
            });
            for done in done {
                assert_eq!(done.unwrap(), "TWD0000002");
            }
        }
    }
}
