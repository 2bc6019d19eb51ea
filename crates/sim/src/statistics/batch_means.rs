//! An interval from one long run.

use super::{Interval, StatisticsError, all_finite, at_least, mean_and_variance};

/// Fewest batches: below, the test for correlation says nothing.
const LEAST_BATCHES: usize = 10;

/// Where the true mean lies, from one run in its steady state cut into `batches` of equal length.
///
/// Values at the beginning that do not fill a batch are left out. Neighbouring requests share
/// queues, so only batches much longer than a busy period are nearly independent. Whether they are
/// is tested by von Neumann's ratio: under independence the correlation of neighbours has the
/// standard deviation `sqrt((b - 2) / (b^2 - 1))`, and more than 1.645 of it (one in twenty by
/// chance) is refused.
///
/// # Errors
/// [`StatisticsError::Correlated`]; [`StatisticsError::TooFew`] for fewer than ten batches or fewer
/// values than batches; as [`Interval::of_mean`].
pub fn batch_means(
    values: &[f64],
    batches: usize,
    level: f64,
) -> Result<Interval, StatisticsError> {
    if batches < LEAST_BATCHES {
        return Err(StatisticsError::TooFew {
            purpose: "batches of one run",
            found: batches,
            least: LEAST_BATCHES,
        });
    }
    at_least(batches, values, "this many batches")?;
    all_finite(values)?;
    let length = values.len() / batches;
    let means: Vec<f64> = values[values.len() - batches * length..]
        .chunks_exact(length)
        .map(|batch| batch.iter().sum::<f64>() / length as f64)
        .collect();
    let (_, variance) = mean_and_variance(&means);
    let count = batches as f64;
    let steps: f64 = means
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).powi(2))
        .sum();
    let correlation = if variance > 0.0 {
        1.0 - steps / (2.0 * variance * (count - 1.0))
    } else {
        0.0
    };
    if correlation > 1.645 * ((count - 2.0) / (count * count - 1.0)).sqrt() {
        return Err(StatisticsError::Correlated {
            batches,
            correlation,
        });
    }
    Interval::of_mean(&means, level)
}
