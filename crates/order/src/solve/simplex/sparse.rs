//! Sparse vectors and matrices, as far as the simplex method needs them.

/// Magnitudes below this are rounding noise and count as zero.
const NOISE: f64 = 1e-13;

/// Stands for a zero that was listed before it cancelled. Products with it must not be subnormal
/// numbers, which processors take a hundred times as long for.
const CANCELLED: f64 = 1e-100;

/// A term of a row or column: an index and its coefficient.
pub(super) type Term = (u32, f64);

/// Row of a pivot, another row or column, value.
pub(super) type Triplet = (u32, u32, f64);

/// A vector with a list of where it is not zero, kept for reuse.
#[derive(Clone, Debug, Default)]
pub(super) struct SparseVector {
    pub(super) values: Vec<f64>,
    pub(super) nonzeros: Vec<u32>,
}

impl SparseVector {
    /// All zero, of the given length.
    pub(super) fn reset(&mut self, length: usize) {
        for &at in &self.nonzeros {
            self.values[at as usize] = 0.0;
        }
        self.nonzeros.clear();
        self.values.resize(length, 0.0);
    }

    /// Lists the nonzeros anew after the values were changed, and drops noise.
    pub(super) fn gather(&mut self) {
        self.nonzeros.clear();
        for (at, value) in self.values.iter_mut().enumerate() {
            if value.abs() > NOISE {
                self.nonzeros.push(at as u32);
            } else {
                *value = 0.0;
            }
        }
    }

    /// Adds to one value; the index is listed when it is first touched.
    #[inline(always)]
    pub(super) fn add(&mut self, at: u32, amount: f64) {
        let value = &mut self.values[at as usize];
        if *value == 0.0 {
            self.nonzeros.push(at);
        }
        *value += amount;
        // What cancels stays listed, and must not be listed twice.
        if *value == 0.0 {
            *value = CANCELLED;
        }
    }

    /// The nonzeros with their indices.
    #[inline(always)]
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let index = |&at: &u32| (at as usize, self.values[at as usize]);
        self.nonzeros.iter().map(index)
    }
}

/// A growing matrix, held by rows and by columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Matrix {
    rows: Vec<Vec<Term>>,
    columns: Vec<Vec<Term>>,
}

impl Matrix {
    #[cfg(test)]
    pub(super) fn column_count(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn row(&self, row: usize) -> &[Term] {
        &self.rows[row]
    }

    pub(super) fn column(&self, column: usize) -> &[Term] {
        &self.columns[column]
    }

    /// Adds a row with these terms of present columns.
    pub(super) fn push_row(&mut self, terms: Vec<Term>) {
        let row = self.rows.len() as u32;
        for &(column, value) in &terms {
            self.columns[column as usize].push((row, value));
        }
        self.rows.push(terms);
    }

    /// Adds a column with these terms of present rows.
    pub(super) fn push_column(&mut self, terms: &[Term]) {
        let column = self.columns.len() as u32;
        for &(row, value) in terms {
            self.rows[row as usize].push((column, value));
        }
        self.columns.push(terms.to_vec());
    }
}

/// Lists of terms by index: a matrix that is built once from triplets and then only read.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    starts: Vec<u32>,
    terms: Vec<Term>,
}

impl Lists {
    /// Sorts triplets (list, index, value) into their lists by counting.
    pub(super) fn build<I>(&mut self, lists: usize, triplets: I)
    where
        I: Iterator<Item = (u32, u32, f64)> + Clone,
    {
        self.starts.clear();
        self.starts.resize(lists + 2, 0);
        for (list, ..) in triplets.clone() {
            self.starts[list as usize + 2] += 1;
        }
        for list in 2..self.starts.len() {
            self.starts[list] += self.starts[list - 1];
        }
        let total = self.starts[lists + 1] as usize;
        self.terms.clear();
        self.terms.resize(total, (0, 0.0));
        for (list, index, value) in triplets {
            let slot = &mut self.starts[list as usize + 1];
            self.terms[*slot as usize] = (index, value);
            *slot += 1;
        }
    }

    #[inline(always)]
    pub(super) fn list(&self, list: usize) -> &[Term] {
        &self.terms[self.starts[list] as usize..self.starts[list + 1] as usize]
    }

    /// Number of terms in all lists.
    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }
}
