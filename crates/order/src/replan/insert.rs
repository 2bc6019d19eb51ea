//! Ordering anew what was ordered before: insertion where little changed, the whole again where
//! much did.

use crate::order::Order;
use crate::problem::Problem;
use crate::solve::improve::improve;
use tapewise_model::Micros;

/// How a new plan is made, and how much work it may be.
#[derive(Clone, Copy)]
pub struct Replanner<'a> {
    /// What orders the whole anew.
    pub solve: &'a dyn Fn(&Problem) -> Order,
    /// Visits up to which the whole is ordered anew whatever changed: it takes milliseconds.
    pub whole_visits: usize,
    /// Share of the visits that must be new for the whole to be ordered anew.
    pub whole_share: f64,
    /// Moves tried to improve the old order with the new visits inserted.
    pub moves: u64,
}

impl<'a> Replanner<'a> {
    /// A new plan in milliseconds: the whole up to 100 visits, or when a tenth of them is new.
    pub fn new(solve: &'a dyn Fn(&Problem) -> Order) -> Replanner<'a> {
        Replanner {
            solve,
            whole_visits: 100,
            whole_share: 0.1,
            moves: 200_000,
        }
    }

    /// The same, but the whole anew whatever changed.
    pub fn whole(self) -> Replanner<'a> {
        Replanner {
            whole_visits: usize::MAX,
            ..self
        }
    }
}

/// How a new plan was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The old order with what is new inserted where it costs least, then improved.
    Inserted,
    /// Ordered anew, and that is shorter.
    Anew,
}

/// A new plan for what is left.
#[derive(Clone, Debug, PartialEq)]
pub struct Replanned {
    /// The order, over the visits of the problem.
    pub order: Order,
    /// How it was made.
    pub how: How,
    /// Number of visits that no plan held before.
    pub new_visits: usize,
    /// Total of the old order with the new visits inserted.
    pub inserted_total: Micros,
    /// Total of the order.
    pub total: Micros,
}

impl Replanner<'_> {
    /// Orders a problem of which an order of some visits is known; never longer than that order
    /// with the others inserted where they cost least.
    pub fn replan(&self, problem: &Problem, planned: Vec<u32>) -> Replanned {
        let new_visits = problem.len() - planned.len();
        let inserted = cheapest_insertion(problem, planned);
        let inserted_total = inserted.total_time(problem);
        let improved = improve(problem, &inserted, self.moves);
        let mut found = Replanned {
            total: improved.total_time(problem),
            order: improved,
            how: How::Inserted,
            new_visits,
            inserted_total,
        };
        let much = new_visits as f64 > self.whole_share * problem.len() as f64;
        if problem.len() <= self.whole_visits || much {
            let anew = (self.solve)(problem);
            let total = anew.total_time(problem);
            if total < found.total {
                found = Replanned {
                    order: anew,
                    how: How::Anew,
                    total,
                    ..found
                };
            }
        }
        found
    }
}

/// Visits inserted by looking at every place: beyond, those left go to the end for the whole to be
/// ordered anew.
const LOOKED_AT: usize = 4_000_000;

/// Puts every visit that the sequence lacks where it costs least, in logical order, each given
/// those before it.
pub(super) fn cheapest_insertion(problem: &Problem, planned: Vec<u32>) -> Order {
    let n = problem.len();
    let mut missing = vec![true; n];
    for &visit in &planned {
        missing[visit as usize] = false;
    }
    let mut missing: Vec<u32> = (0..n as u32).filter(|&v| missing[v as usize]).collect();
    let mut sequence = planned;
    let most = LOOKED_AT / n.max(1);
    let at_end = missing.split_off(most.min(missing.len()));
    let mut links: Vec<Micros> = (0..=sequence.len())
        .map(|at| link(problem, &sequence, at))
        .collect();
    for visit in missing {
        let to = visit as usize;
        let at = (0..=sequence.len())
            .min_by_key(|&at| {
                let before = at.checked_sub(1).map(|before| sequence[before] as usize);
                let into =
                    before.map_or_else(|| problem.first_arc(to), |before| problem.arc(before, to));
                let out = sequence.get(at).map_or_else(
                    || problem.end_cost(to),
                    |&after| problem.arc(to, after as usize),
                );
                into + out - links[at]
            })
            .unwrap_or(0);
        sequence.insert(at, visit);
        links[at] = link(problem, &sequence, at);
        links.insert(at + 1, link(problem, &sequence, at + 1));
    }
    sequence.extend(at_end);
    Order::of(sequence)
}

/// The time of the move before place `at` of a sequence; at its end, to where the head is left.
fn link(problem: &Problem, sequence: &[u32], at: usize) -> Micros {
    let before = at.checked_sub(1).map(|before| sequence[before] as usize);
    match (before, sequence.get(at)) {
        (None, Some(&to)) => problem.first_arc(to as usize),
        (Some(from), Some(&to)) => problem.arc(from, to as usize),
        (Some(from), None) => problem.end_cost(from),
        (None, None) => Micros::ZERO,
    }
}
