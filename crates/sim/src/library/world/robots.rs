//! What robots do: they fetch cartridges to drives and take them back.

use super::{Event, World};
use crate::library::drive::State;
use crate::library::ids::{DriveId, HallId, Id, RobotId};
use crate::library::record::{Action, Record};
use crate::library::robots::Job;
use tapewise_model::Micros;

impl World<'_> {
    /// A drive waits for its next cartridge, or for its last one to be taken.
    pub(super) fn ask_robot(&mut self, drive: DriveId, get: bool) {
        let (hall, job) = (self.drives[drive].hall, Job { drive, get });
        if let Some(robot) = self.halls[hall].robots.at_once(job) {
            return self.begin_job(hall, robot, job);
        }
        let state = if get {
            State::WaitsForGet
        } else {
            State::WaitsForPut
        };
        self.enter(drive, state);
        self.halls[hall].robots.ask(job);
        self.start_robots(hall);
    }

    fn start_robots(&mut self, hall: HallId) {
        let gets_first = self.site.scenario.libraries[hall.index()].robot.gets_first;
        while let Some((robot, job)) = self.halls[hall].robots.start(gets_first) {
            self.begin_job(hall, robot, job);
        }
    }

    fn begin_job(&mut self, hall: HallId, robot: RobotId, job: Job) {
        self.drives[job.drive].robot = robot;
        if job.get || !self.waits_for_unload(hall) {
            self.carry(job.drive, job.get)
        } else {
            self.unload(job.drive)
        }
    }

    pub(super) fn waits_for_unload(&self, hall: HallId) -> bool {
        self.site.scenario.libraries[hall.index()]
            .robot
            .waits_for_unload
    }

    /// The robot that a drive was given sets out for its cartridge, or takes it away.
    pub(super) fn carry(&mut self, number: DriveId, get: bool) {
        let state = if get { State::Getting } else { State::Putting };
        self.enter(number, state);
        let drive = &self.drives[number];
        let (hall, robot) = (drive.hall, drive.robot);
        let built = &self.site.halls[hall.index()];
        let (way, cartridge) = if get {
            (&built.get, drive.next)
        } else {
            (&built.put, drive.cartridge)
        };
        let index = cartridge.map_or(0, |cartridge| self.cartridges[cartridge].index);
        let takes = way.time(built.cartridges.distance(index), &mut self.robot_times);
        let at = self.agenda.now();
        if let Some(log) = &mut self.log {
            log.push(Record {
                action: if get { Action::Fetch } else { Action::Return },
                at,
                took: takes,
                library: hall.0,
                drive: drive.index,
                robot: Some(robot.0),
                cartridge: Some(index),
                from: None,
                to: None,
                bytes: 0,
            });
        }
        self.agenda.after(takes, Event::Robot { hall, robot });
    }

    /// A robot has delivered, or has settled.
    pub(super) fn robot_done(&mut self, hall: HallId, robot: RobotId) {
        let settles = &self.site.scenario.libraries[hall.index()].robot.settle_s;
        let settles = settles.time(&mut self.robot_times);
        let job = self.halls[hall].robots.done(robot, settles > Micros::ZERO);
        if let Some(job) = job {
            if settles > Micros::ZERO {
                self.agenda.after(settles, Event::Robot { hall, robot });
            }
            if job.get {
                self.got(job.drive);
            } else {
                self.put_back(job.drive);
            }
        }
        if self.halls[hall].robots.is_asked() {
            self.start_robots(hall);
        }
    }
}
