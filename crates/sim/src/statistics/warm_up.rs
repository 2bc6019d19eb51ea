//! How much of the beginning of a run is warm-up.

use super::{StatisticsError, all_finite, at_least};

/// Values that are averaged before the cut is looked for.
pub const WARM_UP_BATCH: usize = 5;

/// Least number of batches in which a cut is looked for.
const LEAST_BATCHES: usize = 10;

/// How many values to cut from the beginning of a run, by MSER-5.
///
/// A cut that leaves `m` batches of five is judged by the squared error of the mean of what is
/// left, `sum (y - mean)^2 / m^2`; the least wins (K. P. White, *An effective truncation heuristic
/// for bias reduction in simulation output*, Simulation 69, 1997). Five values at the end that make
/// no batch are not looked at.
///
/// # Errors
/// [`StatisticsError::NotSettled`] where the cut would fall in the second half: then what is left
/// is not more to be believed than what is cut. [`StatisticsError::TooFew`] below 50 values,
/// [`StatisticsError::NotFinite`].
pub fn warm_up(values: &[f64]) -> Result<usize, StatisticsError> {
    at_least(LEAST_BATCHES * WARM_UP_BATCH, values, "a warm-up by MSER-5")?;
    all_finite(values)?;
    let batches: Vec<f64> = values
        .chunks_exact(WARM_UP_BATCH)
        .map(|batch| batch.iter().sum::<f64>() / WARM_UP_BATCH as f64)
        .collect();
    // From the end, Welford: mean and squares of what is left behind each cut. Fewer than five
    // batches are equal by chance too easily, and are never what is left.
    let (mut mean, mut squares, mut left) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (cut, batch) in batches.iter().enumerate().rev() {
        left += 1.0;
        let off = batch - mean;
        mean += off / left;
        squares += off * (batch - mean);
        let error = squares / (left * left);
        if left >= 5.0 && error <= best.0 {
            best = (error, cut);
        }
    }
    let cut = best.1 * WARM_UP_BATCH;
    if best.1 * 2 > batches.len() {
        return Err(StatisticsError::NotSettled {
            cut,
            values: values.len(),
        });
    }
    Ok(cut)
}
