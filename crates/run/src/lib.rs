//! Carries out plans on a drive: measurements and recalls, with the event log written as they go.
//!
//! A [`Recorder`] is a drive whose every action is timed and written to the event log.
//! [`carry_on`] takes the steps of a plan and hands every block on; [`measure`] makes steps that
//! tell how fast the drive is.

mod buffer;
mod carry_out;
mod error;
pub mod measure;
mod recorder;
mod step;
mod wear;
mod wrap_ends;

pub use buffer::Buffer;
pub use carry_out::{Report, Sink, Unread, carry_on};
pub use error::RunError;
pub use recorder::{Item, Log, Met, READY_LIMIT, ReadRun, Recorder, Source};
pub use step::{Piece, Step, steps};
pub use wear::Odometer;
pub use wrap_ends::wrap_ends;
