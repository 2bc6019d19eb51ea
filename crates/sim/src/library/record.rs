//! What one replication leaves behind: answers, and what each drive and robot did when.

use super::parts::{Part, Parts};
use crate::mounts::{Asked, OwnerId};
use serde::{Deserialize, Serialize};
use tapewise_model::{Micros, Position};

/// One answered request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// Its number in order of arrival.
    pub number: u64,
    /// When it arrived.
    pub arrived: Micros,
    /// From arrival to answer.
    pub response: Micros,
    /// Its parts, which sum to the response.
    pub parts: Parts,
    /// Library, by its place in the scenario.
    pub library: u16,
    /// Cartridge, within its library.
    pub cartridge: u32,
    /// Where on the cartridge, as a share of the tape.
    pub place: f64,
    /// How much was read, in decimal MB.
    pub size_mb: f64,
    /// Drive, within its library; none where disk answered.
    pub drive: Option<u16>,
    /// How urgent it was.
    pub priority: u8,
    /// Who asked.
    pub owner: u32,
    /// Drive time that cleaning took from the library while it waited for a drive.
    pub cleaning_meanwhile: Micros,
    /// Drive time that failures took from the library while it waited for a drive.
    pub failures_meanwhile: Micros,
}

impl Answer {
    /// Until when its time has been counted.
    pub(super) fn counted(&self) -> Micros {
        self.arrived + self.parts.total()
    }

    /// Counts all time since then as one part.
    pub(super) fn count(&mut self, part: Part, now: Micros) {
        let takes = now - self.counted();
        self.parts[part] += takes;
    }

    /// It begins to wait for a drive; so much drive time has been lost to cleaning and failures before.
    pub(super) fn begin_to_wait(&mut self, now: Micros, lost: [Micros; 2]) {
        debug_assert_eq!(self.counted(), now, "{self:?}");
        self.cleaning_meanwhile -= lost[0];
        self.failures_meanwhile -= lost[1];
    }

    /// It joins a drive, and so much has been lost until now.
    pub(super) fn join(&mut self, drive: u16, lost: [Micros; 2]) {
        self.drive = Some(drive);
        self.cleaning_meanwhile += lost[0];
        self.failures_meanwhile += lost[1];
    }

    /// What a mount policy knows of it.
    pub(super) fn asked(&self) -> Asked {
        Asked {
            owner: OwnerId(self.owner),
            number: self.number,
            arrived: self.arrived,
            size_mb: self.size_mb,
            priority: self.priority,
        }
    }
}

/// What a drive or robot did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The robot brought a cartridge from its slot.
    Fetch,
    /// The robot took it back.
    Return,
    /// From the cartridge in the drive until it was seen to be ready.
    Mount,
    /// From the request until the cartridge could be taken.
    Unmount,
    /// To the place of a read.
    Locate,
    /// Reading.
    Read,
    /// To the beginning of tape.
    Rewind,
    /// A cleaning cycle.
    Clean,
    /// From a failure to the end of the repair.
    Repair,
}

/// One thing that a drive or robot did, for an event log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// What.
    pub action: Action,
    /// When it began.
    pub at: Micros,
    /// How long it took.
    pub took: Micros,
    /// Library, by its place in the scenario.
    pub library: u16,
    /// Drive, within its library.
    pub drive: u16,
    /// Robot, within its library, for what a robot did.
    pub robot: Option<u16>,
    /// Cartridge, within its library.
    pub cartridge: Option<u32>,
    /// Where the head was, where the drive is modelled.
    pub from: Option<Position>,
    /// Where it was then.
    pub to: Option<Position>,
    /// Bytes read.
    pub bytes: u64,
}

/// How busy a library was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Drives.
    pub drives: u64,
    /// Robots.
    pub robots: u64,
    /// What all its drives did, summed; what is missing to drives times duration is idle time.
    pub drive_time: Parts,
    /// Cartridges that were brought to a drive.
    pub mounts: u64,
    /// Requests read in drives.
    pub reads: u64,
    /// Cleaning cycles.
    pub cleanings: u64,
    /// Failures.
    pub failures: u64,
    /// Mounts that ended between two reads for something that was overdue.
    #[serde(default)]
    pub cuts: u64,
}

impl Usage {
    /// The share of `duration` in which a drive was in use or out of order, on average.
    pub fn drive_share(&self, duration: Micros) -> f64 {
        share(self.drive_time.total(), self.drives, duration)
    }

    /// The same without waiting for robots: what the drives' own times and the robots' add up to.
    pub fn drive_service_share(&self, duration: Micros) -> f64 {
        let waits = self.drive_time[Part::RobotWait];
        share(self.drive_time.total() - waits, self.drives, duration)
    }

    /// The share of `duration` in which a robot moved, on average.
    pub fn robot_share(&self, duration: Micros) -> f64 {
        let moved = self.drive_time[Part::Get] + self.drive_time[Part::Put];
        share(moved, self.robots, duration)
    }
}

fn share(time: Micros, servers: u64, duration: Micros) -> f64 {
    let there = servers as f64 * duration.as_secs_f64();
    if there > 0.0 {
        time.as_secs_f64() / there
    } else {
        0.0
    }
}

/// Everything that one replication found out.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Which one.
    pub replication: u64,
    /// Every request, in order of arrival.
    pub answers: Vec<Answer>,
    /// How busy each library was, from the first arrival to the last answer.
    pub usage: Vec<Usage>,
    /// From the beginning to the last answer.
    pub duration: Micros,
}
