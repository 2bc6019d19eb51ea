//! Small symmetric systems, for coefficients and for how sure they are.
//!
//! What is believed beforehand enters as precision, so normal equations are solved here; they are
//! never singular, and what they lose of accuracy is far below what times tell.

/// The least square of a pivot, when the diagonal is one: below it is rounding.
const LEAST_PIVOT: f64 = 1e-13;

/// A symmetric positive definite matrix as its Cholesky factor, scaled to a diagonal of ones first:
/// seconds beside seconds for each LPOS unit span six orders of magnitude.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    size: usize,
    /// Lower triangle, row by row, all columns.
    lower: Vec<f64>,
    scale: Vec<f64>,
}

impl Factor {
    /// Factors a matrix given by its lower triangle, row by row, all columns; `None` when it is not
    /// positive definite.
    pub(super) fn new(mut matrix: Vec<f64>, size: usize) -> Option<Factor> {
        let scale: Vec<f64> = (0..size).map(|i| matrix[i * size + i].sqrt()).collect();
        for i in 0..size {
            let (done, rest) = matrix.split_at_mut(i * size);
            let row = &mut rest[..=i];
            for j in 0..i {
                let other = &done[j * size..=j * size + j];
                let sum = row[j] / (scale[i] * scale[j]) - dot(&row[..j], &other[..j]);
                row[j] = sum / other[j];
            }
            let square = 1.0 - dot(&row[..i], &row[..i]);
            if square.is_nan() || square <= LEAST_PIVOT {
                return None;
            }
            row[i] = square.sqrt();
        }
        Some(Factor {
            size,
            lower: matrix,
            scale,
        })
    }

    /// The solution of the system for a right-hand side.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut values = self.half_solve(right);
        let n = self.size;
        for i in (0..n).rev() {
            for k in i + 1..n {
                values[i] -= self.lower[k * n + i] * values[k];
            }
            values[i] /= self.lower[i * n + i];
        }
        values
            .iter_mut()
            .zip(&self.scale)
            .for_each(|(v, s)| *v /= s);
        values
    }

    /// `v' A^-1 v`: the variance of a combination of unknowns when the matrix is their precision.
    pub(super) fn variance(&self, combination: &[f64]) -> f64 {
        self.half_solve(combination).iter().map(|v| v * v).sum()
    }

    /// The variance of each unknown when the matrix is their precision.
    pub(super) fn variances(&self) -> Vec<f64> {
        let mut one = vec![0.0; self.size];
        (0..self.size)
            .map(|at| {
                one[at] = 1.0;
                let variance = self.variance(&one);
                one[at] = 0.0;
                variance
            })
            .collect()
    }

    fn half_solve(&self, right: &[f64]) -> Vec<f64> {
        let mut values: Vec<f64> = right.iter().zip(&self.scale).map(|(r, s)| r / s).collect();
        for i in 0..self.size {
            let row = &self.lower[i * self.size..=i * self.size + i];
            values[i] = (values[i] - dot(&row[..i], &values[..i])) / row[i];
        }
        values
    }
}

/// The product of two vectors of one length; four sums side by side, which a processor can overlap.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a, a_rest) = a.as_chunks::<4>();
    let (b, b_rest) = b.as_chunks::<4>();
    for (a, b) in a.iter().zip(b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_of_three_is_solved() {
        // A = B B' with B = [[2,0,0],[1,3,0],[4,5,6]], x = (1, -2, 3).
        let matrix = vec![4.0, 0.0, 0.0, 2.0, 10.0, 0.0, 8.0, 19.0, 77.0];
        let right = [4.0 - 4.0 + 24.0, 2.0 - 20.0 + 57.0, 8.0 - 38.0 + 231.0];
        let factor = Factor::new(matrix, 3).unwrap();
        for (found, expected) in factor.solve(&right).iter().zip([1.0, -2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12);
        }
        // x' A x for x = A^-1 right is right . x.
        let expected: f64 = right.iter().zip([1.0, -2.0, 3.0]).map(|(r, x)| r * x).sum();
        assert!((factor.variance(&right) - expected).abs() < 1e-9);
    }

    #[test]
    fn a_singular_matrix_has_no_factor() {
        assert!(Factor::new(vec![1.0, 0.0, 1.0, 1.0], 2).is_none());
    }
}
