//! Turns the blocks that a plan reads into the contents of the files somebody wants.

use super::member::{RECORD_BYTES, USTAR_NAME_BYTES};
use super::tar::{is_header, printable};
use crate::record::Segment;
use std::io::Result;
use std::ops::Range;
use tapewise_run::{Item, Piece, Sink};

/// A run of a file's bytes that somebody wants from a tape of tar archives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Where it lies.
    pub segment: Segment,
    /// The name in the tar header before it: see [`super::Member::name`].
    pub name: Vec<u8>,
}

/// Takes contents. What is wanted is called by its index. It may begin again, when a piece is read
/// once more.
pub trait Consumer {
    /// The contents of this one begin.
    ///
    /// # Errors
    /// Whatever keeps it from taking any; the run ends.
    fn begin(&mut self, index: usize) -> Result<()>;

    /// Its next bytes, and where in the file they stand.
    ///
    /// # Errors
    /// As for [`Consumer::begin`].
    fn bytes(&mut self, index: usize, file_offset: u64, bytes: &[u8]) -> Result<()>;

    /// It is whole: as many bytes as were wanted.
    ///
    /// # Errors
    /// As for [`Consumer::begin`].
    fn end(&mut self, index: usize) -> Result<()>;

    /// What lies there is not what is wanted. No more of it comes; the run goes on.
    ///
    /// # Errors
    /// As for [`Consumer::begin`].
    fn refuse(&mut self, index: usize, why: &str) -> Result<()>;
}

/// How far something wanted is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// Nothing was handed on, or it has to begin again.
    Waiting,
    /// So many bytes were handed on.
    Given(u64),
    /// It was ended or refused.
    Over,
}

/// A sink for pieces of tar archives: finds in each block what is wanted of it, without copying it.
///
/// A piece may hold several wanted segments, also in the same block; those that are only partly in
/// it belong to another piece. Each is given to its end once, however many pieces it lies in. Where
/// the block also has the tar header before the contents, as on all volumes of ours, its name and
/// size must be those that are expected.
pub struct Contents<'c> {
    /// By partition and first block.
    wanted: Vec<(usize, Wanted)>,
    /// How far each is, in the same order.
    progress: Vec<Progress>,
    /// Those in the current piece that may still come.
    active: Range<usize>,
    consumer: &'c mut (dyn Consumer + Send),
}

impl<'c> Contents<'c> {
    /// Hands what is wanted on to a consumer.
    pub fn new(wanted: Vec<Wanted>, consumer: &'c mut (dyn Consumer + Send)) -> Contents<'c> {
        let mut wanted: Vec<(usize, Wanted)> = wanted.into_iter().enumerate().collect();
        wanted.sort_by_key(|(_, wanted)| key(wanted));
        Contents {
            progress: vec![Progress::Waiting; wanted.len()],
            wanted,
            active: 0..0,
            consumer,
        }
    }

    /// What was neither ended nor refused, by index: it lay in no piece that was read.
    pub fn left(&self) -> Vec<usize> {
        let all = self.wanted.iter().zip(&self.progress);
        let left = all.filter(|(_, progress)| **progress != Progress::Over);
        left.map(|((index, _), _)| *index).collect()
    }

    /// What a block has of one that is wanted.
    fn part(&mut self, at: usize, block: u64, bytes: &[u8]) -> Result<()> {
        let (index, wanted) = &self.wanted[at];
        let segment = wanted.segment;
        let mut from = 0;
        if block == segment.first_block {
            from = usize::try_from(segment.byte_offset).unwrap_or(usize::MAX);
            if let Err(why) = check_header(wanted, bytes, from) {
                self.progress[at] = Progress::Over;
                return self.consumer.refuse(*index, &why);
            }
            self.progress[at] = Progress::Given(0);
            self.consumer.begin(*index)?;
        }
        let Progress::Given(done) = self.progress[at] else {
            return Ok(());
        };
        let left = segment.bytes - done;
        let rest = bytes.get(from..).unwrap_or_default();
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
        if count > 0 {
            let offset = segment.file_offset + done;
            self.consumer.bytes(*index, offset, &rest[..count])?;
        }
        let done = done + count as u64;
        self.progress[at] = Progress::Given(done);
        if block != segment.last_block {
            return Ok(());
        }
        match done == segment.bytes {
            true => {
                self.consumer.end(*index)?;
                self.progress[at] = Progress::Over;
                Ok(())
            }
            false => self.refuse(at, block, "has fewer bytes than the catalogue says"),
        }
    }

    fn refuse(&mut self, at: usize, block: u64, what: &str) -> Result<()> {
        let (index, wanted) = &self.wanted[at];
        let name = printable(&wanted.name);
        self.progress[at] = Progress::Over;
        let why = format!("block {block}, where {name:?} should be, {what}");
        self.consumer.refuse(*index, &why)
    }
}

impl Sink for Contents<'_> {
    fn begin(&mut self, piece: &Piece) -> Result<()> {
        let first = (piece.partition, piece.first_block);
        let last = (piece.partition, piece.last_block);
        let from = self
            .wanted
            .partition_point(|(_, wanted)| key(wanted) < first);
        let to = self
            .wanted
            .partition_point(|(_, wanted)| key(wanted) <= last);
        // What a failed attempt gave does not count.
        for progress in &mut self.progress[from..to] {
            if *progress != Progress::Over {
                *progress = Progress::Waiting;
            }
        }
        self.active = from..to;
        Ok(())
    }

