//! REPORT LUNS (A0h): the logical units behind a target (SPC-5, 6.33).

use super::timeouts;
use crate::bytes::Fields;
use crate::cdb::Cdb;
use crate::command::{Command, Direction};
use crate::decode_error::DecodeError;
use crate::report::{Describe, Report};
use std::time::Duration;

/// Asks for the logical units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportLuns;

/// The logical units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Luns {
    /// The eight bytes of each, as a number.
    pub raw: Vec<u64>,
}

/// Room for two thousand.
const LENGTH: u32 = 16 * 1024;

impl Luns {
    /// The numbers of those that are addressed at one level: peripheral (SAM-5, 4.7.7.2) or flat.
    pub fn numbers(&self) -> impl Iterator<Item = u16> {
        self.raw.iter().filter_map(|raw| {
            let first = (raw >> 48) as u16;
            let is_single_level = raw & 0xffff_ffff_ffff == 0;
            match first >> 14 {
                0 if is_single_level && first >> 8 == 0 => Some(first & 0xff),
                1 if is_single_level => Some(first & 0x3fff),
                _ => None,
            }
        })
    }
}

impl Command for ReportLuns {
    type Answer = Luns;

    fn name(&self) -> &'static str {
        "REPORT LUNS"
    }

    fn cdb(&self) -> Cdb {
        let [a, b, c, d] = LENGTH.to_be_bytes();
        Cdb::new([0xa0, 0, 0, 0, 0, 0, a, b, c, d, 0, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(LENGTH as usize)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<Luns, DecodeError> {
        let header = Fields::new("list of logical units", answer);
        let list = header.part("list of logical units", 8, header.u32(0)? as usize)?;
        let raw = (0..list.len()).step_by(8).map(|at| list.u64(at));
        Ok(Luns {
            raw: raw.collect::<Result<_, _>>()?,
        })
    }
}

impl Describe for Luns {
    fn describe(&self, report: &mut Report) {
        for raw in &self.raw {
            report.line("unit", format_args!("{raw:016x}h"));
        }
    }
}
