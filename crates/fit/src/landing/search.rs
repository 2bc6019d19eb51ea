//! The search for the structure of a drive: landing points and mechanics take turns.

use super::lists::Costs;
use super::mechanics::{Mechanics, Solved, solve};
use super::moves::Moves;
use super::points::Points;
use super::settle::settled;
use super::{lattice, lists};
use crate::fitted::Structure;
use crate::robust::standard_error;

/// What was found.
pub(super) struct Found {
    pub points: Points,
    pub mechanics: Mechanics,
}

impl Found {
    /// The records with the noise that what was found leaves, where it grows with time.
    pub fn weigh(&self, moves: &Moves) -> Option<Moves> {
        let all = moves.all.iter();
        let expected: Vec<f64> = all
            .map(|each| self.mechanics.expected_s(each, &self.points))
            .collect();
        let pairs = moves.all.iter().zip(&expected);
        let errors: Vec<f64> = pairs
            .map(|(each, expected)| expected - each.time_s)
            .collect();
        moves.with_noise(&expected, &errors)
    }
}

/// A structure with everything fitted.
#[derive(Clone)]
struct Fit {
    points: Points,
    solved: Solved,
    /// Deviance with a price for every number chosen: the less the better.
    price: f64,
}

/// What a landing point must be worth, in units of ln(n): besides its place there is the choice of
/// having it.
const POINT: f64 = 2.0;
/// Rounds in which points and mechanics take turns.
const TURNS: usize = 8;
/// What constants hold of reading up on the average, before landing points are known, in parts of
/// the standard error of a model without them.
const HELD: [f64; 6] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0];

/// Finds the structure with the least price.
pub(super) fn search(moves: &Moves) -> Found {
    let anywhere = without_landing_points(moves);
    let lattices = lattice::candidates(moves, &anywhere.solved.mechanics).into_iter();
    let lattices = lattices.map(|(points, mechanics)| with_bends(moves, points, &mechanics));
    let regular = lattices.fold(anywhere.clone(), cheaper);
    let lists = [
        Structure::SharedPlaces,
        Structure::SharedReadingOrder,
        Structure::EachDirection,
    ];
    let starts = Start::all(moves, &anywhere, &regular);
    let lists = lists.map(|structure| listed(moves, structure, &anywhere, &starts));
    let found = lists.into_iter().fold(regular, cheaper);
    Found {
        points: found.points,
        mechanics: found.solved.mechanics,
    }
}

/// Fits what was found with some of the records to all of them.
pub(super) fn finish(moves: &Moves, found: Found) -> (Points, Solved) {
    let solved = solve(moves, &found.points, &found.mechanics);
    let width = spread(moves, &found.points, &solved.mechanics);
    let points = match found.points.structure {
        Structure::Lattice => found.points,
        _ => lists::refine(moves, found.points, &solved.mechanics, width),
    };
    let points = settled(moves, points, &solved.mechanics, width);
    let solved = solve(moves, &points, &solved.mechanics);
    (points, solved)
}

/// Whichever has the lower price, the first where they have the same.
fn cheaper(first: Fit, second: Fit) -> Fit {
    if second.price < first.price {
        second
    } else {
        first
    }
}

fn priced(moves: &Moves, points: Points, solved: Solved) -> Fit {
    let n = moves.all.len() as f64;
    let numbers = solved.mechanics.count() as f64 + POINT * points.parameters as f64;
    Fit {
        price: n * solved.trimmed.max(1e-6).ln() + numbers * n.ln(),
        points,
        solved,
    }
}

/// Distances, in parts of the tape, up to which travel may be slower.
const BENDS: [f64; 7] = [
    1.0 / 256.0,
    1.0 / 128.0,
    1.0 / 64.0,
    1.0 / 32.0,
    1.0 / 16.0,
    1.0 / 8.0,
    1.0 / 4.0,
];

