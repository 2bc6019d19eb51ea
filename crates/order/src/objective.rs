//! What an order is good for: total time, mean completion, deadlines, tape moved.
//!
//! A batch can be read so that the drive is free soonest (total), so that requests wait least on
//! average (mean), or so that what is due is there in time (deadline). The last two are one: the
//! mean is the lateness of requests that are all due now. See `docs/method/objectives.md`.

mod batch;
mod course;
mod exact;
mod figures;
mod goal;
mod near;
mod search;
mod starts;
#[cfg(test)]
mod tests;
mod travel;
mod wanted;
mod wishes;

pub use figures::{Figures, completions};
pub use wanted::{Limits, MEAN_EXTRA_PERCENT, Objective};
pub use wishes::Wishes;

use crate::order::Order;
use crate::problem::Problem;
use crate::solve::effort::{Effort, Meter};
use batch::Batch;
use goal::{Goal, Score};
use search::Search;

/// Starts that are improved; the others are only compared.
const IMPROVED_STARTS: usize = 3;

/// Tape is spared with this part of the work that finding the order takes.
const SPARING_SHARE: u64 = 3;

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The order.
    pub order: Order,
    /// What it comes to.
    pub figures: Figures,
    /// Whether it keeps to the limits; if not, no order was found that does, and this one is the
    /// nearest to the limit on distance, then to that on the total.
    pub keeps_limits: bool,
    /// Whether no order is better.
    pub exact: bool,
}

/// The best order found for an objective, within limits.
///
/// It is never worse than any of `starts`, which should hold the order of least total time, and
/// exact for up to fourteen visits unless the limit on distance binds. With
/// [`Limits::spare_tape`] both hold but for a ten-thousandth. The same input gives the same order,
/// unless the clock of `effort` cuts the search short; nothing is proven beyond fourteen visits.
pub fn order_for(
    problem: &Problem,
    (objective, wishes): (Objective, &Wishes),
    limits: &Limits,
    starts: &[Order],
    effort: &Effort,
    seed: u64,
) -> Outcome {
    let batch = Batch::new(problem, objective, wishes);
    let goal = Goal::new(limits);
    let outcome = |sequence: Vec<u32>, score: &Score, exact| {
        let order = Order::of(sequence);
        Outcome {
            figures: Figures::of(problem, wishes, &order),
            order,
            keeps_limits: goal.keeps_limits(score),
            exact,
        }
    };
    if let Some(sequence) = exact::exact(&batch, limits.total) {
        let score = batch.score(&goal, &sequence);
        if goal.keeps_limits(&score) {
            return outcome(sequence, &score, true);
        }
    }
    let mut found: Vec<(Score, Vec<u32>)> = starts
        .iter()
        .filter(|order| order.visits().len() == problem.len())
        .map(|order| order.visits().to_vec())
        .chain(starts::constructed(&batch, objective, starts))
        .map(|sequence| (batch.score(&goal, &sequence), sequence))
        .collect();
    found.sort();
    found.dedup();
    found.truncate(IMPROVED_STARTS);
    let meter = Meter::new(effort, effort.work);
    let mut search = Search::new(&batch, &goal, &meter, seed);
    for start in &mut found {
        start.1 = search.descend(&start.1);
        start.0 = batch.score(&goal, &start.1);
    }
    let (_, start) = found.into_iter().min().unwrap_or_default();
    let mut sequence = search.kick(&start);
    let mut score = batch.score(&goal, &sequence);
    if limits.spare_tape {
        let sparing = Goal::sparing(limits, &batch.sums(&sequence));
        let meter = Meter::new(effort, effort.work / SPARING_SHARE);
        sequence = Search::new(&batch, &sparing, &meter, seed).descend(&sequence);
        score = batch.score(&goal, &sequence);
    }
    outcome(sequence, &score, false)
}

/// What each objective costs the others: an order for each, in the order of [`Objective::ALL`].
pub fn trade_off(
    problem: &Problem,
    wishes: &Wishes,
    starts: &[Order],
    effort: &Effort,
    seed: u64,
) -> Vec<(Objective, Outcome)> {
    let totals = starts.iter().map(|order| order.total_time(problem));
    let least = totals.min();
    let rows = Objective::ALL.into_iter().map(|objective| {
        let limits = least.map_or(Limits::default(), |least| Limits::of(objective, least));
        let wanted = (objective, wishes);
        let outcome = order_for(problem, wanted, &limits, starts, effort, seed);
        (objective, outcome)
    });
    rows.collect()
}
