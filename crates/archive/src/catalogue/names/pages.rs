//! Pages of names, looked into.

use super::sets::BLOCK_NAMES;
use crate::catalogue::{CatalogueError, FileId, Result};
use memchr::memmem::Finder;
use std::io;
use zstd::bulk::Decompressor;

/// A page as it is kept, and the blocks of it that are looked into.
pub(in crate::catalogue) struct Candidate<'b> {
    pub packed: Vec<u8>,
    pub blocks: &'b [usize],
}

/// The names of these blocks that have the bytes and that `is_wanted` takes, looked for by as many threads as there are
/// processors.
pub(in crate::catalogue) fn look_into(
    literal: &[u8],
    pages: &[Candidate<'_>],
    is_wanted: &(impl Fn(&[u8]) -> bool + Sync),
) -> Result<Vec<(Vec<u8>, FileId)>> {
    /// Pages for which a thread is begun.
    const FEW: usize = 32;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let each = pages.len().div_ceil(threads).max(FEW);
    let look = |pages: &[Candidate<'_>]| {
        let (mut looking, mut found) = (Pages::with(literal)?, Vec::new());
        for page in pages {
            looking.look_into(&page.packed, page.blocks, |file, path| {
                if is_wanted(path) {
                    found.push((path.to_vec(), file));
                }
            })?;
        }
        Ok(found)
    };
    let found: Result<Vec<_>> = std::thread::scope(|scope| {
        let mut portions = pages.chunks(each);
        // The first is for this thread.
        let first = portions.next().unwrap_or_default();
        let threads: Vec<_> = portions
            .map(|pages| scope.spawn(move || look(pages)))
            .collect();
        let mut found = vec![look(first)];
        found.extend(threads.into_iter().map(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        }));
        found.into_iter().collect()
    });
    Ok(found?.concat())
}

/// Pages that are looked into for some bytes.
pub(super) struct Pages<'l> {
    literal: Finder<'l>,
    decompressor: Decompressor<'static>,
}

impl<'l> Pages<'l> {
    pub(super) fn with(literal: &'l [u8]) -> Result<Pages<'l>> {
        Ok(Pages {
            literal: Finder::new(literal),
            decompressor: Decompressor::new().map_err(CatalogueError::NameIndex)?,
        })
    }

    /// Shows the names of some blocks of a page; nothing if the bytes are nowhere on it.
    pub(super) fn look_into(
        &mut self,
        packed: &[u8],
        blocks: &[usize],
        mut each: impl FnMut(FileId, &[u8]),
    ) -> Result<()> {
        let is_no_page = || CatalogueError::NameIndex(io::ErrorKind::InvalidData.into());
        let (bytes, packed) = packed.split_first_chunk().ok_or_else(is_no_page)?;
        let bytes = u32::from_le_bytes(*bytes) as usize;
        let page = self.decompressor.decompress(packed, bytes);
        let page = page.map_err(CatalogueError::NameIndex)?;
        if self.literal.find(&page).is_none() {
            return Ok(());
        }
        let mut left = &page[..];
        let mut at = 0;
        while !left.is_empty() {
            let (file, path) = take_name(&mut left).ok_or_else(is_no_page)?;
            if blocks.contains(&(at / BLOCK_NAMES)) && self.literal.find(path).is_some() {
                each(file, path);
            }
            at += 1;
        }
        Ok(())
    }
}

/// The next name of a page.
fn take_name<'a>(left: &mut &'a [u8]) -> Option<(FileId, &'a [u8])> {
    let (file, rest) = left.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (path, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    *left = rest;
    Some((FileId(i64::from_le_bytes(*file)), path))
}
