//! What can end a mount, and whose fault a failed command is.

use tapewise_run::RunError;
use tapewise_scsi::{Condition, NotReady, ScsiError, Status, TransportError};

/// Why the pool could not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// A pool without a drive.
    #[error("a pool needs a drive")]
    NoDrives,
    /// A drive that does not say who it is cannot be matched to its element.
    #[error("a {model} does not tell its serial number, by which a library's drives are known")]
    NoSerial {
        /// Vendor and product.
        model: String,
    },
    /// The same drive twice: by two paths, or named twice.
    #[error("drive {serial} is given twice; one path to each drive")]
    Twice {
        /// Its serial number.
        serial: String,
    },
    /// No robot serves the drive, and nobody is there to load it.
    #[error("drive {serial} is in none of the libraries: they name {known}")]
    NotInLibrary {
        /// The drive's serial number.
        serial: String,
        /// The serial numbers that the libraries tell.
        known: String,
    },
    /// No library holds the volume.
    #[error(
        "there is no volume {volume} in the library; put it into the station and import it, or \
         see what is there with `tapewise library inventory`"
    )]
    NoSuchVolume {
        /// Its label.
        volume: String,
    },
    /// The cartridge is in no element any more.
    #[error(
        "{volume} is missing: last seen in {last_seen}. Stop the library, look there and on its floor, \
         put the cartridge into the station and import it"
    )]
    Missing {
        /// Its label.
        volume: String,
        /// Where it was before it could not be found any more.
        last_seen: String,
    },
    /// The cartridge is in a drive that was set aside.
    #[error(
        "{volume} is in {drive}, which was set aside: {why}. Take the cartridge out of the drive by its \
         eject button or from the library's panel, and import it"
    )]
    HeldByFailedDrive {
        /// Its label.
        volume: String,
        /// The drive.
        drive: String,
        /// What the drive failed with.
        why: String,
    },
    /// The cartridge is in a drive that is not ours to use.
    #[error("{volume} is in {place}, which somebody else uses")]
    Elsewhere {
        /// Its label.
        volume: String,
        /// The drive.
        place: String,
    },
    /// Another host's robot, or a person, took the cartridge out of the drive.
    #[error(
        "somebody else took {volume} out of {drive} before it was loaded; it is in {place} now"
    )]
    TakenOut {
        /// Its label.
        volume: String,
        /// The drive.
        drive: String,
        /// Where the library says that it is.
        place: String,
    },
    /// The volume is being used.
    #[error("{volume} is in use in {drive}")]
    InUse {
        /// Its label.
        volume: String,
        /// The drive.
        drive: String,
    },
    /// Every drive that could take the volume is in use.
    #[error("every drive is in use, none is free for {volume}")]
    AllBusy {
        /// Its label.
        volume: String,
    },
    /// No drive is left that could take the volume.
    #[error("no drive is left for {volume}: {reasons}")]
    NoDriveLeft {
        /// Its label.
        volume: String,
        /// What each drive fails with.
        reasons: String,
    },
    /// The drive failed, and was set aside.
    #[error("{drive} is set aside: {why}")]
    DriveFailed {
        /// The drive.
        drive: String,
        /// What it failed with.
        why: String,
    },
    /// Another initiator has reserved the drive.
    #[error("{drive} is left alone: {why}")]
    Reserved {
        /// The drive.
        drive: String,
        /// Who holds it, as far as it tells.
        why: String,
    },
    /// The drive cannot use the cartridge.
    #[error("{drive} cannot use {volume}: {source}")]
    Unusable {
        /// Its label.
        volume: String,
        /// The drive.
        drive: String,
        /// What the drive said.
        source: ScsiError,
    },
    /// Another cartridge came than was asked for.
    #[error("{place} should hold {expected}; the library says that it holds {found}")]
    WrongCartridge {
        /// Where it is.
        place: String,
        /// The label asked for.
        expected: String,
        /// What was found.
        found: String,
    },
    /// The cartridge has another label on tape than its barcode says.
    #[error("{place} holds {expected} by its barcode; the label on tape says {found}")]
    WrongLabel {
        /// Where it was.
        place: String,
        /// The label asked for.
        expected: String,
        /// What was found.
        found: String,
    },
    /// A robot did not do what it was to do.
    #[error("{what}: {source}")]
    Robot {
        /// What it was to do, and where the cartridge is now.
        what: String,
        /// What the library said.
        source: ScsiError,
    },
    /// There is no slot for a cartridge.
    #[error("no slot is free for {volume}; export cartridges that are not needed")]
    NoFreeSlot {
        /// Its label.
        volume: String,
    },
    /// The station is full.
    #[error("no place of the station is free for {volume}: take out {holds}")]
    StationFull {
        /// Its label.
        volume: String,
        /// What is in it.
        holds: String,
    },
    /// The person has not got the cartridge, or would not give it.
    #[error("{volume} was asked for and not put in")]
    NotGiven {
        /// Its label.
        volume: String,
    },
    /// A cartridge must be put in by hand, and nobody is there.
    #[error("{volume} must be put in by hand, and nobody is there to do it")]
    NobodyThere {
        /// Its label.
        volume: String,
    },
    /// The person wants it to stop.
    #[error("stopped while {volume} was asked for")]
    Stopped {
        /// Its label.
        volume: String,
    },
    /// Nothing has cleaned the drive.
    #[error(
        "{drive} was not cleaned: no cleaning cartridge, whose label begins with CLN, is left on the library's shelves"
    )]
    NoCleaner {
        /// The drive.
        drive: String,
    },
    /// A command to a drive failed, through no fault of the drive.
    #[error("{drive}: {source}")]
    Drive {
        /// The drive.
        drive: String,
        /// What happened.
        source: RunError,
    },
    /// A library does not answer as it should.
    #[error("library {library}: {source}")]
    Library {
        /// Its name.
        library: String,
        /// What happened.
        source: ScsiError,
    },
}

