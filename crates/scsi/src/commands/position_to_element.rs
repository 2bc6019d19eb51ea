//! POSITION TO ELEMENT (2Bh of a changer): sends the robot there without a cartridge (SMC-3, 6.9).

use super::timeouts;
use crate::cdb::Cdb;
use crate::command::Command;
use crate::decode_error::DecodeError;
use std::time::Duration;

/// Moves the robot in front of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionToElement {
    /// The robot; 0 leaves the choice to the library.
    pub robot: u16,
    /// The element.
    pub element: u16,
}

impl Command for PositionToElement {
    type Answer = ();

    fn name(&self) -> &'static str {
        "POSITION TO ELEMENT"
    }

    fn cdb(&self) -> Cdb {
        let [r0, r1] = self.robot.to_be_bytes();
        let [e0, e1] = self.element.to_be_bytes();
        Cdb::new([0x2b, 0, r0, r1, e0, e1, 0, 0, 0, 0])
    }

    fn timeout(&self) -> Duration {
        timeouts::MOVE
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}
