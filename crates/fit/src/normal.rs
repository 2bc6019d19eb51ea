//! Weighted least squares of many records, few of whose terms differ from zero: normal equations, with coefficients that
//! cannot be negative.

/// Normal equations.
pub(crate) struct System {
    gram: Vec<Vec<f64>>,
    right: Vec<f64>,
}

impl System {
    pub(crate) fn new(columns: usize) -> System {
        System {
            gram: vec![vec![0.0; columns]; columns],
            right: vec![0.0; columns],
        }
    }

    pub(crate) fn add(&mut self, row: &[(usize, f64)], time_s: f64, weight: f64) {
        for &(column, value) in row {
            self.right[column] += weight * value * time_s;
            for &(other, factor) in row {
                self.gram[column][other] += weight * value * factor;
            }
        }
    }

    /// The sum of the diagonal.
    pub(crate) fn trace(&self) -> f64 {
        self.gram.iter().enumerate().map(|(at, row)| row[at]).sum()
    }

    /// The least squares with all coefficients zero or more, but those that are `free`: what comes
    /// out below zero is held at zero, the lowest first, and let go again where that is better.
    pub(crate) fn least(&self, free: &[usize]) -> Vec<f64> {
        let columns = self.right.len();
        let mut held = vec![false; columns];
        for _ in 0..3 * columns {
            let values = self.solve(&held);
            let below = |column: &usize| values[*column] < 0.0 && !free.contains(column);
            let lowest = (0..columns).filter(below);
            if let Some(lowest) = lowest.min_by(|a, b| values[*a].total_cmp(&values[*b])) {
                held[lowest] = true;
                continue;
            }
            let pull = |column: usize| {
                let met: f64 = std::iter::zip(&self.gram[column], &values)
                    .map(|(g, v)| g * v)
                    .sum();
                (self.right[column] - met) / self.gram[column][column].max(1e-300).sqrt()
            };
            let wanted = (0..columns).filter(|&column| held[column]);
            match wanted.max_by(|&a, &b| pull(a).total_cmp(&pull(b))) {
                Some(column) if pull(column) > 1e-6 => held[column] = false,
                _ => return values,
            }
        }
        self.solve(&held)
            .into_iter()
            .enumerate()
            .map(|(column, value)| {
                if free.contains(&column) {
                    value
                } else {
                    value.max(0.0)
                }
            })
            .collect()
    }

    /// The variance of every coefficient of a least square, if one of the times has a variance of one: of those that are
    /// held at zero or that nothing tells, none.
    pub(crate) fn variances(&self, values: &[f64]) -> Vec<f64> {
        let held: Vec<bool> = values.iter().map(|value| *value == 0.0).collect();
        let mut unit = System {
            gram: self.gram.clone(),
            right: vec![0.0; values.len()],
        };
        let variance = |column: usize| {
            unit.right.fill(0.0);
            unit.right[column] = 1.0;
            unit.solve(&held)[column]
        };
        (0..values.len()).map(variance).collect()
    }

    /// By Cholesky's factors; columns that are held, or that nothing tells, come out as zero.
    fn solve(&self, held: &[bool]) -> Vec<f64> {
        let columns = self.right.len();
        let mut lower = vec![vec![0.0; columns]; columns];
        let mut live = vec![false; columns];
        let mut values = vec![0.0; columns];
        for row in 0..columns {
            if held[row] {
                continue;
            }
            for column in 0..=row {
                let inner: f64 = (0..column).map(|k| lower[row][k] * lower[column][k]).sum();
                let left = self.gram[row][column] - inner;
                if row == column {
                    live[row] = left > 1e-12 * self.gram[row][row].max(1e-300);
                    lower[row][row] = if live[row] { left.sqrt() } else { 0.0 };
                } else if live[column] {
                    lower[row][column] = left / lower[column][column];
                }
            }
            if live[row] {
                let inner: f64 = (0..row).map(|k| lower[row][k] * values[k]).sum();
                values[row] = (self.right[row] - inner) / lower[row][row];
            } else {
                lower[row].fill(0.0);
            }
        }
        for row in (0..columns).rev() {
            if live[row] {
                let later: f64 = (row + 1..columns).map(|k| lower[k][row] * values[k]).sum();
                values[row] = (values[row] - later) / lower[row][row];
            }
        }
        values
    }
}
