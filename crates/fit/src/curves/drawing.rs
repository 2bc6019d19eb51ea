//! Curves of one shape, drawn through the records: robust least squares, in which every record decides anew which branch
//! it is on, and travel and pace take turns.

use super::moves::{Move, Moves};
use super::shape::{KINDS, PAIRS, PARTS, READ, READ_ON, Shape, Steps, doubling, end, part};
use crate::fitted::Landed;
use crate::normal::System;
use crate::robust::{GIVEN_UP, standard_error};

/// Curves with all their coefficients: seconds, and seconds for the length of the tape.
#[derive(Clone, Debug)]
pub(super) struct Drawing {
    pub shape: Shape,
    pub values: Vec<f64>,
    /// By stretch of the tape: the time for its way, one on the average.
    pub pace: Vec<f64>,
    /// Where the columns of travel and of steps begin.
    pub travel: usize,
    pub stepping: usize,
}

/// Which branch a record is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Branch {
    ReadsOn,
    Winds,
    /// The head takes longer to step than the tape to wind.
    Steps,
}

/// A drawing, and how well it meets the records.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    pub drawing: Drawing,
    /// Of the records that are no outliers.
    pub residual_s: f64,
    /// Of the nearest 95 %.
    pub trimmed_s: f64,
    /// Deviance with a price for every number: the less the better.
    pub price: f64,
    pub outliers: usize,
}

/// A constant of a drawing.
#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub name: String,
    pub seconds: f64,
    pub std_error: f64,
    pub records: usize,
}

/// Seconds that a bend of travel is expected to make at most.
const BEND_S: f64 = 30.0;
/// How much the pace of neighbouring stretches is expected to differ.
const UNEVEN: f64 = 0.3;
/// The slowest stretch is at most this many times slower than the fastest.
pub(super) const SLOWEST: f64 = 20.0;

impl Drawing {
    /// A drive of no particular kind, to begin with.
    pub fn ordinary(moves: &Moves) -> Drawing {
        let shape = Shape::plain();
        let typical = moves.median_s();
        let mut values = vec![0.0; shape.columns(moves)];
        values[..KINDS].fill(0.3 * typical);
        values[READ] = moves.read_s;
        values[READ_ON] = 0.05 * typical;
        let travel = shape.travel(moves);
        values[travel] = 1.5 * typical;
        Drawing {
            travel,
            stepping: shape.stepping(moves),
            pace: vec![1.0],
            values,
            shape,
        }
    }

    /// The same curves in another shape, which has what this one has: what is new begins at nothing, or at what it is now.
    pub fn reshaped(&self, shape: Shape, moves: &Moves) -> Drawing {
        let travel = shape.travel(moves);
        let stepping = shape.stepping(moves);
        let mut values = self.values[..self.stepping].to_vec();
        if shape.each_way && !self.shape.each_way {
            values.extend_from_within(travel..);
        }
        if shape.steps == self.shape.steps {
            values.extend_from_slice(&self.values[self.stepping..]);
        }
        values.resize(shape.columns(moves), 0.0);
        let stretch = |at: usize| self.pace[at * self.pace.len() / shape.stretches];
        let pace = (0..shape.stretches).map(stretch).collect();
        Drawing {
            shape,
            values,
            pace,
            travel,
            stepping,
        }
    }

    /// The same with steps that take so much over all wraps, and as much for each of them.
    pub fn stepping_at(mut self, all_s: f64, wraps: u16) -> Drawing {
        let each_s = all_s / f64::from(wraps.max(1));
        self.values[PAIRS..self.travel].fill(0.0);
        self.values[self.stepping] = each_s;
        for (at, value) in self.values[self.stepping + 1..].iter_mut().enumerate() {
            *value = each_s * (1u32 << at) as f64;
        }
        self
    }

    /// The same with steps that take so much over all bands, and as much for each pair of them.
    pub fn changing_bands_at(mut self, all_s: f64, bands: u16) -> Drawing {
        self.values[PAIRS..self.travel].fill(all_s / f64::from(bands.max(1)));
        self
    }

    /// The way over each stretch of the tape.
    fn over_stretches(&self, each: &Move, mut put: impl FnMut(usize, f64)) {
        let count = self.pace.len() as f64;
        let mut wind = |a: f64, b: f64| {
            let (low, high) = (
                a.min(b).clamp(0.0, 1.0) * count,
                a.max(b).clamp(0.0, 1.0) * count,
            );
            for stretch in low as usize..=(high as usize).min(self.pace.len() - 1) {
                let at = stretch as f64;
                put(stretch, (high.min(at + 1.0) - low.max(at)).max(0.0) / count);
            }
        };
        let (start, before) = self.shape.start(each);
        wind(start, each.to);
        if let Some(from) = before {
            wind(from, start);
        }
    }

