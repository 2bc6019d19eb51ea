//! One drive's part of the benchmark: a request from the queue, step by step, then the next one.

use super::hall::{Hall, Shelved, purpose};
use super::queue::Next;
use crate::stress::{Failure, Tested};
use crate::turns::{self, duration, lock, micros};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tapewise_formats::bench_csv::Retrieval;
use tapewise_formats::event::{Action, Event, Outcome, Spot};
use tapewise_model::Micros;
use tapewise_run::RunError;
use tapewise_scsi::commands::ReadOutcome;
use tapewise_scsi::{ScsiError, TapeDrive};

/// A move of the robot that was not made is tried so often.
const TRIES: u32 = 3;

/// A cartridge that a drive has not loaded after so long has failed.
const LOAD_LIMIT: Duration = Duration::from_secs(900);

/// A drive that waits for requests looks so often whether it is to stop.
const SLICE: Micros = Micros(1_000_000);

/// A drive and what it is at.
pub(super) struct Session<'h, 'a> {
    hall: &'h Hall<'a>,
    tested: &'h mut Tested,
    /// Its clock when the pattern began.
    began: Duration,
    job: Option<Job>,
    idle_since: Micros,
    buffer: Vec<u8>,
}

/// A request, and what is to be done for it next.
#[derive(Clone, Copy, Debug)]
struct Job {
    request: Retrieval,
    next: Action,
    /// Moves of the robot that failed in a row.
    failed: u32,
}

impl turns::Job for Session<'_, '_> {
    fn turn(&self) -> (Micros, Micros) {
        (self.now(), self.idle_since)
    }

    fn step(&mut self) -> Result<bool, RunError> {
        match self.job {
            Some(job) => self.go_on(job),
            None => Ok(self.begin()),
        }
    }
}

impl<'h, 'a> Session<'h, 'a> {
    /// A drive without a cartridge, when the pattern begins.
    pub fn new(hall: &'h Hall<'a>, tested: &'h mut Tested) -> Session<'h, 'a> {
        let longest = hall.shelved.iter().map(|one| one.stocked.object_bytes);
        Session {
            hall,
            began: tested.drive.now(),
            tested,
            job: None,
            idle_since: Micros::ZERO,
            buffer: vec![0; longest.max().unwrap_or(0) as usize],
        }
    }

    /// Time since the pattern began, on the drive's clock.
    fn now(&self) -> Micros {
        micros(self.tested.drive.now().saturating_sub(self.began))
    }

    /// Takes a request, or waits until there may be one.
    fn begin(&mut self) -> bool {
        if self.hall.stop.load(Ordering::Relaxed) {
            return false;
        }
        let now = self.now();
        // The others use the queue while this one waits.
        let next = lock(&self.hall.queue).next(now);
        match next {
            Next::Nothing => return false,
            Next::Wait(until) => {
                let slice = (until - now).min(SLICE);
                self.tested.drive.wait(duration(slice));
            }
            Next::Take(request) => {
                self.job = Some(Job {
                    request,
                    next: Action::Fetch,
                    failed: 0,
                });
            }
        }
        true
    }

    fn go_on(&mut self, job: Job) -> Result<bool, RunError> {
        let hall = self.hall;
        let shelved = &hall.shelved[job.request.cartridge as usize - 1];
        let block = shelved.stocked.block(job.request.location);
        let now = self.now();
        let drive = &mut self.tested.drive;
        let (at, done) = match job.next {
            Action::Fetch | Action::Return => self.carry(job.next, shelved),
            Action::Mount => (now, mount(drive)),
            Action::Locate => (now, drive.locate(0, block).map_err(said)),
            Action::Read => (now, read(drive, &mut self.buffer, shelved, block)),
            Action::Rewind => (now, drive.rewind().map_err(said)),
            _ => (now, drive.unload().map_err(said)),
        };
        let is_robots = matches!(job.next, Action::Fetch | Action::Return);
        let is_at_block = matches!(job.next, Action::Locate | Action::Read);
        let is_read = job.next == Action::Read && done.is_ok();
        let bytes = u64::from(shelved.stocked.object_bytes);
        let event = Event {
            device: self.tested.drive.identity().serial.clone(),
            cartridge: Some(shelved.stocked.label.clone()),
            slot: is_robots.then_some(shelved.slot),
            to: is_at_block.then_some(Spot {
                block: Some(block),
                ..Spot::default()
            }),
            blocks: u64::from(is_read),
            bytes: u64::from(is_read) * bytes,
            outcome: match done {
                Ok(()) => Outcome::Done,
                Err(_) => Outcome::Failed,
            },
            sense: done.as_ref().err().cloned(),
            purpose: Some(purpose(job.request.number)),
            ..Event::new(job.next, at, self.now() - at)
        };
        self.note(&event)?;
        Ok(match done {
            Ok(()) => self.succeeded(job),
            Err(_) => self.failed(job),
        })
    }

