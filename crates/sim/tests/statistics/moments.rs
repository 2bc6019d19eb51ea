use proptest::prelude::*;
use tapewise_model::Micros;
use tapewise_sim::statistics::{LONGEST, Moments, StatisticsError};

use crate::statistics::assert_close;

fn of(times: &[i64]) -> Moments {
    let mut moments = Moments::default();
    for &time in times {
        moments.push(Micros(time)).unwrap();
    }
    moments
}

#[test]
fn of_nothing_there_is_no_mean_and_of_one_no_variance() {
    assert_eq!(of(&[]).mean_s(), None);
    assert_eq!(of(&[]).extremes(), None);
    assert_eq!(of(&[7]).variance_s2(), None);
    assert_eq!(of(&[7]).mean_s(), Some(7e-6));
}

#[test]
fn two_times_a_microsecond_apart_far_out_have_their_variance() {
    let year_us = 31_557_600_000_000;
    let moments = of(&[year_us, year_us + 1]);
    assert_eq!(moments.variance_s2(), Some(0.5e-12));
}

#[test]
fn a_time_of_five_years_is_refused_and_not_counted() {
    let mut moments = of(&[1, 2]);
    let before = moments;
    let time = Micros(LONGEST.0 + 1);
    assert_eq!(
        moments.push(time),
        Err(StatisticsError::TimeOutOfRange { time })
    );
    assert_eq!(moments, before);
    assert!(moments.push(LONGEST).is_ok() && moments.push(-LONGEST).is_ok());
}

proptest! {
    #[test]
    fn joined_in_any_order_moments_are_those_of_all(
        a in prop::collection::vec(-1i64 << 47..1 << 47, 0..40),
        b in prop::collection::vec(-1i64 << 47..1 << 47, 0..40),
        c in prop::collection::vec(0i64..1 << 20, 0..40),
    ) {
        let whole = of(&[a.clone(), b.clone(), c.clone()].concat());
        let (a, b, c) = (of(&a), of(&b), of(&c));
        let mut left = a;
        left.join(&b);
        left.join(&c);
        let mut right = c;
        right.join(&a);
        right.join(&b);
        prop_assert_eq!(left, whole);
        prop_assert_eq!(right, whole);
    }

    #[test]
    fn mean_and_variance_are_those_of_two_passes(
        times in prop::collection::vec(-1_000_000_000i64..1_000_000_000, 2..100),
    ) {
        let seconds: Vec<f64> = times.iter().map(|&time| time as f64 / 1e6).collect();
        let count = seconds.len() as f64;
        let mean = seconds.iter().sum::<f64>() / count;
        let variance = seconds.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let moments = of(&times);
        prop_assert!((moments.mean_s().unwrap() - mean).abs() < 1e-9);
        assert_close(moments.variance_s2().unwrap(), variance, 1e-9);
        let least = Micros(*times.iter().min().unwrap());
        prop_assert_eq!(moments.extremes().unwrap().0, least);
    }
}
