//! REPORT SUPPORTED OPERATION CODES (A3h/0Ch): which commands the device has (SPC-5, 6.34).

use super::timeouts;
use crate::bytes::Fields;
use crate::cdb::Cdb;
use crate::command::{Command, Direction};
use crate::decode_error::DecodeError;
use crate::hex;
use crate::report::{Describe, Report};
use std::time::Duration;

/// Asks for all commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportSupportedOpcodes;

/// Asks for one command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportSupportedOpcode {
    /// The operation code.
    pub opcode: u8,
    /// Its service action, where it has them.
    pub service_action: Option<u16>,
}

/// One command that the device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SupportedOpcode {
    /// The operation code.
    pub opcode: u8,
    /// Its service action, where it has them.
    pub service_action: Option<u16>,
    /// Bytes of the CDB.
    pub cdb_length: u16,
    /// How long the device thinks it takes and may take, where it says so.
    pub timeouts: Option<CommandTimeouts>,
}

/// The command time-outs descriptor, in seconds; 0 is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandTimeouts {
    /// How long it nominally takes (NOMINAL COMMAND PROCESSING TIMEOUT).
    pub nominal_s: u32,
    /// After how long a host should give up (RECOMMENDED COMMAND TIMEOUT).
    pub recommended_s: u32,
}

/// Whether the device has the command that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpcodeSupport {
    /// The SUPPORT field: 0 the device cannot say now, 1 no, 3 as the standard says, 5 in its own way.
    pub support: u8,
    /// The bits of the CDB that the device looks at (CDB USAGE DATA).
    pub usage: Vec<u8>,
    /// How long it takes, where the device says so.
    pub timeouts: Option<CommandTimeouts>,
}

impl OpcodeSupport {
    /// Whether it is supported; none when the device cannot say.
    pub fn is_supported(&self) -> Option<bool> {
        match self.support {
            1 => Some(false),
            3 | 5 => Some(true),
            _ => None,
        }
    }
}

/// Room for all commands a device can have: 256 codes, some with tens of service actions.
const ALL: u32 = 16 * 1024;

fn cdb(options: u8, opcode: u8, service_action: u16, allocation: u32) -> Cdb {
    let [sa0, sa1] = service_action.to_be_bytes();
    let [a, b, c, d] = allocation.to_be_bytes();
    Cdb::new([0xa3, 0x0c, options, opcode, sa0, sa1, a, b, c, d, 0, 0])
}

fn timeouts_at(data: Fields<'_>, at: usize) -> Result<CommandTimeouts, DecodeError> {
    Ok(CommandTimeouts {
        nominal_s: data.u32(at + 4)?,
        recommended_s: data.u32(at + 8)?,
    })
}

impl Command for ReportSupportedOpcodes {
    type Answer = Vec<SupportedOpcode>;

    fn name(&self) -> &'static str {
        "REPORT SUPPORTED OPERATION CODES"
    }

    fn cdb(&self) -> Cdb {
        cdb(0, 0, 0, ALL)
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(ALL as usize)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<Vec<SupportedOpcode>, DecodeError> {
        let header = Fields::new("list of supported operation codes", answer);
        let list = header.part(
            "list of supported operation codes",
            4,
            header.u32(0)? as usize,
        )?;
        let mut found = Vec::new();
        let mut at = 0;
        while at < list.len() {
            let service_action = list.u16(at + 2)?;
            let has_timeouts = list.bit(at + 5, 1)?;
            found.push(SupportedOpcode {
                opcode: list.u8(at)?,
                service_action: list.bit(at + 5, 0)?.then_some(service_action),
                cdb_length: list.u16(at + 6)?,
                timeouts: has_timeouts
                    .then(|| timeouts_at(list, at + 8))
                    .transpose()?,
            });
            at += if has_timeouts { 20 } else { 8 };
        }
        Ok(found)
    }
}

impl Command for ReportSupportedOpcode {
    type Answer = OpcodeSupport;

    fn name(&self) -> &'static str {
        "REPORT SUPPORTED OPERATION CODES (one)"
    }

    fn cdb(&self) -> Cdb {
        // RCTD (bit 7) asks for the time-outs too.
        let options = if self.service_action.is_some() { 2 } else { 1 };
        let service_action = self.service_action.unwrap_or(0);
        cdb(0x80 | options, self.opcode, service_action, 256)
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(256)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<OpcodeSupport, DecodeError> {
        let data = Fields::new("support of one operation code", answer);
        let length = usize::from(data.u16(2)?);
        let has_timeouts = data.bit(1, 7)?;
        Ok(OpcodeSupport {
            support: data.u8(1)? & 0x07,
            usage: data.slice(4, length)?.to_vec(),
            timeouts: has_timeouts
                .then(|| timeouts_at(data, 4 + length))
                .transpose()?,
        })
    }
}

impl Describe for Vec<SupportedOpcode> {
    fn describe(&self, report: &mut Report) {
        for command in self {
            let name = match command.service_action {
                Some(action) => format!("{:02x}h/{action:02x}h", command.opcode),
                None => format!("{:02x}h", command.opcode),
            };
            let mut said = format!("{} bytes", command.cdb_length);
            if let Some(timeouts) = command.timeouts {
                said.push_str(&timeouts.words());
            }
            report.line(name, said);
        }
    }
}

impl Describe for OpcodeSupport {
    fn describe(&self, report: &mut Report) {
        let said = match self.support {
            0 => "not known now".to_owned(),
            1 => "no".to_owned(),
            3 => "yes, as the standard says".to_owned(),
            5 => "yes, in the maker's way".to_owned(),
            other => format!("reserved value {other}"),
        };
        report.line("supported", said);
        if !self.usage.is_empty() {
            report.line("bits that count", hex::plain(&self.usage));
        }
        report.some("time", self.timeouts.map(|timeouts| timeouts.words()));
    }
}

impl CommandTimeouts {
    fn words(&self) -> String {
        format!(
            ", nominal {} s, recommended {} s",
            self.nominal_s, self.recommended_s
        )
    }
}
