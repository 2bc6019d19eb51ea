//! Robots: each carries one cartridge at a time, in the order in which it is asked.

use super::drive::State;
use super::record::{Action, Record};
use super::world::{Event, World};
use std::collections::VecDeque;

/// What a robot is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub drive: u32,
    /// From slot to drive; else back.
    pub get: bool,
}

/// The robots of a library and what waits for them.
#[derive(Clone, Debug)]
pub(super) struct Robots {
    carrying: Vec<Option<Job>>,
    queue: VecDeque<Job>,
}

impl Robots {
    pub(super) fn new(count: usize) -> Robots {
        Robots {
            carrying: vec![None; count],
            queue: VecDeque::new(),
        }
    }

    /// Whether no two robots serve one drive.
    pub(super) fn carry_one_each(&self) -> bool {
        self.carrying
            .iter()
            .flatten()
            .enumerate()
            .all(|(index, job)| {
                let others = self.carrying.iter().flatten().take(index);
                others.into_iter().all(|other| other.drive != job.drive)
            })
    }

    /// The next job for a robot that is free.
    fn start(&mut self, gets_first: bool) -> Option<(u16, Job)> {
        let robot = self.carrying.iter().position(Option::is_none)?;
        let first = self
            .queue
            .iter()
            .position(|job| job.get)
            .filter(|_| gets_first);
        let job = self.queue.remove(first.unwrap_or(0))?;
        self.carrying[robot] = Some(job);
        Some((robot as u16, job))
    }
}

impl World<'_> {
    /// A drive asks for its next cartridge, or for its last one to be taken.
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
            let state = match job.get {
                true => State::Getting,
                false => State::Putting,
            };
            self.enter(job.drive, state);
            let drive = &self.drives[job.drive as usize];
            let cartridge = match job.get {
                true => drive.next,
                false => drive.cartridge,
            };
            let built = &self.site.halls[place];
            let farthest = (built.cartridges.len() - 1).max(1) as f64;
            let index = cartridge.map_or(0, |number| self.cartridges[number as usize].index);
            let way = match job.get {
                true => &built.get,
                false => &built.put,
            };
            let takes = way.time(f64::from(index) / farthest, &mut self.robot_times);
            let (at, drive) = (self.now(), drive.index);
            if let Some(log) = &mut self.log {
                log.push(Record {
                    action: match job.get {
                        true => Action::Fetch,
                        false => Action::Return,
                    },
                    at,
                    took: takes,
                    library: hall,
                    drive,
                    robot: Some(robot),
                    cartridge: Some(index),
                    from: None,
                    to: None,
                    bytes: 0,
                });
            }
            self.agenda.after(takes, Event::Robot { hall, robot });
        }
    }

    pub(super) fn robot_done(&mut self, hall: u16, robot: u16) {
        let robots = &mut self.halls[usize::from(hall)].robots;
        if let Some(job) = robots.carrying[usize::from(robot)].take() {
            match job.get {
                true => self.got(job.drive),
                false => self.put_back(job.drive),
            }
        }
        self.start_robots(hall);
    }
}
