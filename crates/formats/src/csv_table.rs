//! CSV as a header of names and rows of fields, each with its line: what requests and maps have in common.
//!
//! The separator is a comma, semicolon or TAB, whichever the header has most of. A byte order mark, CRLF and blank
//! lines are fine; the text is UTF-8.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

use csv::ByteRecord;

use crate::bounded::{Bounded, ItemMeter, MAX_LINE_BYTES, is_too_long};
use crate::byte_order::{is_utf_16, without_mark};
use crate::number::{excerpt, excerpt_bytes};

/// The most columns; the search for doubles is quadratic.
const MAX_COLUMNS: usize = 1000;

/// Why a file could not be read as CSV.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Not even a header.
    #[error("the file is empty: expected a header line {wanted}")]
    Empty {
        /// The columns that it needs.
        wanted: String,
    },
    /// Columns that must be there.
    #[error("line {line}: no column {wanted}; the header has: {found}")]
    MissingColumns {
        /// Where the header stands.
        line: u64,
        /// What is missing.
        wanted: String,
        /// The names found, shortened.
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
    /// Blocks that are read or written from the last to the first.
    #[error(
        "line {line}: the {action} ends at block {to} (to_block), before it begins at block {from} (from_block)"
    )]
    Backwards {
        /// The line, from 1.
        line: u64,
        /// `read` or `write`.
        action: &'static str,
        /// Where it begins.
        from: u64,
        /// Where it ends.
        to: u64,
    },
    /// The input could not be read.
    #[error("line {line}: cannot read: {source}")]
    Io {
        /// The line reached.
        line: u64,
        /// What the reader said.
        source: io::Error,
    },
    /// UTF-16, as some spreadsheets save it.
    #[error("the file is UTF-16 text; save it as CSV UTF-8")]
    Utf16,
    /// A field that is not UTF-8.
    #[error("line {line}, column {column}: \"{text}\" is not UTF-8; save the file as UTF-8")]
    NotUtf8 {
        /// Where it stands.
        line: u64,
        /// The column's name, or its number in the header.
        column: String,
        /// The text, shortened, with what is bad replaced.
        text: String,
    },
    /// A header that is none.
    #[error("line {line}: the header has {found} columns, more than {limit}; is this a CSV file?")]
    TooManyColumns {
        /// Where the header stands.
        line: u64,
        /// The columns found.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// Two columns of one name.
    #[error(
        "the header has the column \"{name}\" twice (columns {first} and {second}); rename or remove one"
    )]
    DuplicateColumn {
        /// The name.
        name: String,
        /// The first, from 1.
        first: usize,
        /// The second, from 1.
        second: usize,
    },
    /// Two columns that give the same time.
    #[error("columns {first} and {second} both give the time; keep one")]
    TwoTimes {
        /// The first.
        first: &'static str,
        /// The second.
        second: &'static str,
    },
    /// A row with fewer fields than the header.
    #[error(
        "line {line}: {found} fields, the header has {expected}: no {missing}; is a separator or a quote missing?"
    )]
    ShortRow {
        /// Where the row begins.
        line: u64,
        /// The fields of the row.
        found: usize,
        /// The fields of the header.
        expected: usize,
        /// The first column without a field.
        missing: String,
    },
    /// A row with more fields than the header.
    #[error(
        "line {line}: {found} fields, the header has {expected}; does a field with a separator need quotes?"
    )]
    LongRow {
        /// Where the row begins.
        line: u64,
        /// The fields of the row.
        found: usize,
        /// The fields of the header.
        expected: usize,
    },
    /// A quote that is open at the end of the file.
    #[error("line {line}: the quote that opens here is not closed")]
    OpenQuote {
        /// Where the quote stands.
        line: u64,
    },
    /// A row without end, mostly a quote that is not closed.
    #[error("line {line}: a row is longer than {limit_bytes} bytes; is a quote not closed?")]
    TooLong {
        /// Where the row before it began.
        line: u64,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
}

impl TableError {
    /// A field whose text is not what its column says.
    pub(crate) fn field(
        line: u64,
        column: &'static str,
        text: &str,
        expected: &'static str,
    ) -> Self {
        TableError::Field {
            line,
            column,
            text: excerpt(text.trim()),
            expected,
        }
    }
}

/// A CSV file that is being read, after its header.
pub(crate) struct Table<R> {
    reader: csv::Reader<Source<R>>,
    meter: ItemMeter,
    record: ByteRecord,
    names: Vec<String>,
    header_line: u64,
    /// The line of the record read last.
    line: u64,
}

type Source<R> = Watched<Bounded<BufReader<Chain<Cursor<Vec<u8>>, R>>>>;

