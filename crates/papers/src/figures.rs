//! Figures of what tables show: no number is computed twice.

use tapewise_plot::{Figure, Table};

/// A column against the first, as numbers; cells that do not begin with one are left out.
pub fn column(table: &Table, at: usize) -> Vec<(f64, f64)> {
    let place = |row: &Vec<String>| Some((leading(row.first()?)?, leading(row.get(at)?)?));
    table.rows.iter().filter_map(place).collect()
}

/// These columns against the first, each as a line under its heading.
pub fn lines(figure: Figure, table: &Table, columns: impl IntoIterator<Item = usize>) -> Figure {
    columns.into_iter().fold(figure, |figure, at| {
        let name = table.columns.get(at).map_or("", String::as_str);
        figure.line(name, column(table, at))
    })
}

/// The number that a cell begins with: `12.30 ±0.45` is 12.3.
fn leading(cell: &str) -> Option<f64> {
    cell.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_read_back_as_numbers() {
        let mut table = Table::new("times", &["n", "SORT", "OPT"]);
        table.row(["1".to_owned(), "70.25 ±8.10".to_owned(), "70.2".to_owned()]);
        table.row(["2".to_owned(), "61.00 ±8.00".to_owned(), "-".to_owned()]);
        assert_eq!(column(&table, 1), [(1.0, 70.25), (2.0, 61.0)]);
        assert_eq!(column(&table, 2), [(1.0, 70.2)]);
        assert!(column(&table, 9).is_empty());
    }
}
