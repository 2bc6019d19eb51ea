//! What every reader of requests returns.

use crate::deadline::Deadline;
use crate::notice::Notice;

/// One thing the user wants back: a file or a range of blocks.
///
/// A request may have no extents: an empty file, or a source that gives only a sort key. Callers must handle both.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// The name the user knows it by; it is what an ordered list prints. Not always unique.
    pub id: String,
    /// The cartridge: a barcode, a volume serial number or an LTFS volume UUID, as the source gives it.
    pub volume: Option<String>,
    /// The path of the file, as the source gives it.
    pub path: Option<String>,
    /// Where it lies on the tape, in file order.
    pub extents: Vec<Extent>,
    /// Higher is sooner; 0 when the source says nothing.
    pub priority: i64,
    /// When it has to be done.
    pub deadline: Option<Deadline>,
    /// A number that grows along the tape within one volume where the source gives no logical block.
    ///
    /// It sorts, it does not locate: no time can be predicted from it.
    pub sort_key: Option<u64>,
    /// Columns we do not know, as (name, text), in the order of the source.
    pub extra: Vec<(String, String)>,
}

impl Request {
    /// The file by which a copy script finds it below a directory: its path, unless that begins at another root, or else
    /// its id.
    pub fn copied_as(&self) -> &str {
        let below = self.path.as_deref().filter(|path| !path.starts_with('/'));
        below.unwrap_or(&self.id)
    }
}

/// A run of blocks of one request, in file order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extent {
    /// The partition number of the tape, 0 to 3; `None` when the source does not say.
    pub partition: Option<u8>,
    /// The logical object identifier of the first block, as READ POSITION counts it, filemarks included.
    pub start_block: u64,
    /// The number of logical objects from the first to the last, at least 1.
    pub block_count: u64,
    /// Where the data begins in the first block, in bytes.
    pub byte_offset: u64,
    /// The length of the data in bytes; `None` when the source does not say.
    pub byte_count: Option<u64>,
    /// Where this extent begins in the file, in bytes.
    pub file_offset: u64,
    /// The physical position of the first block, when it was recorded.
    pub start: Option<WrapLpos>,
    /// The physical position of the last block, when it was recorded.
    pub end: Option<WrapLpos>,
}

impl Extent {
    /// The logical object identifier of the last block.
    pub fn end_block(&self) -> u64 {
        // Readers refuse extents that do not fit; a hand-made one saturates instead of wrapping round.
        self.start_block
            .saturating_add(self.block_count.saturating_sub(1))
    }
}

/// A physical position on the tape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrapLpos {
    /// The wrap, from 0.
    pub wrap: u16,
    /// The longitudinal position, in the drive's own unit.
    pub lpos: u32,
}

/// What a reader of requests returns: the requests in the order of the source, and what it ignored or assumed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Requests {
    /// In the order of the source.
    pub requests: Vec<Request>,
    /// What was ignored, assumed or odd.
    pub notices: Vec<Notice>,
}

/// The number of blocks that hold `byte_count` bytes from `byte_offset` on; 0 when there are no bytes.
///
/// `None` when `block_size` is 0 or the sum does not fit in 64 bits.
pub(crate) fn blocks_for(byte_offset: u64, byte_count: u64, block_size: u64) -> Option<u64> {
    if block_size == 0 {
        return None;
    }
    if byte_count == 0 {
        return Some(0);
    }
    Some(byte_offset.checked_add(byte_count)?.div_ceil(block_size))
}

/// Whether a run of blocks ends within 64 bits.
pub(crate) fn run_fits(start_block: u64, block_count: u64) -> bool {
    block_count == 0 || start_block.checked_add(block_count - 1).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_rounded_up_from_the_offset() {
        assert_eq!(blocks_for(0, 1, 512), Some(1));
        assert_eq!(blocks_for(0, 512, 512), Some(1));
        assert_eq!(blocks_for(1, 512, 512), Some(2));
        assert_eq!(blocks_for(511, 1, 512), Some(1));
        assert_eq!(blocks_for(5, 0, 512), Some(0));
        assert_eq!(blocks_for(0, 1, 0), None);
        assert_eq!(blocks_for(u64::MAX, 1, 512), None);
    }

    #[test]
    fn the_last_block_is_inclusive_and_never_wraps_round() {
        let extent = Extent {
            start_block: 7,
            block_count: 16,
            ..Extent::default()
        };
        assert_eq!(extent.end_block(), 22);
        assert!(run_fits(u64::MAX, 1));
        assert!(!run_fits(u64::MAX, 2));
    }
}