    fn way(&self, each: &Move) -> f64 {
        let mut way = 0.0;
        self.over_stretches(each, |stretch, over| way += self.pace[stretch] * over);
        way
    }

    /// Seconds to wind a distance, away from the beginning of tape.
    pub fn wound_s(&self, distance: f64) -> f64 {
        (0..PARTS)
            .map(|at| self.values[self.travel + at] * part(at, distance))
            .sum()
    }

    /// How much a move takes longer if the way to and from the station does by as much at either end of it: per length of
    /// the tape, the way itself and its pace as they are.
    fn by_station(&self, each: &Move) -> f64 {
        let (station, Some(from)) = self.shape.start(each) else {
            return 0.0;
        };
        if self.expected(each).0 != Branch::Winds {
            return 0.0;
        }
        let (curve, way) = (self.curve(each), self.way(each));
        self.slope(curve, way) * ((station - from).signum() + (station - each.to).signum())
    }

    /// Moves the station to where errors are least.
    fn shift_station(&mut self, moves: &Moves, errors: &[f64], weights: &[f64]) {
        let mut sums = [0.0; 2];
        for ((each, error), weight) in moves.all.iter().zip(errors).zip(weights) {
            let gain = self.by_station(each);
            sums = [
                sums[0] + weight * gain * error,
                sums[1] + weight * gain * gain,
            ];
        }
        if let Some(sides) = self.shape.sides.as_mut().filter(|_| sums[1] > 0.0) {
            sides.station = (sides.station - sums[0] / sums[1]).clamp(0.0, 1.0);
        }
    }

    /// Seconds for the length of the tape that a curve rises by at a way.
    fn slope(&self, curve: usize, way: f64) -> f64 {
        (0..PARTS)
            .filter(|&at| end(at) > way)
            .map(|at| self.values[curve + at])
            .sum()
    }

    /// Whether the destination is nearer to the end of tape than the head, and whether the head has to go back against the
    /// reading direction.
    fn away_and_behind(&self, each: &Move) -> (bool, bool) {
        let up = each.to - self.shape.start(each).0;
        let away = if each.forward { up >= 0.0 } else { up > 0.0 };
        (away, away != each.forward)
    }

    /// The column of a locate's constant.
    pub fn kind(&self, each: &Move) -> usize {
        let behind = usize::from(self.away_and_behind(each).1);
        if each.stepped() == 0 {
            behind
        } else {
            2 + 2 * usize::from(each.turns) + behind
        }
    }

    /// The first column of the curve that a move travels by.
    fn curve(&self, each: &Move) -> usize {
        let towards = self.shape.each_way && !self.away_and_behind(each).0;
        self.travel + if towards { PARTS } else { 0 }
    }

    fn travel_terms(&self, each: &Move, way: f64, mut put: impl FnMut(usize, f64)) {
        let curve = self.curve(each);
        (0..PARTS).for_each(|at| put(curve + at, part(at, way)));
    }

    fn step_terms(&self, each: &Move, mut put: impl FnMut(usize, f64)) {
        if each.stepped() == 0 || self.shape.steps == Steps::Even {
            return;
        }
        if self.shape.steps == Steps::Beside {
            put(self.stepping, 1.0);
            each.pair.iter().for_each(|pair| put(PAIRS + pair, 1.0));
        }
        for at in 0..self.values.len() - self.stepping - 1 {
            put(self.stepping + 1 + at, doubling(at, each.stepped()));
        }
    }

    /// The columns of what depends on neither winding nor stepping. If the head steps while the tape runs, a change of
    /// band is a step.
    fn fixed(&self, each: &Move) -> impl Iterator<Item = usize> {
        let apart = self.shape.steps != Steps::Beside;
        let pair = each.pair.filter(|_| apart).map(|pair| PAIRS + pair);
        std::iter::once(self.kind(each)).chain(pair)
    }

    /// Seconds of what depends on neither winding nor stepping.
    pub fn fixed_s(&self, each: &Move) -> f64 {
        self.fixed(each).map(|column| self.values[column]).sum()
    }

    /// Seconds to wind, to step, and of what does not depend on either.
    fn seconds(&self, each: &Move) -> [f64; 3] {
        let [mut wind, mut step] = [0.0; 2];
        self.travel_terms(each, self.way(each), |column, value| {
            wind += self.values[column] * value
        });
        self.step_terms(each, |column, value| step += self.values[column] * value);
        [wind, step, self.fixed_s(each)]
    }

    /// The branch of a record that is located, and its seconds.
    fn located(&self, each: &Move) -> (Branch, f64) {
        let [wind, step, fixed] = self.seconds(each);
        match self.shape.steps {
            Steps::Beside if step > wind => (Branch::Steps, fixed + step),
            Steps::Beside => (Branch::Winds, fixed + wind),
            _ => (Branch::Winds, fixed + wind + step),
        }
    }

