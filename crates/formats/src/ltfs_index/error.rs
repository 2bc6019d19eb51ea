//! What can be wrong with the index of an LTFS volume.

use crate::xml_error::XmlError;

/// Why an LTFS index could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LtfsIndexError {
    /// The XML is damaged, cut off or not an LTFS index.
    #[error(transparent)]
    Xml(#[from] XmlError),
    /// A version we do not read.
    #[error("LTFS index version \"{found}\" is not supported; versions 2.0 to 2.5 are")]
    Version {
        /// The `version` attribute, shortened.
        found: String,
    },
    /// A name that cannot be a file's.
    #[error("line {line}: \"{name}\" cannot be a name: {why}")]
    BadName {
        /// Where it stands.
        line: u64,
        /// The name, shortened.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// More of something than we hold in memory.
    #[error("line {line}: more than {limit} {what}: the index is corrupt")]
    TooMany {
        /// The line reached.
        line: u64,
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// An extent that ends beyond 64 bits.
    #[error("line {line}: an extent of \"{path}\" ends beyond 2^64 bytes: the index is corrupt")]
    ExtentOverflow {
        /// Where the extent ends.
        line: u64,
        /// The file, shortened.
        path: String,
    },
}
