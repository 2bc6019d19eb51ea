//! REWIND (01h): to the beginning of the partition (SSC-5, 7.12).

use super::timeouts;
use crate::cdb::Cdb;
use crate::command::Command;
use crate::decode_error::DecodeError;
use std::time::Duration;

/// Goes to block 0 of the active partition. What is buffered is written first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rewind {
    /// Answer as soon as the command is understood (IMMED).
    pub immediate: bool,
}

impl Command for Rewind {
    type Answer = ();

    fn name(&self) -> &'static str {
        "REWIND"
    }

    fn cdb(&self) -> Cdb {
        Cdb::new([0x01, u8::from(self.immediate), 0, 0, 0, 0])
    }

    fn timeout(&self) -> Duration {
        timeouts::REWIND
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}
