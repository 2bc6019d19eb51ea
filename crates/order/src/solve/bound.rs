//! How short an order can be at best.

use crate::orders::opt::opt;
use crate::problem::Problem;
use crate::solve::assignment::Assignment;
use tapewise_model::Micros;

/// Visits up to which the bound is the optimum itself.
const EXACT_VISITS: usize = 12;

/// A time that no order falls below, reading and all, without looking for an order: up to 12
/// visits the optimum itself, above that the assignment bound. [`crate::best`] gives a better one.
pub fn lower_bound(problem: &Problem) -> Micros {
    if problem.len() <= EXACT_VISITS
        && let Some(optimal) = opt(problem)
    {
        return optimal.total_time(problem);
    }
    let (read, inner_locate) = problem.fixed_time();
    Assignment::new(problem).bound() + read + inner_locate
}
