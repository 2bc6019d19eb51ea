//! What can go wrong with a cache.

use crate::catalogue::{CatalogueError, FileId, Holds};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use tapewise_model::units::count;

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
        "the cache is full: {wanted_bytes} bytes wanted, {limit}; not on tape yet: {} with {} bytes; pinned: {} with {} bytes; {reserved_bytes} bytes are reserved by transfers",
        count(.holds.dirty_files as usize, "file"), .holds.dirty_bytes, count(.holds.pinned_files as usize, "file"), .holds.pinned_bytes
    )]
    Full {
        /// What was wanted.
        wanted_bytes: u64,
        /// What it would exceed.
        limit: Limit,
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
    /// The catalogue is a copy from before: what was acknowledged since is not in it.
    #[error(
        "the catalogue is older than the cache: it is at generation {catalogue}, the cache at {cache}. It was \
         restored from a copy, and files that were stored since may stand in the cache. Nothing was changed"
    )]
    OlderCatalogue {
        /// The catalogue's generation.
        catalogue: u64,
        /// The generation of the catalogue that the cache was last used with.
        cache: u64,
    },
    /// The catalogue is a copy that went on apart from the one that the cache was last used with.
    #[error(
        "the catalogue is not the one that the cache was last used with, but a copy of it that went on by itself: one \
         of the two was restored. Files that only the other one knows may stand in the cache. Nothing was changed"
    )]
    ForkedCatalogue,
    /// The catalogue is a new one, or of another archive.
    #[error("the cache belongs to another catalogue (files in it: {files}). Nothing was changed")]
    OtherCatalogue {
        /// Files in the cache.
        files: usize,
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

/// What a cache does not grow beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Its high mark.
    HighWater {
        /// The mark.
        high_bytes: u64,
    },
    /// Its disk, less what is kept for the catalogue.
    Disk {
        /// What is free on the disk, less what is kept and what transfers under way will write.
        free_bytes: u64,
    },
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::HighWater { high_bytes } => write!(f, "high water is {high_bytes}"),
            Limit::Disk { free_bytes } => write!(
                f,
                "its disk has {free_bytes} free beside what is kept for the catalogue"
            ),
        }
    }
}

impl CacheError {
    /// Whether there is no room for now: by its water, or because others have filled its disk meanwhile.
    pub fn is_full(&self) -> bool {
        match self {
            CacheError::Full { .. } => true,
            CacheError::Io { source, .. } => is_no_room(source),
            _ => false,
        }
    }

    /// Whether it says of one file that it cannot be opened: others may well be.
    pub fn is_of_the_file(&self) -> bool {
        matches!(self, CacheError::Missing { .. } | CacheError::Io { .. })
    }
}

/// Whether the system said that the disk, or what is granted of it, is full.
pub(crate) fn is_no_room(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    error.raw_os_error().is_some() && matches!(error.kind(), StorageFull | QuotaExceeded)
}

/// Makes the error of something that was done with a file.
pub(super) fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CacheError {
    let path = path.to_owned();
    move |source| CacheError::Io {
        doing,
        path,
        source,
    }
}
