//! From blocks to the bytes of files: every block goes to all who want some of it.

use super::read::{Lost, Receiver};
use crate::record::Segment;
use tapewise_run::{Item, Piece, Sink};

/// How it stands with one of those that are read together.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum State {
    /// Not begun, or begun and not ended.
    Open,
    /// Whole.
    Ended,
    /// What the tape holds is not what the index says.
    Damaged(Lost),
}

/// Hands the blocks of one visit to those that want some of their bytes.
pub(super) struct Unpack<'a> {
    wants: &'a [Vec<Segment>],
    block_bytes: u64,
    receiver: &'a mut dyn Receiver,
    /// Those that are read together, by the block in which they begin, with how it stands with them.
    together: Vec<(usize, State)>,
    /// How many of them the current piece has reached.
    reached: usize,
    /// Those of them that want some of the next block.
    active: Vec<usize>,
}

impl<'a> Unpack<'a> {
    pub fn new(
        wants: &'a [Vec<Segment>],
        block_bytes: u64,
        receiver: &'a mut dyn Receiver,
        together: impl IntoIterator<Item = usize>,
    ) -> Self {
        let mut together: Vec<_> = together
            .into_iter()
            .map(|want| (want, State::Open))
            .collect();
        together
            .sort_by_key(|&(want, _)| (wants[want].first().map(|first| first.first_block), want));
        Unpack {
            wants,
            block_bytes,
            receiver,
            together,
            reached: 0,
            active: Vec::new(),
        }
    }

    /// How it came out for each of them.
    pub fn into_states(self) -> Vec<(usize, State)> {
        self.together
    }

    /// Makes those active that want this block, or one behind which the piece begins.
    fn reach(&mut self, index: usize, block: u64) -> std::io::Result<()> {
        while let Some((want, state)) = self.together.get(self.reached) {
            let segment = &self.wants[*want][index];
            if segment.first_block > block {
                break;
            }
            if *state == State::Open {
                if index == 0 {
                    self.receiver.begin(*want)?;
                }
                self.active.push(self.reached);
            }
            self.reached += 1;
        }
        Ok(())
    }

    /// Gives one of them its bytes of a block. Says whether it wants more of the piece.
    fn feed(&mut self, at: usize, index: usize, block: u64, data: &[u8]) -> std::io::Result<bool> {
        let want = self.together[at].0;
        let segments = &self.wants[want];
        let segment = &segments[index];
        // Where the block begins, and what is wanted of it, both from the beginning of the first one.
        let begin = (block - segment.first_block).saturating_mul(self.block_bytes);
        let from = begin.max(segment.byte_offset);
        let to = (segment.byte_offset + segment.bytes).min(begin.saturating_add(self.block_bytes));
        let length = data.len() as u64;
        if length < to - begin || length > self.block_bytes {
            let expected = match length > self.block_bytes {
                true => self.block_bytes,
                false => to - begin,
            };
            self.together[at].1 = State::Damaged(Lost::BlockLength {
                partition: segment.partition,
                block,
                bytes: length,
                expected,
            });
            return Ok(false);
        }
        let offset = segment.file_offset + (from - segment.byte_offset);
        let bytes = &data[(from - begin) as usize..(to - begin) as usize];
        self.receiver.bytes(want, offset, bytes)?;
        if block < segment.last_block {
            return Ok(true);
        }
        if index + 1 == segments.len() {
            self.receiver.end(want)?;
            self.together[at].1 = State::Ended;
        }
        Ok(false)
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
        self.reach(index, block)?;
        let mut active = std::mem::take(&mut self.active);
        let mut kept = 0;
        for nth in 0..active.len() {
            let at = active[nth];
            let goes_on = match &item {
                Item::Block(data) => self.feed(at, index, block, data)?,
                Item::Filemark => {
                    let partition = piece.partition;
                    self.together[at].1 = State::Damaged(Lost::Filemark { partition, block });
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
