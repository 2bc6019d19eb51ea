//! Moves of the head between blocks, as CSV: `volume,from_block,to_block,locate_us`.
//!
//! For sites that know block numbers but no physical positions. `locate_ms` and `locate_s` (with a decimal point) do
//! as well; extra columns are ignored. How map and cost are found from such moves:
//! `docs/method/fitting-without-positions.md`.

use std::io::BufRead;

use tapewise_model::Micros;

use crate::csv_table::{Table, TableError};
use crate::number::{excerpt, parse_u64};

/// The longest time a move can take, in seconds: a day.
const MOST_SECONDS: f64 = 86_400.0;

/// One move of the head of one volume, by logical block numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockMove {
    /// The volume, by its barcode.
    pub volume: String,
    /// The block the head would have read next (what READ POSITION reports), filemarks counted.
    pub from_block: u64,
    /// The block it was sent to.
    pub to_block: u64,
    /// How long that took.
    pub took: Micros,
    /// The line of the input it comes from, from 1.
    pub line: u64,
}

/// Why a CSV of moves could not be read.
#[derive(Debug, thiserror::Error)]
pub enum BlockMovesError {
    /// No table: not readable, not UTF-8, or not the same columns everywhere.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Not even a header.
    #[error("the file is empty: expected a header line volume,from_block,to_block,locate_us")]
    Empty,
    /// A column that must be there.
    #[error("no column {wanted}; the header has: {found}")]
    MissingColumn {
        /// What is missing.
        wanted: &'static str,
        /// The names found.
        found: String,
    },
    /// Two columns that say the same.
    #[error("columns {first} and {second} both give the time; keep one")]
    TwoTimes {
        /// The first.
        first: &'static str,
        /// The second.
        second: &'static str,
    },
    /// A field that is not what its column says.
    #[error("line {line}, column {column}: \"{text}\" is not {expected}")]
    Field {
        /// The line, from 1.
        line: u64,
        /// The column's name.
        column: &'static str,
        /// The text, shortened.
        text: String,
        /// What was expected.
        expected: &'static str,
    },
}

/// Reads moves from CSV, in the order of the file.
///
/// # Errors
/// At the first thing that is wrong, with its line and column; a time must lie between 0 and a day.
pub fn read_block_moves(input: impl BufRead) -> Result<Vec<BlockMove>, BlockMovesError> {
    let Some(mut table) = Table::open(input)? else {
        return Err(BlockMovesError::Empty);
    };
    let columns = Columns::find(&table)?;
    let mut moves = Vec::new();
    while let Some(row) = table.next()? {
        if !row.is_blank() {
            moves.push(columns.block_move(row.line, &row.fields()?)?);
        }
    }
    Ok(moves)
}

/// Where the columns stand.
struct Columns {
    volume: usize,
    from_block: usize,
    to_block: usize,
    time: usize,
    unit: &'static Unit,
}

/// A column of times: its name, and seconds for one of it.
pub(crate) struct Unit {
    pub(crate) column: &'static str,
    pub(crate) seconds: f64,
}

/// The columns that can give the time of a move.
pub(crate) const UNITS: [Unit; 3] = [
    Unit {
        column: "locate_us",
        seconds: 1e-6,
    },
    Unit {
        column: "locate_ms",
        seconds: 1e-3,
    },
    Unit {
        column: "locate_s",
        seconds: 1.0,
    },
];

impl Columns {
    fn find<R: BufRead>(table: &Table<R>) -> Result<Columns, BlockMovesError> {
        let missing = |wanted| BlockMovesError::MissingColumn {
            wanted,
            found: table.names().join(", ").chars().take(500).collect(),
        };
        let need = |wanted| table.column(wanted)?.ok_or_else(|| missing(wanted));
        let mut time = None;
        for unit in &UNITS {
            let Some(at) = table.column(unit.column)? else {
                continue;
            };
            if let Some((_, first)) = time.replace((at, unit)) {
                let first: &Unit = first;
                return Err(BlockMovesError::TwoTimes {
                    first: first.column,
                    second: unit.column,
                });
            }
        }
        let (volume, from_block) = (need("volume")?, need("from_block")?);
        let to_block = need("to_block")?;
        let (time, unit) = time.ok_or_else(|| missing("locate_us (or locate_ms, locate_s)"))?;
        Ok(Columns {
            volume,
            from_block,
            to_block,
            time,
            unit,
        })
    }

    fn block_move(&self, line: u64, fields: &[&str]) -> Result<BlockMove, BlockMovesError> {
        let wrong = |column, at: usize, expected| BlockMovesError::Field {
            line,
            column,
            text: excerpt(fields[at].trim()),
            expected,
        };
        let block = |column, at: usize| {
            parse_u64(fields[at]).map_err(|_| wrong(column, at, "a block number, digits only"))
        };
        let volume = fields[self.volume].trim();
        if volume.is_empty() {
            return Err(wrong("volume", self.volume, "the name of a volume"));
        }
        let took = read_seconds(fields[self.time], self.unit.seconds).ok_or_else(|| {
            wrong(
                self.unit.column,
                self.time,
                "a time between 0 and a day, in the unit of its column",
            )
        })?;
        Ok(BlockMove {
            volume: volume.to_owned(),
            from_block: block("from_block", self.from_block)?,
            to_block: block("to_block", self.to_block)?,
            took,
            line,
        })
    }
}

/// A time written as a number with or without a decimal point, `unit_s` seconds each.
pub(crate) fn read_seconds(text: &str, unit_s: f64) -> Option<Micros> {
    let seconds = text.trim_ascii().parse::<f64>().ok()? * unit_s;
    (0.0..=MOST_SECONDS)
        .contains(&seconds)
        .then(|| Micros::from_secs_f64(seconds))
}
