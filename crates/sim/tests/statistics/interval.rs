use tapewise_model::Random;
use tapewise_sim::statistics::{Interval, StatisticsError, order_statistics};

use crate::statistics::assert_close;

/// Ten values with mean 1.34 and variance 0.17 (Law, *Simulation Modeling and Analysis*, example
/// 4.27: 1.34 ± 0.24 at 90 %).
const LAW: [f64; 10] = [1.20, 1.50, 1.68, 1.89, 0.95, 1.49, 1.58, 1.55, 0.50, 1.09];

#[test]
fn the_interval_of_a_textbooks_ten_values_is_the_books() {
    let interval = Interval::of_mean(&LAW, 0.9).unwrap();
    assert_close(interval.estimate, 1.343, 1e-12);
    assert_close(interval.half_width, 0.24, 0.02);
    assert!(interval.contains(interval.low()) && !interval.contains(1.6));
}

#[test]
fn an_interval_for_another_value_is_wider_by_the_root_of_n_and_one() {
    let mean = Interval::of_mean(&LAW, 0.95).unwrap();
    let another = Interval::of_another(&LAW, 0.95).unwrap();
    assert_close(another.half_width, mean.half_width * 11f64.sqrt(), 1e-12);
}

#[test]
fn a_pooled_percentile_is_as_unsure_as_those_of_the_replications_are_off_from_it() {
    let mean = Interval::of_mean(&LAW, 0.95).unwrap();
    let same = Interval::of_pooled(1.343, &LAW, 0.95).unwrap();
    assert_close(same.half_width, mean.half_width, 1e-12);
    let higher = Interval::of_pooled(1.6, &LAW, 0.95).unwrap();
    assert_eq!(higher.estimate, 1.6);
    // The mean square about 1.6 is the variance and the square of the difference.
    let spread = (0.17 + 10.0 / 9.0 * 0.257f64.powi(2)).sqrt() / 0.17f64.sqrt();
    assert_close(higher.half_width, mean.half_width * spread, 1e-2);
    // A bin's middle, where all are alike.
    let alike = Interval::of_pooled(30.01, &[30.0; 4], 0.95).unwrap();
    assert_eq!((alike.estimate, alike.half_width), (30.0, 0.0));
}

/// 2,000 times: an interval at 90 % misses one time in ten, within four standard deviations.
#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let mut random = Random::new(4, 0);
    let (mut mean, mut another, mut median) = (0, 0, 0);
    for _ in 0..2_000 {
        let mut values: Vec<f64> = (0..8).map(|_| 5.0 + random.normal()).collect();
        mean += u32::from(Interval::of_mean(&values, 0.9).unwrap().contains(5.0));
        let next = 5.0 + random.normal();
        another += u32::from(Interval::of_another(&values, 0.9).unwrap().contains(next));
        values.sort_by(f64::total_cmp);
        let (low, high) = order_statistics(8, 0.5, 0.9).unwrap().unwrap();
        median += u32::from(values[low] <= 5.0 && 5.0 <= values[high]);
    }
    assert!((1_746..=1_854).contains(&mean), "{mean}");
    assert!((1_746..=1_854).contains(&another), "{another}");
    // At least as often: ranks are whole. Between the second and the seventh of eight: 93 %.
    assert!((1_806..=1_906).contains(&median), "{median}");
}

/// The usual table of ranks for the median (from 1: 2 and 9 of ten, 40 and 61 of a hundred at 95
/// %).
#[test]
fn ranks_for_the_median_are_those_of_the_table() {
    assert_eq!(order_statistics(10, 0.5, 0.95), Ok(Some((1, 8))));
    assert_eq!(order_statistics(100, 0.5, 0.95), Ok(Some((39, 60))));
    assert_eq!(
        order_statistics(5, 0.5, 0.95),
        Ok(None),
        "extremes of five miss in 6 %"
    );
    assert_eq!(order_statistics(50, 0.99, 0.95), Ok(None));
    assert!(order_statistics(100_000, 0.99, 0.95).unwrap().is_some());
}

#[test]
fn one_value_and_none_and_what_is_no_number_are_refused() {
    assert!(matches!(
        Interval::of_mean(&[1.0], 0.9),
        Err(StatisticsError::TooFew {
            found: 1,
            least: 2,
            ..
        })
    ));
    assert!(Interval::of_mean(&[], 0.9).is_err());
    assert!(Interval::of_mean(&LAW, 1.0).is_err());
    assert!(matches!(
        Interval::of_mean(&[1.0, f64::NAN], 0.9),
        Err(StatisticsError::NotFinite {
            index: 1,
            of: 2,
            ..
        })
    ));
}
