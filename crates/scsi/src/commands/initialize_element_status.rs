//! INITIALIZE ELEMENT STATUS (07h, 37h): the library looks at its elements again (SMC-3, 6.4 and 6.5).

use super::timeouts;
use crate::cdb::Cdb;
use crate::command::Command;
use crate::decode_error::DecodeError;
use std::time::Duration;

/// Looks at all elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitializeElementStatus;

/// Looks at some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitializeElementStatusRange {
    /// From this address on.
    pub first: u16,
    /// So many.
    pub count: u16,
}

impl Command for InitializeElementStatus {
    type Answer = ();

    fn name(&self) -> &'static str {
        "INITIALIZE ELEMENT STATUS"
    }

    fn cdb(&self) -> Cdb {
        Cdb::new([0x07, 0, 0, 0, 0, 0])
    }

    fn timeout(&self) -> Duration {
        timeouts::INVENTORY
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}

impl Command for InitializeElementStatusRange {
    type Answer = ();

    fn name(&self) -> &'static str {
        "INITIALIZE ELEMENT STATUS WITH RANGE"
    }

    fn cdb(&self) -> Cdb {
        let [f0, f1] = self.first.to_be_bytes();
        let [c0, c1] = self.count.to_be_bytes();
        // RANGE (bit 0 of byte 1): only those from the first address on.
        Cdb::new([0x37, 0x01, f0, f1, 0, 0, c0, c1, 0, 0])
    }

    fn timeout(&self) -> Duration {
        timeouts::INVENTORY
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}
