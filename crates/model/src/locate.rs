//! How long the drive takes from one place to another: the locate-time models, one file each.
//!
//! A new model is one file, which implements `Times`, `Groups` and `Straight` for the model and
//! `Stated` for what a profile says of it, and one line in the list below.
//!
//! Every model turns a [`Position`] into a [`Point`] once, with all that its equation needs, so
//! that the time between two points is a few additions: ordering 2,000 requests asks for four
//! million of them. All times are whole microseconds.

mod curves;
mod helical;
mod key_point;
mod landing;
mod lto;
mod neighbours;
mod point;
mod rays;
mod serpentine;
mod stated;
mod times;

pub use curves::{CurvesCoefficients, CurvesModel, CurvesValues};
pub use helical::{HelicalLinear, HelicalValues, ShortSeek};
pub use key_point::{KeyPointCoefficients, KeyPointModel, KeyPointValues, Motion};
pub use landing::{LandingCoefficients, LandingModel, LandingValues};
pub use lto::{LtoCoefficients, LtoRegression, LtoValues};
pub use neighbours::{Neighbours, OwnWrap, TurningPoints};
pub use point::Point;
pub use rays::{Asked, Destination, Look, Rays, Slopes};
pub use serpentine::{FourRegion, FourRegionValues};
pub(crate) use stated::Shape;

use crate::micros::Micros;
use crate::position::Position;
use neighbours::Groups;
use rays::Straight;
use serde::{Deserialize, Serialize};
use stated::Stated;
use times::Times;

/// Makes enumerations of a list: the name of a model here, its type, and the type of what a profile states of it.
macro_rules! models {
    ($($(#[$doc:meta])* $name:ident($model:ty, $values:ty),)*) => {
        /// A locate-time model with its coefficients.
        #[derive(Clone, Debug)]
        pub enum LocateModel {
            $($(#[$doc])* $name($model),)*
        }

        impl LocateModel {
            fn model(&self) -> &dyn Model {
                match self {
                    $(LocateModel::$name(model) => model,)*
                }
            }

            /// The name of the model, as profiles spell it.
            pub fn name(&self) -> &'static str {
                match self {
                    $(LocateModel::$name(_) => <$values>::NAME,)*
                }
            }

            /// The time to locate from one point to another, never negative.
            #[inline(always)]
            pub fn time(&self, from: &Point, to: &Point) -> Micros {
                match self {
                    $(LocateModel::$name(model) => model.time(from, to),)*
                }
            }
        }

        /// The coefficients of a drive's locate-time model as its profile states them.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "model", rename_all = "kebab-case")]
        #[allow(clippy::large_enum_variant)] // a profile has one
        pub enum Locate {
            $($(#[$doc])* $name($values),)*
        }

        impl Locate {
            /// The name of the model, as profiles spell it.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Locate::$name(_) => <$values>::NAME,)*
                }
            }

            /// The model for a cartridge of this shape; `None` if it needs more than is known of it.
            pub(crate) fn model(&self, shape: &Shape<'_>) -> Option<LocateModel> {
                match self {
                    $(Locate::$name(values) => values.model(shape).map(LocateModel::$name),)*
                }
            }

            /// Fixed time of a seek, and additional time across the whole tape, in seconds.
            pub(crate) fn startup_and_full_s(&self, shape: &Shape<'_>) -> Option<(f64, f64)> {
                match self {
                    $(Locate::$name(values) => values.startup_and_full_s(shape),)*
                }
            }

            /// What is wrong with values that are each possible: the field, and why.
            pub(crate) fn fault(&self, bands: u16) -> Option<(&'static str, String)> {
                match self {
                    $(Locate::$name(values) => values.fault(bands),)*
                }
            }
        }
    };
}

models! {
    /// Johnson & Miller 1998, section 5.4: helical scan drives.
    HelicalLinear(HelicalLinear, HelicalValues),
    /// Johnson & Miller 1998, Table 3: serpentine drives in four regions.
    FourRegion(FourRegion, FourRegionValues),
    /// Hillyer & Silberschatz 1996, section 3: the DLT4000 by key points.
    KeyPoint(KeyPointModel, KeyPointValues),
    /// CERN 2018, annex: linear regression on LTO.
    LtoRegression(LtoRegression, LtoValues),
    /// Ours: fast to a landing point, then reading up to the destination.
    LandingPoint(LandingModel, LandingValues),
    /// Ours: curves that a log draws.
    Curves(CurvesModel, CurvesValues),
}

/// All that a model answers.
trait Model: Times + Groups + Straight {}

impl<M: Times + Groups + Straight> Model for M {}

impl LocateModel {
    /// Prepares a position for [`LocateModel::time`].
    pub fn point(&self, position: &Position) -> Point {
        self.model().point(position)
    }

    /// The times from one point to many, written to `times` in their order.
    ///
    /// The model is looked up once for all of them, which a dense order feels.
    pub fn times(&self, from: &Point, to: &[Point], times: &mut [Micros]) {
        self.model().times(from, to, times);
    }

    /// The time to rewind to the beginning of tape.
    pub fn rewind(&self, from: &Point) -> Micros {
        self.model().rewind(from)
    }

    /// The time between two positions; for many of them, prepare points once instead.
    pub fn locate(&self, from: &Position, to: &Position) -> Micros {
        self.time(&self.point(from), &self.point(to))
    }

    /// The section of a point, counted from the beginning of tape, where the model knows the
    /// cartridge's own sections.
    pub fn section(&self, point: &Point) -> Option<u16> {
        self.model().own_section(point)
    }

    /// What the model can tell of its geometry.
    pub fn neighbours(&self) -> Neighbours<'_> {
        Neighbours(self.model())
    }

    /// The classes of destinations and the straight pieces that times to them are made of.
    pub fn rays(&self) -> Rays<'_> {
        Rays(self.model())
    }

    /// The standard error of one predicted time, where it was published.
    pub fn residual(&self) -> Option<Micros> {
        self.model().residual()
    }
}
