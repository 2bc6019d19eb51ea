//! A reader that counts lines and bytes, and ends in an error when one item of the input grows without end.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use crate::byte_order::is_utf_16;

/// The error inside the `io::Error` that a [`Bounded`] reader returns when an item passes its limit.
#[derive(Debug)]
pub(crate) struct ItemTooLong {
    pub limit_bytes: u64,
}

impl fmt::Display for ItemTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "one item is longer than {} bytes: this is not such a file, or it is corrupt",
            self.limit_bytes
        )
    }
}

impl std::error::Error for ItemTooLong {}

/// The most bytes handed out at once.
const MAX_SLICE_BYTES: usize = 256 << 10;

/// The bytes handed out since the last item began; shared, because serde and csv own their reader.
#[derive(Debug, Clone, Default)]
pub(crate) struct ItemMeter(Rc<Cell<u64>>);

impl ItemMeter {
    /// Says that a new item begins here.
    pub(crate) fn start_item(&self) {
        self.0.set(0);
    }
}

/// Wraps a reader; the caller says where items begin with [`ItemMeter::start_item`].
///
/// The parsers we build on buffer a whole tag, record or value before they hand it over, so a hostile file of
/// one endless item would take all memory. Here it ends in an error instead.
#[derive(Debug)]
pub(crate) struct Bounded<R> {
    inner: R,
    meter: ItemMeter,
    limit_bytes: u64,
    offset: u64,
    newlines: u64,
}

impl<R: BufRead> Bounded<R> {
    pub(crate) fn new(inner: R, limit_bytes: u64) -> Self {
        Self {
            inner,
            meter: ItemMeter::default(),
            limit_bytes,
            offset: 0,
            newlines: 0,
        }
    }

    pub(crate) fn into_inner(self) -> R {
        self.inner
    }

    pub(crate) fn meter(&self) -> ItemMeter {
        self.meter.clone()
    }

    /// The line, from 1, of the next byte.
    pub(crate) fn line(&self) -> u64 {
        self.newlines + 1
    }

    /// The offset, from 0, of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }
}

impl<R: BufRead> BufRead for Bounded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.meter.0.get() > self.limit_bytes {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                ItemTooLong {
                    limit_bytes: self.limit_bytes,
                },
            ));
        }
        // An input that is in memory as a whole would otherwise hand over gigabytes at once, past the limit.
        let buffer = self.inner.fill_buf()?;
        Ok(&buffer[..buffer.len().min(MAX_SLICE_BYTES)])
    }

    fn consume(&mut self, amount: usize) {
        // The inner buffer still holds these bytes: fill_buf returns it as it is while it is not empty.
        if let Ok(buffer) = self.inner.fill_buf() {
            let taken = &buffer[..amount.min(buffer.len())];
            self.newlines += taken.iter().filter(|&&b| b == b'\n').count() as u64;
        }
        self.inner.consume(amount);
        self.offset += amount as u64;
        self.meter.0.set(self.meter.0.get() + amount as u64);
    }
}

impl<R: BufRead> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let n = available.len().min(out.len());
        out[..n].copy_from_slice(&available[..n]);
        self.consume(n);
        Ok(n)
    }
}

/// Whether an `io::Error` came from an item that passed its limit.
pub(crate) fn is_too_long(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(|inner| inner.is::<ItemTooLong>())
}

/// The longest line any of our line-based readers accepts.
pub(crate) const MAX_LINE_BYTES: u64 = 16 << 20;

/// Why a line could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The input could not be read.
    #[error("line {line}: cannot read: {source}")]
    Io {
        /// The line reached.
        line: u64,
        /// What the reader said.
        source: io::Error,
    },
    /// A line without end.
    #[error(
        "line {line}: longer than {limit_bytes} bytes; this is another kind of file, or it is corrupt"
    )]
    TooLong {
        /// Where it begins.
        line: u64,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// UTF-16, as some Windows programs save it.
    #[error("the file is UTF-16 text; save it as UTF-8")]
    Utf16,
}

/// The lines of an input, counted, each of bounded length.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: Bounded<R>,
    delimiter: u8,
    bytes: Vec<u8>,
    line: u64,
}

impl<R: BufRead> Lines<R> {
    /// Lines that end with `delimiter`; a last one without counts as a line.
    pub(crate) fn new(input: R, delimiter: u8) -> Self {
        Self {
            reader: Bounded::new(input, MAX_LINE_BYTES),
            delimiter,
            bytes: Vec::new(),
            line: 0,
        }
    }

    /// The next line without its delimiter, and its number from 1; `None` at the end of the input.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &[u8])>, LineError> {
        self.line += 1;
        self.bytes.clear();
        self.reader.meter.start_item();
        let line = self.line;
        match self.reader.read_until(self.delimiter, &mut self.bytes) {
            Ok(0) => Ok(None),
            Ok(_) if line == 1 && is_utf_16(&self.bytes) => Err(LineError::Utf16),
            Ok(_) => {
                if self.bytes.last() == Some(&self.delimiter) {
                    self.bytes.pop();
                }
                Ok(Some((line, &self.bytes)))
            }
            Err(error) if is_too_long(&error) => Err(LineError::TooLong {
                line,
                limit_bytes: MAX_LINE_BYTES,
            }),
            Err(source) => Err(LineError::Io { line, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted() {
        let mut lines = Lines::new(&b"ab\ncd\n\nlast"[..], b'\n');
        let mut seen = Vec::new();
        while let Some((line, bytes)) = lines.next().unwrap() {
            seen.push((line, String::from_utf8(bytes.to_vec()).unwrap()));
        }
        assert_eq!(seen.len(), 4);
        assert_eq!(seen[3], (4, "last".to_string()));
        assert_eq!(lines.reader.offset(), 11);
    }

    #[test]
    fn an_endless_line_is_an_error_and_takes_little_memory() {
        let mut lines = Lines::new(io::BufReader::new(io::repeat(b'a')), b'\n');
        let error = lines.next().map(|_| ()).unwrap_err();
        assert!(matches!(error, LineError::TooLong { line: 1, .. }));
        assert!((lines.bytes.len() as u64) < MAX_LINE_BYTES + (1 << 20));
    }
}
