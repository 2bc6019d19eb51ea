//! What `--json` prints: one document, a list part by part, or a document made up as a verb goes on.

pub mod envelope;

pub use envelope::{line, text};

use crate::error::CliError;
use crate::output;
use serde::Serialize;
use serde_json::{Map, Value};

/// Prints the document of a verb on standard output.
pub fn print(verb: &str, body: &impl Serialize) -> Result<(), CliError> {
    output::print(&text(verb, body)?)
}

/// The document of a verb whose one field is a list, printed part by part: however long it is, no more than a part is
/// in memory.
pub struct List {
    is_empty: bool,
}

impl List {
    /// Prints what stands before the first item.
    pub fn begin(verb: &str, field: &str) -> Result<List, CliError> {
        let head = line(
            verb,
            &Map::from_iter([(field.to_owned(), Value::Array(Vec::new()))]),
        )?;
        output::print(head.trim_end().trim_end_matches("]}"))?;
        Ok(List { is_empty: true })
    }

    /// Prints further items, each on a line of its own.
    pub fn items(&mut self, items: impl Iterator<Item = Value>) -> Result<(), CliError> {
        let mut part = String::new();
        for item in items {
            part += if self.is_empty { "\n" } else { ",\n" };
            part += &item.to_string();
            self.is_empty = false;
        }
        output::print(&part)
    }

    /// Prints what stands after the last item.
    pub fn end(self) -> Result<(), CliError> {
        output::print("\n]}\n")
    }
}

/// What a verb did: lines for a person as it goes on, or one document at its end.
pub struct Answer {
    verb: &'static str,
    as_json: bool,
    fields: Map<String, Value>,
}

impl Answer {
    pub fn new(verb: &'static str, as_json: bool) -> Answer {
        Answer {
            verb,
            as_json,
            fields: Map::new(),
        }
    }

    /// Prints a line for a person, and nothing where a document is to come.
    pub fn line(&self, line: &str) -> Result<(), CliError> {
        if self.as_json {
            return Ok(());
        }
        output::print(&format!("{line}\n"))
    }

    /// Sets a field of the document.
    pub fn set(&mut self, field: &str, value: impl Into<Value>) {
        self.fields.insert(field.to_owned(), value.into());
    }

    /// Adds to a list of the document.
    pub fn push(&mut self, list: &str, value: impl Into<Value>) {
        let list = self
            .fields
            .entry(list)
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(list) = list {
            list.push(value.into());
        }
    }

    /// Prints the document.
    pub fn end(&self) -> Result<(), CliError> {
        if self.as_json {
            print(self.verb, &self.fields)?;
        }
        Ok(())
    }
}
