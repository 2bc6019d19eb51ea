//! Runs of five bytes: which pages of a part may have one.
//!
//! Where names are numbered, nearly every block has each run of three digits, while a run of five is on few pages. There
//! are too many runs for a list of each, so each of them marks three of 32,768 rows, one bit for each page (Bloom 1970,
//! "Space/time trade-offs in hash coding with allowable errors"). All three are on one shelf, which is packed as a whole: a
//! search takes one shelf for each run. (Two were too few: a run that has one of its rows in common with a run of every page
//! seemed to be on far too many.)

use super::sets::{PAGE_BLOCKS, PART_PAGES, Set, pack, unpack};
use crate::catalogue::Result;

/// Bytes of a run.
pub(super) const RUN: usize = 5;

const SHELVES: usize = 256;

/// Rows of a shelf.
const ROWS: usize = 128;

const ROW_BYTES: usize = PART_PAGES / 8;

const SHELF_BYTES: usize = ROWS * ROW_BYTES;

/// Where a run is marked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    shelf: usize,
    rows: [usize; 3],
}

impl Run {
    /// Of five bytes.
    fn of(run: &[u8]) -> Run {
        let run = run.iter().fold(0, |run, byte| run << 8 | u64::from(*byte));
        // Twice, as digits differ in few bits.
        let hash = u64::wrapping_mul(run, 0x9E37_79B9_7F4A_7C15);
        let hash = (hash ^ hash >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        Run {
            shelf: (hash >> 56) as usize,
            rows: [49, 42, 35].map(|bit| (hash >> bit) as usize % ROWS),
        }
    }

    /// The set that is its shelf.
    pub(super) fn set(self) -> Set {
        Set::shelf(self.shelf)
    }
}

/// The runs of some bytes.
pub(super) fn runs(bytes: &[u8]) -> impl Iterator<Item = Run> {
    bytes.windows(RUN).map(Run::of)
}

/// All shelves of a part while it is made.
pub(super) struct Shelves(Vec<u8>);

impl Shelves {
    pub(super) fn new() -> Shelves {
        Shelves(vec![0; SHELVES * SHELF_BYTES])
    }

    /// A page of the part has a run.
    pub(super) fn mark(&mut self, page: usize, run: &[u8]) {
        let run = Run::of(run);
        for row in run.rows {
            let byte = run.shelf * SHELF_BYTES + row * ROW_BYTES + page / 8;
            self.0[byte] |= 1 << (page % 8);
        }
    }

    /// Each shelf, packed.
    pub(super) fn packed(&self) -> impl Iterator<Item = Result<(Set, Vec<u8>)>> {
        let shelves = self.0.chunks(SHELF_BYTES).enumerate();
        shelves.map(|(number, shelf)| Ok((Set::shelf(number), pack(shelf)?)))
    }
}

/// Takes the pages out of the blocks of a part that do not have all these runs of a shelf.
pub(super) fn keep(blocks: &mut [u64], shelf: &[u8], runs: &[Run]) -> Result<()> {
    const { assert!(PAGE_BLOCKS == 32, "a word has the blocks of two pages") };
    let shelf = unpack(shelf, SHELF_BYTES)?;
    let rows = runs.iter().flat_map(|run| run.rows);
    for row in rows.map(|row| &shelf[row * ROW_BYTES..][..ROW_BYTES]) {
        let pages = row
            .iter()
            .flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1));
        for (page, marked) in pages.enumerate() {
            if marked == 0 {
                blocks[page / 2] &= !(u64::from(u32::MAX) << (page % 2 * PAGE_BLOCKS));
            }
        }
    }
    Ok(())
}
