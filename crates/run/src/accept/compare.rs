//! Two reports side by side: what changed, by how much, and whether chance explains it.
//!
//! Two means differ by chance alone. Welch's interval for the difference says by how much they may; where it does not
//! hold 0, the quantity has changed. With many quantities some interval misses 0 by chance, so each is as wide as
//! Bonferroni asks for: the risk that one of all is wrong is [`RISK`]. No percentage is fixed: a mount that always takes the
//! same time shows a change of a tenth of a second, a locate between any places one of seconds.
//!
//! What was measured once has no spread, and is shown but not judged. A quantity that one report only has is named.

use crate::measure::summary::{Better, Measure};
use tapewise_model::student_t_quantile;

/// The risk that a comparison finds any change where there is none.
pub const RISK: f64 = 0.01;

/// Two reports side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// What both have, in the order of the present report.
    pub changes: Vec<Change>,
    /// What the former report alone has.
    pub only_former: Vec<String>,
    /// What the present report alone has.
    pub only_now: Vec<String>,
}

/// A quantity, then and now.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Then.
    pub former: Measure,
    /// Now.
    pub now: Measure,
    /// Half the width of the interval around the difference of the means; `None` where one was measured once.
    pub half_width: Option<f64>,
    /// What that means.
    pub verdict: Verdict,
}

/// What has come of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Chance explains the difference.
    Alike,
    /// It got better.
    Better,
    /// It got worse.
    Worse,
    /// It was measured once, so nobody knows.
    Unjudged,
}

impl Change {
    /// Now less then.
    pub fn difference(&self) -> f64 {
        self.now.mean - self.former.mean
    }
}

impl Comparison {
    /// The changes with this verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .filter(move |change| change.verdict == verdict)
    }
}

/// Compares what was measured then and now.
pub fn compare(former: &[Measure], now: &[Measure]) -> Comparison {
    let is_same =
        |a: &Measure, b: &Measure| (&a.part, &a.what, &a.unit) == (&b.part, &b.what, &b.unit);
    let alone = |these: &[Measure], others: &[Measure]| -> Vec<String> {
        let alone = these
            .iter()
            .filter(|one| !others.iter().any(|other| is_same(one, other)));
        alone.map(|one| one.what.clone()).collect()
    };
    let pairs: Vec<(&Measure, &Measure)> = now
        .iter()
        .filter_map(|now| Some((former.iter().find(|former| is_same(former, now))?, now)))
        .collect();
    let judged = pairs
        .iter()
        .filter(|(former, now)| former.n.min(now.n) > 1)
        .count();
    let risk = RISK / judged.max(1) as f64;
    Comparison {
        changes: pairs
            .into_iter()
            .map(|(former, now)| change(former, now, risk))
            .collect(),
        only_former: alone(former, now),
        only_now: alone(now, former),
    }
}

fn change(former: &Measure, now: &Measure, risk: f64) -> Change {
    let half_width = welch(former, now, risk);
    let difference = now.mean - former.mean;
    let verdict = match half_width {
        None => Verdict::Unjudged,
        Some(half) if difference.abs() <= half => Verdict::Alike,
        Some(_) if (difference < 0.0) == (now.better == Better::Lower) => Verdict::Better,
        Some(_) => Verdict::Worse,
    };
    Change {
        former: former.clone(),
        now: now.clone(),
        half_width,
        verdict,
    }
}

/// Half the width of Welch's interval for the difference of two means.
fn welch(a: &Measure, b: &Measure, risk: f64) -> Option<f64> {
    let [(va, da), (vb, db)] = [variance_of_mean(a)?, variance_of_mean(b)?];
    let degrees = (va + vb).powi(2) / (va * va / da + vb * vb / db);
    Some(student_t_quantile(1.0 - risk / 2.0, degrees) * (va + vb).sqrt())
}

/// Half the width of the interval for a mean: with this risk it is farther off. `None` for what was measured once.
pub fn half_width(measure: &Measure, risk: f64) -> Option<f64> {
    let (variance, degrees) = variance_of_mean(measure)?;
    Some(student_t_quantile(1.0 - risk / 2.0, degrees) * variance.sqrt())
}

/// Times are logged in whole microseconds: what never differs is still no surer than that.
const RESOLUTION: f64 = 1e-6;

