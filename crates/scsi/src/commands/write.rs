//! WRITE(6) (0Ah): blocks to the tape, with the rules for its end (SSC-5, 7.18).

use super::timeouts;
use crate::cdb::Cdb;
use crate::error::ScsiError;
use crate::sense::Condition;
use crate::transport::{Completion, Data, Status, Transport};
use std::time::Duration;

/// Writes one block of the length of its data, or blocks of the length that MODE SELECT has set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write6 {
    /// FIXED: the length counts blocks.
    pub fixed: bool,
    /// TRANSFER LENGTH: bytes, or blocks where fixed; below 2²⁴.
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
        Cdb::new([0x0a, u8::from(self.fixed), a, b, c, 0])
    }

    /// How long it may take.
    pub fn timeout(&self) -> Duration {
        timeouts::WRITE
    }

    /// Sends it with its data.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command; early warning and the end of the partition are outcomes.
    pub fn send(
        &self,
        transport: &mut dyn Transport,
        data: &[u8],
    ) -> Result<WriteOutcome, ScsiError> {
        let done = transport
            .execute(&self.cdb(), Data::Out(data), self.timeout())
            .map_err(|error| ScsiError::transport(Self::NAME, error))?;
        self.outcome(&done)
    }

    /// What the drive's answer means.
    ///
    /// # Errors
    /// [`ScsiError`] unless the data was written or the partition is full.
    pub fn outcome(&self, done: &Completion) -> Result<WriteOutcome, ScsiError> {
        written(Self::NAME, done)
    }
}

/// The outcome of a command that writes. In early warning a drive says NO SENSE with EOM when it has
/// written everything, and VOLUME OVERFLOW when it has written nothing; a rest that is not 0 is an
/// error, because what was lost must not look written.
pub(super) fn written(command: &'static str, done: &Completion) -> Result<WriteOutcome, ScsiError> {
    let Some(sense) = done
        .sense()
        .filter(|sense| done.status == Status::CheckCondition && !sense.is_deferred)
    else {
        done.check(command)?;
        return Ok(WriteOutcome::Written);
    };
    match sense.condition() {
        Condition::EarlyWarning if sense.information.unwrap_or(0) == 0 => {
            Ok(WriteOutcome::EarlyWarning)
        }
        Condition::EndOfMedium => Ok(WriteOutcome::EndOfMedium),
        _ => {
            done.check(command)?;
            Ok(WriteOutcome::Written)
        }
    }
}
