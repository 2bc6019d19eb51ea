//! The basis as a product of a lower and an upper triangular matrix, and solving with it.
//!
//! A basis of arcs is a forest, and one of arcs and cuts nearly so: columns and then rows of one
//! entry are pivots without arithmetic, and only the kernel that remains is eliminated. Each basic
//! variable then stands at the position of the row it was the pivot of.

use super::kernel::Kernel;
use super::sparse::{Lists, Matrix, Triplet};

const NONE: u32 = u32::MAX;

/// Factors of a basis.
#[derive(Clone, Debug, Default)]
pub(super) struct Factors {
    /// Pivot rows in the order of elimination, and the same for those with entries below.
    order: Vec<u32>,
    lower_order: Vec<u32>,
    pivots: Vec<f64>,
    /// By pivot row: below it in its column of the lower factor; left of it in its row.
    below: Lists,
    left: Lists,
    /// By pivot row: above it in its column of the upper factor; right of it in its row.
    above: Lists,
    right: Lists,
    work: Work,
}

/// What a factorisation needs and the solves do not; kept for the next one.
#[derive(Clone, Debug, Default)]
struct Work {
    kernel: Kernel,
    by_row: Lists,
    row_count: Vec<u32>,
    column_count: Vec<u32>,
    row_done: Vec<bool>,
    /// For each column of the basis the row it is the pivot of.
    pivot_row: Vec<u32>,
    singletons: Vec<u32>,
    lower: Vec<Triplet>,
    upper: Vec<Triplet>,
    head: Vec<u32>,
}

impl Factors {
    /// Factorises the basis of the columns in `head`, and reorders it so that each stands at its
    /// pivot row. Columns that depend on others give way to the logicals of the rows left over;
    /// the result says whether there were none.
    pub(super) fn factorise(&mut self, matrix: &Matrix, head: &mut [u32], logical: &[u32]) -> bool {
        let rows = head.len();
        self.order.clear();
        self.pivots.clear();
        self.pivots.resize(rows, 1.0);
        self.count(matrix, head);
        self.column_singletons(matrix, head);
        self.row_singletons(matrix, head);
        self.eliminate_kernel(matrix, head);
        let regular = self.order.len() == rows;
        self.place(head, logical);
        self.build_lists();
        regular
    }

    /// Number of terms of the factors.
    pub(super) fn len(&self) -> usize {
        self.below.len() + self.above.len() + self.order.len()
    }

    fn count(&mut self, matrix: &Matrix, head: &[u32]) {
        let rows = head.len();
        let work = &mut self.work;
        let entries = head.iter().enumerate().flat_map(|(column, &variable)| {
            let terms = matrix.column(variable as usize).iter();
            terms.map(move |&(row, _)| (row, column as u32, 0.0))
        });
        work.by_row.build(rows, entries);
        work.row_count.clear();
        let counts = (0..rows).map(|row| work.by_row.list(row).len() as u32);
        work.row_count.extend(counts);
        work.column_count.clear();
        let counts = head.iter().map(|&v| matrix.column(v as usize).len() as u32);
        work.column_count.extend(counts);
        work.row_done.clear();
        work.row_done.resize(rows, false);
        work.pivot_row.clear();
        work.pivot_row.resize(rows, NONE);
        work.lower.clear();
        work.upper.clear();
    }

    fn pivot(&mut self, row: u32, column: u32, value: f64) {
        self.order.push(row);
        self.pivots[row as usize] = value;
        self.work.row_done[row as usize] = true;
        self.work.pivot_row[column as usize] = row;
    }

    /// Pivots on columns with one entry in the rows that are left: nothing is below them.
    fn column_singletons(&mut self, matrix: &Matrix, head: &[u32]) {
        let mut waiting = std::mem::take(&mut self.work.singletons);
        waiting.clear();
        let single = |&column: &u32| self.work.column_count[column as usize] == 1;
        waiting.extend((0..head.len() as u32).filter(single));
        while let Some(column) = waiting.pop() {
            let terms = matrix.column(head[column as usize] as usize);
            let done = &self.work.row_done;
            let Some(&(row, value)) = terms.iter().find(|t| !done[t.0 as usize]) else {
                continue;
            };
            let above = terms.iter().filter(|t| done[t.0 as usize]);
            let above = above.map(|&(other, value)| (other, column, value));
            self.work.upper.extend(above);
            self.pivot(row, column, value);
            let work = &mut self.work;
            for &(other, _) in work.by_row.list(row as usize) {
                let count = &mut work.column_count[other as usize];
                *count -= 1;
                if *count == 1 && work.pivot_row[other as usize] == NONE {
                    waiting.push(other);
                }
            }
        }
        self.work.singletons = waiting;
    }

