//! Files: what they are, whose, and where their copies lie.

use super::ids::{CacheKey, FileId, RequestId, VolumeId};
use super::{Pattern, Result};
use crate::record::{File, Owner, Segment};
use crate::sums::Sum;
use std::collections::HashSet;

/// How far a file has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileState {
    /// Announced by who stores it; nobody was told that it is safe.
    Arriving,
    /// Stored: somebody relies on it.
    Live,
    /// Deleted or replaced; its copies stay on tape until a repack.
    Retired,
}

impl FileState {
    /// All of them.
    pub const ALL: [FileState; 3] = [FileState::Arriving, FileState::Live, FileState::Retired];

    /// Its name in catalogues and answers.
    pub fn name(self) -> &'static str {
        match self {
            FileState::Arriving => "arriving",
            FileState::Live => "live",
            FileState::Retired => "retired",
        }
    }
}

/// How far a copy has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopyState {
    /// It is being written, or waits for its next volume.
    Writing,
    /// All of it is on tape.
    Whole,
    /// It could not be read.
    Lost,
}

impl CopyState {
    /// All of them.
    pub const ALL: [CopyState; 3] = [CopyState::Writing, CopyState::Whole, CopyState::Lost];

    /// Its name in catalogues and answers.
    pub fn name(self) -> &'static str {
        match self {
            CopyState::Writing => "writing",
            CopyState::Whole => "whole",
            CopyState::Lost => "lost",
        }
    }
}

/// A file that is to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// The file.
    pub file: File,
    /// Whose it is.
    pub owner: Owner,
    /// On how many volumes it is to lie, at least 1.
    pub copies: u32,
    /// Whether a live file of the same path is retired by it, in the same transaction; an error otherwise.
    pub replace: bool,
}

/// Who asks, and how much it matters to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Who asks.
    pub user: String,
    /// What for, as the site divides its drives; empty where nobody said.
    pub activity: String,
    /// Higher is sooner.
    pub priority: i64,
    /// When it has to be done.
    pub deadline_ns: Option<i64>,
}

/// A file and the request to store it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewStore {
    /// The file.
    pub new: NewFile,
    /// Who asks.
    pub terms: Terms,
    /// Where it comes from, so that whoever takes up a killed store finds it again.
    pub source: Option<Vec<u8>>,
}

/// A copy and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Its number, from 1.
    pub number: u32,
    /// How far it has come.
    pub state: CopyState,
    /// When its last segment was committed.
    pub written_ns: Option<i64>,
    /// When it was last read and found right.
    pub verified_ns: Option<i64>,
    /// Length of the zstd frame that it is; none where it is the contents as they are.
    pub zstd_bytes: Option<u64>,
    /// Where its bytes are, in file order.
    pub segments: Vec<(VolumeId, Segment)>,
}

/// All that is known of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The file.
    pub file: File,
    /// Whose it is.
    pub owner: Owner,
    /// How far it has come.
    pub state: FileState,
    /// On how many volumes it is to lie.
    pub copies_wanted: u32,
    /// When it was announced or acknowledged.
    pub created_ns: i64,
    /// Its copies, by number.
    pub copies: Vec<Copy>,
    /// Where in the cache it lies.
    pub cached: Option<CacheKey>,
}

impl Entry {
    /// The number that its next copy gets.
    pub fn next_number(&self) -> u32 {
        let numbers = self.copies.iter().map(|copy| copy.number);
        numbers.max().unwrap_or(0).saturating_add(1)
    }

    /// How many copies are still to be made: so many fewer are whole than are wanted.
    pub fn lacks(&self) -> usize {
        let whole = self
            .copies
            .iter()
            .filter(|copy| copy.state == CopyState::Whole);
        (self.copies_wanted as usize).saturating_sub(whole.count())
    }

