//! Runs of blocks, read or written as one event.

use super::{Recorder, spot};
use crate::buffer::Buffer;
use crate::error::RunError;
use tapewise_formats::event::{Action, Event, Outcome, Spot};
use tapewise_model::Micros;
use tapewise_scsi::commands::{ReadOutcome, WriteOutcome};

/// The longest block that READ(6) can ask for.
const LARGEST_BLOCK_BYTES: usize = (1 << 24) - 1;

/// What reading or writing several blocks gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadRun {
    /// Blocks and filemarks passed.
    pub blocks: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// How long it took.
    pub took: Micros,
    /// Writing only: the end of the partition is near, or reached.
    pub is_full: bool,
    /// [`Recorder::read_file`] only: what ended it before its most blocks.
    pub met: Option<Met>,
}

/// What ends a file on tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// A filemark; the head is behind it.
    Filemark,
    /// The recorded data ended.
    EndOfData,
}

/// One thing on the tape, as it is read.
#[derive(Debug)]
pub enum Item<'a> {
    /// A block. Whoever wants to keep it takes the buffer and leaves another one, into which the
    /// next block is then read: nothing is copied.
    Block(&'a mut Buffer),
    /// A filemark.
    Filemark,
}

/// Gives the blocks that are to be written.
pub trait Source {
    /// The next one; none when the run is to end.
    ///
    /// # Errors
    /// Whatever keeps it from giving one; the run ends.
    fn block(&mut self) -> std::io::Result<Option<&[u8]>>;
}

/// Blocks by their number in the run.
struct Numbered<'f, 'd> {
    left: std::ops::Range<u64>,
    block: &'f dyn Fn(u64) -> &'d [u8],
}

impl Source for Numbered<'_, '_> {
    fn block(&mut self) -> std::io::Result<Option<&[u8]>> {
        Ok(self.left.next().map(self.block))
    }
}

/// What a run of blocks does with each of them.
type Each<'e> = &'e mut dyn FnMut(u64, Item<'_>) -> std::io::Result<()>;

/// Where a read of blocks ends by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Behind so many blocks and filemarks.
    Count(u64),
    /// Behind a filemark, at the end of data, or behind so many blocks.
    File(u64),
}

