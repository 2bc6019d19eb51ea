//! A table on the terminal: right-aligned numbers, left-aligned words.

use std::fmt;

/// Columns of text under their headings.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Table {
    /// What the table shows.
    pub title: String,
    /// Headings.
    pub columns: Vec<String>,
    /// Rows, each as long as the headings.
    pub rows: Vec<Vec<String>>,
    /// Remarks printed below.
    pub notes: Vec<String>,
}

impl Table {
    /// An empty table.
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Table {
        Table {
            title: title.into(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            ..Table::default()
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Adds a remark.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// Whether a cell is a number, a time or a gap: such columns are aligned at the right.
fn is_quantity(cell: &str) -> bool {
    cell.is_empty()
        || cell == "-"
        || cell.starts_with(|c: char| c.is_ascii_digit() || "+-~<".contains(c))
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.title.is_empty() {
            writeln!(f, "{}", self.title)?;
        }
        let cell = |row: &Vec<String>, at: usize| row.get(at).cloned().unwrap_or_default();
        let width = |at: usize| {
            let cells = self.rows.iter().map(|row| cell(row, at).chars().count());
            cells
                .chain([self.columns[at].chars().count()])
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let right: Vec<bool> = (0..self.columns.len())
            .map(|at| self.rows.iter().all(|row| is_quantity(&cell(row, at))))
            .collect();
        for row in std::iter::once(&self.columns).chain(&self.rows) {
            let mut line = String::new();
            for (at, (&width, &right)) in widths.iter().zip(&right).enumerate() {
                let text = cell(row, at);
                let pad = " ".repeat(width - text.chars().count());
                line.push_str(if at == 0 { "" } else { "  " });
                line.push_str(&if right { pad + &text } else { text + &pad });
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}
