//! The two tables of `library bench`: what is asked for when, and what stands on the cartridges.
//!
//! A pattern has the columns `number,at_s,cartridge,location`: retrievals by time, cartridges by their
//! number from 1, places from 1 (the first object of a cartridge) to [`LOCATIONS`] (the last). The
//! cartridges have `cartridge,label,objects,object_bytes`. A pattern names no labels and no blocks, so
//! that one library can be asked what another one was asked. Extra columns are ignored.
//! docs/reference/bench-csv.md is the contract.

use std::collections::HashSet;
use std::io::{self, BufRead, Write};

use tapewise_model::Micros;

use crate::csv_table::{Table, TableError};
use crate::number::parse_u64;

/// Places that are told apart on a cartridge, evenly spread over its objects.
pub const LOCATIONS: u32 = 100;

/// One retrieval of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retrieval {
    /// Its number, from 1.
    pub number: u64,
    /// When it arrives, since the beginning.
    pub at: Micros,
    /// Its cartridge's number, from 1.
    pub cartridge: u32,
    /// Where on it, from 1 to [`LOCATIONS`].
    pub location: u32,
}

/// A cartridge full of objects, each of them one block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stocked {
    /// Its number in a pattern, from 1.
    pub number: u32,
    /// Its label.
    pub label: String,
    /// Objects on it, from block 0 on.
    pub objects: u64,
    /// The length of an object in bytes, as the host sees it.
    pub object_bytes: u32,
}

impl Stocked {
    /// The block of a location: 1 is the first object, [`LOCATIONS`] the last.
    pub fn block(&self, location: u32) -> u64 {
        let last = u128::from(self.objects.saturating_sub(1));
        let share = u128::from(location.saturating_sub(1));
        (last * share / u128::from(LOCATIONS - 1)) as u64
    }
}

/// Why a table of the benchmark could not be read.
#[derive(Debug, thiserror::Error)]
pub enum BenchCsvError {
    /// No table: not readable, not UTF-8, or not the same columns everywhere.
    #[error(transparent)]
    Table(#[from] TableError),
    /// No rows.
    #[error("the file has no rows: expected rows of {wanted}")]
    NoRows {
        /// The columns.
        wanted: String,
    },
    /// Retrievals that are not in the order of time, or rows that are not numbered from 1.
    #[error("line {line}: {what}")]
    Disorder {
        /// The line, from 1.
        line: u64,
        /// What is out of order.
        what: &'static str,
    },
}

const PATTERN: [&str; 4] = ["number", "at_s", "cartridge", "location"];
const STOCKED: [&str; 4] = ["cartridge", "label", "objects", "object_bytes"];

/// Times up to a year.
const LONGEST_S: f64 = 366.0 * 86_400.0;

/// Reads a pattern, in the order of the file, which is that of time; rows are numbered from 1.
///
/// # Errors
/// At the first thing that is wrong, with its line and column.
pub fn read_pattern(input: impl BufRead) -> Result<Vec<Retrieval>, BenchCsvError> {
    let mut pattern: Vec<Retrieval> = Vec::new();
    rows(input, &PATTERN, |row| {
        let seconds = row.texts[1].parse::<f64>().ok();
        let seconds = seconds.filter(|seconds| (0.0..=LONGEST_S).contains(seconds));
        let next = Retrieval {
            number: row.number(0, u64::MAX, "a number from 1")?,
            at: match seconds {
                Some(seconds) => Micros::from_secs_f64(seconds),
                None => return Err(row.wrong(1, "seconds since the beginning, up to a year")),
            },
            cartridge: row.number(2, 65_535, "the number of a cartridge, 1 to 65535")? as u32,
            location: row.number(3, u64::from(LOCATIONS), "a location, 1 to 100")? as u32,
        };
        if next.number != pattern.len() as u64 + 1 {
            return Err(row.disorder("retrievals must be numbered 1, 2, 3, ..."));
        }
        if pattern.last().is_some_and(|last| last.at > next.at) {
            return Err(row.disorder("it arrives before the one above it"));
        }
        pattern.push(next);
        Ok(())
    })?;
    Ok(pattern)
}

/// Reads the cartridges; rows are numbered from 1.
///
/// # Errors
/// At the first thing that is wrong, with its line and column.
pub fn read_stocked(input: impl BufRead) -> Result<Vec<Stocked>, BenchCsvError> {
    let mut stocked: Vec<Stocked> = Vec::new();
    let mut labels = HashSet::new();
    rows(input, &STOCKED, |row| {
        let next = Stocked {
            number: row.number(0, 65_535, "the number of a cartridge, 1 to 65535")? as u32,
            label: row.texts[1].to_owned(),
            objects: row.number(2, u64::MAX, "how many objects there are, 1 or more")?,
            object_bytes: row.number(3, 0xff_ffff, "a length in bytes, 1 to 16777215")? as u32,
        };
        if next.label.is_empty() {
            return Err(row.wrong(1, "a label"));
        }
        if next.number as usize != stocked.len() + 1 {
            return Err(row.disorder("cartridges must be numbered 1, 2, 3, ..."));
        }
        if !labels.insert(next.label.clone()) {
            return Err(row.disorder("the label is there twice"));
        }
        stocked.push(next);
        Ok(())
    })?;
    Ok(stocked)
}

/// Writes a pattern.
///
/// # Errors
/// What the output says.
pub fn write_pattern(out: &mut impl Write, pattern: &[Retrieval]) -> io::Result<()> {
    writeln!(out, "{}", PATTERN.join(","))?;
    for one in pattern {
        let (seconds, micros) = (one.at.0 / 1_000_000, one.at.0 % 1_000_000);
        writeln!(
            out,
            "{},{seconds}.{micros:06},{},{}",
            one.number, one.cartridge, one.location
        )?;
    }
    Ok(())
}

/// Writes the header of the cartridges' table.
///
/// # Errors
/// What the output says.
pub fn write_stocked_header(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", STOCKED.join(","))
}

/// Writes a cartridge's row, as soon as it is filled. A label is letters, digits, `-` and `_`, or it is
/// quoted.
///
/// # Errors
/// What the output says.
pub fn write_stocked(out: &mut impl Write, one: &Stocked) -> io::Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let label = if one.label.chars().all(is_plain) {
        one.label.clone()
    } else {
        format!("\"{}\"", one.label.replace('"', "\"\""))
    };
    writeln!(
        out,
        "{},{label},{},{}",
        one.number, one.objects, one.object_bytes
    )
}