impl<R: BufRead> Table<R> {
    /// Reads the header. `wanted` says what it should hold, for a file that has none.
    pub(crate) fn open(input: R, wanted: &str) -> Result<Self, TableError> {
        let (head, rest) = read_head(input)?;
        let delimiter = sniff_delimiter(&head);
        let bounded = Bounded::new(
            BufReader::new(Cursor::new(head).chain(rest)),
            MAX_LINE_BYTES,
        );
        let meter = bounded.meter();
        let reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(Watched::new(bounded, delimiter));
        let mut table = Self {
            reader,
            meter,
            record: ByteRecord::new(),
            names: Vec::new(),
            header_line: 1,
            line: 1,
        };
        if !table.read_record()? {
            let wanted = wanted.to_owned();
            return Err(TableError::Empty { wanted });
        }
        table.header_line = table.line;
        table.names = names(&table.record, table.line)?;
        Ok(table)
    }

    /// The names of the columns, without the blanks around them; some may be empty.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// That the header lacks a column.
    pub(crate) fn missing(&self, wanted: impl Into<String>) -> TableError {
        TableError::MissingColumns {
            line: self.header_line,
            wanted: wanted.into(),
            found: self.names.join(", ").chars().take(500).collect(),
        }
    }

    pub(crate) fn header_line(&self) -> u64 {
        self.header_line
    }

    /// Which column, from 0, has this name, in upper or lower case.
    pub(crate) fn column(&self, name: &str) -> Result<Option<usize>, TableError> {
        let is_it = |other: &String| other.eq_ignore_ascii_case(name);
        let first = self.names.iter().position(is_it);
        let last = self.names.iter().rposition(is_it);
        match (first, last) {
            (Some(first), Some(second)) if first != second => Err(TableError::DuplicateColumn {
                name: excerpt(&self.names[second]),
                first: first + 1,
                second: second + 1,
            }),
            _ => Ok(first),
        }
    }

    /// Where the column of this name stands, which the table cannot do without.
    pub(crate) fn needed(&self, name: &'static str) -> Result<usize, TableError> {
        self.column(name)?.ok_or_else(|| self.missing(name))
    }

    /// What `read` makes of each row in which something stands: it gets the line and the fields.
    pub(crate) fn rows<T, E: From<TableError>>(
        mut self,
        mut read: impl FnMut(u64, &[&str]) -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        let mut rows = Vec::new();
        while let Some(row) = self.next()? {
            if !row.is_blank() {
                rows.push(read(row.line, &row.fields()?)?);
            }
        }
        Ok(rows)
    }

    /// The next row; blank lines are none.
    pub(crate) fn next(&mut self) -> Result<Option<TableRow<'_>>, TableError> {
        Ok(self.read_record()?.then_some(TableRow {
            line: self.line,
            record: &self.record,
            names: &self.names,
        }))
    }

    fn read_record(&mut self) -> Result<bool, TableError> {
        self.meter.start_item();
        let was_read = self.reader.read_byte_record(&mut self.record);
        if !was_read.map_err(|error| explain(error, self.line))? {
            return Ok(false);
        }
        let end = self.reader.position().byte();
        let last_line = self.reader.get_mut().line_of(end.saturating_sub(1));
        let inside = self.record.as_slice().iter().filter(|&&b| b == b'\n');
        self.line = last_line.saturating_sub(inside.count() as u64).max(1);
        Ok(true)
    }
}

/// One row of a table.
pub(crate) struct TableRow<'t> {
    /// The line where it begins, from 1.
    pub line: u64,
    record: &'t ByteRecord,
    names: &'t [String],
}

impl<'t> TableRow<'t> {
    /// Whether there is nothing but separators and blanks.
    pub(crate) fn is_blank(&self) -> bool {
        self.record
            .iter()
            .all(|field| field.trim_ascii().is_empty())
    }

    /// One text for each column of the header.
    pub(crate) fn fields(&self) -> Result<Vec<&'t str>, TableError> {
        let (line, found, expected) = (self.line, self.record.len(), self.names.len());
        if let Some(missing) = self.names.get(found) {
            return Err(TableError::ShortRow {
                line,
                found,
                expected,
                missing: match missing.as_str() {
                    "" => format!("column {}", found + 1),
                    name => excerpt(name),
                },
            });
        }
        if found > expected {
            return Err(TableError::LongRow {
                line,
                found,
                expected,
            });
        }
        let decode = |(field, name): (&'t [u8], &String)| {
            std::str::from_utf8(field).map_err(|_| TableError::NotUtf8 {
                line,
                column: excerpt(name),
                text: excerpt_bytes(field),
            })
        };
        self.record.iter().zip(self.names).map(decode).collect()
    }
}

fn names(header: &ByteRecord, line: u64) -> Result<Vec<String>, TableError> {
    if header.len() > MAX_COLUMNS {
        return Err(TableError::TooManyColumns {
            line,
            found: header.len(),
            limit: MAX_COLUMNS,
        });
    }
    let decode = |(at, field): (usize, &[u8])| match std::str::from_utf8(field) {
        Ok(name) => Ok(name.trim().to_string()),
        Err(_) => Err(TableError::NotUtf8 {
            line,
            column: (at + 1).to_string(),
            text: excerpt_bytes(field),
        }),
    };
    header.iter().enumerate().map(decode).collect()
}

