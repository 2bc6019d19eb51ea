//! One retrieval a mount: the response time of a library as Gniewek (1999) modelled it.
//!
//! J. Gniewek, G. Davidson, B. Caldwell, *Performance Benchmark Results For Automated Tape Library
//! High Retrieval Rate Applications*, 1999: the parameters are his Table 4, the model is compared
//! with his Table 3. The paper prints neither the model's equations nor how its queues are joined;
//! `docs/method/queueing.md` says what of ours is derived and what is assumed.

use super::QueueError;
use super::nested::{Nested, RobotArrivals, Steady};

/// What a retrieval asks of drive and robot, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// Drive: unload the cartridge that was read before.
    pub drive_unload_s: f64,
    /// Robot: put it away.
    pub robot_put_s: f64,
    /// Robot: get the cartridge asked for.
    pub robot_get_s: f64,
    /// Drive: load and become ready.
    pub drive_load_s: f64,
    /// Drive: search and read, the mean over the tape.
    pub search_read_s: f64,
    /// Drive: rewind, the mean over the tape; behind the response.
    pub rewind_s: f64,
    /// Seconds from one end of the tape to the other, the way of search and rewind; their
    /// variation comes of it, because requests are spread evenly over the tape.
    pub tape_s: f64,
}

impl Times {
    /// Table 4: an IBM 3575 L18 with 3570 C drives, software included.
    ///
    /// Searches take 13 s in the mean, 1 s of that system overhead, and rewinds 13 s; so about 25 s
    /// are from end to end.
    pub const GNIEWEK_1999: Times = Times {
        drive_unload_s: 6.0,
        robot_put_s: 5.0,
        robot_get_s: 5.0,
        drive_load_s: 11.0,
        search_read_s: 13.0,
        rewind_s: 13.0,
        tape_s: 25.0,
    };

    /// Seconds that a retrieval keeps a drive when nobody waits for the robot.
    pub fn drive_s(&self) -> f64 {
        self.drive_unload_s
            + self.robot_s()
            + self.drive_load_s
            + self.search_read_s
            + self.rewind_s
    }

    /// Seconds that a retrieval keeps the robot.
    pub fn robot_s(&self) -> f64 {
        self.robot_put_s + self.robot_get_s
    }

    /// Seconds of a response that waits for nothing.
    ///
    /// The cartridge read before was unloaded and put away when it was rewound, not in front of
    /// this request.
    pub fn unhindered_s(&self) -> f64 {
        self.robot_get_s + self.drive_load_s + self.search_read_s
    }
}

/// What the model says of a library.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Mean time from request to data, in seconds.
    pub response_s: f64,
    /// Share of the time that a drive is busy, waits for the robot left out: the paper's figure.
    pub drive_utilisation: f64,
    /// Robot and drives with their waits.
    pub steady: Steady,
}

/// The mean response of a library with one robot, for `arrivals_per_s` random requests a second.
///
/// A request waits for a drive, then for the robot, and then takes [`Times::unhindered_s`]. Put and
/// get are one visit to the robot.
///
/// # Errors
/// [`QueueError::Unstable`] where robot or drives cannot carry the load.
pub fn predict(
    times: &Times,
    arrivals_per_s: f64,
    drives: u32,
    robot_arrivals: RobotArrivals,
) -> Result<Prediction, QueueError> {
    let steady = Nested {
        arrivals_per_s,
        drives,
        drive_s: times.drive_s() - times.robot_s(),
        // Search and rewind go the same way, so together they vary by twice it: (2 L)^2 / 12.
        drive_variance_s2: times.tape_s * times.tape_s / 3.0,
        robots: 1,
        visits: 1,
        robot_s: times.robot_s(),
        robot_scv: 0.0,
        robot_arrivals,
    }
    .solve()?;
    Ok(Prediction {
        response_s: times.unhindered_s() + steady.robot_wait_s + steady.drive_wait_s,
        drive_utilisation: arrivals_per_s * times.drive_s() / f64::from(drives),
        steady,
    })
}
