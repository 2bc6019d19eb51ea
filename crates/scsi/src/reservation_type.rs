//! What a persistent reservation allows others (SPC-5, 5.14).

use std::fmt;

/// What a reservation allows others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReservationType {
    /// 1: others may read.
    WriteExclusive,
    /// 3: the holder alone.
    ExclusiveAccess,
    /// 5: others may read, whoever is registered may write.
    WriteExclusiveRegistrantsOnly,
    /// 6: whoever is registered.
    ExclusiveAccessRegistrantsOnly,
    /// 7: as 5, and every registrant is holder.
    WriteExclusiveAllRegistrants,
    /// 8: as 6, and every registrant is holder.
    ExclusiveAccessAllRegistrants,
    /// A reserved value.
    Other(u8),
}

impl ReservationType {
    /// The type of the low four bits.
    pub fn from_bits(bits: u8) -> ReservationType {
        match bits & 0x0f {
            1 => ReservationType::WriteExclusive,
            3 => ReservationType::ExclusiveAccess,
            5 => ReservationType::WriteExclusiveRegistrantsOnly,
            6 => ReservationType::ExclusiveAccessRegistrantsOnly,
            7 => ReservationType::WriteExclusiveAllRegistrants,
            8 => ReservationType::ExclusiveAccessAllRegistrants,
            other => ReservationType::Other(other),
        }
    }

    /// The four bits.
    pub fn bits(self) -> u8 {
        match self {
            ReservationType::WriteExclusive => 1,
            ReservationType::ExclusiveAccess => 3,
            ReservationType::WriteExclusiveRegistrantsOnly => 5,
            ReservationType::ExclusiveAccessRegistrantsOnly => 6,
            ReservationType::WriteExclusiveAllRegistrants => 7,
            ReservationType::ExclusiveAccessAllRegistrants => 8,
            ReservationType::Other(bits) => bits & 0x0f,
        }
    }
}

impl fmt::Display for ReservationType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReservationType::WriteExclusive => f.write_str("write exclusive"),
            ReservationType::ExclusiveAccess => f.write_str("exclusive access"),
            ReservationType::WriteExclusiveRegistrantsOnly => {
                f.write_str("write exclusive, registrants only")
            }
            ReservationType::ExclusiveAccessRegistrantsOnly => {
                f.write_str("exclusive access, registrants only")
            }
            ReservationType::WriteExclusiveAllRegistrants => {
                f.write_str("write exclusive, all registrants")
            }
            ReservationType::ExclusiveAccessAllRegistrants => {
                f.write_str("exclusive access, all registrants")
            }
            ReservationType::Other(bits) => write!(f, "reserved type {bits}"),
        }
    }
}
