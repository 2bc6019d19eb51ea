//! WRITE(6) (0Ah): blocks to the tape, with the rules for its end (SSC-5, 7.18).

use super::timeouts;
use crate::cdb::Cdb;
use crate::error::ScsiError;
use crate::sense::{Condition, Sense};
use crate::transport::{Completion, Status};
use std::time::Duration;

/// Writes one block of the length of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write6 {
    /// TRANSFER LENGTH: bytes, below 2²⁴.
    pub length: u32,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Written.
    Written,
    /// Written, and the end of the partition is near: finish soon.
    EarlyWarning,
    /// Not written: the partition is full.
    EndOfMedium,
}

impl Write6 {
    /// The name as the standard writes it.
    pub const NAME: &'static str = "WRITE(6)";

    /// The bytes of the command.
    pub fn cdb(&self) -> Cdb {
        let [_, a, b, c] = self.length.to_be_bytes();
        Cdb::new([0x0a, 0, a, b, c, 0])
    }

    /// How long it may take.
    pub fn timeout(&self) -> Duration {
        timeouts::WRITE
    }

    /// What the drive's answer means, of `bytes` that it was sent.
    ///
    /// # Errors
    /// [`ScsiError`] unless the data was written or the partition is full.
    pub fn outcome(&self, done: &Completion, bytes: usize) -> Result<WriteOutcome, ScsiError> {
        written(Self::NAME, done, bytes)
    }
}

/// The outcome of a command that writes. In early warning a drive says NO SENSE with EOM when it has
/// written everything, and VOLUME OVERFLOW when it has written nothing. A rest that is not 0 is an
/// error, because what was lost must not look written; so is a path that carried less than it was given: a drive
/// that says GOOD then has written a shorter block.
pub(super) fn written(
    command: &'static str,
    done: &Completion,
    bytes: usize,
) -> Result<WriteOutcome, ScsiError> {
    let sense = done
        .sense()
        .filter(|sense| done.status == Status::CheckCondition && !sense.is_deferred);
    let outcome = match sense.as_ref().map(Sense::condition) {
        Some(Condition::EndOfMedium) => return Ok(WriteOutcome::EndOfMedium),
        Some(Condition::EarlyWarning) => WriteOutcome::EarlyWarning,
        _ => {
            done.check(command)?;
            WriteOutcome::Written
        }
    };
    let rest = sense.and_then(|sense| sense.information).unwrap_or(0);
    let cut = bytes.saturating_sub(done.transferred) as u64;
    match rest.unsigned_abs().max(cut) {
        0 => Ok(outcome),
        left => Err(ScsiError::NotWritten { command, left }),
    }
}
