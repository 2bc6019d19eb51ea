//! Linear programming for bounds: a small revised simplex method that is always warm.
//!
//! ```text
//! minimise c x   subject to   A x = b or A x >= b row by row,   x >= 0
//! ```
//!
//! Rows and columns may be added at any time, and columns forbidden, and the next
//! [`Simplex::optimise`] goes on from the basis of the last: by the dual method while prices are
//! right and values are not (after a new row, or a column forbidden), by the primal method in the
//! opposite case (after a new column), and by one after the other where neither is right.
//!
//! Row i reads a_i x - s_i = b_i with a *logical* s_i >= 0, which is fixed at 0 for an equation.
//! All variables out of the basis are 0. A *fixed* variable (the logical of an equation, a
//! forbidden column) never enters the basis, and is out of bounds in it unless it is 0.
//!
//! Numbers are `f64`, so a result is right up to rounding: a proof takes the duals and checks them
//! in whole numbers. Nothing here depends on anything but the calls made, in their order.
//!
//! Literature: Maros, *Computational Techniques of the Simplex Method* (2003); Forrest & Goldfarb
//! 1992 for the dual steepest edge; Harris 1973 for Devex prices and the ratio test.

mod dual;
mod inverse;
mod kernel;
mod lu;
mod pivot;
mod primal;
mod sparse;
#[cfg(test)]
mod tests;

use inverse::Inverse;
use sparse::{Matrix, SparseVector, Term};

/// The position of a variable that is not in the basis.
const NONBASIC: u32 = u32::MAX;

/// How far a value may be out of its bounds.
const PRIMAL_TOLERANCE: f64 = 1e-9;

/// How negative a reduced cost may be, as a share of the mean cost.
const DUAL_TOLERANCE: f64 = 1e-9;

/// Entries of pivot rows and columns below this are not pivoted on.
const PIVOT_TOLERANCE: f64 = 1e-7;

/// Changes between the methods after which no end is to be expected.
const MOST_PHASES: usize = 40;

/// How a row relates to its right-hand side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Equal,
    AtLeast,
}

/// When to give up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    /// Pivots of this call.
    pub(crate) max_pivots: usize,
    /// An objective that is high enough: no need to know more than that the optimum exceeds it.
    pub(crate) cutoff: f64,
}

impl Stop {
    /// Not before the optimum, but for a number of pivots that sane problems do not reach.
    pub(crate) const AT_OPTIMUM: Stop = Stop {
        max_pivots: 1_000_000,
        cutoff: f64::INFINITY,
    };
}

/// How an optimisation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Values and duals are feasible, and so optimal.
    Optimal,
    /// No x satisfies all rows: see [`Simplex::ray`].
    Infeasible,
    /// The objective falls without end.
    Unbounded,
    /// The duals are feasible and their objective has reached the cutoff.
    Cutoff,
    /// As many pivots as allowed.
    PivotLimit,
    /// Rounding errors prevail.
    Trouble,
}

/// A basis to return to.
#[derive(Clone, Debug)]
pub(crate) struct Basis {
    head: Vec<u32>,
    steepness: Vec<f64>,
}

/// A linear programme with its current basis.
///
/// A variable is a column or a logical, numbered as they were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Simplex {
    matrix: Matrix,
    /// By row; `work` is what the method looks at: the true values, but while it breaks ties.
    rhs: Vec<f64>,
    work_rhs: Vec<f64>,
    /// By variable, as above.
    cost: Vec<f64>,
    work_cost: Vec<f64>,
    fixed: Vec<bool>,
    /// Variable of a row's logical; of a column.
    logical: Vec<u32>,
    structural: Vec<u32>,
    /// Basic variable by position; position by variable.
    head: Vec<u32>,
    position: Vec<u32>,
    /// Value by position; reduced cost by variable.
    x: Vec<f64>,
    reduced: Vec<f64>,
    /// Squared norm of the row of the inverse by position (dual steepest edge); 0 where unknown.
    steepness: Vec<f64>,
    /// Devex reference weight by variable, and the variables with negative reduced cost.
    devex: Vec<f64>,
    attractive: Vec<u32>,
    is_listed: Vec<bool>,
    inverse: Inverse,
    /// Whether the inverse is not that of the basis.
    stale: bool,
    dual_tolerance: f64,
    pivots: usize,
    /// By row, where the last outcome was [`Outcome::Infeasible`].
    ray: Vec<f64>,
    /// Row of the inverse, row and column of the pivot, and what the steepest edge needs.
    inverse_row: SparseVector,
    pivot_row: SparseVector,
    pivot_column: SparseVector,
    steepest: SparseVector,
}

