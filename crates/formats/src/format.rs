//! What a format says of itself, each in its own file: what it is called, how it is recognised and how it is read.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::io::BufRead;

use crate::fields::FieldOptions;
use crate::request::Requests;

/// A format we read, as its own file describes it.
#[derive(Debug)]
pub struct Format {
    /// The name used on the command line: `ltfs-index`.
    pub name: &'static str,
    /// What people call it: `an LTFS index`.
    pub title: &'static str,
    /// Endings of the names of such files.
    pub endings: &'static [&'static str],
    /// Says by what the first bytes are of this format, or `None`.
    pub recognise: fn(&Head<'_>) -> Option<&'static str>,
    /// What is in such a file.
    pub content: Content,
}

/// Reads a file of requests.
pub type ReadRequests = fn(&mut dyn BufRead, FieldOptions) -> Result<Requests, ReadError>;

/// What is in a file.
#[derive(Debug)]
pub enum Content {
    /// Requests with places on a tape, or with keys to sort by.
    Requests {
        /// Reads them.
        read: ReadRequests,
        /// Bytes of a block on such tapes, where the format knows.
        block_bytes: Option<u64>,
        /// Whether it is text that some programs save as UTF-16; the reader refuses that and says so.
        is_text: bool,
    },
    /// Names of files, which an index or a mounted volume has to place.
    Names,
    /// The index of a volume, of which names are chosen.
    Index,
    /// Something else.
    Other,
}

/// Why requests could not be read: the error of the format's own reader.
#[derive(Debug)]
pub struct ReadError(pub Box<dyn Error + Send + Sync>);

impl ReadError {
    /// Wraps the error of a reader.
    pub fn new(error: impl Error + Send + Sync + 'static) -> ReadError {
        ReadError(Box::new(error))
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Format) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

/// The first bytes of a file, without a byte order mark.
#[derive(Debug)]
pub struct Head<'h> {
    /// As they stand there.
    pub bytes: &'h [u8],
    text: Cow<'h, str>,
}

impl<'h> Head<'h> {
    pub(crate) fn new(bytes: &'h [u8]) -> Head<'h> {
        Head {
            bytes,
            text: String::from_utf8_lossy(bytes),
        }
    }

    /// As text, from the first character that is no white space.
    pub fn text(&self) -> &str {
        self.text.trim_ascii_start()
    }

    /// Whether it is XML with this element.
    pub fn has_element(&self, tag: &str) -> bool {
        self.text().starts_with('<') && self.text().contains(tag)
    }
}
