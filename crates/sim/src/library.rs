//! Libraries at work: requests, cartridges, drives, robots, disk.

mod cache;
mod cartridges;
mod cause;
mod demand;
mod drive;
mod estimate;
mod expected;
mod ids;
mod known;
mod mechanics;
mod parts;
mod record;
mod robots;
mod site;
mod weights;
mod world;

pub use cause::{Cause, Slow};
pub use estimate::MountCost;
pub use expected::{Expected, NoFormula};
pub use parts::{Part, Parts};
pub use record::{Action, Answer, Record, Run, Usage};
pub use site::Site;

use world::World;

/// A replication stopped before every request was answered.
#[derive(Debug, thiserror::Error)]
#[error(
    "replication {replication} of scenario {scenario} was given up with {answered} requests answered: \
     drives failed {failures} times since the last answer, and have to work for longer than a read takes"
)]
pub struct Stalled {
    /// The scenario's name.
    pub scenario: String,
    /// Which replication.
    pub replication: u64,
    /// Requests answered until then.
    pub answered: u64,
    /// Failures since the last answer.
    pub failures: u64,
}

impl Site {
    /// Runs one replication.
    ///
    /// # Errors
    /// [`Stalled`] where drives fail sooner than they can read.
    pub fn run(&self, replication: u64) -> Result<Run, Stalled> {
        self.replicate(replication, false).map(|(run, _)| run)
    }

    /// Runs one replication and writes down what every drive and robot did: moves of robots as they
    /// begin, all else as it ends, so that the list is in order of neither.
    ///
    /// # Errors
    /// As [`Site::run`].
    pub fn run_logged(&self, replication: u64) -> Result<(Run, Vec<Record>), Stalled> {
        self.replicate(replication, true)
    }

    fn replicate(&self, replication: u64, log: bool) -> Result<(Run, Vec<Record>), Stalled> {
        let world = World::new(self, replication, log);
        world
            .run(replication)
            .map_err(|[answered, failures]| Stalled {
                scenario: self.scenario().name.clone(),
                replication,
                answered,
                failures,
            })
    }
}
