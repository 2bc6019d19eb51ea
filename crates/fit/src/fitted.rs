//! What a fit found: the coefficients of a model, and what there is to say of how they were found.

use crate::least_squares::Table;
use crate::undetermined::Undetermined;
use std::sync::Arc;
use tapewise_model::locate::{
    CurvesCoefficients, CurvesModel, FourRegion, HelicalLinear, KeyPointCoefficients,
    KeyPointModel, LandingCoefficients, LandingModel, LocateModel, LtoCoefficients, LtoRegression,
    ShortSeek,
};
use tapewise_model::{Geometry, KeyPoints};

/// What a fit found.
#[derive(Clone, Debug, PartialEq)]
pub enum Coefficients {
    /// See [`HelicalLinear`].
    HelicalLinear {
        /// Seconds of any seek.
        startup_s: f64,
        /// Seconds more across the tape.
        full_s: f64,
        /// The line for short seeks, which is the base profile's.
        short: Option<ShortSeek>,
    },
    /// See [`FourRegion`].
    FourRegion {
        /// Seconds ahead of the target, and more for a track.
        ahead_s: [f64; 2],
        /// The same behind it.
        behind_s: [f64; 2],
        /// How far ahead of the head the target lies, in tracks.
        offset_tracks: f64,
    },
    /// See [`LtoRegression`].
    LtoRegression(LtoCoefficients),
    /// See [`LandingModel`].
    LandingPoint(LandingCoefficients),
    /// See [`CurvesModel`].
    Curves(CurvesCoefficients),
    /// See [`KeyPointModel`].
    KeyPoint {
        /// The speeds and the constants of the seven cases.
        coefficients: KeyPointCoefficients,
        /// The key points that the moves were placed by.
        key_points: Arc<KeyPoints>,
    },
}

/// A fitted model, with what there is to say of the fit.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The coefficients.
    pub coefficients: Coefficients,
    /// The regression's table; the landing-point model has none.
    pub table: Option<Table>,
    /// Records that the fit gave no weight.
    pub outliers: usize,
    /// What landing points were found and how.
    pub landed: Option<Landed>,
    /// The terms that the records did not determine.
    pub undetermined: Vec<Undetermined>,
}

/// Where landing points were found to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Structure {
    /// The records show none: the drive lands anywhere.
    Anywhere,
    /// At one distance from each other; each direction has its own phase.
    Lattice,
    /// At the same longitudinal positions for both directions.
    SharedPlaces,
    /// At the same distances from the beginning of a wrap, in both directions.
    SharedReadingOrder,
    /// Each direction has its own.
    EachDirection,
}

impl Structure {
    /// The structure in words.
    pub fn name(self) -> &'static str {
        match self {
            Structure::Anywhere => "lands anywhere",
            Structure::Lattice => "regular landing points",
            Structure::SharedPlaces => "landing points at the same places in both directions",
            Structure::SharedReadingOrder => {
                "landing points at the same distances from a wrap's start"
            }
            Structure::EachDirection => "landing points of each direction",
        }
    }
}

/// What a fit of the landing-point model found.
#[derive(Clone, Debug, PartialEq)]
pub struct Landed {
    /// Where landing points lie.
    pub structure: Structure,
    /// How many: of forward wraps, and of reverse ones, besides the beginnings of wraps.
    pub points: [usize; 2],
    /// Records that each constant rests on: same wrap ahead and behind, other wrap, same direction
    /// ahead and behind, other direction ahead and behind, reading on.
    pub support: [usize; 7],
}

impl Landed {
    /// The names of the constants that [`Landed::support`] counts records of.
    pub const CONSTANTS: [&str; 7] = [
        "same wrap, ahead",
        "same wrap, backwards",
        "other wrap, ahead",
        "other wrap, backwards",
        "other wrap, turning, ahead",
        "other wrap, turning, backwards",
        "reading on",
    ];
}

impl Coefficients {
    /// The model of cartridges of a geometry.
    pub fn model(&self, geometry: &Geometry) -> LocateModel {
        let (low, high) = (geometry.lpos_min, geometry.lpos_max);
        match self {
            Coefficients::HelicalLinear {
                startup_s,
                full_s,
                short,
            } => LocateModel::HelicalLinear(HelicalLinear::new(
                *startup_s, *full_s, low, high, *short,
            )),
            Coefficients::FourRegion {
                ahead_s,
                behind_s,
                offset_tracks,
            } => LocateModel::FourRegion(FourRegion::new(
                *ahead_s,
                *behind_s,
                *offset_tracks,
                low,
                high,
            )),
            Coefficients::LtoRegression(coefficients) => {
                LocateModel::LtoRegression(LtoRegression::new(coefficients, geometry))
            }
            Coefficients::LandingPoint(coefficients) => {
                LocateModel::LandingPoint(LandingModel::new(coefficients, geometry))
            }
            Coefficients::Curves(coefficients) => {
                LocateModel::Curves(CurvesModel::new(coefficients, geometry))
            }
            Coefficients::KeyPoint {
                coefficients,
                key_points,
            } => LocateModel::KeyPoint(KeyPointModel::new(coefficients, key_points)),
        }
    }
}
