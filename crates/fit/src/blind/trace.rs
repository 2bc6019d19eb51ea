//! The moves of one volume on a track that is searched for.

use super::cost::LinearCost;
use super::estimate::{Estimate, INFORMATION, Placed, loss, weight};
use super::given::{Move, Options};
use super::solve::Factor;
use super::track::{Track, place};
use tapewise_model::Geometry;

/// Hats with fewer moves on them than this stay flat.
const LEAST_MOVES_ON_A_HAT: usize = 3;

/// The first step of the rate, as a shift of the last block.
const RATE_STEP_WRAPS: f64 = 0.05;

/// A small step along the track, in wraps, for derivatives.
const NUDGE_WRAPS: f64 = 1e-3;

/// How much a move's ends shift along the track with one coefficient of the track.
#[derive(Clone, Copy, Debug)]
struct Influence {
    at: u32,
    from: f64,
    to: f64,
}

/// One coefficient of the track, and the moves it matters to.
#[derive(Clone, Debug)]
struct Unknown {
    /// The hat; the rate where it is `None`.
    hat: Option<usize>,
    variance: f64,
    influences: Vec<Influence>,
}

/// The moves of one volume, with their ends along the track as it now is.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    pub track: Track,
    /// Nominal places of both ends, in wraps.
    nominal: Vec<[f64; 2]>,
    /// Places of both ends as the track has them.
    along: Vec<[f64; 2]>,
    time_s: Vec<f64>,
    unknowns: Vec<Unknown>,
    rate_variance: f64,
    wander: f64,
}

impl Trace {
    pub(super) fn new(moves: &[Move], options: &Options) -> Trace {
        let nominal: Vec<[f64; 2]> = moves
            .iter()
            .map(|m| [m.from_block, m.to_block].map(|block| block as f64 / options.wrap_blocks))
            .collect();
        let span = nominal.iter().flatten().fold(0.0, |a: f64, b| a.max(*b));
        let track = Track::nominal(span);
        let wander = options.wrap_share;
        let mut trace = Trace {
            along: nominal.clone(),
            time_s: moves.iter().map(|m| m.time.as_secs_f64()).collect(),
            unknowns: Vec::new(),
            rate_variance: rate_variance(options.tape_share, wander, &track),
            wander,
            nominal,
            track,
        };
        trace.unknowns = trace.find_unknowns();
        trace
    }

    fn find_unknowns(&self) -> Vec<Unknown> {
        let influences = |effect: &dyn Fn(f64) -> f64| -> Vec<Influence> {
            let all = self.nominal.iter().enumerate();
            all.map(|(at, [from, to])| Influence {
                at: at as u32,
                from: effect(*from),
                to: effect(*to),
            })
            .filter(|influence| influence.from != 0.0 || influence.to != 0.0)
            .collect()
        };
        let mut unknowns = vec![Unknown {
            hat: None,
            variance: self.rate_variance,
            influences: influences(&|x| x),
        }];
        for index in 0..self.track.bends.len() {
            let hat = self.track.hat(index);
            let influences = influences(&|x| hat.at(x));
            if influences.len() >= LEAST_MOVES_ON_A_HAT {
                let variance = self.hat_variance(index);
                unknowns.push(Unknown {
                    hat: Some(index),
                    variance,
                    influences,
                });
            }
        }
        unknowns
    }

    fn hat_variance(&self, index: usize) -> f64 {
        0.5 * self.wander * self.wander * self.track.hat(index).half_width
    }

    pub(super) fn len(&self) -> usize {
        self.time_s.len()
    }

    pub(super) fn rate_variance(&self) -> f64 {
        self.rate_variance
    }

