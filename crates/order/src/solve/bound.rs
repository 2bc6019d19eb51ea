//! How short an order can be at best.

use crate::orders::opt::opt;
use crate::problem::Problem;
use crate::solve::assignment::Assignment;
use tapewise_model::Micros;

/// A time that no order falls below, reading and all; `None` where none was computed.
///
/// Up to 16 visits it is the optimum itself, above that the assignment bound.
pub fn lower_bound(problem: &Problem) -> Option<Micros> {
    if let Some(optimal) = opt(problem) {
        return Some(optimal.total_time(problem));
    }
    let (read, inner_locate) = problem.fixed_time();
    Some(Assignment::new(problem).bound() + read + inner_locate)
}
