//! Moves of the head between blocks, as CSV: `volume,from_block,to_block,locate_us`.
//!
//! For sites that know block numbers but no physical positions. `locate_ms` and `locate_s` (with a decimal point) do
//! as well; extra columns are ignored. How map and cost are found from such moves:
//! `docs/method/fitting-without-positions.md`.

use std::io::BufRead;

use tapewise_model::Micros;

use crate::csv_table::{Table, TableError};
use crate::number::{excerpt, parse_u64};
use crate::time_column::{DURATION, LOCATE, TimeColumn};

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
    time: TimeColumn,
}

impl Columns {
    fn find<R: BufRead>(table: &Table<R>) -> Result<Columns, BlockMovesError> {
        let missing = |wanted| BlockMovesError::MissingColumn {
            wanted,
            found: table.shown_names(),
        };
        let need = |wanted| table.column(wanted)?.ok_or_else(|| missing(wanted));
        let time = TimeColumn::find(table, &LOCATE)?;
        let (volume, from_block) = (need("volume")?, need("from_block")?);
        let to_block = need("to_block")?;
        let time = time.ok_or_else(|| missing("locate_us (or locate_ms, locate_s)"))?;
        Ok(Columns {
            volume,
            from_block,
            to_block,
            time,
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
        let took = self.time.duration(fields);
        let took = took.ok_or_else(|| wrong(self.time.name, self.time.at, DURATION))?;
        Ok(BlockMove {
            volume: volume.to_owned(),
            from_block: block("from_block", self.from_block)?,
            to_block: block("to_block", self.to_block)?,
            took,
            line,
        })
    }
}
