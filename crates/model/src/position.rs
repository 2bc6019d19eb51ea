//! Where on a tape something is, how we know, and how sure we are.

use std::fmt;

/// A physical place on a tape: partition, wrap and longitudinal position, with the source of the
/// knowledge and its error.
///
/// Helical tape has one track: `wrap` is 0. On a DLT a wrap is a track. Physical wraps are
/// counted over the whole tape, across partitions, as the drive reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// Partition, 0 to 3.
    pub partition: u8,
    /// Physical wrap (DLT: track), counted from 0; even wraps run away from the beginning of tape.
    pub wrap: u16,
    /// Longitudinal position from the beginning of tape, in the LPOS units of the geometry.
    pub lpos: u32,
    /// Where the position comes from.
    pub source: PositionSource,
    /// How far the true place may be from here along the recorded track, in LPOS units. More than
    /// the length of a wrap means that even the wrap is uncertain.
    pub error_lpos: u32,
}

impl Position {
    /// The beginning of tape, which every drive knows exactly.
    pub fn beginning_of_tape(lpos_min: u32) -> Position {
        Position {
            partition: 0,
            wrap: 0,
            lpos: lpos_min,
            source: PositionSource::Exact,
            error_lpos: 0,
        }
    }
}

/// How a position was found, from the most trusted to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PositionSource {
    /// Known by definition: the beginning of tape.
    Exact,
    /// Reported by the drive for this very segment (REQUEST SENSE, bytes 29-33).
    Recorded,
    /// Interpolated in the drive's own table (READ END OF WRAP POSITION).
    EndOfWrapTable,
    /// Interpolated between places that the drive reported for a few blocks of this cartridge.
    Probed,
    /// Interpolated between key points found by timing (Hillyer & Silberschatz 1996, section 3).
    KeyPoints,
    /// Inferred from how long moves between blocks took, together with what a move costs.
    Timed,
    /// Interpolated in the nominal geometry of the profile: not measured on this cartridge.
    Nominal,
}

impl fmt::Display for PositionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            PositionSource::Exact => "exact",
            PositionSource::Recorded => "recorded positions",
            PositionSource::EndOfWrapTable => "end-of-wrap table",
            PositionSource::Probed => "probed map",
            PositionSource::KeyPoints => "key points",
            PositionSource::Timed => "map fitted to times",
            PositionSource::Nominal => "nominal geometry",
        })
    }
}