    /// The branch of a record, and its seconds.
    pub fn expected(&self, each: &Move) -> (Branch, f64) {
        let located = self.located(each);
        let read_on = |ahead: f64| self.values[READ_ON] + self.values[READ] * ahead;
        let onward = each.onward.filter(|&ahead| ahead <= self.shape.reach);
        match onward.map(read_on) {
            Some(read_on) if read_on < located.1 => (Branch::ReadsOn, read_on),
            _ => located,
        }
    }

    /// Sets how far the drive reads on to where errors are least.
    fn set_reach(&mut self, moves: &Moves, scale: f64) {
        let most = (GIVEN_UP * scale).powi(2);
        let mut onward: Vec<(f64, f64)> = Vec::new();
        for (each, ahead) in moves
            .all
            .iter()
            .filter_map(|each| Some((each, each.onward?)))
        {
            let located = self.located(each).1;
            let read_on = (self.values[READ_ON] + self.values[READ] * ahead).min(located);
            let off = |seconds: f64| (seconds - each.time_s).powi(2).min(most);
            onward.push((ahead, off(read_on) - off(located)));
        }
        onward.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut sum, mut best) = (0.0, (0.0, self.shape.reach));
        for (at, &(ahead, more)) in onward.iter().enumerate() {
            sum += more;
            if sum < best.0 {
                let next = onward.get(at + 1).map_or(ahead, |next| next.0);
                best = (sum, (ahead + next) / 2.0);
            }
        }
        self.shape.reach = best.1;
    }

    pub fn errors(&self, moves: &Moves) -> Vec<f64> {
        moves
            .all
            .iter()
            .map(|each| self.expected(each).1 - each.time_s)
            .collect()
    }

    /// The terms of a record on its branch, with travel as it is.
    fn terms(&self, each: &Move) -> Vec<(usize, f64)> {
        let branch = self.expected(each).0;
        if branch == Branch::ReadsOn {
            return vec![(READ_ON, 1.0), (READ, each.onward.unwrap_or(0.0))];
        }
        let mut row: Vec<(usize, f64)> = self.fixed(each).map(|column| (column, 1.0)).collect();
        let mut put = |column, value| {
            if value != 0.0 {
                row.push((column, value));
            }
        };
        if branch == Branch::Winds {
            self.travel_terms(each, self.way(each), &mut put);
        }
        if branch == Branch::Steps || self.shape.steps == Steps::After {
            self.step_terms(each, &mut put);
        }
        row
    }

    /// Normal equations of all records at these weights, and what is expected of coefficients that records may not tell:
    /// constants of rare moves are those of common ones, and reading is as quick as the profile says.
    fn system(&self, moves: &Moves, weights: &[f64], scale: f64) -> System {
        let mut system = System::new(self.values.len());
        for (each, &weight) in moves.all.iter().zip(weights) {
            if weight > 0.0 {
                system.add(&self.terms(each), each.time_s, weight);
            }
        }
        let common = self.values[2..KINDS].iter().sum::<f64>() / 4.0;
        let loosely = |sure: f64| (scale / sure).powi(2);
        (0..KINDS).for_each(|column| {
            system.add(&[(column, 1.0)], common, loosely((0.5 * common).max(1.0)))
        });
        system.add(&[(READ, 1.0)], moves.read_s, loosely(0.5 * moves.read_s));
        system.add(&[(READ_ON, 1.0)], 0.0, loosely(2.0));
        for column in PAIRS..self.values.len() {
            let part = column
                .checked_sub(self.travel)
                .filter(|_| column < self.stepping);
            // Beyond the longest moves travel goes on as it came: what they do not tell of bends is that there are none.
            let sure = match part.map(|part| end(part % PARTS)) {
                Some(reach) if reach.is_finite() => BEND_S / reach,
                _ => 1e3,
            };
            system.add(&[(column, 1.0)], 0.0, loosely(sure));
        }
        system
    }

    /// The same with the pace of the stretches fitted, and the constants with it; travel stays, in a straight line from
    /// where it is.
    fn paced(&mut self, moves: &Moves, weights: &[f64], scale: f64) {
        let stretches = self.pace.len();
        let mut system = System::new(self.travel + stretches);
        for (each, &weight) in moves.all.iter().zip(weights) {
            let (branch, _) = self.expected(each);
            if weight == 0.0 || branch != Branch::Winds {
                continue;
            }
            let (curve, way) = (self.curve(each), self.way(each));
            let slope = self.slope(curve, way);
            let [wind, step, _] = self.seconds(each);
            let after = if self.shape.steps == Steps::After {
                step
            } else {
                0.0
            };
            let mut row: Vec<(usize, f64)> = self.fixed(each).map(|column| (column, 1.0)).collect();
            self.over_stretches(each, |stretch, over| {
                row.push((self.travel + stretch, slope * over))
            });
            system.add(&row, each.time_s - after - (wind - slope * way), weight);
        }
        let even = (scale / UNEVEN).powi(2);
        for stretch in self.travel..self.travel + stretches - 1 {
            system.add(&[(stretch, 1.0), (stretch + 1, -1.0)], 0.0, even);
        }
        for column in 0..self.travel {
            system.add(
                &[(column, 1.0)],
                self.values[column],
                (scale / 10.0).powi(2),
            );
        }
        let mut pace = system.least(&[]).split_off(self.travel);
        let fastest = pace.iter().copied().fold(0.0, f64::max) / SLOWEST;
        pace.iter_mut().for_each(|pace| *pace = pace.max(fastest));
        let mean = pace.iter().sum::<f64>() / stretches as f64;
        if mean > 0.0 {
            pace.iter_mut().for_each(|pace| *pace /= mean);
            self.values[self.travel..self.stepping]
                .iter_mut()
                .for_each(|value| *value *= mean);
            self.pace = pace;
        }
    }

    /// The constants by name, with the records that each rests on, and their standard errors.
    pub fn constants(&self, moves: &Moves) -> Vec<Constant> {
        let (weights, scale) = weigh(&self.errors(moves));
        let variances = self.system(moves, &weights, scale).variances(&self.values);
        let mut records = vec![0; self.values.len()];
        for each in &moves.all {
            self.terms(each)
                .iter()
                .for_each(|&(column, _)| records[column] += 1);
        }
        let constant = |name: String, column: usize| Constant {
            name,
            seconds: self.values[column],
            std_error: scale * variances[column].max(0.0).sqrt(),
            records: records[column],
        };
        let kinds = (0..KINDS).map(|kind| (Landed::CONSTANTS[kind].to_owned(), kind));
        let read_on = [(Landed::CONSTANTS[KINDS].to_owned(), READ_ON)];
        let bands = moves.geometry.bands;
        let pairs = (0..bands).flat_map(|low| (low + 1..bands).map(move |high| (low, high)));
        let pairs = pairs
            .enumerate()
            .map(|(pair, (low, high))| (format!("band {low} to {high} or back"), PAIRS + pair));
        kinds
            .chain(read_on)
            .chain(pairs)
            .map(|(name, column)| constant(name, column))
            .collect()
    }

    /// Draws the curves through the records, beginning with these, in at most this many rounds of reweighting.
    pub fn drawn(mut self, moves: &Moves, rounds: usize) -> Drawn {
        let mut errors = self.errors(moves);
        for _ in 0..rounds {
            let (weights, scale) = weigh(&errors);
            self.shift_station(moves, &errors, &weights);
            if self.shape.reach.is_finite() {
                self.set_reach(moves, scale);
            }
            if self.pace.len() > 1 {
                self.paced(moves, &weights, scale);
            }
            let values = self.system(moves, &weights, scale).least(&[]);
            let moved = std::iter::zip(&values, &self.values)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            self.values = values;
            errors = self.errors(moves);
            if moved < 1e-3 {
                break;
            }
        }
        self.judged(&errors)
    }

    fn judged(self, errors: &[f64]) -> Drawn {
        let far = GIVEN_UP * standard_error(errors);
        let mut squares: Vec<f64> = errors.iter().map(|error| error * error).collect();
        squares.sort_by(f64::total_cmp);
        let near = squares.partition_point(|&square| square < far * far);
        let mean = |squares: &[f64]| squares.iter().sum::<f64>() / squares.len().max(1) as f64;
        let trimmed = mean(&squares[..(squares.len() * 19 / 20).max(1).min(squares.len())]);
        let n = squares.len() as f64;
        let chosen = self.values.iter().filter(|value| **value > 0.0).count() + self.pace.len() - 1;
        let sides = self.shape.sides.as_ref().map_or(0, |sides| sides.far.len());
        let chosen = chosen + sides + usize::from(self.shape.reach.is_finite());
        Drawn {
            price: n * trimmed.max(1e-6).ln() + chosen as f64 * n.ln(),
            residual_s: mean(&squares[..near]).sqrt(),
            trimmed_s: trimmed.sqrt(),
            outliers: squares.len() - near,
            drawing: self,
        }
    }
}

/// The weight of every record by Tukey's biweight, and the standard error of the bulk.
fn weigh(errors: &[f64]) -> (Vec<f64>, f64) {
    let scale = standard_error(errors);
    let weight = |error: &f64| {
        (1.0 - (error / (GIVEN_UP * scale)).powi(2))
            .max(0.0)
            .powi(2)
    };
    (errors.iter().map(weight).collect(), scale)
}
