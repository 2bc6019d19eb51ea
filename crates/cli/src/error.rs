//! What went wrong, said so that it can be acted on, with the documented exit code.

mod front;

use std::fmt;
use tapewise_library::pool::PoolError;
use tapewise_run::RunError;
use tapewise_scsi::ScsiError;
use tapewise_scsi::question::AskError;

/// The exit codes of this program; docs/reference/exit-codes.md is their contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Something failed that is none of the other cases.
    Failed = 1,
    /// Wrong usage or bad input.
    Input = 2,
    /// Refused as unsafe.
    Refused = 3,
    /// The drive is busy or reserved by another.
    Busy = 4,
    /// Not ready: no cartridge, or one that is still being loaded.
    NotReady = 5,
    /// The medium could not be read or written.
    Medium = 6,
    /// A part is done, and said; comes before what kept the rest from it.
    Partial = 7,
    /// A checksum did not match.
    Checksum = 8,
    /// Drive or robot failed.
    Hardware = 9,
    /// Interrupted; what was done is kept, and the same command goes on from there.
    Interrupted = 130,
}

impl Exit {
    const ALL: [Exit; 10] = [
        Exit::Failed,
        Exit::Input,
        Exit::Refused,
        Exit::Busy,
        Exit::NotReady,
        Exit::Medium,
        Exit::Partial,
        Exit::Checksum,
        Exit::Hardware,
        Exit::Interrupted,
    ];

    /// What a program calls the end with this code.
    pub fn outcome(code: u8) -> &'static str {
        match Exit::ALL.into_iter().find(|exit| *exit as u8 == code) {
            None if code == 0 => "done",
            None | Some(Exit::Failed) => "failed",
            Some(Exit::Input) => "bad-input",
            Some(Exit::Refused) => "refused",
            Some(Exit::Busy) => "busy",
            Some(Exit::NotReady) => "not-ready",
            Some(Exit::Medium) => "medium",
            Some(Exit::Partial) => "partial",
            Some(Exit::Checksum) => "checksum",
            Some(Exit::Hardware) => "hardware",
            Some(Exit::Interrupted) => "interrupted",
        }
    }
}

/// What to do about a robot that does not tell which drive is where.
pub const TIE_DRIVES: &str = "name the robot with its drives: ROBOT,ELEMENT=SERIAL,ELEMENT=SERIAL; `tapewise library \
                              inventory` lists the elements, `tapewise drive status` prints a drive's serial number";

/// An error for a person: what was wrong, where, and what to do.
#[derive(Debug)]
pub struct CliError {
    exit: Exit,
    message: String,
    hint: Option<String>,
}

impl CliError {
    /// Bad input or usage.
    pub fn input(message: impl fmt::Display) -> CliError {
        CliError::with(Exit::Input, message)
    }

    /// A failure that the input is not to blame for.
    pub fn failed(message: impl fmt::Display) -> CliError {
        CliError::with(Exit::Failed, message)
    }

    /// An error with a given exit code.
    pub fn with(exit: Exit, message: impl fmt::Display) -> CliError {
        CliError {
            exit,
            message: message.to_string(),
            hint: None,
        }
    }

    /// The same with another exit code.
    pub fn with_exit(self, exit: Exit) -> CliError {
        CliError { exit, ..self }
    }

    /// The same exit code with another message.
    pub fn saying(self, message: impl fmt::Display) -> CliError {
        CliError {
            message: message.to_string(),
            ..self
        }
    }

