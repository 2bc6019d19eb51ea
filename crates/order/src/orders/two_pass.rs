//! SCAN as CERN runs it: one pass out over the forward wraps, one back over the reverse ones.

use crate::order::Order;
use crate::orders::kind::OrderKind;
use crate::problem::Problem;
use tapewise_model::Direction;

/// As the list of algorithms knows it.
pub(crate) const KIND: OrderKind = OrderKind {
    name: "two-pass",
    title: "SCAN, two passes",
    version: 1,
    solve: |problem, _| Some(two_pass(problem).into()),
};

/// Visits that begin on forward wraps by rising LPOS, then those on reverse wraps by falling LPOS
/// (CERN 2018, "Traversal algorithm (I)").
pub fn two_pass(problem: &Problem) -> Order {
    let geometry = &problem.tape().geometry;
    let mut sequence: Vec<u32> = (0..problem.len() as u32).collect();
    sequence.sort_by_key(|&visit| {
        let start = problem.starts()[visit as usize];
        match geometry.direction(start.wrap) {
            Direction::Forward => (0, start.lpos, visit),
            Direction::Reverse => (1, -start.lpos, visit),
        }
    });
    Order::of(sequence)
}
