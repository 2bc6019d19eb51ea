//! What MODE SELECT can change of a drive.

use crate::kind::DriveKind;

/// What MODE SELECT can change.
#[derive(Clone, Debug)]
pub(super) struct Mode {
    /// Length of blocks in fixed mode; 0 when there is none.
    pub block_length: u32,
    /// Data is compressed.
    pub compresses: bool,
    /// What the next FORMAT MEDIUM will make; nothing until MODE SELECT has said so.
    pub partitions: Option<PartitionPlan>,
}

/// The partitions of mode page 11h.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PartitionPlan {
    /// The drive's own choice for so many (FDP, SDP).
    DriveChooses(u8),
    /// Bytes of each; the one that says FFFFh gets the rest (IDP).
    Sizes(Vec<Option<u64>>),
}

impl Mode {
    /// As after power on.
    pub fn new(kind: &DriveKind) -> Mode {
        Mode {
            block_length: 0,
            compresses: kind.compression.is_some(),
            partitions: None,
        }
    }
}
