//! The models that compete for a drive, from the simplest to the richest.

use crate::landing::{self, Landed};
use crate::least_squares::Table;
use crate::regression;
use crate::sample::{FitError, Ground, Sample};
use tapewise_model::locate::{
    FourRegion, HelicalLinear, LandingCoefficients, LandingModel, LocateModel, LtoCoefficients,
    LtoRegression,
};
use tapewise_model::{Geometry, Layout};

/// A model that can be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Candidate {
    /// Johnson & Miller 1998, section 5.4.
    HelicalLinear,
    /// Johnson & Miller 1998, Table 3.
    FourRegion,
    /// CERN 2018, annex.
    LtoRegression,
    /// Ours.
    LandingPoint,
}

/// What a fit found.
#[derive(Clone, Debug, PartialEq)]
pub enum Coefficients {
    /// See [`HelicalLinear`].
    HelicalLinear {
        /// Seconds of any seek.
        startup_s: f64,
        /// Seconds more across the tape.
        full_s: f64,
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
}

impl Candidate {
    /// The models that can be those of a drive with such cartridges, the simplest first.
    pub fn of(geometry: &Geometry) -> &'static [Candidate] {
        match geometry.layout {
            Layout::Helical => &[Candidate::HelicalLinear],
            Layout::Serpentine => &[
                Candidate::FourRegion,
                Candidate::LtoRegression,
                Candidate::LandingPoint,
            ],
        }
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Candidate::HelicalLinear => "helical linear",
            Candidate::FourRegion => "four regions",
            Candidate::LtoRegression => "CERN's regression",
            Candidate::LandingPoint => "landing points",
        }
    }

    /// Fits the model.
    ///
    /// # Errors
    /// [`FitError`] where the records cannot tell its coefficients.
    pub fn fit(self, samples: &[Sample], ground: &Ground) -> Result<Fitted, FitError> {
        match self {
            Candidate::HelicalLinear => regression::helical(samples, ground),
            Candidate::FourRegion => regression::four_region(samples, ground),
            Candidate::LtoRegression => regression::lto(samples, ground),
            Candidate::LandingPoint => landing::fit(samples, ground),
        }
    }
}

impl Coefficients {
    /// The model of cartridges of a geometry.
    pub fn model(&self, geometry: &Geometry) -> LocateModel {
        let (low, high) = (geometry.lpos_min, geometry.lpos_max);
        match self {
            Coefficients::HelicalLinear { startup_s, full_s } => {
                LocateModel::HelicalLinear(HelicalLinear::new(*startup_s, *full_s, low, high, None))
            }
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
        }
    }
}
