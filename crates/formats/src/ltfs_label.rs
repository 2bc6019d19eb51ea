//! The label of an LTFS volume (`ltfslabel`): block size, volume UUID and which letter is which partition.

use std::io::BufRead;
use std::ops::RangeInclusive;

use crate::format::{Content, Format};
use crate::xml::{Tag, XmlCursor};
use crate::xml_error::XmlError;

/// See [`crate::detect::FORMATS`].
pub const FORMAT: Format = Format {
    name: "ltfs-label",
    title: "an LTFS label",
    endings: &[],
    recognise: |head| {
        head.has_element("<ltfslabel")
            .then_some("it has the element <ltfslabel>")
    },
    content: Content::Other,
};

/// From the format's own minimum to the longest block that READ(6) can ask for. With 0 every count of
/// blocks would be infinite, and buffers are made as long as the label says.
const BLOCK_BYTES: RangeInclusive<u64> = 4096..=0xff_ffff;

/// What the label of an LTFS volume says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LtfsLabel {
    /// The format version: `2.4.0`.
    pub version: String,
    /// The program that formatted the volume.
    pub creator: String,
    /// When it was formatted, as written (RFC 3339).
    pub format_time: String,
    /// The volume's UUID, in lower case.
    pub volume_uuid: String,
    /// The letter of the partition this label was read from.
    pub partition: char,
    /// The letter of the index partition.
    pub index_partition: char,
    /// The letter of the data partition.
    pub data_partition: char,
    /// The block size in bytes.
    pub block_size: u64,
    /// Whether the drive compresses.
    pub compression: bool,
}

/// Reads an LTFS label.
///
/// # Errors
/// When it is not an `ltfslabel`, lacks an element we need, or is cut off; with the line.
pub fn read_ltfs_label(input: impl BufRead) -> Result<LtfsLabel, XmlError> {
    let mut xml = XmlCursor::open(input, Tag::LtfsLabel)?;
    let version = xml.version().unwrap_or_default().to_string();
    let (mut creator, mut format_time, mut volume_uuid) = (String::new(), String::new(), None);
    let (mut partition, mut index, mut data) = (None, None, None);
    let (mut block_size, mut compression) = (None, false);
    while let Some(tag) = xml.child()? {
        match tag {
            Tag::Creator => creator = xml.text()?.to_string(),
            Tag::FormatTime => format_time = xml.text()?.to_string(),
            Tag::VolumeUuid => volume_uuid = Some(xml.text()?.trim().to_ascii_lowercase()),
            Tag::Location => {
                while let Some(tag) = xml.child()? {
                    match tag {
                        Tag::Partition => partition = Some(xml.partition_letter(tag)?),
                        _ => xml.skip()?,
                    }
                }
            }
            Tag::Partitions => {
                while let Some(tag) = xml.child()? {
                    match tag {
                        Tag::Index => index = Some(xml.partition_letter(tag)?),
                        Tag::Data => data = Some(xml.partition_letter(tag)?),
                        _ => xml.skip()?,
                    }
                }
            }
            Tag::BlockSize => {
                let bytes = xml.number(tag)?;
                if !BLOCK_BYTES.contains(&bytes) {
                    return Err(xml.bad_value(tag, "4096 to 16777215 (bytes)"));
                }
                block_size = Some(bytes);
            }
            Tag::Compression => compression = xml.boolean(tag)?,
            _ => xml.skip()?,
        }
    }
    let line = xml.line();
    xml.finish()?;
    let missing = |missing| XmlError::Missing {
        line,
        element: "ltfslabel",
        missing,
    };
    Ok(LtfsLabel {
        version,
        creator,
        format_time,
        volume_uuid: volume_uuid.ok_or_else(|| missing("volumeuuid"))?,
        partition: partition.ok_or_else(|| missing("location"))?,
        index_partition: index.ok_or_else(|| missing("partitions"))?,
        data_partition: data.ok_or_else(|| missing("partitions"))?,
        block_size: block_size.ok_or_else(|| missing("blocksize"))?,
        compression,
    })
}
