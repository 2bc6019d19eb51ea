//! What can go wrong with a command.

use crate::sense::Sense;
use crate::transport::{Completion, Status, TransportError};

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
            ScsiError::Sense { sense, .. } => Some(sense),
            _ => None,
        }
    }
}

/// An answer that its decoder refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Fewer bytes than the format needs.
    #[error("the answer has {have} bytes, {what} needs {need}")]
    Short {
        /// What was to be read.
        what: &'static str,
        /// Bytes there are.
        have: usize,
        /// Bytes it needs.
        need: usize,
    },
    /// A field holds what its format does not allow.
    #[error("byte {at}: {what} is {value:#x}, {expected}")]
    Field {
        /// Offset of the field's first byte.
        at: usize,
        /// The field's name.
        what: &'static str,
        /// Its value.
        value: u64,
        /// What the format allows.
        expected: &'static str,
    },
}
