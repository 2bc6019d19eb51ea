//! What a model can tell of its geometry to an order that looks for the nearest request.
//!
//! Destinations fall into groups within which, from any one source, the time falls up to a
//! turning point along the tape and rises behind it. So only the two members next to the turning
//! point can be nearest, and a search looks at a few candidates of each group, not at all of it.

use super::point::Point;
use crate::micros::Micros;
use std::fmt;

/// The groups of a model and their turning points.
#[derive(Clone, Copy, Debug)]
pub struct Neighbours<'a>(pub(super) &'a dyn Groups);

/// The groups of a model, as its file states them.
pub(super) trait Groups: fmt::Debug + Sync {
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
        self.0.groups()
    }

    /// The group of a destination.
    pub fn group(&self, to: &Point) -> usize {
        self.0.group(to)
    }

    /// Turning points of a group for moves from `from`; a destination right at one belongs to
    /// those below it.
    pub fn turning_points(&self, from: &Point, group: usize) -> TurningPoints {
        self.0.turning_points(from, group)
    }

    /// A time that no move to a visit outside the source's own group falls below, but for the visit
    /// that follows logically; `None` where no useful one is known.
    ///
    /// That reading ahead within a section is fast is what lets SLTF skip the other sections
    /// (Hillyer & Silberschatz 1996, section 4).
    pub fn least_elsewhere(&self) -> Option<Micros> {
        self.0.least_elsewhere()
    }

    /// Whether moves within a wrap cost otherwise than moves to other wraps of the group, and
    /// where along the own wrap the time may turn.
    pub fn own_wrap(&self, from: &Point) -> Option<OwnWrap> {
        self.0.own_wrap(from)
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
