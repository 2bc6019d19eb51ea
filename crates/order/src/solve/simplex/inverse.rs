//! The inverse of the basis: its factors, and one elementary matrix for each pivot since.
//!
//! This is the product form of the inverse (Dantzig & Orchard-Hays 1954) on top of a fresh LU. It
//! is the simplest update there is; the columns of arcs and cuts stay sparse enough for it.

use super::lu::Factors;
use super::sparse::{Matrix, SparseVector, Term};

/// Pivots after which the basis is factorised anew.
const MOST_PIVOTS: usize = 64;

/// The basis matrix in a form to solve with.
#[derive(Clone, Debug, Default)]
pub(super) struct Inverse {
    factors: Factors,
    pivots: Vec<Pivot>,
    terms: Vec<Term>,
}

/// One replaced column: its own terms are those up to `end`, without the pivot.
#[derive(Clone, Copy, Debug)]
struct Pivot {
    position: u32,
    value: f64,
    start: u32,
    end: u32,
}

impl Inverse {
    /// Starts from a new factorisation, see [`Factors::factorise`].
    pub(super) fn factorise(&mut self, matrix: &Matrix, head: &mut [u32], logical: &[u32]) -> bool {
        self.pivots.clear();
        self.terms.clear();
        self.factors.factorise(matrix, head, logical)
    }

    /// Whether nothing was updated since the factorisation.
    pub(super) fn is_fresh(&self) -> bool {
        self.pivots.is_empty()
    }

    /// Whether a new factorisation is cheaper than to go on.
    pub(super) fn is_worn(&self) -> bool {
        self.pivots.len() >= MOST_PIVOTS || self.terms.len() > 3 * self.factors.len() + 1_000
    }

    /// Replaces the column at a position by one whose solution with the present basis is given.
    pub(super) fn replace(&mut self, position: usize, solution: &SparseVector) {
        let start = self.terms.len() as u32;
        let others = solution.iter().filter(|&(at, _)| at != position);
        self.terms
            .extend(others.map(|(at, value)| (at as u32, value)));
        self.pivots.push(Pivot {
            position: position as u32,
            value: solution.values[position],
            start,
            end: self.terms.len() as u32,
        });
    }

    /// Solves B x = a: rows in, positions out.
    pub(super) fn solve(&self, x: &mut SparseVector) {
        let values = &mut x.values;
        self.factors.solve(values);
        for pivot in &self.pivots {
            let value = values[pivot.position as usize];
            if value != 0.0 {
                let value = value / pivot.value;
                values[pivot.position as usize] = value;
                for &(at, factor) in self.terms_of(pivot) {
                    values[at as usize] -= factor * value;
                }
            }
        }
        x.gather();
    }

    /// Solves y B = c: positions in, rows out.
    pub(super) fn solve_transposed(&self, y: &mut SparseVector) {
        let values = &mut y.values;
        for pivot in self.pivots.iter().rev() {
            let terms = self.terms_of(pivot).iter();
            let others: f64 = terms
                .map(|&(at, factor)| factor * values[at as usize])
                .sum();
            let value = &mut values[pivot.position as usize];
            *value = (*value - others) / pivot.value;
        }
        self.factors.solve_transposed(values);
        y.gather();
    }

    fn terms_of(&self, pivot: &Pivot) -> &[Term] {
        &self.terms[pivot.start as usize..pivot.end as usize]
    }
}