    fn item(&mut self, piece: &Piece, block: u64, item: Item<'_>) -> Result<()> {
        while let Some((_, first)) = self.wanted[self.active.clone()].first()
            && first.segment.last_block < block
        {
            self.active.start += 1;
        }
        for at in self.active.clone() {
            let segment = self.wanted[at].1.segment;
            if segment.first_block > block {
                break;
            }
            let is_here = (block..=piece.last_block).contains(&segment.last_block);
            if !is_here || self.progress[at] == Progress::Over {
                continue;
            }
            match &item {
                Item::Block(bytes) => self.part(at, block, bytes)?,
                Item::Filemark => self.refuse(at, block, "is a filemark")?,
            }
        }
        Ok(())
    }

    fn end(&mut self, _: &Piece) -> Result<()> {
        self.active = 0..0;
        Ok(())
    }
}

fn key(wanted: &Wanted) -> (u8, u64) {
    (wanted.segment.partition, wanted.segment.first_block)
}

/// Compares the header in front of contents that begin at `from` with what is expected. Names that
/// do not fit a header stand in extended ones, of which only the beginning is repeated here.
fn check_header(wanted: &Wanted, block: &[u8], from: usize) -> std::result::Result<(), String> {
    let first_block = wanted.segment.first_block;
    let name = printable(&wanted.name);
    let Some(before) = block.get(..from) else {
        return Err(format!(
            "block {first_block} has {} bytes; {name:?} should begin at byte {from}",
            block.len()
        ));
    };
    // A foreign tape may have the header in the block before.
    let Some(record) = before.last_chunk::<RECORD_BYTES>() else {
        return Ok(());
    };
    if !is_header(record) {
        return Err(format!(
            "block {first_block}: there is no tar header where {name:?} should begin"
        ));
    }
    let header = ::tar::Header::from_byte_slice(record);
    let found = header.path_bytes();
    let has_name = wanted.name.len() > USTAR_NAME_BYTES || *found == *wanted.name;
    if !has_name {
        return Err(format!(
            "block {first_block}: {:?} begins where {name:?} should",
            printable(&found)
        ));
    }
    match header.entry_size() {
        Ok(bytes) if bytes == wanted.segment.bytes => Ok(()),
        // The size of what is 8 GiB or more may stand in the extended header alone.
        _ if wanted.segment.bytes >> 33 != 0 => Ok(()),
        Ok(bytes) => Err(format!(
            "block {first_block}: {name:?} has {bytes} bytes on tape, {} in the catalogue",
            wanted.segment.bytes
        )),
        Err(error) => Err(format!("block {first_block}: {name:?}: {error}")),
    }
}
