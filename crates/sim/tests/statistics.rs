//! Statistics of simulated times: against tables, against plain recomputation, and laws of joining.

#[path = "statistics/batch_means.rs"]
mod batch_means;
#[path = "statistics/histogram.rs"]
mod histogram;
#[path = "statistics/interval.rs"]
mod interval;
#[path = "statistics/moments.rs"]
mod moments;
#[path = "statistics/replications.rs"]
mod replications;
#[path = "statistics/shifted_erlang.rs"]
mod shifted_erlang;
#[path = "statistics/student_t.rs"]
mod student_t;
#[path = "statistics/warm_up.rs"]
mod warm_up;

use tapewise_model::Random;

fn assert_close(found: f64, expected: f64, relative: f64) {
    assert!(
        (found - expected).abs() <= relative * expected.abs(),
        "{found} is not {expected} within {relative}"
    );
}

/// A series in which each value keeps a share of the last one.
fn autoregressive(seed: u64, count: usize, start: f64, kept: f64) -> Vec<f64> {
    let mut random = Random::new(seed, 0);
    let mut value = start;
    (0..count)
        .map(|_| {
            value = kept * value + random.normal();
            value
        })
        .collect()
}
