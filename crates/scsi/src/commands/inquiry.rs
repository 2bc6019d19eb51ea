//! INQUIRY (12h): who the device is (SPC-5, 6.7).

use super::timeouts;
use crate::bytes::Fields;
use crate::cdb::Cdb;
use crate::command::{Command, Direction};
use crate::decode_error::DecodeError;
use crate::device_kind::DeviceKind;
use crate::report::{Describe, Report};
use std::time::Duration;

/// Asks for the standard INQUIRY data. It is answered at any time and clears no unit attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inquiry;

/// The standard INQUIRY data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InquiryData {
    /// What kind of device it is.
    pub kind: DeviceKind,
    /// Whether there is a device behind this logical unit: 0 is yes (PERIPHERAL QUALIFIER).
    pub qualifier: u8,
    /// The cartridge can be taken out.
    pub is_removable: bool,
    /// The VERSION byte: 05h SPC-3, 06h SPC-4, 07h SPC-5.
    pub version: u8,
    /// Maker.
    pub vendor: String,
    /// Product.
    pub product: String,
    /// Firmware revision.
    pub revision: String,
    /// Bytes 36 to 55, the maker's own: some name the serial number there.
    pub vendor_specific: Vec<u8>,
}

impl Command for Inquiry {
    type Answer = InquiryData;

    fn name(&self) -> &'static str {
        "INQUIRY"
    }

    fn cdb(&self) -> Cdb {
        Cdb::new([0x12, 0, 0, 0, 96, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(96)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<InquiryData, DecodeError> {
        let data = Fields::new("INQUIRY data", answer);
        let kind = data.u8(0)?;
        let vendor_specific = data.rest(36);
        Ok(InquiryData {
            kind: DeviceKind::from_bits(kind),
            qualifier: kind >> 5,
            is_removable: data.bit(1, 7)?,
            version: data.u8(2)?,
            vendor: data.text(8, 8)?,
            product: data.text(16, 16)?,
            revision: data.text(32, 4)?,
            vendor_specific: vendor_specific[..vendor_specific.len().min(20)].to_vec(),
        })
    }
}

impl Describe for InquiryData {
    fn describe(&self, report: &mut Report) {
        report.line("kind", self.kind);
        report.line("qualifier", self.qualifier);
        report.line("removable", self.is_removable);
        report.line("version", format_args!("{:02x}h", self.version));
        report.line("vendor", &self.vendor);
        report.line("product", &self.product);
        report.line("revision", &self.revision);
        report.bytes("vendor specific", &self.vendor_specific);
    }
}
