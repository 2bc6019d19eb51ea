//! What the index of names consists of: pages of blocks, and packed sets of these.

use crate::catalogue::{CatalogueError, Result};
use std::io;

/// Names of a block.
pub(super) const BLOCK_NAMES: usize = 32;

/// Blocks of a page, which is compressed as a whole.
pub(super) const PAGE_BLOCKS: usize = 32;

/// Pages of a part, which is the smallest piece of the index.
pub(in crate::catalogue) const PART_PAGES: usize = 256;

/// How hard pages are compressed: names in a row have most of their bytes in common.
const LEVEL: i32 = 3;

/// The number of a set of the index: a gram, or behind all of these a shelf of longer runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::catalogue) struct Set(pub u32);

impl Set {
    /// Grams have the numbers below.
    pub(super) const GRAMS: u32 = 1 << 16;

    /// Shelves have the numbers from here on. Those below are shelves on which a run marked two rows.
    const SHELVES: u32 = Set::GRAMS + 256;

    /// A shelf, by its number.
    pub(super) fn shelf(number: usize) -> Set {
        Set(Set::SHELVES + number as u32)
    }
}

/// Packs some bytes.
pub(super) fn pack(bytes: &[u8]) -> Result<Vec<u8>> {
    zstd::bulk::compress(bytes, LEVEL).map_err(CatalogueError::NameIndex)
}

/// As many bytes as were packed.
pub(super) fn unpack(packed: &[u8], bytes: usize) -> Result<Vec<u8>> {
    let unpacked = zstd::bulk::decompress(packed, bytes).map_err(CatalogueError::NameIndex)?;
    if unpacked.len() == bytes {
        Ok(unpacked)
    } else {
        Err(CatalogueError::NameIndex(io::ErrorKind::InvalidData.into()))
    }
}
