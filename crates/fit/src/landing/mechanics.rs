//! All of the model but the landing points: linear in its coefficients, which are fitted robustly.

use super::moves::{Move, Moves};
use super::points::Points;
use crate::normal::System;
use crate::robust::{GIVEN_UP, standard_error};
use tapewise_model::band_pairs;
use tapewise_model::locate::LandingCoefficients;

/// Columns of the linear model; pairs of bands and bends of travel follow.
const SAME_WRAP: usize = 0;
const OTHER_WRAP: usize = 2;
const MID_CROSS: usize = 6;
const OUTSIDE: usize = 7;
const TRAVEL: usize = 8;
const READ: usize = 9;
const READ_ON: usize = 10;
const WRAP_START: usize = 11;
const PAIRS: usize = 13;

/// A coefficient vector: constants in seconds, paces in seconds for the length of the tape.
#[derive(Clone, Debug)]
pub(super) struct Mechanics {
    values: Vec<f64>,
    /// Distances up to which travel is slower, in lengths of the tape, the shortest first.
    pub bends: Vec<f64>,
    pairs: usize,
    read_s: f64,
}

/// Most terms of a locate.
const TERMS: usize = 12;

impl Mechanics {
    /// What a drive of no particular kind does, to begin with.
    pub fn ordinary(moves: &Moves, bends: Vec<f64>) -> Mechanics {
        let pairs = band_pairs(moves.geometry.bands);
        let mut mean: Vec<f64> = moves.all.iter().map(|each| each.time_s).collect();
        mean.sort_by(f64::total_cmp);
        let typical = mean.get(mean.len() / 2).copied().unwrap_or(0.0);
        let mut values = vec![0.0; PAIRS + pairs + bends.len()];
        values[..MID_CROSS].fill(typical * 0.3);
        values[TRAVEL] = typical * 1.5;
        let read_s = moves.read_s.unwrap_or(typical * 2.5);
        values[READ] = read_s;
        values[READ_ON] = typical * 0.05;
        Mechanics {
            values,
            bends,
            pairs,
            read_s,
        }
    }

    /// The same with other bends, which are fitted anew.
    pub fn with_bends(&self, bends: &[f64]) -> Mechanics {
        let mut values = self.values[..PAIRS + self.pairs].to_vec();
        values.resize(values.len() + bends.len(), 0.0);
        Mechanics {
            values,
            bends: bends.to_vec(),
            ..self.clone()
        }
    }

    /// The same with all constants of locates less by so many seconds.
    pub fn cheaper(&self, seconds: f64) -> Mechanics {
        let mut less = self.clone();
        for value in &mut less.values[..MID_CROSS] {
            *value = (*value - seconds).max(0.0);
        }
        less
    }

    /// Seconds to read the length of the tape, and to travel it at full speed.
    pub fn paces_s(&self) -> [f64; 2] {
        [self.values[READ], self.values[TRAVEL]]
    }

    /// The number of coefficients.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// The kind of a locate that lands at `landing`: the column of its constant.
    fn kind(each: &Move, landing: f64) -> usize {
        let ahead = landing - each.from;
        let behind = usize::from(if each.forward {
            ahead < 0.0
        } else {
            ahead > 0.0
        });
        if each.same_wrap {
            SAME_WRAP + behind
        } else {
            OTHER_WRAP + 2 * usize::from(each.turns) + behind
        }
    }

    /// Gives the columns, and their values, of a locate that lands at `landing`, the wrap's
    /// beginning or not.
    #[inline(always)]
    fn terms(&self, each: &Move, landing: f64, at_start: bool, mut put: impl FnMut(usize, f64)) {
        put(Self::kind(each, landing), 1.0);
        if (each.from >= 0.5) != (landing >= 0.5) {
            put(MID_CROSS, 1.0);
            put(OUTSIDE, -(each.from - 0.5).abs());
        }
        let distance = (landing - each.from).abs();
        put(TRAVEL, distance);
        let along = each.to - landing;
        put(READ, if each.forward { along } else { -along }.max(0.0));
        if at_start {
            put(WRAP_START + usize::from(!each.forward), 1.0);
        }
        if let Some(pair) = each.pair {
            put(PAIRS + pair, 1.0);
        }
        for (bend, &reach) in self.bends.iter().enumerate() {
            put(PAIRS + self.pairs + bend, distance.min(reach));
        }
    }

    /// Seconds of a locate that lands at `landing`.
    pub fn locate_s(&self, each: &Move, landing: f64, at_start: bool) -> f64 {
        let mut seconds = 0.0;
        self.terms(each, landing, at_start, |column, value| {
            seconds += self.values[column] * value;
        });
        seconds
    }

    /// Seconds of reading on, where that is possible.
    fn read_on_s(&self, each: &Move) -> f64 {
        each.onward.map_or(f64::INFINITY, |ahead| {
            self.values[READ_ON] + self.values[READ] * ahead
        })
    }

