//! Tape drive or changer: the peripheral device type (SPC-5, Table 150).

use std::fmt;

/// What kind of device it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// 01h: a tape drive.
    Tape,
    /// 08h: a changer.
    Changer,
    /// Any other type.
    Other(u8),
}

impl DeviceKind {
    /// The kind of the low five bits.
    pub fn from_bits(bits: u8) -> DeviceKind {
        match bits & 0x1f {
            0x01 => DeviceKind::Tape,
            0x08 => DeviceKind::Changer,
            other => DeviceKind::Other(other),
        }
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceKind::Tape => f.write_str("tape drive"),
            DeviceKind::Changer => f.write_str("changer"),
            DeviceKind::Other(kind) => write!(f, "device type {kind:02x}h"),
        }
    }
}
