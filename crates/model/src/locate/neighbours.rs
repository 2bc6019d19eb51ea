//! What a model can tell of its geometry to an order that looks for the nearest request.
//!
//! Destinations fall into groups within which, from any one source, the time falls up to a
//! turning point along the tape and rises behind it. So only the two members next to the turning
//! point can be nearest, and a search looks at a few candidates of each group, not at all of it.

use super::{LandingModel, LocateModel, Point};
use crate::micros::Micros;

/// The groups of a model and their turning points.
#[derive(Clone, Copy, Debug)]
pub struct Neighbours<'a>(&'a LocateModel);

impl LocateModel {
    /// What the model can tell of its geometry.
    pub fn neighbours(&self) -> Neighbours<'_> {
        Neighbours(self)
    }
}

impl Neighbours<'_> {
    /// Number of groups.
    pub fn groups(&self) -> usize {
        match self.0 {
            LocateModel::HelicalLinear(_) => 1,
            LocateModel::FourRegion(_) => 2,
            LocateModel::KeyPoint(model) => model.tracks() * model.sections(),
            LocateModel::LtoRegression(model) => model.zones(),
            LocateModel::LandingPoint(model) => model.zones() * model.cells(),
        }
    }

    /// The group of a destination.
    pub fn group(&self, to: &Point) -> usize {
        match self.0 {
            LocateModel::HelicalLinear(_) => 0,
            LocateModel::FourRegion(_) => usize::from(to.wrap & 1),
            LocateModel::KeyPoint(model) => {
                usize::from(to.wrap) * model.sections() + usize::from(model.section(to))
            }
            LocateModel::LtoRegression(model) => model.zone(to),
            LocateModel::LandingPoint(model) => model.group(to),
        }
    }

    /// Turning points of a group for moves from `from`; a destination right at one belongs to
    /// those below it.
    pub fn turning_points(&self, from: &Point, group: usize) -> TurningPoints {
        match self.0 {
            LocateModel::HelicalLinear(_) => TurningPoints::one(from.lpos),
            LocateModel::FourRegion(model) => {
                // Right at the target is behind it: on a reverse track, that is the upper side.
                let reverse = (group & 1) as i32;
                TurningPoints::one(model.target_lpos(from, group as u16) - reverse)
            }
            LocateModel::KeyPoint(model) => {
                // Time rises in reading order; in the source's own section it also starts anew
                // right ahead of the source.
                let track = group / model.sections();
                let start = if track & 1 == 0 { i32::MIN } else { i32::MAX };
                if self.group(from) == group {
                    TurningPoints {
                        first: start,
                        second: Some(from.lpos),
                    }
                } else {
                    TurningPoints::one(start)
                }
            }
            LocateModel::LtoRegression(_) => TurningPoints::one(from.lpos),
            LocateModel::LandingPoint(model) => {
                let zone = group / model.cells();
                let forward = LandingModel::is_forward(zone);
                TurningPoints::one(match (model.lands_anywhere(zone), forward) {
                    // Right at the source is ahead of it.
                    (true, _) => from.lpos - i32::from(forward),
                    // Behind one landing point, time rises in reading order.
                    (false, true) => i32::MIN,
                    (false, false) => i32::MAX,
                })
            }
        }
    }

    /// A time that no move to a visit outside the source's own group falls below, but for the visit
    /// that follows logically; `None` where no useful one is known.
    ///
    /// That reading ahead within a section is fast is what lets SLTF skip the other sections
    /// (Hillyer & Silberschatz 1996, section 4).
    pub fn least_elsewhere(&self) -> Option<Micros> {
        match self.0 {
            LocateModel::KeyPoint(model) => Some(model.least_elsewhere()),
            _ => None,
        }
    }

    /// Whether moves within a wrap cost otherwise than moves to other wraps of the group, and
    /// where along the own wrap the time may turn.
    pub fn own_wrap(&self, from: &Point) -> Option<OwnWrap> {
        match self.0 {
            LocateModel::LtoRegression(model) => Some(OwnWrap::Turns(TurningPoints {
                first: from.lpos,
                // The middle itself belongs to the upper half.
                second: Some(model.middle() - 1),
            })),
            LocateModel::LandingPoint(_) => Some(OwnWrap::Anywhere),
            _ => None,
        }
    }
}

/// Where along the source's own wrap the time may turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnWrap {
    /// At one or two places.
    Turns(TurningPoints),
    /// At so many places that every visit of the wrap is looked at.
    Anywhere,
}

/// One or two longitudinal positions at which the time to a group turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurningPoints {
    /// The first one.
    pub first: i32,
    /// Another one, if there is.
    pub second: Option<i32>,
}

impl TurningPoints {
    fn one(first: i32) -> TurningPoints {
        TurningPoints {
            first,
            second: None,
        }
    }
}
