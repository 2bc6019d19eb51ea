//! MOVE MEDIUM (A5h): a cartridge from one element to another (SMC-3, 6.8).

use super::timeouts;
use crate::cdb::Cdb;
use crate::command::Command;
use crate::decode_error::DecodeError;
use std::time::Duration;

/// Moves a cartridge. It answers when the robot is done; whether a drive has loaded the cartridge by
/// then is asked of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveMedium {
    /// The robot; 0 leaves the choice to the library.
    pub robot: u16,
    /// From this element.
    pub from: u16,
    /// To this one.
    pub to: u16,
}

impl Command for MoveMedium {
    type Answer = ();

    fn name(&self) -> &'static str {
        "MOVE MEDIUM"
    }

    fn cdb(&self) -> Cdb {
        let [r0, r1] = self.robot.to_be_bytes();
        let [f0, f1] = self.from.to_be_bytes();
        let [t0, t1] = self.to.to_be_bytes();
        Cdb::new([0xa5, 0, r0, r1, f0, f1, t0, t1, 0, 0, 0, 0])
    }

    fn timeout(&self) -> Duration {
        timeouts::MOVE
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}
