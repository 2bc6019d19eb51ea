//! Branch and bound: is there a tour below a limit, yes or no?
//!
//! Takes one fractional arc after the other and looks at the tours with it and without it, cutting
//! off what cannot be below the limit, which is always decided in whole microseconds. The branch
//! with the least bound comes first, so that hardly any is looked at that the shortest tour would
//! have cut off, however high the limit is.

use super::certificate::Certificate;
use super::relaxation::Relaxation;
use crate::solve::cities::Cities;
use crate::solve::effort::Meter;
use crate::solve::simplex::{Basis, Outcome, Stop};
use crate::solve::tour::Tour;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::rc::Rc;

/// Times that an arc is tried before what was seen is relied upon.
const RELIABLE_TRIES: u32 = 4;

/// Arcs looked at in a row that promise no more than the best before the best is taken.
const LOOK_AHEAD: usize = 4;

/// Pivots of a try.
const TRIED_PIVOTS: usize = 10;

/// What is known of the tours below a limit.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    /// The shortest of them that was found.
    pub(crate) tour: Option<Tour>,
    /// None is shorter than this, and where that is the limit there is none.
    pub(crate) bound: i64,
    /// Branches looked at.
    pub(crate) branches: u64,
}

/// Cuts on arcs end in a branch when a round gains less than this share of what it lacks.
const LEAST_GAIN: f64 = 0.02;

/// A part of the search that is still to be looked at.
struct Branch {
    /// Arcs that it does without.
    without: Vec<u32>,
    /// Where the linear programme stood before it.
    basis: Rc<Basis>,
    /// No tour in it is shorter than this.
    bound: i64,
    /// Branches known before it.
    number: u64,
}

/// What a few pivots into a branch came to.
struct Tried {
    /// Where the linear programme stood.
    basis: Rc<Basis>,
    /// No tour in the branch is shorter than this.
    bound: i64,
}

