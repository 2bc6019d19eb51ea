use proptest::prelude::*;
use tapewise_model::Micros;
use tapewise_sim::statistics::{Histogram, LONGEST, RELATIVE_ERROR};

fn of(times: &[i64]) -> Histogram {
    let mut histogram = Histogram::default();
    for &time in times {
        histogram.push(Micros(time)).unwrap();
    }
    histogram
}

#[test]
fn of_nothing_there_is_no_quantile() {
    assert_eq!(of(&[]).quantile(0.5), Ok(None));
    assert_eq!(of(&[]).share_above(Micros(1)), None);
    assert!(of(&[1]).quantile(1.0).is_err());
}

#[test]
fn short_times_are_exact() {
    let histogram = of(&(0..2_048).collect::<Vec<i64>>());
    for (p, time) in [(1e-9, 0), (0.5, 1_023), (0.999_999, 2_047)] {
        assert_eq!(histogram.quantile(p), Ok(Some(Micros(time))));
    }
    assert_eq!(histogram.share_above(Micros(1_023)), Some(0.5));
    assert_eq!(histogram.share_above(Micros(-1)), Some(1.0));
}

#[test]
fn what_is_below_zero_or_beyond_the_longest_is_refused_and_not_counted() {
    let mut histogram = of(&[5]);
    assert!(histogram.push(Micros(-1)).is_err());
    assert!(histogram.push(Micros(LONGEST.0 + 1)).is_err());
    assert_eq!(histogram, of(&[5]));
    assert!(histogram.push(LONGEST).is_ok());
}

proptest! {
    #[test]
    fn a_quantile_is_within_the_stated_error(
        mut times in prop::collection::vec(0i64..1 << 47, 1..200), p in 0.001f64..0.999,
    ) {
        let found = of(&times).quantile(p).unwrap().unwrap();
        times.sort_unstable();
        let exact = times[((p * times.len() as f64).ceil() as usize).max(1) - 1];
        prop_assert!((found.0 - exact).abs() as f64 <= RELATIVE_ERROR * exact as f64);
    }

    #[test]
    fn small_times_too(mut times in prop::collection::vec(0i64..10_000, 1..50)) {
        let found = of(&times).quantile(0.5).unwrap().unwrap();
        times.sort_unstable();
        let exact = times[times.len().div_ceil(2) - 1];
        prop_assert!((found.0 - exact).abs() as f64 <= RELATIVE_ERROR * exact as f64);
    }

    #[test]
    fn joined_in_any_order_histograms_are_that_of_all(
        a in prop::collection::vec(0i64..1 << 47, 0..40),
        b in prop::collection::vec(0i64..1 << 30, 0..40),
    ) {
        let whole = of(&[a.clone(), b.clone()].concat());
        let (mut one, mut other) = (of(&a), of(&b));
        let first = one.clone();
        one.join(&other);
        other.join(&first);
        prop_assert_eq!(&one, &whole);
        prop_assert_eq!(other, whole);
    }
}
