//! Sense data: what went wrong, or what the drive has to say (SPC-5, 4.4).

mod codes;
mod condition;
mod device;
mod key;

pub use codes::words;
pub(crate) use condition::NOT_BY_DRIVER;
pub use condition::{Attention, Condition, NotReady};
pub use device::DeviceSense;
pub use key::SenseKey;

use crate::bytes::Fields;
use crate::decode_error::DecodeError;
use std::fmt;

/// Decoded sense data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sense {
    /// The kind of thing that happened.
    pub key: SenseKey,
    /// Additional sense code.
    pub asc: u8,
    /// Its qualifier.
    pub ascq: u8,
    /// It belongs to an earlier command (response codes 71h and 73h).
    pub is_deferred: bool,
    /// A filemark was met.
    pub filemark: bool,
    /// End of medium (or early warning, or beginning of partition: the code tells which).
    pub end_of_medium: bool,
    /// The block had another length than asked for.
    pub incorrect_length: bool,
    /// The INFORMATION field where it is valid: what was left, negative for blocks longer than asked for.
    pub information: Option<i64>,
    /// COMMAND-SPECIFIC INFORMATION, where the data reaches that far.
    pub command_specific: Option<u64>,
    /// Which part of the device failed, in its maker's numbering; 0 in the data is none.
    pub field_replaceable_unit: Option<u8>,
    /// What the sense-key specific bytes say.
    pub specific: Option<Specific>,
    /// What an LTO drive adds from byte 18 on.
    pub device: DeviceSense,
}

/// The sense-key specific bytes, where they are valid (SPC-5, 4.4.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specific {
    /// ILLEGAL REQUEST: where the wrong field is.
    Field {
        /// In the CDB; else in the parameter data.
        in_cdb: bool,
        /// Offset of the first wrong byte.
        byte: u16,
        /// The highest wrong bit, where it is told.
        bit: Option<u8>,
    },
    /// NOT READY and NO SENSE: how far it is, in 1/65536.
    Progress(u16),
    /// RECOVERED, MEDIUM and HARDWARE ERROR: how often it was tried.
    Retries(u16),
}

impl Sense {
    /// Decodes fixed (70h, 71h) and descriptor (72h, 73h) format.
    ///
    /// # Errors
    /// [`DecodeError`] when there are fewer bytes than a key and a code need, or another response code.
    pub fn decode(bytes: &[u8]) -> Result<Sense, DecodeError> {
        let sense = Fields::new("sense data", bytes);
        match sense.u8(0)? & 0x7f {
            0x70 | 0x71 => fixed(sense),
            0x72 | 0x73 => descriptors(sense),
            other => Err(DecodeError::Field {
                at: 0,
                what: "response code",
                value: u64::from(other),
                expected: "70h to 73h are sense data",
            }),
        }
    }

    /// Sense of this key and code and nothing else.
    pub fn new(key: SenseKey, asc: u8, ascq: u8) -> Sense {
        Sense {
            key,
            asc,
            ascq,
            is_deferred: false,
            filemark: false,
            end_of_medium: false,
            incorrect_length: false,
            information: None,
            command_specific: None,
            field_replaceable_unit: None,
            specific: None,
            device: DeviceSense::default(),
        }
    }

    /// ASC and ASCQ in one number.
    pub fn code(&self) -> u16 {
        u16::from_be_bytes([self.asc, self.ascq])
    }
}

/// Fixed format. Devices may send as little as eight bytes: a key and no code.
fn fixed(sense: Fields<'_>) -> Result<Sense, DecodeError> {
    let flags = sense.u8(2)?;
    sense.slice(0, 8)?;
    // Bytes past ADDITIONAL SENSE LENGTH are buffer that the device never filled.
    let told = 8 + usize::from(sense.u8(7)?);
    let sense = Fields::new("sense data", sense.slice(0, told.min(sense.len()))?);
    let key = SenseKey::from_bits(flags);
    // Four bytes, two's complement: a block longer than asked for leaves a negative rest.
    let information = i64::from(sense.u32(3)? as i32);
    Ok(Sense {
        is_deferred: sense.u8(0)? & 0x7f == 0x71,
        filemark: flags & 0x80 != 0,
        end_of_medium: flags & 0x40 != 0,
        incorrect_length: flags & 0x20 != 0,
        information: sense.bit(0, 7)?.then_some(information),
        command_specific: sense.uint(8, 4).ok(),
        field_replaceable_unit: sense.u8(14).ok().filter(|unit| *unit != 0),
        specific: sense
            .slice(15, 3)
            .ok()
            .and_then(|bytes| specific(key, bytes)),
        device: DeviceSense::decode(sense.rest(0)),
        ..Sense::new(key, sense.u8(12).unwrap_or(0), sense.u8(13).unwrap_or(0))
    })
}

