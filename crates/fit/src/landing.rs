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
mod points;
mod search;
mod settle;

use crate::fitted::{Coefficients, Fitted, Landed};
use crate::sample::{FitError, Ground, Sample};
use crate::undetermined::Undetermined;
use moves::Moves;

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
    let constants = std::iter::zip(Landed::CONSTANTS, solved.support);
    let undetermined =
        constants.filter_map(|(name, records)| Undetermined::unless(name, records, 1.0, 0.0));
    Ok(Fitted {
        undetermined: undetermined.collect(),
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
