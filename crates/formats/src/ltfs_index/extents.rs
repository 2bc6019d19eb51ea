//! The extents of a file: where its bytes lie.

use super::{LtfsExtent, LtfsFile, LtfsIndexError, Parser};
use crate::number::excerpt;
use crate::xml::Tag;
use std::io::BufRead;

/// The most extents of one file; they are held in memory together (40 bytes each).
const MAX_EXTENTS_PER_FILE: usize = 500_000;

impl<R: BufRead, V: FnMut(LtfsFile)> Parser<R, V> {
    /// Puts the extents in file order and checks them against the length.
    pub(super) fn settle_extents(&mut self, file: &mut LtfsFile) -> Result<(), LtfsIndexError> {
        // The format does not promise an order; a reader of the file needs file order.
        file.extents.sort_by_key(|extent| extent.file_offset);
        let mut reached = 0;
        for extent in &file.extents {
            let ends = extent.file_offset.checked_add(extent.byte_count);
            let fits = extent.byte_offset.checked_add(extent.byte_count);
            let (Some(end), Some(_)) = (ends, fits) else {
                return Err(LtfsIndexError::ExtentOverflow {
                    line: self.xml.line(),
                    path: excerpt(&file.path.to_string()),
                });
            };
            if extent.file_offset < reached {
                self.notices
                    .push("extents-overlap", Some(self.xml.line()), || {
                        format!(
                            "extents of \"{}\" overlap in the file",
                            excerpt(&file.path.to_string())
                        )
                    });
            }
            reached = reached.max(end);
            self.index.extent_bytes = self.index.extent_bytes.saturating_add(extent.byte_count);
        }
        if reached > file.length {
            self.notices
                .push("extent-beyond-length", Some(self.xml.line()), || {
                    format!(
                        "extents of \"{}\" reach byte {reached}, its length is {}",
                        excerpt(&file.path.to_string()),
                        file.length
                    )
                });
        }
        Ok(())
    }

    /// Reads the extents of one file.
    pub(super) fn extents(&mut self) -> Result<Box<[LtfsExtent]>, LtfsIndexError> {
        self.extents.clear();
        while let Some(tag) = self.xml.child()? {
            if tag != Tag::Extent {
                self.skip_unknown()?;
                continue;
            }
            if self.extents.len() >= MAX_EXTENTS_PER_FILE {
                return Err(self.too_many("extents in one file", MAX_EXTENTS_PER_FILE));
            }
            // Before sparse files came into the format an extent had no offset: it followed the one before.
            let follows = self
                .extents
                .last()
                .map_or(0, |last| last.file_offset.saturating_add(last.byte_count));
            let extent = self.extent(follows)?;
            self.extents.push(extent);
        }
        Ok(self.extents.as_slice().into())
    }

    fn extent(&mut self, follows: u64) -> Result<LtfsExtent, LtfsIndexError> {
        let (mut file_offset, mut partition) = (None, None);
        let (mut start_block, mut byte_offset, mut byte_count) = (None, None, None);
        while let Some(tag) = self.xml.child()? {
            let slot = match tag {
                Tag::Partition => {
                    self.once(&mut partition.is_some(), tag)?;
                    partition = Some(self.xml.partition_letter(tag)?);
                    continue;
                }
                Tag::FileOffset => &mut file_offset,
                Tag::StartBlock => &mut start_block,
                Tag::ByteOffset => &mut byte_offset,
                Tag::ByteCount => &mut byte_count,
                _ => {
                    self.skip_unknown()?;
                    continue;
                }
            };
            self.once(&mut slot.is_some(), tag)?;
            *slot = Some(self.xml.number(tag)?);
        }
        if file_offset.is_none() {
            self.notices
                .push("file-offset-assumed", Some(self.xml.line()), || {
                    "an extent has no <fileoffset>; taken to follow the one before".to_string()
                });
        }
        Ok(LtfsExtent {
            file_offset: file_offset.unwrap_or(follows),
            partition: partition.ok_or_else(|| self.missing("extent", "partition"))?,
            start_block: start_block.ok_or_else(|| self.missing("extent", "startblock"))?,
            byte_offset: byte_offset.ok_or_else(|| self.missing("extent", "byteoffset"))?,
            byte_count: byte_count.ok_or_else(|| self.missing("extent", "bytecount"))?,
        })
    }
}
