//! The default order.

use crate::orders::kind::OrderKind;
use crate::orders::{loss, scan, sltf, two_pass, weave};
use crate::problem::Problem;
use crate::robust::alternatives::Alternatives;
use crate::robust::hedge::hedged;
use crate::robust::{Why, choose};
use crate::solve::effort::Effort;
use crate::solve::shortest::shortest;
use crate::solve::solution::Solution;

/// As the list of algorithms knows it.
pub(crate) const KIND: OrderKind = OrderKind {
    name: "best",
    title: "tapewise best",
    version: 3,
    solve: |problem, inputs| {
        Some(best(
            problem,
            inputs.alternatives,
            &inputs.effort,
            inputs.seed,
        ))
    },
};

/// Visits up to which every arc is considered by LOSS.
const DENSE_LOSS_VISITS: usize = 4_096;

/// How near its bound an order must be, as a share, for a large batch to do without LOSS: further
/// above an order that near, LOSS has never been seen to come.
const NEAR_BOUND: f64 = 1e-4;

/// The order with the least likely total where its worst case is no worse than that of sorting,
/// else the one of least regret ([`choose`]), and the bound for any order. Where the least likely total
/// is not safe, the order of least mean total over all alternatives takes part (`hedged`).
///
/// SORT, SCAN, WEAVE, SLTF and LOSS take part, unless ours is proven to be the shortest: it is never
/// longer than any of them where the map is exact, and an unsure map may allow one of them only.
/// Where time has run out before, SLTF and LOSS are left out.
pub fn best(
    problem: &Problem,
    alternatives: &Alternatives,
    effort: &Effort,
    seed: u64,
) -> Solution {
    let ours = shortest(problem, effort, seed);
    let total = ours.order.total_time(problem).as_secs_f64();
    let gap = ours
        .bound
        .map_or(1.0, |bound| 1.0 - bound.as_secs_f64() / total);
    if alternatives.is_empty() && gap <= 0.0 {
        return ours;
    }
    let mut candidates = vec![
        ours.order,
        two_pass::two_pass(problem),
        scan::scan(problem),
        weave::weave(problem),
    ];
    let in_time = !(effort.out_of_time)();
    if in_time && problem.len() <= DENSE_LOSS_VISITS {
        candidates.extend([sltf::sltf(problem), loss::loss(problem)]);
    } else if in_time && gap > NEAR_BOUND {
        candidates.extend([sltf::sltf(problem), loss::sparse_loss(problem)]);
    }
    let mut choice = choose(problem, alternatives, &candidates);
    if choice.why != Why::Shortest && !(effort.out_of_time)() {
        candidates.push(choice.order.clone());
        candidates.extend(hedged(problem, alternatives, &candidates));
        choice = choose(problem, alternatives, &candidates);
    }
    let order = choice.order;
    Solution {
        order,
        bound: ours.bound,
        cut_short: ours.cut_short,
    }
}
