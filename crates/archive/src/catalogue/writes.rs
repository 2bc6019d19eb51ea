//! Writes: begun before the tape moves, committed after the drive has flushed.

use super::Result;
use super::ids::{FileId, VolumeId, WriteId};
use crate::record::{Segment, VolumeState};

/// A write that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenWrite {
    /// The write.
    pub id: WriteId,
    /// On which volume.
    pub volume: VolumeId,
    /// The block where it begins: the volume's `next_block`.
    pub first_block: u64,
    /// When it was begun.
    pub begun_ns: i64,
    /// The copies that are written: file and number.
    pub copies: Vec<(FileId, u32)>,
}

/// A segment of a copy that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The file.
    pub file: FileId,
    /// The number of the copy.
    pub number: u32,
    /// Where it was written.
    pub segment: Segment,
    /// Length of the zstd frame that the copy is; none where it is the contents as they are. In a
    /// frame the segment's bytes and offset are the frame's.
    pub zstd_bytes: Option<u64>,
}

/// What a write has put on tape, and the drive has flushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The segments, those of a copy in file order.
    pub parts: Vec<Part>,
    /// The first block behind them, and behind the filemark that closes them.
    pub next_block: u64,
    /// Bytes recorded, filemarks not counted.
    pub bytes: u64,
    /// What may still be done with the volume.
    pub state: VolumeState,
}

/// A copy that a file lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its number.
    pub number: u32,
    /// How much of it is on tape: it goes on there, on another volume.
    pub from: u64,
    /// Length of the zstd frame whose part is on tape: only the same frame can go on. Who cannot make
    /// it again, drops the part.
    pub zstd_bytes: Option<u64>,
}

/// A file in the cache that lacks copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The file.
    pub file: FileId,
    /// Its path.
    pub path: Vec<u8>,
    /// Its length.
    pub bytes: u64,
    /// When it was stored.
    pub stored_ns: i64,
    /// When its contents were last changed before that.
    pub modified_ns: i64,
    /// Volumes with some of its copies other than the first that it lacks, lost ones among them:
    /// that one belongs elsewhere.
    pub elsewhere: Vec<VolumeId>,
    /// The copies that it lacks and nobody is writing.
    pub missing: Vec<Missing>,
}

/// What is being written.
pub trait Writes: Send + Sync {
    /// Begins to write copies on a volume of ours.
    ///
    /// A number that a file does not have is a new copy; one that is partly on tape, and that nobody
    /// is writing, goes on. Refused: a volume that is full or suspect or has a write open, a number
    /// that is whole or lost, and a file that has another copy on this volume.
    fn begin_write(
        &self,
        volume: VolumeId,
        copies: &[(FileId, u32)],
        at_ns: i64,
    ) -> Result<OpenWrite>;

    /// Commits what was written; returns the files that now have as many copies as were wanted.
    ///
    /// A copy all of whose bytes are on tape is whole. One with a part waits for its next volume.
    /// One with nothing yet is as if it had not been begun. Requests to store files that are
    /// now complete are delivered by the same transaction.
    fn commit_write(&self, write: WriteId, written: &Written, at_ns: i64) -> Result<Vec<FileId>>;

    /// Gives a write up: it failed, or its process was killed.
    fn abandon_write(&self, write: WriteId) -> Result<()>;

    /// The writes that are open; at start, those of a process that was killed.
    fn open_writes(&self) -> Result<Vec<OpenWrite>>;

    /// Gives up the part of a copy that is on tape and that nobody is writing.
    fn drop_part(&self, file: FileId, number: u32) -> Result<()>;

    /// Files in the cache that lack copies nobody is writing, which came into it up to a time,
    /// oldest first: at most `limit`.
    fn next_migrations(&self, entered_until_ns: i64, limit: usize) -> Result<Vec<Migration>>;
}
