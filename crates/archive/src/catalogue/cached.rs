//! What the disk cache holds, and what it may drop.

use super::ids::{CacheKey, FileId, RequestId};
use super::{NewStore, Result};
use crate::sums::Sum;

/// A file in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cached {
    /// Its name there.
    pub key: CacheKey,
    /// The file.
    pub file: FileId,
    /// Its length.
    pub bytes: u64,
    /// Whether it lacks copies on tape, so that the cache must keep it.
    pub dirty: bool,
    /// When it came in.
    pub entered_ns: i64,
    /// When it was last used, as far as was noted.
    pub used_ns: i64,
}

/// A file that the cache may unlink: nothing refers to it any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// Its name there.
    pub key: CacheKey,
    /// The file.
    pub file: FileId,
    /// Its length.
    pub bytes: u64,
}

/// What keeps a cache full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    /// Files in it.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that lack copies on tape.
    pub dirty_files: u64,
    /// Their bytes.
    pub dirty_bytes: u64,
    /// Files that are pinned and do not lack copies.
    pub pinned_files: u64,
    /// Their bytes.
    pub pinned_bytes: u64,
}

/// Which catalogue it is, and how far it is: the cache keeps the same beside its files, to find out whether it is
/// the catalogue that they were recorded in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tie {
    /// What no other catalogue has; copies of it have it too.
    pub id: String,
    /// Moves on with every acknowledgement, and never back.
    pub generation: u64,
    /// Named anew whenever the cache is opened: tells copies of one catalogue apart that went on by themselves. Empty
    /// for a cache that was not opened since names are given.
    pub line: String,
}

/// What is known of the disk cache.
pub trait CacheRecords: Send + Sync {
    /// Makes files live that lie in the cache, and enters the requests to store them: all or none.
    ///
    /// When this returns they are acknowledged. The cache keeps each until it has its copies. The same transaction
    /// moves the generation on.
    fn store_cached(
        &self,
        files: &[(CacheKey, NewStore)],
        at_ns: i64,
    ) -> Result<Vec<(FileId, RequestId)>>;

    /// Notes that a file of the archive was brought into the cache; it must have the file's length.
    fn stage_cached(&self, key: CacheKey, file: FileId, bytes: u64, at_ns: i64) -> Result<()>;

    /// The longest path that a file may have, in bytes; none where any length goes.
    fn longest_path(&self) -> Result<Option<usize>>;

    /// Which catalogue this is.
    fn tie(&self) -> Result<Tie>;

    /// Moves the generation on, beyond this one too, and names the line that begins here.
    fn move_on(&self, beyond: u64, line: &str) -> Result<Tie>;

    /// Where in the cache a file lies.
    fn cached(&self, file: FileId) -> Result<Option<Cached>>;

    /// All that lies in the cache, by key.
    fn all_cached(&self) -> Result<Vec<Cached>>;

    /// Keeps a file in the cache for somebody once it is there, until a time or until unpinned; a
    /// second pin of the same holder replaces the first.
    fn pin(&self, file: FileId, holder: &str, until_ns: Option<i64>) -> Result<()>;

    /// Takes a holder's pin away; whether there was one.
    fn unpin(&self, file: FileId, holder: &str) -> Result<bool>;

    /// Takes the longest unused files out of the records until `bytes` are free, and returns them.
    ///
    /// Never one that is pinned, or that lacks copies on tape and is still wanted: that is checked by the
    /// same transaction. First the times of use in `used` are noted. Less than `bytes` may be freed.
    fn evict(&self, bytes: u64, used: &[(FileId, i64)], at_ns: i64) -> Result<Vec<Evicted>>;

    /// Takes the records of files away that are not in the cache any more though nobody evicted them.
    ///
    /// Returns those of which that was the last trace, though they are wanted: no copy is whole on tape. Their records
    /// are kept, for there files were lost.
    fn forget_cached(&self, files: &[FileId]) -> Result<Vec<FileId>>;

    /// What the contents of a file sum up to.
    fn sums_of(&self, file: FileId) -> Result<Vec<Sum>>;

    /// Takes the record of a file away whose place holds something else, even if nothing else is left of it: it can
    /// then be stored again.
    fn drop_cached(&self, file: FileId) -> Result<()>;

    /// What keeps the cache full.
    fn cache_holds(&self, at_ns: i64) -> Result<Holds>;
}
