//! What sense means for whoever sent the command: one classification, used by everyone.

use super::{Sense, SenseKey};
use std::fmt;

/// What the device is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Nothing to say, or a note on a command that was carried out.
    Fine,
    /// The command was carried out, with trouble.
    Recovered,
    /// The drive cannot take the command now.
    NotReady(NotReady),
    /// Something changed that the initiator must know before it goes on.
    UnitAttention(Attention),
    /// A filemark was met.
    Filemark,
    /// The recorded data ended.
    EndOfData,
    /// The beginning of the partition was met.
    BeginningOfPartition,
    /// The end of the partition is near; the command was carried out.
    EarlyWarning,
    /// The partition is full, or was read to its physical end.
    EndOfMedium,
    /// The block is shorter or longer than asked for.
    IncorrectLength,
    /// The cartridge cannot be read or written there.
    Medium,
    /// The drive or the robot failed.
    Hardware,
    /// The device does not know the operation code (05/20/00).
    UnsupportedCommand,
    /// A field of the command or of its data is not accepted, among them service actions and pages
    /// that the device does not have (05/24/00, 05/25/00, 05/26/xx).
    UnsupportedField,
    /// An element address is invalid, its source empty or its destination full.
    Element,
    /// Medium removal is prevented.
    RemovalPrevented,
    /// Any other illegal request, as a command out of sequence.
    IllegalRequest,
    /// Write protection, WORM, or a key that is missing.
    DataProtect,
    /// The command was aborted by the device.
    Aborted,
    /// A key whose meaning is the vendor's or which a tape does not use.
    Other,
}

/// Why a device is not ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NotReady {
    /// It will be by itself: a cartridge is loading, the device is starting, an operation goes on.
    BecomingReady,
    /// A cartridge is in but not loaded: LOAD is needed.
    NeedsLoad,
    /// There is no cartridge.
    NoMedium,
    /// It is being cleaned.
    Cleaning,
    /// The cartridge is of a kind or format the drive cannot use.
    Incompatible,
    /// Somebody has to do something.
    NeedsIntervention,
    /// Another cause.
    Other,
}

/// What a unit attention tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attention {
    /// A cartridge was loaded (28/00).
    MediumChanged,
    /// The import/export station was accessed (28/01 and following).
    StationAccessed,
    /// Power on, reset, or another nexus loss (29/xx): the position is lost.
    Reset,
    /// Mode parameters, log parameters or capacities were changed by somebody (2A/xx).
    ParametersChanged,
    /// Reservations or registrations were changed by somebody (2A/03 to 2A/05).
    ReservationsChanged,
    /// Encryption or its keys were changed by somebody (2A/0D, 2A/11 to 2A/13): what is written now may need another key.
    EncryptionChanged,
    /// Firmware or INQUIRY data changed (3F/xx).
    FirmwareChanged,
    /// An operator asks for the cartridge (5A/xx).
    RemovalRequested,
    /// Another one.
    Other,
}

impl Attention {
    /// Whether position, cartridge, reservations and encryption are what they were. A command that was answered with a
    /// unit attention was not carried out (SAM-5, 5.14), so that after such a one it can simply be sent again. New
    /// firmware is none: a drive that starts it stands elsewhere, and may say no more than this.
    pub fn is_benign(self) -> bool {
        self == Attention::ParametersChanged
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Condition::NotReady(why) => return write!(f, "not ready: {why}"),
            Condition::UnitAttention(what) => return write!(f, "unit attention: {what}"),
            Condition::Fine => "no error",
            Condition::Recovered => "the command was carried out, with trouble",
            Condition::Filemark => "a filemark was met",
            Condition::EndOfData => "the recorded data ended",
            Condition::BeginningOfPartition => "the beginning of the partition was met",
            Condition::EarlyWarning => "the end of the partition is near",
            Condition::EndOfMedium => "the end of the partition was reached",
            Condition::IncorrectLength => "the block has another length than asked for",
            Condition::Medium => "the cartridge cannot be read or written there",
            Condition::Hardware => "the drive or the robot failed",
            Condition::UnsupportedCommand => "the device does not know the command",
            Condition::UnsupportedField => "the device does not accept a field of the command",
            Condition::Element => "no such element, an empty source or a full destination",
            Condition::RemovalPrevented => "removal of the cartridge is prevented",
            Condition::IllegalRequest => "the device does not accept the command",
            Condition::DataProtect => "the cartridge is protected",
            Condition::Aborted => "the device aborted the command",
            Condition::Other => "another condition",
        })
    }
}

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotReady::BecomingReady => "it is becoming ready",
            NotReady::NeedsLoad => "the cartridge must be loaded",
            NotReady::NoMedium => "there is no cartridge",
            NotReady::Cleaning => "it is being cleaned",
            NotReady::Incompatible => "the drive cannot use this cartridge",
            NotReady::NeedsIntervention => "somebody has to do something",
            NotReady::Other => "another cause",
        })
    }
}

