//! What drives did, as CSV: the event log for systems that are not tapewise.
//!
//! One row for each thing that was done, in the order of each drive's clock. Needed are `action` and a duration
//! (`duration_us`, `duration_ms` or `duration_s`); docs/reference/audit.md names the rest. Rows of several drives may
//! alternate. Columns with other names are left out, and [`AuditCsv::unknown`] says which.

use std::io::BufRead;

use tapewise_model::Micros;

use crate::csv_table::{Table, TableError};
use crate::deadline::Timestamp;
use crate::event::{Action, Event, Outcome, Spot};
use crate::number::parse_u64;
use crate::time_column::{DURATION, TimeColumn, Units};

/// The columns besides the times, in the order of [`Column`].
const NAMES: [&str; 15] = [
    "action",
    "drive",
    "volume",
    "user",
    "partition",
    "from_block",
    "to_block",
    "blocks",
    "bytes",
    "from_wrap",
    "from_lpos",
    "to_wrap",
    "to_lpos",
    "outcome",
    "purpose",
];

#[derive(Clone, Copy)]
enum Column {
    Action,
    Drive,
    Volume,
    User,
    Partition,
    FromBlock,
    ToBlock,
    Blocks,
    Bytes,
    FromWrap,
    FromLpos,
    ToWrap,
    ToLpos,
    Outcome,
    Purpose,
}

const DURATIONS: Units = [
    ("duration_us", 1e-6),
    ("duration_ms", 1e-3),
    ("duration_s", 1.0),
];
const TIMES: Units = [("time_us", 1e-6), ("time_ms", 1e-3), ("time_s", 1.0)];

/// A point in time as RFC 3339, instead of a number of seconds.
const STAMP: &str = "time";

/// A CSV of events that is being read, in constant memory.
pub struct AuditCsv<R> {
    table: Table<R>,
    columns: [Option<usize>; NAMES.len()],
    time: Option<Time>,
    duration: TimeColumn,
    unknown: Vec<String>,
}

#[derive(Clone, Copy)]
enum Time {
    Stamp(usize),
    Number(TimeColumn),
}

impl<R: BufRead> AuditCsv<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`TableError`]: no table, a column that is missing, or two for one time.
    pub fn open(input: R) -> Result<AuditCsv<R>, TableError> {
        let table = Table::open(input, "with at least action,duration_us")?;
        let mut columns = [None; NAMES.len()];
        for (column, name) in columns.iter_mut().zip(NAMES) {
            *column = table.column(name)?;
        }
        if columns[Column::Action as usize].is_none() {
            return Err(table.missing("action"));
        }
        let duration = TimeColumn::find(&table, &DURATIONS)?;
        let duration =
            duration.ok_or_else(|| table.missing("duration_us (or duration_ms, duration_s)"))?;
        let number = TimeColumn::find(&table, &TIMES)?;
        let time = match (table.column(STAMP)?, number) {
            (Some(_), Some(number)) => {
                let (first, second) = (STAMP, number.name);
                return Err(TableError::TwoTimes { first, second });
            }
            (Some(at), None) => Some(Time::Stamp(at)),
            (None, number) => number.map(Time::Number),
        };
        let units = DURATIONS.iter().chain(&TIMES).map(|(name, _)| *name);
        let known: Vec<&str> = NAMES.into_iter().chain(units).chain([STAMP]).collect();
        let is_unknown = |name: &&String| {
            !name.is_empty() && !known.iter().any(|k| name.eq_ignore_ascii_case(k))
        };
        let unknown = table.names().iter().filter(is_unknown).cloned().collect();
        Ok(AuditCsv {
            table,
            columns,
            time,
            duration,
            unknown,
        })
    }

    /// Whether rows say the day on which they began: [`Event::at_us`] is then since 1970.
    pub fn tells_date(&self) -> bool {
        matches!(self.time, Some(Time::Stamp(_)))
    }

    /// Whether rows say when they began; without, [`Event::at_us`] is zero.
    pub fn tells_time(&self) -> bool {
        self.time.is_some()
    }

    /// Columns that are left out.
    pub fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// The next row; `None` at the end. Times in RFC 3339 count from 1970.
    ///
    /// # Errors
    /// [`TableError`] with line and column.
    pub fn next_event(&mut self) -> Result<Option<Event>, TableError> {
        let (time, duration, columns) = (self.time, self.duration, &self.columns);
        while let Some(row) = self.table.next()? {
            if row.is_blank() {
                continue;
            }
            let fields = row.fields()?;
            let row = Row {
                line: row.line,
                fields: &fields,
                columns,
            };
            return row.event(time, duration).map(Some);
        }
        Ok(None)
    }
}

