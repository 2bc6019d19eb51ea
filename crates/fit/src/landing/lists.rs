//! Lists of landing points, and the best one for given mechanics, by dynamic programming.

use super::mechanics::Mechanics;
use super::moves::{Move, Moves};
use super::points::Points;
use crate::fitted::Structure;

/// Errors count by their square in standard errors, but no more than this.
const MOST_LOSS: f64 = 16.0;

/// What an error counts.
pub(super) fn loss(error_s: f64, scale: f64) -> f64 {
    (error_s / scale).powi(2).min(MOST_LOSS)
}

/// What all errors count with landing points in force.
pub(super) fn total_loss(moves: &Moves, points: &Points, mechanics: &Mechanics, scale: f64) -> f64 {
    let errors = moves
        .all
        .iter()
        .map(|each| mechanics.weighed_error_s(each, points));
    errors.map(|error| loss(error, scale)).sum()
}

/// Places along the tape that are tried as landing points.
const GRID: usize = 400;

/// What stretches of one direction count, in reading order: all destinations between two places of
/// the grid, reached from a landing at the first.
struct Stretches(Vec<f64>);

impl Stretches {
    fn of(moves: &Moves, forward: bool, mechanics: &Mechanics, scale: f64) -> Stretches {
        let mut costs = vec![0.0; (GRID + 1) * (GRID + 1)];
        let mut bins: Vec<Vec<&Move>> = vec![Vec::new(); GRID];
        for each in moves.all.iter().filter(|each| each.forward == forward) {
            let bin = (each.in_reading_order() * GRID as f64).floor();
            bins[bin.clamp(0.0, GRID as f64 - 1.0) as usize].push(each);
        }
        for first in 0..GRID {
            let place = first as f64 / GRID as f64;
            let landing = if forward { place } else { 1.0 - place };
            let mut sum = 0.0;
            for (bin, members) in bins.iter().enumerate().skip(first) {
                for each in members {
                    let predicted = mechanics.predicted_s(each, landing, first == 0);
                    sum += loss((predicted - each.time_s) / each.noise, scale);
                }
                costs[first * (GRID + 1) + bin + 1] = sum;
            }
        }
        Stretches(costs)
    }

    fn cost(&self, first: usize, end: usize) -> f64 {
        self.0[first * (GRID + 1) + end]
    }
}

/// Cuts the grid where the sum over stretches and a price for each cut is least; what that is.
fn cut(cost: impl Fn(usize, usize) -> f64, price: f64) -> (Vec<f64>, f64) {
    let mut least = vec![(0.0, 0); GRID + 1];
    for end in 1..=GRID {
        let from = |first: usize| {
            let paid = if first == 0 { 0.0 } else { price };
            (least[first].0 + paid + cost(first, end), first)
        };
        let ways = (0..end).map(from);
        least[end] = ways.fold((f64::INFINITY, 0), |a, b| if b.0 < a.0 { b } else { a });
    }
    let mut cuts = Vec::new();
    let mut at = least[GRID].1;
    while at > 0 {
        cuts.push(at as f64 / GRID as f64);
        at = least[at].1;
    }
    cuts.reverse();
    (cuts, least[GRID].0)
}

/// What stretches of both directions count for given mechanics, whatever the structure.
pub(super) struct Costs {
    forward: Stretches,
    reverse: Stretches,
}

impl Costs {
    pub fn of(moves: &Moves, mechanics: &Mechanics, scale: f64) -> Costs {
        let of = |forward| Stretches::of(moves, forward, mechanics, scale);
        Costs {
            forward: of(true),
            reverse: of(false),
        }
    }

    /// The best landing points of a structure, and what they count with `price` for each.
    pub fn best(&self, structure: Structure, price: f64) -> (Points, f64) {
        let Costs { forward, reverse } = self;
        let (lists, total) = match structure {
            Structure::SharedPlaces => {
                let both = |first: usize, end: usize| {
                    forward.cost(first, end) + reverse.cost(GRID - end, GRID - first)
                };
                let (list, total) = cut(both, price);
                (vec![list], total)
            }
            Structure::SharedReadingOrder => {
                let both = |first, end| forward.cost(first, end) + reverse.cost(first, end);
                let (list, total) = cut(both, price);
                (vec![list], total)
            }
            _ => {
                let [first, second] = [forward, reverse].map(|of| cut(|a, b| of.cost(a, b), price));
                (vec![first.0, second.0], first.1 + second.1)
            }
        };
        (Points::new(structure, lists), total)
    }
}

/// Moves each landing point a little to where errors are least, between the places of the grid.
pub(super) fn refine(moves: &Moves, points: Points, mechanics: &Mechanics, scale: f64) -> Points {
    let mut points = points;
    let mut least = total_loss(moves, &points, mechanics, scale);
    let mut step = 0.5 / GRID as f64;
    for _ in 0..4 {
        for list in 0..points.free.len() {
            for index in 0..points.free[list].len() {
                for shift in [-step, step] {
                    let mut free = points.free.clone();
                    free[list][index] += shift;
                    let moved = Points::new(points.structure, free);
                    let loss = total_loss(moves, &moved, mechanics, scale);
                    if loss < least {
                        (points, least) = (moved, loss);
                        break;
                    }
                }
            }
        }
        step /= 2.0;
    }
    points
}
