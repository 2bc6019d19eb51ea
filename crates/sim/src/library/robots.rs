//! Robots: each carries one cartridge at a time, in the order in which it is asked.

use super::ids::{DriveId, Id, RobotId};
use std::collections::VecDeque;

/// What a robot is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub drive: DriveId,
    /// From slot to drive; else back.
    pub get: bool,
}

/// What a robot does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Robot {
    Free,
    Carries(Job),
    /// It has delivered, and cannot begin the next move yet.
    Settles,
}

/// The robots of a library and what waits for them.
#[derive(Clone, Debug)]
pub(super) struct Robots {
    robots: Vec<Robot>,
    queue: VecDeque<Job>,
}

impl Robots {
    pub(super) fn new(count: usize) -> Robots {
        Robots {
            robots: vec![Robot::Free; count],
            queue: VecDeque::new(),
        }
    }

    /// Whether no two robots serve one drive.
    pub(super) fn carry_one_each(&self) -> bool {
        let drive = |robot: &Robot| match robot {
            Robot::Carries(job) => Some(job.drive),
            Robot::Free | Robot::Settles => None,
        };
        let mut served = self.robots.iter().filter_map(drive);
        while let Some(one) = served.next() {
            if served.clone().any(|other| other == one) {
                return false;
            }
        }
        true
    }

    /// The robot that begins a job at once, as it is free and nothing else waits.
    pub(super) fn at_once(&mut self, job: Job) -> Option<RobotId> {
        if self.is_asked() {
            return None;
        }
        let robot = self.free()?;
        self.robots[robot] = Robot::Carries(job);
        Some(RobotId(robot as u16))
    }

    fn free(&self) -> Option<usize> {
        self.robots.iter().position(|robot| *robot == Robot::Free)
    }

    /// Whether a job waits for a robot.
    pub(super) fn is_asked(&self) -> bool {
        !self.queue.is_empty()
    }

    /// The next job for a robot that is free.
    pub(super) fn start(&mut self, gets_first: bool) -> Option<(RobotId, Job)> {
        if self.queue.is_empty() {
            return None;
        }
        let robot = self.free()?;
        let get = self.queue.iter().position(|job| gets_first && job.get);
        let job = match get {
            Some(place) => self.queue.remove(place),
            None => self.queue.pop_front(),
        }?;
        self.robots[robot] = Robot::Carries(job);
        Some((RobotId(robot as u16), job))
    }

    pub(super) fn ask(&mut self, job: Job) {
        self.queue.push_back(job);
    }

    /// A robot has delivered or has settled: the job that it carried out, if it had one. It settles
    /// next if `settles` says so and it has delivered.
    pub(super) fn done(&mut self, robot: RobotId, settles: bool) -> Option<Job> {
        let state = &mut self.robots[robot.index()];
        match std::mem::replace(state, Robot::Free) {
            Robot::Carries(job) => {
                if settles {
                    *state = Robot::Settles;
                }
                Some(job)
            }
            Robot::Free | Robot::Settles => None,
        }
    }
}
