//! The default order.

use crate::order::Order;
use crate::orders::{loss, scan, sltf, sort, two_pass, weave};
use crate::problem::Problem;
use crate::solve::effort::Effort;
use crate::solve::shortest::shortest;
use crate::uncertainty::Scenarios;
use tapewise_model::Micros;

/// Visits up to which every arc is considered by LOSS.
const DENSE_LOSS_VISITS: usize = 4_096;

/// An order with what is known of how good it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The order.
    pub order: Order,
    /// A total that no order falls below with these times, where one was computed.
    pub bound: Option<Micros>,
    /// Whether the clock cut the search short, so that another run may give another order.
    pub cut_short: bool,
}

impl Solution {
    /// Whether the order is proven to be the shortest with these times.
    pub fn is_optimal(&self, problem: &Problem) -> bool {
        self.bound == Some(self.order.total_time(problem))
    }
}

impl From<Order> for Solution {
    fn from(order: Order) -> Solution {
        Solution {
            order,
            bound: None,
            cut_short: false,
        }
    }
}

/// The order with the least likely total among those whose worst case is no worse than that of
/// sorting, and the bound for any order.
///
/// SORT, SCAN, WEAVE, SLTF and LOSS always take part: it is never longer than any of them where
/// the map is exact, and an unsure map may allow one of them only.
pub fn best(problem: &Problem, scenarios: &Scenarios, effort: &Effort, seed: u64) -> Solution {
    let ours = shortest(problem, effort, seed);
    let sorted = sort::sort(problem);
    let constructed = if problem.len() <= DENSE_LOSS_VISITS {
        loss::loss(problem)
    } else {
        loss::sparse_loss(problem)
    };
    let floors = [
        two_pass::two_pass(problem),
        scan::scan(problem),
        weave::weave(problem),
        sltf::sltf(problem),
        constructed,
        sorted.clone(),
    ];
    let allowed: Micros = scenarios.worst_total(problem, &sorted);
    let order = std::iter::once(ours.order)
        .chain(floors)
        .filter(|order| scenarios.worst_total(problem, order) <= allowed)
        .min_by_key(|order| order.total_time(problem))
        .unwrap_or(sorted);
    Solution { order, ..ours }
}
