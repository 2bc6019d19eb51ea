//! Means with their spread, and straight lines by least squares.

/// Mean and spread of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stat {
    /// How many.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Standard deviation, with n - 1; 0 for one number.
    pub sd: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
}

impl Stat {
    /// Of these numbers, `None` where there are none.
    pub fn of(values: &[f64]) -> Option<Stat> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Stat {
            n,
            mean,
            sd: (squares / (n.max(2) - 1) as f64).sqrt(),
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

/// The middle one of some numbers, the upper of two; `None` where there are none.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// A straight line through points, by least squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Points.
    pub n: usize,
    /// At 0.
    pub intercept: f64,
    /// For each unit.
    pub slope: f64,
    /// Standard deviation of what is left.
    pub residual_sd: f64,
    /// The share of the variance that the line explains.
    pub r_squared: f64,
}

impl Line {
    /// Through these points; `None` for fewer than three, or all at one place.
    pub fn through(points: &[(f64, f64)]) -> Option<Line> {
        let n = points.len();
        if n < 3 {
            return None;
        }
        let count = n as f64;
        let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
        let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
        let spread: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
        if spread <= 0.0 {
            return None;
        }
        let common: f64 = points
            .iter()
            .map(|(x, y)| (x - mean_x) * (y - mean_y))
            .sum();
        let slope = common / spread;
        let intercept = mean_y - slope * mean_x;
        let rest: f64 = points
            .iter()
            .map(|(x, y)| (y - intercept - slope * x).powi(2))
            .sum();
        let total: f64 = points.iter().map(|(_, y)| (y - mean_y).powi(2)).sum();
        Some(Line {
            n,
            intercept,
            slope,
            residual_sd: (rest / (count - 2.0)).sqrt(),
            r_squared: if total > 0.0 { 1.0 - rest / total } else { 1.0 },
        })
    }

    /// The line at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_through_points_on_it_is_that_line() {
        let points: Vec<(f64, f64)> = (0..9)
            .map(|x| (f64::from(x), 3.0 - 0.5 * f64::from(x)))
            .collect();
        let line = Line::through(&points).unwrap();
        assert!((line.intercept - 3.0).abs() < 1e-12 && (line.slope + 0.5).abs() < 1e-12);
        assert!(line.residual_sd < 1e-12 && (line.r_squared - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_line_of_a_textbook_comes_out() {
        // y on x of (1,1), (2,3), (3,2), (4,5): slope 1.1, intercept 0, residual sum of squares 2.7.
        let line = Line::through(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 5.0)]).unwrap();
        assert!((line.slope - 1.1).abs() < 1e-12 && line.intercept.abs() < 1e-12);
        assert!((line.residual_sd - (2.7f64 / 2.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn points_above_each_other_have_no_line() {
        assert_eq!(Line::through(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }

    #[test]
    fn a_spread_divides_by_one_less() {
        let stat = Stat::of(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(
            (stat.mean, stat.sd, stat.min, stat.max),
            (2.0, 1.0, 1.0, 3.0)
        );
        assert_eq!(Stat::of(&[]), None);
    }
}
