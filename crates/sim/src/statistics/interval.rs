//! Intervals: from independent replications, and from the order of one sample.

use super::{StatisticsError, all_finite, at_least, inside, mean_and_variance, student_t_quantile};

/// An estimate and how far from it the truth may be.
///
/// The values are one from each replication: its mean, its 95th percentile, its variance, its
/// utilisation. Each is itself of thousands of requests and so near normal, and replications are
/// independent, which the requests within a run are not.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Interval {
    /// The mean over replications, in the unit of the values.
    pub estimate: f64,
    /// Half of the interval's width, in the unit of the values.
    pub half_width: f64,
    /// How often such an interval holds the truth.
    pub level: f64,
    /// Values that it is made of.
    pub values: usize,
}

impl Interval {
    /// Where the true mean lies: `mean ± t s / sqrt(n)`.
    ///
    /// # Errors
    /// [`StatisticsError::TooFew`] for fewer than two values, [`StatisticsError::NotFinite`],
    /// [`StatisticsError::Parameter`] where `level` is not between 0 and 1.
    pub fn of_mean(values: &[f64], level: f64) -> Result<Interval, StatisticsError> {
        Interval::scaled(values, level, 1.0 / values.len() as f64)
    }

    /// Where a percentile truly lies: `pooled` is that of all values of all replications together, `values` are those of
    /// each. Long queues are rare, so a replication's own 99th percentile is too low on average; of all of them
    /// together it is so by less. How far it may be off is what those of the replications are off from it, as of a mean
    /// (sectioning: S. Asmussen and P. W. Glynn, *Stochastic Simulation*, 2007, section III.5a).
    ///
    /// `pooled` may come from bins: it is moved to between the least and the greatest of `values`, where it truly is.
    ///
    /// # Errors
    /// As [`Interval::of_mean`].
    pub fn of_pooled(pooled: f64, values: &[f64], level: f64) -> Result<Interval, StatisticsError> {
        let of_mean = Interval::of_mean(values, level)?;
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let estimate = pooled.clamp(least, most);
        let off = values.iter().map(|value| (value - estimate).powi(2));
        let count = values.len() as f64;
        let t = student_t_quantile(0.5 + level / 2.0, values.len() as u64 - 1)?;
        let half_width = t * (off.sum::<f64>() / (count - 1.0) / count).sqrt();
        Ok(Interval {
            estimate,
            half_width,
            ..of_mean
        })
    }

    /// Where one more replication will lie: `mean ± t s sqrt(1 + 1 / n)`. What a single measured
    /// run is compared with.
    ///
    /// # Errors
    /// As [`Interval::of_mean`].
    pub fn of_another(values: &[f64], level: f64) -> Result<Interval, StatisticsError> {
        Interval::scaled(values, level, 1.0 + 1.0 / values.len() as f64)
    }

    /// The lower end.
    pub fn low(&self) -> f64 {
        self.estimate - self.half_width
    }

    /// The upper end.
    pub fn high(&self) -> f64 {
        self.estimate + self.half_width
    }

    /// Whether `value` lies inside, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low() <= value && value <= self.high()
    }

    fn scaled(values: &[f64], level: f64, share: f64) -> Result<Interval, StatisticsError> {
        inside("the confidence level", level)?;
        at_least(2, values, "an interval")?;
        all_finite(values)?;
        let (estimate, variance) = mean_and_variance(values);
        let t = student_t_quantile(0.5 + level / 2.0, values.len() as u64 - 1)?;
        Ok(Interval {
            estimate,
            half_width: t * (variance * share).sqrt(),
            level,
            values: values.len(),
        })
    }
}

/// Between which of `count` independent values, sorted and counted from 0, the quantile at `p` lies
/// with at least the confidence `level`: exact for any distribution, by the binomial.
///
/// Each side has at most half of what may be missed. `None` where even the extremes do not suffice:
/// too few values for so extreme a quantile.
///
/// # Errors
/// [`StatisticsError::Parameter`] where `p` or `level` is not between 0 and 1.
pub fn order_statistics(
    count: usize,
    p: f64,
    level: f64,
) -> Result<Option<(usize, usize)>, StatisticsError> {
    inside("the share of a quantile", p)?;
    inside("the confidence level", level)?;
    let missed = (1.0 - level) / 2.0;
    // The value at `low` is above the quantile where at most `low` values are below it; and so on.
    let below = least_rank(count, p, missed);
    let above = least_rank(count, 1.0 - p, missed);
    Ok(below
        .zip(above)
        .map(|(low, from_end)| (low, count - 1 - from_end))
        .filter(|(low, high)| low < high))
}

/// The highest rank whose value exceeds the quantile at `p` with at most the probability `missed`:
/// the binomial probability of at most `rank` successes in `count`.
fn least_rank(count: usize, p: f64, missed: f64) -> Option<usize> {
    let odds = (p / (1.0 - p)).ln();
    let mut log_term = count as f64 * (-p).ln_1p();
    let mut sum = 0.0;
    let mut found = None;
    for successes in 0..count {
        sum += log_term.exp();
        if sum > missed {
            break;
        }
        found = Some(successes);
        log_term += ((count - successes) as f64 / (successes + 1) as f64).ln() + odds;
    }
    found
}
