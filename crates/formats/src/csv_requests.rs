//! Requests as CSV, with columns by name.
//!
//! The contract is in `docs/reference/requests-csv.md`. Each row is one request, also when two rows have the same id.

use std::collections::{HashSet, VecDeque};
use std::io::{self, BufRead, Read};

use csv::ByteRecord;

use crate::bounded::{Bounded, MAX_LINE_BYTES, is_too_long};
use crate::fields::{Field, FieldOptions, Row, RowError};
use crate::notice::Notices;
use crate::number::{excerpt, excerpt_bytes};
use crate::request::Requests;

/// The most columns; the search for doubles is quadratic.
const MAX_COLUMNS: usize = 1000;

/// Why a CSV file of requests could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CsvError {
    /// The input could not be read.
    #[error("line {line}: cannot read: {source}")]
    Io {
        /// The line reached.
        line: u64,
        /// What the reader said.
        source: io::Error,
    },
    /// Not even a header.
    #[error("the file is empty: expected a header line such as id,start_block,block_count")]
    Empty,
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
    /// A column that must be there.
    #[error("no column {wanted}; the header has: {found}")]
    MissingColumn {
        /// What is missing.
        wanted: &'static str,
        /// The names found, with commas between.
        found: String,
    },
    /// A row with more or fewer fields than the header.
    #[error(
        "line {line}: {found} fields, the header has {expected}; is a separator or a quote missing?"
    )]
    FieldCount {
        /// Where the row begins.
        line: u64,
        /// The fields of the row.
        found: usize,
        /// The fields of the header.
        expected: usize,
    },
    /// A row without end, mostly a quote that is not closed.
    #[error("line {line}: a row is longer than {limit_bytes} bytes; is a quote not closed?")]
    TooLong {
        /// Where the row before it ended.
        line: u64,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// A field that is not what its column says.
    #[error("line {line}: {source}")]
    Row {
        /// Where the row begins.
        line: u64,
        /// What is wrong.
        source: RowError,
    },
}

/// Reads requests from CSV; the separator is a comma, semicolon or TAB, whichever the header has most of.
///
/// Columns we do not know are kept in [`crate::request::Request::extra`]. Memory grows with the file.
///
/// # Errors
/// At the first thing that is wrong, with its line and column.
pub fn read_csv(input: impl BufRead, options: FieldOptions) -> Result<Requests, CsvError> {
    let mut notices = Notices::new();
    let (head, rest) = read_head(input)?;
    let delimiter = sniff_delimiter(&head);
    let bounded = Bounded::new(
        io::BufReader::new(io::Cursor::new(head).chain(rest)),
        MAX_LINE_BYTES,
    );
    let meter = bounded.meter();
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(LineFinder::new(bounded));
    let mut record = ByteRecord::new();
    let mut next = |record: &mut ByteRecord, line_before: u64| -> Result<Option<u64>, CsvError> {
        meter.start_item();
        match reader.read_byte_record(record) {
            Ok(false) => Ok(None),
            Ok(true) => {
                let end = reader.position().byte();
                let last_line = reader.get_mut().line_of(end.saturating_sub(1));
                let inside = record.as_slice().iter().filter(|&&b| b == b'\n').count() as u64;
                Ok(Some(last_line.saturating_sub(inside).max(1)))
            }
            Err(error) => Err(explain(error, line_before)),
        }
    };

    let Some(header_line) = next(&mut record, 1)? else {
        return Err(CsvError::Empty);
    };
    let columns = Columns::from_header(&record, header_line, &mut notices)?;
    let mut requests = Vec::new();
    let mut line_before = header_line;
    while let Some(line) = next(&mut record, line_before)? {
        line_before = line;
        if record.iter().all(|field| field.trim_ascii().is_empty()) {
            notices.push("empty-row", Some(line), || {
                "a row of empty fields was skipped".to_string()
            });
            continue;
        }
        let fields = columns.decode(&record, line)?;
        let row_number = requests.len() as u64 + 1;
        requests.push(columns.request(&fields, row_number, line, options)?);
    }
    let mut seen = HashSet::new();
    let repeated = requests
        .iter()
        .filter(|request: &&crate::request::Request| !seen.insert(request.id.as_str()))
        .count();
    if repeated > 0 {
        notices.push("repeated-id", None, || {
            format!("{repeated} rows have an id that a row before them has; each row is a request of its own")
        });
    }
    Ok(Requests {
        requests,
        notices: notices.finish(),
    })
}

/// What each column of the file is.
struct Columns {
    known: Vec<Option<Field>>,
    names: Vec<String>,
    has_id: bool,
}