/// Branches come in the order of their bounds; among equals the latest is the farthest along.
impl Ord for Branch {
    fn cmp(&self, other: &Branch) -> Ordering {
        let key = |branch: &Branch| (Reverse(branch.bound), branch.number);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Branch {
    fn partial_cmp(&self, other: &Branch) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Branch {
    fn eq(&self, other: &Branch) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Branch {}

/// What doing without an arc, and taking it, raised the objective by, for each whole arc.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    tries: u32,
    without: f64,
    with: f64,
}

struct Search<'r, 'a> {
    cities: &'a Cities<'a>,
    relaxation: &'r mut Relaxation<'a>,
    meter: &'r Meter<'r>,
    /// The shortest tour below the limit, once one was found.
    found: Option<Tour>,
    /// Only shorter tours are of interest.
    limit: i64,
    open: BinaryHeap<Branch>,
    /// Branches looked at, and known.
    branches: u64,
    known: u64,
    /// For each arc what its branches raised the objective by.
    seen: Vec<Seen>,
    /// The same for all arcs together.
    usual: Seen,
    /// The least bound of what was given up, where floating point could not settle it.
    unsettled: i64,
}

/// Looks for the shortest tour below `limit` until there is none, or the effort is spent.
pub(crate) fn branch_and_bound<'a>(
    relaxation: &mut Relaxation<'a>,
    certificate: &Certificate,
    limit: i64,
    meter: &Meter,
) -> Verdict {
    let root = certificate.bound();
    relaxation.bar_arcs_above(certificate, limit - root);
    let arcs = relaxation.arcs();
    let mut search = Search {
        cities: relaxation.cities(),
        found: None,
        limit,
        open: BinaryHeap::from([Branch {
            without: Vec::new(),
            basis: Rc::new(relaxation.basis()),
            bound: root,
            number: 0,
        }]),
        relaxation,
        meter,
        branches: 0,
        known: 1,
        seen: vec![Seen::default(); arcs],
        usual: Seen::default(),
        unsettled: i64::MAX,
    };
    search.run();
    let open = search.open.iter().map(|branch| branch.bound);
    let bound = open.min().unwrap_or(i64::MAX).min(search.unsettled);
    Verdict {
        bound: bound.max(root).min(search.limit),
        tour: search.found,
        branches: search.branches,
    }
}

impl Search<'_, '_> {
    fn run(&mut self) {
        let mut without: Vec<u32> = Vec::new();
        while !self.meter.is_spent()
            && let Some(branch) = self.open.pop()
        {
            if branch.bound >= self.limit {
                // So are all others.
                self.open.clear();
                break;
            }
            self.relaxation.bar(&without, false);
            self.relaxation.restore(&branch.basis);
            self.relaxation.bar(&branch.without, true);
            without.clone_from(&branch.without);
            self.branches += 1;
            if !self.look_at(&branch) {
                self.open.push(branch);
                break;
            }
        }
        self.relaxation.bar(&without, false);
    }

    /// Bounds a branch and splits it where that does not settle it; whether there was effort left.
    fn look_at(&mut self, branch: &Branch) -> bool {
        // Rounding prices to whole microseconds may cost one for each row.
        let slack = 4 * self.cities.len() as i64;
        let stop = Stop {
            cutoff: Relaxation::units(self.limit + slack),
            ..Stop::AT_OPTIMUM
        };
        let least_gain = LEAST_GAIN * Relaxation::units(self.limit - branch.bound);
        let outcome = self.relaxation.cut(&stop, least_gain, self.meter);
        if self.meter.is_spent() {
            return false;
        }
        let bound = self.relaxation.bound_of_allowed().max(branch.bound);
        if bound >= self.limit {
            return true;
        }
        if !matches!(outcome, Outcome::Optimal) {
            self.unsettled = self.unsettled.min(bound);
            return true;
        }
        let arcs = self.relaxation.fractional();
        if arcs.is_empty() {
            self.take_tour();
        } else {
            self.split(branch, &arcs, bound);
        }
        true
    }

    fn take_tour(&mut self) {
        let tour = self
            .relaxation
            .whole_arcs()
            .and_then(|successor| Tour::from_successors(self.cities, &successor));
        match tour {
            Some(tour) if tour.cost < self.limit => {
                self.limit = tour.cost;
                self.found = Some(tour);
            }
            Some(_) => {}
            None => self.unsettled = self.unsettled.min(self.relaxation.bound_of_allowed()),
        }
    }

    /// Takes the arc that promises to raise the bound most both ways; then without it, and with
    /// it: without all others that leave its tail or enter its head.
    fn split(&mut self, branch: &Branch, arcs: &[(u32, f64)], bound: i64) {
        let basis = Rc::new(self.relaxation.basis());
        let objective = self.relaxation.objective();
        let (arc, tried) = self.most_promising(arcs, &basis, objective);
        let untried = || Tried {
            basis: Rc::clone(&basis),
            bound,
        };
        let tried = tried.unwrap_or_else(|| [untried(), untried()]);
        for (without, tried) in [vec![arc], self.relaxation.rivals(arc)].iter().zip(tried) {
            self.open.push(Branch {
                without: [branch.without.as_slice(), without].concat(),
                basis: tried.basis,
                bound: tried.bound.max(bound),
                number: self.known,
            });
            self.known += 1;
        }
    }

    /// The arc with the highest product of what its two branches raise the objective by: as seen
    /// in earlier branches, or tried with a few pivots where it has not been seen (Achterberg,
    /// Koch & Martin 2005). What a try came to is where the branches go on.
    fn most_promising(
        &mut self,
        arcs: &[(u32, f64)],
        basis: &Basis,
        objective: f64,
    ) -> (u32, Option<[Tried; 2]>) {
        let mut ranked: Vec<(f64, u32, f64)> = arcs
            .iter()
            .map(|&(arc, share)| (self.promise(arc, share), arc, share))
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut best = (f64::NEG_INFINITY, ranked[0].1, None);
        let mut no_better = 0;
        for &(_, arc, share) in &ranked {
            let is_new = self.seen[arc as usize].tries < RELIABLE_TRIES;
            let tried = is_new.then(|| self.try_both(arc, share, basis, objective));
            let closes = |tried: &[Tried; 2]| tried.iter().any(|side| side.bound >= self.limit);
            if tried.as_ref().is_some_and(closes) {
                return (arc, tried);
            }
            let promise = self.promise(arc, share);
            if promise > best.0 {
                best = (promise, arc, tried);
                no_better = 0;
            } else {
                no_better += 1;
            }
            if no_better == LOOK_AHEAD || self.meter.is_spent() {
                break;
            }
        }
        (best.1, best.2)
    }

    fn promise(&self, arc: u32, share: f64) -> f64 {
        let seen = &self.seen[arc as usize];
        let usual = &self.usual;
        let rate = |gains: f64, usual_gains: f64| match seen.tries {
            0 if usual.tries == 0 => 1.0,
            0 => usual_gains / f64::from(usual.tries),
            tries => gains / f64::from(tries),
        };
        let without = rate(seen.without, usual.without) * share;
        let with = rate(seen.with, usual.with) * (1.0 - share);
        without.max(1e-6) * with.max(1e-6)
    }

    /// Looks a few pivots into both branches of an arc.
    fn try_both(&mut self, arc: u32, share: f64, basis: &Basis, objective: f64) -> [Tried; 2] {
        let stop = Stop {
            max_pivots: TRIED_PIVOTS,
            cutoff: Relaxation::units(self.limit),
        };
        let mut gains = [0.0; 2];
        let without = [vec![arc], self.relaxation.rivals(arc)];
        let sides = [0, 1].map(|side| {
            let without = &without[side];
            self.relaxation.restore(basis);
            self.relaxation.bar(without, true);
            self.relaxation.optimise(&stop, self.meter);
            gains[side] = (self.relaxation.objective() - objective).max(0.0);
            let tried = Tried {
                basis: Rc::new(self.relaxation.basis()),
                bound: self.relaxation.bound_of_allowed(),
            };
            self.relaxation.bar(without, false);
            tried
        });
        for seen in [&mut self.seen[arc as usize], &mut self.usual] {
            seen.tries += 1;
            seen.without += gains[0] / share;
            seen.with += gains[1] / (1.0 - share);
        }
        sides
    }
}
