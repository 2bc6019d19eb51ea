//! The measurement suite: the access times of a drive as Johnson & Miller measured them in 1998, the
//! key points of Hillyer & Silberschatz 1996, positions and landing points.
//!
//! A [`Suite`] is a plan: which steps, with how many samples, and what each will take. Carried out,
//! every sample stands in the event log, and a suite that was stopped goes on from there.
//! [`summary`] turns the events into numbers; it knows nothing of the drive but its log.

mod bench;
mod corpus;
mod delays;
mod fill;
pub mod key_points;
pub mod pictures;
pub mod probe;
mod robot;
mod seeks;
mod short;
mod step;
mod subject;
mod suite;
pub mod summary;
mod walk;
mod writing;

pub use bench::{Progress, failed};
pub use fill::{Filled, fill};
pub use robot::Robot;
pub use step::{Purpose, Step};
pub use subject::{Expected, Subject};
pub use suite::{LeftOut, Planned, QUICK, Suite};
