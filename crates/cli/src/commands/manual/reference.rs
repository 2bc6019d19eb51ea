//! Pages of the reference as man pages: their Markdown as roff.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Cells of more characters than this wrap.
const NARROW_CELL: usize = 24;

/// A man page of this name and section, with a page of the reference as its text.
pub fn page(name: &str, section: u8, markdown: &str) -> String {
    let mut page = Page::default();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        page.take(name, event);
    }
    let title = name.to_uppercase();
    let program = env!("CARGO_PKG_VERSION");
    // The first line tells man that there are tables.
    let head = "'\\\" t";
    format!(
        "{head}\n.TH {title} {section} \"\" \"tapewise {program}\" \"tapewise manual\"\n{}",
        page.roff
    )
}

/// A page that is being written.
#[derive(Default)]
struct Page {
    roff: String,
    /// Text of the paragraph, heading or cell that is being read, escaped.
    text: String,
    /// For each list that is open: the number of the next item, none without numbers.
    lists: Vec<Option<u64>>,
    /// The rows of the table that is being read.
    rows: Vec<Vec<String>>,
    is_verbatim: bool,
}

impl Page {
    fn take(&mut self, name: &str, event: Event) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(name, tag),
            Event::Text(text) => self.text.push_str(&escaped(&text)),
            Event::Code(text) => self.text.push_str(&format!("\\fB{}\\fR", escaped(&text))),
            Event::SoftBreak => self.text.push('\n'),
            Event::HardBreak => self.text.push_str("\n.br\n"),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag) {
        match tag {
            Tag::Emphasis => self.text.push_str("\\fI"),
            Tag::Strong => self.text.push_str("\\fB"),
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                self.is_verbatim = true;
            }
            Tag::List(first) => {
                // The text of an item that goes on with a list of its own.
                self.put_text();
                if !self.lists.is_empty() {
                    self.line(".RS");
                }
                self.lists.push(first);
            }
            Tag::Item => {
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!(".IP {}. 4", *number - 1)
                    }
                    _ => ".IP \\(bu 2".to_owned(),
                };
                self.line(&mark);
            }
            Tag::Paragraph if self.lists.is_empty() => self.line(".PP"),
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            _ => {}
        }
    }

    fn end(&mut self, name: &str, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong => self.text.push_str("\\fR"),
            TagEnd::Heading(level) => {
                let title = std::mem::take(&mut self.text);
                match level {
                    HeadingLevel::H1 => {
                        self.line(&format!(".SH NAME\n{} \\- {title}", escaped(name)));
                        self.line(".SH DESCRIPTION");
                    }
                    HeadingLevel::H2 => self.line(&format!(".SH \"{}\"", title.to_uppercase())),
                    _ => self.line(&format!(".SS \"{title}\"")),
                }
            }
            TagEnd::CodeBlock => {
                self.line(".PP\n.in +2n\n.nf");
                self.put_text();
                self.line(".fi\n.in");
                self.is_verbatim = false;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.line(if self.lists.is_empty() { ".PP" } else { ".RE" });
            }
            TagEnd::Paragraph | TagEnd::Item => self.put_text(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.text);
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.put_table(),
            _ => {}
        }
    }

    fn line(&mut self, line: &str) {
        self.roff.push_str(line);
        self.roff.push('\n');
    }

    /// Ends a paragraph. Words that begin a line with a dot are no commands.
    fn put_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        for line in text.lines() {
            let is_break = line == ".br" && !self.is_verbatim;
            if line.starts_with(['.', '\'']) && !is_break {
                self.roff.push_str("\\&");
            }
            self.line(line);
        }
    }

    /// A table for tbl: wide columns share what the narrow ones leave.
    fn put_table(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let is_wide = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max() > Some(NARROW_CELL)
        };
        let format = (0..columns).map(|column| if is_wide(column) { "lx" } else { "l" });
        let format = format.collect::<Vec<&str>>().join(" ");
        self.line(&format!(".PP\n.TS\nallbox;\n{format}."));
        for row in &rows {
            let cells = row.iter().map(|cell| format!("T{{\n{cell}\nT}}"));
            let cells = cells.collect::<Vec<String>>().join("\t");
            self.line(&cells);
        }
        self.line(".TE\n.PP");
    }
}

/// Text that roff prints as it is.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_lists_code_and_tables_become_roff() {
        let markdown = "# A file\n\nOne `-o` *word*.\n\n- first\n- second\n\n## Columns\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\n.not a command\n```\n";
        let page = page("tapewise-x", 5, markdown);
        let lines: Vec<&str> = page.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                ".SH NAME",
                "tapewise\\-x \\- A file",
                ".SH DESCRIPTION",
                ".PP",
                "One \\fB\\-o\\fR \\fIword\\fR.",
                ".IP \\(bu 2",
                "first",
                ".IP \\(bu 2",
                "second",
                ".PP",
                ".SH \"COLUMNS\"",
                ".PP",
                ".TS",
                "allbox;",
                "l l.",
                "T{",
                "a",
                "T}\tT{",
                "b",
                "T}",
                "T{",
                "1",
                "T}\tT{",
                "2",
                "T}",
                ".TE",
                ".PP",
                ".PP",
                ".in +2n",
                ".nf",
                "\\&.not a command",
                ".fi",
                ".in",
            ]
        );
    }

    #[test]
    fn every_page_of_the_reference_is_a_page_of_man_with_a_name_and_text() {
        for (topic, text) in super::super::super::help::PAGES {
            let page = page(topic, 5, text);
            assert!(page.contains(".SH NAME\n"), "{topic}");
            let words = page.lines().filter(|line| !line.starts_with('.'));
            assert!(words.count() > 5, "{topic}");
            let quotes = page.lines().filter(|line| line.starts_with(".SH"));
            for heading in quotes.filter(|line| line.contains('"')) {
                assert_eq!(heading.matches('"').count(), 2, "{topic}: {heading}");
            }
        }
    }
}
