//! The shortest order for the times at hand, by size of the batch.

use crate::orders::opt::opt;
use crate::problem::Problem;
use crate::solve::assignment::Assignment;
use crate::solve::best::Solution;
use crate::solve::effort::{Effort, Meter};
use crate::solve::improve::improve;
use crate::solve::patch::patch;
use tapewise_model::Micros;

/// Largest batch that is solved by trying all sets of visits.
const EXACT_VISITS: usize = 13;

/// The shortest order that the effort finds, with a bound for any order.
pub(crate) fn shortest(problem: &Problem, effort: &Effort, _seed: u64) -> Solution {
    let meter = Meter::new(effort, effort.work);
    if problem.len() <= EXACT_VISITS
        && let Some(order) = opt(problem)
    {
        let bound = Some(order.total_time(problem));
        return Solution {
            order,
            bound,
            cut_short: false,
        };
    }
    let (read, inner_locate) = problem.fixed_time();
    let assignment = Assignment::new(problem);
    let bound: Micros = assignment.bound() + read + inner_locate;
    let order = improve(problem, &patch(problem, &assignment), 4_000_000);
    Solution {
        bound: Some(bound),
        order,
        cut_short: meter.is_out_of_time(),
    }
}