/// Reads the first line, without a byte order mark, and returns it with the rest of the input.
fn read_head<R: BufRead>(input: R) -> Result<(Vec<u8>, R), TableError> {
    let mut head = Vec::new();
    let mut bounded = Bounded::new(input, MAX_LINE_BYTES);
    loop {
        // Blank lines before the header are skipped by the parser too; here they must not decide the separator.
        let before = head.len();
        let read = bounded.read_until(b'\n', &mut head);
        match read {
            Ok(0) => break,
            Ok(_) if head[before..].iter().all(u8::is_ascii_whitespace) => {}
            Ok(_) => break,
            Err(error) if is_too_long(&error) => {
                return Err(TableError::TooLong {
                    line: 1,
                    limit_bytes: MAX_LINE_BYTES,
                });
            }
            Err(source) => return Err(TableError::Io { line: 1, source }),
        }
    }
    if is_utf_16(&head) {
        return Err(TableError::Utf16);
    }
    Ok((without_mark(&head).to_vec(), bounded.into_inner()))
}

/// The separator that stands most often in the header outside quotes; a comma when there is none.
pub(crate) fn sniff_delimiter(header: &[u8]) -> u8 {
    let mut counts = [(b',', 0_usize), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    for &byte in header {
        if byte == b'"' {
            quoted = !quoted;
        } else if !quoted && let Some(entry) = counts.iter_mut().find(|(d, _)| *d == byte) {
            entry.1 += 1;
        }
    }
    // The first of equals wins, and comma comes first.
    let best = counts.iter().rev().max_by_key(|(_, count)| *count);
    best.map_or(b',', |(delimiter, _)| *delimiter)
}

fn explain(error: csv::Error, line: u64) -> TableError {
    match error.into_kind() {
        csv::ErrorKind::Io(io) if is_too_long(&io) => TableError::TooLong {
            line,
            limit_bytes: MAX_LINE_BYTES,
        },
        csv::ErrorKind::Io(source) => match open_quote(&source) {
            Some(line) => TableError::OpenQuote { line },
            None => TableError::Io { line, source },
        },
        other => TableError::Io {
            line,
            source: io::Error::other(format!("{other:?}")),
        },
    }
}

/// The error inside the `io::Error` of a [`Watched`] reader whose input ends inside quotes.
#[derive(Debug)]
struct EndsInQuotes {
    line: u64,
}

impl fmt::Display for EndsInQuotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the quote of line {} is not closed", self.line)
    }
}

impl std::error::Error for EndsInQuotes {}

fn open_quote(error: &io::Error) -> Option<u64> {
    let inner = error.get_ref()?.downcast_ref::<EndsInQuotes>()?;
    Some(inner.line)
}

/// Where in a field a byte stands, as the csv crate sees it.
#[derive(Clone, Copy)]
enum QuoteState {
    /// Before the first byte: the only place where a quote opens one.
    Start,
    /// In a field without quotes, or behind its closing one.
    Plain,
    /// Between quotes; the line where they were opened.
    Quoted(u64),
    /// Behind a quote between quotes, which closes them unless another follows.
    Closing(u64),
}

impl QuoteState {
    fn after(self, byte: u8, delimiter: u8, line: u64) -> QuoteState {
        match (self, byte) {
            (QuoteState::Start, b'"') => QuoteState::Quoted(line),
            (QuoteState::Quoted(line), b'"') => QuoteState::Closing(line),
            (QuoteState::Closing(line), b'"') | (QuoteState::Quoted(line), _) => {
                QuoteState::Quoted(line)
            }
            (_, b'\r' | b'\n') => QuoteState::Start,
            (_, byte) if byte == delimiter => QuoteState::Start,
            _ => QuoteState::Plain,
        }
    }
}

/// Passes bytes on to the csv crate, and knows two things that it does not tell: on which line a byte offset lies,
/// and whether the input ends inside quotes, where a row would silently hold all rows behind it.
///
/// The csv crate counts lines too, but its line of a record is one too low after CRLF, because the line feed is
/// taken only when the next record is read.
struct Watched<R> {
    inner: R,
    delimiter: u8,
    offset: u64,
    /// The line, from 1, of the next byte read.
    line: u64,
    place: QuoteState,
    newlines: VecDeque<u64>,
    lines_passed: u64,
}

impl<R: Read> Watched<R> {
    fn new(inner: R, delimiter: u8) -> Self {
        Self {
            inner,
            delimiter,
            offset: 0,
            line: 1,
            place: QuoteState::Start,
            newlines: VecDeque::new(),
            lines_passed: 0,
        }
    }

    /// The line, from 1, of the byte at `offset`; offsets must be asked for in growing order.
    fn line_of(&mut self, offset: u64) -> u64 {
        while self.newlines.front().is_some_and(|&at| at < offset) {
            self.newlines.pop_front();
            self.lines_passed += 1;
        }
        self.lines_passed + 1
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(out)?;
        if let (0, false, QuoteState::Quoted(line)) = (n, out.is_empty(), self.place) {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                EndsInQuotes { line },
            ));
        }
        for &byte in &out[..n] {
            self.place = self.place.after(byte, self.delimiter, self.line);
            if byte == b'\n' {
                self.newlines.push_back(self.offset);
                self.line += 1;
            }
            self.offset += 1;
        }
        Ok(n)
    }
}
