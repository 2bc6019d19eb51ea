//! The models that compete for a drive, from the simplest to the richest.

use crate::curves;
use crate::fitted::Fitted;
use crate::landing;
use crate::regression;
use crate::sample::{FitError, Ground, Sample};
use tapewise_model::Layout;

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
    /// Ours, for drives of which no model was made.
    Curves,
    /// Hillyer & Silberschatz 1996, section 3.
    KeyPoint,
}

impl Candidate {
    /// The models that can be those of a drive with such cartridges, the simplest first.
    pub fn of(ground: &Ground) -> &'static [Candidate] {
        if ground.key_points.is_some() {
            return &[Candidate::KeyPoint];
        }
        match ground.geometry.layout {
            Layout::Helical => &[Candidate::HelicalLinear],
            Layout::Serpentine => &[
                Candidate::FourRegion,
                Candidate::LtoRegression,
                Candidate::LandingPoint,
                Candidate::Curves,
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
            Candidate::Curves => "curves",
            Candidate::KeyPoint => "key points",
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
            Candidate::Curves => curves::fit(samples, ground),
            Candidate::KeyPoint => regression::key_point(samples, ground),
        }
    }
}
