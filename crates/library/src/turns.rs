//! Several jobs at once on the devices of one library: threads on real clocks, turns on virtual ones.

use crate::pool::Pace;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tapewise_model::Micros;
use tapewise_run::RunError;
use tapewise_scsi::{Changer, TapeDrive};

/// A job that goes from step to step, and meets the others at the robot.
pub(crate) trait Job: Send {
    /// Who is first, where jobs take turns: the time that this one has come to, and since when it has waited.
    fn turn(&self) -> (Micros, Micros);

    /// Takes the next step, and waits for its end. False when nothing is left to do.
    fn step(&mut self) -> Result<bool, RunError>;
}

/// Works all jobs off: each on a thread of its own, or, where devices run apart, whoever's time is earliest takes the
/// next step, whole.
pub(crate) fn work_off<J: Job>(jobs: Vec<J>, pace: Pace) -> Result<(), RunError> {
    match pace {
        Pace::Threads | Pace::Looking(_) => side_by_side(jobs),
        Pace::Turns | Pace::Seeded(_) => take_turns(jobs),
    }
}

fn side_by_side<J: Job>(mut jobs: Vec<J>) -> Result<(), RunError> {
    std::thread::scope(|scope| {
        let work = |job: &mut J| -> Result<(), RunError> {
            while job.step()? {}
            Ok(())
        };
        let spawn = |job| {
            let thread = std::thread::Builder::new();
            thread.spawn_scoped(scope, move || work(job))
        };
        let threads: Vec<_> = jobs.iter_mut().map(spawn).collect();
        let ended = threads
            .into_iter()
            .map(|thread| match thread.map(|thread| thread.join()) {
                Ok(Ok(done)) => done,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(error) => {
                    let what = format!("no thread can be started for a drive: {error}");
                    Err(RunError::Unsuitable(what))
                }
            });
        // All are waited for before an error is told.
        let ended: Vec<Result<(), RunError>> = ended.collect();
        ended.into_iter().collect()
    })
}

fn take_turns<J: Job>(mut jobs: Vec<J>) -> Result<(), RunError> {
    while let Some(next) = (0..jobs.len()).min_by_key(|&place| jobs[place].turn()) {
        if !jobs[next].step()? {
            jobs.remove(next);
        }
    }
    Ok(())
}

/// Lets every device wait for the one whose time is latest, which is given: from there on, devices that run apart tell
/// the same time whenever they meet.
pub(crate) fn begin_together<'d>(
    changer: &mut Changer,
    drives: impl Iterator<Item = &'d mut TapeDrive>,
) -> Duration {
    let drives: Vec<&mut TapeDrive> = drives.collect();
    let latest = drives.iter().map(|drive| drive.now());
    let latest = latest.fold(changer.now(), Duration::max);
    changer.wait(latest.saturating_sub(changer.now()));
    for drive in drives {
        drive.wait(latest.saturating_sub(drive.now()));
    }
    latest
}

pub(crate) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn into_inner<T>(shared: Mutex<T>) -> T {
    shared.into_inner().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn micros(duration: Duration) -> Micros {
    Micros(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX))
}

/// A time that is not negative; a negative one is none.
pub(crate) fn duration(time: Micros) -> Duration {
    Duration::from_micros(u64::try_from(time.0).unwrap_or(0))
}