    /// The quicker of the two.
    pub fn predicted_s(&self, each: &Move, landing: f64, at_start: bool) -> f64 {
        self.locate_s(each, landing, at_start)
            .min(self.read_on_s(each))
    }

    /// The prediction for landing points in force.
    pub fn expected_s(&self, each: &Move, points: &Points) -> f64 {
        let (landing, at_start) = points.serving(each);
        self.predicted_s(each, landing, at_start)
    }

    /// The prediction less the truth, in parts of the move's noise.
    pub fn weighed_error_s(&self, each: &Move, points: &Points) -> f64 {
        (self.expected_s(each, points) - each.time_s) / each.noise
    }

    /// In the form of the model, whose checks it passes.
    pub fn coefficients(
        &self,
        moves: &Moves,
        points: &Points,
        residual_s: f64,
    ) -> LandingCoefficients {
        let values = &self.values;
        let length = f64::from(moves.geometry.wrap_lpos());
        let (mut travel_s, mut travel) = (Vec::new(), Vec::new());
        // From the shortest moves on: each bend that is passed is a startup from there on.
        for passed in 0..=self.bends.len() {
            let bends = &values[PAIRS + self.pairs..];
            let startup: f64 = std::iter::zip(bends, &self.bends)
                .take(passed)
                .map(|(c, k)| c * k)
                .sum();
            let pace = values[TRAVEL] + bends[passed..].iter().sum::<f64>();
            if travel.last() != Some(&(pace / length)) {
                travel_s.push(micros(startup));
                travel.push(pace / length);
            }
        }
        let lpos = |list: &[f64]| {
            let low = f64::from(moves.geometry.lpos_min);
            list.iter()
                .map(|&place| (low + place * length).round().max(0.0) as u32)
                .collect()
        };
        let least = values[..MID_CROSS]
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        let halves = values[MID_CROSS].abs() + 0.5 * values[OUTSIDE] > HALVES_FELT_S;
        let quickest = travel.iter().copied().fold(f64::INFINITY, f64::min);
        LandingCoefficients {
            same_wrap_s: [0, 1].map(|kind| micros(values[SAME_WRAP + kind])),
            other_wrap_s: [0, 1, 2, 3].map(|kind| micros(values[OTHER_WRAP + kind])),
            band_change_s: values[PAIRS..][..self.pairs]
                .iter()
                .map(|&s| micros(s))
                .collect(),
            mid_cross_s: if halves {
                micros(values[MID_CROSS].max(-least))
            } else {
                0.0
            },
            outside_saves_per_lpos_s: if halves {
                (values[OUTSIDE] / length).min(quickest)
            } else {
                0.0
            },
            travel_s,
            travel_per_lpos_s: travel,
            read_on_s: micros(values[READ_ON]),
            read_per_lpos_s: values[READ] / length,
            wrap_start_s: [0, 1].map(|kind| micros(values[WRAP_START + kind])),
            forward_lpos: lpos(&points.forward),
            reverse_lpos: lpos(&points.reverse),
            landing_spread_lpos: (points.spread * length).round() as u32,
            residual_s: Some(micros(residual_s)),
        }
    }
}

/// What crossing the middle must come to, to be kept: an order looks at twice as much where the
/// halves of the tape differ.
const HALVES_FELT_S: f64 = 0.1;

/// Seconds to whole microseconds, so that a profile states what the model computes with; no minus
/// in front of zero.
fn micros(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6 + 0.0
}

/// A robust fit with landing points in force.
#[derive(Clone, Debug)]
pub(super) struct Solved {
    pub mechanics: Mechanics,
    /// Of the records that are no outliers.
    pub residual_s: f64,
    /// Mean square error of the nearest 95 %, in parts of noise.
    pub trimmed: f64,
    pub outliers: usize,
    pub support: [usize; 7],
}

/// Rounds of reweighting; each also lets moves go over from locating to reading on, and back.
const ROUNDS: usize = 12;
/// How far a coefficient may lie from what is expected of it where no record tells: constants by
/// as much as themselves, paces by their half. A record outweighs it.
const TRUST: f64 = 0.5;

/// Fits all coefficients for given landing points, beginning with `start`.
pub(super) fn solve(moves: &Moves, points: &Points, start: &Mechanics) -> Solved {
    let mut mechanics = start.clone();
    let mut errors: Vec<f64> = errors(moves, points, &mechanics);
    for _ in 0..ROUNDS {
        let scale = standard_error(&errors);
        let mut system = System::new(mechanics.count());
        for (each, error) in moves.all.iter().zip(&errors) {
            let ratio = error / (GIVEN_UP * scale);
            let weight = ((1.0 - ratio * ratio).max(0.0) / each.noise).powi(2);
            if weight > 0.0 {
                mechanics.enter(each, points, weight, &mut system);
            }
        }
        mechanics.expect(scale, &mut system);
        let values = least_in_form(&mut system);
        let moved = std::iter::zip(&values, &mechanics.values).map(|(a, b)| (a - b).abs());
        let moved = moved.fold(0.0, f64::max);
        mechanics.values = values;
        errors = self::errors(moves, points, &mechanics);
        if moved < 1e-4 {
            break;
        }
    }
    mechanics.judge(moves, points, &errors)
}

