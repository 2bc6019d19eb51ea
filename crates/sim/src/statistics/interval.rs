//! Intervals, from independent replications.

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
        inside("the confidence level", level)?;
        at_least(2, values, "an interval")?;
        all_finite(values)?;
        let (estimate, variance) = mean_and_variance(values);
        let t = student_t_quantile(0.5 + level / 2.0, values.len() as u64 - 1)?;
        Ok(Interval {
            estimate,
            half_width: t * (variance / values.len() as f64).sqrt(),
            level,
            values: values.len(),
        })
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
}
