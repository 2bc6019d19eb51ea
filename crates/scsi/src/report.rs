//! Decoded answers as lines of label and value, for a person, or for JSON.

use crate::hex;
use std::fmt;

/// One line: a label and a value in words or numbers.
pub type Line = (String, String);

/// The lines of one answer, in the order of its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    lines: Vec<Line>,
    prefix: String,
}

/// An answer that can say what it holds.
pub trait Describe {
    /// Adds its lines.
    fn describe(&self, report: &mut Report);
}

impl Report {
    /// The lines of an answer.
    pub fn of(answer: &impl Describe) -> Report {
        let mut report = Report::default();
        answer.describe(&mut report);
        report
    }

    /// Adds a line.
    pub fn line(&mut self, label: impl fmt::Display, value: impl fmt::Display) {
        let label = format!("{}{label}", self.prefix);
        self.lines.push((label, value.to_string()));
    }

    /// Adds a line for a value that there may be.
    pub fn some(&mut self, label: impl fmt::Display, value: Option<impl fmt::Display>) {
        if let Some(value) = value {
            self.line(label, value);
        }
    }

    /// Adds a line of bytes in hex, none for no bytes.
    pub fn bytes(&mut self, label: impl fmt::Display, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.line(label, hex::plain(bytes));
        }
    }

    /// Adds the lines of one item of a list, each label led by the item's name.
    pub fn item(&mut self, name: impl fmt::Display, lines: impl FnOnce(&mut Report)) {
        let outer = self.prefix.len();
        self.prefix.push_str(&format!("{name}: "));
        lines(self);
        self.prefix.truncate(outer);
    }

    /// The lines.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.lines.iter().map(|(label, _)| label.chars().count());
        let width = width.max().unwrap_or(0);
        for (label, value) in &self.lines {
            writeln!(f, "{label:width$}  {value}")?;
        }
        Ok(())
    }
}
