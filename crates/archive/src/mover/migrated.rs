//! What migrations did.

use super::job::Job;
use crate::catalogue::FileId;
use crate::placement::Learned;

/// What a migration did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Migrated {
    /// Files that now have all their copies.
    pub files: u64,
    /// Copies of files that came to their end on tape: a file may want several.
    pub copies: u64,
    /// Bytes recorded, headers among them.
    pub bytes: u64,
    /// Segments that were closed.
    pub segments: u64,
    /// Cartridges that were brought into drives for it.
    pub mounts: u64,
    /// What was compressed before it was written.
    pub compressed: Compressed,
    /// What the recalls so far taught of which files to put together, where that was asked.
    pub learned: Option<Learned>,
    /// Files that stay in the cache because they cannot be written, and why.
    pub refused: Vec<(FileId, String)>,
    /// Volumes that take no more, and cartridges that are not blank though we know nothing of them,
    /// and why.
    pub volumes_lost: Vec<(String, String)>,
}

impl Migrated {
    /// Adds what another migration did.
    pub(super) fn add(&mut self, other: Migrated) {
        self.files += other.files;
        self.copies += other.copies;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.segments += other.segments;
        self.mounts += other.mounts;
        self.compressed.copies += other.compressed.copies;
        self.compressed.file_bytes += other.compressed.file_bytes;
        self.compressed.frame_bytes += other.compressed.frame_bytes;
        self.compressed.no_room += other.compressed.no_room;
        self.learned = other.learned.or(self.learned);
        self.refused.extend(other.refused);
        self.volumes_lost.extend(other.volumes_lost);
    }
}

/// Copies that were written as zstd frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compressed {
    /// How many.
    pub copies: u64,
    /// Bytes of their files.
    pub file_bytes: u64,
    /// Bytes of their frames.
    pub frame_bytes: u64,
    /// Copies that were written as they are because the cache had no room for their frames.
    pub no_room: u64,
}

impl Compressed {
    /// Counts a copy that was written.
    pub(super) fn count(&mut self, job: &Job) {
        if let Some(squeezed) = &job.frame {
            self.copies += 1;
            self.file_bytes += job.record.bytes;
            self.frame_bytes += squeezed.frame.bytes;
        }
    }
}
