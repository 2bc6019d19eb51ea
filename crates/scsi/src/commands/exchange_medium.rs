//! EXCHANGE MEDIUM (A6h): puts one cartridge where another is, and that elsewhere (SMC-3, 6.3).

use super::timeouts;
use crate::cdb::Cdb;
use crate::command::Command;
use crate::decode_error::DecodeError;
use std::time::Duration;

/// Moves the cartridge of `from` to `to`, and the one that was in `to` to `then`. (The invert bits of
/// byte 10 are left at 0: tapes have one side.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeMedium {
    /// The robot; 0 leaves the choice to the library.
    pub robot: u16,
    /// From this element.
    pub from: u16,
    /// To this one.
    pub to: u16,
    /// What was there goes to this one; it may be `from`.
    pub then: u16,
}

impl Command for ExchangeMedium {
    type Answer = ();

    fn name(&self) -> &'static str {
        "EXCHANGE MEDIUM"
    }

    fn cdb(&self) -> Cdb {
        let [r0, r1] = self.robot.to_be_bytes();
        let [f0, f1] = self.from.to_be_bytes();
        let [t0, t1] = self.to.to_be_bytes();
        let [n0, n1] = self.then.to_be_bytes();
        Cdb::new([0xa6, 0, r0, r1, f0, f1, t0, t1, n0, n1, 0, 0])
    }

    fn timeout(&self) -> Duration {
        timeouts::MOVE
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}
