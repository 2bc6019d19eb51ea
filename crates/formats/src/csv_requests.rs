//! Requests as CSV, with columns by name.
//!
//! The contract is in `docs/reference/requests-csv.md`. Each row is one request, also when two rows have the same id.

use std::io::BufRead;

use crate::csv_table::{Table, TableError, sniff_delimiter};
use crate::fields::{Field, FieldOptions, Row, RowError};
use crate::format::{Content, Format, Head, ReadError};
use crate::notice::{Notice, Notices};
use crate::number::excerpt;
use crate::request::{Request, Requests};

/// See [`crate::detect::FORMATS`].
pub const FORMAT: Format = Format {
    name: "csv",
    title: "CSV",
    endings: &["csv", "tsv"],
    recognise,
    content: Content::Requests {
        read: |input, options| read_csv(input, options).map_err(ReadError::new),
        block_bytes: None,
        is_text: true,
    },
};

/// A header is the first line: at least one position column among its names.
fn recognise(head: &Head<'_>) -> Option<&'static str> {
    let header = head.text().lines().next().unwrap_or_default();
    let delimiter = char::from(sniff_delimiter(header.as_bytes()));
    let mut names = header
        .split(delimiter)
        .map(|name| name.trim().trim_matches('"'));
    let is_header = !head.bytes.contains(&0)
        && !header.starts_with(['<', '[', '{'])
        && names.any(|name| matches!(Field::find(name), Some(Field::StartBlock | Field::SortKey)));
    is_header.then_some("a header line with column names of requests")
}

/// Why a CSV file of requests could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CsvError {
    /// No table: not readable, not UTF-8, or not the same columns everywhere.
    #[error(transparent)]
    Table(#[from] TableError),
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
/// Columns we do not know are kept in [`Request::extra`]. Memory grows with the file.
///
/// # Errors
/// At the first thing that is wrong, with its line and column.
pub fn read_csv(input: impl BufRead, options: FieldOptions) -> Result<Requests, CsvError> {
    let mut rows = CsvRows::open(input, options)?;
    let (mut requests, mut lines) = (Vec::new(), Vec::new());
    while let Some(request) = rows.next_request()? {
        requests.push(request);
        lines.push(rows.line);
    }
    let mut notices = rows.notices;
    let ids = requests.iter().map(|request: &Request| request.id.as_str());
    notices.repeated_ids(ids.zip(lines));
    Ok(Requests {
        requests,
        notices: notices.finish(),
    })
}

/// The same row by row, in constant memory. That an id stood before is not seen.
pub struct CsvRows<R> {
    table: Table<R>,
    columns: Columns,
    options: FieldOptions,
    notices: Notices,
    rows: u64,
    /// Where the last row begins.
    line: u64,
}

impl<R: BufRead> CsvRows<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// Where it is none.
    pub fn open(input: R, options: FieldOptions) -> Result<CsvRows<R>, CsvError> {
        let mut notices = Notices::new();
        let table = Table::open(input, "such as id,start_block,block_count")?;
        let columns = Columns::from_header(&table, &mut notices)?;
        Ok(CsvRows {
            table,
            columns,
            options,
            notices,
            rows: 0,
            line: 0,
        })
    }

    /// The request of the next row; `None` at the end.
    ///
    /// # Errors
    /// At the first thing that is wrong, with its line and column.
    pub fn next_request(&mut self) -> Result<Option<Request>, CsvError> {
        while let Some(row) = self.table.next()? {
            if row.is_blank() {
                self.notices.push("empty-row", Some(row.line), || {
                    "a row of empty fields was skipped".to_string()
                });
                continue;
            }
            self.rows += 1;
            self.line = row.line;
            let fields = row.fields()?;
            let request = self
                .columns
                .request(&fields, self.rows, row.line, self.options);
            return request.map(Some);
        }
        Ok(None)
    }

    /// What was ignored or assumed.
    pub fn finish(self) -> Vec<Notice> {
        self.notices.finish()
    }
}

/// What each column of the file is.
struct Columns {
    known: Vec<Option<Field>>,
    names: Vec<String>,
    has_id: bool,
}

impl Columns {
    fn from_header<R: BufRead>(
        table: &Table<R>,
        notices: &mut Notices,
    ) -> Result<Self, TableError> {
        let (header, line) = (table.names(), table.header_line());
        let mut names: Vec<String> = Vec::with_capacity(header.len());
        let mut known = Vec::with_capacity(header.len());
        for (at, name) in header.iter().enumerate() {
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
                let name = excerpt(name);
                return Err(TableError::DuplicateColumn {
                    name,
                    first: first + 1,
                    second: at + 1,
                });
            }
            names.push(name.clone());
            known.push(field);
        }
        let columns = Self {
            has_id: known.contains(&Some(Field::Id)),
            known,
            names,
        };
        if let Some(wanted) = columns.missing() {
            return Err(table.missing(wanted));
        }
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

    /// What a batch needs and no column says.
    fn missing(&self) -> Option<&'static str> {
        let counts = [Field::BlockCount, Field::EndBlock, Field::SizeBytes];
        if !self.has(Field::StartBlock) && !self.has(Field::SortKey) {
            Some("start_block")
        } else if self.has(Field::StartBlock) && !counts.iter().any(|&field| self.has(field)) {
            Some("block_count, end_block or size_bytes")
        } else {
            None
        }
    }

    fn request(
        &self,
        fields: &[&str],
        row_number: u64,
        line: u64,
        options: FieldOptions,
    ) -> Result<Request, CsvError> {
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
