//! Robots: each carries one cartridge at a time, in the order in which it is asked.

use super::drive::State;
use super::record::{Action, Record};
use super::world::{Event, World};
use std::collections::VecDeque;
use tapewise_model::Micros;

/// What a robot is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub drive: u32,
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

    /// The next job for a robot that is free.
    fn start(&mut self, gets_first: bool) -> Option<(u16, Job)> {
        let robot = self.robots.iter().position(|robot| *robot == Robot::Free)?;
        let first = self
            .queue
            .iter()
            .position(|job| job.get)
            .filter(|_| gets_first);
        let job = self.queue.remove(first.unwrap_or(0))?;
        self.robots[robot] = Robot::Carries(job);
        Some((robot as u16, job))
    }
}

impl World<'_> {
    /// A drive waits for its next cartridge, or for its last one to be taken.
    pub(super) fn ask_robot(&mut self, drive: u32, get: bool) {
        let state = match get {
            true => State::WaitsForGet,
            false => State::WaitsForPut,
        };
        self.enter(drive, state);
        let hall = self.drives[drive as usize].hall;
        let robots = &mut self.halls[usize::from(hall)].robots;
        robots.queue.push_back(Job { drive, get });
        self.start_robots(hall);
    }

    fn start_robots(&mut self, hall: u16) {
        let place = usize::from(hall);
        let gets_first = self.site.scenario.libraries[place].robot.gets_first;
        while let Some((robot, job)) = self.halls[place].robots.start(gets_first) {
            self.drives[job.drive as usize].robot = robot;
            match job.get || !self.waits_for_unload(hall) {
                true => self.carry(job.drive, job.get),
                false => self.unload(job.drive),
            }
        }
    }

    pub(super) fn waits_for_unload(&self, hall: u16) -> bool {
        self.site.scenario.libraries[usize::from(hall)]
            .robot
            .waits_for_unload
    }

    /// The robot that a drive was given sets out for its cartridge, or takes it away.
    pub(super) fn carry(&mut self, number: u32, get: bool) {
        let state = match get {
            true => State::Getting,
            false => State::Putting,
        };
        self.enter(number, state);
        let drive = &self.drives[number as usize];
        let (hall, robot) = (drive.hall, drive.robot);
        let built = &self.site.halls[usize::from(hall)];
        let (way, cartridge) = match get {
            true => (&built.get, drive.next),
            false => (&built.put, drive.cartridge),
        };
        let index = cartridge.map_or(0, |cartridge| self.cartridges[cartridge as usize].index);
        let farthest = (built.cartridges.len() - 1).max(1) as f64;
        let takes = way.time(f64::from(index) / farthest, &mut self.robot_times);
        let at = self.agenda.now();
        if let Some(log) = &mut self.log {
            log.push(Record {
                action: match get {
                    true => Action::Fetch,
                    false => Action::Return,
                },
                at,
                took: takes,
                library: hall,
                drive: drive.index,
                robot: Some(robot),
                cartridge: Some(index),
                from: None,
                to: None,
                bytes: 0,
            });
        }
        self.agenda.after(takes, Event::Robot { hall, robot });
    }

    /// A robot has delivered, or has settled.
    pub(super) fn robot_done(&mut self, hall: u16, robot: u16) {
        let settles = &self.site.scenario.libraries[usize::from(hall)]
            .robot
            .settle_s;
        let settles = settles.time(&mut self.robot_times);
        let state = &mut self.halls[usize::from(hall)].robots.robots[usize::from(robot)];
        let was = std::mem::replace(state, Robot::Free);
        if let Robot::Carries(job) = was {
            if settles > Micros::ZERO {
                *state = Robot::Settles;
                self.agenda.after(settles, Event::Robot { hall, robot });
            }
            match job.get {
                true => self.got(job.drive),
                false => self.put_back(job.drive),
            }
        }
        self.start_robots(hall);
    }
}
