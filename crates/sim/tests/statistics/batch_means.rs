use tapewise_sim::statistics::{StatisticsError, batch_means};

use crate::statistics::autoregressive;

#[test]
fn long_batches_hold_the_truth_as_often_as_they_say() {
    let held = (0..400)
        .filter(|&seed| {
            let values = autoregressive(seed, 20_000, 0.0, 0.8);
            batch_means(&values, 20, 0.9).is_ok_and(|interval| interval.contains(0.0))
        })
        .count();
    // One in twenty is refused by chance, one in ten of the others misses.
    assert!((320..=372).contains(&held), "{held} of 400");
}

#[test]
fn batches_that_know_of_each_other_are_refused() {
    let values = autoregressive(1, 2_000, 0.0, 0.98);
    assert!(matches!(
        batch_means(&values, 200, 0.9),
        Err(StatisticsError::Correlated { batches: 200, correlation }) if correlation > 0.3
    ));
}

#[test]
fn equal_values_have_an_interval_of_no_width() {
    let interval = batch_means(&[2.0; 105], 10, 0.9).unwrap();
    assert_eq!((interval.estimate, interval.half_width), (2.0, 0.0));
}

#[test]
fn few_batches_and_fewer_values_are_refused() {
    assert!(batch_means(&[1.0; 100], 9, 0.9).is_err());
    assert!(batch_means(&[1.0; 9], 10, 0.9).is_err());
}
