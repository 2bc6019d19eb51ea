//! What the records did not determine of a model: terms that stand in the profile all the same, and rest on nothing.

use crate::least_squares::Table;
use std::fmt;

/// A term of a model that the records did not determine.
#[derive(Clone, Debug, PartialEq)]
pub struct Undetermined {
    /// What it is called.
    pub term: String,
    /// What is missing.
    pub lack: Lack,
}

/// Why a term is not determined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lack {
    /// So few records have it.
    Records(usize),
    /// Its standard error is larger than itself: there may be no such term.
    Certainty {
        /// The term.
        estimate: f64,
        /// Its standard error.
        std_error: f64,
    },
}

/// Fewest records that determine a constant.
const LEAST_RECORDS: usize = 5;

impl Undetermined {
    /// The term, if its records are too few or its standard error is too large to determine it.
    pub(crate) fn unless(
        term: &str,
        records: usize,
        estimate: f64,
        std_error: f64,
    ) -> Option<Undetermined> {
        let lack = if records < LEAST_RECORDS {
            Lack::Records(records)
        } else if std_error > estimate.abs() {
            Lack::Certainty {
                estimate,
                std_error,
            }
        } else {
            return None;
        };
        Some(Undetermined {
            term: term.to_owned(),
            lack,
        })
    }

    /// The terms of a regression.
    pub(crate) fn of_table(table: &Table) -> Vec<Undetermined> {
        let terms = table.terms.iter().filter_map(|term| match term.estimate {
            Some(estimate) => {
                Undetermined::unless(&term.name, usize::MAX, estimate, term.std_error)
            }
            None => Undetermined::unless(&term.name, 0, 0.0, 0.0),
        });
        terms.collect()
    }
}

impl fmt::Display for Undetermined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let term = &self.term;
        match self.lack {
            Lack::Records(0) => write!(f, "{term} (no record)"),
            Lack::Records(1) => write!(f, "{term} (1 record)"),
            Lack::Records(count) => write!(f, "{term} ({count} records)"),
            Lack::Certainty {
                estimate,
                std_error,
            } => write!(f, "{term} ({} ± {})", figure(estimate), figure(std_error)),
        }
    }
}

/// A number of seconds, or of something far smaller.
fn figure(value: f64) -> String {
    if value == 0.0 || value.abs() >= 0.001 {
        format!("{value:.3}")
    } else {
        format!("{value:.1e}")
    }
}