impl Simplex {
    /// No rows and no columns.
    pub(crate) fn new() -> Simplex {
        Simplex::default()
    }

    /// Adds a row over present columns and returns its number; its logical joins the basis.
    pub(crate) fn add_row(&mut self, relation: Relation, rhs: f64, terms: &[Term]) -> u32 {
        let row = self.rhs.len() as u32;
        let own = |&(column, value): &Term| (self.structural[column as usize], value);
        self.matrix.push_row(terms.iter().map(own).collect());
        let logical = self.add_variable(0.0, &[(row, -1.0)]);
        self.fixed[logical as usize] = relation == Relation::Equal;
        self.position[logical as usize] = row;
        self.logical.push(logical);
        self.head.push(logical);
        self.rhs.push(rhs);
        self.x.push(0.0);
        self.steepness.push(0.0);
        self.stale = true;
        row
    }

    /// Adds a column over present rows, out of the basis, and returns its number.
    pub(crate) fn add_column(&mut self, cost: f64, terms: &[Term]) -> u32 {
        let variable = self.add_variable(cost, terms);
        self.structural.push(variable);
        self.structural.len() as u32 - 1
    }

    fn add_variable(&mut self, cost: f64, terms: &[Term]) -> u32 {
        self.matrix.push_column(terms);
        self.cost.push(cost);
        self.fixed.push(false);
        self.position.push(NONBASIC);
        self.reduced.push(0.0);
        self.devex.push(1.0);
        self.is_listed.push(false);
        self.cost.len() as u32 - 1
    }

    /// Fixes a column at 0, or frees it again.
    pub(crate) fn forbid(&mut self, column: u32, forbidden: bool) {
        self.fixed[self.structural[column as usize] as usize] = forbidden;
    }

    /// Starts from a basis of these columns, leaving out those that depend on earlier ones, with
    /// logicals for the rest.
    ///
    /// For an assignment, its arcs first and then a shortest path tree of its residual graph make
    /// a basis that is optimal before any cut is added.
    pub(crate) fn start_from(&mut self, columns: &[u32]) {
        self.set_basis(&[]);
        self.factorise();
        for &column in columns {
            let variable = self.structural[column as usize];
            if self.position[variable as usize] != NONBASIC {
                continue;
            }
            self.load_pivot_column(variable);
            let still_logical = |&(at, _): &(usize, f64)| self.head[at] == self.logical[at];
            // The logicals of equations must leave the basis sooner or later.
            let rank = |at: usize, value: f64| (self.fixed[self.head[at] as usize], value.abs());
            let rows = self.pivot_column.iter().filter(still_logical);
            let rows = rows.filter(|&(_, value)| value.abs() > 1e-3);
            let best = rows.max_by(|a, b| {
                let (a, b) = (rank(a.0, a.1), rank(b.0, b.1));
                a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
            });
            if let Some((position, _)) = best {
                self.exchange(position, variable);
                if self.inverse.is_worn() {
                    self.factorise();
                }
            }
        }
        self.steepness.fill(1.0);
    }

    /// The basis as it is.
    pub(crate) fn basis(&self) -> Basis {
        Basis {
            head: self.head.clone(),
            steepness: self.steepness.clone(),
        }
    }

    /// Returns to an earlier basis; rows added since are in it with their logicals.
    pub(crate) fn restore(&mut self, basis: &Basis) {
        self.set_basis(&basis.head);
        self.steepness.fill(0.0);
        self.steepness[..basis.steepness.len()].copy_from_slice(&basis.steepness);
    }

    /// Makes these variables basic, and the logicals of the rows beyond them.
    fn set_basis(&mut self, head: &[u32]) {
        self.head.clone_from(&self.logical);
        self.head[..head.len()].copy_from_slice(head);
        self.position.fill(NONBASIC);
        for (position, &variable) in self.head.iter().enumerate() {
            self.position[variable as usize] = position as u32;
        }
        self.stale = true;
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rhs.len()
    }

