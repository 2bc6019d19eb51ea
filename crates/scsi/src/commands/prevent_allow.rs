//! PREVENT ALLOW MEDIUM REMOVAL (1Eh): keeps the cartridge in (SSC-5, 7.6).

use super::timeouts;
use crate::cdb::Cdb;
use crate::command::Command;
use crate::decode_error::DecodeError;
use std::time::Duration;

/// Prevents or allows that the cartridge is unloaded or taken. It holds for this nexus until allowed
/// again or until a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreventAllow {
    /// Prevent; else allow.
    pub prevent: bool,
}

impl Command for PreventAllow {
    type Answer = ();

    fn name(&self) -> &'static str {
        "PREVENT ALLOW MEDIUM REMOVAL"
    }

    fn cdb(&self) -> Cdb {
        Cdb::new([0x1e, 0, 0, 0, u8::from(self.prevent), 0])
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}