/// A row with the texts of the columns asked for.
struct Row<'a> {
    line: u64,
    columns: &'static [&'static str; 4],
    texts: [&'a str; 4],
}

impl Row<'_> {
    fn wrong(&self, column: usize, expected: &'static str) -> BenchCsvError {
        TableError::field(
            self.line,
            self.columns[column],
            self.texts[column],
            expected,
        )
        .into()
    }

    fn disorder(&self, what: &'static str) -> BenchCsvError {
        let line = self.line;
        BenchCsvError::Disorder { line, what }
    }

    /// A number from 1 to `most`.
    fn number(
        &self,
        column: usize,
        most: u64,
        expected: &'static str,
    ) -> Result<u64, BenchCsvError> {
        let found = parse_u64(self.texts[column]).ok();
        let found = found.filter(|number| (1..=most).contains(number));
        found.ok_or_else(|| self.wrong(column, expected))
    }
}

/// Hands every row of a table on.
fn rows(
    input: impl BufRead,
    columns: &'static [&'static str; 4],
    mut each: impl FnMut(Row<'_>) -> Result<(), BenchCsvError>,
) -> Result<(), BenchCsvError> {
    let wanted = columns.join(",");
    let table = Table::open(input, &wanted)?;
    let mut places = [0; 4];
    for (place, name) in places.iter_mut().zip(columns) {
        *place = table.needed(name)?;
    }
    let rows = table.rows(|line, fields| {
        each(Row {
            line,
            columns,
            texts: places.map(|place| fields[place].trim()),
        })
    })?;
    if rows.is_empty() {
        return Err(BenchCsvError::NoRows { wanted });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retrieval(number: u64, at: i64, cartridge: u32, location: u32) -> Retrieval {
        Retrieval {
            number,
            at: Micros(at),
            cartridge,
            location,
        }
    }

    #[test]
    fn what_was_written_is_read_again() {
        let pattern = [retrieval(1, 0, 1, 100), retrieval(2, 12_345_678, 2, 1)];
        let mut text = Vec::new();
        write_pattern(&mut text, &pattern).unwrap();
        assert_eq!(read_pattern(&text[..]).unwrap(), pattern);

        let stocked = ["TW0001", "odd, \"label\""].map(|label| Stocked {
            number: 1,
            label: label.to_owned(),
            objects: 192_307,
            object_bytes: 26_000,
        });
        for one in stocked {
            let mut text = Vec::new();
            write_stocked_header(&mut text).unwrap();
            write_stocked(&mut text, &one).unwrap();
            assert_eq!(read_stocked(&text[..]).unwrap(), [one]);
        }
    }

    #[test]
    fn the_first_location_is_the_first_object_and_the_last_the_last() {
        let of = |objects, location| {
            let label = "A".to_owned();
            let one = Stocked {
                number: 1,
                label,
                objects,
                object_bytes: 1,
            };
            one.block(location)
        };
        assert_eq!([of(192_307, 1), of(192_307, LOCATIONS)], [0, 192_306]);
        assert_eq!([of(1, 1), of(1, 57), of(1, LOCATIONS)], [0, 0, 0]);
        assert_eq!(of(u64::MAX, LOCATIONS), u64::MAX - 1);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let head = "number,at_s,cartridge,location\n";
        for (text, said) in [
            ("", "empty"),
            (head, "no rows"),
            ("number,at_s,location\n1,0,1\n", "no column cartridge"),
            (&format!("{head}1,0,0,1\n"), "line 2, column cartridge"),
            (&format!("{head}1,-1,1,1\n"), "line 2, column at_s"),
            (&format!("{head}1,0,1,101\n"), "1 to 100"),
            (&format!("{head}1,5,1,1\n2,4,1,1\n"), "line 3"),
            (&format!("{head}2,5,1,1\n"), "numbered"),
        ] {
            let error = read_pattern(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(said), "{text:?}: {error}");
        }
        let head = "cartridge,label,objects,object_bytes\n";
        for (row, said) in [
            ("1,,5,5", "a label"),
            ("1,A,0,5", "objects"),
            ("1,A,5,16777216", "object_bytes"),
            ("1,A,5,5\n2,A,5,5", "twice"),
        ] {
            let text = format!("{head}{row}\n");
            let error = read_stocked(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(said), "{row:?}: {error}");
        }
    }
}
