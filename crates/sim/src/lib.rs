//! Predicts how a tape library responds under load: an event simulation, replications with
//! intervals, and queueing formulas beside them.
//!
//! A [`Scenario`] is read from TOML, made ready with its profiles as a [`library::Site`], and run as
//! a [`Study`] of replications, of which [`Results`] are the estimates.
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

mod distribution;
mod kernel;
pub mod library;
pub mod mounts;
pub mod queue;
mod results;
pub mod scenario;
pub mod statistics;
mod stream;
mod study;

pub use distribution::{Distribution, Way};
pub use kernel::Agenda;
pub use results::{LibraryUse, PartMean, Percentile, Results, Steady};
pub use scenario::{Scenario, ScenarioError};
pub use stream::{Purpose, stream};
pub use study::{LEVEL, PERCENTILES, Shard, Study, StudyError, Summary};
