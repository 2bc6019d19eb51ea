//! The default order.

use crate::order::Order;
use crate::orders::loss::{loss, sparse_loss};
use crate::orders::opt::opt;
use crate::orders::scan::scan;
use crate::orders::sltf::sltf;
use crate::orders::sort::sort;
use crate::orders::two_pass::two_pass;
use crate::orders::weave::weave;
use crate::problem::Problem;
use crate::solve::assignment::{ArcMatrix, Assignment};
use crate::solve::improve::improve;
use crate::solve::patch::patch;
use crate::uncertainty::Scenarios;
use tapewise_model::Micros;

/// Visits up to which every arc is considered.
const DENSE_VISITS: usize = 4_096;

/// Moves tried by the improvement: about a second on one core.
const MOVES: u64 = 4_000_000;

/// The order with the least likely total among those whose worst case is no worse than that of
/// sorting.
///
/// Up to 16 visits it is optimal where the map is exact. Above, the patched assignment, LOSS and
/// SLTF are improved and compared. SORT, SCAN and WEAVE always take part, because an unsure map
/// may allow one of them only. Never longer than SORT, neither as predicted nor at worst.
pub fn best(problem: &Problem, scenarios: &Scenarios) -> Order {
    let sorted = sort(problem);
    let mut candidates = vec![
        sorted.clone(),
        two_pass(problem),
        scan(problem),
        weave(problem),
    ];
    let greedy = sltf(problem);
    let constructed = if problem.len() <= DENSE_VISITS {
        loss(problem)
    } else {
        sparse_loss(problem)
    };
    let assigned = ArcMatrix::new(problem).map(|arcs| patch(&arcs, &Assignment::solve(&arcs)));
    candidates.extend(opt(problem));
    for order in [Some(greedy), Some(constructed), assigned]
        .into_iter()
        .flatten()
    {
        candidates.push(improve(problem, &order, MOVES));
        candidates.push(order);
    }
    let allowed: Micros = scenarios.worst_total(problem, &sorted);
    candidates
        .into_iter()
        .filter(|order| scenarios.worst_total(problem, order) <= allowed)
        .min_by_key(|order| order.total_time(problem))
        .unwrap_or(sorted)
}
