//! What is fitted: one measured locate, and what is known of the tape it was measured on.

use std::sync::Arc;
use tapewise_model::locate::{KeyPointCoefficients, ShortSeek};
use tapewise_model::profile::{HelicalValues, Locate, ProfileError};
use tapewise_model::{Geometry, KeyPoints, Layout, Micros, Pace, Position, Profile};

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
    /// The line of a helical drive for short seeks ahead, where the profile has one.
    pub short: Option<ShortSeek>,
    /// Moves ahead of up to this many LPOS go by that line.
    pub short_lpos: f64,
    /// For a drive that is modelled by key points: what is known of it, and the key points that the records were
    /// placed by.
    pub key_points: Option<(KeyPointCoefficients, Arc<KeyPoints>)>,
}

impl Ground {
    /// What a profile knows of the tape.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] where it does not know the cartridge's shape.
    pub fn of(drive: &Profile) -> Result<Ground, ProfileError> {
        let geometry = drive.geometry()?;
        let rate = drive.transfer.rate_mb_s.as_ref().map(|rate| rate.value);
        let wrap_gb = drive.cartridge.wrap_gb.as_ref().map(|wrap| wrap.value);
        let mut ground = Ground::new(geometry);
        let wrap_lpos = f64::from(ground.geometry.wrap_lpos());
        ground.read_per_lpos_s = rate
            .zip(wrap_gb)
            .map(|(rate, gb)| gb * 1e3 / rate / wrap_lpos);
        if let Some(Locate::HelicalLinear(HelicalValues {
            startup_s,
            full_s,
            short_startup_s: Some(short_startup_s),
            short_s_per_gb: Some(short_s_per_gb),
            ..
        })) = &drive.locate
        {
            let (short_s, per_gb) = (short_startup_s.value, short_s_per_gb.value);
            ground.short = Some(ShortSeek {
                startup: Micros::from_secs_f64(short_s),
                pace: Pace::over(per_gb, LPOS_PER_GB),
            });
            // Where the two lines meet.
            let steeper = per_gb / LPOS_PER_GB - full_s.value / wrap_lpos;
            let later = (startup_s.value - short_s).max(0.0);
            ground.short_lpos = if steeper > 0.0 {
                later / steeper
            } else {
                wrap_lpos
            };
        }
        Ok(ground)
    }

    /// A tape of which only the shape is known.
    pub fn new(geometry: Geometry) -> Ground {
        Ground {
            geometry,
            read_per_lpos_s: None,
            short: None,
            short_lpos: -1.0,
            key_points: None,
        }
    }
}

/// Longitudinal positions on helical tape count decimal kilobytes.
const LPOS_PER_GB: f64 = 1e6;

/// Fewest records a fit is made from.
pub const LEAST_SAMPLES: usize = 100;

/// Why records cannot be fitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
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
        "all {found} locates go between the same two places, so they say nothing about distance"
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
    /// A key-point model without key points.
    #[error("the key-point model needs the key points that the records were placed by")]
    NoKeyPoints,
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
    if samples.iter().all(|sample| distance(sample) == first) {
        Err(FitError::OnePlace { found })
    } else {
        Ok(())
    }
}
