use tapewise_sim::statistics::{StatisticsError, warm_up};

use crate::statistics::autoregressive;

#[test]
fn a_decaying_start_is_cut_and_little_more() {
    for seed in 0..20 {
        // Half of the start is left after 34 values, a thousandth after 340.
        let values = autoregressive(seed, 10_000, 100.0, 0.98);
        let cut = warm_up(&values).unwrap();
        assert!(cut >= 100, "seed {seed}: only {cut}");
        let kept = &values[cut..];
        let mean = kept.iter().sum::<f64>() / kept.len() as f64;
        assert!(mean.abs() < 3.0, "seed {seed}: {mean}");
    }
}

#[test]
fn a_run_that_is_steady_from_the_start_keeps_most() {
    let kept: usize = (0..20)
        .map(|seed| 1_000 - warm_up(&autoregressive(seed, 1_000, 0.0, 0.0)).unwrap_or(1_000))
        .sum();
    assert!(kept > 16_000, "{kept} of 20,000");
}

#[test]
fn equal_values_are_all_kept() {
    assert_eq!(warm_up(&[3.0; 57]), Ok(0));
}

#[test]
fn a_queue_that_only_grows_is_refused() {
    let values: Vec<f64> = (0..1_000).map(|at| f64::from(at * at)).collect();
    assert!(matches!(
        warm_up(&values),
        Err(StatisticsError::NotSettled { cut, values: 1_000 }) if cut > 500
    ));
}

#[test]
fn too_few_values_are_refused() {
    assert!(matches!(
        warm_up(&[1.0; 49]),
        Err(StatisticsError::TooFew { least: 50, .. })
    ));
}
