//! How long the drive takes from one place to another: the locate-time models, one file each.
//!
//! Every model turns a [`Position`] into a [`Point`] once, with all that its equation needs, so
//! that the time between two points is a few additions: ordering 2,000 requests asks for four
//! million of them. All times are whole microseconds.

mod helical;
mod key_point;
mod landing;
mod lto;
mod neighbours;
mod rays;
mod serpentine;

pub use helical::{HelicalLinear, ShortSeek};
pub use key_point::{KeyPointCoefficients, KeyPointModel, Motion};
pub use landing::{LandingCoefficients, LandingModel};
pub use lto::{LtoCoefficients, LtoRegression};
pub use neighbours::{Neighbours, OwnWrap, TurningPoints};
pub use rays::{Destination, Look, Rays, Slopes};
pub use serpentine::FourRegion;

use crate::micros::Micros;
use crate::position::Position;

/// A position with what the model that made it needs to price moves from and to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// Longitudinal position from the beginning of tape, in LPOS units.
    pub lpos: i32,
    /// Wrap (DLT: track; helical: 0).
    pub wrap: u16,
    /// What else the model tells places apart by: section, or band, direction and half.
    zone: u16,
    /// Where the drive goes over from fast motion to reading on the way to this point.
    landing: i32,
    /// The time to read from there to this point, where the model has it at hand.
    reading: Micros,
}

/// A locate-time model with its coefficients.
#[derive(Clone, Debug)]
pub enum LocateModel {
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

impl LocateModel {
    /// The name of the model, as profiles spell it.
    pub fn name(&self) -> &'static str {
        match self {
            LocateModel::HelicalLinear(_) => "helical-linear",
            LocateModel::FourRegion(_) => "four-region",
            LocateModel::KeyPoint(_) => "key-point",
            LocateModel::LtoRegression(_) => "lto-regression",
            LocateModel::LandingPoint(_) => "landing-point",
        }
    }

    /// Prepares a position for [`LocateModel::time`].
    pub fn point(&self, position: &Position) -> Point {
        match self {
            LocateModel::HelicalLinear(_) | LocateModel::FourRegion(_) => Point {
                lpos: position.lpos as i32,
                wrap: position.wrap,
                ..Point::default()
            },
            LocateModel::KeyPoint(model) => model.point(position),
            LocateModel::LtoRegression(model) => model.point(position),
            LocateModel::LandingPoint(model) => model.point(position),
        }
    }

    /// The time to locate from one point to another, never negative.
    #[inline(always)]
    pub fn time(&self, from: &Point, to: &Point) -> Micros {
        match self {
            LocateModel::HelicalLinear(model) => model.time(from, to),
            LocateModel::FourRegion(model) => model.time(from, to),
            LocateModel::KeyPoint(model) => model.time(from, to),
            LocateModel::LtoRegression(model) => model.time(from, to),
            LocateModel::LandingPoint(model) => model.time(from, to),
        }
    }

    /// The times from one point to many, written to `times` in their order.
    ///
    /// The model is looked up once for all of them, which a dense order feels.
    pub fn times(&self, from: &Point, to: &[Point], times: &mut [Micros]) {
        fn fill(to: &[Point], times: &mut [Micros], time: impl Fn(&Point) -> Micros) {
            for (slot, point) in times.iter_mut().zip(to) {
                *slot = time(point);
            }
        }
        match self {
            LocateModel::HelicalLinear(model) => fill(to, times, |to| model.time(from, to)),
            LocateModel::FourRegion(model) => fill(to, times, |to| model.time(from, to)),
            LocateModel::KeyPoint(model) => {
                let locating = model.locating_from(from);
                fill(to, times, |to| model.time_by(locating, from, to))
            }
            LocateModel::LtoRegression(model) => fill(to, times, |to| model.time(from, to)),
            LocateModel::LandingPoint(model) => fill(to, times, |to| model.time(from, to)),
        }
    }

    /// The time to rewind to the beginning of tape.
    pub fn rewind(&self, from: &Point) -> Micros {
        match self {
            LocateModel::HelicalLinear(model) => model.rewind(from),
            LocateModel::FourRegion(model) => model.rewind(from),
            LocateModel::KeyPoint(model) => model.rewind(from),
            LocateModel::LtoRegression(model) => model.rewind(from),
            LocateModel::LandingPoint(model) => model.rewind(from),
        }
    }

    /// The time between two positions; for many of them, prepare points once instead.
    pub fn locate(&self, from: &Position, to: &Position) -> Micros {
        self.time(&self.point(from), &self.point(to))
    }

    /// The section of a point, counted from the beginning of tape, where the model knows the
    /// cartridge's own sections.
    pub fn section(&self, point: &Point) -> Option<u16> {
        match self {
            LocateModel::KeyPoint(model) => Some(model.section(point)),
            _ => None,
        }
    }

    /// The standard error of one predicted time, where it was published.
    pub fn residual(&self) -> Option<Micros> {
        match self {
            LocateModel::HelicalLinear(_) | LocateModel::FourRegion(_) => None,
            LocateModel::KeyPoint(model) => model.residual,
            LocateModel::LtoRegression(model) => Some(model.residual),
            LocateModel::LandingPoint(model) => model.residual,
        }
    }
}
