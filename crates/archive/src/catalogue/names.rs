//! An index of names: files by number in packed pages, for each run of three bytes the blocks of names that have it, and
//! for runs of five bytes the pages that may.
//!
//! A search for a part of a name looks into the few blocks that have all its runs, instead of at every path. The index is
//! made of many names at a time and then stays as it is: a file keeps its number and its path. Files that are newer than the
//! index are looked at one by one; whether one is live is asked of the catalogue.

mod pages;
mod sets;
mod shelves;

use super::{FileId, Result};
pub(super) use pages::{Candidate, look_into};
use sets::{BLOCK_NAMES, PAGE_BLOCKS, pack, unpack};
pub(super) use sets::{PART_PAGES, Set};
use shelves::{RUN, Run, Shelves};
use std::collections::{BTreeMap, BTreeSet};

/// Names of a part.
pub const PART_NAMES: usize = PART_PAGES * PAGE_BLOCKS * BLOCK_NAMES;

/// Blocks of a part.
const PART_BLOCKS: usize = PART_PAGES * PAGE_BLOCKS;

/// Bytes of a gram.
const GRAM: usize = 3;

/// A run of three bytes, as a number below 65,536. Different runs may have one number.
type Gram = u16;

fn gram(run: &[u8]) -> Gram {
    let run = u32::from_be_bytes([0, run[0], run[1], run[2]]);
    (run.wrapping_mul(0x9E37_79B1) >> 16) as Gram
}

/// The runs of three bytes of some bytes.
fn grams(bytes: &[u8]) -> impl Iterator<Item = Gram> {
    bytes.windows(GRAM).map(gram)
}

/// What a name has that contains some bytes.
pub(super) struct Wanted {
    grams: BTreeSet<Gram>,
    shelves: BTreeMap<Set, Vec<Run>>,
}

impl Wanted {
    /// What a name has that contains all of these; nothing where they are too short to tell.
    pub(super) fn of(literals: &[&[u8]]) -> Wanted {
        let mut shelves: BTreeMap<Set, Vec<Run>> = BTreeMap::new();
        for run in literals.iter().flat_map(|literal| shelves::runs(literal)) {
            shelves.entry(run.set()).or_default().push(run);
        }
        Wanted {
            grams: literals.iter().flat_map(|literal| grams(literal)).collect(),
            shelves,
        }
    }

    /// The sets that tell.
    pub(super) fn sets(&self) -> Vec<Set> {
        let grams = self.grams.iter().map(|&gram| Set(gram.into()));
        grams.chain(self.shelves.keys().copied()).collect()
    }
}

/// A part of the index, packed.
pub(super) struct Packed {
    /// Its pages.
    pub pages: Vec<Vec<u8>>,
    /// The blocks of each gram that some name has, and all shelves.
    pub sets: Vec<(Set, Vec<u8>)>,
}

/// A part of the index while it is made.
pub(super) struct Part {
    pages: Vec<Vec<u8>>,
    /// The page that is being filled, and how far.
    page: Vec<u8>,
    names: usize,
    last: FileId,
    /// The name of the last file.
    last_name: Vec<u8>,
    /// The blocks that have each gram, in order.
    blocks: Vec<Vec<u16>>,
    shelves: Shelves,
}

impl Part {
    pub(super) fn new() -> Part {
        Part {
            pages: Vec::new(),
            page: Vec::new(),
            names: 0,
            last: FileId(0),
            last_name: Vec::new(),
            blocks: vec![Vec::new(); 1 << Gram::BITS],
            shelves: Shelves::new(),
        }
    }

    /// How many names it has.
    pub(super) fn names(&self) -> usize {
        self.names
    }

    /// The last file in it.
    pub(super) fn last(&self) -> FileId {
        self.last
    }

    /// Takes the next file, by number.
    pub(super) fn take(&mut self, file: FileId, path: &[u8]) -> Result<()> {
        let block = (self.names / BLOCK_NAMES) as u16;
        let is_in_block = !self.names.is_multiple_of(BLOCK_NAMES);
        let is_on_page = !self.page.is_empty();
        // What the last name has at the same place is noted already: most bytes, where names are numbered.
        let mut alike = 0;
        for end in 1..=path.len() {
            let is_alike = self.last_name.get(end - 1) == Some(&path[end - 1]);
            alike = if is_alike { alike + 1 } else { 0 };
            if end >= GRAM && !(is_in_block && alike >= GRAM) {
                let blocks = &mut self.blocks[usize::from(gram(&path[end - GRAM..end]))];
                if blocks.last() != Some(&block) {
                    blocks.push(block);
                }
            }
            if end >= RUN && !(is_on_page && alike >= RUN) {
                (self.shelves).mark(self.pages.len(), &path[end - RUN..end]);
            }
        }
        self.last_name.clear();
        self.last_name.extend(path);
        self.page.extend(file.0.to_le_bytes());
        self.page.extend((path.len() as u32).to_le_bytes());
        self.page.extend(path);
        self.last = file;
        self.names += 1;
        if self.names.is_multiple_of(BLOCK_NAMES * PAGE_BLOCKS) {
            self.end_page()?;
        }
        Ok(())
    }

