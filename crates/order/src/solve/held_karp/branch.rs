//! Branch and bound: is there a tour below a limit, yes or no?
//!
//! Takes one fractional arc after the other and looks at the tours with it and without it, cutting
//! off what cannot be below the limit, which is always decided in whole microseconds.

use super::certificate::Certificate;
use super::relaxation::Relaxation;
use crate::solve::cities::Cities;
use crate::solve::effort::Meter;
use crate::solve::simplex::{Basis, Outcome, Stop};
use crate::solve::tour::Tour;

/// Times that an arc is tried before what was seen is relied upon.
const RELIABLE_TRIES: u32 = 1;

/// Arcs looked at in a row that promise no more than the best before the best is taken.
const LOOK_AHEAD: usize = 6;

/// Pivots of a try.
const TRIED_PIVOTS: usize = 25;

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

/// A part of the search that is still to be looked at.
struct Branch {
    /// Arcs that it does without.
    without: Vec<u32>,
    /// Where the linear programme stood before it.
    basis: Basis,
    /// No tour in it is shorter than this.
    bound: i64,
}

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
    open: Vec<Branch>,
    branches: u64,
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
        open: vec![Branch {
            without: Vec::new(),
            basis: relaxation.basis(),
            bound: root,
        }],
        relaxation,
        meter,
        branches: 0,
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
        while let Some(branch) = self.open.pop() {
            if branch.bound >= self.limit {
                continue;
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
        let outcome = self.relaxation.cut(&stop, self.meter);
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
        let basis = self.relaxation.basis();
        let objective = self.relaxation.objective();
        let arc = self.most_promising(arcs, &basis, objective);
        self.relaxation.restore(&basis);
        for without in [vec![arc], self.relaxation.rivals(arc)] {
            self.open.push(Branch {
                without: [branch.without.as_slice(), &without].concat(),
                basis: basis.clone(),
                bound,
            });
        }
    }

    /// The arc with the highest product of what its two branches raise the objective by: as seen
    /// in earlier branches, or tried with a few pivots where it has not been seen (Achterberg,
    /// Koch & Martin 2005).
    fn most_promising(&mut self, arcs: &[(u32, f64)], basis: &Basis, objective: f64) -> u32 {
        let mut ranked: Vec<(f64, u32, f64)> = arcs
            .iter()
            .map(|&(arc, share)| (self.promise(arc, share), arc, share))
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut best = (f64::NEG_INFINITY, ranked[0].1);
        let mut no_better = 0;
        for &(_, arc, share) in &ranked {
            if self.seen[arc as usize].tries < RELIABLE_TRIES {
                self.try_both(arc, share, basis, objective);
            }
            let promise = self.promise(arc, share);
            if promise > best.0 {
                best = (promise, arc);
                no_better = 0;
            } else {
                no_better += 1;
            }
            if no_better == LOOK_AHEAD {
                break;
            }
        }
        best.1
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
    fn try_both(&mut self, arc: u32, share: f64, basis: &Basis, objective: f64) {
        let stop = Stop {
            max_pivots: TRIED_PIVOTS,
            cutoff: Relaxation::units(self.limit),
        };
        let mut gains = [0.0; 2];
        let rivals = self.relaxation.rivals(arc);
        for (gain, without) in gains.iter_mut().zip([&[arc][..], &rivals]) {
            self.relaxation.bar(without, true);
            self.relaxation.optimise(&stop, self.meter);
            *gain = (self.relaxation.objective() - objective).max(0.0);
            self.relaxation.bar(without, false);
            self.relaxation.restore(basis);
        }
        for seen in [&mut self.seen[arc as usize], &mut self.usual] {
            seen.tries += 1;
            seen.without += gains[0] / share;
            seen.with += gains[1] / (1.0 - share);
        }
    }
}
