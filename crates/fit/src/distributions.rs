//! Tail probabilities of Student's t and of F, by the incomplete beta function.

/// The probability that `|t|` is exceeded either way, with `degrees` of freedom.
pub fn student_t_tails(t: f64, degrees: f64) -> f64 {
    incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5)
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
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series / x - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!(
            (found / expected - 1.0).abs() < 1e-6,
            "{found} is not {expected}"
        );
    }

    /// One degree of freedom is Cauchy, two has a closed form; the others are table values.
    #[test]
    fn tails_of_t_are_those_of_closed_forms_and_tables() {
        close(student_t_tails(1.0, 1.0), 0.5);
        let two = |t: f64| 1.0 - t / (2.0 + t * t).sqrt();
        close(student_t_tails(3.3, 2.0), two(3.3));
        assert!((student_t_tails(2.228_139, 10.0) - 0.05).abs() < 1e-6);
        assert!((student_t_tails(1.959_964, 1e7) - 0.05).abs() < 1e-6);
        assert!(student_t_tails(1265.2, 886_028.0) < 2e-16);
    }

    #[test]
    fn the_tail_of_f_with_one_degree_is_both_tails_of_t() {
        close(f_tail(2.5 * 2.5, 1.0, 17.0), student_t_tails(2.5, 17.0));
        assert!((f_tail(4.102_821, 2.0, 10.0) - 0.05).abs() < 1e-6);
        // Two numerator degrees have the closed form (1 + 2 f / d)^(-d/2).
        close(f_tail(1.7, 2.0, 9.0), (1.0f64 + 2.0 * 1.7 / 9.0).powf(-4.5));
    }

    #[test]
    fn the_gamma_function_of_whole_numbers_is_a_factorial() {
        close(ln_gamma(11.0).exp(), 3_628_800.0);
        close(ln_gamma(0.5).exp(), std::f64::consts::PI.sqrt());
    }
}
