//! What can go wrong with a command.

use crate::decode_error::DecodeError;
use crate::device_kind::DeviceKind;
use crate::holder::Holder;
use crate::sense::{Condition, Sense};
use crate::transport::{Completion, Status, TransportError};
use std::time::Duration;

/// A command that failed, with its name.
#[derive(Debug, thiserror::Error)]
pub enum ScsiError {
    /// No status came back.
    #[error("{command}: {source}")]
    Transport {
        /// The command.
        command: &'static str,
        /// Why not.
        source: TransportError,
    },
    /// The device said CHECK CONDITION.
    #[error("{command}: {sense}")]
    Sense {
        /// The command.
        command: &'static str,
        /// What it said, boxed because it is large and errors are rare.
        sense: Box<Sense>,
    },
    /// The device gave another status than GOOD, or a CHECK CONDITION whose sense is not readable.
    #[error("{command}: status {status:?}")]
    Status {
        /// The command.
        command: &'static str,
        /// The status.
        status: Status,
    },
    /// Somebody else has reserved the drive.
    #[error("{holder}")]
    Reserved {
        /// Who, as far as can be told.
        holder: Box<Holder>,
    },
    /// This host's lease on the drive was not renewed in time: somebody else may have the drive.
    #[error("the lease on the drive is over: nothing more is written")]
    LeaseOver,
    /// The device was not ready within the time given.
    #[error("not ready after {} s: {sense}", waited.as_secs())]
    StillNotReady {
        /// How long it was asked.
        waited: Duration,
        /// What it said last.
        sense: Box<Sense>,
    },
    /// The drive says that a block is longer than what it sent of it: bytes are missing.
    #[error("{command}: the block has {block_bytes} bytes, only {transferred} arrived")]
    BlockLength {
        /// The command.
        command: &'static str,
        /// How long the block is by INFORMATION.
        block_bytes: u64,
        /// Bytes that arrived.
        transferred: usize,
    },
    /// Not all that was to be written is on the tape: the drive says so, or the path to it carried less.
    #[error(
        "{command}: not all was written: {left} bytes of the block, or filemarks, are missing on the tape"
    )]
    NotWritten {
        /// The command.
        command: &'static str,
        /// Bytes, or filemarks, that were not written.
        left: u64,
    },
    /// The drive was reset, and it was not looked since where the head is: what is written might be over anything.
    #[error("the drive was reset, and the head may be anywhere since then. Nothing was written")]
    WasReset,
    /// The drive cannot say where it is, and it was not counted from a known place, or the drive could say it before.
    #[error(
        "the position is not known: the drive does not tell it, and counting since the last rewind does not help"
    )]
    PositionUnknown,
    /// A locate without LOCATE ended elsewhere.
    #[error("block {block} of partition {partition} was not reached: {why}")]
    NotReached {
        /// The partition asked for.
        partition: u8,
        /// The block asked for.
        block: u64,
        /// Why not.
        why: &'static str,
    },
    /// The device is not of the kind that was expected.
    #[error("this is a {found}, not a {expected}")]
    WrongDevice {
        /// What it is.
        found: DeviceKind,
        /// What it should be.
        expected: DeviceKind,
    },
    /// A number does not fit the command.
    #[error("{command}: {what} {value} is more than {most}")]
    TooLarge {
        /// The command.
        command: &'static str,
        /// What does not fit.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The most that fits.
        most: u64,
    },
    /// No element of the library holds the drive of this serial number.
    #[error("no drive element has serial number {serial:?}; the library names {known}")]
    NoSuchDrive {
        /// The serial number asked for.
        serial: String,
        /// The serial numbers it names.
        known: String,
    },
    /// A drive was tied by hand to an element that the library does not have.
    #[error("the library has no drive element {address}")]
    NoDriveElement {
        /// The element's address.
        address: u16,
    },
    /// A changer whose MODE SENSE data has no element address assignment page.
    #[error("the library does not tell its element addresses (mode page 1Dh)")]
    NoElementAddresses,
    /// The library does not say which drive is in which element.
    #[error(
        "the library does not tell the serial numbers of its drives: tie them to its elements by hand"
    )]
    NoDriveSerials,
    /// The answer is not what its format says.
    #[error("{command}: {source}")]
    Decode {
        /// The command.
        command: &'static str,
        /// What is wrong with it.
        source: DecodeError,
    },
}

impl ScsiError {
    /// The error of a command that got no status.
    pub fn transport(command: &'static str, source: TransportError) -> ScsiError {
        ScsiError::Transport { command, source }
    }

    /// The error of an answer that cannot be read.
    pub fn decode(command: &'static str, source: DecodeError) -> ScsiError {
        ScsiError::Decode { command, source }
    }

    /// The error of a command that came back with another status than GOOD.
    pub fn completion(command: &'static str, done: Completion) -> ScsiError {
        match done.sense() {
            Some(sense) if done.status == Status::CheckCondition => ScsiError::Sense {
                command,
                sense: Box::new(sense),
            },
            _ => ScsiError::Status {
                command,
                status: done.status,
            },
        }
    }

    /// The sense, if that is what the device answered.
    pub fn sense(&self) -> Option<&Sense> {
        match self {
            ScsiError::Sense { sense, .. } | ScsiError::StillNotReady { sense, .. } => Some(sense),
            _ => None,
        }
    }

    /// What the device is in, if it answered with sense.
    pub fn condition(&self) -> Option<Condition> {
        self.sense().map(Sense::condition)
    }

    /// Whether the device does not have this command, or not with these fields.
    pub fn is_unsupported(&self) -> bool {
        matches!(
            self.condition(),
            Some(Condition::UnsupportedCommand | Condition::UnsupportedField)
        )
    }

    /// Whether the path to the device refused to carry so much data: the device has seen nothing.
    pub fn is_too_large(&self) -> bool {
        matches!(
            self,
            ScsiError::Transport {
                source: TransportError::TooLarge { .. },
                ..
            }
        )
    }

    /// Whether the same command may succeed when it is simply sent again later.
    pub fn is_retryable(&self) -> bool {
        match self {
            ScsiError::Sense { sense, .. } | ScsiError::StillNotReady { sense, .. } => {
                sense.is_retryable()
            }
            ScsiError::Status { status, .. } => {
                matches!(status, Status::Busy | Status::TaskSetFull)
            }
            _ => false,
        }
    }
}

impl Completion {
    /// An error unless the command did what it was told. With a recovered error or a mere note (a
    /// cleaning request) it did; a filemark, a block
    /// of another length or the end of the medium did not, and are for the caller to look at.
    ///
    /// # Errors
    /// [`ScsiError`] with the status and the sense.
    pub fn check(&self, command: &'static str) -> Result<(), ScsiError> {
        let carried_out = || {
            let sense = self.sense().filter(|sense| !sense.is_deferred);
            sense.is_some_and(|sense| {
                matches!(sense.condition(), Condition::Fine | Condition::Recovered)
            })
        };
        match self.status {
            Status::Good => Ok(()),
            Status::CheckCondition if carried_out() => Ok(()),
            _ => Err(ScsiError::completion(command, *self)),
        }
    }
}