/// Fits the mechanics with no, one or two bends of travel, whichever has the least price.
fn with_bends(moves: &Moves, points: Points, start: &Mechanics) -> Fit {
    let fit = |bends: &[f64], start: &Mechanics| {
        priced(
            moves,
            points.clone(),
            solve(moves, &points, &start.with_bends(bends)),
        )
    };
    let mut best = fit(&[], start);
    for _ in 0..2 {
        let now = best.solved.mechanics.clone();
        let tried = BENDS
            .iter()
            .filter(|bend| !now.bends.contains(bend))
            .map(|&bend| {
                let mut bends = now.bends.clone();
                bends.push(bend);
                bends.sort_by(f64::total_cmp);
                fit(&bends, &now)
            });
        match tried.min_by(|a, b| a.price.total_cmp(&b.price)) {
            Some(bent) if bent.price < best.price => best = bent,
            _ => break,
        }
    }
    best
}

fn without_landing_points(moves: &Moves) -> Fit {
    let points = Points::anywhere();
    with_bends(moves, points, &Mechanics::ordinary(moves, Vec::new()))
}

fn spread(moves: &Moves, points: &Points, mechanics: &Mechanics) -> f64 {
    let errors: Vec<f64> = moves
        .all
        .iter()
        .map(|each| mechanics.weighed_error_s(each, points))
        .collect();
    standard_error(&errors)
}

/// Mechanics that lists of landing points are looked for with.
struct Start {
    mechanics: Mechanics,
    costs: Costs,
}

impl Start {
    fn new(moves: &Moves, mechanics: Mechanics, width: f64) -> Start {
        let costs = Costs::of(moves, &mechanics, width);
        Start { mechanics, costs }
    }

    /// What the model without landing points leaves, with several sizes of constants; and by itself
    /// the best so far, where it has landing points.
    fn all(moves: &Moves, anywhere: &Fit, regular: &Fit) -> (Vec<Start>, Option<Start>) {
        let plain = &anywhere.solved.mechanics;
        let width = spread(moves, &anywhere.points, plain);
        let held = HELD.map(|held| Start::new(moves, plain.cheaper(held * width), width));
        let known = (regular.points.structure != Structure::Anywhere).then(|| {
            let mechanics = regular.solved.mechanics.clone();
            let width = spread(moves, &regular.points, &mechanics);
            Start::new(moves, mechanics, width)
        });
        (held.into(), known)
    }
}

/// Lists of landing points: from the most promising start, and from the best so far; none where they
/// are not worth their price.
fn listed(
    moves: &Moves,
    structure: Structure,
    anywhere: &Fit,
    (held, known): &(Vec<Start>, Option<Start>),
) -> Fit {
    let price = POINT * (moves.all.len() as f64).ln();
    let best = |start: &'_ Start| start.costs.best(structure, price);
    let first = held.iter().map(|start| (best(start), start));
    let first = first.min_by(|a, b| a.0.1.total_cmp(&b.0.1));
    let first = first.map(|((points, _), start)| (points, start));
    let known = known.iter().map(|start| (best(start).0, start));
    first
        .into_iter()
        .chain(known)
        .map(|(points, start)| taking_turns(moves, points, &start.mechanics))
        .fold(anywhere.clone(), cheaper)
}

fn taking_turns(moves: &Moves, points: Points, start: &Mechanics) -> Fit {
    let price = POINT * (moves.all.len() as f64).ln();
    let structure = points.structure;
    let mut fit = priced(moves, points.clone(), solve(moves, &points, start));
    for _ in 0..TURNS {
        let mechanics = &fit.solved.mechanics;
        let width = spread(moves, &fit.points, mechanics);
        let (points, _) = Costs::of(moves, mechanics, width).best(structure, price);
        let next = priced(moves, points.clone(), solve(moves, &points, mechanics));
        if next.price >= fit.price - 1.0 {
            break;
        }
        fit = next;
    }
    let mechanics = &fit.solved.mechanics;
    let width = spread(moves, &fit.points, mechanics);
    let points = lists::refine(moves, fit.points.clone(), mechanics, width);
    let bent = with_bends(moves, points, mechanics);
    if bent.price < fit.price { bent } else { fit }
}
