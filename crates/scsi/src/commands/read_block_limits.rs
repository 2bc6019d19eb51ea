//! READ BLOCK LIMITS (05h): the lengths a block may have (SSC-5, 7.8).

use super::timeouts;
use crate::bytes::Fields;
use crate::cdb::Cdb;
use crate::command::{Command, Direction};
use crate::decode_error::DecodeError;
use crate::report::{Describe, Report};
use std::time::Duration;

/// Asks for the block limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadBlockLimits;

/// The lengths a block may have, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLimits {
    /// Lengths are multiples of 2 to this power.
    pub granularity: u8,
    /// The shortest block.
    pub min_bytes: u16,
    /// The longest block; 0 where the drive names no limit.
    pub max_bytes: u32,
}

impl Command for ReadBlockLimits {
    type Answer = BlockLimits;

    fn name(&self) -> &'static str {
        "READ BLOCK LIMITS"
    }

    fn cdb(&self) -> Cdb {
        Cdb::new([0x05, 0, 0, 0, 0, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(6)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<BlockLimits, DecodeError> {
        let data = Fields::new("READ BLOCK LIMITS data", answer);
        Ok(BlockLimits {
            granularity: data.u8(0)? & 0x1f,
            max_bytes: data.u24(1)?,
            min_bytes: data.u16(4)?,
        })
    }
}

impl Describe for BlockLimits {
    fn describe(&self, report: &mut Report) {
        report.line("granularity", format_args!("2^{} bytes", self.granularity));
        report.line("shortest block", format_args!("{} bytes", self.min_bytes));
        report.line("longest block", format_args!("{} bytes", self.max_bytes));
    }
}
