use tapewise_sim::statistics::{Interval, Pilot, StatisticsError, replications_needed};

const VALUES: [f64; 5] = [30.0, 32.0, 29.0, 31.0, 33.0];

fn pilot(half_width: f64) -> Pilot<'static> {
    Pilot {
        metric: "mean response",
        values: &VALUES,
        half_width,
    }
}

/// `s^2 = 2.5`: at `n` replications the half-width is `t s / sqrt(n)`, and `n - 1` are not enough.
#[test]
fn one_metric_needs_as_many_as_the_table_of_t_says() {
    let needed = replications_needed(&[pilot(0.5)], 0.95, 1_000).unwrap();
    assert_eq!(
        needed.replications, 41,
        "t(40) = 2.021: 0.499; t(39) = 2.023: 0.506"
    );
}

#[test]
fn what_is_known_well_enough_needs_no_more() {
    let interval = Interval::of_mean(&VALUES, 0.95).unwrap();
    let needed = replications_needed(&[pilot(interval.half_width * 1.000_001)], 0.95, 5).unwrap();
    assert_eq!(needed.replications, 5);
}

#[test]
fn several_metrics_need_as_many_as_the_worst_and_more_for_holding_together() {
    let spread = [70.0, 90.0, 60.0, 80.0, 75.0];
    let tail = Pilot {
        metric: "95th percentile",
        values: &spread,
        half_width: 2.0,
    };
    let alone = replications_needed(std::slice::from_ref(&tail), 0.95, 10_000).unwrap();
    let together = replications_needed(&[pilot(1.0), tail], 0.95, 10_000).unwrap();
    assert_eq!(together.decided_by, 1);
    assert!(together.replications > alone.replications);
}

#[test]
fn what_the_limit_does_not_allow_is_refused_by_name() {
    let refused = replications_needed(&[pilot(0.01)], 0.95, 1_000).unwrap_err();
    assert!(matches!(
        &refused,
        StatisticsError::OutOfReach { pilots: 5, .. }
    ));
    assert!(
        refused
            .to_string()
            .starts_with("mean response would need more than 1000")
    );
    assert!(replications_needed(&[], 0.95, 10).is_err());
    assert!(replications_needed(&[pilot(0.0)], 0.95, 10).is_err());
}
