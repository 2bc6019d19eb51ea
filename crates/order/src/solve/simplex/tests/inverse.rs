//! Solving with a basis, against multiplying with it.

use super::super::inverse::Inverse;
use super::super::sparse::{Matrix, SparseVector, Term};
use super::super::{Basis, Outcome, Relation, Simplex, Stop};
use tapewise_model::Random;

/// A square matrix with a logical for every row, and more columns to exchange.
struct Case {
    matrix: Matrix,
    logical: Vec<u32>,
    head: Vec<u32>,
}

impl Case {
    /// Sparse enough for singletons, dense enough for a kernel.
    fn new(rows: usize, random: &mut Random) -> Case {
        let mut matrix = Matrix::default();
        (0..rows).for_each(|_| matrix.push_row(Vec::new()));
        (0..rows as u32).for_each(|row| matrix.push_column(&[(row, -1.0)]));
        let density = 1 + random.below(4);
        for _ in 0..2 * rows {
            let mut terms: Vec<Term> = Vec::new();
            for row in 0..rows as u32 {
                if random.below(rows as u64) < density {
                    terms.push((row, [1.0, 1.0, 1.0, -1.0, 2.0][random.below(5) as usize]));
                }
            }
            matrix.push_column(&terms);
        }
        Case {
            matrix,
            logical: (0..rows as u32).collect(),
            head: (0..rows as u32).map(|row| row + rows as u32).collect(),
        }
    }

    /// The largest error of B x = a and y B = c for random sparse a and c.
    fn error(&self, inverse: &Inverse, random: &mut Random) -> f64 {
        let rows = self.head.len();
        let mut given: Vec<f64> = vec![0.0; rows];
        (0..3).for_each(|_| given[random.below(rows as u64) as usize] = random.unit());
        let (mut x, mut y) = (SparseVector::default(), SparseVector::default());
        for vector in [&mut x, &mut y] {
            vector.reset(rows);
            vector.values.copy_from_slice(&given);
        }
        inverse.solve(&mut x);
        inverse.solve_transposed(&mut y);
        let mut left = given.clone();
        let mut worst: f64 = 0.0;
        for (position, &variable) in self.head.iter().enumerate() {
            let terms = self.matrix.column(variable as usize);
            let mut paid = given[position];
            for &(row, value) in terms {
                left[row as usize] -= value * x.values[position];
                paid -= value * y.values[row as usize];
            }
            worst = worst.max(paid.abs());
        }
        let size = x
            .values
            .iter()
            .chain(&y.values)
            .fold(1.0, |m: f64, v| m.max(v.abs()));
        left.iter().fold(worst, |worst, v| worst.max(v.abs())) / size
    }
}

#[test]
fn solutions_multiply_back() {
    let (mut mended, mut exchanged) = (0, 0);
    for case in 0..600 {
        let random = &mut Random::new(320, case);
        let rows = 1 + random.below(70) as usize;
        let mut basis = Case::new(rows, random);
        let mut inverse = Inverse::default();
        let regular = inverse.factorise(&basis.matrix, &mut basis.head, &basis.logical);
        mended += u32::from(!regular);
        assert!(basis.error(&inverse, random) < 1e-8, "case {case}");
        // The basis as it was mended is regular.
        assert!(inverse.factorise(&basis.matrix, &mut basis.head, &basis.logical));
        for _ in 0..20 {
            let entering = random.below(basis.matrix.column_count() as u64) as u32;
            let mut column = SparseVector::default();
            column.reset(rows);
            for &(row, value) in basis.matrix.column(entering as usize) {
                column.values[row as usize] = value;
            }
            inverse.solve(&mut column);
            let largest = column.iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
            let Some((position, _)) = largest.filter(|_| !basis.head.contains(&entering)) else {
                continue;
            };
            inverse.replace(position, &column);
            basis.head[position] = entering;
            exchanged += 1;
            assert!(basis.error(&inverse, random) < 1e-7, "case {case}");
        }
    }
    assert!((60..540).contains(&mended), "{mended} of 600 were singular");
    assert!(exchanged > 1_000);
}

#[test]
fn a_basis_of_equal_columns_is_mended() {
    let mut simplex = Simplex::new();
    let columns: Vec<u32> = (0..3).map(|_| simplex.add_column(2.0, &[])).collect();
    for _ in 0..2 {
        let terms: Vec<Term> = columns.iter().map(|&column| (column, 1.0)).collect();
        simplex.add_row(Relation::AtLeast, 3.0, &terms);
    }
    simplex.restore(&Basis {
        head: vec![simplex.structural[0], simplex.structural[1]],
        steepness: vec![1.0, 1.0],
    });
    assert_eq!(simplex.optimise(&Stop::AT_OPTIMUM), Outcome::Optimal);
    assert_eq!(simplex.objective(), 6.0);
}