fn errors(moves: &Moves, points: &Points, mechanics: &Mechanics) -> Vec<f64> {
    let all = moves.all.iter();
    all.map(|each| mechanics.weighed_error_s(each, points))
        .collect()
}

impl Mechanics {
    fn enter(&self, each: &Move, points: &Points, weight: f64, system: &mut System) {
        let (landing, at_start) = points.serving(each);
        if self.read_on_s(each) < self.locate_s(each, landing, at_start) {
            let ahead = each.onward.unwrap_or(0.0);
            system.add(&[(READ_ON, 1.0), (READ, ahead)], each.time_s, weight);
        } else {
            let mut row = [(0, 0.0); TERMS];
            let mut used = 0;
            self.terms(each, landing, at_start, |column, value| {
                row[used] = (column, value);
                used += 1;
            });
            system.add(&row[..used], each.time_s, weight);
        }
    }

    /// Adds what is expected of coefficients that records may not tell: constants of rare moves are
    /// those of common ones, and reading is as quick as the profile says.
    fn expect(&self, scale: f64, system: &mut System) {
        let common: f64 = self.values[OTHER_WRAP..MID_CROSS].iter().sum::<f64>() / 4.0;
        let loosely = |expected: f64| (scale / (TRUST * expected).max(1.0)).powi(2);
        for column in 0..MID_CROSS {
            system.add(&[(column, 1.0)], common, loosely(common));
        }
        for column in [MID_CROSS, READ_ON, WRAP_START, WRAP_START + 1] {
            system.add(&[(column, 1.0)], 0.0, loosely(2.0));
        }
        for column in PAIRS..self.values.len() {
            system.add(&[(column, 1.0)], 0.0, (scale / 1e3).powi(2));
        }
        system.add(
            &[(READ, 1.0)],
            self.read_s,
            (scale / (0.5 * self.read_s)).powi(2),
        );
        system.add(&[(OUTSIDE, 1.0)], 0.0, (scale / self.read_s).powi(2));
        system.add(
            &[(TRAVEL, 1.0)],
            0.6 * self.read_s,
            (scale / self.read_s).powi(2),
        );
    }

    fn judge(self, moves: &Moves, points: &Points, errors: &[f64]) -> Solved {
        let scale = standard_error(errors);
        let mut support = [0; 7];
        for each in &moves.all {
            let (landing, at_start) = points.serving(each);
            let reads_on = self.read_on_s(each) < self.locate_s(each, landing, at_start);
            let kind = if reads_on {
                6
            } else {
                Self::kind(each, landing)
            };
            support[kind] += 1;
        }
        let mut squares: Vec<f64> = errors.iter().map(|error| error * error).collect();
        let far = (GIVEN_UP * scale).powi(2);
        let near = moves
            .all
            .iter()
            .zip(&squares)
            .filter(|(_, square)| **square < far);
        let in_seconds: Vec<f64> = near
            .map(|(each, square)| square * each.noise.powi(2))
            .collect();
        squares.sort_by(f64::total_cmp);
        let kept = (squares.len() * 19 / 20).max(1).min(squares.len());
        let mean = |squares: &[f64]| squares.iter().sum::<f64>() / squares.len().max(1) as f64;
        Solved {
            residual_s: mean(&in_seconds).sqrt(),
            trimmed: mean(&squares[..kept]),
            outliers: squares.len() - in_seconds.len(),
            support,
            mechanics: self,
        }
    }
}

/// What a bound weighs, in parts of all records: so much that seconds hold to microseconds.
const BOUND: f64 = 1e3;

/// The least squares that the model can take: no move across the middle is saved more than its constant and its travel
/// come to. Where a bound is passed, it holds as an equation.
fn least_in_form(system: &mut System) -> Vec<f64> {
    let values = system.least(&[MID_CROSS]);
    let least = (0..MID_CROSS).min_by(|&a, &b| values[a].total_cmp(&values[b]));
    let least = least.unwrap_or(SAME_WRAP);
    let heavy = BOUND * system.trace();
    let crossing = values[MID_CROSS] + values[least] < 0.0;
    let travel = values[OUTSIDE] > values[TRAVEL];
    if crossing {
        system.add(&[(MID_CROSS, 1.0), (least, 1.0)], 0.0, heavy);
    }
    if travel {
        system.add(&[(OUTSIDE, 1.0), (TRAVEL, -1.0)], 0.0, heavy);
    }
    if crossing || travel {
        system.least(&[MID_CROSS])
    } else {
        values
    }
}
