use tapewise_model::Random;
use tapewise_sim::statistics::{Interval, StatisticsError};

use crate::assert_close;

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

/// 2,000 times: an interval at 90 % misses one time in ten, within four standard deviations.
#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let mut random = Random::new(4, 0);
    let mut mean = 0;
    for _ in 0..2_000 {
        let values: Vec<f64> = (0..8).map(|_| 5.0 + random.normal()).collect();
        mean += u32::from(Interval::of_mean(&values, 0.9).unwrap().contains(5.0));
    }
    assert!((1_746..=1_854).contains(&mean), "{mean}");
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
