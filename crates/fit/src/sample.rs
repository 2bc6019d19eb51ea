//! What is fitted: one measured locate, and what is known of the tape it was measured on.

use tapewise_model::{Geometry, Layout, Micros, Position};

/// One measured locate: from the end of the last read to the start of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Which cartridge, numbered by the caller.
    pub cartridge: u32,
    /// Where the head was.
    pub from: Position,
    /// Where it was asked to go.
    pub to: Position,
    /// How long it took.
    pub time: Micros,
}

/// What a fit needs to know beforehand.
#[derive(Clone, Debug)]
pub struct Ground {
    /// The shape of the cartridges.
    pub geometry: Geometry,
    /// Seconds to read one LPOS unit, as the profile's rate and capacity have it: where records
    /// hardly tell how fast the drive reads, they are not taken far from this.
    pub read_per_lpos_s: Option<f64>,
}

/// Fewest records a fit is made from.
pub const LEAST_SAMPLES: usize = 100;

/// Why records cannot be fitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// A model has more coefficients than this can tell.
    #[error("{found} locates are too few: at least {least} are needed, 500 make a good fit")]
    TooFew {
        /// Records given.
        found: usize,
        /// Fewest that make sense.
        least: usize,
    },
    /// Nothing to tell distance by.
    #[error(
        "all {found} locates go between the same two places, so nothing can be told of distance"
    )]
    OnePlace {
        /// Records given.
        found: usize,
    },
    /// A record that cannot be.
    #[error("locate {index}, counted from 1, took {} s", time.as_secs_f64())]
    Negative {
        /// Which one, counted from 1.
        index: usize,
        /// Its time.
        time: Micros,
    },
    /// A record on a wrap that the cartridge does not have.
    #[error(
        "locate {index}, counted from 1, is on wrap {wrap}, but the profile's cartridge has {wraps}"
    )]
    NoSuchWrap {
        /// Which one, counted from 1.
        index: usize,
        /// The wrap.
        wrap: u16,
        /// Wraps of the geometry.
        wraps: u16,
    },
    /// A design matrix of unequal rows, or without any.
    #[error("{rows} rows and {times} times of {columns} columns do not make a regression")]
    Shape {
        /// Rows given.
        rows: usize,
        /// Times given.
        times: usize,
        /// Columns named.
        columns: usize,
    },
}

/// Refuses records that no model can be fitted to.
pub(crate) fn check(samples: &[Sample], geometry: &Geometry) -> Result<(), FitError> {
    let found = samples.len();
    if found < LEAST_SAMPLES {
        let least = LEAST_SAMPLES;
        return Err(FitError::TooFew { found, least });
    }
    for (at, sample) in samples.iter().enumerate() {
        let index = at + 1;
        if sample.time < Micros::ZERO {
            let time = sample.time;
            return Err(FitError::Negative { index, time });
        }
        let wrap = sample.from.wrap.max(sample.to.wrap);
        if geometry.layout == Layout::Serpentine && wrap >= geometry.wraps {
            let wraps = geometry.wraps;
            return Err(FitError::NoSuchWrap { index, wrap, wraps });
        }
    }
    let distance = |sample: &Sample| sample.from.lpos.abs_diff(sample.to.lpos);
    let first = distance(&samples[0]);
    match samples.iter().all(|sample| distance(sample) == first) {
        true => Err(FitError::OnePlace { found }),
        false => Ok(()),
    }
}
