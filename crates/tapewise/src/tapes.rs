//! Several tapes at once: which files are read from which tape, and in which order the tapes are mounted.
//!
//! [`share`] finds the names of one list among the indexes of several volumes. [`rota`] gives tapes to drives so that
//! everything is read soonest: with one drive that fixes only which tape comes last, with several it decides who
//! reads what.

mod rota;
mod share;

pub use rota::{Rota, TapeTime, Turn, rota};
pub use share::{Share, TapesError, everything, share};
