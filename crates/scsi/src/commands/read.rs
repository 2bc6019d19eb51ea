//! READ(6) (08h): blocks from the tape, with the rules for blocks of another length (SSC-5, 7.7).
//!
//! A block that is shorter than asked for leaves a positive rest in INFORMATION, a longer one a
//! negative rest; both set ILI. After either, and after a filemark, the position is behind it.

use super::timeouts;
use crate::cdb::Cdb;
use crate::error::ScsiError;
use crate::sense::{Condition, Sense};
use crate::transport::{Completion, Status};
use std::time::Duration;

/// Reads one block of any length, up to that of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadBlock {
    /// Room in the buffer, below 2²⁴ bytes.
    pub length: u32,
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

impl ReadBlock {
    /// The name as the standard writes it.
    pub const NAME: &'static str = "READ(6)";

    /// The bytes of the command.
    pub fn cdb(&self) -> Cdb {
        let [_, a, b, c] = self.length.to_be_bytes();
        Cdb::new([0x08, 0, a, b, c, 0])
    }

    /// How long it may take.
    pub fn timeout(&self) -> Duration {
        timeouts::READ
    }

    /// What the drive's answer means.
    ///
    /// # Errors
    /// [`ScsiError::BlockLength`] when the drive says that the block is longer than what it sent:
    /// bytes of it are missing, and nothing in the buffer shows where.
    pub fn outcome(&self, done: &Completion) -> Result<ReadOutcome, ScsiError> {
        let sense = done
            .sense()
            .filter(|sense| done.status == Status::CheckCondition && !sense.is_deferred);
        let block_bytes = match sense.as_ref().map(Sense::condition) {
            Some(Condition::Filemark) => return Ok(ReadOutcome::Filemark),
            Some(Condition::EndOfData) => return Ok(ReadOutcome::EndOfData),
            Some(Condition::EndOfMedium) => return Ok(ReadOutcome::EndOfMedium),
            Some(Condition::IncorrectLength) => match sense.and_then(|sense| sense.information) {
                Some(rest) if rest < 0 => {
                    let block_bytes = u64::from(self.length).saturating_add(rest.unsigned_abs());
                    return Ok(ReadOutcome::Longer { block_bytes });
                }
                Some(rest) => u64::from(self.length).saturating_sub(rest as u64),
                None => done.transferred as u64,
            },
            _ => {
                done.check(Self::NAME)?;
                done.transferred as u64
            }
        };
        if block_bytes > done.transferred as u64 {
            return Err(ScsiError::BlockLength {
                command: Self::NAME,
                block_bytes,
                transferred: done.transferred,
            });
        }
        Ok(ReadOutcome::Block {
            bytes: block_bytes as usize,
        })
    }
}
