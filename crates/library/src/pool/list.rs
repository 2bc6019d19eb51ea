//! Work on a list of volumes, the same with each.

use super::Pool;
use super::error::PoolError;
use super::work::{Fit, Pace, Trouble, Work, WorkError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tapewise_run::{Log, RunError};
use tapewise_scsi::TapeDrive;

/// What is to be done with a mounted volume, by its number in the list. Where the drive fails it is
/// done again from the start, in another drive.
pub type Job<'a, T> = dyn Fn(usize, &mut TapeDrive, &mut dyn Log) -> Result<T, Trouble> + Sync + 'a;

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
        let list = List::new(volumes, job);
        self.work_off_at(pace, &list, log, stop);
        list.results(stop.load(Ordering::Relaxed))
    }
}

/// A list of volumes with something to be done with each.
struct List<'a, T> {
    volumes: &'a [String],
    job: &'a Job<'a, T>,
    state: Mutex<ListState<T>>,
}

struct ListState<T> {
    waiting: Vec<usize>,
    done: Vec<Option<Result<T, WorkError>>>,
}

impl<'a, T> List<'a, T> {
    fn new(volumes: &'a [String], job: &'a Job<'a, T>) -> List<'a, T> {
        List {
            volumes,
            job,
            state: Mutex::new(ListState {
                waiting: (0..volumes.len()).collect(),
                done: volumes.iter().map(|_| None).collect(),
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, ListState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn number(&self, volume: &str) -> Option<usize> {
        self.volumes.iter().position(|one| one == volume)
    }

    /// What came of each volume; what nobody could take has no drive left, or was not begun.
    fn results(self, is_stopped: bool) -> Vec<Result<T, WorkError>> {
        let left = |volume: &String| {
            if is_stopped {
                WorkError::Run(RunError::Interrupted)
            } else {
                WorkError::Pool(PoolError::NoDriveLeft {
                    volume: volume.clone(),
                    reasons: "all drives that could take it are in use, set aside or left alone"
                        .into(),
                })
            }
        };
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let done = state.done.into_iter().zip(self.volumes);
        done.map(|(done, volume)| done.unwrap_or_else(|| Err(left(volume))))
            .collect()
    }
}

impl<T: Send> Work for List<'_, T> {
    fn next(&self, fits: &dyn Fn(&str) -> Fit) -> Option<String> {
        let mut state = self.state();
        let fit = |&&number: &&usize| fits(&self.volumes[number]);
        let here = state.waiting.iter().find(|one| fit(one) == Fit::Here);
        let any = || state.waiting.iter().find(|one| fit(one) != Fit::Not);
        let number = *here.or_else(any)?;
        state.waiting.retain(|&one| one != number);
        Some(self.volumes[number].clone())
    }

    fn carry_out(
        &self,
        volume: &str,
        drive: &mut TapeDrive,
        log: &mut dyn Log,
    ) -> Result<(), Trouble> {
        let Some(number) = self.number(volume) else {
            return Ok(());
        };
        let done = (self.job)(number, drive, log)?;
        self.state().done[number] = Some(Ok(done));
        Ok(())
    }

    fn put_back(&self, volume: &str) {
        self.state().waiting.extend(self.number(volume));
    }

    fn give_up(&self, volume: &str, error: WorkError) {
        if let Some(number) = self.number(volume) {
            self.state().done[number] = Some(Err(error));
        }
    }
}
