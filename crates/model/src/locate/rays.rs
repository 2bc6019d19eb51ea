//! What a model can tell of its geometry to an order that prices all moves at once.
//!
//! Destinations belong to classes within which, from any one source, the time is made of at most
//! two straight pieces along the tape: one up to a pivot and one behind it. What a place adds
//! whatever the source, its weight, comes on top:
//!
//! ```text
//! time(source, place) = base(source, class, piece) + slope(class, piece) * along(place) + weight(place)
//! ```
//!
//! So the cheapest place of a piece is the one of least `slope * along + weight`, whatever the
//! source: a running minimum over the class in the order of `along` answers for all sources, and
//! nobody looks at all pairs.
//!
//! A source looks only at some classes, and in a class it may pass over a group of places that
//! another class prices (the own wrap, say). Over all its looks, no place is priced below its time,
//! and every place is priced at its time by one of them, but for a few that are asked one by one.

use super::point::Point;
use crate::micros::{Micros, Pace};
use std::fmt;
use std::ops::RangeInclusive;

/// The two slopes of a class; `None` where no source uses that piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slopes {
    /// Up to and at the pivot, in fine time for each LPOS unit: see [`Pace::FRACTION_BITS`].
    pub below: Option<i64>,
    /// Behind the pivot.
    pub above: Option<i64>,
}

impl Slopes {
    /// Falling up to the pivot, rising behind it.
    pub(super) fn valley(pace: Pace) -> Slopes {
        Slopes {
            below: Some(-pace.fine()),
            above: Some(pace.fine()),
        }
    }
}

/// A destination as a member of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The class.
    pub class: usize,
    /// Where it is along the tape, in LPOS units.
    pub along: i32,
    /// What it adds from whatever source.
    pub weight: Micros,
    /// Members that a look may pass over together; `None` where no look passes over any.
    pub group: Option<u32>,
}

/// A class as seen from one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// The class.
    pub class: usize,
    /// The last LPOS that belongs to the lower piece.
    pub pivot: i32,
    /// What the time would be at LPOS 0 if the lower piece went on to there, in fine time, with the
    /// half that rounds to the nearest microsecond; `None` where the piece is no way to go.
    pub below: Option<i64>,
    /// The same for the upper piece.
    pub above: Option<i64>,
    /// The group that is passed over.
    pub except: Option<u32>,
}

/// Members of a class that a source asks one by one: on a short stretch ahead times follow a rule of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The class.
    pub class: usize,
    /// From where to where along the tape.
    pub along: RangeInclusive<i32>,
}

/// The classes of a model.
#[derive(Clone, Copy, Debug)]
pub struct Rays<'a>(pub(super) &'a dyn Straight);

/// The classes of a model, as its file states them.
pub(super) trait Straight: fmt::Debug + Sync {
    /// See [`Rays::are_known`].
    fn is_straight(&self) -> bool {
        true
    }

    /// The slopes of a class.
    fn slopes(&self, class: usize) -> Slopes;

    /// Gives the classes that a destination belongs to.
    fn destinations(&self, to: &Point, give: &mut dyn FnMut(Destination));

    /// Gives the classes that a source looks at.
    fn looks(&self, from: &Point, give: &mut dyn FnMut(Look));

    /// See [`Rays::asked`].
    fn asked(&self, _from: &Point) -> Option<Asked> {
        None
    }

    /// See [`Rays::free_stretch`].
    fn free_stretch(&self) -> Option<std::ops::Range<i32>> {
        None
    }
}

impl Rays<'_> {
    /// Whether times are made of straight pieces at all; if not, there are no classes, and every pair has to be asked.
    pub fn are_known(&self) -> bool {
        self.0.is_straight()
    }

    /// The slopes of a class.
    pub fn slopes(&self, class: usize) -> Slopes {
        self.0.slopes(class)
    }

    /// The stretch along the tape from which a move onwards on the wrap can take no time though
    /// blocks are skipped: the middle, where the regression has it so. Runs of visits are better
    /// not taken for one there.
    pub fn free_stretch(&self) -> Option<std::ops::Range<i32>> {
        self.0.free_stretch()
    }

    /// Gives the classes that a destination belongs to.
    pub fn destinations(&self, to: &Point, mut give: impl FnMut(Destination)) {
        self.0.destinations(to, &mut give);
    }

    /// The places that a source asks one by one, besides its looks.
    pub fn asked(&self, from: &Point) -> Option<Asked> {
        self.0.asked(from)
    }

    /// Gives the classes that a source looks at.
    pub fn looks(&self, from: &Point, mut give: impl FnMut(Look)) {
        self.0.looks(from, &mut give);
    }
}

/// `fixed + slope * (along - pivot)`, brought to the form of [`Look::below`].
pub(super) fn base(fixed: Micros, slope: i64, pivot: i32) -> i64 {
    const HALF_A_MICROSECOND: i64 = 1 << (Pace::FRACTION_BITS - 1);
    (fixed.0 << Pace::FRACTION_BITS) + HALF_A_MICROSECOND - slope * i64::from(pivot)
}
