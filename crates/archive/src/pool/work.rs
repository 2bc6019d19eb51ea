//! Work on many volumes at once: every drive takes the next volume when it is done with one.
//!
//! Where clocks are real each drive has a thread. Emulated devices on a virtual clock share that clock,
//! and a command of one is time that passes for the others: there the drives take turns, the one that
//! was busy for the shortest time first, and the results are the same.

use super::bay::{Bay, State};
use super::desk::Desk;
use super::error::{Blame, PoolError};
use super::{Pool, TRIES, give_back, lock, mount_in};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;
use tapewise_formats::event::Event;
use tapewise_run::{Log, RunError};
use tapewise_scsi::TapeDrive;

/// How the drives' work is spread over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// A thread for each drive.
    Threads,
    /// One drive after the other: for devices that share a virtual clock.
    Turns,
}

/// Why the work on a volume was not done.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The volume could not be mounted.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// It was mounted, and then the work ended.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// What is to be done with a mounted volume, by its number in the list. Where the drive fails it is
/// done again from the start, in another drive.
pub type Job<'a, T> =
    dyn Fn(usize, &mut TapeDrive, &mut dyn Log) -> Result<T, RunError> + Sync + 'a;

/// What is still to be done, shared by all drives.
struct Queue<T> {
    waiting: Vec<usize>,
    running: usize,
    /// Drives that failed at a volume, for each volume.
    failed: Vec<Vec<usize>>,
    /// What is in each drive that still works.
    holds: Vec<Option<String>>,
    done: Vec<Option<Result<T, WorkError>>>,
}

/// The work of one call.
struct Shift<'a, T> {
    volumes: &'a [String],
    job: &'a Job<'a, T>,
    desk: &'a Mutex<Desk>,
    by_hand: bool,
    queue: Mutex<Queue<T>>,
    changed: Condvar,
    stop: &'a AtomicBool,
}

impl Pool {
    /// Mounts each of the volumes and does `job` with it, on all drives that are free. Gives what came
    /// of each, in the order of the volumes. After `stop` is set no further volume is begun.
    pub fn work<T: Send>(
        &mut self,
        volumes: &[String],
        pace: Pace,
        log: &mut (dyn Log + Send),
        stop: &AtomicBool,
        job: &Job<'_, T>,
    ) -> Vec<Result<T, WorkError>> {
        let holds = |bay: &Bay| bay.volume().map(str::to_owned);
        let shift = Shift {
            volumes,
            job,
            desk: &self.desk,
            by_hand: self.bays.iter().any(|bay| bay.library().is_none()),
            queue: Mutex::new(Queue {
                waiting: (0..volumes.len()).collect(),
                running: 0,
                failed: vec![Vec::new(); volumes.len()],
                holds: self.bays.iter().map(holds).collect(),
                done: volumes.iter().map(|_| None).collect(),
            }),
            changed: Condvar::new(),
            stop,
        };
        let free = self.bays.iter_mut().enumerate();
        let free = free.filter(|(_, bay)| matches!(bay.state, State::Idle { .. }));
        match pace {
            Pace::Threads => {
                let log = Mutex::new(log);
                std::thread::scope(|scope| {
                    for (index, bay) in free {
                        let (shift, log) = (&shift, &log);
                        scope.spawn(move || {
                            while let Some(number) = shift.wait_for(index, bay) {
                                shift.carry_out(number, index, bay, &mut Shared(log));
                            }
                        });
                    }
                });
            }
            Pace::Turns => {
                let mut free: Vec<(Duration, usize, &mut Bay)> = free
                    .map(|(index, bay)| (Duration::ZERO, index, bay))
                    .collect();
                loop {
                    free.sort_by_key(|(busy, index, _)| (*busy, *index));
                    let next = free
                        .iter_mut()
                        .find_map(|turn| shift.take(turn.1, turn.2).map(|number| (number, turn)));
                    let Some((number, (busy, index, bay))) = next else {
                        break;
                    };
                    let began = bay.drive.now();
                    shift.carry_out(number, *index, bay, log);
                    *busy += bay.drive.now().saturating_sub(began);
                }
            }
        }
        shift.results()
    }
}

