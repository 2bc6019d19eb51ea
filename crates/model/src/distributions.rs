//! Student's t and F, by the incomplete beta function: tail probabilities, and quantiles of t.

use std::f64::consts::PI;

/// The probability that `|t|` is exceeded either way, with `degrees` of freedom.
pub fn student_t_tails(t: f64, degrees: f64) -> f64 {
    incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5)
}

/// The quantile at `p`, between 0 and 1, of Student's t with `degrees` of freedom.
///
/// The tails are inverted by bisection of the angle `atan(t / sqrt(degrees))`, in which they fall from 1 to 0.
pub fn student_t_quantile(p: f64, degrees: f64) -> f64 {
    let root = degrees.sqrt();
    let (mut low, mut high) = (0.0, PI / 2.0);
    let tails = 1.0 - (2.0 * p - 1.0).abs();
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if student_t_tails(middle.tan() * root, degrees) > tails {
            low = middle;
        } else {
            high = middle;
        }
    }
    ((0.5 * (low + high)).tan() * root).copysign(p - 0.5)
}

/// The probability that F with these degrees of freedom exceeds `f`.
pub fn f_tail(f: f64, degrees: f64, residual_degrees: f64) -> f64 {
    let x = residual_degrees / (residual_degrees + degrees * f);
    incomplete_beta(x, residual_degrees / 2.0, degrees / 2.0)
}

/// The regularised incomplete beta function I_x(a, b), by its continued fraction (Abramowitz &
/// Stegun 26.5.8), evaluated by Lentz's method.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // Converges fast below the mean; above it the complement does.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p();
    const TINY: f64 = 1e-300;
    let keep_off_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 0.0);
    let mut fraction = 1.0;
    for step in 0..2_000 {
        let m = f64::from(step / 2);
        let numerator = match step {
            0 => 1.0,
            _ if step % 2 == 0 => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        };
        d = 1.0 / keep_off_zero(1.0 + numerator * d);
        c = keep_off_zero(1.0 + numerator / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-14 {
            break;
        }
    }
    front.exp() * (fraction - 1.0) / a
}

/// The logarithm of the gamma function for positive arguments, by Stirling's series far out.
fn ln_gamma(x: f64) -> f64 {
    let mut shift = 0.0;
    let mut x = x;
    while x < 12.0 {
        shift += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = 1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series / x - shift
}
