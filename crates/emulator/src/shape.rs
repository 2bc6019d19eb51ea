//! What all cartridges of a kind have in common.

use serde::Deserialize;

/// What all cartridges of a kind have in common.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Wraps; DLT: tracks; helical: 1.
    pub wraps: u16,
    /// Data bands.
    pub bands: u16,
    /// LPOS at the beginning of data.
    pub lpos_min: f64,
    /// LPOS at its far end.
    pub lpos_max: f64,
    /// Metres of tape for each LPOS unit.
    pub metres_per_lpos: f64,
    /// Bytes that a full wrap takes on average.
    pub wrap_bytes: f64,
    /// Wraps left unwritten between two partitions.
    pub guard_wraps: u16,
    /// How cartridges differ.
    pub spread: Spread,
    /// The places on a wrap that the drive can find by a fast search.
    pub landings: Landings,
    /// Where a cartridge lies when it is loaded, as a share of the tape: 0, or 0.5 for the 3570.
    pub load_point: f64,
}

/// How the cartridges of a kind differ from each other.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// Standard deviation of the bytes on a stretch of tape, as a share.
    pub density_sd: f64,
    /// Chance that a stretch of tape has a bad spot.
    pub bad_spot_chance: f64,
    /// Most that a bad spot takes of its stretch, as a share.
    pub bad_spot_most: f64,
    /// Standard deviation of a wrap's end, in LPOS.
    pub wrap_end_sd_lpos: f64,
    /// Standard deviation of a landing point's place, in LPOS.
    pub landing_sd_lpos: f64,
}

/// Where on a wrap a fast search can end.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Landings {
    /// At any place (helical).
    Anywhere,
    /// At the beginnings of this many sections of each wrap, the last shorter by this share.
    Sections {
        /// Sections of a wrap.
        count: u16,
        /// The length of the section farthest from the beginning of tape, in lengths of others.
        last: f64,
    },
    /// Every so many metres from the beginning of tape.
    Every {
        /// Metres from one to the next.
        metres: f64,
    },
}