/// Whose fault it is that a command of a drive failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The drive, or the path to it: it is set aside, its work goes on elsewhere.
    Drive,
    /// The cartridge: another drive may read it, this one may read others.
    Cartridge,
    /// Another initiator has reserved the drive.
    Reserved,
    /// The command, or nobody.
    Nobody,
}

impl Blame {
    /// Whose fault this error is.
    pub fn of(error: &ScsiError) -> Blame {
        match error {
            ScsiError::Transport { source, .. } => match source {
                TransportError::Io { .. }
                | TransportError::TimedOut { .. }
                | TransportError::Path { .. } => Blame::Drive,
                TransportError::TooLarge { .. }
                | TransportError::Deviation { .. }
                | TransportError::Unsupported { .. } => Blame::Nobody,
            },
            ScsiError::Status { status, .. } => match status {
                Status::ReservationConflict => Blame::Reserved,
                // It was asked again until the time-out.
                Status::Busy | Status::TaskSetFull => Blame::Drive,
                _ => Blame::Nobody,
            },
            ScsiError::StillNotReady { .. }
            | ScsiError::NotWritten { .. }
            | ScsiError::PositionUnknown
            | ScsiError::WasReset => Blame::Drive,
            ScsiError::Reserved { .. } | ScsiError::LeaseOver => Blame::Reserved,
            _ => error.condition().map_or(Blame::Nobody, Blame::by_condition),
        }
    }

    fn by_condition(condition: Condition) -> Blame {
        match condition {
            Condition::Hardware
            | Condition::NotReady(
                NotReady::Other | NotReady::NeedsIntervention | NotReady::NoMedium,
            ) => Blame::Drive,
            Condition::Medium
            | Condition::DataProtect
            | Condition::NotReady(NotReady::Incompatible) => Blame::Cartridge,
            _ => Blame::Nobody,
        }
    }

    /// Whose fault it is that a run ended.
    pub fn of_run(error: &RunError) -> Blame {
        match error {
            RunError::Scsi(error) => Blame::of(error),
            _ => Blame::Nobody,
        }
    }
}