/// The variance of a mean, and its degrees of freedom; `None` for what was measured once.
fn variance_of_mean(measure: &Measure) -> Option<(f64, f64)> {
    let n = measure.n as f64;
    let sd = measure.sd.max(RESOLUTION * measure.mean.abs().max(1.0));
    (measure.n > 1).then(|| (sd * sd / n, n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::summary::TIME;
    use tapewise_model::Random;

    fn times(what: &str, values: &[f64]) -> Measure {
        Measure::of("part", what, TIME, values).expect("values")
    }

    fn rates(values: &[f64]) -> Measure {
        Measure::of("part", "rate", ("MB/s", Better::Higher), values).expect("values")
    }

    fn verdict(former: Measure, now: Measure) -> Verdict {
        compare(&[former], &[now]).changes[0].verdict
    }

    /// Means 20.82 and 22.98 of 15 values each: t = -2.84 at 27.9 degrees (the second example of Welch's test in
    /// Wikipedia), p = 0.0084.
    #[test]
    fn the_interval_is_that_of_welch() {
        let a = [
            27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7,
            21.4,
        ];
        let b = [
            27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5,
            19.9,
        ];
        let [a, b] = [a, b].map(|values| times("x", &values));
        let half = |risk| welch(&a, &b, risk).expect("an interval");
        let difference = b.mean - a.mean;
        // The interval touches 0 where the risk is the test's p.
        let (mut low, mut high) = (1e-6, 0.5);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if half(middle) > difference {
                low = middle
            } else {
                high = middle
            }
        }
        let degrees = 27.0..29.0;
        let p = tapewise_model::student_t_tails(
            difference / (half(0.05) / student_t_quantile(0.975, 28.0)),
            28.0,
        );
        assert!((low - p).abs() < 2e-3, "{low} {p}");
        assert!(degrees.contains(&28.0));
    }

    #[test]
    fn a_time_that_grows_is_worse_and_a_rate_that_grows_is_better() {
        let (few, more) = ([10.0, 10.1, 9.9, 10.0], [12.0, 12.1, 11.9, 12.0]);
        assert_eq!(verdict(times("x", &few), times("x", &more)), Verdict::Worse);
        assert_eq!(
            verdict(times("x", &more), times("x", &few)),
            Verdict::Better
        );
        assert_eq!(verdict(rates(&few), rates(&more)), Verdict::Better);
        assert_eq!(verdict(rates(&more), rates(&few)), Verdict::Worse);
        assert_eq!(verdict(rates(&more), rates(&more)), Verdict::Alike);
    }

    #[test]
    fn the_same_difference_is_a_change_among_even_times_and_chance_among_uneven_ones() {
        let even = |shift: f64| {
            times(
                "x",
                &[50.0 + shift, 50.1 + shift, 49.9 + shift, 50.0 + shift],
            )
        };
        let uneven = |shift: f64| {
            times(
                "x",
                &[20.0 + shift, 80.0 + shift, 35.0 + shift, 65.0 + shift],
            )
        };
        assert_eq!(verdict(even(0.0), even(2.0)), Verdict::Worse);
        assert_eq!(verdict(uneven(0.0), uneven(2.0)), Verdict::Alike);
    }

    #[test]
    fn what_was_measured_once_is_not_judged_and_what_one_report_has_is_named() {
        assert_eq!(
            verdict(times("x", &[1.0]), times("x", &[2.0, 2.0])),
            Verdict::Unjudged
        );
        let compared = compare(&[times("gone", &[1.0])], &[times("new", &[1.0])]);
        assert_eq!(compared.changes, []);
        assert_eq!(
            (compared.only_former, compared.only_now),
            (vec!["gone".to_owned()], vec!["new".to_owned()])
        );
    }

    #[test]
    fn times_that_never_differ_show_a_tenth_of_a_second() {
        let (then, now) = (times("x", &[15.0; 8]), times("x", &[15.1; 8]));
        assert_eq!(verdict(then.clone(), now), Verdict::Worse);
        assert_eq!(verdict(then.clone(), then), Verdict::Alike);
    }

    /// A thousand comparisons of thirty quantities that did not change: about ten may find one that did.
    #[test]
    fn where_nothing_changed_hardly_any_comparison_finds_a_change() {
        let mut random = Random::new(11, 0);
        let mut report = || -> Vec<Measure> {
            let quantity = |at: i32, random: &mut Random| {
                let count = 4 + at as usize % 20;
                let values: Vec<f64> = (0..count)
                    .map(|_| 60.0 + f64::from(at) * random.normal())
                    .collect();
                times(&format!("q{at}"), &values)
            };
            (1..=30).map(|at| quantity(at, &mut random)).collect()
        };
        let alarms = (0..1_000).filter(|_| {
            let compared = compare(&report(), &report());
            compared
                .with(Verdict::Worse)
                .chain(compared.with(Verdict::Better))
                .next()
                .is_some()
        });
        let alarms = alarms.count();
        assert!(alarms <= 20, "{alarms} of 1,000");
    }
}
