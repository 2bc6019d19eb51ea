use proptest::prelude::*;
use tapewise_sim::queue::deterministic::{Deterministic, mean_wait_s};
use tapewise_sim::queue::exponential::Exponential;
use tapewise_sim::queue::{Load, QueueError};

use crate::queue::recursion::{mean, quantile, waits_s};
use crate::queue::{assert_close, station};

/// Utilisation, servers, mean wait in services, share that waits. Computed another way: every c-th
/// request meets the same server, so its wait is the maximum of a random walk, and Spitzer's
/// identity gives `E(W) = sum of E(max(0, n D - Gamma(n c))) / n` (scipy's Poisson tails). The
/// queue of 0.1767 at two servers, half busy, is in every table of M/D/c.
const SPITZER: [(f64, u32, f64, f64); 12] = [
    (0.1, 2, 0.006_208_283_643_089_511, 0.017_765_017_888),
    (0.1, 6, 5.925_751_928e-6, 3.885_840_957e-5),
    (0.5, 2, 0.176_741_057_112_836_6, 0.323_258_942_888),
    (0.5, 4, 0.049_651_738_782_608_59, 0.163_293_894_949),
    (0.5, 25, 7.970_522_758e-5, 0.001_195_226_038),
    (0.8, 2, 0.903_283_879_416_67, 0.701_898_317_173),
    (0.8, 4, 0.386_094_930_846_916, 0.578_282_015_457),
    (0.8, 25, 0.023_867_699_086_027, 0.190_014_275_567),
    (0.9, 2, 2.146_923_214_715_784, 0.847_107_642_702),
    (0.9, 6, 0.629_966_301_451_29, 0.723_525_216_437),
    (0.99, 4, 12.240_586_460_567, 0.976_356_231_018),
    (0.99, 25, 1.891_255_830_587, 0.935_519_609_385),
];

#[test]
fn means_and_shares_that_wait_agree_with_spitzers_identity() {
    for (utilisation, servers, wait_s, waits) in SPITZER {
        let load = station(utilisation, servers);
        assert_close(mean_wait_s(&load), wait_s, 1e-8);
        let solved = Deterministic::new(load).unwrap();
        assert_close(solved.waiting_probability(), waits, 1e-7);
    }
}

#[test]
fn one_server_waits_as_pollaczek_and_khinchine_say_at_any_load() {
    for rho in [0.001, 0.3, 0.7, 0.99, 0.999_999] {
        assert_close(
            mean_wait_s(&station(rho, 1)),
            rho / (2.0 * (1.0 - rho)),
            1e-9,
        );
    }
}

/// Erlang 1909: `P(W <= t) = (1 - rho) e^(rho t)` within the first service.
#[test]
fn the_first_service_of_one_server_has_erlangs_distribution() {
    let solved = Deterministic::new(station(0.6, 1)).unwrap();
    for time_s in [0.0, 0.25, 0.5, 0.999] {
        let at_most = 0.4 * (0.6f64 * time_s).exp();
        assert_close(solved.waits_longer_than(time_s), 1.0 - at_most, 1e-10);
    }
}

#[test]
fn a_recursion_over_random_arrivals_finds_the_same_waits() {
    let load = Load::new(150.0 / 3600.0, 75.0, 4).unwrap();
    let solved = Deterministic::new(load).unwrap();
    let waits = waits_s(load.arrivals_per_s(), 4, 1_000_000, 5, |_| 75.0);
    assert_close(mean(&waits), solved.mean_wait_s(), 0.02);
    for p in [0.5, 0.9, 0.99] {
        let wait_s = quantile(&waits, p);
        let longer = solved.waits_longer_than(wait_s);
        assert!(
            (longer - (1.0 - p)).abs() < 0.01,
            "{p}: {wait_s} s, {longer}"
        );
        assert_close(wait_s, solved.wait_quantile_s(p).unwrap(), 0.05);
    }
    let response_s = solved.response_quantile_s(0.9).unwrap();
    assert_close(
        response_s,
        solved.wait_quantile_s(0.9).unwrap() + 75.0,
        1e-12,
    );
}

#[test]
fn next_to_saturation_the_mean_is_known_and_the_distribution_refused() {
    let load = station(0.999, 4);
    assert!(mean_wait_s(&load) > 100.0);
    assert!(matches!(
        Deterministic::new(load),
        Err(QueueError::TooNearSaturation { .. })
    ));
}

/// So many that `e^(-a)` is no number: nobody waits, and nothing overflows.
#[test]
fn a_thousand_servers_neither_overflow_nor_underflow() {
    let solved = Deterministic::new(station(0.95, 1_000)).unwrap();
    let few = Exponential::new(station(0.95, 1_000)).waiting_probability();
    let waits = solved.waiting_probability();
    assert!(waits > 0.5 * few && waits < few, "{waits} {few}");
    assert!(solved.mean_wait_s() > 0.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_mean_is_the_area_under_the_tail(rho in 0.05f64..0.95, servers in 1u32..12) {
        let solved = Deterministic::new(station(rho, servers)).unwrap();
        let end = solved.wait_quantile_s(1.0 - 1e-8).unwrap();
        let steps = 4_000;
        let step = end / f64::from(steps);
        let area: f64 = (0..steps)
            .map(|at| solved.waits_longer_than((f64::from(at) + 0.5) * step) * step)
            .sum();
        prop_assert!((area - solved.mean_wait_s()).abs() < 1e-4 * (solved.mean_wait_s() + 1e-2));
    }

    /// Between half of the wait under exponential times, in heavy traffic, and `c / (c + 1)` of it.
    #[test]
    fn constant_times_wait_less_than_exponential_ones(rho in 0.1f64..0.99, servers in 1u32..30) {
        let load = station(rho, servers);
        // The formula is good to 1e-13 of a service, not of the wait.
        prop_assume!(Exponential::new(load).mean_wait_s() > 1e-7);
        let share = mean_wait_s(&load) / Exponential::new(load).mean_wait_s();
        let c = f64::from(servers);
        prop_assert!(share > 0.5 - 1e-6 && share < c / (c + 1.0) + 1e-6, "{}", share);
    }
}
