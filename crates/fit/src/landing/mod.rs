//! Fits the landing-point model to a drive whose mechanics nobody knows.
//!
//! With the landing points known, the model is linear in all the rest, but for which moves the
//! drive reads on over. With the rest known, the best list of landing points is found exactly, by
//! dynamic programming. So the two take turns (`search`), from several starts, and the structures
//! that come out, no landing points, a regular lattice, lists of several kinds, compete by their
//! error and the number of what they had to choose.

mod lattice;
mod lists;
mod mechanics;
mod moves;
mod search;
mod settle;

use crate::candidate::{Coefficients, Fitted};
use crate::sample::{FitError, Ground, Sample};
use moves::Moves;

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

/// Most records that landing points are searched with; the rest is fitted with all.
const SEARCHED: usize = 2_000;

/// Fits the landing-point model.
pub(crate) fn fit(samples: &[Sample], ground: &Ground) -> Result<Fitted, FitError> {
    let mut moves = Moves::new(samples, ground);
    let mut found = search::search(&moves.thinned(SEARCHED));
    // What is off tells how noise grows with time; points are looked for again by that.
    if let Some(weighed) = found.weigh(&moves) {
        moves = weighed;
        found = search::search(&moves.thinned(SEARCHED));
    }
    let (points, solved) = search::finish(&moves, found);
    let coefficients = solved
        .mechanics
        .coefficients(&moves, &points, solved.residual_s);
    Ok(Fitted {
        landed: Some(Landed {
            structure: points.structure,
            points: points.counts(),
            support: solved.support,
        }),
        coefficients: Coefficients::LandingPoint(coefficients),
        table: None,
        outliers: solved.outliers,
    })
}
