//! Which of some orders to take when the tape may lie otherwise than believed.
//!
//! With `T(o, s)` the total of order `o` in alternative `s` (the batch as predicted is one of them),
//! an order is *allowed* where it is no longer than sorting as predicted and at worst,
//! `max_s T(o, s) <= max_s T(SORT, s)`, and where in no other alternative it takes more than a
//! hundredth longer than sorting does in that alternative. Of the allowed orders the shortest as predicted is
//! taken if no other order would be shorter; where the shortest is not allowed, the one of least
//! regret, `max_s (T(o, s) - min_o' T(o', s))` (Savage 1951).

use crate::order::Order;
use crate::orders::sort::sort;
use crate::problem::Problem;
use crate::robust::alternatives::Alternatives;
use tapewise_model::Micros;

/// How much longer than sorting an order may take in any one alternative, as a share.
pub const SORT_MARGIN: f64 = 0.01;

/// Why an order was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is the shortest as predicted, and safe.
    Shortest,
    /// The shortest is not safe; this one has the least regret of those that are.
    LeastRegret,
    /// Nothing but sorting is safe.
    OnlySortIsSafe,
}

/// An order chosen, with the reason and what may go wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The order.
    pub order: Order,
    /// Why this one.
    pub why: Why,
    /// Its longest total over all alternatives, locate error included.
    pub worst_total: Micros,
    /// The most that it takes longer, in any alternative, than the best candidate there.
    pub regret: Micros,
}

/// Chooses among some orders and SORT.
pub fn choose(problem: &Problem, alternatives: &Alternatives, candidates: &[Order]) -> Choice {
    let mut orders = vec![sort(problem)];
    orders.extend_from_slice(candidates);
    let totals: Vec<Vec<Micros>> = orders
        .iter()
        .map(|order| alternatives.totals(problem, order))
        .collect();
    let worst: Vec<Micros> = orders
        .iter()
        .zip(&totals)
        .map(|(order, totals)| alternatives.worst_of(problem, order, totals))
        .collect();
    let is_safe = |candidate: usize| {
        let margin = |sorted: &Micros| {
            Micros::from_secs_f64(sorted.as_secs_f64() * SORT_MARGIN).max(Micros::ZERO)
        };
        let pairs = totals[candidate].iter().zip(&totals[0]);
        // The batch as predicted is the first alternative.
        totals[candidate][0] <= totals[0][0]
            && worst[candidate] <= worst[0]
            && pairs
                .into_iter()
                .all(|(total, sorted)| *total <= *sorted + margin(sorted))
    };
    let regret = |candidate: usize| {
        let alternative = |(at, total): (usize, &Micros)| {
            let least = totals.iter().map(|totals| totals[at]).min();
            *total - least.unwrap_or(Micros::ZERO)
        };
        let regrets = totals[candidate].iter().enumerate().map(alternative);
        regrets.max().unwrap_or(Micros::ZERO)
    };
    let all = 0..orders.len();
    let shortest = all.clone().min_by_key(|&at| (totals[at][0], !is_safe(at)));
    let shortest = shortest.unwrap_or(0);
    let (chosen, why) = if is_safe(shortest) {
        (shortest, Why::Shortest)
    } else {
        let safe = all.filter(|&at| is_safe(at));
        match safe.min_by_key(|&at| (regret(at), totals[at][0])) {
            Some(0) | None => (0, Why::OnlySortIsSafe),
            Some(at) => (at, Why::LeastRegret),
        }
    };
    Choice {
        why,
        worst_total: worst[chosen],
        regret: regret(chosen),
        order: orders.swap_remove(chosen),
    }
}