    /// The moves, placed by the track as it is, every `stride`-th of them.
    pub(super) fn placed<'a>(
        &'a self,
        geometry: &'a Geometry,
        stride: usize,
    ) -> impl Iterator<Item = Placed> + Clone + 'a {
        let all = self.along.iter().zip(&self.time_s).step_by(stride);
        all.map(|([from, to], time_s)| Placed {
            from: place(geometry, *from),
            to: place(geometry, *to),
            time_s: *time_s,
        })
    }

    /// The moves, placed by a track of this rate without bends.
    pub(super) fn placed_straight<'a>(
        &'a self,
        geometry: &'a Geometry,
        rate: f64,
        stride: usize,
    ) -> impl Iterator<Item = Placed> + Clone + 'a {
        let all = self.nominal.iter().zip(&self.time_s).step_by(stride);
        all.map(move |([from, to], time_s)| Placed {
            from: place(geometry, from * (1.0 + rate)),
            to: place(geometry, to * (1.0 + rate)),
            time_s: *time_s,
        })
    }

    /// Makes the track straight, with this rate.
    pub(super) fn straighten(&mut self, rate: f64) {
        self.track.rate = rate;
        self.track.bends.fill(0.0);
        for (along, nominal) in self.along.iter_mut().zip(&self.nominal) {
            *along = nominal.map(|x| x * (1.0 + rate));
        }
    }

    /// Places the moves on a track that was found from others.
    pub(super) fn follow(&mut self, track: &Track) {
        for (along, nominal) in self.along.iter_mut().zip(&self.nominal) {
            *along = nominal.map(|x| track.along(x));
        }
    }

    /// Bends the track where that explains the moves better: one coefficient after the other, from
    /// the rate to the narrowest hat. Returns by how much minus the log of the posterior fell.
    pub(super) fn bend<C: LinearCost + ?Sized>(
        &mut self,
        cost: &C,
        geometry: &Geometry,
        estimate: &Estimate,
    ) -> f64 {
        let mut gain = 0.0;
        let unknowns = std::mem::take(&mut self.unknowns);
        for unknown in &unknowns {
            let value = self.value(unknown);
            let misfit = |shift: f64| {
                let moves = unknown.influences.iter().map(|influence| {
                    let [from, to] = self.along[influence.at as usize];
                    let from = place(geometry, from + shift * influence.from);
                    let to = place(geometry, to + shift * influence.to);
                    let expected = estimate.predict(cost, &from, &to);
                    loss((self.time_s[influence.at as usize] - expected) / estimate.scale_s)
                });
                moves.sum::<f64>() + 0.5 * (value + shift).powi(2) / unknown.variance
            };
            let first_step = match unknown.hat {
                None => RATE_STEP_WRAPS / self.track.span(),
                Some(_) => unknown.variance.sqrt(),
            };
            let (shift, gained) = descend(misfit, first_step);
            if shift != 0.0 {
                gain += gained;
                self.shift(unknown, shift);
            }
        }
        self.unknowns = unknowns;
        gain
    }

    fn shift(&mut self, unknown: &Unknown, shift: f64) {
        match unknown.hat {
            None => self.track.rate += shift,
            Some(index) => self.track.bends[index] += shift,
        }
        for influence in &unknown.influences {
            let [from, to] = &mut self.along[influence.at as usize];
            *from += shift * influence.from;
            *to += shift * influence.to;
        }
    }

    /// How well the track is known: the precision of its coefficients around what was found, to
    /// first order, the coefficients of the cost taken as exact.
    pub(super) fn certainty<C: LinearCost + ?Sized>(
        &self,
        cost: &C,
        geometry: &Geometry,
        estimate: &Estimate,
    ) -> Option<Factor> {
        let precision = self.linearised(cost, geometry, estimate, |_| INFORMATION).0;
        Factor::new(precision, self.unknowns.len())
    }

    /// Moves all coefficients of the track at once to where they would be best, were times linear
    /// in places; as far as that helps. Returns by how much minus the log of the posterior fell.
    ///
    /// One coefficient at a time ([`Trace::bend`]) passes over jumps, as where a wrap ends, but
    /// creeps where many must change together.
    pub(super) fn leap<C: LinearCost + ?Sized>(
        &mut self,
        cost: &C,
        geometry: &Geometry,
        estimate: &Estimate,
    ) -> f64 {
        let (precision, pull) = self.linearised(cost, geometry, estimate, weight);
        let Some(factor) = Factor::new(precision, self.unknowns.len()) else {
            return 0.0;
        };
        let step = factor.solve(&pull);
        let start = self.misfit(cost, geometry, estimate);
        let mut share = 1.0;
        self.shift_all(&step, share);
        for _ in 0..4 {
            let gain = start - self.misfit(cost, geometry, estimate);
            if gain > 0.0 {
                return gain;
            }
            self.shift_all(&step, -0.5 * share);
            share *= 0.5;
        }
        self.shift_all(&step, -share);
        0.0
    }

    /// The precision of the track's coefficients and the pull of the moves on them, with times
    /// linear around the places as they are, and `weight` for each error in units of the scale.
    fn linearised<C: LinearCost + ?Sized>(
        &self,
        cost: &C,
        geometry: &Geometry,
        estimate: &Estimate,
        weight: impl Fn(f64) -> f64,
    ) -> (Vec<f64>, Vec<f64>) {
        let size = self.unknowns.len();
        let mut of_move: Vec<Vec<(usize, Influence)>> = vec![Vec::new(); self.len()];
        let mut precision = vec![0.0; size * size];
        let mut pull = vec![0.0; size];
        for (row, unknown) in self.unknowns.iter().enumerate() {
            precision[row * size + row] = unknown.variance.recip();
            pull[row] = -self.value(unknown) / unknown.variance;
            for influence in &unknown.influences {
                of_move[influence.at as usize].push((row, *influence));
            }
        }
        let time = |from: f64, to: f64| {
            estimate.predict(cost, &place(geometry, from), &place(geometry, to))
        };
        let scale_s = estimate.scale_s;
        for ((influences, [from, to]), time_s) in of_move.iter().zip(&self.along).zip(&self.time_s)
        {
            let error = (time_s - time(*from, *to)) / scale_s;
            let by_from = slope(*from, |from| time(from, *to)) / scale_s;
            let by_to = slope(*to, |to| time(*from, to)) / scale_s;
            let effect = |i: &Influence| by_from * i.from + by_to * i.to;
            let weight = weight(error);
            for (i, (row, influence)) in influences.iter().enumerate() {
                let weighted = weight * effect(influence);
                pull[*row] += weighted * error;
                for (column, other) in &influences[..=i] {
                    precision[row * size + column] += weighted * effect(other);
                }
            }
        }
        (precision, pull)
    }

    /// Minus the log of the posterior of the track, but for a constant.
    fn misfit<C: LinearCost + ?Sized>(
        &self,
        cost: &C,
        geometry: &Geometry,
        estimate: &Estimate,
    ) -> f64 {
        let errors = self
            .placed(geometry, 1)
            .map(|m| loss((m.time_s - estimate.predict(cost, &m.from, &m.to)) / estimate.scale_s));
        let surprises = self
            .unknowns
            .iter()
            .map(|d| 0.5 * self.value(d).powi(2) / d.variance);
        errors.sum::<f64>() + surprises.sum::<f64>()
    }

    fn value(&self, unknown: &Unknown) -> f64 {
        match unknown.hat {
            None => self.track.rate,
            Some(index) => self.track.bends[index],
        }
    }

    fn shift_all(&mut self, step: &[f64], share: f64) {
        let unknowns = std::mem::take(&mut self.unknowns);
        for (unknown, shift) in unknowns.iter().zip(step) {
            self.shift(unknown, share * shift);
        }
        self.unknowns = unknowns;
    }

    /// How much wraps differ, as this volume has it: the sum over its hats of the squares expected of
    /// their coefficients, each for a variance of one in a wrap, and the number of hats.
    pub(super) fn wander_seen(&self, certainty: &Factor) -> (f64, f64) {
        let variances = certainty.variances();
        let hats = self
            .unknowns
            .iter()
            .zip(variances)
            .filter_map(|(unknown, variance)| {
                let index = unknown.hat?;
                let square = self.track.bends[index].powi(2) + variance;
                Some(square / (0.5 * self.track.hat(index).half_width))
            });
        hats.fold((0.0, 0.0), |(sum, count), square| {
            (sum + square, count + 1.0)
        })
    }

    /// Takes wraps to differ by `wander`.
    pub(super) fn set_wander(&mut self, wander: f64, options: &Options) {
        self.wander = wander;
        self.rate_variance = rate_variance(options.tape_share, wander, &self.track);
        let mut unknowns = std::mem::take(&mut self.unknowns);
        for unknown in &mut unknowns {
            unknown.variance = match unknown.hat {
                None => self.rate_variance,
                Some(index) => self.hat_variance(index),
            };
        }
        self.unknowns = unknowns;
    }

    /// The variance of a nominal place, in wraps squared.
    pub(super) fn variance(&self, certainty: &Factor, x: f64) -> f64 {
        let effect = |unknown: &Unknown| match unknown.hat {
            None => x,
            Some(index) => self.track.hat(index).at(x),
        };
        let effects: Vec<f64> = self.unknowns.iter().map(effect).collect();
        let mut variance = certainty.variance(&effects);
        let searched: Vec<usize> = self.unknowns.iter().filter_map(|d| d.hat).collect();
        for index in 0..self.track.bends.len() {
            if searched.binary_search(&index).is_err() {
                variance += self.hat_variance(index) * self.track.hat(index).at(x).powi(2);
            }
        }
        // Behind the last move the tape wanders on.
        variance + self.wander * self.wander * (x - self.track.span()).max(0.0)
    }
}

