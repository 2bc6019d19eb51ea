//! Tables: rows and columns on a wide window; on a narrow one each row is a list, with the columns' names beside it.

/// A column.
pub(super) struct Column {
    name: &'static str,
    /// The class that says how its cells look.
    class: &'static str,
}

/// A column of words.
pub(super) const fn words(name: &'static str) -> Column {
    Column { name, class: "" }
}

/// A column of numbers, which end below each other.
pub(super) const fn numbers(name: &'static str) -> Column {
    Column { name, class: "n" }
}

/// A column of words that stay on one line.
pub(super) const fn line(name: &'static str) -> Column {
    Column { name, class: "t" }
}

/// A column that needs some width.
pub(super) const fn broad(name: &'static str) -> Column {
    Column { name, class: "far" }
}

/// A table that can be scrolled, also with the keyboard. Cells are HTML.
pub(super) fn table(
    name: &str,
    columns: &[Column],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let row = |cells: Vec<String>| {
        let cell = |(column, cell): (&Column, String)| {
            let Column { name, class } = column;
            format!("<td class=\"{class}\" data-of=\"{name}\">{cell}</td>")
        };
        let cells: String = columns.iter().zip(cells).map(cell).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let head = |Column { name, class }: &Column| format!("<th class=\"{class}\">{name}</th>");
    let head: String = columns.iter().map(head).collect();
    let rows: String = rows.into_iter().map(row).collect();
    format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\"><table><thead><tr>{head}</tr></thead>\
         <tbody>\n{rows}</tbody></table></div>\n"
    )
}
