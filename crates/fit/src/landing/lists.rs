//! Lists of landing points, and the best one for given mechanics, by dynamic programming.

use super::mechanics::Mechanics;
use super::moves::{Move, Moves};
use crate::fitted::Structure;

/// Landing points of both directions, 0 at the beginning of tape and 1 at its end.
#[derive(Clone, Debug)]
pub(super) struct Points {
    pub structure: Structure,
    /// Those between the beginnings of wraps, as the structure has them: in one list or two.
    pub free: Vec<Vec<f64>>,
    /// Ascending, with the beginning of forward wraps; empty where the drive lands anywhere.
    pub forward: Vec<f64>,
    /// Ascending, with the beginning of reverse wraps.
    pub reverse: Vec<f64>,
    /// How far, either way, one may lie elsewhere.
    pub spread: f64,
    /// Numbers that were chosen.
    pub parameters: usize,
}

impl Points {
    /// The drive lands anywhere.
    pub fn anywhere() -> Points {
        Points {
            structure: Structure::Anywhere,
            free: Vec::new(),
            forward: Vec::new(),
            reverse: Vec::new(),
            spread: 0.0,
            parameters: 0,
        }
    }

    /// From lists in the coordinate of the structure: along the tape for shared places, in reading
    /// order for the others.
    pub fn new(structure: Structure, free: Vec<Vec<f64>>) -> Points {
        let mirrored = |list: &[f64]| list.iter().map(|place| 1.0 - place).collect::<Vec<f64>>();
        let (mut forward, mut reverse) = match (structure, free.as_slice()) {
            (Structure::SharedPlaces, [places]) => (places.clone(), places.clone()),
            (_, [order]) => (order.clone(), mirrored(order)),
            (_, [forward, reverse]) => (forward.clone(), mirrored(reverse)),
            _ => return Points::anywhere(),
        };
        forward.push(0.0);
        reverse.push(1.0);
        for list in [&mut forward, &mut reverse] {
            list.retain(|place| (0.0..=1.0).contains(place));
            list.sort_by(f64::total_cmp);
            list.dedup();
        }
        Points {
            spread: 0.0,
            parameters: free.iter().map(Vec::len).sum(),
            structure,
            free,
            forward,
            reverse,
        }
    }

    /// The landing point for a move, and whether it is the beginning of the wrap.
    pub fn serving(&self, each: &Move) -> (f64, bool) {
        if each.forward {
            let reached = self.forward.partition_point(|&place| place <= each.to);
            let last = self.forward.get(reached.max(1) - 1).copied();
            last.map_or((each.to, false), |place| (place, place == 0.0))
        } else {
            let reached = self.reverse.partition_point(|&place| place < each.to);
            let at = reached.min(self.reverse.len().max(1) - 1);
            let next = self.reverse.get(at).copied();
            next.map_or((each.to, false), |place| (place, place == 1.0))
        }
    }

    /// How many there are of each direction, besides the beginnings of wraps.
    pub fn counts(&self) -> [usize; 2] {
        [&self.forward, &self.reverse].map(|list| list.len().saturating_sub(1))
    }
}

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