    /// Pivots on rows with one entry in the columns that are left: nothing is to the right of it.
    fn row_singletons(&mut self, matrix: &Matrix, head: &[u32]) {
        let mut waiting = std::mem::take(&mut self.work.singletons);
        waiting.clear();
        let work = &self.work;
        // Columns done have no entries in the rows left, so the counts of those rows are true.
        let single = |&row: &u32| work.row_count[row as usize] == 1 && !work.row_done[row as usize];
        waiting.extend((0..head.len() as u32).filter(single));
        while let Some(row) = waiting.pop() {
            let work = &self.work;
            if work.row_done[row as usize] {
                continue;
            }
            let mut present = work.by_row.list(row as usize).iter();
            let Some(&(column, _)) = present.find(|t| work.pivot_row[t.0 as usize] == NONE) else {
                continue;
            };
            let terms = matrix.column(head[column as usize] as usize);
            let value = terms.iter().find(|t| t.0 == row).map_or(1.0, |t| t.1);
            self.pivot(row, column, value);
            let work = &mut self.work;
            for &(other, entry) in terms.iter().filter(|t| t.0 != row) {
                if work.row_done[other as usize] {
                    work.upper.push((other, column, entry));
                    continue;
                }
                work.lower.push((row, other, entry / value));
                let count = &mut work.row_count[other as usize];
                *count -= 1;
                if *count == 1 {
                    waiting.push(other);
                }
            }
        }
        self.work.singletons = waiting;
    }

    fn eliminate_kernel(&mut self, matrix: &Matrix, head: &[u32]) {
        let rows = head.len();
        if self.order.len() == rows {
            return;
        }
        let work = &mut self.work;
        work.kernel.reset(rows);
        for (column, &variable) in head.iter().enumerate() {
            if work.pivot_row[column] != NONE {
                continue;
            }
            for &(row, value) in matrix.column(variable as usize) {
                if work.row_done[row as usize] {
                    work.upper.push((row, column as u32, value));
                } else {
                    work.kernel.push(row, column as u32, value);
                }
            }
        }
        let (order, pivots) = (&mut self.order, &mut self.pivots);
        let (row_done, pivot_row) = (&mut work.row_done, &mut work.pivot_row);
        let pivoted = |row: u32, column: u32, value: f64| {
            order.push(row);
            pivots[row as usize] = value;
            row_done[row as usize] = true;
            pivot_row[column as usize] = row;
        };
        let Work {
            kernel,
            lower,
            upper,
            ..
        } = work;
        kernel.eliminate(lower, upper, pivoted);
    }

    /// Moves every variable to its pivot row. Rows left over get their logicals, which no
    /// elimination so far has touched.
    fn place(&mut self, head: &mut [u32], logical: &[u32]) {
        let work = &mut self.work;
        work.head.clear();
        work.head.extend_from_slice(head);
        for (&row, &variable) in work.pivot_row.iter().zip(&work.head) {
            if row != NONE {
                head[row as usize] = variable;
            }
        }
        for row in 0..head.len() {
            if !work.row_done[row] {
                head[row] = logical[row];
                self.pivots[row] = -1.0;
                self.order.push(row as u32);
            }
        }
    }

    fn build_lists(&mut self) {
        let rows = self.order.len();
        let work = &self.work;
        let lower = work.lower.iter().copied();
        self.below.build(rows, lower.clone());
        self.left
            .build(rows, lower.map(|(row, other, value)| (other, row, value)));
        let pivot_row = &work.pivot_row;
        let upper = work.upper.iter().filter_map(|&(row, column, value)| {
            let position = pivot_row[column as usize];
            (position != NONE).then_some((row, position, value))
        });
        self.right.build(rows, upper.clone());
        self.above.build(
            rows,
            upper.map(|(row, position, value)| (position, row, value)),
        );
        self.lower_order.clear();
        let not_empty = |&&row: &&u32| {
            !self.below.list(row as usize).is_empty() || !self.left.list(row as usize).is_empty()
        };
        self.lower_order.extend(self.order.iter().filter(not_empty));
    }

    /// Solves B x = a, in place.
    pub(super) fn solve(&self, x: &mut [f64]) {
        for &row in &self.lower_order {
            spread(x, row, &self.below);
        }
        for &row in self.order.iter().rev() {
            if x[row as usize] != 0.0 {
                x[row as usize] /= self.pivots[row as usize];
                spread(x, row, &self.above);
            }
        }
    }

    /// Solves y B = c, in place.
    pub(super) fn solve_transposed(&self, y: &mut [f64]) {
        for &row in &self.order {
            if y[row as usize] != 0.0 {
                y[row as usize] /= self.pivots[row as usize];
                spread(y, row, &self.right);
            }
        }
        for &row in self.lower_order.iter().rev() {
            spread(y, row, &self.left);
        }
    }
}

/// Takes a solved value out of the equations that it stands in.
#[inline(always)]
fn spread(x: &mut [f64], row: u32, lists: &Lists) {
    let value = x[row as usize];
    if value != 0.0 {
        for &(other, factor) in lists.list(row as usize) {
            x[other as usize] -= factor * value;
        }
    }
}
