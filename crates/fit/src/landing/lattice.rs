//! Regular landing points: found by their period in what distance alone does not explain.

use super::lists::total_loss;
use super::mechanics::{Mechanics, solve};
use super::moves::{Move, Moves};
use super::points::Points;
use crate::fitted::Structure;
use crate::robust::standard_error;

/// A lattice: cells for the length of the tape, and for each direction how far one point lies from
/// mid-tape in reading order, in cells.
#[derive(Clone, Copy, Debug)]
struct Lattice {
    cells: f64,
    phases: [f64; 2],
}

const FEWEST_CELLS: f64 = 1.5;
const MOST_CELLS: f64 = 260.0;
/// Steps of the scan: a quarter of a cell puts points an eighth of a cell off at either end.
const STEP_CELLS: f64 = 0.25;
const PHASES: usize = 12;
/// Periods that are followed up.
const FOLLOWED: usize = 4;
/// How far a period or a phase is from whole, in cells, where it is tried as whole.
const NEARLY: f64 = 0.15;
/// Kinds of move with a constant of their own.
const KINDS: usize = 12;

impl Lattice {
    /// Where it nearly divides the tape evenly from end to end: one number instead of three.
    fn whole(&self) -> Option<Lattice> {
        let cells = self.cells.round();
        let half = 0.5 * (cells % 2.0);
        let near = |phase: &f64| ((phase - half) - (phase - half).round()).abs() < NEARLY;
        let whole = (cells - self.cells).abs() < NEARLY && self.phases.iter().all(near);
        whole.then_some(Lattice {
            cells,
            phases: [half; 2],
        })
    }

    fn points(&self, parameters: usize) -> Points {
        let lists = self.phases.map(|phase| {
            let first = (-0.5 * self.cells - phase).ceil() as i64;
            let last = (0.5 * self.cells - phase).floor() as i64;
            (first..=last)
                .map(|number| 0.5 + (number as f64 + phase) / self.cells)
                .filter(|&place| place > 0.0 && place < 1.0)
                .collect()
        });
        Points {
            parameters,
            ..Points::new(Structure::Lattice, lists.into())
        }
    }
}

/// What one move tells of landing points.
struct Clue {
    order: f64,
    kind: usize,
    /// Seconds that a whole length of reading instead of travel would take.
    gain_s: f64,
    /// What travel alone does not explain.
    unexplained_s: f64,
}

fn clues(moves: &Moves, mechanics: &Mechanics, forward: bool) -> Vec<Clue> {
    let points = Points::anywhere();
    let errors: Vec<f64> = moves
        .all
        .iter()
        .map(|each| mechanics.weighed_error_s(each, &points))
        .collect();
    let most = 3.0 * standard_error(&errors);
    let [read_s, travel_s] = mechanics.paces_s();
    let clue = |(each, error): (&Move, &f64)| {
        let behind = if forward {
            each.to < each.from
        } else {
            each.to > each.from
        };
        let gain_s = if behind {
            read_s + travel_s
        } else {
            (read_s - travel_s).max(0.0)
        };
        Clue {
            order: each.in_reading_order(),
            kind: usize::from(behind)
                + 2 * usize::from(each.turns)
                + 4 * usize::from(each.same_wrap),
            gain_s: gain_s / each.noise,
            unexplained_s: (-error).clamp(-most, most),
        }
    };
    let all = moves.all.iter().zip(&errors);
    all.filter(|(each, _)| each.forward == forward)
        .map(clue)
        .collect()
}

/// The share of what is unexplained that a lattice explains, and its best phase.
fn explained(clues: &[Clue], cells: f64) -> (f64, f64) {
    let mut best = (0.0, 0.0);
    for phase in 0..PHASES {
        let phase = phase as f64 / PHASES as f64;
        let saw = |clue: &Clue| {
            let turns = (clue.order - 0.5) * cells - phase;
            (turns - turns.floor()) * clue.gain_s
        };
        let mut sums = [(0.0, 0.0, 0.0); KINDS];
        let (mut product, mut square) = (0.0, 0.0);
        for clue in clues {
            let (value, sum) = (saw(clue), &mut sums[clue.kind]);
            sum.0 += 1.0;
            sum.1 += value;
            sum.2 += clue.unexplained_s;
            product += value * clue.unexplained_s;
            square += value * value;
        }
        // Less what the constants of the kinds explain.
        for (count, values, unexplained) in sums.into_iter().filter(|sum| sum.0 > 0.0) {
            product -= values * unexplained / count;
            square -= values * values / count;
        }
        let gain = if product > 0.0 && square > 0.0 {
            product * product / square
        } else {
            0.0
        };
        if gain > best.0 {
            best = (gain, phase);
        }
    }
    best
}

/// The most promising lattices, each fitted: its points and the mechanics that go with them.
pub(super) fn candidates(moves: &Moves, anywhere: &Mechanics) -> Vec<(Points, Mechanics)> {
    let clues = [true, false].map(|forward| clues(moves, anywhere, forward));
    let steps = ((MOST_CELLS - FEWEST_CELLS) / STEP_CELLS) as usize;
    let mut found: Vec<(f64, Lattice)> = (0..=steps)
        .map(|step| {
            let cells = FEWEST_CELLS + step as f64 * STEP_CELLS;
            let [forward, reverse] = [&clues[0], &clues[1]].map(|of| explained(of, cells));
            let phases = [forward.1, reverse.1];
            (forward.0 + reverse.0, Lattice { cells, phases })
        })
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut followed: Vec<Lattice> = Vec::new();
    for (_, lattice) in found {
        let known = |other: &Lattice| (other.cells - lattice.cells).abs() < 2.0 * STEP_CELLS;
        if followed.len() < FOLLOWED && !followed.iter().any(known) {
            followed.push(lattice);
        }
    }
    let each = followed.into_iter().flat_map(|lattice| {
        let (lattice, mechanics) = follow_up(moves, anywhere, lattice);
        [
            Some((lattice.points(3), mechanics.clone())),
            lattice.whole().map(|whole| (whole.points(1), mechanics)),
        ]
    });
    each.flatten().collect()
}

/// Moves period and phases to where errors are least.
fn follow_up(moves: &Moves, anywhere: &Mechanics, lattice: Lattice) -> (Lattice, Mechanics) {
    let mut lattice = lattice;
    let mut mechanics = anywhere.clone();
    let (mut cells_step, mut phase_step) = (STEP_CELLS / 2.0, 0.5 / PHASES as f64);
    for _ in 0..6 {
        let points = lattice.points(3);
        mechanics = solve(moves, &points, &mechanics).mechanics;
        let errors: Vec<f64> = moves
            .all
            .iter()
            .map(|each| mechanics.weighed_error_s(each, &points))
            .collect();
        let scale = standard_error(&errors);
        let mut least = total_loss(moves, &points, &mechanics, scale);
        for _ in 0..3 {
            let before = least;
            let steps = [
                [cells_step, 0.0, 0.0],
                [0.0, phase_step, 0.0],
                [0.0, 0.0, phase_step],
            ];
            for (step, sign) in steps
                .into_iter()
                .flat_map(|step| [(step, 1.0), (step, -1.0)])
            {
                let tried = Lattice {
                    cells: lattice.cells + sign * step[0],
                    phases: [0, 1].map(|of| lattice.phases[of] + sign * step[1 + of]),
                };
                let loss = total_loss(moves, &tried.points(3), &mechanics, scale);
                if loss < least {
                    (lattice, least) = (tried, loss);
                }
            }
            if least == before {
                break;
            }
        }
        cells_step /= 2.0;
        phase_step /= 2.0;
    }
    (lattice, mechanics)
}
