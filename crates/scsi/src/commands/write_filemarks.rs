//! WRITE FILEMARKS(6) (10h): ends a file, and empties the drive's buffer (SSC-5, 7.19).

use super::timeouts;
use super::write::{WriteOutcome, written};
use crate::cdb::Cdb;
use crate::error::ScsiError;
use crate::transport::Completion;
use std::time::Duration;

/// Writes filemarks. A count of 0 writes none and empties the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteFilemarks {
    /// How many, below 2²⁴.
    pub count: u32,
    /// Answer before the buffer is on the tape (IMMED).
    pub immediate: bool,
}

impl WriteFilemarks {
    /// The name as the standard writes it.
    pub const NAME: &'static str = "WRITE FILEMARKS(6)";

    /// The bytes of the command.
    pub fn cdb(&self) -> Cdb {
        let [_, a, b, c] = self.count.to_be_bytes();
        Cdb::new([0x10, u8::from(self.immediate), a, b, c, 0])
    }

    /// How long it may take.
    pub fn timeout(&self) -> Duration {
        timeouts::WRITE_FILEMARKS
    }

    /// What the drive's answer means.
    ///
    /// # Errors
    /// [`ScsiError`] unless the marks were written or the partition is full.
    pub fn outcome(&self, done: &Completion) -> Result<WriteOutcome, ScsiError> {
        written(Self::NAME, done, 0)
    }
}
