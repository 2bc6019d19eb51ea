//! What is to be read: requests of one or more extents.

use tapewise_model::{BlockMap, MapError, Position};

/// A run of blocks with the places where it begins and ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedExtent {
    /// First block, counted from the beginning of the partition, filemarks included.
    pub first_block: u64,
    /// Last block, inclusive.
    pub last_block: u64,
    /// Bytes read from the tape.
    pub bytes: u64,
    /// Where the first block begins.
    pub start: Position,
    /// Where the head stands after the last block.
    pub end: Position,
}

impl PlacedExtent {
    /// A run of blocks, placed by a map.
    ///
    /// # Errors
    /// [`MapError`] when the map does not reach that far.
    pub fn on_map(
        map: &BlockMap,
        partition: u8,
        first_block: u64,
        last_block: u64,
        bytes: u64,
    ) -> Result<PlacedExtent, MapError> {
        Ok(PlacedExtent {
            first_block,
            last_block,
            bytes,
            start: map.position(partition, first_block)?,
            end: map.position_after(partition, last_block)?,
        })
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u64 {
        (self.last_block - self.first_block).saturating_add(1)
    }

    /// The partition it lies in.
    pub fn partition(&self) -> u8 {
        self.start.partition
    }
}

/// One thing to read: its extents are read in this order, one after the other.
///
/// A file of several extents is one request, so that whoever copies file by file gets each file
/// whole; its position in the caller's list is its identity.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Segments in file order, at least one.
    pub extents: Vec<PlacedExtent>,
}

impl Request {
    /// A request of a single run of blocks.
    pub fn single(extent: PlacedExtent) -> Request {
        Request {
            extents: vec![extent],
        }
    }
}
