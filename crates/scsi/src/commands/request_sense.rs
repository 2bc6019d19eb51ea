//! REQUEST SENSE (03h): the drive's sense, and with it where the head is (SPC-5, 6.39).

use super::timeouts;
use crate::cdb::Cdb;
use crate::command::{Command, Direction};
use crate::decode_error::DecodeError;
use crate::report::{Describe, Report};
use crate::sense::Sense;
use std::time::Duration;

/// Asks for sense data. LTO drives answer it while they read or write, without noticeable loss of
/// speed (CERN 2018). A pending unit attention is reported and by that cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestSense;

/// Room for all that one byte can ask for.
const LENGTH: u8 = 252;

impl Command for RequestSense {
    type Answer = Sense;

    fn name(&self) -> &'static str {
        "REQUEST SENSE"
    }

    fn cdb(&self) -> Cdb {
        Cdb::new([0x03, 0, 0, 0, LENGTH, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(usize::from(LENGTH))
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<Sense, DecodeError> {
        Sense::decode(answer)
    }
}

impl Describe for Sense {
    fn describe(&self, report: &mut Report) {
        report.line("sense", self);
        report.line("condition", self.condition());
        report.line("filemark", self.filemark);
        report.line("end of medium", self.end_of_medium);
        report.line("incorrect length", self.incorrect_length);
        report.some("information", self.information);
        report.some("command specific", self.command_specific);
        report.some("field replaceable unit", self.field_replaceable_unit);
        let device = &self.device;
        report.some("volume label", device.volume_label.as_ref());
        report.some("dump available", device.has_dump);
        report.some("needs cleaning", device.needs_cleaning);
        report.some("needs service", device.needs_service);
        match (device.physical_wrap_byte, device.wrap()) {
            (Some(_), Some(wrap)) => report.line("wrap", wrap),
            (Some(_), None) => report.line("wrap", "above 254"),
            _ => {}
        }
        report.some("LPOS", device.lpos);
        report.some("active partition", device.partition);
        report.some("tape directory valid", device.tape_directory_valid);
        report.some("opcode", device.opcode.map(|code| format!("{code:02x}h")));
        report.some("cartridge generation", device.cartridge_generation);
        report.some("label type", device.label_type.as_ref());
        report.some("logical block", device.logical_block);
        report.some("data set", device.data_set);
        let symptom = device.fault_symptom.map(|code| format!("{code:04x}h"));
        report.some("fault symptom", symptom);
        report.some("LPOS region", device.lpos_region);
        report.some("cartridge serial", device.cartridge_serial.as_ref());
    }
}
