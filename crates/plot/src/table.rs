//! A table: right-aligned numbers, left-aligned words, as plain text or as HTML.

use crate::page::escaped;
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

    /// By column, whether all its cells are quantities, which are aligned at the right.
    fn right(&self) -> Vec<bool> {
        let is_right = |at: usize| {
            let mut cells = self.rows.iter().map(|row| row.get(at));
            cells.all(|cell| is_quantity(cell.map_or("", String::as_str)))
        };
        (0..self.columns.len()).map(is_right).collect()
    }

    /// The table as a piece of an HTML page: heading, a table in a block of class `wide`, remarks of class
    /// `note`. Cells of class `n` are quantities.
    pub fn html(&self) -> String {
        let right = self.right();
        let cells = |row: &[String], of: &str| -> String {
            let cell = |(at, cell): (usize, &String)| {
                let class = match right.get(at) {
                    Some(true) => " class=\"n\"",
                    _ => "",
                };
                // A heading without words would be announced with every cell below it.
                let of = if cell.is_empty() { "td" } else { of };
                format!("<{of}{class}>{}</{of}>", escaped(cell))
            };
            row.iter().enumerate().map(cell).collect()
        };
        let mut html = String::new();
        if !self.title.is_empty() {
            html.push_str(&format!("<h3>{}</h3>\n", escaped(&self.title)));
        }
        let head = cells(&self.columns, "th");
        html.push_str(&format!(
            "<div class=\"wide\" tabindex=\"0\"><table>\n<tr>{head}</tr>\n"
        ));
        for row in &self.rows {
            html.push_str(&format!("<tr>{}</tr>\n", cells(row, "td")));
        }
        html.push_str("</table></div>\n");
        for note in &self.notes {
            html.push_str(&format!("<p class=\"note\">{}</p>\n", escaped(note)));
        }
        html
    }

    /// The rows as CSV (RFC 4180, lines end with a line feed), below the names of the columns.
    pub fn csv(&self) -> String {
        let name = |column: &String| match column.as_str() {
            "" => "remarks".to_owned(),
            name => name.to_owned(),
        };
        let columns: Vec<String> = self.columns.iter().map(name).collect();
        let mut csv = String::new();
        for row in std::iter::once(&columns).chain(&self.rows) {
            let cells: Vec<String> = row.iter().map(|cell| quoted(cell)).collect();
            csv.push_str(&cells.join(","));
            csv.push('\n');
        }
        csv
    }
}

/// A cell of CSV.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

/// Whether a cell is a number, a time or a gap: such columns are aligned at the right.
fn is_quantity(cell: &str) -> bool {
    cell.is_empty()
        || cell == "-"
        || cell.starts_with(|c: char| c.is_ascii_digit() || "+-~<".contains(c))
}

/// `{table}` prints all columns. `{table:80}` leaves out the last columns if the table is wider than 80 characters, and
/// says which. A last column without a heading holds remarks: it stays if it takes at most half of the room.
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
        let shown = f.width().map_or_else(
            || (0..widths.len()).collect(),
            |room| self.columns_in(&widths, room),
        );
        let right = self.right();
        for row in std::iter::once(&self.columns).chain(&self.rows) {
            let mut line = String::new();
            for &at in &shown {
                let (width, right) = (widths[at], right[at]);
                let text = cell(row, at);
                let pad = " ".repeat(width - text.chars().count());
                line.push_str(if at == 0 { "" } else { GAP });
                line.push_str(&if right { pad + &text } else { text + &pad });
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        let left_out = self.columns.iter().enumerate();
        let left_out = left_out.filter(|(at, _)| !shown.contains(at));
        let name = |name: &String| match name.as_str() {
            "" => "remarks".to_owned(),
            name => name.to_owned(),
        };
        let left_out: Vec<String> = left_out.map(|(_, column)| name(column)).collect();
        let left_out = left_out.join(", ");
        if !left_out.is_empty() {
            writeln!(
                f,
                "(no room for: {left_out}; a wider terminal or a pipe shows them)"
            )?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}

/// What stands between two columns.
const GAP: &str = "  ";

impl Table {
    /// The columns of these widths that fit into a line: at least two, and the remarks unless they are long.
    fn columns_in(&self, widths: &[usize], room: usize) -> Vec<usize> {
        let remarks = widths.last().copied().filter(|&width| {
            self.columns.last().is_some_and(String::is_empty) && width * 2 <= room
        });
        let headed = widths.len() - usize::from(remarks.is_some());
        let mut end = remarks.map_or(0, |width| width + GAP.len());
        let fits = |&width: &usize| {
            end += width + GAP.len();
            end - GAP.len() <= room
        };
        let fitting = widths[..headed].iter().copied().take_while(fits).count();
        let fitting = fitting.max(2).min(headed);
        (0..fitting).chain(headed..widths.len()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_at_the_right_in_text_and_in_html() {
        let mut table = Table::new("Times & more", &["what", "s"]);
        table.row(["locate".to_owned(), "9.5".to_owned()]);
        table.row(["rewind".to_owned(), "81.0".to_owned()]);
        table.note("measured");
        assert_eq!(
            table.to_string(),
            "Times & more\nwhat       s\nlocate   9.5\nrewind  81.0\nmeasured\n"
        );
        assert_eq!(
            table.html(),
            "<h3>Times &amp; more</h3>\n<div class=\"wide\" tabindex=\"0\"><table>\n<tr><th>what</th><th class=\"n\">s</th></tr>\n\
             <tr><td>locate</td><td class=\"n\">9.5</td></tr>\n<tr><td>rewind</td><td class=\"n\">81.0</td></tr>\n\
             </table></div>\n<p class=\"note\">measured</p>\n"
        );
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_named() {
        let mut table = Table::new("", &["order", "likely", "moved", "computed"]);
        table.row([
            "sorted".to_owned(),
            "2h52".to_owned(),
            "71 km".to_owned(),
            "<1 ms".to_owned(),
        ]);
        assert_eq!(format!("{table:31}"), table.to_string());
        assert_eq!(
            format!("{table:30}"),
            "order   likely  moved\nsorted    2h52  71 km\n\
             (no room for: computed; a wider terminal or a pipe shows them)\n"
        );
        assert!(format!("{table:3}").starts_with("order   likely\n"));
    }

    #[test]
    fn remarks_stay_where_other_columns_have_no_room_unless_they_are_long() {
        let mut table = Table::new("", &["order", "likely", "moved", "computed", ""]);
        let row = ["best", "1h22", "5 km", "1.0 s", "<- given"];
        table.row(row.map(str::to_owned));
        assert_eq!(
            format!("{table:31}"),
            "order  likely  moved\nbest     1h22   5 km  <- given\n\
             (no room for: computed; a wider terminal or a pipe shows them)\n"
        );
        let narrow = format!("{table:14}");
        assert!(
            narrow.contains("(no room for: moved, computed, remarks;"),
            "{narrow}"
        );
    }
}
