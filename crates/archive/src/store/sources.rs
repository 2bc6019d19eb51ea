//! Where files that are stored are read from, as a trait: tests replace the file system by one whose files fail, and
//! change while they are read.

use crate::sums::Sum;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What is read when files are stored.
pub trait Sources {
    /// Opens a file.
    ///
    /// # Errors
    /// Those of the file system.
    fn open(&self, path: &Path) -> io::Result<Box<dyn SourceFile>>;

    /// What a file is now.
    ///
    /// # Errors
    /// As [`Sources::open`].
    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        self.open(path)?.stamp()
    }
}

/// An open file that is stored.
pub trait SourceFile: Read {
    /// What it is now.
    ///
    /// # Errors
    /// Those of the file system.
    fn stamp(&self) -> io::Result<Stamp>;

    /// Sums that whoever keeps it states of it: a file has none.
    fn stated(&self) -> &[Sum] {
        &[]
    }
}

/// Why a source cannot be read, where it is not the system that says so: what an error of reading holds then.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SourceError {
    /// Somebody writes to it: what is left of it belongs to other contents.
    #[error("changed while it was read")]
    Changed,
    /// Whoever keeps it cannot be asked.
    #[error("{place}: {why}")]
    Unavailable {
        /// Where it is.
        place: String,
        /// Why.
        why: String,
    },
}

/// What a file is, and what changes when it is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Whether it is a regular file.
    pub is_file: bool,
    /// Its length.
    pub bytes: u64,
    /// When its contents were changed, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// When anything of it was changed.
    pub changed_ns: i64,
    /// Its permissions.
    pub mode: u32,
}

/// The files of this machine.
pub struct FileSystem;

impl Sources for FileSystem {
    fn open(&self, path: &Path) -> io::Result<Box<dyn SourceFile>> {
        Ok(Box::new(File::open(path)?))
    }

    fn stamp(&self, path: &Path) -> io::Result<Stamp> {
        std::fs::metadata(path).map(Stamp::from)
    }
}

impl SourceFile for File {
    fn stamp(&self) -> io::Result<Stamp> {
        self.metadata().map(Stamp::from)
    }
}

impl From<Metadata> for Stamp {
    fn from(of: Metadata) -> Stamp {
        Stamp {
            is_file: of.is_file(),
            bytes: of.len(),
            modified_ns: nanoseconds(of.mtime(), of.mtime_nsec()),
            changed_ns: nanoseconds(of.ctime(), of.ctime_nsec()),
            mode: of.mode() & 0o777,
        }
    }
}

fn nanoseconds(seconds: i64, and: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(and)
}
