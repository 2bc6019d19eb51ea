//! Pages of names, looked into.

use super::sets::{BLOCK_NAMES, PAGE_BLOCKS};
use crate::catalogue::{CatalogueError, FileId, Result};
use memchr::memmem::Finder;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::{io, mem};
use zstd::bulk::Decompressor;

/// A page as it is kept, and a bit for each block of it that is looked into.
pub(in crate::catalogue) struct Candidate {
    pub packed: Vec<u8>,
    pub blocks: u32,
}

/// Looks into pages for some bytes, by as many threads as there are processors, while more pages are fetched.
pub(in crate::catalogue) struct Looking<'s> {
    threads: SyncSender<Vec<Candidate>>,
    portion: Vec<Candidate>,
    found: &'s AtomicUsize,
}

impl Looking<'_> {
    /// Pages that a thread takes at once.
    const PORTION: usize = 16;

    /// Takes the next page.
    pub(in crate::catalogue) fn take(&mut self, page: Candidate) {
        self.portion.push(page);
        if self.portion.len() == Looking::PORTION {
            self.hand_over();
        }
    }

    /// How many names have been found so far.
    pub(in crate::catalogue) fn found(&self) -> usize {
        self.found.load(Ordering::Relaxed)
    }

    fn hand_over(&mut self) {
        // If no thread takes them any more, their errors are the answer.
        let _ = self.threads.send(mem::take(&mut self.portion));
    }
}

/// Names that were found, and their files.
type Found = Vec<(Vec<u8>, FileId)>;

/// The names that have the bytes and that `is_wanted` takes, of the pages that `fetch` hands over. None if no thread can be
/// started: then nothing was fetched.
pub(in crate::catalogue) fn look_into(
    literal: &[u8],
    is_wanted: &(impl Fn(&[u8]) -> bool + Sync),
    fetch: impl FnOnce(&mut Looking<'_>) -> Result<()>,
) -> Result<Option<Found>> {
    let count = &AtomicUsize::new(0);
    let look = |portions: Arc<Mutex<Receiver<Vec<Candidate>>>>| {
        let (mut looking, mut found) = (Pages::with(literal)?, Vec::new());
        let next = || {
            portions
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .recv()
        };
        while let Ok(pages) = next() {
            let before = found.len();
            for page in pages {
                looking.look_into(&page, |file, path| {
                    if is_wanted(path) {
                        found.push((path.to_vec(), file));
                    }
                })?;
            }
            count.fetch_add(found.len() - before, Ordering::Relaxed);
        }
        Ok(found)
    };
    std::thread::scope(|scope| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let (sender, portions) = mpsc::sync_channel(2 * processors);
        let portions = Arc::new(Mutex::new(portions));
        let begin = |portions| Builder::new().spawn_scoped(scope, move || look(portions));
        let threads: Vec<_> = (0..processors)
            .filter_map(|_| begin(Arc::clone(&portions)).ok())
            .collect();
        if threads.is_empty() {
            return Ok(None);
        }
        // Only the threads keep it, so that nothing waits for them when all have ended.
        drop(portions);
        let mut looking = Looking {
            threads: sender,
            portion: Vec::new(),
            found: count,
        };
        let fetched = fetch(&mut looking);
        looking.hand_over();
        drop(looking);
        let ended = threads.into_iter().map(|thread| thread.join());
        let found: Result<Vec<_>> = ended
            .map(|found| found.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        fetched?;
        Ok(Some(found?.concat()))
    })
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

    /// Shows the names of these blocks of a page; nothing if the bytes are nowhere on it.
    pub(super) fn look_into(
        &mut self,
        page: &Candidate,
        mut each: impl FnMut(FileId, &[u8]),
    ) -> Result<()> {
        let is_no_page = || CatalogueError::NameIndex(io::ErrorKind::InvalidData.into());
        let (bytes, packed) = (page.packed).split_first_chunk().ok_or_else(is_no_page)?;
        let bytes = u32::from_le_bytes(*bytes) as usize;
        let names = self.decompressor.decompress(packed, bytes);
        let names = names.map_err(CatalogueError::NameIndex)?;
        if self.literal.find(&names).is_none() {
            return Ok(());
        }
        let mut left = &names[..];
        let mut at = 0;
        while !left.is_empty() {
            let (file, path) = take_name(&mut left).ok_or_else(is_no_page)?;
            let is_looked_into = page.blocks >> (at / BLOCK_NAMES % PAGE_BLOCKS) & 1 != 0;
            if is_looked_into && self.literal.find(path).is_some() {
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