impl Columns {
    fn from_header(
        header: &ByteRecord,
        line: u64,
        notices: &mut Notices,
    ) -> Result<Self, CsvError> {
        if header.len() > MAX_COLUMNS {
            return Err(CsvError::TooManyColumns {
                line,
                found: header.len(),
                limit: MAX_COLUMNS,
            });
        }
        let mut names: Vec<String> = Vec::with_capacity(header.len());
        let mut known = Vec::with_capacity(header.len());
        for (at, field) in header.iter().enumerate() {
            let name = std::str::from_utf8(field).map_err(|_| CsvError::NotUtf8 {
                line,
                column: (at + 1).to_string(),
                text: excerpt_bytes(field),
            })?;
            let name = name.trim();
            let field = Field::find(name);
            let same = |other: &String| match field {
                Some(_) => other.eq_ignore_ascii_case(name),
                None => other == name,
            };
            if name.is_empty() {
                notices.push("unnamed-column", Some(line), || {
                    format!("column {} has no name and was ignored", at + 1)
                });
            } else if let Some(first) = names.iter().position(same) {
                return Err(CsvError::DuplicateColumn {
                    name: excerpt(name),
                    first: first + 1,
                    second: at + 1,
                });
            }
            names.push(name.to_string());
            known.push(field);
        }
        let columns = Self {
            has_id: known.contains(&Some(Field::Id)),
            known,
            names,
        };
        columns.check()?;
        if !columns.has_id {
            let instead = if columns.has(Field::Path) {
                "the path"
            } else {
                "the number of the row"
            };
            notices.push("no-id-column", Some(line), || {
                format!("there is no column id; {instead} is used instead")
            });
        }
        Ok(columns)
    }

    fn has(&self, field: Field) -> bool {
        self.known.contains(&Some(field))
    }

    fn check(&self) -> Result<(), CsvError> {
        let counts = [Field::BlockCount, Field::EndBlock, Field::SizeBytes];
        let wanted = if !self.has(Field::StartBlock) && !self.has(Field::SortKey) {
            "start_block"
        } else if self.has(Field::StartBlock) && !counts.iter().any(|&field| self.has(field)) {
            "block_count, end_block or size_bytes"
        } else {
            return Ok(());
        };
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        Err(CsvError::MissingColumn {
            wanted,
            found: names.join(", ").chars().take(500).collect(),
        })
    }

    fn decode<'r>(&self, record: &'r ByteRecord, line: u64) -> Result<Vec<&'r str>, CsvError> {
        if record.len() != self.names.len() {
            return Err(CsvError::FieldCount {
                line,
                found: record.len(),
                expected: self.names.len(),
            });
        }
        let decode = |(field, name): (&'r [u8], &String)| {
            std::str::from_utf8(field).map_err(|_| CsvError::NotUtf8 {
                line,
                column: excerpt(name),
                text: excerpt_bytes(field),
            })
        };
        record.iter().zip(&self.names).map(decode).collect()
    }

    fn request(
        &self,
        fields: &[&str],
        row_number: u64,
        line: u64,
        options: FieldOptions,
    ) -> Result<crate::request::Request, CsvError> {
        let mut row = Row::new();
        let mut extra = Vec::new();
        for ((text, known), name) in fields.iter().zip(&self.known).zip(&self.names) {
            match known {
                Some(field) => row.set(*field, text),
                None if name.is_empty() => {}
                None => extra.push((name.clone(), (*text).to_string())),
            }
        }
        let fallback_id = (!self.has_id).then(|| row_number.to_string());
        let place = |source| CsvError::Row { line, source };
        let mut request = row.request(fallback_id).map_err(place)?;
        request.extents.extend(row.extent(options).map_err(place)?);
        request.extra = extra;
        Ok(request)
    }
}

/// Reads the first line, without a byte order mark, and returns it with the rest of the input.
fn read_head<R: BufRead>(input: R) -> Result<(Vec<u8>, R), CsvError> {
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
                return Err(CsvError::TooLong {
                    line: 1,
                    limit_bytes: MAX_LINE_BYTES,
                });
            }
            Err(source) => return Err(CsvError::Io { line: 1, source }),
        }
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(CsvError::Utf16);
    }
    if head.starts_with(b"\xef\xbb\xbf") {
        head.drain(..3);
    }
    Ok((head, bounded.into_inner()))
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

fn explain(error: csv::Error, line: u64) -> CsvError {
    match error.into_kind() {
        csv::ErrorKind::Io(io) if is_too_long(&io) => CsvError::TooLong {
            line,
            limit_bytes: MAX_LINE_BYTES,
        },
        csv::ErrorKind::Io(source) => CsvError::Io { line, source },
        other => CsvError::Io {
            line,
            source: io::Error::other(format!("{other:?}")),
        },
    }
}

/// Knows on which line a byte offset lies.
///
/// The csv crate counts lines too, but its line of a record is one too low after CRLF, because the line feed is
/// taken only when the next record is read.
struct LineFinder<R> {
    inner: R,
    offset: u64,
    newlines: VecDeque<u64>,
    lines_passed: u64,
}

impl<R: Read> LineFinder<R> {
    fn new(inner: R) -> Self {
        Self {
            inner,
            offset: 0,
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

impl<R: Read> Read for LineFinder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(out)?;
        let found = out[..n].iter().enumerate().filter(|(_, b)| **b == b'\n');
        self.newlines
            .extend(found.map(|(at, _)| self.offset + at as u64));
        self.offset += n as u64;
        Ok(n)
    }
}