    /// The same with what to do about it.
    pub fn hint(self, hint: impl Into<String>) -> CliError {
        CliError {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// The same with what to do about it, unless that was said already.
    pub fn or_hint(self, hint: &str) -> CliError {
        match self.hint {
            Some(_) => self,
            None => self.hint(hint),
        }
    }

    /// The same with what was kept and how to go on, if somebody interrupted the work.
    pub fn if_interrupted(self, hint: &str) -> CliError {
        match self.exit() {
            Exit::Interrupted => self.or_hint(hint),
            _ => self,
        }
    }

    /// The same, said of a file or a device.
    pub fn of(self, what: impl fmt::Display) -> CliError {
        CliError {
            message: format!("{what}: {}", self.message),
            ..self
        }
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// What was wrong, without what to do about it.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn to_do(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl From<tapewise_model::profile::ProfileError> for CliError {
    fn from(error: tapewise_model::profile::ProfileError) -> CliError {
        CliError::input(error)
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> CliError {
        match error {
            RunError::Scsi(error) => error.into(),
            RunError::Interrupted => CliError::with(Exit::Interrupted, error),
            RunError::Unsuitable(_) => CliError::input(error),
            RunError::EndOfData { .. } => CliError::with(Exit::Medium, error),
            _ => CliError::failed(error),
        }
    }
}

impl From<ScsiError> for CliError {
    fn from(error: ScsiError) -> CliError {
        let refused = CliError::with(exit_of(&error), &error);
        match error {
            ScsiError::NoDriveSerials => refused.hint(TIE_DRIVES),
            _ => refused,
        }
    }
}

impl From<AskError> for CliError {
    fn from(error: AskError) -> CliError {
        match error {
            AskError::Scsi(error) => error.into(),
            _ => CliError::with(Exit::Refused, error),
        }
    }
}

impl From<PoolError> for CliError {
    fn from(error: PoolError) -> CliError {
        let exit = match &error {
            PoolError::NoDrives
            | PoolError::Twice { .. }
            | PoolError::NoSuchVolume { .. }
            | PoolError::NotInLibrary { .. } => Exit::Input,
            PoolError::Elsewhere { .. }
            | PoolError::TakenOut { .. }
            | PoolError::InUse { .. }
            | PoolError::AllBusy { .. }
            | PoolError::Reserved { .. } => Exit::Busy,
            PoolError::WrongCartridge { .. } | PoolError::WrongLabel { .. } => Exit::Refused,
            PoolError::NoCleaner { .. }
            | PoolError::NotGiven { .. }
            | PoolError::NobodyThere { .. } => Exit::NotReady,
            PoolError::Stopped { .. } => Exit::Interrupted,
            PoolError::Library {
                source: ScsiError::NoDriveSerials,
                ..
            } => return CliError::with(Exit::Refused, error).hint(TIE_DRIVES),
            _ => Exit::Hardware,
        };
        CliError::with(exit, error)
    }
}

/// The exit code that says best what a device answered.
fn exit_of(error: &ScsiError) -> Exit {
    use tapewise_scsi::{Condition, Status, TransportError};
    if let Some(condition) = error.condition() {
        return match condition {
            Condition::NotReady(_) => Exit::NotReady,
            Condition::Medium | Condition::EndOfData | Condition::EndOfMedium => Exit::Medium,
            Condition::Hardware => Exit::Hardware,
            Condition::DataProtect | Condition::RemovalPrevented => Exit::Refused,
            _ => Exit::Failed,
        };
    }
    match error {
        ScsiError::Status {
            status: Status::Busy | Status::ReservationConflict | Status::TaskSetFull,
            ..
        }
        | ScsiError::Reserved { .. }
        | ScsiError::LeaseOver => Exit::Busy,
        ScsiError::Transport { source, .. } => match source {
            TransportError::TimedOut { .. } | TransportError::Path { .. } => Exit::Hardware,
            TransportError::TooLarge { .. } | TransportError::Deviation { .. } => Exit::Input,
            _ => Exit::Failed,
        },
        ScsiError::WrongDevice { .. } | ScsiError::TooLarge { .. } => Exit::Input,
        ScsiError::NoSuchDrive { .. } | ScsiError::NoDriveSerials => Exit::Refused,
        ScsiError::NoDriveElement { .. } => Exit::Input,
        ScsiError::Decode { .. } | ScsiError::BlockLength { .. } | ScsiError::NotWritten { .. } => {
            Exit::Hardware
        }
        _ => Exit::Failed,
    }
}
