//! Student's t and F, beside closed forms, tables and another library's.

use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};
use tapewise_model::{f_tail, student_t_quantile, student_t_tails};

/// Degrees of freedom from the fewest to those of a long log.
const DEGREES: [f64; 9] = [1.0, 2.0, 3.0, 4.5, 10.0, 29.0, 100.0, 1_001.0, 886_028.0];

fn close(found: f64, expected: f64, share: f64) {
    assert!(
        (found / expected - 1.0).abs() < share,
        "{found} is not {expected}"
    );
}

#[test]
fn tails_and_quantiles_of_t_are_those_of_statrs() {
    for degrees in DEGREES {
        let other = StudentsT::new(0.0, 1.0, degrees).unwrap();
        for t in [0.1, 0.7, 1.0, 2.3, 4.0, 6.5] {
            close(student_t_tails(t, degrees), 2.0 * other.cdf(-t), 1e-7);
        }
        for p in [0.51, 0.6, 0.9, 0.975, 0.9995] {
            // Its own quantiles are off in the fourth digit where there are many degrees, its tails are not.
            let quantile = student_t_quantile(p, degrees);
            close(other.sf(quantile), 1.0 - p, 1e-7);
            close(student_t_quantile(1.0 - p, degrees), -quantile, 1e-9);
        }
    }
}

#[test]
fn tails_of_f_are_those_of_statrs() {
    for degrees in [1.0, 2.0, 7.0, 24.0] {
        for residual in DEGREES {
            let other = FisherSnedecor::new(degrees, residual).unwrap();
            for f in [0.2, 1.0, 3.1, 12.0] {
                close(f_tail(f, degrees, residual), other.sf(f), 1e-6);
            }
        }
    }
}

/// One degree of freedom is Cauchy, two has a closed form; the others are table values.
#[test]
fn tails_of_t_are_those_of_closed_forms_and_tables() {
    close(student_t_tails(1.0, 1.0), 0.5, 1e-6);
    close(
        student_t_tails(3.3, 2.0),
        1.0 - 3.3 / (2.0 + 3.3f64 * 3.3).sqrt(),
        1e-6,
    );
    assert!((student_t_tails(2.228_139, 10.0) - 0.05).abs() < 1e-6);
    assert!((student_t_tails(1.959_964, 1e7) - 0.05).abs() < 1e-6);
    assert!(student_t_tails(1265.2, 886_028.0) < 2e-16);
}

#[test]
fn the_tail_of_f_with_one_degree_is_both_tails_of_t() {
    close(
        f_tail(2.5 * 2.5, 1.0, 17.0),
        student_t_tails(2.5, 17.0),
        1e-6,
    );
    assert!((f_tail(4.102_821, 2.0, 10.0) - 0.05).abs() < 1e-6);
    // Two numerator degrees have the closed form (1 + 2 f / d)^(-d/2).
    close(
        f_tail(1.7, 2.0, 9.0),
        (1.0f64 + 2.0 * 1.7 / 9.0).powf(-4.5),
        1e-6,
    );
}

#[test]
fn quantiles_of_t_have_closed_forms_for_one_and_two_degrees() {
    for p in [0.501, 0.75, 0.975, 0.999_9] {
        let cauchy = (std::f64::consts::PI * (p - 0.5f64)).tan();
        close(student_t_quantile(p, 1.0), cauchy, 1e-9);
        let two = (2.0 * p - 1.0) / (2.0 * p * (1.0 - p)).sqrt();
        close(student_t_quantile(p, 2.0), two, 1e-9);
    }
    assert!(student_t_quantile(0.5, 9.0).abs() < 1e-12);
}
