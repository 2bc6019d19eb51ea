//! One pivot, as both methods make it, and what it needs: solves, prices and values.

use super::sparse::SparseVector;
use super::{NONBASIC, PRIMAL_TOLERANCE, Simplex};

/// Least dual steepest edge weight: updates lose what is smaller.
const LEAST_STEEPNESS: f64 = 1e-4;

impl Simplex {
    /// Factorises the basis anew, and says whether it was regular; if not, it was mended.
    pub(super) fn factorise(&mut self) -> bool {
        // Variables change their positions; their weights go with them, by way of `steepest`.
        self.steepest.reset(0);
        self.steepest.values.resize(self.cost.len(), 0.0);
        for (&variable, &weight) in self.head.iter().zip(&self.steepness) {
            self.steepest.values[variable as usize] = weight;
        }
        let regular = self
            .inverse
            .factorise(&self.matrix, &mut self.head, &self.logical);
        if !regular {
            self.position.fill(NONBASIC);
        }
        for (position, &variable) in self.head.iter().enumerate() {
            self.position[variable as usize] = position as u32;
            self.steepness[position] = self.steepest.values[variable as usize];
        }
        self.steepest.values.fill(0.0);
        self.steepest.values.truncate(self.head.len());
        self.stale = false;
        regular
    }

    /// Computes the steepest edge weights that are not known.
    pub(super) fn complete_steepness(&mut self) {
        for position in 0..self.head.len() {
            if self.steepness[position] == 0.0 {
                self.load_inverse_row(position);
                self.steepness[position] = squared_norm(&self.inverse_row);
            }
        }
    }

    pub(super) fn load_pivot_column(&mut self, variable: u32) {
        self.pivot_column.reset(self.head.len());
        for &(row, value) in self.matrix.column(variable as usize) {
            self.pivot_column.values[row as usize] = value;
        }
        self.inverse.solve(&mut self.pivot_column);
    }

    pub(super) fn load_inverse_row(&mut self, position: usize) {
        self.inverse_row.reset(self.head.len());
        self.inverse_row.values[position] = 1.0;
        self.inverse.solve_transposed(&mut self.inverse_row);
    }

    /// The row of the tableau that belongs to `inverse_row`, by variable.
    pub(super) fn load_pivot_row(&mut self) {
        self.pivot_row.reset(self.cost.len());
        for (row, factor) in self.inverse_row.iter() {
            for &(variable, value) in self.matrix.row(row) {
                self.pivot_row.add(variable, factor * value);
            }
        }
    }

    /// Computes the values of all basic variables, with `steepest` as scratch.
    pub(super) fn value_all(&mut self) {
        self.steepest.reset(self.head.len());
        self.steepest.values.copy_from_slice(&self.work_rhs);
        self.inverse.solve(&mut self.steepest);
        self.x.copy_from_slice(&self.steepest.values);
    }

    /// Computes all reduced costs.
    pub(super) fn price_all(&mut self) {
        self.inverse_row.reset(self.head.len());
        for (position, &variable) in self.head.iter().enumerate() {
            self.inverse_row.values[position] = self.work_cost[variable as usize];
        }
        self.inverse.solve_transposed(&mut self.inverse_row);
        let duals = &self.inverse_row.values;
        for (variable, reduced) in self.reduced.iter_mut().enumerate() {
            if self.position[variable] != NONBASIC {
                *reduced = 0.0;
                continue;
            }
            let terms = self.matrix.column(variable).iter();
            let paid: f64 = terms.map(|&(row, value)| duals[row as usize] * value).sum();
            *reduced = self.work_cost[variable] - paid;
        }
    }

    /// How far the variable at a position is out of its bounds; positive above, negative below.
    #[inline(always)]
    pub(super) fn violation(&self, position: usize) -> f64 {
        let x = self.x[position];
        if x < -PRIMAL_TOLERANCE || (x > PRIMAL_TOLERANCE && self.is_fixed_at(position)) {
            x
        } else {
            0.0
        }
    }

