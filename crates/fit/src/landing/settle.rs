//! Where landing points lie exactly, and how far off that may be on one cartridge.
//!
//! A record just past a landing point tells by its time whether the drive landed there or one point
//! earlier. Where both occur, the least squares of a time is expected from the share of either, so
//! places and spread are moved to where those shares fit what was observed. A retry tells no more
//! than any other record: at most that the drive landed at one of the two.

use super::mechanics::Mechanics;
use super::moves::{Move, Moves};
use super::points::Points;
use crate::fitted::Structure;

/// How far from a landing point records tell of it, in lengths of the tape, and in parts of the way
/// to the next one.
const REACH: f64 = 0.02;
const REACH_CELLS: f64 = 0.5;
/// Rounds of places and spread in turn.
const ROUNDS: usize = 4;
/// Spreads that are tried: each so much smaller than the one before.
const NARROWER: f64 = 0.8;
const SPREADS: usize = 24;
/// Places are moved by the spread, then by half of that, so many times.
const HALVINGS: usize = 5;

/// What one record tells of the landing point it lies next to.
struct Vote {
    list: usize,
    index: usize,
    /// The destination, in the coordinate of the list.
    place: f64,
    /// 1 where reading order runs up the list, -1 where it runs down.
    sign: f64,
    /// 1 if the drive landed there, 0 if one point earlier; between them, what noise left of it.
    landed: f64,
    /// The square of what it makes a difference.
    weight: f64,
}

/// The points with their spread; regular ones moved to where they explain most.
///
/// Points in lists stay where all the times of their cells have put them: that tells more than the
/// few records beside them. Regular ones may have shifted together, for which constants make up
/// everywhere but there. `width_s` is the standard error of a record.
pub(super) fn settled(
    moves: &Moves,
    points: Points,
    mechanics: &Mechanics,
    width_s: f64,
) -> Points {
    let votes = votes(moves, &points, mechanics);
    if votes.is_empty() {
        return points;
    }
    let mut free = points.free.clone();
    let mut spread = best_spread(&votes, &free);
    if points.structure == Structure::Lattice {
        for _ in 0..ROUNDS {
            let mut step = spread.max(REACH * NARROWER.powi(SPREADS as i32));
            for _ in 0..HALVINGS {
                shift(&mut free, &votes, spread, step);
                step /= 2.0;
            }
            spread = best_spread(&votes, &free);
        }
    }
    Points {
        spread: spread.hypot(unknown(moves, &points, mechanics, width_s)),
        parameters: points.parameters,
        ..Points::new(points.structure, free)
    }
}

/// How well the place of a point can be known: as far as records lie apart (long gaps hold more
/// points than short ones, which doubles the half), or as the times of its cell tell.
fn unknown(moves: &Moves, points: &Points, mechanics: &Mechanics, width_s: f64) -> f64 {
    let places: usize = points.counts().iter().sum();
    let each_direction = moves.all.len().max(1) as f64 / 2.0;
    let share = points.parameters as f64 / places.max(1) as f64;
    let by_place = share / each_direction;
    let in_cell = moves.all.len().max(1) as f64 / points.parameters.max(1) as f64;
    let by_time = width_s / mechanics.paces_s().iter().sum::<f64>() / in_cell.sqrt();
    by_place.min(by_time)
}

/// The coordinate of a destination in the lists of a structure: list, place, sign.
fn coordinate(each: &Move, structure: Structure) -> (usize, f64, f64) {
    match (structure, each.forward) {
        (Structure::SharedPlaces, true) => (0, each.to, 1.0),
        (Structure::SharedPlaces, false) => (0, each.to, -1.0),
        (Structure::SharedReadingOrder, _) => (0, each.in_reading_order(), 1.0),
        (_, forward) => (usize::from(!forward), each.in_reading_order(), 1.0),
    }
}

fn votes(moves: &Moves, points: &Points, mechanics: &Mechanics) -> Vec<Vote> {
    let vote = |each: &Move| {
        let (list, place, sign) = coordinate(each, points.structure);
        let free = points.free.get(list)?;
        let distance = |index: &usize| (free[*index] - place).abs();
        let nearest = (0..free.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let index = nearest?;
        // The one before it in reading order, or else the beginning of the wrap.
        let before = if sign > 0.0 {
            index.checked_sub(1).map_or(0.0, |before| free[before])
        } else {
            free.get(index + 1).copied().unwrap_or(1.0)
        };
        let cell = (free[index] - before).abs();
        if distance(&index) > REACH.min(REACH_CELLS * cell) {
            return None;
        }
        let along = |place: f64| match (points.structure, each.forward) {
            (Structure::SharedPlaces, _) | (_, true) => place,
            (_, false) => 1.0 - place,
        };
        let at_start = before == if sign > 0.0 { 0.0 } else { 1.0 };
        let here = mechanics.predicted_s(each, along(free[index]), false);
        let earlier = mechanics.predicted_s(each, along(before), at_start);
        let difference = earlier - here;
        let landed = (earlier - each.time_s) / difference;
        (difference != 0.0).then(|| Vote {
            list,
            index,
            place,
            sign,
            landed: landed.clamp(0.0, 1.0),
            weight: (difference / each.noise).powi(2),
        })
    };
    moves.all.iter().filter_map(vote).collect()
}

/// Squared errors of what is expected with points that lie anywhere within a spread.
fn off(votes: &[Vote], free: &[Vec<f64>], spread: f64) -> f64 {
    let square = |vote: &Vote| {
        let past = vote.sign * (vote.place - free[vote.list][vote.index]);
        let expected = if past.abs() >= spread {
            f64::from(u8::from(past >= 0.0))
        } else {
            0.5 + 0.5 * past / spread
        };
        vote.weight * (expected - vote.landed).powi(2)
    };
    votes.iter().map(square).sum()
}

fn best_spread(votes: &[Vote], free: &[Vec<f64>]) -> f64 {
    let mut best = (off(votes, free, 0.0), 0.0);
    for narrower in (0..SPREADS).rev() {
        let spread = REACH * NARROWER.powi(narrower as i32);
        let off = off(votes, free, spread);
        if off < best.0 {
            best = (off, spread);
        }
    }
    best.1
}

/// Moves regular points by a step to either side where that is better: those of a direction
/// together, and all of them apart.
fn shift(free: &mut Vec<Vec<f64>>, votes: &[Vote], spread: f64, step: f64) {
    let mut least = off(votes, free, spread);
    for way in 0..=free.len() {
        for by in [step, -step] {
            let mut tried = free.clone();
            match tried.get_mut(way) {
                Some(list) => list.iter_mut().for_each(|place| *place += by),
                None => {
                    let all = tried.iter_mut().flatten();
                    all.for_each(|place| *place += 2.0 * by * (*place - 0.5));
                }
            }
            let off = off(votes, &tried, spread);
            if off < least {
                (*free, least) = (tried, off);
                break;
            }
        }
    }
}
