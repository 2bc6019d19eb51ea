//! What outliers cannot move: the standard error of the bulk, and least squares without them.

use crate::least_squares::{Table, least_squares};
use crate::sample::FitError;

/// Tukey's biweight gives up a record this many standard errors off.
pub(crate) const GIVEN_UP: f64 = 4.685;
/// Standard errors are not taken for less than this: positions are reported in whole units.
const LEAST_SCALE_S: f64 = 0.02;
/// Rounds in which records are left out and taken in again.
const ROUNDS: usize = 10;

/// The standard error of the bulk, from the median of what is off.
pub(crate) fn standard_error(errors: &[f64]) -> f64 {
    let mut off: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    let middle = off.len() / 2;
    let median = if off.is_empty() {
        0.0
    } else {
        *off.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    (1.4826 * median).max(LEAST_SCALE_S)
}

/// A regression without outliers.
pub(crate) struct Kept {
    /// Of the records kept, as `lm` would print it for them.
    pub table: Table,
    /// Whether each record was kept.
    pub kept: Vec<bool>,
}

impl Kept {
    /// How many records were left out.
    pub fn outliers(&self) -> usize {
        self.kept.iter().filter(|kept| !**kept).count()
    }
}

/// Least squares without records further off than [`GIVEN_UP`] standard errors of the bulk.
pub(crate) fn without_outliers<const N: usize>(
    names: &[&str; N],
    rows: &[[f64; N]],
    times: &[f64],
) -> Result<Kept, FitError> {
    let mut table = least_squares(names, rows, times)?;
    let mut kept = vec![true; rows.len()];
    for _ in 0..ROUNDS {
        let expected = |row: &[f64; N]| -> f64 {
            (0..N)
                .map(|column| table.estimate(column) * row[column])
                .sum()
        };
        let errors: Vec<f64> = rows
            .iter()
            .zip(times)
            .map(|(row, time)| expected(row) - time)
            .collect();
        let far = GIVEN_UP * standard_error(&errors);
        let near: Vec<bool> = errors.iter().map(|error| error.abs() <= far).collect();
        if near == kept {
            break;
        }
        kept = near;
        let some = |at: &usize| kept[*at];
        let rows: Vec<[f64; N]> = (0..rows.len()).filter(some).map(|at| rows[at]).collect();
        let times: Vec<f64> = (0..times.len()).filter(some).map(|at| times[at]).collect();
        table = least_squares(names, &rows, &times)?;
    }
    Ok(Kept { table, kept })
}
