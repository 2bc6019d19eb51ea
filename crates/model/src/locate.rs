//! How long the drive takes from one place to another: the locate-time models, one file each.
//!
//! A new model is one file, which implements `Times`, `Groups` and `Straight`, and one line in the
//! list below.
//!
//! Every model turns a [`Position`] into a [`Point`] once, with all that its equation needs, so
//! that the time between two points is a few additions: ordering 2,000 requests asks for four
//! million of them. All times are whole microseconds.

mod helical;
mod key_point;
mod landing;
mod lto;
mod neighbours;
mod point;
mod rays;
mod serpentine;
mod times;

pub use helical::{HelicalLinear, ShortSeek};
pub use key_point::{KeyPointCoefficients, KeyPointModel, Motion};
pub use landing::{LandingCoefficients, LandingModel};
pub use lto::{LtoCoefficients, LtoRegression};
pub use neighbours::{Neighbours, OwnWrap, TurningPoints};
pub use point::Point;
pub use rays::{Destination, Look, Rays, Slopes};
pub use serpentine::FourRegion;

use crate::micros::Micros;
use crate::position::Position;
use neighbours::Groups;
use rays::Straight;
use times::Times;

/// Makes an enumeration of a list: the name of a model here, and the type in its file.
macro_rules! models {
    ($($(#[$doc:meta])* $name:ident($model:ty),)*) => {
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

            /// The time to locate from one point to another, never negative.
            #[inline(always)]
            pub fn time(&self, from: &Point, to: &Point) -> Micros {
                match self {
                    $(LocateModel::$name(model) => model.time(from, to),)*
                }
            }
        }
    };
}

models! {
    /// Johnson & Miller 1998, section 5.4: helical scan drives.
    HelicalLinear(HelicalLinear),
    /// Johnson & Miller 1998, Table 3: serpentine drives in four regions.
    FourRegion(FourRegion),
    /// Hillyer & Silberschatz 1996, section 3: the DLT4000 by key points.
    KeyPoint(KeyPointModel),
    /// CERN 2018, annex: linear regression on LTO.
    LtoRegression(LtoRegression),
    /// Ours: fast to a landing point, then reading up to the destination.
    LandingPoint(LandingModel),
}

/// All that a model answers.
trait Model: Times + Groups + Straight {}

impl<M: Times + Groups + Straight> Model for M {}

impl LocateModel {
    /// The name of the model, as profiles spell it.
    pub fn name(&self) -> &'static str {
        self.model().name()
    }

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
