//! What was asked of a library, and when it was answered, as CSV: `arrived_s,cartridge`, and what else is known.
//!
//! | column | |
//! |---|---|
//! | `arrived_s` | when the request arrived, in seconds from any beginning |
//! | `cartridge` | which cartridge, by any name |
//! | `response_s` | how long it took until the answer; optional |
//! | `size_mb` | how much was read, in decimal MB; optional |
//! | `place` | where on the cartridge, as a share of the tape from 0 to 1; optional |
//! | `priority` | higher is sooner, 0 to 255; optional |
//! | `owner` | who asked, by any name; optional |
//! | `activity` | what the owner was doing, by any name; optional |
//! | `drive` | which drive read it, by any name; optional |
//! | `library` | which library, by any name; optional |
//! | `case` | which case of a simulation; optional |
//!
//! Extra columns are ignored: what `simulate --trace` writes is such a table.

use crate::csv_table::{Table, TableError};
use std::io::BufRead;

/// One request.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// When it arrived.
    pub arrived_s: f64,
    /// Which cartridge it wants.
    pub cartridge: String,
    /// From arrival to answer.
    pub response_s: Option<f64>,
    /// How much.
    pub size_mb: Option<f64>,
    /// Where on the cartridge.
    pub place: Option<f64>,
    /// How urgent.
    pub priority: u8,
    /// Who asked.
    pub owner: Option<String>,
    /// What the owner was doing.
    pub activity: Option<String>,
    /// Which drive read it.
    pub drive: Option<String>,
    /// Which library.
    pub library: Option<String>,
    /// Which case of a simulation.
    pub case: Option<String>,
}

/// Whether the header of a table is one of requests.
pub fn is_asked(header: &str) -> bool {
    let mut names = header.split([',', ';', '\t']);
    names.any(|name| {
        let name = name.trim_start_matches('\u{feff}').trim();
        name.trim_matches('"')
            .trim()
            .eq_ignore_ascii_case("arrived_s")
    })
}

/// Reads requests from CSV, in the order of the file.
///
/// # Errors
/// At the first thing that is wrong, with its line and column.
pub fn read_asked(input: impl BufRead) -> Result<Vec<Asked>, TableError> {
    let table = Table::open(input, "with arrived_s and cartridge")?;
    let columns = Columns::find(&table)?;
    table.rows(|line, fields| columns.asked(line, fields))
}

/// Where the columns stand.
struct Columns {
    arrived: usize,
    cartridge: usize,
    /// In the order of [`NUMBERS`].
    numbers: [Option<usize>; 4],
    /// In the order of [`NAMES`].
    names: [Option<usize>; 5],
}

/// Columns of numbers, with the greatest number of each and what it is.
const NUMBERS: [(&str, f64, &str); 4] = [
    ("response_s", 1e9, "a number of seconds, 0 or more"),
    ("size_mb", 1e9, "a number of MB, 0 to 1e9"),
    ("place", 1.0, "a share from 0 to 1"),
    ("priority", 255.0, "a number from 0 to 255"),
];

/// Columns of names.
const NAMES: [&str; 5] = ["owner", "activity", "drive", "library", "case"];

impl Columns {
    fn find<R: BufRead>(table: &Table<R>) -> Result<Columns, TableError> {
        let mut columns = Columns {
            arrived: table.needed("arrived_s")?,
            cartridge: table.needed("cartridge")?,
            numbers: [None; 4],
            names: [None; 5],
        };
        for (at, (name, ..)) in columns.numbers.iter_mut().zip(NUMBERS) {
            *at = table.column(name)?;
        }
        for (at, name) in columns.names.iter_mut().zip(NAMES) {
            *at = table.column(name)?;
        }
        Ok(columns)
    }

    fn asked(&self, line: u64, fields: &[&str]) -> Result<Asked, TableError> {
        let wrong = |column, text: &str, expected| TableError::field(line, column, text, expected);
        let number = |column, text: &str, most: f64, expected| {
            let found = text.trim().parse::<f64>().ok();
            let found = found.filter(|number| (0.0..=most).contains(number));
            found.ok_or_else(|| wrong(column, text, expected))
        };
        let mut numbers = [None; 4];
        for ((found, at), (name, most, expected)) in
            numbers.iter_mut().zip(self.numbers).zip(NUMBERS)
        {
            if let Some(text) = at
                .map(|at| fields[at])
                .filter(|text| !text.trim().is_empty())
            {
                *found = Some(number(name, text, most, expected)?);
            }
        }
        let name = |at: Option<usize>| {
            let name = at
                .map(|at| fields[at].trim())
                .filter(|name| !name.is_empty());
            name.map(str::to_owned)
        };
        let [response_s, size_mb, place, priority] = numbers;
        let [owner, activity, drive, library, case] = self.names.map(name);
        let cartridge = name(Some(self.cartridge));
        Ok(Asked {
            arrived_s: number(
                "arrived_s",
                fields[self.arrived],
                1e12,
                "a number of seconds, 0 or more",
            )?,
            cartridge: cartridge
                .ok_or_else(|| wrong("cartridge", "", "the name of a cartridge"))?,
            response_s,
            size_mb,
            place,
            priority: priority.unwrap_or(0.0) as u8,
            owner,
            activity,
            drive,
            library,
            case,
        })
    }
}
