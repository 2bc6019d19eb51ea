//! READ(6) (08h): blocks from the tape, with the rules for blocks of another length (SSC-5, 7.7).
//!
//! A block that is shorter than asked for leaves a positive rest in INFORMATION, a longer one a
//! negative rest; both set ILI. After either, and after a filemark, the position is behind it.

use super::timeouts;
use crate::cdb::Cdb;
use crate::error::ScsiError;
use crate::sense::{Condition, Sense};
use crate::transport::{Completion, Data, Status, Transport};
use std::time::Duration;

/// Reads one block of any length, up to that of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadBlock {
    /// Room in the buffer, below 2²⁴ bytes.
    pub length: u32,
}

/// Reads blocks of the length that MODE SELECT has set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadBlocks {
    /// How many, below 2²⁴.
    pub count: u32,
}

/// What a read of one block met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOutcome {
    /// A block; so many bytes of the buffer are it.
    Block {
        /// Its length.
        bytes: usize,
    },
    /// A block that is longer than the buffer. The buffer holds its beginning; the rest needs
    /// another read, of this length, after going back.
    Longer {
        /// How long it is.
        block_bytes: u64,
    },
    /// A filemark; the position is behind it.
    Filemark,
    /// The recorded data ended.
    EndOfData,
    /// The partition ended physically: no mark of an end of data was found before it.
    EndOfMedium,
}

/// What a read of several blocks met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadBlocksOutcome {
    /// Whole blocks read.
    pub blocks: u32,
    /// What stopped it, nothing when all were read.
    pub stopped_by: Option<Stop>,
}

/// What stopped a read of several blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A block of another length; the position is behind it.
    IncorrectLength,
    /// A filemark; the position is behind it.
    Filemark,
    /// The recorded data ended.
    EndOfData,
    /// The partition ended physically.
    EndOfMedium,
}

/// The name as the standard writes it.
const NAME: &str = "READ(6)";

fn cdb(fixed: bool, length: u32) -> Cdb {
    let [_, a, b, c] = length.to_be_bytes();
    Cdb::new([0x08, u8::from(fixed), a, b, c, 0])
}

/// The sense that stopped a read, if any did. What else can go wrong is an error.
fn stop(done: &Completion) -> Result<Option<(Stop, Sense)>, ScsiError> {
    let sense = done
        .sense()
        .filter(|sense| done.status == Status::CheckCondition && !sense.is_deferred);
    let stop = sense.and_then(|sense| {
        let stop = match sense.condition() {
            Condition::IncorrectLength => Stop::IncorrectLength,
            Condition::Filemark => Stop::Filemark,
            Condition::EndOfData => Stop::EndOfData,
            Condition::EndOfMedium => Stop::EndOfMedium,
            _ => return None,
        };
        Some((stop, sense))
    });
    if stop.is_none() {
        done.check(NAME)?;
    }
    Ok(stop)
}

impl ReadBlock {
    /// The name as the standard writes it.
    pub const NAME: &'static str = NAME;

    /// The bytes of the command.
    pub fn cdb(&self) -> Cdb {
        cdb(false, self.length)
    }

    /// How long it may take.
    pub fn timeout(&self) -> Duration {
        timeouts::READ
    }

    /// Reads a block into the buffer, whose length must be [`ReadBlock::length`].
    ///
    /// # Errors
    /// [`ScsiError`] as for every command, and [`ScsiError::BlockLength`].
    pub fn send(
        &self,
        transport: &mut dyn Transport,
        buffer: &mut [u8],
    ) -> Result<ReadOutcome, ScsiError> {
        let done = transport
            .execute(&self.cdb(), Data::In(buffer), self.timeout())
            .map_err(|error| ScsiError::transport(NAME, error))?;
        self.outcome(&done)
    }

    /// What the drive's answer means.
    ///
    /// # Errors
    /// [`ScsiError::BlockLength`] when the drive says that the block is longer than what it sent:
    /// bytes of it are missing, and nothing in the buffer shows where.
    pub fn outcome(&self, done: &Completion) -> Result<ReadOutcome, ScsiError> {
        let block_bytes = match stop(done)? {
            None => done.transferred as u64,
            Some((Stop::Filemark, _)) => return Ok(ReadOutcome::Filemark),
            Some((Stop::EndOfData, _)) => return Ok(ReadOutcome::EndOfData),
            Some((Stop::EndOfMedium, _)) => return Ok(ReadOutcome::EndOfMedium),
            Some((Stop::IncorrectLength, sense)) => match sense.information {
                Some(rest) if rest < 0 => {
                    let block_bytes = u64::from(self.length).saturating_add(rest.unsigned_abs());
                    return Ok(ReadOutcome::Longer { block_bytes });
                }
                Some(rest) => u64::from(self.length).saturating_sub(rest as u64),
                None => done.transferred as u64,
            },
        };
        if block_bytes > done.transferred as u64 {
            return Err(ScsiError::BlockLength {
                command: NAME,
                block_bytes,
                transferred: done.transferred,
            });
        }
        Ok(ReadOutcome::Block {
            bytes: block_bytes as usize,
        })
    }
}

impl ReadBlocks {
    /// The bytes of the command.
    pub fn cdb(&self) -> Cdb {
        cdb(true, self.count)
    }

    /// How long it may take.
    pub fn timeout(&self) -> Duration {
        timeouts::READ
    }

    /// Reads blocks into the buffer, which must hold [`ReadBlocks::count`] of them.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command.
    pub fn send(
        &self,
        transport: &mut dyn Transport,
        buffer: &mut [u8],
    ) -> Result<ReadBlocksOutcome, ScsiError> {
        let done = transport
            .execute(&self.cdb(), Data::In(buffer), self.timeout())
            .map_err(|error| ScsiError::transport(NAME, error))?;
        self.outcome(&done)
    }

    /// What the drive's answer means. INFORMATION counts the blocks that were not read.
    ///
    /// # Errors
    /// [`ScsiError`] for anything but a mark, another length, or an end.
    pub fn outcome(&self, done: &Completion) -> Result<ReadBlocksOutcome, ScsiError> {
        let (rest, stopped_by) = match stop(done)? {
            None => (0, None),
            Some((stop, sense)) => {
                let rest = sense.information.unwrap_or(i64::from(self.count));
                (rest.clamp(0, i64::from(self.count)) as u32, Some(stop))
            }
        };
        Ok(ReadBlocksOutcome {
            blocks: self.count - rest,
            stopped_by,
        })
    }
}
