//! Every decoder by name, so that a capture of an answer can be read without a drive.

use super::{
    Inquiry, LogPage, ModeSense6, ModeSense10, ReadAttributeList, ReadAttributes, ReadBlockLimits,
    ReadEndOfWrapPosition, ReadEndOfWrapPositions, ReadKeys, ReadPositionExtended,
    ReadPositionLong, ReadPositionShort, ReadReservation, ReceiveAccessOrder,
    ReceiveAccessOrderLimits, ReportDensitySupport, ReportLuns, ReportSupportedOpcode,
    ReportSupportedOpcodes, VpdPage, element_status,
};
use crate::command::Command;
use crate::decode_error::DecodeError;
use crate::report::{Describe, Report};
use crate::sense::Sense;

/// A decoder and its name.
#[derive(Clone, Copy)]
pub struct Decoder {
    /// The name on the command line.
    pub name: &'static str,
    /// What it decodes.
    pub about: &'static str,
    /// Decodes an answer into lines.
    pub decode: fn(&[u8]) -> Result<Report, DecodeError>,
}

/// An answer that could not be decoded by name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeAnyError {
    /// There is no such decoder.
    #[error("there is no decoder {name:?}; there are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// The answer is not what its format says.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// The lines of what a command answers.
fn of<C: Command>(command: C, bytes: &[u8]) -> Result<Report, DecodeError>
where
    C::Answer: Describe,
{
    command.decode(bytes).map(|answer| Report::of(&answer))
}

/// A decoder, in one line.
const fn decoder(
    name: &'static str,
    about: &'static str,
    decode: fn(&[u8]) -> Result<Report, DecodeError>,
) -> Decoder {
    Decoder {
        name,
        about,
        decode,
    }
}

/// A report of one line.
fn line(label: &'static str, value: impl std::fmt::Display) -> Report {
    let mut report = Report::default();
    report.line(label, value);
    report
}

/// All decoders.
#[rustfmt::skip]
pub const DECODERS: &[Decoder] = &[
    decoder("inquiry", "INQUIRY", |bytes| of(Inquiry, bytes)),
    decoder("vpd", "INQUIRY, any vital product data page",
        |bytes| VpdPage::decode(bytes).map(|page| Report::of(&page))),
    decoder("sense", "sense data, of REQUEST SENSE or with a status",
        |bytes| Sense::decode(bytes).map(|sense| Report::of(&sense))),
    decoder("position", "READ POSITION, short form", |bytes| of(ReadPositionShort, bytes)),
    decoder("position-long", "READ POSITION, long form", |bytes| of(ReadPositionLong, bytes)),
    decoder("position-extended", "READ POSITION, extended form",
        |bytes| of(ReadPositionExtended, bytes)),
    decoder("block-limits", "READ BLOCK LIMITS", |bytes| of(ReadBlockLimits, bytes)),
    decoder("mode", "MODE SENSE(6)", |bytes| of(ModeSense6::ALL, bytes)),
    decoder("mode-10", "MODE SENSE(10)",
        |bytes| of(ModeSense10 { page: 0x3f, subpage: 0 }, bytes)),
    decoder("log", "LOG SENSE, any page",
        |bytes| LogPage::decode(bytes).map(|page| Report::of(&page))),
    decoder("attributes", "READ ATTRIBUTE, values",
        |bytes| of(ReadAttributes { partition: 0, first: 0 }, bytes)),
    decoder("attribute-list", "READ ATTRIBUTE, list",
        |bytes| of(ReadAttributeList { partition: 0 }, bytes)),
    decoder("density", "REPORT DENSITY SUPPORT",
        |bytes| of(ReportDensitySupport { of_medium: false }, bytes)),
    decoder("opcodes", "REPORT SUPPORTED OPERATION CODES, all",
        |bytes| of(ReportSupportedOpcodes, bytes)),
    decoder("opcode", "REPORT SUPPORTED OPERATION CODES, one",
        |bytes| of(ReportSupportedOpcode { opcode: 0, service_action: None }, bytes)),
    decoder("keys", "PERSISTENT RESERVE IN, keys", |bytes| of(ReadKeys, bytes)),
    decoder("reservation", "PERSISTENT RESERVE IN, reservation",
        |bytes| of(ReadReservation, bytes)),
    decoder("wrap-ends", "READ END OF WRAP POSITION, all wraps",
        |bytes| of(ReadEndOfWrapPositions, bytes)),
    decoder("wrap-end", "READ END OF WRAP POSITION, one wrap",
        |bytes| {
            let end = ReadEndOfWrapPosition { wrap: 0 }.decode(bytes)?;
            Ok(line("block", end))
        }),
    decoder("access-order", "RECEIVE RECOMMENDED ACCESS ORDER",
        |bytes| of(ReceiveAccessOrder { segments: 0 }, bytes)),
    decoder("access-order-limits", "RECEIVE RECOMMENDED ACCESS ORDER, limits",
        |bytes| of(ReceiveAccessOrderLimits, bytes)),
    decoder("luns", "REPORT LUNS", |bytes| of(ReportLuns, bytes)),
    decoder("elements", "READ ELEMENT STATUS",
        |bytes| element_status(bytes).map(|elements| Report::of(&elements))),
];

/// Decodes an answer by the name of its decoder.
///
/// # Errors
/// [`DecodeAnyError`] with the names there are, or with what is wrong with the bytes.
pub fn decode_any(name: &str, bytes: &[u8]) -> Result<Report, DecodeAnyError> {
    let decoder = DECODERS
        .iter()
        .find(|decoder| decoder.name == name)
        .ok_or_else(|| {
            let known: Vec<&str> = DECODERS.iter().map(|decoder| decoder.name).collect();
            DecodeAnyError::Unknown {
                name: name.to_owned(),
                known: known.join(", "),
            }
        })?;
    Ok((decoder.decode)(bytes)?)
}
