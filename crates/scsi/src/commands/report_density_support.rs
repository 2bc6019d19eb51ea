//! REPORT DENSITY SUPPORT (44h): the formats that a drive or its cartridge has (SSC-5, 7.11).

use super::timeouts;
use crate::bytes::Fields;
use crate::cdb::Cdb;
use crate::command::{Command, Direction};
use crate::decode_error::DecodeError;
use crate::report::{Describe, Report};
use std::time::Duration;

/// Asks for densities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportDensitySupport {
    /// Those of the cartridge in the drive; else those of the drive.
    pub of_medium: bool,
}

/// One density.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Density {
    /// PRIMARY DENSITY CODE.
    pub code: u8,
    /// SECONDARY DENSITY CODE, the same where there is no other.
    pub secondary: u8,
    /// The drive writes it (WRTOK).
    pub is_writable: bool,
    /// It is the default (DEFLT).
    pub is_default: bool,
    /// Bits per millimetre of track.
    pub bits_per_mm: u32,
    /// Width of the medium in tenths of a millimetre.
    pub width_dmm: u16,
    /// Tracks.
    pub tracks: u16,
    /// Capacity in MB of the longest cartridge.
    pub capacity_mb: u32,
    /// Who assigned the code: "LTO-CVE".
    pub organization: String,
    /// Its name: "U-832".
    pub name: String,
    /// In words.
    pub description: String,
}

/// Room for 157 densities.
const LENGTH: u16 = 8192;
/// Bytes of a descriptor.
const DESCRIPTOR: usize = 52;

impl Command for ReportDensitySupport {
    type Answer = Vec<Density>;

    fn name(&self) -> &'static str {
        "REPORT DENSITY SUPPORT"
    }

    fn cdb(&self) -> Cdb {
        let [a, b] = LENGTH.to_be_bytes();
        Cdb::new([0x44, u8::from(self.of_medium), 0, 0, 0, 0, 0, a, b, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(usize::from(LENGTH))
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<Vec<Density>, DecodeError> {
        let header = Fields::new("density support", answer);
        // The length counts two reserved bytes.
        let length = usize::from(header.u16(0)?).saturating_sub(2);
        let list = header.part("density support", 4, length)?;
        (0..list.len())
            .step_by(DESCRIPTOR)
            .map(|at| density(list.part("density descriptor", at, DESCRIPTOR)?))
            .collect()
    }
}

fn density(descriptor: Fields<'_>) -> Result<Density, DecodeError> {
    Ok(Density {
        code: descriptor.u8(0)?,
        secondary: descriptor.u8(1)?,
        is_writable: descriptor.bit(2, 7)?,
        is_default: descriptor.bit(2, 5)?,
        bits_per_mm: descriptor.u24(5)?,
        width_dmm: descriptor.u16(8)?,
        tracks: descriptor.u16(10)?,
        capacity_mb: descriptor.u32(12)?,
        organization: descriptor.text(16, 8)?,
        name: descriptor.text(24, 8)?,
        description: descriptor.text(32, 20)?,
    })
}

impl Describe for Vec<Density> {
    fn describe(&self, report: &mut Report) {
        for density in self {
            report.item(format_args!("{:02x}h", density.code), |report| {
                report.line(
                    "name",
                    format_args!("{} {}", density.organization, density.name),
                );
                report.line("description", &density.description);
                report.line("writable", density.is_writable);
                report.line("default", density.is_default);
                report.line("bits per mm", density.bits_per_mm);
                report.line("tracks", density.tracks);
                report.line("capacity", format_args!("{} MB", density.capacity_mb));
            });
        }
    }
}
