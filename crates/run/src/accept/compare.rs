//! Two reports side by side: what changed, by how much, and whether chance explains it.
//!
//! Two means differ by chance alone. An interval for the difference says by how much they may; where it does not
//! hold 0, the quantity has changed. Where both reports have the same samples (one seed, one plan, as many blocks on the
//! cartridge), each sample is set beside itself, and where it leads on the tape makes no noise: the paired interval.
//! Elsewhere it is Welch's. With many quantities some interval misses 0 by chance, so each is as wide as
//! Bonferroni asks for: the risk that one of all is wrong is [`RISK`]. No percentage is fixed: a mount that always takes the
//! same time shows a change of a tenth of a second, a locate between any places one of seconds.
//!
//! What was measured once has no spread, and is shown but not judged. A quantity that one report only has is named.

use super::report::AcceptanceReport;
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

impl AcceptanceReport {
    /// Compares with a former report.
    pub fn beside(&self, former: &AcceptanceReport) -> Comparison {
        compare(
            &former.measures,
            &self.measures,
            self.has_samples_of(former),
        )
    }

    /// Whether each sample was taken at the same place in both.
    fn has_samples_of(&self, former: &AcceptanceReport) -> bool {
        let samples = |report: &AcceptanceReport| {
            let parts = report.parts.iter();
            let parts: Vec<_> = parts
                .map(|part| (part.name.clone(), part.planned))
                .collect();
            (report.places(), parts)
        };
        self.cartridge.is_some() && samples(self) == samples(former)
    }
}

/// Compares what was measured then and now; `paired` where the samples are the same.
fn compare(former: &[Measure], now: &[Measure], paired: bool) -> Comparison {
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
            .map(|(former, now)| change(former, now, risk, paired))
            .collect(),
        only_former: alone(former, now),
        only_now: alone(now, former),
    }
}

fn change(former: &Measure, now: &Measure, risk: f64, paired: bool) -> Change {
    let half_width = if paired && former.n == now.n {
        of_pairs(former, now, risk)
    } else {
        welch(former, now, risk)
    };
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

/// Half the width of the interval for the mean of the differences, sample by sample.
fn of_pairs(former: &Measure, now: &Measure, risk: f64) -> Option<f64> {
    let pairs = former.values.iter().zip(&now.values);
    let differences: Vec<f64> = pairs.map(|(then, now)| now - then).collect();
    let kind = (now.unit.as_str(), now.better);
    let mut of = Measure::of(&now.part, &*now.what, kind, &differences)?;
    of.sd = of.sd.max(resolution(now));
    half_width(&of, risk)
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

fn resolution(measure: &Measure) -> f64 {
    RESOLUTION * measure.mean.abs().max(1.0)
}

/// The variance of a mean, and its degrees of freedom; `None` for what was measured once.
fn variance_of_mean(measure: &Measure) -> Option<(f64, f64)> {
    let n = measure.n as f64;
    let sd = measure.sd.max(resolution(measure));
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
        compare(&[former], &[now], false).changes[0].verdict
    }

    /// Oracle: Welch's test by hand. Variances of the means 0.5 and 2, with 3 and 7 degrees: (0.5 + 2)^2 / (0.25 / 3 +
    /// 4 / 7) = 9.5454 degrees; the quantile of t there at 97.5 % is 2.2427 by the tables between 9 (2.262) and 10 (2.228).
    #[test]
    fn the_interval_is_that_of_welch() {
        let of = |n: usize, variance: f64| Measure {
            n,
            sd: (variance * n as f64).sqrt(),
            ..times("x", &[1.0, 1.0])
        };
        let half = welch(&of(4, 0.5), &of(8, 2.0), 0.05).expect("an interval");
        assert!((half - 2.2427 * 2.5_f64.sqrt()).abs() < 0.005, "{half}");
    }

    /// Locates to the same places: what differs from place to place is no noise.
    #[test]
    fn the_same_samples_are_set_beside_themselves() {
        let then = [20.0, 80.0, 35.0, 65.0, 50.0, 44.0];
        let noise = [0.1, -0.1, 0.05, 0.0, -0.05, 0.1];
        let now: Vec<f64> = then
            .iter()
            .zip(noise)
            .map(|(then, noise)| then + 1.0 + noise)
            .collect();
        let (then, now) = ([times("x", &then)], [times("x", &now)]);
        assert_eq!(
            compare(&then, &now, false).changes[0].verdict,
            Verdict::Alike
        );
        let paired = compare(&then, &now, true);
        assert_eq!(paired.changes[0].verdict, Verdict::Worse);
        // The differences have a standard deviation of 0.08165 and five degrees: 4.032 at 99 %.
        let half = paired.changes[0].half_width.expect("an interval");
        assert!(
            (half - 4.032 * 0.08165 / 6.0_f64.sqrt()).abs() < 1e-3,
            "{half}"
        );
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
        let compared = compare(&[times("gone", &[1.0])], &[times("new", &[1.0])], false);
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
            let compared = compare(&report(), &report(), false);
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