    fn end_page(&mut self) -> Result<()> {
        if !self.page.is_empty() {
            // How long it is comes first.
            let mut packed = (self.page.len() as u32).to_le_bytes().to_vec();
            packed.extend(pack(&self.page)?);
            self.pages.push(packed);
            self.page.clear();
        }
        Ok(())
    }

    /// Packs all of it.
    pub(super) fn finish(mut self) -> Result<Packed> {
        self.end_page()?;
        let grams = (0..).map(Set).zip(&self.blocks);
        let grams = grams.filter(|(_, blocks)| !blocks.is_empty());
        let grams = grams.map(|(gram, blocks)| Ok((gram, pack(&bits(blocks))?)));
        Ok(Packed {
            sets: grams.chain(self.shelves.packed()).collect::<Result<_>>()?,
            pages: self.pages,
        })
    }
}

/// The blocks of a part that may have what is wanted, a bit for each.
pub(super) struct Candidates<'w> {
    wanted: &'w Wanted,
    /// How many of the grams some block has.
    grams: usize,
    blocks: Vec<u64>,
}

impl<'w> Candidates<'w> {
    /// All of a part.
    pub(super) fn all(wanted: &'w Wanted) -> Candidates<'w> {
        Candidates {
            wanted,
            grams: 0,
            blocks: vec![u64::MAX; PART_BLOCKS / 64],
        }
    }

    /// Leaves those that this set has too. A part that was made by an earlier version has no shelves.
    pub(super) fn keep(&mut self, set: Set, packed: &[u8]) -> Result<()> {
        if let Some(runs) = self.wanted.shelves.get(&set) {
            return shelves::keep(&mut self.blocks, packed, runs);
        }
        let bits = unpack(packed, PART_BLOCKS / 8)?;
        let (words, _) = bits.as_chunks();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        for (kept, word) in self.blocks.iter_mut().zip(words) {
            *kept &= word;
        }
        self.grams += 1;
        Ok(())
    }

    /// The pages they are on if this is the part of this number, counted from the first of the index, and a bit for each
    /// block.
    pub(super) fn of_part(&self, part: u64) -> impl Iterator<Item = (u64, u32)> {
        let blocks = if self.grams == self.wanted.grams.len() {
            &self.blocks[..]
        } else {
            &[]
        };
        let of_pages = blocks
            .iter()
            .flat_map(|&two| [two as u32, (two >> 32) as u32]);
        let pages = (part * PART_PAGES as u64..).zip(of_pages);
        pages.filter(|&(_, blocks)| blocks != 0)
    }
}

/// A set of blocks, a bit for each.
fn bits(blocks: &[u16]) -> Vec<u8> {
    let mut bits = vec![0; PART_BLOCKS / 8];
    for &block in blocks {
        bits[usize::from(block) / 8] |= 1 << (block % 8);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::pages::Pages;
    use super::*;
    use crate::catalogue::CatalogueError;

    fn name(number: i64) -> Vec<u8> {
        let hash = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        format!("reel{}/take {hash:016x}", number / 100).into_bytes()
    }

    #[test]
    fn a_name_is_in_a_block_that_has_all_its_runs_and_comes_out_as_it_was() {
        let mut part = Part::new();
        for number in 0..5000 {
            part.take(FileId(2 * number), &name(number)).expect("taken");
        }
        assert_eq!((part.names(), part.last()), (5000, FileId(9998)));
        let Packed { pages, sets } = part.finish().expect("a part");
        assert_eq!(pages.len(), 5);
        for number in [0, 31, 32, 1023, 1024, 4321, 4999] {
            let name = name(number);
            let tail = &name[name.len() - 16..];
            let wanted = Wanted::of(&[tail]);
            let mut blocks = Candidates::all(&wanted);
            for set in wanted.sets() {
                let at = sets.binary_search_by_key(&set, |(set, _)| *set);
                blocks
                    .keep(set, &sets[at.expect("it has it")].1)
                    .expect("bits");
            }
            let number = number as usize;
            let (page, block) = (7 * 256 + number as u64 / 1024, 1 << (number / 32 % 32));
            let found: BTreeMap<u64, u32> = blocks.of_part(7).collect();
            assert!(found[&page] & block != 0, "{found:?}");
            let count: u32 = found.values().map(|blocks| blocks.count_ones()).sum();
            assert!(count < 10, "{found:?}");
            for (literal, others) in [(&b"take"[..], true), (tail, false), (b"took", false)] {
                let mut names = Vec::new();
                let mut looking = Pages::with(literal).expect("bytes");
                let page = Candidate {
                    packed: pages[number / 1024].clone(),
                    blocks: block,
                };
                let shown = looking.look_into(&page, |file, path| {
                    names.push((file, path.to_vec()));
                });
                shown.expect("a page");
                let is_there = names.contains(&(FileId(2 * number as i64), name.clone()));
                assert_eq!(is_there, literal != b"took");
                assert_eq!(names.len() > 1, others);
            }
        }
    }

    #[test]
    fn numbered_names_are_found_on_few_pages() {
        let mut part = Part::new();
        let name = |number| format!("run/detector-{number:010}.h5").into_bytes();
        for number in 0..PART_NAMES as i64 {
            let file = FileId(number);
            part.take(file, &name(number)).expect("taken");
        }
        let sets: BTreeMap<Set, Vec<u8>> =
            part.finish().expect("a part").sets.into_iter().collect();
        let pages = |literal: &[u8], has_shelves: bool| {
            let wanted = Wanted::of(&[literal]);
            let mut blocks = Candidates::all(&wanted);
            let used = wanted.sets().into_iter();
            for set in used.filter(|set| has_shelves || set.0 < Set::GRAMS) {
                blocks.keep(set, &sets[&set]).expect("bits");
            }
            let pages: BTreeSet<u64> = blocks.of_part(0).map(|(page, _)| page).collect();
            pages
        };
        // Of a part that was made without shelves most pages are looked into.
        assert!(pages(b"0000001", false).len() > 200);
        for (literal, least, most) in [
            (&b"0000001"[..], 14, 30),
            (b"99999", 2, 20),
            (b"-0000200001", 1, 8),
        ] {
            let found = pages(literal, true);
            assert!((least..most).contains(&found.len()), "{found:?}");
            let has = |&number: &i64| {
                name(number)
                    .windows(literal.len())
                    .any(|run| run == literal)
            };
            for number in (0..PART_NAMES as i64).filter(has) {
                assert!(found.contains(&(number as u64 / 1024)), "{number}");
            }
        }
    }

    #[test]
    fn many_pages_are_looked_into_at_once() {
        let mut part = Part::new();
        for number in 0..PART_NAMES as i64 {
            part.take(FileId(number), &name(number)).expect("taken");
        }
        let packed = part.finish().expect("a part").pages;
        let pages = |packed: &[Vec<u8>]| {
            look_into(b"abc", &|path| !path.ends_with(b"f"), |looking| {
                for packed in packed.iter().cloned() {
                    let blocks = u32::MAX;
                    looking.take(Candidate { packed, blocks });
                }
                Ok(())
            })
        };
        let has =
            |name: &Vec<u8>| !name.ends_with(b"f") && name.windows(3).any(|run| run == b"abc");
        let expected: Vec<(Vec<u8>, FileId)> = (0..PART_NAMES as i64)
            .map(|number| (name(number), FileId(number)))
            .filter(|(name, _)| has(name))
            .collect();
        assert!(expected.len() > 100);
        for pages_of in [1, 31, 33, PART_PAGES] {
            let some: usize = pages_of * PAGE_BLOCKS * BLOCK_NAMES;
            let expected = expected.iter().filter(|(_, file)| (file.0 as usize) < some);
            let mut found = pages(&packed[..pages_of]).expect("pages").expect("threads");
            found.sort_unstable_by_key(|&(_, file)| file);
            assert_eq!(
                found.iter().collect::<Vec<_>>(),
                expected.collect::<Vec<_>>()
            );
        }
        let mut damaged = packed;
        damaged[PART_PAGES - 1].truncate(9);
        assert!(pages(&damaged).is_err());
        // Threads that have ended by an error are not waited for.
        let nonsense = vec![b"no page".to_vec(); 1000];
        assert!(pages(&nonsense).is_err());
        let fetched = look_into(b"abc", &|_| true, |_| Err(CatalogueError::NumberTooLarge));
        assert!(matches!(fetched, Err(CatalogueError::NumberTooLarge)));
    }

    #[test]
    fn where_the_system_starts_no_threads_pages_are_not_looked_into() {
        // No thread gets a stack of a petabyte. It is asked for once, by a process of its own.
        const STACK: &str = "RUST_MIN_STACK";
        if std::env::var_os(STACK).is_some() {
            let found = look_into(b"abc", &|_| true, |_| unreachable!("fetched"));
            return assert!(found.expect("no error").is_none());
        }
        let mut again = std::process::Command::new(std::env::current_exe().expect("this program"));
        let name = "where_the_system_starts_no_threads";
        let ran = again
            .env(STACK, (1_u64 << 50).to_string())
            .arg(name)
            .output()
            .expect("ran");
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(said.contains("1 passed"), "{said}");
    }

    #[test]
    fn a_page_that_is_damaged_is_no_page() {
        let mut pages = Pages::with(&[7]).expect("bytes");
        let cut = pack(&[7; 13]).expect("packed");
        let cut = [&13_u32.to_le_bytes(), &cut[..]].concat();
        for packed in [b"", &b"nonsense"[..], &cut] {
            let packed = packed.to_vec();
            let page = Candidate { packed, blocks: 1 };
            assert!(pages.look_into(&page, |_, _| {}).is_err());
        }
    }
}
