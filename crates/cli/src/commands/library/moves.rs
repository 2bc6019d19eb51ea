//! Cartridges from place to place: `tapewise library mount, dismount, import, export`.

use super::inventory::READY_LIMIT;
use crate::error::{CliError, Exit};
use crate::{device, output};
use tapewise_library::errand::{self, Errand, ErrandError, drive_name};
use tapewise_scsi::Inventory;
use tapewise_scsi::commands::ElementKind;

/// Put a cartridge into a drive.
///
/// Give the drive by its serial number, because numbers of device nodes change. Without --drive
/// tapewise takes the first empty drive. When the robot answers, the cartridge is in the drive;
/// `tapewise drive load` waits until it can be read.
#[derive(clap::Args, Debug)]
pub struct Mount {
    #[command(flatten)]
    asked: Asked,
    /// Serial number of the drive.
    #[arg(long, value_name = "SERIAL", display_order = 0)]
    drive: Option<String>,
}

/// Take a cartridge out of its drive and put it back where it came from.
///
/// Unload the drive first with `tapewise drive unload`.
#[derive(clap::Args, Debug)]
pub struct Dismount {
    #[command(flatten)]
    asked: Asked,
}

/// Move a cartridge from the import/export station to an empty slot.
#[derive(clap::Args, Debug)]
pub struct Import {
    #[command(flatten)]
    asked: Asked,
}

/// Put a cartridge into the import/export station, for a person to take.
#[derive(clap::Args, Debug)]
pub struct Export {
    #[command(flatten)]
    asked: Asked,
}

/// Which cartridge of which library.
#[derive(clap::Args, Debug)]
struct Asked {
    /// The library's robot.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// The cartridge's label.
    #[arg(value_name = "LABEL")]
    label: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs `library mount`.
pub fn mount(args: &Mount) -> Result<(), CliError> {
    let serial = args.drive.as_deref();
    run(&args.asked, "mount", "drive", |inventory, label| {
        errand::mount(inventory, label, serial)
    })
}

/// Runs `library dismount`.
pub fn dismount(args: &Dismount) -> Result<(), CliError> {
    run(&args.asked, "dismount", "slot", errand::dismount)
}

/// Runs `library import`.
pub fn import(args: &Import) -> Result<(), CliError> {
    run(&args.asked, "import", "slot", errand::import)
}

/// Runs `library export`.
pub fn export(args: &Export) -> Result<(), CliError> {
    let what = "place of the station";
    run(&args.asked, "export", what, errand::export)
}

/// Says what the robot will do before it moves, and that it did.
fn run(
    asked: &Asked,
    verb: &str,
    what: &str,
    plan: impl for<'a> Fn(&'a Inventory, &str) -> Result<Errand<'a>, ErrandError>,
) -> Result<(), CliError> {
    let Asked {
        device,
        label,
        json,
    } = asked;
    let mut changer = device::changer(device)?;
    changer.wait_until_ready(READY_LIMIT)?;
    let inventory = changer.inventory()?;
    let errand = plan(&inventory, label)?;
    let (from, to) = match &errand {
        Errand::None { at } => {
            let place = match at.kind {
                ElementKind::Drive => drive_name(at),
                kind => format!("{kind} {}", at.address),
            };
            output::say(format_args!("{label} is in {place} already\n"));
            (None, at.address)
        }
        Errand::Move { from, to } => {
            let (from, to) = (from.address, to.address);
            output::say(format_args!(
                "the robot takes {label} from element {from} to {what} {to}\n"
            ));
            errand.carry_out(&mut changer)?;
            output::say(format_args!("{label} is in {what} {to}\n"));
            (Some(from), to)
        }
    };
    if *json {
        let document = serde_json::json!({
            "cartridge": label,
            "moved": from.is_some(),
            "from_element": from,
            "element": to,
        });
        crate::json::print(&format!("library-{verb}"), &document)?;
    }
    Ok(())
}

impl From<ErrandError> for CliError {
    fn from(error: ErrandError) -> CliError {
        match error {
            ErrandError::NoSuchCartridge { .. } => CliError::input(error).hint(
                "`tapewise library inventory DEVICE` lists them; --scan looks at every label again",
            ),
            ErrandError::OtherDrive { .. } => CliError::with(Exit::Refused, error).hint(
                "unload it there and `tapewise library dismount` it first; a robot does not take it out of a drive at work",
            ),
            ErrandError::InDrive { .. } => {
                CliError::with(Exit::Busy, error).hint("`tapewise library dismount` first")
            }
            ErrandError::Scsi(error) => error.into(),
            _ => CliError::with(Exit::Busy, error),
        }
    }
}
