//! The default order.

use crate::improve::improve;
use crate::loss::{loss, sparse_loss};
use crate::opt::{OPT_MAX_VISITS, opt};
use crate::order::Order;
use crate::problem::Problem;
use crate::sltf::sltf;
use crate::sort::sort;
use crate::two_pass::two_pass;
use crate::uncertainty::Scenarios;
use tapewise_model::Micros;

/// Visits up to which every arc is considered.
const DENSE_VISITS: usize = 4_096;

/// Moves tried by the improvement: about a second on one core.
const MOVES: u64 = 4_000_000;

/// The order with the least likely total among those whose worst case is no worse than that of
/// sorting.
///
/// Up to 16 visits it is optimal where the map is exact. Above, LOSS and SLTF are improved and
/// compared with SORT and SCAN. Never longer than SORT, neither as predicted nor at worst.
pub fn best(problem: &Problem, scenarios: &Scenarios) -> Order {
    let sorted = sort(problem);
    let mut candidates = vec![sorted.clone(), two_pass(problem)];
    if problem.len() <= OPT_MAX_VISITS {
        candidates.extend(opt(problem));
    } else {
        let constructed = if problem.len() <= DENSE_VISITS {
            loss(problem)
        } else {
            sparse_loss(problem)
        };
        let greedy = sltf(problem);
        candidates.push(improve(problem, &constructed, MOVES));
        candidates.push(improve(problem, &greedy, MOVES));
        candidates.extend([constructed, greedy]);
    }
    let allowed: Micros = scenarios.worst_total(problem, &sorted);
    candidates
        .into_iter()
        .filter(|order| scenarios.worst_total(problem, order) <= allowed)
        .min_by_key(|order| order.total_time(problem))
        .unwrap_or(sorted)
}
