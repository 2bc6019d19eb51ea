//! From blocks to the bytes of files: every block goes to all who want some of it, without a copy.
//!
//! Bytes are handed on once and in their order, whatever is read again: a file whose segment was not
//! read takes nothing of those behind it and does not end, and of a segment that a reset of the drive
//! broke off only what had not come yet is handed on.

use super::mapped_tape::MappedTape;
use super::receiver::{Lost, Receiver};
use crate::record::{Segment, VolumeFormat};
use crate::volume::{RECORD_BYTES, is_header, printable};
use tapewise_run::{Item, Piece, Sink};

/// How it stands with one of those that are read together.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum State {
    /// Not begun, or begun and not ended.
    Open,
    /// Whole.
    Ended,
    /// What the tape holds is not what index or catalogue say.
    Damaged(Lost),
}

/// One of those that are read together.
struct Taken {
    want: usize,
    state: State,
    /// Segments handed on from end to end. What comes of a later one than the next is not taken.
    done: usize,
    /// Bytes handed on of the segment behind them.
    given: u64,
    /// Bytes of that segment that have come since it was last begun: those below `given` come again.
    passed: u64,
}

/// Hands the blocks of one visit to those that want some of their bytes.
pub(super) struct Unpack<'a> {
    wants: &'a [Vec<Segment>],
    format: VolumeFormat,
    block_bytes: u64,
    receiver: &'a mut dyn Receiver,
    /// Those that are read together, by the block in which they begin.
    together: Vec<Taken>,
    /// How many of them the current piece has reached.
    reached: usize,
    /// Those of them that want some of the next block.
    active: Vec<usize>,
}

impl<'a> Unpack<'a> {
    pub fn new(
        wants: &'a [Vec<Segment>],
        cartridge: &MappedTape,
        receiver: &'a mut dyn Receiver,
        together: impl IntoIterator<Item = usize>,
    ) -> Self {
        let taken = |want| Taken {
            want,
            state: State::Open,
            done: 0,
            given: 0,
            passed: 0,
        };
        let mut together: Vec<Taken> = together.into_iter().map(taken).collect();
        together.sort_by_key(|taken| {
            let first = wants[taken.want].first();
            (first.map(|first| first.first_block), taken.want)
        });
        Unpack {
            wants,
            format: cartridge.format,
            block_bytes: cartridge.block_bytes,
            receiver,
            together,
            reached: 0,
            active: Vec::new(),
        }
    }

    /// How it came out for each of them.
    pub fn into_states(self) -> Vec<(usize, State)> {
        let states = self.together.into_iter();
        states.map(|taken| (taken.want, taken.state)).collect()
    }

    /// Makes those active whose segment begins with this block. If its beginning was in a piece that could not be read, the
    /// blocks of another piece are not its own.
    fn reach(&mut self, piece: &Piece, index: usize, block: u64) -> std::io::Result<()> {
        while let Some(taken) = self.together.get_mut(self.reached) {
            let segment = &self.wants[taken.want][index];
            if segment.first_block > block {
                break;
            }
            let begins = (segment.partition, segment.first_block) == (piece.partition, block);
            if begins && taken.state == State::Open && taken.done == index {
                taken.passed = 0;
                if index == 0 {
                    taken.given = 0;
                    self.receiver.begin(taken.want)?;
                }
                self.active.push(self.reached);
            }
            self.reached += 1;
        }
        Ok(())
    }

    /// Gives one of them its bytes of a block. Says whether it wants more of the piece.
    fn feed(&mut self, at: usize, index: usize, block: u64, data: &[u8]) -> std::io::Result<bool> {
        let Taken { want, passed, .. } = self.together[at];
        let segments = &self.wants[want];
        let segment = &segments[index];
        let part = self.part(segment, passed, block, data);
        let taken = &mut self.together[at];
        let part = match part {
            Ok(part) => part,
            Err(lost) => {
                taken.state = State::Damaged(lost);
                return Ok(false);
            }
        };
        taken.passed += part.len() as u64;
        let known = taken.given.clamp(passed, taken.passed);
        let fresh = &part[(known - passed) as usize..];
        if !fresh.is_empty() {
            taken.given = taken.passed;
            self.receiver
                .bytes(want, segment.file_offset + known, fresh)?;
        }
        if block < segment.last_block {
            return Ok(true);
        }
        (taken.done, taken.given) = (index + 1, 0);
        if taken.done == segments.len() {
            self.receiver.end(want)?;
            taken.state = State::Ended;
        }
        Ok(false)
    }

