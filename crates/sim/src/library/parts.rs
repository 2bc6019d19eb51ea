//! The parts of a response: every microsecond from request to answer belongs to one.

use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};
use tapewise_model::Micros;

/// What a request waits for, or what is done for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Part {
    /// System overhead: looking the request up, sending the answer, answering from disk.
    System,
    /// For others to ask for the same cartridge.
    Window,
    /// For a drive, or for the cartridge to come back from one.
    DriveWait,
    /// For a robot.
    RobotWait,
    /// Rewinding the drive's last cartridge.
    Rewind,
    /// Unloading it.
    Unload,
    /// Putting it back in its slot.
    Put,
    /// A cleaning cycle of the drive that was chosen.
    Cleaning,
    /// For a cartridge in a drive that failed, until that was repaired.
    Failure,
    /// Getting the cartridge.
    Get,
    /// Loading it.
    Load,
    /// For the next asking whether the drive is ready.
    ReadyPoll,
    /// For others of the same mount.
    Behind,
    /// Searching.
    Search,
    /// Reading.
    Read,
}

impl Part {
    /// All of them, in the order of a request's way.
    pub const ALL: [Part; 15] = [
        Part::System,
        Part::Window,
        Part::DriveWait,
        Part::RobotWait,
        Part::Rewind,
        Part::Unload,
        Part::Put,
        Part::Cleaning,
        Part::Failure,
        Part::Get,
        Part::Load,
        Part::ReadyPoll,
        Part::Behind,
        Part::Search,
        Part::Read,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Part::System => "system",
            Part::Window => "window",
            Part::DriveWait => "drive wait",
            Part::RobotWait => "robot wait",
            Part::Rewind => "rewind",
            Part::Unload => "unload",
            Part::Put => "put",
            Part::Cleaning => "cleaning",
            Part::Failure => "failure",
            Part::Get => "get",
            Part::Load => "load",
            Part::ReadyPoll => "ready poll",
            Part::Behind => "behind others",
            Part::Search => "search",
            Part::Read => "read",
        }
    }
}

/// A time for each part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts([Micros; Part::ALL.len()]);

impl Parts {
    /// Their sum.
    pub fn total(&self) -> Micros {
        self.0.iter().copied().sum()
    }

    /// Adds another's, part by part.
    pub fn add(&mut self, other: &Parts) {
        for (sum, time) in self.0.iter_mut().zip(&other.0) {
            *sum += *time;
        }
    }

    /// Adds what another has grown by since an earlier state of it.
    #[inline]
    pub fn add_growth(&mut self, now: &Parts, earlier: &Parts) {
        for (sum, (now, before)) in self.0.iter_mut().zip(now.0.iter().zip(&earlier.0)) {
            *sum += *now - *before;
        }
    }

    /// The longest part.
    pub fn longest(&self) -> Part {
        // The first of equals, as `max_by_key` would give the last.
        let longest = Part::ALL.into_iter().rev().max_by_key(|&part| self[part]);
        longest.unwrap_or(Part::System)
    }
}

impl Index<Part> for Parts {
    type Output = Micros;
    fn index(&self, part: Part) -> &Micros {
        &self.0[part as usize]
    }
}

impl IndexMut<Part> for Parts {
    fn index_mut(&mut self, part: Part) -> &mut Micros {
        &mut self.0[part as usize]
    }
}
