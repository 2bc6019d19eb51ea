//! From files of an LTFS index to requests: partition letters to numbers, bytes to blocks.

use crate::ltfs_index::LtfsFile;
use crate::ltfs_label::LtfsLabel;
use crate::notice::{Notice, Notices};
use crate::number::excerpt;
use crate::request::{Extent, Request, blocks_for, run_fits};

/// The block size `mkltfs` uses unless told otherwise, in bytes.
pub const LTFS_DEFAULT_BLOCK_SIZE: u64 = 524_288;

/// How the letters and bytes of an index map to partitions and blocks; it stands in the label, not in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LtfsLayout {
    /// The block size in bytes.
    pub block_size: u64,
    /// The letter of the index partition, which `mkltfs` puts on partition 0 of the tape.
    pub index_partition: char,
    /// The letter of the data partition, which `mkltfs` puts on partition 1.
    pub data_partition: char,
    notice: Option<Notice>,
}

impl LtfsLayout {
    /// The layout that the label of the volume gives.
    pub fn from_label(label: &LtfsLabel) -> Self {
        Self {
            block_size: label.block_size,
            index_partition: label.index_partition,
            data_partition: label.data_partition,
            notice: None,
        }
    }

    /// The layout of `mkltfs` when no label is at hand; the requests come with a notice that says so.
    pub fn assumed() -> Self {
        Self {
            block_size: LTFS_DEFAULT_BLOCK_SIZE,
            index_partition: 'a',
            data_partition: 'b',
            notice: Some(Notice {
                code: "ltfs-layout-assumed".to_string(),
                line: None,
                text: format!(
                    "no LTFS label was given: assumed blocks of {LTFS_DEFAULT_BLOCK_SIZE} bytes, \
                     partition a = 0 and b = 1; give the label or the block size if they differ"
                ),
            }),
        }
    }

    /// The same layout with another block size, in bytes.
    pub fn with_block_size(mut self, block_size: u64) -> Self {
        self.block_size = block_size;
        if let Some(notice) = &mut self.notice {
            notice.text = "no LTFS label was given: assumed partition a = 0 and b = 1".to_string();
        }
        self
    }

    /// The partition number of a letter.
    pub fn partition_number(&self, letter: char) -> Option<u8> {
        if letter == self.index_partition {
            Some(0)
        } else if letter == self.data_partition {
            Some(1)
        } else {
            None
        }
    }
}

/// Why a file of an index has no place on the tape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LtfsExtentError {
    /// A letter that the label does not have.
    #[error(
        "\"{path}\": partition \"{letter}\" is neither the index partition ({index}) nor the data partition ({data}); is this the label of the same volume?"
    )]
    UnknownPartition {
        /// The file, shortened.
        path: String,
        /// The letter of the extent.
        letter: char,
        /// The letter of the index partition.
        index: char,
        /// The letter of the data partition.
        data: char,
    },
    /// A run of blocks that ends beyond 64 bits.
    #[error(
        "\"{path}\": {byte_count} bytes from block {start_block} end beyond 2^64; the index is corrupt"
    )]
    Overflow {
        /// The file, shortened.
        path: String,
        /// The first block.
        start_block: u64,
        /// The length in bytes.
        byte_count: u64,
    },
    /// A block size of zero.
    #[error(
        "the block size is 0; give the one of the volume (mkltfs uses {LTFS_DEFAULT_BLOCK_SIZE})"
    )]
    ZeroBlockSize,
}

/// Turns files of an LTFS index into requests, in the same order.
///
/// The id and the path are the path in the volume; `volume` is what the caller calls the cartridge, for example
/// the volume UUID of the index. The blocks of an extent are `start_block` to
/// `start_block + ceil((byte_offset + byte_count) / block_size) - 1`. Holes of sparse files, empty files and
/// symbolic links have no extents. Extents of zero bytes are dropped with a notice.
///
/// # Errors
/// When a partition letter is unknown or an extent does not fit in 64 bits.
pub fn ltfs_requests<'a>(
    files: impl IntoIterator<Item = &'a LtfsFile>,
    layout: &LtfsLayout,
    volume: Option<&str>,
) -> Result<crate::request::Requests, LtfsExtentError> {
    if layout.block_size == 0 {
        return Err(LtfsExtentError::ZeroBlockSize);
    }
    let mut notices = Notices::new();
    let requests = files
        .into_iter()
        .map(|file| {
            Ok(Request {
                id: String::from(&file.path),
                volume: volume.map(str::to_string),
                path: Some(String::from(&file.path)),
                extents: extents(file, layout, &mut notices)?,
                ..Request::default()
            })
        })
        .collect::<Result<_, _>>()?;
    let mut notices = notices.finish();
    notices.splice(0..0, layout.notice.clone());
    Ok(crate::request::Requests { requests, notices })
}

fn extents(
    file: &LtfsFile,
    layout: &LtfsLayout,
    notices: &mut Notices,
) -> Result<Vec<Extent>, LtfsExtentError> {
    let mut extents = Vec::with_capacity(file.extents.len());
    for extent in &file.extents {
        if extent.byte_count == 0 {
            notices.push("empty-extent", None, || {
                format!(
                    "\"{}\": an extent of zero bytes was dropped",
                    excerpt(&file.path.to_string())
                )
            });
            continue;
        }
        let partition = layout.partition_number(extent.partition).ok_or_else(|| {
            LtfsExtentError::UnknownPartition {
                path: excerpt(&file.path.to_string()),
                letter: extent.partition,
                index: layout.index_partition,
                data: layout.data_partition,
            }
        })?;
        let block_count = blocks_for(extent.byte_offset, extent.byte_count, layout.block_size)
            .filter(|&count| run_fits(extent.start_block, count))
            .ok_or_else(|| LtfsExtentError::Overflow {
                path: excerpt(&file.path.to_string()),
                start_block: extent.start_block,
                byte_count: extent.byte_count,
            })?;
        extents.push(Extent {
            partition: Some(partition),
            start_block: extent.start_block,
            block_count,
            byte_offset: extent.byte_offset,
            byte_count: Some(extent.byte_count),
            file_offset: extent.file_offset,
            start: None,
            end: None,
        });
    }
    Ok(extents)
}
