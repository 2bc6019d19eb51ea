//! Predicts how a tape library responds under load: an event simulation, replications with
//! intervals, and queueing formulas beside them.

mod distribution;
mod kernel;
pub mod library;
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
