//! How a command gets to a device and what comes back.

use crate::cdb::Cdb;
use crate::sense::Sense;
use std::time::Duration;

/// The data phase of a command.
#[derive(Debug)]
pub enum Data<'a> {
    /// No data.
    None,
    /// Room for what the device sends.
    In(&'a mut [u8]),
    /// What is sent to the device.
    Out(&'a [u8]),
}

/// The status byte (SAM-5, Table 36).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// 00h.
    Good,
    /// 02h: the sense says what.
    CheckCondition,
    /// 08h: the device is busy with something else.
    Busy,
    /// 18h: another initiator has reserved the device.
    ReservationConflict,
    /// 28h: too many commands at once.
    TaskSetFull,
    /// 40h: the command was aborted by a task management function.
    TaskAborted,
    /// Any other byte.
    Other(u8),
}

impl From<u8> for Status {
    fn from(byte: u8) -> Status {
        match byte {
            0x00 => Status::Good,
            0x02 => Status::CheckCondition,
            0x08 => Status::Busy,
            0x18 => Status::ReservationConflict,
            0x28 => Status::TaskSetFull,
            0x40 => Status::TaskAborted,
            other => Status::Other(other),
        }
    }
}

impl From<Status> for u8 {
    fn from(status: Status) -> u8 {
        match status {
            Status::Good => 0x00,
            Status::CheckCondition => 0x02,
            Status::Busy => 0x08,
            Status::ReservationConflict => 0x18,
            Status::TaskSetFull => 0x28,
            Status::TaskAborted => 0x40,
            Status::Other(byte) => byte,
        }
    }
}

/// Sense data as the device sent it, up to 96 bytes: what LTO drives send in full.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SenseBytes {
    bytes: [u8; SenseBytes::MOST],
    length: u8,
}

impl SenseBytes {
    /// What we keep of it.
    pub const MOST: usize = 96;

    /// The first [`SenseBytes::MOST`] of these bytes.
    pub fn new(bytes: &[u8]) -> SenseBytes {
        let length = bytes.len().min(SenseBytes::MOST);
        let mut all = [0; SenseBytes::MOST];
        all[..length].copy_from_slice(&bytes[..length]);
        SenseBytes {
            bytes: all,
            length: length as u8,
        }
    }

    /// No sense.
    pub fn none() -> SenseBytes {
        SenseBytes::new(&[])
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl std::fmt::Debug for SenseBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02x?}", self.bytes())
    }
}

/// A command that came back, with whatever status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The status byte.
    pub status: Status,
    /// Bytes that were moved in the data phase.
    pub transferred: usize,
    /// The sense that came with the status, empty when there was none.
    pub sense: SenseBytes,
}

impl Completion {
    /// A command that went well.
    pub fn good(transferred: usize) -> Completion {
        Completion {
            status: Status::Good,
            transferred,
            sense: SenseBytes::none(),
        }
    }

    /// A command that ended with sense.
    pub fn check_condition(transferred: usize, sense: &[u8]) -> Completion {
        Completion {
            status: Status::CheckCondition,
            transferred,
            sense: SenseBytes::new(sense),
        }
    }

    /// The decoded sense, if there is any.
    pub fn sense(&self) -> Option<Sense> {
        Sense::decode(self.sense.bytes()).ok()
    }
}

/// A way to a device: one at a time, in order.
///
/// A transport also owns the clock that its device lives by, because an emulated device has its
/// own: whoever measures or waits asks the transport.
pub trait Transport: Send {
    /// What the user called the device, for errors and logs.
    fn name(&self) -> &str;

    /// Carries one command and waits until it has ended or the time is out.
    ///
    /// # Errors
    /// [`TransportError`] when no status came back. A status other than GOOD is no error here.
    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError>;

    /// Bytes that the path to the device carries with one command for sure; `None` when nobody can
    /// say, and any number may be tried.
    fn most_bytes(&self) -> Option<usize> {
        None
    }

    /// Whether closing the device writes a filemark after the last block, even after an error or when the program is
    /// killed.
    fn closes_with_filemark(&self) -> bool {
        false
    }

    /// The time since the transport was opened, on the device's clock.
    fn now(&self) -> Duration;

    /// Lets so much time pass on the device's clock.
    fn wait(&mut self, duration: Duration);
}

/// No status came back.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The device cannot be opened or talked to.
    #[error("{device}: {source}")]
    Io {
        /// What the user called the device.
        device: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The device did not answer in time.
    #[error("{device}: no answer within {} s", timeout.as_secs())]
    TimedOut {
        /// What the user called the device.
        device: String,
        /// How long we waited.
        timeout: Duration,
    },
    /// The path to the device failed: host and driver status of SG_IO, an iSCSI session that ended.
    #[error("{device}: {what}")]
    Path {
        /// What the user called the device.
        device: String,
        /// What failed, in words.
        what: String,
    },
    /// More data than the path carries with one command.
    #[error("{}", too_large(device, *bytes, *limit_bytes))]
    TooLarge {
        /// What the user called the device.
        device: String,
        /// Bytes that were to be moved.
        bytes: usize,
        /// Bytes that the path takes.
        limit_bytes: usize,
    },
    /// A replayed recording goes on in another way than the caller.
    #[error("{device}: exchange {exchange} of the recording {what}")]
    Deviation {
        /// What the user called the recording.
        device: String,
        /// The exchange, counted from 1.
        exchange: usize,
        /// How they differ.
        what: String,
    },
    /// The transport has no way to carry this.
    #[error("{device}: {what} cannot be done this way")]
    Unsupported {
        /// What the user called the device.
        device: String,
        /// What was asked.
        what: String,
    },
}

/// What a path refuses, in words. Some do not know themselves how much they carry.
fn too_large(device: &str, bytes: usize, limit_bytes: usize) -> String {
    let sure = if limit_bytes < bytes {
        format!("; {limit_bytes} bytes are sure to go")
    } else {
        String::new()
    };
    format!(
        "{device}: {bytes} bytes are more than the adapter carries with one command{sure}: write smaller blocks, or \
         use another adapter"
    )
}

impl TransportError {
    /// The error of a system call on an open device.
    pub fn io(device: &str, source: std::io::Error) -> TransportError {
        TransportError::Io {
            device: device.to_owned(),
            source,
        }
    }

    /// The error of a device that cannot be opened; who may not open it is told what to do.
    pub fn open(device: &str, source: std::io::Error) -> TransportError {
        if source.kind() == std::io::ErrorKind::PermissionDenied {
            return TransportError::Path {
                device: device.to_owned(),
                what: format!(
                    "{source}: tape devices belong to a group, most often `tape`; be a member of it"
                ),
            };
        }
        TransportError::io(device, source)
    }
}
