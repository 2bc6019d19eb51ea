//! The words of the archive: volumes, files, copies, segments.

use crate::sums::Sum;
use tapewise_formats::WrapLpos;

/// How the data of a volume is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VolumeFormat {
    /// Ours: see [`crate::volume`].
    Tapewise,
    /// LTFS, known by its index.
    Ltfs,
    /// Tar archives of others between filemarks.
    Tar,
    /// Runs of blocks that a list names.
    Blocks,
}

impl VolumeFormat {
    /// All of them.
    pub const ALL: [VolumeFormat; 4] = [
        VolumeFormat::Tapewise,
        VolumeFormat::Ltfs,
        VolumeFormat::Tar,
        VolumeFormat::Blocks,
    ];

    /// Its name in catalogues and answers.
    pub fn name(self) -> &'static str {
        match self {
            VolumeFormat::Tapewise => "tapewise",
            VolumeFormat::Ltfs => "ltfs",
            VolumeFormat::Tar => "tar",
            VolumeFormat::Blocks => "blocks",
        }
    }
}

/// What may still be done with a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VolumeState {
    /// Nothing but its label, or not even that.
    Empty,
    /// It takes more.
    Filling,
    /// It is only read: full, or not ours to write.
    Full,
    /// Reading or writing it failed; it is not chosen for writing, and read last.
    Suspect,
}

impl VolumeState {
    /// All of them.
    pub const ALL: [VolumeState; 4] = [
        VolumeState::Empty,
        VolumeState::Filling,
        VolumeState::Full,
        VolumeState::Suspect,
    ];

    /// Its name in catalogues and answers.
    pub fn name(self) -> &'static str {
        match self {
            VolumeState::Empty => "empty",
            VolumeState::Filling => "filling",
            VolumeState::Full => "full",
            VolumeState::Suspect => "suspect",
        }
    }
}

/// A cartridge and what is recorded on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Its barcode, or what a person calls it.
    pub label: String,
    /// What its label on tape says it is: never two volumes with one.
    pub uuid: String,
    /// How its data is laid out.
    pub format: VolumeFormat,
    /// What may still be done with it.
    pub state: VolumeState,
    /// Bytes of a block, the last one of a segment may be shorter.
    pub block_bytes: u32,
    /// First block behind everything that is catalogued; what lies beyond was never acknowledged.
    pub next_block: u64,
    /// Bytes recorded so far, filemarks not counted.
    pub written_bytes: u64,
}

/// A file of the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path in the archive, relative, as bytes: names on tapes are not always UTF-8.
    pub path: Vec<u8>,
    /// Its length.
    pub bytes: u64,
    /// Modification time in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Permission bits.
    pub mode: u32,
    /// What its contents sum up to; none where nobody ever said, and then it is delivered unverified.
    pub sums: Vec<Sum>,
}

/// Whose a file is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// Name of the user it belonged to where it came from; empty where nobody said.
    pub user: String,
    /// Name of that user's group; empty where nobody said.
    pub group: String,
    /// Who stored it, on whose account the drives ran.
    pub account: String,
}

/// A run of a file's bytes on a volume, in blocks that follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Partition, 0 to 3.
    pub partition: u8,
    /// The block in which it begins, filemarks counted.
    pub first_block: u64,
    /// The block in which it ends, inclusive.
    pub last_block: u64,
    /// Where its first byte lies in the first block; on a volume of ours behind the tar header.
    pub byte_offset: u64,
    /// Bytes of the file in it.
    pub bytes: u64,
    /// Where it begins in the file.
    pub file_offset: u64,
    /// Where the head was when its first block was written, as the drive told.
    pub start: Option<WrapLpos>,
    /// Where the head was behind its last block.
    pub end: Option<WrapLpos>,
}

impl Segment {
    /// Whether the file goes on with the other one.
    pub fn is_followed_by(&self, other: &Segment) -> bool {
        self.file_offset.checked_add(self.bytes) == Some(other.file_offset)
    }
}
