//! The order of least expected total when it is not known where things lie.
//!
//! A move to a place that may lie off to either side takes longer in the mean than the move to
//! where it is expected, because locate times bend there. What counts is how the two ends of a move
//! lie to each other: ends between the same two knots err together, and on wraps of opposite
//! direction the same error along the track moves them apart. With `s` the standard deviation of the
//! distance between the two, the mean over it is taken at three places (Gauss-Hermite):
//!
//! ```text
//! E[time] = 2/3 time(0) + 1/6 time(-s sqrt 3) + 1/6 time(s sqrt 3)
//! s^2 = var(i) + var(j) - 2 d(i) d(j) cov(i, j)          d: +1 forward, -1 reverse wraps
//! ```
//!
//! So an order of least expected total reads together what lies together as long as little is
//! known, as sorting does, and becomes bolder with what it learns.

use crate::order::Order;
use crate::problem::Problem;
use crate::solve::cities::Cities;
use crate::solve::improve::improve_among;
use crate::solve::tour::Tour;
use tapewise_model::{Doubt, LearnedMap, Micros, Point, PositionSource};

/// Largest batch for which expected times are computed: 8 MB.
pub(super) const MOST_VISITS: usize = 1_024;

/// Standard deviations, in wraps, for which displaced places are prepared: each about the square
/// root of two times the one before. Others take the nearest, those far below the first none.
const STEPS: [f64; 15] = [
    0.003, 0.0042, 0.006, 0.0085, 0.012, 0.017, 0.024, 0.034, 0.048, 0.068, 0.096, 0.135, 0.19,
    0.27, 0.38,
];

/// Half a step down.
const NEAREST: f64 = 0.84;

/// Places looked at for what could come after a visit.
const NEIGHBOURS: usize = 12;

/// Expected times of all moves.
pub(super) struct Expected {
    cities: Cities<'static>,
    /// For each city the visits that cost least after it.
    near: Vec<Vec<u32>>,
}

struct MoveEnd {
    doubt: Option<Doubt>,
    variance: f64,
    direction: f64,
}

impl MoveEnd {
    fn new(doubt: Option<Doubt>, point: &Point) -> MoveEnd {
        MoveEnd {
            variance: doubt.map_or(0.0, |doubt| doubt.variance()),
            doubt,
            direction: if point.wrap & 1 == 0 { 1.0 } else { -1.0 },
        }
    }

    /// Variance of the distance to another place.
    fn distance_variance(&self, other: &MoveEnd) -> f64 {
        let together = match (&self.doubt, &other.doubt) {
            (Some(ours), Some(theirs)) => ours.covariance(theirs),
            _ => 0.0,
        };
        self.variance + other.variance - 2.0 * self.direction * other.direction * together
    }
}

/// Mean standard deviation of where visits begin, in wraps.
pub(super) fn mean_doubt_wraps(problem: &Problem, map: &LearnedMap) -> f64 {
    let begins = places(problem, map, false);
    let sum: f64 = begins.iter().map(|place| place.variance.sqrt()).sum();
    sum / begins.len().max(1) as f64
}

/// Where visits begin, or end, with what is not known of it; recorded places are known.
fn places(problem: &Problem, map: &LearnedMap, ends: bool) -> Vec<MoveEnd> {
    let points = if ends {
        problem.ends()
    } else {
        problem.starts()
    };
    let visits = problem.visits().iter().zip(points);
    visits
        .map(|(visit, point)| {
            let extents = &visit.extents;
            let (old, block) = if ends {
                let last = &extents[extents.len() - 1];
                (&last.end, last.last_block)
            } else {
                (&extents[0].start, extents[0].first_block)
            };
            let doubt = match old.source {
                PositionSource::Recorded | PositionSource::Exact => None,
                _ => map.doubt(old.partition, block, ends),
            };
            MoveEnd::new(doubt, point)
        })
        .collect()
}

impl Expected {
    /// The expected times of a batch of at most [`MOST_VISITS`] that the map has placed.
    pub(super) fn new(problem: &Problem, map: &LearnedMap) -> Expected {
        let n = problem.len();
        let cities = n + 1;
        let mut times = vec![Micros::FAR.0; cities * cities];
        let begins = places(problem, map, false);
        let finishes = places(problem, map, true);
        let displaced = displaced(problem, map);
        let model = &problem.tape().model;
        let mut row = vec![Micros::ZERO; n];
        let head_place = MoveEnd::new(None, problem.head());
        for tail in 0..cities {
            problem.arcs((tail < n).then_some(tail), &mut row);
            let (from, point) = if tail < n {
                (&finishes[tail], &problem.ends()[tail])
            } else {
                (&head_place, problem.head())
            };
            let out = &mut times[tail * cities..][..cities];
            for head in (0..n).filter(|&head| head != tail) {
                let sd = from.distance_variance(&begins[head]).max(0.0).sqrt();
                let step = STEPS.partition_point(|&step| step * NEAREST <= sd);
                let here = row[head].0;
                out[head] = match step.checked_sub(1) {
                    None => here,
                    Some(step) => {
                        let aside = &displaced[head * STEPS.len() + step];
                        let [low, high] = aside.map(|to| model.time(point, &to).0);
                        (4 * here + low + high) / 6
                    }
                };
            }
            if tail < n {
                out[n] = problem.end_cost(tail).0;
            }
        }
        let cities = Cities::with_costs(cities, times);
        Expected {
            near: cities.near(NEIGHBOURS),
            cities,
        }
    }

    /// Of some orders, each improved by moving runs, the one of least expected total.
    pub(super) fn least(&self, orders: &[Order]) -> Option<Order> {
        let improved = orders.iter().map(|order| {
            let improved = improve_among(&self.cities, &self.near, order, u64::MAX);
            Tour::of_order(&self.cities, &improved)
        });
        let least =
            improved.min_by(|one, other| (one.cost, &one.cities).cmp(&(other.cost, &other.cities)));
        least.map(Tour::into_order)
    }
}

/// For each visit and step the places that far to either side.
fn displaced(problem: &Problem, map: &LearnedMap) -> Vec<[Point; 2]> {
    let model = &problem.tape().model;
    let visits = problem.visits().iter().zip(problem.starts());
    visits
        .flat_map(|(visit, &start)| {
            let first = visit.extents[0];
            let aside = move |wraps: f64| {
                let place = map.displaced(first.partition(), first.first_block, false, wraps);
                place.map_or(start, |place| model.point(&place))
            };
            STEPS.map(|step| [-3f64.sqrt(), 3f64.sqrt()].map(|side| aside(side * step)))
        })
        .collect()
}

#[cfg(test)]
mod tests;