impl fmt::Display for Attention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Attention::MediumChanged => "a cartridge was loaded",
            Attention::StationAccessed => "the import/export station was accessed",
            Attention::Reset => "the device was reset",
            Attention::ParametersChanged => "parameters were changed",
            Attention::ReservationsChanged => "reservations were changed",
            Attention::EncryptionChanged => "encryption was changed",
            Attention::FirmwareChanged => "firmware or INQUIRY data changed",
            Attention::RemovalRequested => "an operator asks for the cartridge",
            Attention::Other => "another message",
        })
    }
}

/// Additional sense of our own, of the vendors' range: Linux's tape driver has no such command, and the
/// drive was not asked.
pub(crate) const NOT_BY_DRIVER: u16 = 0x20f0;

impl Sense {
    /// What the device is in, by key and code (SPC-5 Annex F; SSC-5; SMC-3).
    pub fn condition(&self) -> Condition {
        match self.key {
            SenseKey::NoSense | SenseKey::Completed => self.note(),
            SenseKey::RecoveredError => match self.note() {
                Condition::Fine => Condition::Recovered,
                met => met,
            },
            SenseKey::NotReady => Condition::NotReady(self.not_ready()),
            SenseKey::MediumError if self.code() == 0x0002 => Condition::EndOfMedium,
            SenseKey::MediumError => Condition::Medium,
            SenseKey::HardwareError => Condition::Hardware,
            SenseKey::IllegalRequest => self.illegal_request(),
            SenseKey::UnitAttention => Condition::UnitAttention(self.attention()),
            SenseKey::DataProtect => Condition::DataProtect,
            SenseKey::BlankCheck => Condition::EndOfData,
            SenseKey::AbortedCommand => Condition::Aborted,
            SenseKey::VolumeOverflow => Condition::EndOfMedium,
            SenseKey::VendorSpecific
            | SenseKey::CopyAborted
            | SenseKey::Reserved
            | SenseKey::Miscompare => Condition::Other,
        }
    }

    /// Whether the same command may succeed when it is simply sent again later.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self.condition(),
            Condition::NotReady(NotReady::BecomingReady | NotReady::Cleaning) | Condition::Aborted
        )
    }

    /// NO SENSE: the flags tell what was met. Their order matters: a filemark in early warning sets
    /// EOM too, and what stopped the command is the filemark.
    fn note(&self) -> Condition {
        match self.code() {
            _ if self.filemark => Condition::Filemark,
            _ if self.incorrect_length => Condition::IncorrectLength,
            0x0001 | 0x0003 => Condition::Filemark,
            0x0004 => Condition::BeginningOfPartition,
            0x0005 => Condition::EndOfData,
            0x0002 | 0x0007 => Condition::EarlyWarning,
            _ if self.end_of_medium => Condition::EarlyWarning,
            _ => Condition::Fine,
        }
    }

    fn not_ready(&self) -> NotReady {
        match (self.asc, self.ascq) {
            (0x04, 0x02) => NotReady::NeedsLoad,
            (0x04, 0x03) => NotReady::NeedsIntervention,
            // 04/00 gives no cause; LTO drives report it while a cartridge loads.
            (0x04, 0x00 | 0x01 | 0x04..=0x0a | 0x14 | 0x1a | 0x24) | (0x3e, 0x00) => {
                NotReady::BecomingReady
            }
            (0x04, 0x12) => NotReady::Other,
            (0x3a, _) => NotReady::NoMedium,
            (0x30, 0x03) => NotReady::Cleaning,
            (0x30 | 0x31, _) => NotReady::Incompatible,
            _ => NotReady::Other,
        }
    }

    fn attention(&self) -> Attention {
        match (self.asc, self.ascq) {
            (0x28, 0x00) => Attention::MediumChanged,
            (0x28, _) => Attention::StationAccessed,
            (0x29, _) => Attention::Reset,
            (0x2a, 0x03..=0x05) => Attention::ReservationsChanged,
            (0x2a, 0x0d | 0x11..=0x13) => Attention::EncryptionChanged,
            (0x2a, _) => Attention::ParametersChanged,
            (0x3f, _) => Attention::FirmwareChanged,
            (0x5a, _) => Attention::RemovalRequested,
            _ => Attention::Other,
        }
    }

    fn illegal_request(&self) -> Condition {
        match (self.asc, self.ascq) {
            (0x20, 0x00) => Condition::UnsupportedCommand,
            _ if self.code() == NOT_BY_DRIVER => Condition::UnsupportedCommand,
            (0x24..=0x26, _) => Condition::UnsupportedField,
            (0x21, 0x01) | (0x3b, 0x0d..=0x1a) => Condition::Element,
            (0x53, 0x02) => Condition::RemovalPrevented,
            _ => Condition::IllegalRequest,
        }
    }
}
