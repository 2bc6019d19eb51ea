//! The report of a drive: its JSON form. docs/reference/drive-report.md describes it field by field.

use super::hidden::pseudonym;
use serde::{Deserialize, Serialize};
use tapewise_formats::event::Event;
use tapewise_model::Micros;
use tapewise_scsi::Identity;

/// The version of the format that is written and read.
pub const VERSION: u32 = 1;

/// How the drive was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// The kernel's SCSI generic driver.
    Sg,
    /// iSCSI in user space; what is behind it may be an emulation.
    Iscsi,
    /// A recording of another run.
    Replay,
    /// Our emulator: says nothing of any real drive.
    Emulated,
}

/// What `tapewise drive check` found.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveReport {
    /// [`VERSION`].
    pub tapewise_drive_report: u32,
    /// The program that wrote it, with its version.
    pub program: String,
    /// How the drive was reached.
    pub way: Way,
    /// Which drive.
    pub drive: DriveName,
    /// Which cartridge, and how much is on it.
    pub cartridge: Cartridge,
    /// Answers as the drive sent them, names struck out.
    pub answers: Vec<Answer>,
    /// Commands that the drive says it has; none when it cannot say.
    pub opcodes: Option<Vec<Opcode>>,
    /// Every move, as in an event log.
    pub events: Vec<Event>,
    /// How long it took on the drive's clock.
    pub took_us: Micros,
    /// Locates that were planned.
    pub planned: usize,
    /// Why there were no more.
    pub ended: Ended,
    /// What a profile predicted; none where no profile is for this drive or no position is told.
    pub judged: Option<Judged>,
}

/// Why no more locates were timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// All that were planned were tried.
    Done,
    /// The time was out.
    TimeOut,
    /// Locate after locate failed.
    Failures,
}

/// Which drive, without its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveName {
    /// As INQUIRY says.
    pub vendor: String,
    /// As INQUIRY says.
    pub product: String,
    /// Firmware, as INQUIRY says.
    pub revision: String,
    /// Pseudonym of the serial number.
    pub pseudonym: Option<String>,
}

/// Which cartridge, without its name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cartridge {
    /// Pseudonym of its serial number, or else of its label, where sense has either.
    pub pseudonym: Option<String>,
    /// Density code in hex, of the block descriptor of MODE SENSE.
    pub density: Option<String>,
    /// Blocks and filemarks of each partition.
    pub blocks: Vec<u64>,
    /// The partition of the locates.
    pub partition: u8,
}

/// What the drive answered to one command.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The command, as `tapewise drive show` names it.
    pub command: String,
    /// The page in hex, where one was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The block where the head stood, where that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_block: Option<u64>,
    /// The bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hex: Option<String>,
    /// Why there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// A command that the drive says it has.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opcode {
    /// Operation code in hex, with `/` and the service action where it has one.
    pub code: String,
    /// How long it nominally takes, in seconds; 0 is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nominal_s: Option<u32>,
    /// After how long a host should give up, in seconds; 0 is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended_s: Option<u32>,
}

/// Predicted times beside measured ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judged {
    /// The profile.
    pub profile: String,
    /// How it was found: `product and density`, `product`, `density`, or `given`.
    pub found_by: String,
    /// Its locate-time model.
    pub model: String,
    /// One line for all locates (`all`) and one for each kind.
    pub errors: Vec<Errors>,
}

/// Errors of predicted times: measured less predicted.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Errors {
    /// `all`, `far`, `near` or `beginning`.
    pub kind: String,
    /// How many.
    pub locates: usize,
    /// Mean error in seconds.
    pub mean_s: f64,
    /// Root of the mean square of the errors, in seconds.
    pub rms_s: f64,
    /// Share of them that is off by more than 2 s.
    pub off_share: f64,
}

impl DriveName {
    /// The drive's name, its serial number as a pseudonym.
    pub fn of(identity: &Identity) -> DriveName {
        let serial = identity.serial.as_deref();
        DriveName {
            vendor: identity.vendor.clone(),
            product: identity.product.clone(),
            revision: identity.revision.clone(),
            pseudonym: serial.map(|serial| pseudonym("drive", serial)),
        }
    }
}

impl Judged {
    /// The line of all locates.
    pub fn all(&self) -> Option<&Errors> {
        self.errors.first()
    }
}
