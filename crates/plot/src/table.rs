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

/// `{table}` prints all columns as wide as they are. `{table:80}` folds words and leaves out the last columns until the
/// table is at most 80 characters wide, and says which it left out.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.title.is_empty() {
            writeln!(f, "{}", self.title)?;
        }
        let widths = self.widths();
        let right = self.right();
        let shown = match f.width() {
            Some(room) => self.columns_in(&widths, room),
            None => widths.iter().copied().enumerate().collect(),
        };
        for row in self.lines() {
            let folded = shown
                .iter()
                .map(|&(at, width)| folded(cell(row, at), width));
            let folded: Vec<Vec<String>> = folded.collect();
            for line in 0..folded.iter().map(Vec::len).max().unwrap_or(1) {
                let pieces = shown.iter().zip(&folded);
                let pieces = pieces.map(|(&(at, width), lines)| {
                    let text = lines.get(line).map_or("", String::as_str);
                    let pad = " ".repeat(width - text.chars().count());
                    if right[at] {
                        pad + text
                    } else {
                        text.to_owned() + &pad
                    }
                });
                let text = pieces.collect::<Vec<_>>().join(GAP);
                writeln!(f, "{}", text.trim_end())?;
            }
        }
        let is_left_out = |at: &usize| shown.iter().all(|(shown, _)| shown != at);
        let left_out = (0..widths.len()).filter(is_left_out);
        let left_out: Vec<&str> = left_out.map(|at| heading(&self.columns[at])).collect();
        if !left_out.is_empty() {
            let left_out = left_out.join(", ");
            let whole = across(widths.iter().copied());
            writeln!(f, "(no room for: {left_out}; COLUMNS={whole} shows all)")?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}

/// What stands between two columns.
const GAP: &str = "  ";

/// Words are not folded to less than this.
const LEAST_FOLD: usize = 24;

/// What a column is called where it is not shown.
fn heading(column: &str) -> &str {
    if column.is_empty() { "remarks" } else { column }
}

fn cell(row: &[String], at: usize) -> &str {
    row.get(at).map_or("", String::as_str)
}

/// How wide columns are together.
fn across(widths: impl ExactSizeIterator<Item = usize>) -> usize {
    let gaps = GAP.len() * widths.len().saturating_sub(1);
    widths.sum::<usize>() + gaps
}

/// Words in lines of at most this width, or of one word.
fn folded(words: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

impl Table {
    /// The rows below their headings.
    fn lines(&self) -> impl Iterator<Item = &Vec<String>> {
        std::iter::once(&self.columns).chain(&self.rows)
    }

    /// How wide each column is.
    fn widths(&self) -> Vec<usize> {
        let width = |at| self.lines().map(|row| cell(row, at).chars().count()).max();
        (0..self.columns.len())
            .map(|at| width(at).unwrap_or(0))
            .collect()
    }

    /// How narrow each column can be: numbers are not folded, and no word is cut.
    fn least_widths(&self, widths: &[usize]) -> Vec<usize> {
        let longest = |text: &str| text.split(' ').map(|word| word.chars().count()).max();
        let word = |at| self.lines().filter_map(|row| longest(cell(row, at))).max();
        let right = self.right();
        let least = |(at, &width): (usize, &usize)| {
            if right[at] {
                width
            } else {
                word(at).unwrap_or(0).max(LEAST_FOLD).min(width)
            }
        };
        widths.iter().enumerate().map(least).collect()
    }

    /// The columns that fit into a line, each with its width: the widest words are folded first, then the last columns
    /// go. Two columns stay, and so does a last column without a heading, which holds remarks.
    fn columns_in(&self, widths: &[usize], room: usize) -> Vec<(usize, usize)> {
        let least = self.least_widths(widths);
        let mut shown: Vec<usize> = (0..widths.len()).collect();
        let has_remarks = self.columns.last().is_some_and(String::is_empty);
        let headed = |shown: &[usize]| shown.len() - usize::from(has_remarks);
        while across(shown.iter().map(|&at| least[at])) > room && headed(&shown) > 2 {
            shown.remove(headed(&shown) - 1);
        }
        let mut found: Vec<(usize, usize)> = shown.iter().map(|&at| (at, widths[at])).collect();
        loop {
            let over = across(found.iter().map(|(_, width)| *width)).saturating_sub(room);
            let wide = found.iter_mut().filter(|(at, width)| *width > least[*at]);
            match wide.max_by_key(|(_, width)| *width) {
                Some((at, width)) if over > 0 => {
                    *width = width.saturating_sub(over).max(least[*at])
                }
                _ => return found,
            }
        }
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
        table.row(["sorted", "2h52", "71 km", "<1 ms"].map(str::to_owned));
        assert_eq!(format!("{table:31}"), table.to_string());
        assert_eq!(
            format!("{table:30}"),
            "order   likely  moved\nsorted    2h52  71 km\n(no room for: computed; COLUMNS=31 shows all)\n"
        );
        assert!(format!("{table:3}").starts_with("order   likely\n"));
    }

    #[test]
    fn remarks_stay_where_other_columns_have_no_room() {
        let mut table = Table::new("", &["order", "likely", "moved", "computed", ""]);
        table.row(["best", "1h22", "5 km", "1.0 s", "<- given"].map(str::to_owned));
        assert_eq!(
            format!("{table:31}"),
            "order  likely  moved\nbest     1h22   5 km  <- given\n(no room for: computed; COLUMNS=40 shows all)\n"
        );
    }

    #[test]
    fn long_words_are_folded_before_a_column_goes() {
        let mut table = Table::new("", &["field", "value", "note"]);
        table.row(["wrap", "58", "the share that a real cartridge had"].map(str::to_owned));
        table.row(["rate", "[365, 341, 318, 306.4, 273]", "-"].map(str::to_owned));
        assert_eq!(
            format!("{table:57}"),
            "\
field  value                     note
wrap   58                        the share that a real
                                 cartridge had
rate   [365, 341, 318, 306.4,    -
       273]
"
        );
    }

    #[test]
    fn a_word_is_never_cut() {
        let mut table = Table::new("", &["file", "size", "tape"]);
        let path = "day1/a-path-that-somebody-copies-from-here.mov";
        table.row([path, "2 GB", "A00012"].map(str::to_owned));
        let narrow = format!("{table:40}");
        assert!(narrow.contains(&format!("{path}  2 GB\n")), "{narrow}");
        assert!(narrow.contains("(no room for: tape;"), "{narrow}");
    }
}
