//! Positions of files from the extended attributes that a mounted LTFS shows.
//!
//! The reading of attributes is the caller's; these are pure functions from their values. LTFS shows only the first
//! extent of a file, so a file in several pieces looks like one run of blocks here; the index shows them all.

use crate::ltfs_extent::LtfsLayout;
use crate::notice::Notice;
use crate::number::{NumberFault, excerpt, excerpt_bytes, parse_u64};
use crate::request::{Extent, Request, blocks_for, run_fits};

/// The attributes to ask for, without the `user.` that Linux puts in front and macOS does not.
pub const LTFS_XATTR_NAMES: [&str; 3] = ["ltfs.startblock", "ltfs.partition", "ltfs.volumeUUID"];

/// Why the attributes of a file give no position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LtfsXattrError {
    /// The attribute is not there: not an LTFS mount, or one that shows no positions (ltfs issue 334).
    #[error(
        "\"{path}\" has no attribute {name}: it is not on an LTFS mount, or this LTFS does not show positions; use the index of the volume instead"
    )]
    Missing {
        /// The file, shortened.
        path: String,
        /// The attribute.
        name: &'static str,
    },
    /// The start block is no number.
    #[error("\"{path}\": attribute ltfs.startblock is \"{text}\", expected {fault}")]
    BadStartBlock {
        /// The file, shortened.
        path: String,
        /// The value, shortened.
        text: String,
        /// What was expected.
        fault: NumberFault,
    },
    /// The partition is no letter of the volume.
    #[error("\"{path}\": attribute ltfs.partition is \"{text}\", expected {index} or {data}")]
    BadPartition {
        /// The file, shortened.
        path: String,
        /// The value, shortened.
        text: String,
        /// The letter of the index partition.
        index: char,
        /// The letter of the data partition.
        data: char,
    },
    /// The file ends beyond 64 bits.
    #[error("\"{path}\": {length} bytes from block {start_block} end beyond 2^64")]
    Overflow {
        /// The file, shortened.
        path: String,
        /// The first block.
        start_block: u64,
        /// The length in bytes.
        length: u64,
    },
}

/// Makes a request from a file's attributes, as (name, value) pairs with or without `user.` in front.
///
/// An empty file has no position and gets no extent. The block count is derived from the length of the file.
///
/// # Errors
/// When an attribute is missing (never a silent fallback) or is not what LTFS writes.
pub fn request_from_xattrs(
    path: &str,
    length: u64,
    attributes: &[(&str, &[u8])],
    layout: &LtfsLayout,
) -> Result<Request, LtfsXattrError> {
    let volume = attribute(path, attributes, LTFS_XATTR_NAMES[2])?;
    let mut request = Request {
        id: path.to_string(),
        volume: Some(volume.to_ascii_lowercase()),
        path: Some(path.to_string()),
        ..Request::default()
    };
    if length == 0 {
        return Ok(request);
    }
    let text = attribute(path, attributes, LTFS_XATTR_NAMES[0])?;
    let start_block = parse_u64(&text).map_err(|fault| LtfsXattrError::BadStartBlock {
        path: excerpt(path),
        text: excerpt(&text),
        fault,
    })?;
    let letter = attribute(path, attributes, LTFS_XATTR_NAMES[1])?;
    let mut letters = letter.chars();
    let partition = match (letters.next(), letters.next()) {
        (Some(letter), None) => layout.partition_number(letter),
        _ => None,
    };
    let partition = partition.ok_or_else(|| LtfsXattrError::BadPartition {
        path: excerpt(path),
        text: excerpt(&letter),
        index: layout.index_partition,
        data: layout.data_partition,
    })?;
    let block_count = blocks_for(0, length, layout.block_size)
        .filter(|&count| run_fits(start_block, count))
        .ok_or_else(|| LtfsXattrError::Overflow {
            path: excerpt(path),
            start_block,
            length,
        })?;
    request.extents.push(Extent {
        partition: Some(partition),
        start_block,
        block_count,
        byte_count: Some(length),
        ..Extent::default()
    });
    Ok(request)
}

/// What to tell once when requests were made from attributes.
pub fn xattr_notice() -> Notice {
    Notice {
        code: "ltfs-first-extent-only".to_string(),
        line: None,
        text: "LTFS attributes show only the first extent of a file; block counts are derived from the file sizes, \
               and files in several pieces lie elsewhere too; the index of the volume is exact"
            .to_string(),
    }
}

fn attribute(
    path: &str,
    attributes: &[(&str, &[u8])],
    wanted: &'static str,
) -> Result<String, LtfsXattrError> {
    let value = attributes
        .iter()
        .find(|(name, _)| name.strip_prefix("user.").unwrap_or(name) == wanted)
        .map(|(_, value)| *value)
        .unwrap_or_default();
    // Some versions count the closing zero byte of the C string into the value.
    let value = value.strip_suffix(b"\0").unwrap_or(value).trim_ascii();
    if value.is_empty() {
        return Err(LtfsXattrError::Missing {
            path: excerpt(path),
            name: wanted,
        });
    }
    Ok(match std::str::from_utf8(value) {
        Ok(text) => text.to_string(),
        Err(_) => excerpt_bytes(value),
    })
}
