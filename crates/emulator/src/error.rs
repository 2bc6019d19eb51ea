//! What can go wrong with a library's directory.

use crate::medium::MediumError;
use std::path::{Path, PathBuf};

/// What can go wrong with a library's directory.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that cannot be understood.
    #[error("{path}: {what}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Another process has the library open.
    #[error("{path}: the library is in use by another process")]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// A specification that cannot be built.
    #[error("library: {what}")]
    Spec {
        /// What is wrong with it.
        what: String,
    },
    /// Something was asked for that this library does not have.
    #[error("library: there is no {what}")]
    Missing {
        /// What.
        what: String,
    },
    /// A cartridge's files are damaged.
    #[error(transparent)]
    Medium(#[from] MediumError),
    /// A cartridge cannot go in or out now.
    #[error("library: {what}")]
    Refused {
        /// Why.
        what: String,
    },
}

impl LibraryError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> LibraryError + '_ {
        move |source| LibraryError::Io {
            path: path.to_owned(),
            source,
        }
    }
}
