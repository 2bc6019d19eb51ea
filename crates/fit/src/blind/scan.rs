//! The rate of one volume by trying all of them: how many blocks its wraps hold, on the whole.
//!
//! What a move costs depends on the rate like a saw: it repeats, somewhat changed, for every wrap
//! by which the end of the tape shifts. So no slope leads to the best rate; every one within four
//! standard deviations is tried, in steps that shift the last block by a thirtieth of a wrap.

use super::cost::LinearCost;
use super::estimate::{Estimate, loss};
use super::trace::Trace;
use tapewise_model::Geometry;

/// Steps of the scan, as a shift of the last block.
const STEP_WRAPS: f64 = 1.0 / 30.0;

/// How far rates are tried, in standard deviations of what is expected.
pub(super) const REACH: f64 = 4.0;

/// Moves looked at in a scan in which coefficients are fitted anew for each rate.
const PROFILE_MOVES: usize = 200;

/// Steps of reweighting for each rate of such a scan.
const PROFILE_STEPS: usize = 3;

/// Moves looked at in a scan with given coefficients.
const SCAN_MOVES: usize = 1_000;

/// The best rate of a scan, and how much better it is than any other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scanned {
    pub rate: f64,
    /// By how much minus the log of the posterior of the best rate that shifts the last block by
    /// more than half a wrap is above that of the best; infinite where none of those tried does.
    pub margin: f64,
}

/// Scans with coefficients fitted for each rate: where nothing is known of the drive yet.
pub(super) fn profile<C: LinearCost + ?Sized>(
    trace: &Trace,
    cost: &C,
    geometry: &Geometry,
    start: &Estimate,
) -> Scanned {
    let stride = trace.len().div_ceil(PROFILE_MOVES).max(1);
    let count = trace.len().div_ceil(stride) as f64;
    scan(trace, |rate| {
        let moves = trace.placed_straight(geometry, rate, stride);
        let mut estimate = start.clone();
        estimate.improve(cost, moves.clone(), PROFILE_STEPS);
        let misfit = total_loss(moves, cost, &estimate);
        misfit + count * estimate.scale_s.ln() + estimate.surprise(cost.terms())
    })
}

/// Scans with given coefficients.
pub(super) fn given<C: LinearCost + ?Sized>(
    trace: &Trace,
    cost: &C,
    geometry: &Geometry,
    estimate: &Estimate,
) -> Scanned {
    let stride = trace.len().div_ceil(SCAN_MOVES).max(1);
    scan(trace, |rate| {
        total_loss(
            trace.placed_straight(geometry, rate, stride),
            cost,
            estimate,
        )
    })
}

fn total_loss<C: LinearCost + ?Sized>(
    moves: impl Iterator<Item = super::estimate::Placed>,
    cost: &C,
    estimate: &Estimate,
) -> f64 {
    moves
        .map(|m| loss((m.time_s - estimate.predict(cost, &m.from, &m.to)) / estimate.scale_s))
        .sum()
}

fn scan(trace: &Trace, misfit: impl Fn(f64) -> f64) -> Scanned {
    let span = trace.track.span();
    let step = STEP_WRAPS / span;
    let sd = trace.rate_variance().sqrt();
    let steps = (REACH * sd / step).ceil() as i64;
    let tried: Vec<(f64, f64)> = (-steps..=steps)
        .map(|nth| {
            let rate = nth as f64 * step;
            (rate, misfit(rate) + 0.5 * (rate / sd).powi(2))
        })
        .collect();
    // The nominal rate wins ties.
    let mut best = tried[tried.len() / 2];
    for &(rate, misfit) in &tried {
        if misfit < best.1 {
            best = (rate, misfit);
        }
    }
    let elsewhere = tried
        .iter()
        .filter(|(rate, _)| (rate - best.0).abs() * span > 0.5)
        .map(|(_, misfit)| misfit - best.1);
    Scanned {
        rate: best.0,
        margin: elsewhere.fold(f64::INFINITY, f64::min),
    }
}
