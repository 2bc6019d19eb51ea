//! The order of least total in the mean of all alternatives.
//!
//! Where the map is unsure, a move to a near place may turn out to be a long one, and the shortest order as predicted
//! is full of such moves. Here every move is priced by its mean over the alternatives: moves whose time is the same
//! wherever the tape lies become cheap, and the order keeps to them where too little is known to be bold.

use crate::order::Order;
use crate::problem::Problem;
use crate::robust::Alternatives;
use crate::solve::cities::{Cities, MATRIX_MAX_VISITS};
use crate::solve::improve::improve_among;
use crate::solve::tour::Tour;
use tapewise_model::Micros;

/// Places looked at for what could come after a visit.
const NEIGHBOURS: usize = 12;

/// Of some orders, each improved by moving runs, the one of least mean total; `None` for a batch of more visits than
/// their moves are held in memory for, and where there is one map only.
pub(crate) fn hedged(
    problem: &Problem,
    alternatives: &Alternatives,
    orders: &[Order],
) -> Option<Order> {
    if alternatives.is_empty() || !(2..=MATRIX_MAX_VISITS).contains(&problem.len()) {
        return None;
    }
    let cities = mean_times(problem, alternatives);
    let near = cities.near(NEIGHBOURS);
    let improved = orders.iter().map(|order| {
        let improved = improve_among(&cities, &near, order, u64::MAX);
        Tour::of_order(&cities, &improved)
    });
    let least =
        improved.min_by(|one, other| (one.cost, &one.cities).cmp(&(other.cost, &other.cities)));
    least.map(Tour::into_order)
}

/// The sums of what each move takes as predicted and in all alternatives.
fn mean_times(problem: &Problem, alternatives: &Alternatives) -> Cities<'static> {
    let visits = problem.len();
    let cities = visits + 1;
    let mut times = vec![0; cities * cities];
    let mut row = vec![Micros::ZERO; visits];
    for tape in std::iter::once(problem).chain(alternatives.problems()) {
        for (tail, out) in times.chunks_exact_mut(cities).enumerate() {
            tape.arcs((tail < visits).then_some(tail), &mut row);
            for (sum, time) in out.iter_mut().zip(&row) {
                *sum += time.0;
            }
            if tail < visits {
                out[visits] += tape.end_cost(tail).0;
            }
        }
    }
    for city in 0..cities {
        times[city * cities + city] = Micros::FAR.0;
    }
    Cities::with_costs(cities, times)
}
