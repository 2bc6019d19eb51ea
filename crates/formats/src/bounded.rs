//! A reader that counts lines and bytes, and ends in an error when one item of the input grows without end.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

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

/// Reads one line up to and without `delimiter`; `None` at the end of the input.
///
/// Counts as one item. A last line without delimiter counts as a line.
pub(crate) fn read_until<R: BufRead>(
    reader: &mut Bounded<R>,
    delimiter: u8,
    line: &mut Vec<u8>,
) -> io::Result<bool> {
    line.clear();
    reader.meter.start_item();
    if reader.read_until(delimiter, line)? == 0 {
        return Ok(false);
    }
    if line.last() == Some(&delimiter) {
        line.pop();
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_offsets_are_counted() {
        let mut reader = Bounded::new(&b"ab\ncd\n\nlast"[..], 100);
        let mut line = Vec::new();
        let mut seen = Vec::new();
        let mut at = reader.line();
        while read_until(&mut reader, b'\n', &mut line).unwrap() {
            seen.push((at, String::from_utf8(line.clone()).unwrap()));
            at = reader.line();
        }
        assert_eq!(seen.len(), 4);
        assert_eq!(seen[3], (4, "last".to_string()));
        assert_eq!(reader.offset(), 11);
    }

    #[test]
    fn an_endless_line_is_an_error_and_takes_little_memory() {
        let mut reader = Bounded::new(io::BufReader::new(io::repeat(b'a')), 1000);
        let mut line = Vec::new();
        let error = read_until(&mut reader, b'\n', &mut line).unwrap_err();
        assert!(is_too_long(&error));
        assert!(line.len() < 100_000);
    }
}
