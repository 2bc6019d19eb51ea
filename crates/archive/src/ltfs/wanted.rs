//! What is wanted of a file, in runs of blocks.

use crate::record::Segment;
use std::fmt;
use std::str::FromStr;
use tapewise_formats::ltfs_extent::{LtfsExtentError, LtfsLayout, ltfs_requests};
use tapewise_formats::ltfs_index::LtfsFile;

/// A range of a file's bytes: `OFFSET+LENGTH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByteRange {
    /// The first byte.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
}

/// Why a text is no range of bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no range of bytes: OFFSET+LENGTH, both decimal, LENGTH more than 0")]
pub struct NoRange(String);

impl FromStr for ByteRange {
    type Err = NoRange;

    fn from_str(text: &str) -> Result<ByteRange, NoRange> {
        let wrong = || NoRange(text.chars().take(60).collect());
        let number = |digits: &str| {
            if digits.bytes().all(|digit| digit.is_ascii_digit()) {
                digits.parse::<u64>().ok()
            } else {
                None
            }
        };
        let (offset, bytes) = text.split_once('+').ok_or_else(wrong)?;
        let range = ByteRange {
            offset: number(offset).ok_or_else(wrong)?,
            bytes: number(bytes).filter(|&bytes| bytes > 0).ok_or_else(wrong)?,
        };
        match range.offset.checked_add(range.bytes) {
            Some(_) => Ok(range),
            None => Err(wrong()),
        }
    }
}

impl fmt::Display for ByteRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.offset, self.bytes)
    }
}

/// Why a file of an index cannot be recalled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WantError {
    /// An extent that has no place on the tape.
    #[error(transparent)]
    Extent(#[from] LtfsExtentError),
    /// Two extents claim the same bytes of the file.
    #[error("its extents overlap at byte {offset}: the index is corrupt")]
    Overlap {
        /// The first byte that is claimed twice.
        offset: u64,
    },
    /// An extent that ends behind the file.
    #[error("its extents reach byte {reached}, its length is {length}: the index is corrupt")]
    BeyondLength {
        /// Where the last extent ends.
        reached: u64,
        /// The length of the file.
        length: u64,
    },
    /// A range that ends behind the file.
    #[error("the range {range} ends behind the file, which has {length} bytes")]
    RangeBeyond {
        /// The range.
        range: ByteRange,
        /// The length of the file.
        length: u64,
    },
}

/// The runs of blocks that hold a file, or a range of its bytes, in file order; holes have none.
///
/// `file_offset` counts from the beginning of what is wanted.
///
/// # Errors
/// [`WantError`] where the index contradicts itself, or the range does not lie in the file.
pub fn segments(
    file: &LtfsFile,
    layout: &LtfsLayout,
    range: Option<ByteRange>,
) -> Result<Vec<Segment>, WantError> {
    let length = file.length;
    let whole = ByteRange {
        offset: 0,
        bytes: length,
    };
    let wanted = range.unwrap_or(whole);
    let end = wanted.offset.checked_add(wanted.bytes);
    let Some(wanted_end) = end.filter(|end| *end <= length) else {
        return Err(WantError::RangeBeyond {
            range: wanted,
            length,
        });
    };
    let requests = ltfs_requests([file], layout, None)?.requests;
    let extents = requests.into_iter().flat_map(|request| request.extents);
    let mut segments = Vec::new();
    let mut reached = 0;
    for extent in extents {
        let bytes = extent.byte_count.unwrap_or(0);
        if extent.file_offset < reached {
            let offset = extent.file_offset;
            return Err(WantError::Overlap { offset });
        }
        reached = extent.file_offset.saturating_add(bytes);
        if reached > length {
            return Err(WantError::BeyondLength { reached, length });
        }
        let from = extent.file_offset.max(wanted.offset);
        let to = reached.min(wanted_end);
        if from >= to {
            continue;
        }
        let skipped = extent.byte_offset + (from - extent.file_offset);
        let first_block = extent.start_block + skipped / layout.block_size;
        let byte_offset = skipped % layout.block_size;
        let last_byte = byte_offset + (to - from) - 1;
        segments.push(Segment {
            partition: extent.partition.unwrap_or(0),
            first_block,
            last_block: first_block + last_byte / layout.block_size,
            byte_offset,
            bytes: to - from,
            file_offset: from - wanted.offset,
            start: None,
            end: None,
        });
    }
    Ok(segments)
}