impl<T> Shift<'_, T> {
    fn queue(&self) -> std::sync::MutexGuard<'_, Queue<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a volume for this drive off the queue: the one that is in it, else the first that is in
    /// no drive.
    fn take(&self, index: usize, bay: &Bay) -> Option<usize> {
        if matches!(bay.state, State::Aside { .. }) || self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let mut queue = self.queue();
        let may_take = |&&number: &&usize| {
            let volume = &self.volumes[number];
            let is_here = queue.holds[index].as_deref() == Some(volume);
            let is_elsewhere = queue
                .holds
                .iter()
                .any(|held| held.as_deref() == Some(volume));
            let serves = || match lock(self.desk).home_of(volume, self.by_hand) {
                Ok(home) => home == bay.library(),
                // Whoever takes it finds out why not.
                Err(_) => true,
            };
            !queue.failed[number].contains(&index) && (is_here || !is_elsewhere && serves())
        };
        let is_here =
            |number: &&usize| queue.holds[index].as_ref() == Some(&self.volumes[**number]);
        let candidates = || queue.waiting.iter().filter(may_take);
        let number = *candidates().find(is_here).or_else(|| candidates().next())?;
        queue.waiting.retain(|&one| one != number);
        queue.running += 1;
        queue.holds[index] = Some(self.volumes[number].clone());
        Some(number)
    }

    /// As [`Shift::take`], but waits while another drive may still give a volume back.
    fn wait_for(&self, index: usize, bay: &Bay) -> Option<usize> {
        loop {
            if let Some(number) = self.take(index, bay) {
                return Some(number);
            }
            let queue = self.queue();
            let is_over = queue.running == 0
                || matches!(bay.state, State::Aside { .. })
                || self.stop.load(Ordering::Relaxed);
            if is_over {
                return None;
            }
            // With a limit, because whoever sets `stop` wakes nobody.
            let limit = Duration::from_millis(200);
            drop(self.changed.wait_timeout(queue, limit));
        }
    }

    /// Mounts the volume, does the job, and says what came of it; where the drive is to blame the
    /// volume goes back to the queue.
    fn carry_out(&self, number: usize, index: usize, bay: &mut Bay, log: &mut dyn Log) {
        let volume = &self.volumes[number];
        let done = self.mount_and_do(number, bay, volume, log);
        bay.release();
        let mut queue = self.queue();
        let is_drives = matches!(
            done,
            Err(WorkError::Pool(
                PoolError::DriveFailed { .. }
                    | PoolError::Reserved { .. }
                    | PoolError::Unusable { .. }
            ))
        );
        if is_drives {
            queue.failed[number].push(index);
        }
        let others = (0..queue.holds.len()).any(|one| !queue.failed[number].contains(&one));
        match done {
            Err(_) if is_drives && queue.failed[number].len() < TRIES && others => {
                queue.waiting.push(number);
            }
            done => queue.done[number] = Some(done),
        }
        queue.running -= 1;
        queue.holds[index] = match bay.state {
            State::Aside { .. } => None,
            State::Idle { .. } | State::InUse => bay.volume().map(str::to_owned),
        };
        drop(queue);
        self.changed.notify_all();
    }

    fn mount_and_do(
        &self,
        number: usize,
        bay: &mut Bay,
        volume: &str,
        log: &mut dyn Log,
    ) -> Result<T, WorkError> {
        if let Err(error) = mount_in(bay, self.desk, volume, log) {
            lock(self.desk).say(&error.to_string());
            let is_cartridges = matches!(error, PoolError::Unusable { .. });
            if is_cartridges || matches!(bay.state, State::Aside { .. }) {
                give_back(bay, self.desk, log);
            }
            return Err(error.into());
        }
        let mut stamp = bay.stamp(log);
        match (self.job)(number, &mut bay.drive, &mut stamp) {
            Err(error) if Blame::of_run(&error) == Blame::Drive => {
                let failed = bay.failed(&error.to_string());
                give_back(bay, self.desk, log);
                Err(failed.into())
            }
            done => Ok(done?),
        }
    }

    /// What came of each volume; what nobody could take has no drive left, or was not begun.
    fn results(self) -> Vec<Result<T, WorkError>> {
        let is_stopped = self.stop.load(Ordering::Relaxed);
        let queue = self
            .queue
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let volumes = self.volumes.iter();
        let left = |volume: &String| match is_stopped {
            true => WorkError::Run(RunError::Interrupted),
            false => WorkError::Pool(PoolError::NoDriveLeft {
                volume: volume.clone(),
                reasons: "all drives that could take it are in use, set aside or left alone".into(),
            }),
        };
        queue
            .done
            .into_iter()
            .zip(volumes)
            .map(|(done, volume)| done.unwrap_or_else(|| Err(left(volume))))
            .collect()
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
