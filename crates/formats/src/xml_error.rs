//! Why the XML of an LTFS index or label, or of a hash list, could not be read.

use std::io;

use crate::number::NumberFault;

/// Why an LTFS index or label, or a hash list, could not be read.
#[derive(Debug, thiserror::Error)]
pub enum XmlError {
    /// The input could not be read.
    #[error("line {line}: cannot read: {source}")]
    Io {
        /// The line reached.
        line: u64,
        /// What the reader said.
        source: io::Error,
    },
    /// The file is shorter than it was written.
    #[error(
        "line {line}: the file ends inside <{element}> opened at line {opened_line}: it was cut off; copy it again"
    )]
    EndsInside {
        /// The innermost open element.
        element: String,
        /// Where it was opened.
        opened_line: u64,
        /// The last line.
        line: u64,
    },
    /// Nothing but blanks.
    #[error("the file is empty: expected <{expected}>")]
    NothingThere {
        /// The root element that was expected.
        expected: &'static str,
    },
    /// Another kind of XML file.
    #[error("line {line}: this is <{found}>, expected <{expected}>")]
    WrongRoot {
        /// The line of the root element.
        line: u64,
        /// The root element found, shortened.
        found: String,
        /// The root element that was expected.
        expected: &'static str,
    },
    /// Not well-formed XML.
    #[error("line {line}: not well-formed XML: {what}")]
    Malformed {
        /// The line reached.
        line: u64,
        /// What is wrong.
        what: String,
    },
    /// UTF-16, as some Windows programs save it.
    #[error("the file is UTF-16 text; save it as UTF-8")]
    Utf16,
    /// Not UTF-8.
    #[error("line {line} (byte {offset}): not UTF-8: {what}")]
    NotUtf8 {
        /// The line reached.
        line: u64,
        /// The offset reached, in bytes.
        offset: u64,
        /// What is wrong.
        what: String,
    },
    /// A document type definition; LTFS and hash lists have none, and one can make a small file expand without end.
    #[error(
        "line {line}: the file has a DOCTYPE; such files never do, and it is refused because it can expand without end"
    )]
    Doctype {
        /// Where it stands.
        line: u64,
    },
    /// An entity other than the five of XML and character numbers.
    #[error("line {line}: unknown entity &{name};")]
    UnknownEntity {
        /// Where it stands.
        line: u64,
        /// Its name, shortened.
        name: String,
    },
    /// A tag, comment or text without end.
    #[error(
        "line {line}: one tag, comment or text is longer than {limit_bytes} bytes: the file is corrupt"
    )]
    TooLong {
        /// Where it begins.
        line: u64,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// Nested too deep.
    #[error("line {line}: elements are nested deeper than {limit}: the file is corrupt")]
    TooDeep {
        /// The line reached.
        line: u64,
        /// The limit.
        limit: usize,
    },
    /// Text or an element where it does not belong.
    #[error("line {line}: {what} inside <{element}>")]
    Misplaced {
        /// The line reached.
        line: u64,
        /// What was found.
        what: String,
        /// The element it was found in.
        element: String,
    },
    /// A number that is none.
    #[error("line {line}: <{element}> is \"{text}\", expected {fault}")]
    BadNumber {
        /// The line reached.
        line: u64,
        /// The element.
        element: &'static str,
        /// Its text, shortened.
        text: String,
        /// What was expected.
        fault: NumberFault,
    },
    /// A value that is not one of those allowed.
    #[error("line {line}: <{element}> is \"{text}\", expected {expected}")]
    BadValue {
        /// The line reached.
        line: u64,
        /// The element.
        element: &'static str,
        /// Its text, shortened.
        text: String,
        /// What was expected.
        expected: &'static str,
    },
    /// An element that must be there is not.
    #[error("line {line}: <{element}> has no <{missing}>")]
    Missing {
        /// Where the element ends.
        line: u64,
        /// The element.
        element: &'static str,
        /// What it lacks.
        missing: &'static str,
    },
    /// An element that may be there once is there twice.
    #[error("line {line}: <{element}> appears twice")]
    Twice {
        /// The second one.
        line: u64,
        /// The element.
        element: &'static str,
    },
}
