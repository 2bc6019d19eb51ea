//! Measured locates, as CSV: `from_wrap,from_lpos,to_wrap,to_lpos,locate_us`.
//!
//! For sites that log where the head was at the end of a read and where the next one began, as the
//! drive reports it (REQUEST SENSE), and how long the locate took. `locate_ms` and `locate_s` (with
//! a decimal point) do as well; a column `volume` tells cartridges apart; extra columns are ignored.
//! docs/reference/locates-csv.md is the contract.

use std::io::BufRead;

use tapewise_model::Micros;

use crate::csv_table::{Table, TableError};
use crate::number::parse_u64;
use crate::time_column::{DURATION, LOCATE, TimeColumn};

/// One measured locate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocateRecord {
    /// The volume, where the file names it.
    pub volume: Option<String>,
    /// Physical wrap of the end of the last read.
    pub from_wrap: u16,
    /// Longitudinal position of the end of the last read.
    pub from_lpos: u32,
    /// Physical wrap of the start of the next.
    pub to_wrap: u16,
    /// Longitudinal position of the start of the next.
    pub to_lpos: u32,
    /// How long the locate took.
    pub took: Micros,
    /// The line of the input it comes from, from 1.
    pub line: u64,
}

/// The columns of a place and of where it goes, in the order of [`LocateRecord`].
const PLACES: [&str; 4] = ["from_wrap", "from_lpos", "to_wrap", "to_lpos"];

/// Reads locates from CSV, in the order of the file.
///
/// # Errors
/// At the first thing that is wrong, with its line and column; a time must lie between 0 and a day.
pub fn read_locates(input: impl BufRead) -> Result<Vec<LocateRecord>, TableError> {
    let table = Table::open(input, "from_wrap,from_lpos,to_wrap,to_lpos,locate_us")?;
    let columns = Columns::find(&table)?;
    table.rows(|line, fields| columns.locate(line, fields))
}

/// Where the columns stand.
struct Columns {
    volume: Option<usize>,
    places: [usize; 4],
    time: TimeColumn,
}

impl Columns {
    fn find<R: BufRead>(table: &Table<R>) -> Result<Columns, TableError> {
        let mut missing = Vec::new();
        let mut places = [0; 4];
        for (at, name) in places.iter_mut().zip(PLACES) {
            match table.column(name)? {
                Some(column) => *at = column,
                None => missing.push(name),
            }
        }
        let time = TimeColumn::find(table, &LOCATE)?;
        if time.is_none() {
            missing.push("locate_us (or locate_ms, locate_s)");
        }
        match time {
            Some(time) if missing.is_empty() => Ok(Columns {
                volume: table.column("volume")?,
                places,
                time,
            }),
            _ => Err(table.missing(missing.join(", "))),
        }
    }

    fn locate(&self, line: u64, fields: &[&str]) -> Result<LocateRecord, TableError> {
        let wrong =
            |column, at: usize, expected| TableError::field(line, column, fields[at], expected);
        let number = |place: usize, most: u64, expected| {
            let found = parse_u64(fields[self.places[place]]).ok();
            let found = found.filter(|number| *number <= most);
            found.ok_or_else(|| wrong(PLACES[place], self.places[place], expected))
        };
        let wrap = |place| {
            number(
                place,
                u64::from(u16::MAX),
                "the number of a wrap, 0 to 65535",
            )
        };
        let most = i32::MAX as u64;
        let lpos = |place| number(place, most, "a longitudinal position, digits only");
        let took = self.time.duration(fields);
        let took = took.ok_or_else(|| wrong(self.time.name, self.time.at, DURATION))?;
        let volume = self.volume.map(|at| fields[at].trim());
        Ok(LocateRecord {
            volume: volume.filter(|name| !name.is_empty()).map(str::to_owned),
            from_wrap: wrap(0)? as u16,
            from_lpos: lpos(1)? as u32,
            to_wrap: wrap(2)? as u16,
            to_lpos: lpos(3)? as u32,
            took,
            line,
        })
    }
}
