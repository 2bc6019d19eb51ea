//! Our volumes: a label that explains itself, tar segments between filemarks.
//!
//! ```text
//! block 0                                                             next_block
//! | TAPEWISE-LABEL.txt | mark | tar segment | mark | tar segment | mark | (never acknowledged)
//! ```
//!
//! Every block of a volume has the same length; the last one of a segment is filled up with zeros, as
//! tar does. The label is a tar archive of one text file that says what this is, how it is restored
//! with `mt` and `tar`, and, for programs, format, UUID, barcode and block length. A segment is a pax
//! archive of as many files as make [`SEGMENT_BYTES`], so filemarks, which cost a drive its stride,
//! are rare. What a catalogue needs to be made again stands in the headers: names of any bytes,
//! times to the nanosecond, `TAPEWISE.xxh3` of the contents (see [`Member`]).
//!
//! **When is a file safe?** When the filemark behind its segment is on the tape, written without
//! IMMED, so that everything before it is too. Only then [`VolumeWriter::write_segment`] names it. A
//! segment that failed is written anew from its first block, or elsewhere.
//!
//! **The end of the tape.** Early warning ends the segment: a member that is not whole is cut off, so
//! that the volume ends with an archive that tar likes, and its file goes to the next volume. A file
//! that is to span volumes is cut into [`Part`]s before it is written ([`parts`]).

mod compressed;
mod end;
mod label;
mod member;
mod pack;
mod scan;
mod tar;
mod tar_kind;
mod tar_records;
mod writer;

pub use compressed::{Expander, Frame, compress};
pub use end::IsSafe;
pub use label::{FORMAT, LABEL_NAME, Label, is_block_length, read_label};
pub(crate) use member::RECORD_BYTES;
pub use member::{Member, NoMember, Part, parts};
pub use pack::Entry;
pub use scan::{Scanned, scan};
pub use tar::{Found, Located, Trouble, Wrong, scan_blocks};
pub(crate) use tar::{is_header, printable};
pub use tar_kind::Kind;
pub(crate) use writer::ASK_PLACE_BYTES;
pub use writer::{Blank, Placed, VolumeWriter, Written};

use tapewise_run::RunError;

/// Bytes of a block where nobody says otherwise: what every path to a drive carries with one
/// command, and enough for every LTO drive's full rate.
pub const BLOCK_BYTES: u32 = 256 << 10;

/// Bytes after which a segment is closed where nobody says otherwise: half a minute of an LTO-8
/// drive, so that writing the mark and the drive's buffer costs little.
pub const SEGMENT_BYTES: u64 = 8 << 30;

/// What can go wrong with a volume.
#[derive(Debug, thiserror::Error)]
pub enum VolumeError {
    /// The drive, its log, or whoever takes what is read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A cartridge that is to be labelled is not blank.
    #[error(
        "the cartridge is not blank: {what}. Nothing was written; labelling it would destroy what \
         it holds"
    )]
    NotBlank {
        /// What is on it.
        what: String,
    },
    /// A cartridge that is to be labelled can be written only once.
    #[error(
        "the cartridge is WORM: what is written on it can never be written over, so tapewise makes no volume of it. \
         Nothing was written"
    )]
    WriteOnce,
    /// The cartridge does not begin with a label of ours.
    #[error("the cartridge has no tapewise label: {why}")]
    NoLabel {
        /// What stands there instead.
        why: String,
    },
    /// The drive cannot read the label, so nobody knows which cartridge it is.
    #[error("the label cannot be read: {0}")]
    UnreadableLabel(#[source] RunError),
    /// Another cartridge than the expected one.
    #[error(
        "the cartridge is volume {found} ({found_barcode}), not volume {expected}; nothing was \
         written"
    )]
    OtherVolume {
        /// The UUID that was expected.
        expected: String,
        /// The UUID on the label.
        found: String,
        /// The barcode on the label.
        found_barcode: String,
    },
    /// The cartridge of an LTFS volume does not begin as one.
    #[error("the cartridge is not the LTFS volume of the catalogue: {why}; nothing was read")]
    NotLtfs {
        /// What stands there instead.
        why: String,
    },
    /// An LTFS volume whose places in the catalogue were computed for another layout than it has.
    #[error("the LTFS volume is not laid out as the catalogue has it: {why}; nothing was read")]
    OtherLayout {
        /// The difference.
        why: String,
    },
    /// The catalogue and the tape disagree on where the volume ends.
    #[error(
        "block {next_block} should follow a filemark, as the catalogue has it, but {found}; \
         nothing was written"
    )]
    NotAtEnd {
        /// Where the next segment was to begin.
        next_block: u64,
        /// What the tape says.
        found: String,
    },
    /// After the end that the catalogue knows lies more than an interrupted write of ours leaves.
    #[error(
        "the tape holds more than the catalogue knows: {found}. The catalogue has the volume end before block \
         {next_block}, so it is older than the tape; nothing was written"
    )]
    Ahead {
        /// Where the next segment was to begin.
        next_block: u64,
        /// What lies there.
        found: String,
    },
    /// The drive is not where it wrote last: somebody else moved the tape.
    #[error(
        "the drive is at block {block} of partition {partition}, and should be at block {expected}: another program \
         or host has moved the tape. Nothing of this segment counts, and what was written may lie elsewhere on the tape"
    )]
    Moved {
        /// Where it should be, in partition 0.
        expected: u64,
        /// The partition in which it is.
        partition: u8,
        /// The block before which it is.
        block: u64,
    },
    /// A block length that no volume of ours can have.
    #[error(
        "blocks of {bytes} bytes: a volume's blocks are a multiple of 512 bytes, from 8 KiB to 8 MiB"
    )]
    BlockLength {
        /// The length that was asked for.
        bytes: u32,
    },
    /// A segment could not be written. Nothing of it was acknowledged.
    #[error("the segment from block {first_block} was abandoned, nothing of it counts: {source}")]
    Abandoned {
        /// Its first block.
        first_block: u64,
        /// Why.
        source: RunError,
    },
    /// A segment could not be brought to an end.
    #[error(
        "the segment from block {first_block} was abandoned, nothing of it counts: block {block}, \
         in which its last whole file ends, cannot be read back as it was written"
    )]
    NotReadBack {
        /// Its first block.
        first_block: u64,
        /// The block.
        block: u64,
    },
    /// Blocks are made on a thread of their own, and the system starts no more threads.
    #[error(
        "no thread can be started that makes the blocks ({0}); nothing was written. The machine has too many          processes, or too little memory: try again when others have ended"
    )]
    NoThread(#[source] std::io::Error),
}
