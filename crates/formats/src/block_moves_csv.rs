//! Moves of the head between blocks, as CSV: `volume,from_block,to_block,locate_us`.
//!
//! For sites that know block numbers but no physical positions. `locate_ms` and `locate_s` (with a decimal point) do
//! as well; extra columns are ignored. How map and cost are found from such moves:
//! `docs/method/fitting-without-positions.md`.

use std::io::BufRead;

use tapewise_model::Micros;

use crate::csv_table::{Table, TableError};
use crate::number::parse_u64;
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

/// Reads moves from CSV, in the order of the file.
///
/// # Errors
/// At the first thing that is wrong, with its line and column; a time must lie between 0 and a day.
pub fn read_block_moves(input: impl BufRead) -> Result<Vec<BlockMove>, TableError> {
    let table = Table::open(input, "volume,from_block,to_block,locate_us")?;
    let columns = Columns::find(&table)?;
    table.rows(|line, fields| columns.block_move(line, fields))
}

/// Where the columns stand.
struct Columns {
    volume: usize,
    from_block: usize,
    to_block: usize,
    time: TimeColumn,
}

impl Columns {
    fn find<R: BufRead>(table: &Table<R>) -> Result<Columns, TableError> {
        let time = TimeColumn::find(table, &LOCATE)?;
        Ok(Columns {
            volume: table.needed("volume")?,
            from_block: table.needed("from_block")?,
            to_block: table.needed("to_block")?,
            time: time.ok_or_else(|| table.missing("locate_us (or locate_ms, locate_s)"))?,
        })
    }

    fn block_move(&self, line: u64, fields: &[&str]) -> Result<BlockMove, TableError> {
        let wrong =
            |column, at: usize, expected| TableError::field(line, column, fields[at], expected);
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
