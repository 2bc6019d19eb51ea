//! A position as a locate-time model sees it.

use crate::micros::Micros;

/// A position with what the model that made it needs to price moves from and to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Longitudinal position from the beginning of tape, in LPOS units.
    pub lpos: i32,
    /// Wrap (DLT: track; helical: 0).
    pub wrap: u16,
    /// What else the model tells places apart by: section, or band, direction and half.
    pub(super) zone: u16,
    /// Where the drive goes over from fast motion to reading on the way to this point.
    pub(super) landing: i32,
    /// How far along the tape this point is by what winding it takes, where the model counts that.
    pub(super) way: i32,
    /// The time to read from there to this point, where the model has it at hand.
    pub(super) reading: Micros,
}
