//! Libraries at work: requests, cartridges, drives, robots, disk.

mod cache;
mod cause;
mod demand;
mod dispatch;
mod drive;
mod mechanics;
mod parts;
mod record;
mod robots;
mod site;
mod world;

pub use cause::{Cause, Slow};
pub use parts::{Part, Parts};
pub use record::{Action, Answer, Record, Run, Usage};
pub use site::Site;

use world::World;

/// A replication stopped before every request was answered.
#[derive(Debug, thiserror::Error)]
#[error(
    "replication {replication} of scenario {scenario} stopped before every request was answered: \
     please report it with the scenario"
)]
pub struct Stalled {
    /// The scenario's name.
    pub scenario: String,
    /// Which replication.
    pub replication: u64,
}

impl Site {
    /// Runs one replication.
    ///
    /// # Errors
    /// [`Stalled`], which no scenario should bring about.
    pub fn run(&self, replication: u64) -> Result<Run, Stalled> {
        self.replicate(replication, false).map(|(run, _)| run)
    }

    /// Runs one replication and writes down what every drive and robot did, by the time of its end.
    ///
    /// # Errors
    /// As [`Site::run`].
    pub fn run_logged(&self, replication: u64) -> Result<(Run, Vec<Record>), Stalled> {
        self.replicate(replication, true)
    }

    fn replicate(&self, replication: u64, log: bool) -> Result<(Run, Vec<Record>), Stalled> {
        let world = World::new(self, replication, log);
        world.run(replication).ok_or_else(|| Stalled {
            scenario: self.scenario().name.clone(),
            replication,
        })
    }
}
