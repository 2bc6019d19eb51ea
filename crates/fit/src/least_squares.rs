//! Ordinary least squares with the table that R's `lm` prints.

use crate::sample::FitError;
use tapewise_model::{f_tail, student_t_tails};

/// One coefficient of a regression.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The column's name.
    pub name: String,
    /// The coefficient; `None` where the column is a combination of those before it.
    pub estimate: Option<f64>,
    /// Its standard error.
    pub std_error: f64,
    /// Estimate over standard error.
    pub t: f64,
    /// The probability of a `t` as far from zero if the coefficient were none.
    pub p: f64,
}

/// A regression: coefficients, and how well they fit what they were fitted to.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The coefficients in the order of the columns.
    pub terms: Vec<Term>,
    /// Residual standard error, in the unit of the times.
    pub residual: f64,
    /// Its degrees of freedom.
    pub degrees: usize,
    /// Share of the variance explained.
    pub r_squared: f64,
    /// The same, less what that many columns explain by chance.
    pub adjusted_r_squared: f64,
    /// F of all columns but a constant, and its degrees of freedom.
    pub f: (f64, usize),
    /// The probability of an F as large by chance.
    pub f_p: f64,
}

impl Table {
    /// A coefficient; 0 where its column was left out.
    pub fn estimate(&self, column: usize) -> f64 {
        self.terms[column].estimate.unwrap_or(0.0)
    }
}

/// A column counts as a combination of others when less than this share of it is left.
const ALIASED: f64 = 1e-7;

/// Fits `times` by the columns of `rows`, of which a combination must be constant for R² and F to
/// mean anything.
///
/// By Householder's reflections, column by column; aliased columns are left out, as `lm` does.
///
/// # Errors
/// [`FitError::Shape`] where rows, names and times do not match, [`FitError::TooFew`] where there
/// are no more rows than columns.
pub fn least_squares<R: AsRef<[f64]>>(
    names: &[&str],
    rows: &[R],
    times: &[f64],
) -> Result<Table, FitError> {
    let (n, columns) = (rows.len(), names.len());
    let misshapen = rows.iter().any(|row| row.as_ref().len() != columns);
    if misshapen || times.len() != n || columns == 0 {
        return Err(FitError::Shape {
            rows: n,
            times: times.len(),
            columns,
        });
    }
    if n <= columns {
        return Err(FitError::TooFew {
            found: n,
            least: columns + 1,
        });
    }
    let design: Vec<Vec<f64>> = (0..columns)
        .map(|column| rows.iter().map(|row| row.as_ref()[column]).collect())
        .collect();
    let triangle = Triangle::of(design, times.to_vec());
    Ok(triangle.table(names, times))
}

/// The triangle that reflections leave of a design matrix.
struct Triangle {
    /// The columns that were kept, by their number.
    kept: Vec<usize>,
    /// By kept column: its entries in the rows of the triangle.
    upper: Vec<Vec<f64>>,
    /// The times under the same reflections.
    times: Vec<f64>,
}

impl Triangle {
    fn of(mut design: Vec<Vec<f64>>, mut times: Vec<f64>) -> Triangle {
        let norm = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>().sqrt();
        let (mut kept, mut upper) = (Vec::new(), Vec::new());
        for column in 0..design.len() {
            let rank = kept.len();
            let whole = norm(&design[column]);
            let left = norm(&design[column][rank..]);
            if left <= ALIASED * whole {
                continue;
            }
            let mut mirror = design[column][rank..].to_vec();
            let onto = if mirror[0] > 0.0 { -left } else { left };
            mirror[0] -= onto;
            let square: f64 = mirror.iter().map(|v| v * v).sum();
            let reflect = |values: &mut [f64]| {
                let along: f64 = mirror.iter().zip(&*values).map(|(m, v)| m * v).sum();
                let twice = 2.0 * along / square;
                values
                    .iter_mut()
                    .zip(&mirror)
                    .for_each(|(v, m)| *v -= twice * m);
            };
            design[column + 1..]
                .iter_mut()
                .for_each(|later| reflect(&mut later[rank..]));
            reflect(&mut times[rank..]);
            let mut entries = design[column][..rank].to_vec();
            entries.push(onto);
            kept.push(column);
            upper.push(entries);
        }
        Triangle { kept, upper, times }
    }

    /// Solves the triangle for a right side.
    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut solution = right[..self.kept.len()].to_vec();
        for column in (0..solution.len()).rev() {
            solution[column] /= self.upper[column][column];
            let found = solution[column];
            let (above, entries) = (&mut solution[..column], &self.upper[column]);
            for (value, entry) in above.iter_mut().zip(entries) {
                *value -= entry * found;
            }
        }
        solution
    }

    /// The diagonal of (X'X)^-1: the squared rows of the triangle's inverse.
    fn inverse_diagonal(&self) -> Vec<f64> {
        let rank = self.kept.len();
        let mut squares = vec![0.0; rank];
        for column in 0..rank {
            let mut unit = vec![0.0; rank];
            unit[column] = 1.0;
            for (square, entry) in squares.iter_mut().zip(self.solve(&unit)) {
                *square += entry * entry;
            }
        }
        squares
    }

    fn table(&self, names: &[&str], times: &[f64]) -> Table {
        let (n, rank) = (times.len(), self.kept.len());
        let mean = times.iter().sum::<f64>() / n as f64;
        let total: f64 = times.iter().map(|t| (t - mean).powi(2)).sum();
        let left: f64 = self.times[rank..].iter().map(|t| t * t).sum();
        let degrees = n - rank;
        let variance = left / degrees as f64;
        let r_squared = 1.0 - left / total;
        let model_degrees = rank.saturating_sub(1);
        let f = (total - left) / model_degrees as f64 / variance;
        let mut terms: Vec<Term> = names.iter().map(|name| Term::left_out(name)).collect();
        let estimates = self
            .solve(&self.times)
            .into_iter()
            .zip(self.inverse_diagonal());
        for (&column, (estimate, diagonal)) in self.kept.iter().zip(estimates) {
            let std_error = (variance * diagonal).sqrt();
            let t = estimate / std_error;
            terms[column] = Term {
                name: names[column].to_owned(),
                estimate: Some(estimate),
                std_error,
                t,
                p: student_t_tails(t, degrees as f64),
            };
        }
        Table {
            terms,
            residual: variance.sqrt(),
            degrees,
            r_squared,
            adjusted_r_squared: 1.0 - (1.0 - r_squared) * (n - 1) as f64 / degrees as f64,
            f: (f, model_degrees),
            f_p: f_tail(f, model_degrees as f64, degrees as f64),
        }
    }
}

impl Term {
    fn left_out(name: &str) -> Term {
        Term {
            name: name.to_owned(),
            estimate: None,
            std_error: f64::NAN,
            t: f64::NAN,
            p: f64::NAN,
        }
    }
}
