//! RESERVE(6) and RELEASE(6) (16h, 17h): the drive for one initiator, until it releases it or a reset
//! does (SCSI-2, 10.2.10 and 10.2.9). Drives without persistent reservations have them.

use super::timeouts;
use crate::cdb::Cdb;
use crate::command::Command;
use crate::decode_error::DecodeError;
use std::time::Duration;

/// Reserves the drive for this initiator. Another's reservation ends it with RESERVATION CONFLICT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReserveUnit;

/// Ends the reservation of this initiator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReleaseUnit;

impl Command for ReserveUnit {
    type Answer = ();

    fn name(&self) -> &'static str {
        "RESERVE(6)"
    }

    fn cdb(&self) -> Cdb {
        Cdb::new([0x16, 0, 0, 0, 0, 0])
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}

impl Command for ReleaseUnit {
    type Answer = ();

    fn name(&self) -> &'static str {
        "RELEASE(6)"
    }

    fn cdb(&self) -> Cdb {
        Cdb::new([0x17, 0, 0, 0, 0, 0])
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}
