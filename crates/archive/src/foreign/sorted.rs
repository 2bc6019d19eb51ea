//! Rows of a list of any length in order of volume and file, in constant memory: portions are sorted and set aside in
//! files without names, which are then read side by side.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, Write};
use tapewise_formats::csv_out::{CsvOutError, write_csv};
use tapewise_formats::csv_requests::{CsvError, CsvRows};
use tapewise_formats::fields::FieldOptions;
use tapewise_formats::request::{Extent, Request};

/// Why a list could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// It is no list.
    #[error(transparent)]
    Csv(#[from] CsvError),
    /// A row names no volume, and the list has no name either.
    #[error("request {id}: it names no volume")]
    NoVolumeNamed {
        /// The row's id.
        id: String,
    },
    /// A portion that was sorted could not be set aside, or read again.
    #[error("a part of the list cannot be kept in the directory for temporary files: {0}")]
    SetAside(#[source] io::Error),
}

impl From<CsvOutError> for ListError {
    fn from(error: CsvOutError) -> ListError {
        ListError::SetAside(io::Error::other(error))
    }
}

/// Rows that are sorted at once. Each portion is an open file: a hundred million rows are 500.
pub const PORTION: usize = 200_000;

/// A row: the volume, the file on it, and its blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub volume: String,
    pub inner: String,
    pub extents: Vec<Extent>,
}

impl Row {
    fn key(&self) -> (&str, &str) {
        (&self.volume, &self.inner)
    }

    fn of(request: Request) -> Row {
        Row {
            volume: request.volume.unwrap_or_default(),
            inner: request.path.unwrap_or_default(),
            extents: request.extents,
        }
    }

    fn into_request(self) -> Request {
        Request {
            // Nobody reads it again.
            id: "-".to_owned(),
            volume: Some(self.volume),
            path: Some(self.inner),
            extents: self.extents,
            ..Request::default()
        }
    }
}

/// Rows in order.
pub struct Sorted {
    set_aside: Vec<File>,
    /// The last portion, which needs no file.
    last: Vec<Row>,
}

impl Sorted {
    /// Sorts rows, `portion` at once.
    pub fn new(
        rows: impl Iterator<Item = Result<Row, ListError>>,
        portion: usize,
    ) -> Result<Sorted, ListError> {
        let mut sorted = Sorted {
            set_aside: Vec::new(),
            last: Vec::new(),
        };
        for row in rows {
            if sorted.last.len() == portion {
                let rows = std::mem::take(&mut sorted.last);
                sorted.set_aside.push(set_aside(in_order(rows))?);
            }
            sorted.last.push(row?);
        }
        sorted.last = in_order(std::mem::take(&mut sorted.last));
        Ok(sorted)
    }

    /// The rows, from the first on. What has the same key comes as it was listed.
    pub fn rows(&self) -> Result<Rows<'_>, ListError> {
        let mut rows = Rows {
            portions: Vec::new(),
            last: self.last.iter(),
            next: BinaryHeap::new(),
            extents: vec![Vec::new(); self.set_aside.len() + 1],
        };
        for file in &self.set_aside {
            let mut file = file.try_clone().map_err(ListError::SetAside)?;
            file.rewind().map_err(ListError::SetAside)?;
            let options = FieldOptions::default();
            rows.portions
                .push(CsvRows::open(BufReader::new(file), options)?);
        }
        for portion in 0..=rows.portions.len() {
            rows.advance(portion)?;
        }
        Ok(rows)
    }
}

fn in_order(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by(|one, other| one.key().cmp(&other.key()));
    rows
}

fn set_aside(rows: Vec<Row>) -> Result<File, ListError> {
    let requests: Vec<Request> = rows.into_iter().map(Row::into_request).collect();
    let file = tempfile::tempfile().map_err(ListError::SetAside)?;
    let mut out = BufWriter::new(file);
    write_csv(&mut out, &requests)?;
    out.flush().map_err(ListError::SetAside)?;
    out.into_inner()
        .map_err(|error| ListError::SetAside(error.into_error()))
}

/// Rows that are being read.
pub struct Rows<'a> {
    portions: Vec<CsvRows<BufReader<File>>>,
    last: std::slice::Iter<'a, Row>,
    /// Volume, file and portion of the next row of each portion.
    next: BinaryHeap<Reverse<(String, String, usize)>>,
    /// The blocks of these rows, by portion.
    extents: Vec<Vec<Extent>>,
}

impl Rows<'_> {
    /// Takes the next row of a portion in.
    fn advance(&mut self, portion: usize) -> Result<(), ListError> {
        let row = match self.portions.get_mut(portion) {
            Some(rows) => rows.next_request()?.map(Row::of),
            None => self.last.next().cloned(),
        };
        if let Some(row) = row {
            self.extents[portion] = row.extents;
            self.next.push(Reverse((row.volume, row.inner, portion)));
        }
        Ok(())
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<Row, ListError>;

    fn next(&mut self) -> Option<Result<Row, ListError>> {
        let Reverse((volume, inner, portion)) = self.next.pop()?;
        let row = Row {
            volume,
            inner,
            extents: std::mem::take(&mut self.extents[portion]),
        };
        Some(self.advance(portion).map(|()| row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_model::Random;

    #[test]
    fn any_portions_give_the_order_of_all_rows_at_once_again_and_again() {
        let mut random = Random::new(2, 7);
        let rows: Vec<Row> = (0..100)
            .map(|block| Row {
                volume: format!("V{}", random.below(3)),
                // Names as people have them: CSV quotes them.
                inner: format!("a \"b\", c/{}", random.below(20)),
                extents: vec![Extent {
                    start_block: block,
                    block_count: 1,
                    ..Extent::default()
                }],
            })
            .collect();
        let expected = in_order(rows.clone());
        for portion in [1, 7, 99, 100, 101] {
            let sorted = Sorted::new(rows.iter().cloned().map(Ok), portion).expect("sorted");
            for _ in 0..2 {
                let read: Result<Vec<Row>, _> = sorted.rows().expect("rows").collect();
                assert_eq!(read.expect("rows"), expected, "{portion} rows at once");
            }
        }
    }
}
