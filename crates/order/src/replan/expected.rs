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

const LONGEST_RUN: usize = 50;

/// Expected times of all moves; the last city is the head and the end.
pub(super) struct Expected {
    cities: usize,
    times: Vec<i64>,
    near: Vec<u32>,
}

struct Place {
    doubt: Option<Doubt>,
    variance: f64,
    direction: f64,
}

impl Place {
    fn new(doubt: Option<Doubt>, point: &Point) -> Place {
        Place {
            variance: doubt.map_or(0.0, |doubt| doubt.variance()),
            doubt,
            direction: if point.wrap & 1 == 0 { 1.0 } else { -1.0 },
        }
    }

    /// Variance of the distance to another place.
    fn distance_variance(&self, other: &Place) -> f64 {
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
fn places(problem: &Problem, map: &LearnedMap, ends: bool) -> Vec<Place> {
    let points = if ends {
        problem.ends()
    } else {
        problem.starts()
    };
    let visits = problem.visits().iter().zip(points);
    visits
        .map(|(visit, point)| {
            let segments = &visit.segments;
            let (old, block) = match ends {
                false => (&segments[0].start, segments[0].first_block),
                true => {
                    let last = &segments[segments.len() - 1];
                    (&last.end, last.last_block)
                }
            };
            let doubt = match old.source {
                PositionSource::Recorded | PositionSource::Exact => None,
                _ => map.doubt(old.partition, block, ends),
            };
            Place::new(doubt, point)
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
        let head_place = Place::new(None, problem.head());
        for tail in 0..cities {
            problem.arcs((tail < n).then_some(tail), &mut row);
            let (from, point) = match tail < n {
                true => (&finishes[tail], &problem.ends()[tail]),
                false => (&head_place, problem.head()),
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
        let near = near(&times, cities);
        Expected {
            cities,
            times,
            near,
        }
    }

    fn time(&self, from: u32, to: u32) -> i64 {
        self.times[from as usize * self.cities + to as usize]
    }

    /// The expected time of a tour that begins with the last city.
    fn length(&self, tour: &[u32]) -> i64 {
        let next = tour.iter().skip(1).chain(tour.first());
        tour.iter()
            .zip(next)
            .map(|(&from, &to)| self.time(from, to))
            .sum()
    }

    /// Of some orders, each improved by moving runs, the one of least expected total.
    pub(super) fn least(&self, orders: &[Order]) -> Option<Order> {
        let end = self.cities as u32 - 1;
        let improved = orders.iter().map(|order| {
            let mut tour = vec![end];
            tour.extend(order.visits());
            self.improve(&mut tour);
            (self.length(&tour), tour)
        });
        let (_, tour) = improved.min()?;
        Some(Order::new(tour[1..].to_vec()))
    }

    /// Moves runs until none gains: the run that begins with a near city is put behind a city.
    fn improve(&self, tour: &mut [u32]) {
        let mut place = vec![0usize; self.cities];
        let settle = |tour: &[u32], place: &mut [usize]| {
            for (at, &city) in tour.iter().enumerate() {
                place[city as usize] = at;
            }
        };
        settle(tour, &mut place);
        let mut gained = true;
        while gained {
            gained = false;
            for city in 0..self.cities as u32 {
                for slot in 0..NEIGHBOURS.min(self.cities - 1) {
                    let next = self.near[city as usize * NEIGHBOURS + slot];
                    if self.follow(tour, &place, city, next) {
                        settle(tour, &mut place);
                        gained = true;
                    }
                }
            }
        }
    }

    /// Makes `next` come right after `city` by moving the run that begins with it, if that gains.
    fn follow(&self, tour: &mut [u32], place: &[usize], city: u32, next: u32) -> bool {
        let n = tour.len();
        let (at, begin) = (place[city as usize], place[next as usize]);
        let after = at + 1;
        // The city at place 0 stays there.
        if begin == after || begin == 0 || begin == at {
            return false;
        }
        let city_at = |place: usize| tour[place % n];
        let removed = self.time(city, city_at(after)) + self.time(tour[begin - 1], next);
        let joined = self.time(city, next);
        if joined >= removed {
            return false;
        }
        let limit = if begin < at { at } else { n };
        let mut best = (0, 0);
        for end in begin + 1..=limit.min(begin + LONGEST_RUN) {
            let last = tour[end - 1];
            let gain = removed + self.time(last, city_at(end))
                - joined
                - self.time(last, city_at(after))
                - self.time(tour[begin - 1], city_at(end));
            best = best.max((gain, end));
        }
        let (gain, end) = best;
        if gain <= 0 {
            return false;
        }
        if begin < at {
            tour[begin..after].rotate_left(end - begin);
        } else {
            tour[after..end].rotate_right(end - begin);
        }
        true
    }
}

/// For each visit and step the places that far to either side.
fn displaced(problem: &Problem, map: &LearnedMap) -> Vec<[Point; 2]> {
    let model = &problem.tape().model;
    let visits = problem.visits().iter().zip(problem.starts());
    visits
        .flat_map(|(visit, &start)| {
            let first = visit.segments[0];
            let aside = move |wraps: f64| {
                let place = map.displaced(first.partition(), first.first_block, false, wraps);
                place.map_or(start, |place| model.point(&place))
            };
            STEPS.map(|step| [-3f64.sqrt(), 3f64.sqrt()].map(|side| aside(side * step)))
        })
        .collect()
}

/// The cities that cost least after each city.
fn near(times: &[i64], cities: usize) -> Vec<u32> {
    let mut near = Vec::with_capacity(cities * NEIGHBOURS);
    let mut order: Vec<u32> = Vec::with_capacity(cities);
    for tail in 0..cities {
        let row = &times[tail * cities..][..cities];
        order.clear();
        order.extend((0..cities as u32 - 1).filter(|&head| head as usize != tail));
        let most = NEIGHBOURS.min(order.len());
        if most < order.len() {
            order.select_nth_unstable_by_key(most, |&head| (row[head as usize], head));
        }
        order.truncate(most);
        order.sort_unstable_by_key(|&head| (row[head as usize], head));
        near.extend_from_slice(&order);
        near.extend(std::iter::repeat_n(cities as u32 - 1, NEIGHBOURS - most));
    }
    near
}

#[cfg(test)]
mod tests;