    /// Whether nothing has the file but this copy: no other one is whole, and the cache does not have it.
    pub fn is_only_in(&self, number: u32) -> bool {
        let mut others = self.copies.iter().filter(|copy| copy.number != number);
        self.cached.is_none() && others.all(|copy| copy.state != CopyState::Whole)
    }
}

/// A live file that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub file: FileId,
    /// Its path.
    pub path: Vec<u8>,
    /// Its length.
    pub bytes: u64,
    /// Its modification time, nanoseconds since 1970.
    pub modified_ns: i64,
    /// Whether it lies in the cache.
    pub cached: bool,
    /// Labels of the volumes with its whole copies, each copy's in file order.
    pub volumes: Vec<String>,
    /// How many more whole copies it should have on tape.
    pub lacking: u32,
}

/// Where a live file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The file.
    pub file: FileId,
    /// Its path.
    pub path: Vec<u8>,
    /// Its length.
    pub bytes: u64,
    /// Where in the cache it lies.
    pub cached: Option<CacheKey>,
    /// Whether a whole copy is on tape.
    pub is_on_tape: bool,
}

/// What is known of files.
pub trait Files: Send + Sync {
    /// Announces files that go to tape straight from where they are; they are live, and their
    /// requests delivered, when as many copies are whole as are wanted.
    fn announce(&self, files: &[NewStore], at_ns: i64) -> Result<Vec<(FileId, RequestId)>>;

    /// All that is known of a file.
    fn file(&self, id: FileId) -> Result<Entry>;

    /// The live file of a path.
    fn live_file(&self, path: &[u8]) -> Result<Option<FileId>>;

    /// Where the live files of these paths are, in no order.
    fn placed(&self, paths: &[&[u8]]) -> Result<Vec<Placed>>;

    /// Which of these paths are directories: a live file is below.
    fn directories_among(&self, paths: &[&[u8]]) -> Result<HashSet<Vec<u8>>>;

    /// Every file that has or had this path, retired ones among them; the oldest first.
    fn versions(&self, path: &[u8]) -> Result<Vec<FileId>>;

    /// How many live files have fewer whole copies on tape than they are to have.
    fn count_lacking(&self) -> Result<u64>;

    /// Live files whose paths match, in order of their bytes, at most `limit` of those behind `after`.
    fn find(&self, pattern: &Pattern, after: Option<&[u8]>, limit: usize) -> Result<Vec<Found>>;

    /// Adds the next `names` files, at most [`PART_NAMES`](super::PART_NAMES), to the index of names, with which
    /// [`Files::find`] looks into few names for a part of one. False, and nothing is added, if fewer files are newer than
    /// the index: `find` looks at those one by one.
    fn index_names(&self, names: usize) -> Result<bool>;

    /// Takes that index away, so that it can be made anew.
    fn drop_name_index(&self) -> Result<()>;

    /// Marks a file as no longer wanted; a second time is no error.
    fn retire(&self, id: FileId, at_ns: i64) -> Result<()>;

    /// Adds sums to those of a file; one that contradicts is an error.
    fn add_sums(&self, id: FileId, sums: &[Sum]) -> Result<()>;

    /// Notes that a copy was read and found right.
    fn note_verified(&self, id: FileId, number: u32, at_ns: i64) -> Result<()>;

    /// Wants at least this many copies of files. Of one that lies in the cache, those that it lacks are migrated.
    fn want_copies(&self, files: &[FileId], copies: u32, at_ns: i64) -> Result<()>;

    /// Takes a whole or lost copy out of the catalogue; an error where fewer others are whole than wanted.
    fn drop_copy(&self, id: FileId, number: u32) -> Result<()>;

    /// Notes that a lost copy was read and found right: it is whole again. An error if not all of it is on tape.
    fn take_back(&self, id: FileId, number: u32, at_ns: i64) -> Result<()>;

    /// Notes that a copy could not be read. If the file lies in the cache it is migrated again.
    fn mark_lost(&self, id: FileId, number: u32, at_ns: i64) -> Result<()>;
}