/// One row of the table.
struct Row<'a> {
    line: u64,
    fields: &'a [&'a str],
    columns: &'a [Option<usize>; NAMES.len()],
}

impl Row<'_> {
    fn event(&self, time: Option<Time>, duration: TimeColumn) -> Result<Event, TableError> {
        let at = match time {
            None => Micros::ZERO,
            Some(Time::Stamp(at)) => {
                let stamp = Timestamp::parse(self.fields[at].trim());
                let expected = "a time as 2026-11-21T04:01:25.5Z, with its zone";
                Micros(
                    stamp
                        .ok_or_else(|| self.wrong(STAMP, at, expected))?
                        .unix_us(),
                )
            }
            Some(Time::Number(column)) => column
                .instant(self.fields)
                .ok_or_else(|| self.wrong(column.name, column.at, "a number of this size"))?,
        };
        let took = duration
            .duration(self.fields)
            .ok_or_else(|| self.wrong(duration.name, duration.at, DURATION))?;
        let words = "fetch, return, mount, unmount, locate, read-through, read, write, write-filemarks, rewind or pause";
        let action = self.word(Column::Action, words)?;
        let action: Action = action.ok_or_else(|| {
            let at = self.columns[Column::Action as usize].unwrap_or(0);
            self.wrong("action", at, words)
        })?;
        let outcome: Option<Outcome> = self.word(Column::Outcome, "done, failed or abandoned")?;
        let text = |column| self.text(column).map(str::to_owned);
        let from = self.spot(Column::FromBlock, Column::FromWrap, Column::FromLpos)?;
        let to = self.spot(Column::ToBlock, Column::ToWrap, Column::ToLpos)?;
        let blocks = from
            .and_then(|from| from.block)
            .zip(to.and_then(|to| to.block));
        let moved = match action {
            Action::Read => Some("read"),
            Action::Write => Some("write"),
            _ => None,
        };
        if let (Some(action), Some((from, to))) = (moved, blocks)
            && to < from
        {
            let line = self.line;
            return Err(TableError::Backwards {
                line,
                action,
                from,
                to,
            });
        }
        Ok(Event {
            device: text(Column::Drive),
            cartridge: text(Column::Volume),
            user: text(Column::User),
            purpose: text(Column::Purpose),
            from,
            to,
            blocks: self
                .number(Column::Blocks, "a number of blocks")?
                .unwrap_or(0),
            bytes: self
                .number(Column::Bytes, "a number of bytes")?
                .unwrap_or(0),
            outcome: outcome.unwrap_or_default(),
            ..Event::new(action, at, took)
        })
    }

    /// The text of a column, where it is there and not empty.
    fn text(&self, column: Column) -> Option<&str> {
        let text = self.fields[self.columns[column as usize]?].trim();
        (!text.is_empty()).then_some(text)
    }

    fn word<T: serde::de::DeserializeOwned>(
        &self,
        column: Column,
        expected: &'static str,
    ) -> Result<Option<T>, TableError> {
        let Some(text) = self.text(column) else {
            return Ok(None);
        };
        let word = serde_json::Value::String(text.to_ascii_lowercase());
        let word = serde_json::from_value(word);
        word.map(Some)
            .map_err(|_| self.wrong_column(column, expected))
    }

    fn number<T: TryFrom<u64>>(
        &self,
        column: Column,
        expected: &'static str,
    ) -> Result<Option<T>, TableError> {
        let Some(text) = self.text(column) else {
            return Ok(None);
        };
        let number = parse_u64(text).ok().and_then(|n| T::try_from(n).ok());
        number
            .map(Some)
            .ok_or_else(|| self.wrong_column(column, expected))
    }

    fn spot(&self, block: Column, wrap: Column, lpos: Column) -> Result<Option<Spot>, TableError> {
        let spot = Spot {
            partition: self
                .number(Column::Partition, "a partition, 0 to 3")?
                .unwrap_or(0),
            block: self.number(block, "a block number, digits only")?,
            wrap: self.number(wrap, "a wrap")?,
            lpos: self.number(lpos, "a longitudinal position")?,
        };
        let says = spot.block.is_some() || spot.wrap.is_some() || spot.lpos.is_some();
        Ok(says.then_some(spot))
    }

    fn wrong_column(&self, column: Column, expected: &'static str) -> TableError {
        let at = self.columns[column as usize].unwrap_or(0);
        self.wrong(NAMES[column as usize], at, expected)
    }

    fn wrong(&self, column: &'static str, at: usize, expected: &'static str) -> TableError {
        TableError::field(self.line, column, self.fields[at], expected)
    }
}
