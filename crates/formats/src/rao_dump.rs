//! Data of a SCSI command from a file: as bytes, or as the hex that people and tools print.
//!
//! Understood are plain hex (`02 01 00`, `020100`, `0x02,0x01`), the dumps of sg_raw and sg3_utils, `xxd` and
//! `hexdump -vC`. A `#` begins a comment. Offsets are checked: a line that is missing is an error.

use std::borrow::Cow;

use crate::number::excerpt;

/// The most bytes on a line that begins with an offset; what stands behind them is the text column.
const DUMP_LINE_BYTES: usize = 16;

/// Why a hex dump could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DumpError {
    /// Not UTF-8, though it has no zero byte as binary data would.
    #[error("neither binary data nor a hex dump: byte {offset} is not text")]
    NotText {
        /// The first such byte.
        offset: usize,
    },
    /// Something that is no hex.
    #[error("line {line}, column {column}: \"{text}\" is not hex; expected pairs of digits")]
    NotHex {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in bytes.
        column: usize,
        /// What stands there, shortened.
        text: String,
    },
    /// An offset that does not follow.
    #[error(
        "line {line}: the offset is {offset:#x}, but {found:#x} bytes stand before it; is a line missing?"
    )]
    Offset {
        /// The line, from 1.
        line: usize,
        /// What the line says.
        offset: usize,
        /// How many bytes there were.
        found: usize,
    },
}

/// The data of a file that holds it as bytes or as a hex dump.
///
/// Data of the commands we read has zero bytes in its reserved fields and its numbers, text has none: that decides.
///
/// # Errors
/// At the first line of a dump that is wrong.
pub fn read_dump(file: &[u8]) -> Result<Cow<'_, [u8]>, DumpError> {
    if file.contains(&0) {
        return Ok(Cow::Borrowed(file));
    }
    let text = std::str::from_utf8(file).map_err(|error| DumpError::NotText {
        offset: error.valid_up_to(),
    })?;
    let mut dump = Dump {
        data: Vec::with_capacity(file.len() / 3),
        has_offsets: None,
    };
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        dump.read_line(line, index + 1)?;
    }
    Ok(Cow::Owned(dump.data))
}

/// A dump as far as it is read.
struct Dump {
    data: Vec<u8>,
    /// Whether its lines begin with offsets: what the first one does, all do.
    has_offsets: Option<bool>,
}

impl Dump {
    /// Reads one line; sg_raw says around its dump how much it received and with what status.
    fn read_line(&mut self, text: &str, line: usize) -> Result<(), DumpError> {
        let text = text.split(['#', '|']).next().unwrap_or_default();
        if text.starts_with("Received ") || text.starts_with("SCSI Status") {
            return Ok(());
        }
        let Some((column, word)) = words(text).next() else {
            return Ok(());
        };
        let bytes_from = column + word.len();
        let has_offsets = *self
            .has_offsets
            .get_or_insert_with(|| word.ends_with(':') || text[bytes_from..].starts_with("  "));
        if has_offsets {
            self.check_offset(column, word, line)?;
            self.read_bytes(text, bytes_from, DUMP_LINE_BYTES, line)
        } else {
            self.read_bytes(text, 0, usize::MAX, line)
        }
    }

    fn check_offset(&self, column: usize, word: &str, line: usize) -> Result<(), DumpError> {
        let digits = word.trim_end_matches(':');
        let offset = usize::from_str_radix(digits, 16).map_err(|_| not_hex(line, column, word))?;
        if offset == self.data.len() {
            Ok(())
        } else {
            Err(DumpError::Offset {
                line,
                offset,
                found: self.data.len(),
            })
        }
    }

    /// Reads up to `most` bytes from a column on; a short line of a dump is filled up with blanks to its text column.
    fn read_bytes(
        &mut self,
        text: &str,
        from: usize,
        most: usize,
        line: usize,
    ) -> Result<(), DumpError> {
        let full = self.data.len().saturating_add(most);
        let mut before = None;
        for (column, word) in words(text).filter(|&(column, _)| column >= from) {
            let is_text = before.is_some_and(|before| most < usize::MAX && column - before > 2);
            if is_text || self.data.len() >= full {
                break;
            }
            hex(word, &mut self.data).ok_or_else(|| not_hex(line, column, word))?;
            before = Some(column + word.len());
        }
        Ok(())
    }
}

fn not_hex(line: usize, column: usize, word: &str) -> DumpError {
    DumpError::NotHex {
        line,
        column: column + 1,
        text: excerpt(word),
    }
}

/// The words of a line with their columns; blanks and commas stand between them, one byte each.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let separated = text.split([' ', '\t', ',']);
    let with_columns = separated.scan(0, |next, word| {
        let column = *next;
        *next += word.len() + 1;
        Some((column, word))
    });
    with_columns.filter(|(_, word)| !word.is_empty())
}

/// Adds the bytes of one word; `None` when it is no hex.
fn hex(word: &str, data: &mut Vec<u8>) -> Option<()> {
    let digits = word
        .strip_prefix("0x")
        .or_else(|| word.strip_prefix("0X"))
        .unwrap_or(word);
    let all_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if digits.is_empty() || !digits.len().is_multiple_of(2) || !all_hex {
        return None;
    }
    for at in (0..digits.len()).step_by(2) {
        data.push(u8::from_str_radix(&digits[at..at + 2], 16).ok()?);
    }
    Some(())
}