/// Descriptor format: what is known is taken, what is not is skipped (SPC-5, 4.4.2).
fn descriptors(bytes: Fields<'_>) -> Result<Sense, DecodeError> {
    bytes.slice(0, 8)?;
    let mut sense = Sense::new(
        SenseKey::from_bits(bytes.u8(1)?),
        bytes.u8(2)?,
        bytes.u8(3)?,
    );
    sense.is_deferred = bytes.u8(0)? & 0x7f == 0x73;
    let end = bytes.len().min(8 + usize::from(bytes.u8(7)?));
    let mut at = 8;
    while at + 2 <= end {
        let length = usize::from(bytes.u8(at + 1)?);
        let Ok(descriptor) = bytes.part("sense descriptor", at + 2, length.min(end - at - 2))
        else {
            break;
        };
        apply(&mut sense, bytes.u8(at)?, descriptor);
        at += 2 + length;
    }
    Ok(sense)
}

/// One descriptor, without its type and length bytes. One that is cut short says nothing.
fn apply(sense: &mut Sense, kind: u8, descriptor: Fields<'_>) {
    match kind {
        0x00 if descriptor.bit(0, 7) == Ok(true) => {
            sense.information = descriptor.u64(2).ok().map(|value| value as i64);
        }
        0x01 => sense.command_specific = descriptor.u64(2).ok(),
        0x02 => {
            if let Ok(bytes) = descriptor.slice(2, 3) {
                sense.specific = specific(sense.key, bytes);
            }
        }
        0x03 => sense.field_replaceable_unit = descriptor.u8(1).ok().filter(|unit| *unit != 0),
        0x04 => {
            let flags = descriptor.u8(1).unwrap_or(0);
            sense.filemark = flags & 0x80 != 0;
            sense.end_of_medium = flags & 0x40 != 0;
            sense.incorrect_length = flags & 0x20 != 0;
        }
        _ => {}
    }
}

/// The three sense-key specific bytes; none when their valid bit (SKSV) is not set.
fn specific(key: SenseKey, bytes: &[u8]) -> Option<Specific> {
    let [flags, high, low] = *bytes else {
        return None;
    };
    let value = u16::from_be_bytes([high, low]);
    if flags & 0x80 == 0 {
        return None;
    }
    match key {
        SenseKey::IllegalRequest => Some(Specific::Field {
            in_cdb: flags & 0x40 != 0,
            byte: value,
            bit: (flags & 0x08 != 0).then_some(flags & 0x07),
        }),
        SenseKey::NoSense | SenseKey::NotReady => Some(Specific::Progress(value)),
        SenseKey::RecoveredError | SenseKey::MediumError | SenseKey::HardwareError => {
            Some(Specific::Retries(value))
        }
        _ => None,
    }
}

impl fmt::Display for Specific {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Specific::Field { in_cdb, byte, bit } => {
                let place = if *in_cdb { "command" } else { "parameter data" };
                write!(f, "byte {byte}")?;
                if let Some(bit) = bit {
                    write!(f, " bit {bit}")?;
                }
                write!(f, " of the {place}")
            }
            Specific::Progress(part) => {
                write!(f, "{} % done", u32::from(*part) * 100 / 65536)
            }
            Specific::Retries(count) => write!(f, "tried {count} times"),
        }
    }
}

impl fmt::Display for Sense {
    /// "medium error: unrecovered read error (03/11/00)": key, words, then the three numbers in hex.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_deferred {
            f.write_str("of an earlier command: ")?;
        }
        write!(f, "{}: {}", self.key, words(self.asc, self.ascq))?;
        write!(
            f,
            " ({:02x}/{:02x}/{:02x})",
            self.key.bits(),
            self.asc,
            self.ascq
        )?;
        match &self.specific {
            Some(specific) => write!(f, ", {specific}"),
            None => Ok(()),
        }
    }
}