    #[inline(always)]
    pub(super) fn is_fixed_at(&self, position: usize) -> bool {
        self.fixed[self.head[position] as usize]
    }

    /// Whether a variable would lower the objective by entering the basis.
    #[inline(always)]
    pub(super) fn is_attractive(&self, variable: u32) -> bool {
        let variable = variable as usize;
        self.reduced[variable] < -self.dual_tolerance
            && self.position[variable] == NONBASIC
            && !self.fixed[variable]
    }

    /// Changes the cost of a variable out of the basis, for as long as this phase lasts.
    pub(super) fn shift_cost(&mut self, variable: u32, amount: f64) {
        self.work_cost[variable as usize] += amount;
        self.reduced[variable as usize] += amount;
    }

    /// Whether row and column of the tableau disagree about the pivot, or it is too small.
    pub(super) fn is_unstable(&self, position: usize, entering: u32) -> bool {
        let by_column = self.pivot_column.values[position];
        let by_row = self.pivot_row.values[entering as usize];
        by_column.abs() < 1e-9 || (by_column - by_row).abs() > 1e-7 * (1.0 + by_column.abs())
    }

    /// Brings `entering` into the basis at a position, whose variable leaves for 0. Rows and
    /// column of the pivot must be loaded. Values, prices and weights are kept up to date.
    pub(super) fn pivot(&mut self, position: usize, entering: u32) {
        let pivot = self.pivot_column.values[position];
        let primal_step = self.x[position] / pivot;
        for (at, value) in self.pivot_column.iter() {
            self.x[at] -= primal_step * value;
        }
        self.x[position] = primal_step;
        let dual_step = self.reduced[entering as usize] / pivot;
        if dual_step != 0.0 {
            for (variable, value) in self.pivot_row.iter() {
                self.reduced[variable] -= dual_step * value;
            }
        }
        let leaving = self.head[position] as usize;
        self.update_steepness(position, pivot);
        self.exchange(position, entering);
        self.reduced[entering as usize] = 0.0;
        self.reduced[leaving] = -dual_step;
        self.pivots += 1;
    }

    /// The weights after the pivot from those before it (Forrest & Goldfarb 1992): only the row
    /// that leaves is known exactly, the others follow.
    fn update_steepness(&mut self, position: usize, pivot: f64) {
        let exact = squared_norm(&self.inverse_row);
        self.steepest.reset(self.head.len());
        for (row, value) in self.inverse_row.iter() {
            self.steepest.values[row] = value;
        }
        self.inverse.solve(&mut self.steepest);
        for (at, value) in self.pivot_column.iter() {
            let ratio = value / pivot;
            let change = ratio * (ratio * exact - 2.0 * self.steepest.values[at]);
            let weight = &mut self.steepness[at];
            *weight = (*weight + change).max(LEAST_STEEPNESS);
        }
        self.steepness[position] = (exact / (pivot * pivot)).max(LEAST_STEEPNESS);
    }

    /// Replaces the variable at a position by the one whose column is loaded.
    pub(super) fn exchange(&mut self, position: usize, entering: u32) {
        self.position[self.head[position] as usize] = NONBASIC;
        self.position[entering as usize] = position as u32;
        self.head[position] = entering;
        self.inverse.replace(position, &self.pivot_column);
    }

    /// Factorises anew, with values to match; `false` where the basis had to be mended, so that
    /// nothing is as it was.
    pub(super) fn refresh(&mut self) -> bool {
        let regular = self.factorise();
        if regular {
            self.value_all();
        } else {
            self.steepness.fill(1.0);
        }
        regular
    }
}

/// A number between 0.5 and 1 that looks random: always the same for the same index.
pub(super) fn jitter(index: usize) -> f64 {
    let mixed = (index as u32 ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b);
    let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0xc2b2_ae35);
    0.5 + f64::from(mixed >> 8) / f64::from(1u32 << 25)
}

fn squared_norm(vector: &SparseVector) -> f64 {
    vector.iter().map(|(_, value)| value * value).sum()
}