fn rate_variance(tape_share: f64, wander: f64, track: &Track) -> f64 {
    tape_share * tape_share + wander * wander / track.span()
}

/// Walks down from 0 in steps that are halved four times; returns where to, and how far down.
fn descend(misfit: impl Fn(f64) -> f64, first_step: f64) -> (f64, f64) {
    let start = misfit(0.0);
    let (mut best, mut at) = (start, 0.0);
    let mut step = first_step;
    for _ in 0..5 {
        let left = misfit(at - step);
        let right = misfit(at + step);
        let towards = if left < right { -step } else { step };
        let mut next = left.min(right);
        while next < best {
            at += towards;
            best = next;
            next = misfit(at + towards);
        }
        step /= 2.0;
    }
    (at, start - best)
}

/// The slope of a function of the place along the track, within the wrap of that place.
fn slope(along: f64, f: impl Fn(f64) -> f64) -> f64 {
    let same = |other: f64| other.floor() == along.floor();
    let below = if same(along - NUDGE_WRAPS) {
        NUDGE_WRAPS
    } else {
        0.0
    };
    let above = if same(along + NUDGE_WRAPS) {
        NUDGE_WRAPS
    } else {
        0.0
    };
    match below + above {
        0.0 => 0.0,
        width => (f(along + above) - f(along - below)) / width,
    }
}
