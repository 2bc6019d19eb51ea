//! What can go wrong with a cache.

use crate::catalogue::{CatalogueError, FileId, Holds};
use std::path::PathBuf;

/// Why the cache refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The catalogue refused or failed.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The directory failed.
    #[error("cache: {doing} {path}: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file, relative to the cache.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// What came in could not be written into it.
    #[error("cache: writing {path} into it: {source}")]
    Write {
        /// The file that was to come in.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The marks contradict each other.
    #[error("a cache's low water of {low_bytes} bytes is above its high water of {high_bytes}")]
    Water {
        /// The high mark.
        high_bytes: u64,
        /// The low mark.
        low_bytes: u64,
    },
    /// No cache of this size takes such a file.
    #[error(
        "a file of {wanted_bytes} bytes never fits a cache of {high_bytes} (cache_high_bytes in archive.toml)"
    )]
    TooLarge {
        /// What was wanted.
        wanted_bytes: u64,
        /// The high mark.
        high_bytes: u64,
    },
    /// There is no room, and nothing that may go.
    #[error(
        "the cache is full: {wanted_bytes} bytes wanted, high water is {high_bytes}; {} files with {} bytes are not on tape yet, {} with {} bytes are pinned, {reserved_bytes} bytes are reserved by transfers",
        .holds.dirty_files, .holds.dirty_bytes, .holds.pinned_files, .holds.pinned_bytes
    )]
    Full {
        /// What was wanted.
        wanted_bytes: u64,
        /// The high mark.
        high_bytes: u64,
        /// What transfers under way have reserved.
        reserved_bytes: u64,
        /// What the rest is.
        holds: Holds,
    },
    /// What was written is not as long as the file.
    #[error(
        "{}: {written_bytes} bytes were written, the file has {file_bytes}",
        String::from_utf8_lossy(path)
    )]
    Length {
        /// The file's path in the archive.
        path: Vec<u8>,
        /// What was written.
        written_bytes: u64,
        /// What it should be.
        file_bytes: u64,
    },
    /// Somebody took it away behind our back.
    #[error("file {} should be in the cache as {path}, and is not: restart, so that the cache is looked through", .file.0)]
    Missing {
        /// The file.
        file: FileId,
        /// Where it should be, relative to the cache.
        path: PathBuf,
    },
}

impl CacheError {
    /// Whether it says of one file that it cannot be opened: others may well be.
    pub fn is_of_the_file(&self) -> bool {
        matches!(self, CacheError::Missing { .. } | CacheError::Io { .. })
    }
}
