//! Quantiles of Student's t for whole degrees of freedom.

use std::f64::consts::PI;

use tapewise_model::normal_quantile;

use super::{StatisticsError, inside};

/// Above this many degrees the expansion around the normal distribution is good to 1e-9.
const MANY_DEGREES: u64 = 1_000;

/// The quantile at `p` of Student's t with `degrees` of freedom.
///
/// Replications are counted, so degrees are whole, and then the distribution is a finite sum of
/// cosines (Abramowitz & Stegun 26.7.3 and 26.7.4), which is inverted by bisection; above 1,000
/// degrees by Cornish and Fisher's expansion (26.7.5). Good to a relative 1e-8.
///
/// # Errors
/// [`StatisticsError::Parameter`] where `p` is not between 0 and 1, or `degrees` is 0.
pub fn student_t_quantile(p: f64, degrees: u64) -> Result<f64, StatisticsError> {
    inside("the probability of a t quantile", p)?;
    super::positive("the degrees of freedom", degrees as f64)?;
    if degrees > MANY_DEGREES {
        return Ok(expansion(normal_quantile(p), degrees as f64));
    }
    // Within the angle atan(t / sqrt(degrees)), the two-sided probability grows from 0 to 1.
    let (mut low, mut high) = (0.0, PI / 2.0);
    let wanted = (2.0 * p - 1.0).abs();
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if two_sided(middle, degrees) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    let t = (0.5 * (low + high)).tan() * (degrees as f64).sqrt();
    Ok(t.copysign(p - 0.5))
}

/// The probability of `|t| <= sqrt(degrees) tan(angle)`.
fn two_sided(angle: f64, degrees: u64) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let odd = degrees % 2 == 1;
    // 1 + 1/2 cos^2 + 1 3 / (2 4) cos^4 + ..., or cos + 2/3 cos^3 + 2 4 / (3 5) cos^5 + ...
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let mut power = if odd { 1 } else { 0 };
    while power + 2 <= degrees {
        sum += term;
        term *= (power + 1) as f64 / (power + 2) as f64 * cosine * cosine;
        power += 2;
    }
    if odd {
        2.0 / PI * (angle + sine * sum)
    } else {
        sine * sum
    }
}

/// The quantile of t from that of the normal distribution.
fn expansion(z: f64, degrees: f64) -> f64 {
    let square = z * z;
    let first = (square + 1.0) / 4.0;
    let second = ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    z * (1.0 + (first + (second + third / degrees) / degrees) / degrees)
}
