//! What a model can tell of its geometry to an order that looks for the nearest request.
//!
//! Destinations fall into groups within which, from any one source, the time falls up to a
//! turning point along the tape and rises behind it. So only the two members next to the turning
//! point can be nearest, and a search looks at a few candidates of each group, not at all of it.

use super::{
    FourRegion, HelicalLinear, KeyPointModel, LandingModel, LocateModel, LtoRegression, Point,
};
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

/// The groups of a model, as its file states them.
pub(super) trait Groups {
    /// Number of groups.
    fn groups(&self) -> usize;

    /// The group of a destination.
    fn group(&self, to: &Point) -> usize;

    /// See [`Neighbours::turning_points`].
    fn turning_points(&self, from: &Point, group: usize) -> TurningPoints;

    /// See [`Neighbours::least_elsewhere`].
    fn least_elsewhere(&self) -> Option<Micros> {
        None
    }

    /// See [`Neighbours::own_wrap`].
    fn own_wrap(&self, _from: &Point) -> Option<OwnWrap> {
        None
    }
}

impl Neighbours<'_> {
    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.0.model().groups()
    }

    /// The group of a destination.
    pub fn group(&self, to: &Point) -> usize {
        self.0.model().group(to)
    }

    /// Turning points of a group for moves from `from`; a destination right at one belongs to
    /// those below it.
    pub fn turning_points(&self, from: &Point, group: usize) -> TurningPoints {
        self.0.model().turning_points(from, group)
    }

    /// A time that no move to a visit outside the source's own group falls below, but for the visit
    /// that follows logically; `None` where no useful one is known.
    ///
    /// That reading ahead within a section is fast is what lets SLTF skip the other sections
    /// (Hillyer & Silberschatz 1996, section 4).
    pub fn least_elsewhere(&self) -> Option<Micros> {
        self.0.model().least_elsewhere()
    }

    /// Whether moves within a wrap cost otherwise than moves to other wraps of the group, and
    /// where along the own wrap the time may turn.
    pub fn own_wrap(&self, from: &Point) -> Option<OwnWrap> {
        self.0.model().own_wrap(from)
    }
}

impl Groups for HelicalLinear {
    fn groups(&self) -> usize {
        1
    }

    fn group(&self, _to: &Point) -> usize {
        0
    }

    fn turning_points(&self, from: &Point, _group: usize) -> TurningPoints {
        TurningPoints::one(from.lpos)
    }
}

impl Groups for FourRegion {
    fn groups(&self) -> usize {
        2
    }

    fn group(&self, to: &Point) -> usize {
        usize::from(to.wrap & 1)
    }

    fn turning_points(&self, from: &Point, group: usize) -> TurningPoints {
        // Right at the target is behind it: on a reverse track, that is the upper side.
        let reverse = (group & 1) as i32;
        TurningPoints::one(self.target_lpos(from, group as u16) - reverse)
    }
}

impl Groups for KeyPointModel {
    fn groups(&self) -> usize {
        self.tracks() * self.sections()
    }

    fn group(&self, to: &Point) -> usize {
        usize::from(to.wrap) * self.sections() + usize::from(self.section(to))
    }

    fn turning_points(&self, from: &Point, group: usize) -> TurningPoints {
        // Time rises in reading order; in the source's own section it also starts anew right ahead
        // of the source.
        let track = group / self.sections();
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

    fn least_elsewhere(&self) -> Option<Micros> {
        Some(self.least_outside())
    }
}

impl Groups for LtoRegression {
    fn groups(&self) -> usize {
        self.zones()
    }

    fn group(&self, to: &Point) -> usize {
        self.zone(to)
    }

    fn turning_points(&self, from: &Point, _group: usize) -> TurningPoints {
        TurningPoints::one(from.lpos)
    }

    fn own_wrap(&self, from: &Point) -> Option<OwnWrap> {
        Some(OwnWrap::Turns(TurningPoints {
            first: from.lpos,
            // The middle itself belongs to the upper half.
            second: Some(self.middle() - 1),
        }))
    }
}

impl Groups for LandingModel {
    fn groups(&self) -> usize {
        self.zones() * self.cells()
    }

    fn group(&self, to: &Point) -> usize {
        self.group_of(to)
    }

    fn turning_points(&self, from: &Point, group: usize) -> TurningPoints {
        let zone = group / self.cells();
        let forward = LandingModel::is_forward(zone);
        TurningPoints::one(match (self.lands_anywhere(zone), forward) {
            // Right at the source is ahead of it.
            (true, _) => from.lpos - i32::from(forward),
            // Behind one landing point, time rises in reading order.
            (false, true) => i32::MIN,
            (false, false) => i32::MAX,
        })
    }

    fn own_wrap(&self, _from: &Point) -> Option<OwnWrap> {
        Some(OwnWrap::Anywhere)
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
    pub(super) fn one(first: i32) -> TurningPoints {
        TurningPoints {
            first,
            second: None,
        }
    }
}
