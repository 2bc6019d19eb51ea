//! Gaussian elimination of what remains of a basis when it has no singletons left.
//!
//! The next pivot is in a shortest row, there in the shortest column (Markowitz 1957, with the row
//! chosen first), among the entries that are not small for their row. A kernel of tours and their
//! cuts is mostly rows of two arcs, so this fills in little.

use super::sparse::{SparseVector, Term, Triplet};

/// A pivot is at least this share of the largest entry in its row.
const THRESHOLD: f64 = 0.1;

/// Entries below this have cancelled.
const CANCELLED: f64 = 1e-11;

/// A row none of whose entries exceeds this depends on those before it.
const SINGULAR: f64 = 1e-9;

/// The rows that are still to be eliminated. Everything is kept from one factorisation to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Kernel {
    /// Entries by row, with columns as indices.
    rows: Vec<Vec<Term>>,
    /// For each column the rows that hold it.
    columns: Vec<Vec<u32>>,
    /// Rows by length; a row stands in every list whose length it ever had.
    by_length: Vec<Vec<u32>>,
    active: Vec<bool>,
    scratch: SparseVector,
}

impl Kernel {
    /// Makes room for a basis of that many rows, none of them active.
    pub(super) fn reset(&mut self, rows: usize) {
        self.rows.resize_with(rows, Vec::new);
        self.columns.resize_with(rows, Vec::new);
        self.rows.iter_mut().for_each(Vec::clear);
        self.columns.iter_mut().for_each(Vec::clear);
        self.by_length.iter_mut().for_each(Vec::clear);
        self.active.clear();
        self.active.resize(rows, false);
        self.scratch.reset(rows);
    }

    /// Adds an entry.
    pub(super) fn push(&mut self, row: u32, column: u32, value: f64) {
        self.rows[row as usize].push((column, value));
        self.columns[column as usize].push(row);
        self.active[row as usize] = true;
    }

    /// Eliminates all rows; `pivoted(row, column, value)` is told every pivot in order. Rows that
    /// depend on others are left out.
    pub(super) fn eliminate(
        &mut self,
        lower: &mut Vec<Triplet>,
        upper: &mut Vec<Triplet>,
        mut pivoted: impl FnMut(u32, u32, f64),
    ) {
        for row in 0..self.rows.len() as u32 {
            if self.active[row as usize] {
                self.file(row);
            }
        }
        while let Some(row) = self.shortest_row() {
            self.active[row as usize] = false;
            let Some((column, pivot)) = self.best_entry(row) else {
                self.forget(row);
                continue;
            };
            pivoted(row, column, pivot);
            self.forget(row);
            let mut terms = std::mem::take(&mut self.rows[row as usize]);
            terms.retain(|&(other, _)| other != column);
            upper.extend(terms.iter().map(|&(other, value)| (row, other, value)));
            let mut below = std::mem::take(&mut self.columns[column as usize]);
            for other in below.drain(..) {
                let factor = self.subtract(other, column, pivot, &terms);
                lower.push((row, other, factor));
            }
            self.columns[column as usize] = below;
            self.rows[row as usize] = terms;
        }
    }

    fn file(&mut self, row: u32) {
        let length = self.rows[row as usize].len();
        if self.by_length.len() <= length {
            self.by_length.resize_with(length + 1, Vec::new);
        }
        self.by_length[length].push(row);
    }

    fn shortest_row(&mut self) -> Option<u32> {
        for (length, list) in self.by_length.iter_mut().enumerate() {
            while let Some(row) = list.pop() {
                if self.active[row as usize] && self.rows[row as usize].len() == length {
                    return Some(row);
                }
            }
        }
        None
    }

    /// The entry of a row whose column is shortest, among those large enough.
    fn best_entry(&self, row: u32) -> Option<Term> {
        let terms = &self.rows[row as usize];
        let largest = terms.iter().fold(0.0, |most: f64, t| most.max(t.1.abs()));
        let stable = terms.iter().filter(|t| t.1.abs() >= THRESHOLD * largest);
        let best = stable.min_by_key(|t| self.columns[t.0 as usize].len());
        best.copied().filter(|_| largest > SINGULAR)
    }

    /// Takes a row out of the lists of its columns.
    fn forget(&mut self, row: u32) {
        for &(column, _) in &self.rows[row as usize] {
            let list = &mut self.columns[column as usize];
            if let Some(at) = list.iter().position(|&other| other == row) {
                list.swap_remove(at);
            }
        }
    }

    /// Subtracts from a row the multiple of the pivot row (its other terms given) that clears the
    /// pivot column, and returns that multiple.
    fn subtract(&mut self, row: u32, column: u32, pivot: f64, terms: &[Term]) -> f64 {
        let target = &mut self.rows[row as usize];
        let at = target.iter().position(|t| t.0 == column);
        let factor = at.map_or(0.0, |at| target.swap_remove(at).1 / pivot);
        for &(other, value) in terms {
            self.scratch.values[other as usize] = factor * value;
        }
        let (columns, scratch) = (&mut self.columns, &mut self.scratch.values);
        target.retain_mut(|(other, value)| {
            let change = std::mem::take(&mut scratch[*other as usize]);
            *value -= change;
            let stays = change == 0.0 || value.abs() > CANCELLED;
            if !stays {
                let list = &mut columns[*other as usize];
                let at = list.iter().position(|&listed| listed == row);
                at.map(|at| list.swap_remove(at));
            }
            stays
        });
        for &(other, _) in terms {
            let change = std::mem::take(&mut scratch[other as usize]);
            if change != 0.0 {
                target.push((other, -change));
                columns[other as usize].push(row);
            }
        }
        self.file(row);
        factor
    }
}
