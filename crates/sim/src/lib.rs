//! Predicts how a tape library responds under load: an event simulation, replications with
//! intervals, and queueing formulas beside them.
//!
//! A [`Scenario`] is read from TOML. [`simulate`] answers how its library responds, and
//! [`capacity`](capacity::capacity) how large the library has to be. In between, the scenario is made ready with its
//! profiles as a [`library::Site`], and run as a [`Study`] of replications, of which [`Results`] are the estimates:
//!
//! ```
//! use tapewise_model::profile;
//! use tapewise_sim::{Results, Scenario, Shard, library::Site};
//!
//! let scenario = Scenario::from_toml(r#"
//!     name = "two drives"
//!     requests = 500
//!     arrivals = { pattern = "poisson", per_hour = 30 }
//!     [[library]]
//!     name = "small"
//!     robot = { get_s = 10, put_s = 10 }
//!     drive = [{ count = 2, profile = "lto9" }]
//!     cartridge = [{ count = 100 }]
//! "#)?;
//! let site = Site::new(&scenario, profile::find)?;
//! let results = Results::new(&scenario, &site.study(Shard::WHOLE)?)?;
//! assert!(results.mean_s.estimate > 60.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bounds;
pub mod capacity;
mod distribution;
pub mod document;
mod kernel;
pub mod library;
mod logged;
pub mod mounts;
pub mod queue;
mod results;
pub mod scenario;
mod shard_file;
mod simulate;
pub mod statistics;
mod stream;
mod study;
pub mod twin;

pub use distribution::{Distribution, Way};
pub use kernel::Agenda;
pub use logged::{Logged, responses_csv};
pub use results::{LibraryUse, PartMean, Percentile, Results, Steady};
pub use scenario::{Scenario, ScenarioError};
pub use shard_file::{ShardFile, ShardFileError};
pub use simulate::{
    Busy, Formula, Made, Outcome, Simulated, Simulation, SimulationError, Unstable, simulate,
};
pub use stream::{Purpose, stream};
pub use study::{LEVEL, PERCENTILES, Shard, Study, StudyError, Summary, WarmUpCut};