    /// Sends the robot, when it is free. Gives when it set out.
    fn carry(&mut self, action: Action, shelved: &Shelved) -> (Micros, Result<(), String>) {
        let mut robot = lock(&self.hall.robot);
        let robot_now = micros(robot.changer.now().saturating_sub(robot.began));
        // Who comes first waits for the other; on a real clock holding the robot was the wait.
        let now = self.now();
        self.tested.drive.wait(duration(robot_now - now));
        robot.changer.wait(duration(now - robot_now));
        let at = self.now();
        let (from, to) = match action {
            Action::Return => (self.tested.element, shelved.slot),
            _ => (shelved.slot, self.tested.element),
        };
        let moved = robot.changer.move_medium(from, to).map_err(said);
        let robot_now = micros(robot.changer.now().saturating_sub(robot.began));
        drop(robot);
        self.tested.drive.wait(duration(robot_now - self.now()));
        (at, moved)
    }

    fn note(&self, event: &Event) -> Result<(), RunError> {
        let mut record = lock(&self.hall.record);
        record.log.event(event).map_err(RunError::Log)?;
        match &event.sense {
            None => record.tally.answered += u64::from(event.action == Action::Read),
            Some(said) => record.tally.failures.push(Failure {
                at: event.at_us,
                action: event.action,
                label: event.cartridge.clone().unwrap_or_default(),
                element: self.tested.element,
                said: said.clone(),
            }),
        }
        Ok(())
    }

    /// What comes after a step that was done.
    fn succeeded(&mut self, job: Job) -> bool {
        let next = match job.next {
            Action::Fetch => Action::Mount,
            Action::Mount => Action::Locate,
            Action::Locate => Action::Read,
            Action::Read => Action::Rewind,
            Action::Rewind => Action::Unmount,
            Action::Unmount => Action::Return,
            _ => {
                let now = self.now();
                lock(&self.hall.queue).is_back(job.request.cartridge, now);
                (self.job, self.idle_since) = (None, now);
                return true;
            }
        };
        self.job = Some(Job {
            next,
            failed: 0,
            ..job
        });
        true
    }

    /// What comes after a step that failed: the robot tries again, and then the drive is left as it is;
    /// else the cartridge is given back.
    fn failed(&mut self, job: Job) -> bool {
        let failed = job.failed + 1;
        let next = match job.next {
            Action::Fetch | Action::Return if failed >= TRIES => {
                lock(&self.hall.queue).is_lost(job.request.cartridge);
                return false;
            }
            Action::Fetch | Action::Return => job.next,
            Action::Unmount => Action::Return,
            _ => Action::Unmount,
        };
        self.job = Some(Job {
            next,
            failed,
            ..job
        });
        true
    }
}

/// Until the drive can read what the robot has brought.
fn mount(drive: &mut TapeDrive) -> Result<(), String> {
    drive
        .wait_until_loaded(LOAD_LIMIT)
        .and_then(|()| drive.set_block_length(0))
        .map_err(said)
}

fn read(
    drive: &mut TapeDrive,
    buffer: &mut [u8],
    shelved: &Shelved,
    block: u64,
) -> Result<(), String> {
    let wanted = shelved.stocked.object_bytes;
    match drive.read(buffer).map_err(said)? {
        ReadOutcome::Block { bytes } if bytes == wanted as usize => Ok(()),
        found => Err(format!(
            "block {block}: expected an object of {wanted} bytes, found {found:?}"
        )),
    }
}

fn said(error: ScsiError) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::super::hall::{Record, Robot, Tally};
    use super::super::queue::Queue;
    use super::*;
    use crate::testing::{drive, library, robot};
    use std::sync::atomic::AtomicBool;
    use std::sync::{Mutex, mpsc};

    #[test]
    fn who_waits_for_a_request_keeps_nobody_from_the_queue() {
        let library = library(1);
        let (says_so, waits) = mpsc::channel();
        let (go_on, goes_on) = mpsc::channel();
        let on_wait = move || {
            says_so.send(()).unwrap();
            goes_on.recv().unwrap();
        };
        let mut tested = Tested {
            drive: drive(&library, 0, on_wait),
            element: 0,
        };
        let pattern = [Retrieval {
            number: 1,
            at: Micros(3_600_000_000),
            cartridge: 1,
            location: 1,
        }];
        let (mut changer, mut log) = (robot(&library), Vec::<Event>::new());
        let (began, stop) = (changer.now(), AtomicBool::new(false));
        let hall = Hall {
            shelved: &[],
            robot: Mutex::new(Robot {
                changer: &mut changer,
                began,
            }),
            queue: Mutex::new(Queue::new(&pattern, 1)),
            record: Mutex::new(Record {
                log: &mut log,
                tally: Tally::default(),
            }),
            stop: &stop,
        };
        let mut session = Session::new(&hall, &mut tested);
        std::thread::scope(|scope| {
            let begun = scope.spawn(|| session.begin());
            waits.recv_timeout(Duration::from_secs(60)).unwrap();
            let is_free = hall.queue.try_lock().is_ok();
            go_on.send(()).unwrap();
            assert!(begun.join().unwrap());
            assert!(is_free);
        });
    }
}