impl Recorder<'_> {
    /// Says how long the blocks are that are read next: the drive is then asked for exactly so many
    /// bytes, which spares it to say that a block is shorter. A longer one still makes room for
    /// itself.
    pub fn expect_blocks(&mut self, bytes: usize) {
        if self.buffer.room_bytes() != bytes {
            self.buffer = Buffer::new(bytes.clamp(1, LARGEST_BLOCK_BYTES));
        }
    }

    /// Reads `count` blocks and filemarks, each given to `each` with its number, as one event.
    ///
    /// # Errors
    /// [`RunError`], [`RunError::Interrupted`] between two blocks. What came before was given.
    pub fn read(
        &mut self,
        action: Action,
        count: u64,
        each: Each<'_>,
    ) -> Result<ReadRun, RunError> {
        self.read_until(action, Until::Count(count), each)
    }

    /// Reads on to behind the next filemark or to the end of data, at most `most_blocks`, as one
    /// event; [`ReadRun::met`] says which. The filemark is given to `each` too.
    ///
    /// # Errors
    /// As [`Recorder::read`], but the end of data is none.
    pub fn read_file(
        &mut self,
        action: Action,
        most_blocks: u64,
        each: Each<'_>,
    ) -> Result<ReadRun, RunError> {
        self.read_until(action, Until::File(most_blocks), each)
    }

    fn read_until(
        &mut self,
        action: Action,
        until: Until,
        each: Each<'_>,
    ) -> Result<ReadRun, RunError> {
        let from = self.head.take().ok_or(RunError::Lost)?;
        let first = from.block.ok_or(RunError::Lost)?;
        let at = self.clock();
        let mut run = ReadRun::default();
        let result = self.read_blocks(from.partition, first, until, &mut run, each);
        self.ran(action, at, from, first, run, result)
    }

    /// Writes the event of a run of blocks, and knows where the head is where that can be known.
    fn ran(
        &mut self,
        action: Action,
        at: Micros,
        from: Spot,
        first: u64,
        mut run: ReadRun,
        result: Result<(), RunError>,
    ) -> Result<ReadRun, RunError> {
        run.took = self.clock() - at;
        let reached = spot(from.partition, first + run.blocks);
        let (outcome, sense) = match &result {
            Ok(()) => (Outcome::Done, None),
            Err(RunError::Interrupted) => (Outcome::Abandoned, None),
            // The drive did as it was told: it is the host that cannot go on.
            Err(error @ (RunError::Sink(_) | RunError::Source(_))) => {
                (Outcome::Abandoned, Some(error.to_string()))
            }
            Err(error) => (Outcome::Failed, Some(error.to_string())),
        };
        // After a failure the drive's position is not ours to guess.
        let to = match &result {
            Ok(()) | Err(RunError::Interrupted) => {
                let to = self.place(reached)?;
                self.head = Some(to);
                to
            }
            Err(_) => reached,
        };
        let event = Event {
            from: Some(from),
            to: Some(to),
            blocks: run.blocks,
            bytes: run.bytes,
            outcome,
            sense,
            ..Event::new(action, at, run.took)
        };
        self.write(event)?;
        result.map(|()| run)
    }

    fn read_blocks(
        &mut self,
        partition: u8,
        first: u64,
        until: Until,
        run: &mut ReadRun,
        each: Each<'_>,
    ) -> Result<(), RunError> {
        let (Until::Count(most) | Until::File(most)) = until;
        while run.blocks < most && run.met.is_none() {
            self.go_on()?;
            let block = first + run.blocks;
            let item = match self.drive.read(self.buffer.room())? {
                ReadOutcome::Block { bytes } => {
                    run.bytes += bytes as u64;
                    self.buffer.fill(bytes);
                    Item::Block(&mut self.buffer)
                }
                ReadOutcome::Longer { block_bytes } => {
                    let room = usize::try_from(block_bytes).unwrap_or(usize::MAX);
                    self.buffer = Buffer::new(room.min(LARGEST_BLOCK_BYTES));
                    self.drive.space_blocks(-1)?;
                    continue;
                }
                ReadOutcome::Filemark => {
                    let is_end = matches!(until, Until::File(_));
                    run.met = is_end.then_some(Met::Filemark);
                    Item::Filemark
                }
                ReadOutcome::EndOfData if matches!(until, Until::File(_)) => {
                    run.met = Some(Met::EndOfData);
                    continue;
                }
                ReadOutcome::EndOfData | ReadOutcome::EndOfMedium => {
                    return Err(RunError::EndOfData { partition, block });
                }
            };
            run.blocks += 1;
            each(block, item).map_err(RunError::Sink)?;
        }
        Ok(())
    }

    /// Writes `count` blocks, as one event; early warning ends it without error.
    ///
    /// # Errors
    /// As [`Recorder::write_from`].
    pub fn write_blocks<'d>(
        &mut self,
        count: u64,
        block: &dyn Fn(u64) -> &'d [u8],
    ) -> Result<ReadRun, RunError> {
        self.write_from(&mut Numbered {
            left: 0..count,
            block,
        })
    }

    /// Writes what a source gives, as one event. Early warning ends it without error: the block is
    /// then on the tape and counted. At the end of medium it is not; [`ReadRun::blocks`] tells.
    ///
    /// # Errors
    /// [`RunError`]; the head is then anywhere, and what was buffered in the drive may be lost.
    pub fn write_from(&mut self, source: &mut dyn Source) -> Result<ReadRun, RunError> {
        let from = self.head.take().ok_or(RunError::Lost)?;
        let first = from.block.ok_or(RunError::Lost)?;
        let at = self.clock();
        let mut run = ReadRun::default();
        let result = self.write_given(&mut run, source);
        self.ran(Action::Write, at, from, first, run, result)
    }

    fn write_given(&mut self, run: &mut ReadRun, source: &mut dyn Source) -> Result<(), RunError> {
        while !run.is_full {
            self.go_on()?;
            let Some(data) = source.block().map_err(RunError::Source)? else {
                break;
            };
            let outcome = self.drive.write(data)?;
            run.is_full = outcome != WriteOutcome::Written;
            if outcome != WriteOutcome::EndOfMedium {
                run.blocks += 1;
                run.bytes += data.len() as u64;
            }
        }
        Ok(())
    }
}
