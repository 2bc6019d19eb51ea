//! READ END OF WRAP POSITION (A3h/1Fh/45h): which block each wrap ends with, on LTO-7 and later.
//!
//! IBM's own command (LTO Ultrium SCSI Reference 5.2.20). The table is as of the last load: what was
//! written since is not in it, and asking again does not refresh it.

use super::timeouts;
use crate::bytes::Fields;
use crate::cdb::Cdb;
use crate::command::{Command, Direction};
use crate::decode_error::DecodeError;
use crate::report::{Describe, Report};
use std::time::Duration;

/// Asks for the ends of all wraps that hold data (the long form, RA).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadEndOfWrapPositions;

/// Asks for the end of one wrap (the short form, WNV).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadEndOfWrapPosition {
    /// The wrap.
    pub wrap: u16,
}

/// Where a wrap ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndOfWrap {
    /// The wrap, counted over the whole tape.
    pub wrap: u16,
    /// The partition it belongs to.
    pub partition: u16,
    /// The last object on it; on the wrap that holds the end of data the end of data itself, which
    /// is one more than the last object.
    pub block: u64,
}

/// Ample: 472 wraps of an LTO-10 tape need 5,668 bytes.
const ALL: u32 = 16 * 1024;

fn cdb(flags: u8, wrap: u16, allocation: u32) -> Cdb {
    let [w0, w1] = wrap.to_be_bytes();
    let [a, b, c, d] = allocation.to_be_bytes();
    Cdb::new([0xa3, 0x1f, 0x45, flags, w0, w1, a, b, c, d, 0, 0])
}

impl Command for ReadEndOfWrapPositions {
    type Answer = Vec<EndOfWrap>;

    fn name(&self) -> &'static str {
        "READ END OF WRAP POSITION"
    }

    fn cdb(&self) -> Cdb {
        cdb(0x02, 0, ALL)
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(ALL as usize)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<Vec<EndOfWrap>, DecodeError> {
        let header = Fields::new("end-of-wrap table", answer);
        let length = usize::from(header.u16(0)?);
        // The length counts two reserved bytes and then descriptors of twelve.
        if length < 2 || (length - 2) % 12 != 0 {
            return Err(DecodeError::Field {
                at: 0,
                what: "length of the end-of-wrap table",
                value: length as u64,
                expected: "2 and a multiple of 12",
            });
        }
        let table = header.part("end-of-wrap table", 4, length - 2)?;
        (0..table.len())
            .step_by(12)
            .map(|at| {
                Ok(EndOfWrap {
                    wrap: table.u16(at)?,
                    partition: table.u16(at + 2)?,
                    block: table.uint(at + 6, 6)?,
                })
            })
            .collect()
    }
}

impl Command for ReadEndOfWrapPosition {
    type Answer = u64;

    fn name(&self) -> &'static str {
        "READ END OF WRAP POSITION (one)"
    }

    fn cdb(&self) -> Cdb {
        cdb(0x01, self.wrap, 10)
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(10)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<u64, DecodeError> {
        let data = Fields::new("end of one wrap", answer);
        match data.u16(0)? {
            8 => data.uint(4, 6),
            other => Err(DecodeError::Field {
                at: 0,
                what: "length of the end of one wrap",
                value: u64::from(other),
                expected: "8",
            }),
        }
    }
}

impl Describe for Vec<EndOfWrap> {
    fn describe(&self, report: &mut Report) {
        for end in self {
            report.line(
                format_args!("wrap {}", end.wrap),
                format_args!("partition {}, block {}", end.partition, end.block),
            );
        }
    }
}
