//! The proof: from a bound and a good tour to the shortest tour, or as near as the effort leads.
//!
//! The bound is usually far closer to the shortest tour than the best one known is. So tours are
//! looked for that are longer than the bound by no more than a guess, for which few arcs come into
//! question; the guess grows until it is right. Below such a limit most of the tour is certain, and
//! the batch shrinks to the chains that are not ([`contract`]); bounding these anew shrinks them
//! further; what is left in the end is searched by branch and bound.

use super::branch::{Verdict, branch_and_bound};
use super::certificate::Certificate;
use super::contract::{Remains, contract};
use super::relaxation::Relaxation;
use super::start::Start;
use crate::solve::cities::Cities;
use crate::solve::effort::Meter;
use crate::solve::tour::Tour;

/// Arcs a city that may be left for a search to be worth starting.
const LEFT_ARCS: usize = 150;

/// The first guess is the mean cost of an arc divided by this.
const FIRST_GUESS_SHARE: i64 = 8;

/// How much larger the next guess is, in per cent. A limit that is too high costs arcs rather than
/// branches, one that is too low a whole search.
const GUESS_GROWTH_PERCENT: i64 = 180;

/// The share of a gap, in per cent, below which it must have come to contract once more.
const WORTH_CONTRACTING_PERCENT: i64 = 75;

/// A tour with what is known of how short any can be.
#[derive(Clone, Debug)]
pub(crate) struct Proof {
    /// The shortest tour known.
    pub(crate) tour: Tour,
    /// No tour is shorter than this.
    pub(crate) bound: i64,
    /// Branches looked at.
    pub(crate) branches: u64,
}

/// Proves `best` to be the shortest tour, or finds shorter ones, until the effort is spent.
pub(crate) fn prove(
    cities: &Cities,
    certificate: &Certificate,
    best: Tour,
    meter: &Meter,
) -> Proof {
    let root = certificate.bound();
    let mut proof = Proof {
        bound: root.min(best.cost),
        tour: best,
        branches: 0,
    };
    let mut guess = root / cities.len() as i64 / FIRST_GUESS_SHARE + 1;
    while proof.bound < proof.tour.cost && !meter.is_spent() {
        let limit = proof.tour.cost.min(root + guess);
        let verdict = below(cities, certificate, limit, meter);
        proof.branches += verdict.branches;
        proof.bound = verdict.bound.max(proof.bound);
        if let Some(tour) = verdict.tour {
            proof.tour = tour;
        } else if verdict.bound < limit {
            break;
        }
        guess = guess * GUESS_GROWTH_PERCENT / 100 + 1;
    }
    proof.bound = proof.bound.min(proof.tour.cost);
    proof
}

/// The shortest tour below `limit`.
fn below(cities: &Cities, certificate: &Certificate, limit: i64, meter: &Meter) -> Verdict {
    let verdict = |tour, bound| Verdict {
        tour,
        bound,
        branches: 0,
    };
    let root = certificate.bound();
    if root >= limit {
        return verdict(None, limit);
    }
    let contracted = match contract(cities, certificate, limit - root, LEFT_ARCS) {
        Remains::Nothing => return verdict(None, limit),
        Remains::One(tour) if tour.cost >= limit => return verdict(None, limit),
        Remains::One(tour) => return verdict(Some(tour.clone()), tour.cost),
        Remains::TooMuch => return verdict(None, root),
        Remains::Some(contracted) => contracted,
    };
    let limit = limit - contracted.taken;
    let start = Start::cold(contracted.arcs.clone());
    let mut relaxation = Relaxation::new(&contracted.cities, &start, limit.max(1));
    let tight = relaxation.bound(limit, meter);
    let gap = limit + contracted.taken - root;
    let shrinks = || (limit - tight.bound()) * 100 < gap * WORTH_CONTRACTING_PERCENT;
    let inner = match tight.bound() < limit {
        false => verdict(None, limit),
        true if shrinks() => below(&contracted.cities, &tight, limit, meter),
        true => branch_and_bound(&mut relaxation, &tight, limit, meter),
    };
    Verdict {
        tour: inner.tour.map(|tour| contracted.expand(&tour)),
        bound: (inner.bound + contracted.taken).max(root),
        branches: inner.branches,
    }
}
