//! Files appear in a destination whole, verified, and never outside of it.
//!
//! A file is written under a name of its own beside its place, synced, compared with what is known of it, and only
//! then given its name, which replaces nothing that was there. Whoever is killed on the way leaves a hidden
//! `.tapewise-….part`, which the next delivery of the same file removes, and perhaps empty directories. An attribute
//! tells it from a file that is called so and is whole.
//!
//! Names come from tapes of others, so they are bytes and not believed: [`InnerPath`] has no way to say `..`, and a
//! [`Destination`] opens directory by directory, relative to the one before, without ever following a symbolic link.
//! Regular files and directories are all that can be made here: for links, devices and pipes there is no function.
//!
//! | file | idea |
//! |---|---|
//! | `path` | a path that cannot leave |
//! | `destination` | the directory below which files appear, and what is there already |
//! | `delivery` | one file on its way |
//! | `expected` | what is known of a file, and how what came differs from it |
//! | `metadata` | times, mode, owner and attributes, and what of them could not be kept |
//! | `check` | what would go wrong, said before the tape moves |
//! | `copy` | many files, one after the other: one thread reads, another writes |
//! | `watch` | who is asked before each step: nobody, except in tests |
//!
//! ```
//! use tapewise_archive::deliver::{Destination, Expected, InnerPath, Outcome};
//! use tapewise_archive::sums::{Kind, Sum};
//!
//! let directory = tempfile::tempdir()?;
//! let destination = Destination::open(directory.path())?;
//! let path = InnerPath::new("reel 7/clip.mov")?;
//! let expected = Expected { sums: vec![Sum::of(Kind::Xxh64, b"film")], ..Expected::of(4) };
//!
//! let mut delivery = destination.begin(&path, expected.clone())?;
//! delivery.write(b"fi")?;
//! delivery.write(b"lm")?;
//! assert_eq!(delivery.finish()?.outcome, Outcome::Verified);
//! assert_eq!(std::fs::read(directory.path().join("reel 7/clip.mov"))?, b"film");
//!
//! let mut other = destination.begin(&InnerPath::new("copy.mov")?, expected)?;
//! other.write(b"filn")?;
//! assert!(other.finish().unwrap_err().to_string().contains("xxh64:"));
//! assert!(!directory.path().join("copy.mov").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod copy;
mod delivery;
mod destination;
mod expected;
mod metadata;
mod path;
mod watch;

pub use check::{Check, Problem, Sameness};
pub use copy::{Copied, CopyItem, Took, copy};
pub use delivery::Delivery;
pub use destination::{Destination, Presence};
pub use expected::Expected;
pub(crate) use expected::{kinds, mismatch};
pub use metadata::{Metadata, NotKept};
pub use path::{BadPath, InnerPath};
pub use tapewise_formats::misleading::shown;
pub use watch::{Step, Watch};

use crate::sums::Sum;
use std::io;

/// How sure one is of a file that was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every sum that was known matched.
    Verified,
    /// No sum was known: it has the right length, and that is all that can be said.
    Unverified,
}

/// A file that has its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Where, below the destination.
    pub path: InnerPath,
    /// Its length.
    pub bytes: u64,
    /// How sure one is of it.
    pub outcome: Outcome,
    /// When it was last written, in nanoseconds since 1970, where that was known and given to it.
    pub modified_ns: Option<i64>,
    /// The sums that were computed: those expected, then those asked for besides.
    pub sums: Vec<Sum>,
    /// What of its metadata could not be kept.
    pub not_kept: Vec<NotKept>,
}

/// Why a file is not delivered. Nothing of it is left in the destination, unless it has its name and could not be
/// made to last: see [`Delivery::finish`].
#[derive(Debug, thiserror::Error)]
pub enum DeliverError {
    /// The path could leave the destination, or is no path.
    #[error(transparent)]
    BadPath(#[from] BadPath),
    /// The system refused.
    #[error("{path}: cannot {doing}: {source}")]
    Io {
        /// The file or directory.
        path: String,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// What should be a directory on the way is something else; symbolic links are not followed.
    #[error(
        "{path}: {part} is there and is {what}, not a directory; move it away, links are never followed"
    )]
    InTheWay {
        /// The file to be delivered.
        path: String,
        /// The part of its path.
        part: String,
        /// What is there.
        what: &'static str,
    },
    /// Something else has its name, and nothing is replaced unless that is asked for.
    #[error(
        "{path}: another file of this name is there already: {why}; move it away, or deliver elsewhere"
    )]
    Exists {
        /// The file.
        path: String,
        /// In what they differ.
        why: String,
    },
    /// Another process is delivering the same file.
    #[error("{path}: another process is delivering it (it holds {part})")]
    Busy {
        /// The file.
        path: String,
        /// The name under which it is being written.
        part: String,
    },
    /// A bucket cannot be used: it cannot be reached, or refuses what was asked of it.
    #[error("{place}: {why}")]
    Unavailable {
        /// The bucket.
        place: String,
        /// Why.
        why: String,
    },
    /// More than the file's length was written.
    #[error("{path}: bytes up to {end} came, its length is {bytes}")]
    Beyond {
        /// The file.
        path: String,
        /// Where the bytes that came end.
        end: u64,
        /// The length expected.
        bytes: u64,
    },
    /// Less than the file's length was written.
    #[error("{path}: the bytes {from} to {to} never came, its length is {bytes}")]
    Short {
        /// The file.
        path: String,
        /// The first byte that is missing.
        from: u64,
        /// The first byte behind it that is there again, or the length.
        to: u64,
        /// The length expected.
        bytes: u64,
    },
    /// The contents are not what they should be.
    #[error("{path}: checksum {found}, expected {expected}; the file was not delivered")]
    Mismatch {
        /// The file.
        path: String,
        /// What was known.
        expected: Sum,
        /// What was computed.
        found: Sum,
    },
}

impl DeliverError {
    /// Whether the destination takes no file for now: it is full, or a bucket that cannot be used. Once that is put
    /// right, the same can be tried again.
    pub fn is_of_destination(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        match self {
            DeliverError::Io { source, .. } => {
                matches!(source.kind(), StorageFull | QuotaExceeded)
            }
            DeliverError::Unavailable { .. } => true,
            _ => false,
        }
    }

    /// Whether the contents are not those that were expected, wherever they came from.
    pub fn is_of_contents(&self) -> bool {
        use DeliverError::{Beyond, Mismatch, Short};
        matches!(self, Mismatch { .. } | Short { .. } | Beyond { .. })
    }

    fn io(path: &[u8], doing: &'static str, source: impl Into<io::Error>) -> DeliverError {
        DeliverError::Io {
            path: shown(path),
            doing,
            source: source.into(),
        }
    }
}