    /// Number of columns, logicals not counted.
    #[cfg(test)]
    pub(crate) fn columns(&self) -> usize {
        self.structural.len()
    }

    /// The rows that a column is in, with its coefficients there.
    pub(crate) fn terms(&self, column: u32) -> &[Term] {
        self.matrix
            .column(self.structural[column as usize] as usize)
    }

    /// The value of a column after [`Simplex::optimise`].
    pub(crate) fn value(&self, column: u32) -> f64 {
        self.variable_value(self.structural[column as usize])
    }

    /// By how much a row exceeds its right-hand side after [`Simplex::optimise`].
    #[cfg(test)]
    pub(crate) fn slack(&self, row: u32) -> f64 {
        self.variable_value(self.logical[row as usize])
    }

    fn variable_value(&self, variable: u32) -> f64 {
        match self.position[variable as usize] {
            NONBASIC => 0.0,
            position => self.x[position as usize],
        }
    }

    /// The dual price of a row after [`Simplex::optimise`].
    pub(crate) fn dual(&self, row: u32) -> f64 {
        // The column of the logical is -1 in that row, and its cost is 0.
        self.reduced[self.logical[row as usize] as usize]
    }

    /// The reduced cost of a column after [`Simplex::optimise`].
    #[cfg(test)]
    pub(crate) fn reduced_cost(&self, column: u32) -> f64 {
        self.reduced[self.structural[column as usize] as usize]
    }

    /// The weight of a row in a sum of rows that no x satisfies, after [`Outcome::Infeasible`].
    ///
    /// The weighted right-hand sides are positive together and no column that is allowed has a
    /// positive weighted sum. So any multiple may be added to feasible duals, and their objective
    /// rises without end (Farkas).
    #[cfg(test)]
    pub(crate) fn ray(&self, row: u32) -> f64 {
        self.ray[row as usize]
    }

    /// The objective after [`Simplex::optimise`].
    pub(crate) fn objective(&self) -> f64 {
        let basics = self.head.iter().zip(&self.x);
        basics.map(|(&v, x)| self.cost[v as usize] * x).sum()
    }

    /// Pivots of the last [`Simplex::optimise`].
    pub(crate) fn pivots(&self) -> usize {
        self.pivots
    }

    /// Goes on from the present basis to an optimal one.
    pub(crate) fn optimise(&mut self, stop: &Stop) -> Outcome {
        self.pivots = 0;
        self.set_tolerance();
        if self.stale {
            self.factorise();
        }
        self.complete_steepness();
        for _ in 0..MOST_PHASES {
            if let Some(outcome) = self.phase(stop) {
                if self.work_cost != self.cost {
                    self.work_cost.clone_from(&self.cost);
                    self.price_all();
                }
                return outcome;
            }
        }
        Outcome::Trouble
    }

    /// Runs one method to its end, unless the basis is optimal as it is.
    fn phase(&mut self, stop: &Stop) -> Option<Outcome> {
        self.work_cost.clone_from(&self.cost);
        self.work_rhs.clone_from(&self.rhs);
        self.value_all();
        self.price_all();
        let is_priced = (0..self.cost.len() as u32).all(|v| !self.is_attractive(v));
        let is_valued = (0..self.head.len()).all(|at| self.violation(at) == 0.0);
        match (is_priced, is_valued) {
            (true, true) if !self.objective().is_finite() => Some(Outcome::Trouble),
            (true, true) => Some(Outcome::Optimal),
            (true, false) => self.dual_simplex(stop),
            (false, true) => self.primal_simplex(stop),
            (false, false) => {
                for variable in 0..self.cost.len() as u32 {
                    if self.is_attractive(variable) {
                        self.shift_cost(variable, -self.reduced[variable as usize]);
                    }
                }
                // The objective is not that of the true costs.
                let stop = Stop {
                    cutoff: f64::INFINITY,
                    ..*stop
                };
                self.dual_simplex(&stop)
            }
        }
    }

    fn set_tolerance(&mut self) {
        let (total, count) = self
            .structural
            .iter()
            .fold((0.0, 1.0), |(total, count), &v| {
                (total + self.cost[v as usize].abs(), count + 1.0)
            });
        self.dual_tolerance = DUAL_TOLERANCE * (total / count).max(1e-3);
    }
}
