//! TEST UNIT READY (00h): whether a cartridge is loaded and the drive would take a medium command.

use super::timeouts;
use crate::cdb::Cdb;
use crate::command::Command;
use crate::decode_error::DecodeError;
use std::time::Duration;

/// Asks whether the drive is ready. It reports, and by that clears, a pending unit attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestUnitReady;

impl Command for TestUnitReady {
    type Answer = ();

    fn name(&self) -> &'static str {
        "TEST UNIT READY"
    }

    fn cdb(&self) -> Cdb {
        Cdb::new([0x00, 0, 0, 0, 0, 0])
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}
