//! Coefficients and scale of a cost when every move is placed: robust, by reweighted least squares.
//!
//! Errors are taken to follow Student's t with [`FREEDOM`] degrees of freedom and a scale `s`, so
//! that a move that went wrong (a retry, a stop of the drive) weighs little:
//!
//! ```text
//! -log L = n log s + (nu + 1) / 2 * sum of log(1 + z^2 / nu),   z = (t - c . f) / s
//! ```
//!
//! and the coefficients `c` are normal around what is expected of them. Each step solves the
//! weighted normal equations with weights `(nu + 1) / (nu + z^2)`, then `s^2 = sum of w r^2 / n`
//! (Lange, Little & Taylor 1989).

use super::cost::{FinePosition, LinearCost, MAX_TERMS, Term};
use super::solve::{Factor, dot};

/// Degrees of freedom of the errors: near enough to normal, with room for outliers.
const FREEDOM: f64 = 4.0;

/// The least scale: clocks of logs are no better, and a perfect fit must not divide by zero.
const LEAST_SCALE_S: f64 = 0.02;

/// Coefficients, and the scale of what they leave over.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Estimate {
    pub coefficients: [f64; MAX_TERMS],
    /// Scale of the errors, in seconds.
    pub scale_s: f64,
}

/// A move with both ends placed.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    pub from: FinePosition,
    pub to: FinePosition,
    pub time_s: f64,
}

impl Estimate {
    /// What is expected before any move is seen.
    pub(super) fn expected(terms: &[Term], scale_s: f64) -> Estimate {
        let mut coefficients = [0.0; MAX_TERMS];
        for (coefficient, term) in coefficients.iter_mut().zip(terms) {
            *coefficient = term.expected;
        }
        Estimate {
            coefficients,
            scale_s,
        }
    }

    /// The time predicted for a move, in seconds.
    #[inline]
    pub(super) fn predict<C: LinearCost + ?Sized>(
        &self,
        cost: &C,
        from: &FinePosition,
        to: &FinePosition,
    ) -> f64 {
        let size = cost.terms().len();
        let mut values = [0.0; MAX_TERMS];
        cost.fill(from, to, &mut values[..size]);
        dot(&self.coefficients[..size], &values[..size])
    }

    /// Improves coefficients and scale on moves by `steps` steps of reweighting; returns the factor
    /// of the last normal equations, in units of the scale.
    pub(super) fn improve<C, I>(&mut self, cost: &C, moves: I, steps: usize) -> Option<Factor>
    where
        C: LinearCost + ?Sized,
        I: Iterator<Item = Placed> + Clone,
    {
        let terms = cost.terms();
        let mut factor = None;
        for _ in 0..steps {
            let (normal, right) = self.normal_equations(cost, moves.clone());
            factor = Factor::new(normal, terms.len());
            let Some(factor) = &factor else { break };
            let solution = factor.solve(&right);
            self.coefficients[..terms.len()].copy_from_slice(&solution);
            let (mut squares, mut count) = (0.0, 0.0);
            for placed in moves.clone() {
                let error = placed.time_s - self.predict(cost, &placed.from, &placed.to);
                squares += weight(error / self.scale_s) * error * error;
                count += 1.0;
            }
            if count > 0.0 {
                self.scale_s = (squares / count).sqrt().max(LEAST_SCALE_S);
            }
        }
        factor
    }

    fn normal_equations<C, I>(&self, cost: &C, moves: I) -> (Vec<f64>, Vec<f64>)
    where
        C: LinearCost + ?Sized,
        I: Iterator<Item = Placed>,
    {
        let terms = cost.terms();
        let size = terms.len();
        let mut normal = vec![0.0; size * size];
        let mut right = vec![0.0; size];
        for (i, term) in terms.iter().enumerate() {
            let precision = term.spread.powi(-2);
            normal[i * size + i] = precision;
            right[i] = precision * term.expected;
        }
        let mut values = [0.0; MAX_TERMS];
        let values = &mut values[..size];
        for placed in moves {
            cost.fill(&placed.from, &placed.to, values);
            let error = placed.time_s - dot(&self.coefficients[..size], values);
            let weight = weight(error / self.scale_s) / (self.scale_s * self.scale_s);
            for i in 0..size {
                let weighted = weight * values[i];
                for j in 0..=i {
                    normal[i * size + j] += weighted * values[j];
                }
                right[i] += weighted * placed.time_s;
            }
        }
        (normal, right)
    }

    /// Minus the logarithm of the density of the coefficients before any move was seen.
    pub(super) fn surprise(&self, terms: &[Term]) -> f64 {
        let pairs = self.coefficients.iter().zip(terms);
        pairs
            .map(|(c, term)| 0.5 * ((c - term.expected) / term.spread).powi(2))
            .sum()
    }
}

/// How much an error of `z` times the scale weighs.
#[inline]
pub(super) fn weight(z: f64) -> f64 {
    (FREEDOM + 1.0) / (FREEDOM + z * z)
}

/// Minus the logarithm of the density of one error, `z` times the scale, without the scale's own term.
#[inline]
pub(super) fn loss(z: f64) -> f64 {
    0.5 * (FREEDOM + 1.0) * (z * z / FREEDOM).ln_1p()
}

/// The information of one move on its expected time, for a scale of one.
pub(super) const INFORMATION: f64 = (FREEDOM + 1.0) / (FREEDOM + 3.0);
