//! Vital product data pages of INQUIRY (12h, EVPD): which device this is (SPC-5, 7.7; SSC-5, 8.6).

use super::timeouts;
use crate::bytes::{Fields, text};
use crate::cdb::Cdb;
use crate::command::{Command, Direction};
use crate::decode_error::DecodeError;
use crate::hex;
use crate::report::{Describe, Report};
use std::time::Duration;

/// Asks for one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InquiryVpd {
    /// The page's code, as the constants of [`VpdPage`].
    pub page: u8,
}

/// A page that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VpdPage {
    /// 00h: the pages there are.
    Supported(Vec<u8>),
    /// 80h: the unit's serial number.
    SerialNumber(String),
    /// 83h: its names, and those of its ports.
    Identification(Vec<Designator>),
    /// B0h of a tape drive: what its cartridges can do.
    SequentialAccess {
        /// Cartridges can be write-once (WORM).
        worm: bool,
        /// Byte 4 and what follows, as sent.
        bytes: Vec<u8>,
    },
    /// B1h of a tape drive: its maker's serial number.
    ManufacturerSerial(String),
    /// B3h of a tape drive: the serial number of the library that it stands in.
    AutomationSerial(String),
    /// Any other page, as sent.
    Other {
        /// The page's code.
        page: u8,
        /// Its bytes after the header.
        bytes: Vec<u8>,
    },
}

/// One designation descriptor of page 83h.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Designator {
    /// CODE SET: 1 binary, 2 ASCII, 3 UTF-8.
    pub code_set: u8,
    /// ASSOCIATION: 0 the logical unit, 1 the port that was asked, 2 the target device.
    pub association: u8,
    /// DESIGNATOR TYPE: 0 vendor's, 1 T10 vendor id, 2 EUI-64, 3 NAA, 4 relative port, 8 name string.
    pub kind: u8,
    /// The designator.
    pub bytes: Vec<u8>,
}

impl VpdPage {
    /// The list of pages.
    pub const SUPPORTED: u8 = 0x00;
    /// Serial number.
    pub const SERIAL_NUMBER: u8 = 0x80;
    /// Designators.
    pub const IDENTIFICATION: u8 = 0x83;
    /// Sequential-access device capabilities.
    pub const SEQUENTIAL_ACCESS: u8 = 0xb0;
    /// Manufacturer-assigned serial number.
    pub const MANUFACTURER_SERIAL: u8 = 0xb1;
    /// Automation device serial number.
    pub const AUTOMATION_SERIAL: u8 = 0xb3;

    /// Decodes any page: each names its own code.
    ///
    /// # Errors
    /// [`DecodeError`] when it is shorter than it says.
    pub fn decode(answer: &[u8]) -> Result<VpdPage, DecodeError> {
        let header = Fields::new("VPD page", answer);
        let length = usize::from(header.u16(2)?);
        let page = header.part("VPD page", 4, length)?;
        let bytes = page.rest(0);
        Ok(match header.u8(1)? {
            VpdPage::SUPPORTED => VpdPage::Supported(bytes.to_vec()),
            VpdPage::SERIAL_NUMBER => VpdPage::SerialNumber(text(bytes)),
            VpdPage::IDENTIFICATION => VpdPage::Identification(designators(page)?),
            VpdPage::SEQUENTIAL_ACCESS => VpdPage::SequentialAccess {
                worm: page.bit(0, 0)?,
                bytes: bytes.to_vec(),
            },
            VpdPage::MANUFACTURER_SERIAL => VpdPage::ManufacturerSerial(text(bytes)),
            VpdPage::AUTOMATION_SERIAL => VpdPage::AutomationSerial(text(bytes)),
            other => VpdPage::Other {
                page: other,
                bytes: bytes.to_vec(),
            },
        })
    }
}

fn designators(page: Fields<'_>) -> Result<Vec<Designator>, DecodeError> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < page.len() {
        let length = usize::from(page.u8(at + 3)?);
        found.push(Designator {
            code_set: page.u8(at)? & 0x0f,
            association: page.u8(at + 1)? >> 4 & 0x03,
            kind: page.u8(at + 1)? & 0x0f,
            bytes: page.slice(at + 4, length)?.to_vec(),
        });
        at += 4 + length;
    }
    Ok(found)
}

impl Command for InquiryVpd {
    type Answer = VpdPage;

    fn name(&self) -> &'static str {
        "INQUIRY (VPD)"
    }

    fn cdb(&self) -> Cdb {
        // 252: the length is two bytes since SPC-3, but older devices look at the lower alone.
        Cdb::new([0x12, 0x01, self.page, 0, 252, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(252)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<VpdPage, DecodeError> {
        let code = Fields::new("VPD page", answer).u8(1)?;
        if code != self.page {
            return Err(DecodeError::Field {
                at: 1,
                what: "page code",
                value: u64::from(code),
                expected: "another page was asked for",
            });
        }
        VpdPage::decode(answer)
    }
}

impl Designator {
    /// The designator as text or as hex, by its code set.
    pub fn shown(&self) -> String {
        match self.code_set {
            2 | 3 => text(&self.bytes),
            _ => hex::plain(&self.bytes).replace(' ', ""),
        }
    }
}

impl Describe for VpdPage {
    fn describe(&self, report: &mut Report) {
        match self {
            VpdPage::Supported(pages) => report.line("pages", hex::plain(pages)),
            VpdPage::SerialNumber(serial) => report.line("serial number", serial),
            VpdPage::Identification(designators) => {
                for designator in designators {
                    let whose = match designator.association {
                        0 => "unit",
                        1 => "port",
                        2 => "device",
                        _ => "reserved",
                    };
                    let kind = match designator.kind {
                        0 => "vendor's name".to_owned(),
                        1 => "T10 vendor id".to_owned(),
                        2 => "EUI-64".to_owned(),
                        3 => "NAA".to_owned(),
                        4 => "relative port".to_owned(),
                        8 => "name string".to_owned(),
                        other => format!("designator {other}"),
                    };
                    report.line(format_args!("{whose}, {kind}"), designator.shown());
                }
            }
            VpdPage::SequentialAccess { worm, bytes } => {
                report.line("WORM cartridges", worm);
                report.bytes("bytes", bytes);
            }
            VpdPage::ManufacturerSerial(serial) => report.line("maker's serial number", serial),
            VpdPage::AutomationSerial(serial) => report.line("automation serial number", serial),
            VpdPage::Other { page, bytes } => {
                report.line("page", format_args!("{page:02x}h"));
                report.bytes("bytes", bytes);
            }
        }
    }
}
