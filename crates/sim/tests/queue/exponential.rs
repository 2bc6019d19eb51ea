use proptest::prelude::*;
use tapewise_sim::queue::exponential::Exponential;

use crate::queue::recursion::{exponential_s, mean, quantile, waits_s};
use crate::queue::{assert_close, station};

#[test]
fn four_servers_at_four_fifths_wait_as_the_closed_form_says() {
    let solved = Exponential::new(station(0.8, 4));
    assert_close(solved.waiting_probability(), 0.596_432_471_787_4, 1e-12);
    assert_close(solved.mean_wait_s(), 0.596_432_471_787_4 / 0.8, 1e-12);
}

#[test]
fn responses_of_one_server_are_exponential() {
    let solved = Exponential::new(station(0.7, 1));
    assert_close(solved.mean_response_s(), 1.0 / 0.3, 1e-14);
    for p in [0.1f64, 0.5, 0.99, 0.999_999] {
        assert_close(
            solved.response_quantile_s(p).unwrap(),
            -(1.0 - p).ln() / 0.3,
            1e-9,
        );
    }
}

#[test]
fn next_to_saturation_far_quantiles_are_still_those_of_an_exponential() {
    let solved = Exponential::new(station(0.9999, 1));
    let found = solved.response_quantile_s(0.999_999).unwrap();
    assert_close(found, 1e6f64.ln() / 1e-4, 1e-6);
}

/// `c - 1 = a`: the fraction in the response's distribution becomes a limit.
#[test]
fn the_response_is_continuous_where_its_fraction_is_zero_by_zero() {
    let later = |offered: f64| Exponential::new(station(offered / 3.0, 3)).responds_later_than(2.0);
    assert_close(
        later(2.0),
        0.5 * (later(2.0 - 1e-7) + later(2.0 + 1e-7)),
        1e-9,
    );
    assert_close(later(2.0), later(2.0 + 1e-12), 1e-10);
}

#[test]
fn a_recursion_over_random_arrivals_finds_the_same_waits() {
    let solved = Exponential::new(station(0.8, 4));
    let waits = waits_s(3.2, 4, 1_000_000, 11, |random| exponential_s(random, 1.0));
    assert_close(mean(&waits), solved.mean_wait_s(), 0.03);
    assert_close(
        quantile(&waits, 0.95),
        solved.wait_quantile_s(0.95).unwrap(),
        0.03,
    );
}

#[test]
fn a_quantile_of_all_requests_is_refused() {
    let solved = Exponential::new(station(0.5, 2));
    assert!(solved.wait_quantile_s(1.0).is_err());
    assert!(solved.response_quantile_s(f64::NAN).is_err());
}

proptest! {
    #[test]
    fn quantiles_undo_tails(rho in 0.01f64..0.99, servers in 1u32..40, p in 0.0f64..0.999) {
        let solved = Exponential::new(station(rho, servers));
        let response = solved.response_quantile_s(p).unwrap();
        prop_assert!((solved.responds_later_than(response) - (1.0 - p)).abs() < 1e-9);
        let wait = solved.wait_quantile_s(p).unwrap();
        prop_assert!(wait <= response);
        prop_assert!(solved.waits_longer_than(wait) <= 1.0 - p + 1e-9);
    }

    /// The mean is the area under the tail.
    #[test]
    fn the_mean_response_is_the_area_under_its_tail(rho in 0.05f64..0.9, servers in 1u32..12) {
        let solved = Exponential::new(station(rho, servers));
        let end = solved.response_quantile_s(1.0 - 1e-12).unwrap();
        let steps = 20_000;
        let step = end / f64::from(steps);
        let area: f64 = (0..steps)
            .map(|at| solved.responds_later_than((f64::from(at) + 0.5) * step) * step)
            .sum();
        prop_assert!((area / solved.mean_response_s() - 1.0).abs() < 1e-4);
    }
}