    /// What a block has of a segment of which so many bytes stand in blocks before it.
    fn part<'d>(
        &self,
        segment: &Segment,
        passed: u64,
        block: u64,
        data: &'d [u8],
    ) -> Result<&'d [u8], Lost> {
        let from = if block == segment.first_block {
            segment.byte_offset
        } else {
            0
        };
        let to = from.saturating_add(segment.bytes - passed);
        // Blocks of equal length are full but for the last one.
        let needed = match self.has_equal_blocks() {
            _ if block == segment.last_block => to,
            true => self.block_bytes,
            false => 0,
        };
        let needed = needed.max(from);
        let length = data.len() as u64;
        let is_too_long = self.has_equal_blocks() && length > self.block_bytes;
        if is_too_long || length < needed {
            return Err(Lost::BlockLength {
                partition: segment.partition,
                block,
                bytes: length,
                expected: if is_too_long {
                    self.block_bytes
                } else {
                    needed
                },
            });
        }
        if block == segment.first_block && self.has_headers() {
            check_header(segment, &data[..from as usize])?;
        }
        Ok(&data[from as usize..to.min(length) as usize])
    }

    /// Whether all blocks have one length, but where the data of a segment ends.
    fn has_equal_blocks(&self) -> bool {
        matches!(self.format, VolumeFormat::Tapewise | VolumeFormat::Ltfs)
    }

    /// Whether a tar header stands before every file.
    fn has_headers(&self) -> bool {
        matches!(self.format, VolumeFormat::Tapewise | VolumeFormat::Tar)
    }
}

/// Lengths from here on may stand in an extended header alone: eleven octal digits hold no more.
const LONGEST_IN_HEADER: u64 = 1 << 33;

/// Sees that what stands before the contents is the header of a member as long as they are: another
/// cartridge, or one written over, is found out before its bytes are taken for the file's. The name
/// says nothing: it may stand in an extended header. So may, in a block before, the header itself.
fn check_header(segment: &Segment, before: &[u8]) -> Result<(), Lost> {
    let Some(record) = before.last_chunk::<RECORD_BYTES>() else {
        return Ok(());
    };
    let wrong = |found: String| Lost::Header {
        partition: segment.partition,
        block: segment.first_block,
        found,
        expected: segment.bytes,
    };
    if !is_header(record) {
        return Err(wrong("no tar header".to_owned()));
    }
    let header = ::tar::Header::from_byte_slice(record);
    match header.entry_size() {
        Ok(bytes) if bytes == segment.bytes => Ok(()),
        _ if segment.bytes >= LONGEST_IN_HEADER => Ok(()),
        Ok(bytes) => {
            let name = printable(&header.path_bytes());
            Err(wrong(format!("{name:?} of {bytes} bytes")))
        }
        Err(error) => Err(wrong(format!("a tar header without a length ({error})"))),
    }
}

impl Sink for Unpack<'_> {
    fn begin(&mut self, _: &Piece) -> std::io::Result<()> {
        self.reached = 0;
        self.active.clear();
        Ok(())
    }

    fn item(&mut self, piece: &Piece, block: u64, item: Item<'_>) -> std::io::Result<()> {
        let index = piece.segment as usize;
        self.reach(piece, index, block)?;
        let mut active = std::mem::take(&mut self.active);
        let mut kept = 0;
        for nth in 0..active.len() {
            let at = active[nth];
            let goes_on = match &item {
                Item::Block(data) => self.feed(at, index, block, data)?,
                Item::Filemark => {
                    let partition = piece.partition;
                    self.together[at].state = State::Damaged(Lost::Filemark { partition, block });
                    false
                }
            };
            if goes_on {
                active[kept] = at;
                kept += 1;
            }
        }
        active.truncate(kept);
        self.active = active;
        Ok(())
    }

    fn end(&mut self, _: &Piece) -> std::io::Result<()> {
        Ok(())
    }
}
