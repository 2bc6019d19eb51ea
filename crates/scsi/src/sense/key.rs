//! The sense key: the kind of thing that happened (SPC-5, Table 48).

use std::fmt;

/// The sense key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the standard's
pub enum SenseKey {
    NoSense,
    RecoveredError,
    NotReady,
    MediumError,
    HardwareError,
    IllegalRequest,
    UnitAttention,
    DataProtect,
    BlankCheck,
    VendorSpecific,
    CopyAborted,
    AbortedCommand,
    Reserved,
    VolumeOverflow,
    Miscompare,
    Completed,
}

/// Every key with its name in words, in the order of the four bits.
const KEYS: [(SenseKey, &str); 16] = [
    (SenseKey::NoSense, "no sense"),
    (SenseKey::RecoveredError, "recovered error"),
    (SenseKey::NotReady, "not ready"),
    (SenseKey::MediumError, "medium error"),
    (SenseKey::HardwareError, "hardware error"),
    (SenseKey::IllegalRequest, "illegal request"),
    (SenseKey::UnitAttention, "unit attention"),
    (SenseKey::DataProtect, "data protect"),
    (SenseKey::BlankCheck, "blank check"),
    (SenseKey::VendorSpecific, "vendor specific"),
    (SenseKey::CopyAborted, "copy aborted"),
    (SenseKey::AbortedCommand, "aborted command"),
    (SenseKey::Reserved, "reserved sense key"),
    (SenseKey::VolumeOverflow, "volume overflow"),
    (SenseKey::Miscompare, "miscompare"),
    (SenseKey::Completed, "completed"),
];

impl SenseKey {
    /// The key of the low four bits.
    pub fn from_bits(bits: u8) -> SenseKey {
        KEYS[usize::from(bits & 0x0f)].0
    }

    /// The four bits.
    pub fn bits(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for SenseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(KEYS[usize::from(self.bits())].1)
    }
}
