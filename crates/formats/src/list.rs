//! Lists of names, one a line or separated by zero bytes.
//!
//! A file name on Unix is any bytes but `/` and zero, so names stay bytes here: what is read is what
//! [`crate::list_out`] writes. A name that must be text (to find it in an LTFS index, which is UTF-8) is asked for
//! with [`Name::as_str`], which says the line when it is not.

use std::io::BufRead;

use crate::bounded::{LineError, Lines};
use crate::byte_order::without_mark;
use crate::format::{Content, Format};
use crate::notice::{Notice, Notices};
use crate::number::excerpt_bytes;

/// See [`crate::detect::FORMATS`]. Nothing marks it: what is nothing else is a list.
pub const FORMAT: Format = Format {
    name: "list",
    title: "a list of names, one a line",
    endings: &[],
    recognise: |_| None,
    content: Content::Names,
};

/// See [`crate::detect::FORMATS`].
pub const NUL_FORMAT: Format = Format {
    name: "list0",
    title: "a NUL-separated list of names",
    endings: &[],
    recognise: |head| {
        (head.bytes.contains(&0) && !head.text().starts_with('<'))
            .then_some("zero bytes between the names")
    },
    content: Content::Names,
};

/// What stands between two names of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// A line feed; a carriage return before it is dropped.
    Newline,
    /// A zero byte, as `find -print0` writes it; safe for every name.
    Nul,
}

/// One name of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// Its line, or its place in a NUL-separated list, from 1.
    pub line: u64,
    /// The name as it stands there.
    pub bytes: Vec<u8>,
}

impl Name {
    /// The name as text.
    ///
    /// # Errors
    /// When it is not UTF-8, with its line and the offset of the first bad byte.
    pub fn as_str(&self) -> Result<&str, ListError> {
        std::str::from_utf8(&self.bytes).map_err(|error| ListError::NotUtf8 {
            line: self.line,
            byte: error.valid_up_to() as u64 + 1,
            name: excerpt_bytes(&self.bytes),
        })
    }
}

impl AsRef<[u8]> for Name {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A list that was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NameList {
    /// The names in the order of the list, duplicates included.
    pub names: Vec<Name>,
    /// What was ignored or odd.
    pub notices: Vec<Notice>,
}

/// Why a list could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// A line could not be read.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A name that has to be text is not.
    #[error("line {line}: \"{name}\" is not UTF-8 (byte {byte}); names in an LTFS index are")]
    NotUtf8 {
        /// Where it stands.
        line: u64,
        /// The first bad byte of the name, from 1.
        byte: u64,
        /// The name, shortened, with what is bad replaced.
        name: String,
    },
    /// A zero byte in a list of lines.
    #[error(
        "line {line}: there is a zero byte in the name; if the list is NUL-separated, read it with -0"
    )]
    NulInLine {
        /// Where it stands.
        line: u64,
    },
}

/// Reads a list of names.
///
/// A byte order mark is dropped, empty lines are skipped. Nothing else is: blanks, `#` and quotes belong to a name.
/// Memory grows with the list.
///
/// # Errors
/// When the input cannot be read, is UTF-16, or is no list of the kind asked for.
pub fn read_list(input: impl BufRead, separator: Separator) -> Result<NameList, ListError> {
    let mut notices = Notices::new();
    let mut names = Vec::new();
    let delimiter = match separator {
        Separator::Newline => b'\n',
        Separator::Nul => 0,
    };
    let mut lines = Lines::new(input, delimiter);
    while let Some((line, mut bytes)) = lines.next()? {
        if line == 1 {
            bytes = without_mark(bytes);
        }
        match separator {
            Separator::Newline => {
                bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
                if bytes.contains(&0) {
                    return Err(ListError::NulInLine { line });
                }
            }
            // Somebody has read a list of lines with -0: one name with many line feeds is most likely that.
            Separator::Nul if line == 1 && bytes.iter().filter(|&&b| b == b'\n').count() > 1 => {
                notices.push("newlines-in-name", Some(line), || {
                    "the first name holds several line feeds; if the list has one name a line, leave out -0"
                        .to_string()
                });
            }
            Separator::Nul => {}
        }
        if !bytes.is_empty() {
            names.push(Name {
                line,
                bytes: bytes.to_vec(),
            });
        }
    }
    Ok(NameList {
        names,
        notices: notices.finish(),
    })
}
