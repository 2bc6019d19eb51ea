//! Where one run of a twin lies, as closely as logs can tell.

use crate::statistics::{Interval, StatisticsError};
use crate::study::LEVEL;

/// What logs resolve: many have whole seconds.
pub(super) const RESOLVED_S: f64 = 1.0;

/// No log is as exact as this share of its numbers.
const RESOLVED: f64 = 0.005;

/// Where one run of a twin lies, if these are runs of it. At least `least` or half a per cent to either side: where
/// nothing is drawn all runs are the same, and a log that rounds its times would be outside.
pub(super) fn one_run(values: &[f64], least: f64) -> Result<Interval, StatisticsError> {
    let mut range = Interval::of_another(values, LEVEL)?;
    range.half_width = range.half_width.max(least).max(range.estimate * RESOLVED);
    Ok(range)
}
