//! Cartridges from place to place: `tapewise library mount, dismount, import, export`.

use super::inventory::READY_LIMIT;
use crate::error::{CliError, Exit};
use crate::{device, output};
use tapewise_scsi::commands::{Element, ElementKind};
use tapewise_scsi::{Changer, Inventory};

/// Put a cartridge into a drive.
///
/// Give the drive by its serial number, because numbers of device nodes change. Without --drive
/// tapewise takes the first empty drive. When the robot answers, the cartridge is in the drive;
/// `tapewise drive load` waits until it can be read.
#[derive(clap::Args, Debug)]
pub struct Mount {
    /// The library's robot.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// The cartridge's label.
    #[arg(value_name = "LABEL")]
    label: String,
    /// Serial number of the drive.
    #[arg(long, value_name = "SERIAL")]
    drive: Option<String>,
}

/// Take a cartridge out of its drive and put it back where it came from.
///
/// Unload the drive first with `tapewise drive unload`.
#[derive(clap::Args, Debug)]
pub struct Dismount {
    /// The library's robot.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// The cartridge's label.
    #[arg(value_name = "LABEL")]
    label: String,
}

/// Move a cartridge from the import/export station to an empty slot.
#[derive(clap::Args, Debug)]
pub struct Import {
    /// The library's robot.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// The cartridge's label.
    #[arg(value_name = "LABEL")]
    label: String,
}

/// Put a cartridge into the import/export station, for a person to take.
#[derive(clap::Args, Debug)]
pub struct Export {
    /// The library's robot.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// The cartridge's label.
    #[arg(value_name = "LABEL")]
    label: String,
}

/// Runs `library mount`.
pub fn mount(args: &Mount) -> Result<(), CliError> {
    let (mut changer, inventory) = ready(&args.device)?;
    let from = holding(&inventory, &args.label)?;
    if from.kind == ElementKind::Drive {
        return in_which_drive(args, &inventory, from);
    }
    let to = match &args.drive {
        Some(serial) => {
            let address = inventory.element_of(serial)?;
            let drive = inventory.element(address).filter(|drive| !drive.is_full);
            drive.ok_or_else(|| {
                CliError::with(Exit::Busy, format!("drive {serial} holds a cartridge"))
            })?
        }
        None => free(&inventory, &inventory.drives, "drive")?,
    };
    go(&mut changer, &args.label, from, to, "drive")
}

/// The cartridge is in a drive already: in the one that was asked for, or in another.
fn in_which_drive(args: &Mount, inventory: &Inventory, place: &Element) -> Result<(), CliError> {
    let Some(serial) = &args.drive else {
        return nothing_to_do(&args.label, place);
    };
    if inventory.element_of(serial)? == place.address {
        return nothing_to_do(&args.label, place);
    }
    let what = format!(
        "{} is in {}, not in drive {serial}",
        args.label,
        drive_name(place)
    );
    Err(CliError::with(Exit::Refused, what)
        .hint("unload it there and `tapewise library dismount` it first; a robot does not take it out of a drive at work"))
}

/// A drive by its serial number, as people and --drive call it, and its element.
fn drive_name(place: &Element) -> String {
    let serial = place.device_id.as_ref().and_then(|id| id.serial.as_ref());
    match serial {
        Some(serial) => format!("drive {serial} (element {})", place.address),
        None => format!("drive element {}", place.address),
    }
}

/// Runs `library dismount`.
pub fn dismount(args: &Dismount) -> Result<(), CliError> {
    let (mut changer, inventory) = ready(&args.device)?;
    let from = holding(&inventory, &args.label)?;
    if from.kind != ElementKind::Drive {
        return nothing_to_do(&args.label, from);
    }
    let home = from.source.and_then(|address| inventory.element(address));
    let to = match home.filter(|slot| !slot.is_full) {
        Some(slot) => slot,
        None => free(&inventory, &inventory.slots, "slot")?,
    };
    go(&mut changer, &args.label, from, to, "slot")
}

/// Runs `library import`.
pub fn import(args: &Import) -> Result<(), CliError> {
    let (mut changer, inventory) = ready(&args.device)?;
    let from = holding(&inventory, &args.label)?;
    match from.kind {
        ElementKind::Station => {}
        ElementKind::Drive => return Err(in_a_drive(&args.label, from)),
        ElementKind::Slot | ElementKind::Robot => return nothing_to_do(&args.label, from),
    }
    let to = free(&inventory, &inventory.slots, "slot")?;
    go(&mut changer, &args.label, from, to, "slot")
}

/// Runs `library export`.
pub fn export(args: &Export) -> Result<(), CliError> {
    let (mut changer, inventory) = ready(&args.device)?;
    let from = holding(&inventory, &args.label)?;
    match from.kind {
        ElementKind::Slot | ElementKind::Robot => {}
        ElementKind::Drive => return Err(in_a_drive(&args.label, from)),
        ElementKind::Station => return nothing_to_do(&args.label, from),
    }
    let to = free(&inventory, &inventory.stations, "place of the station")?;
    go(&mut changer, &args.label, from, to, "place of the station")
}

/// It is where it was to be brought.
fn nothing_to_do(label: &str, place: &Element) -> Result<(), CliError> {
    let place = match place.kind {
        ElementKind::Drive => drive_name(place),
        kind => format!("{kind} {}", place.address),
    };
    output::say(format_args!("{label} is in {place} already\n"));
    Ok(())
}

fn in_a_drive(label: &str, place: &Element) -> CliError {
    let what = format!("{label} is in {}", drive_name(place));
    CliError::with(Exit::Busy, what).hint("`tapewise library dismount` first")
}

fn ready(device: &str) -> Result<(Changer, Inventory), CliError> {
    let mut changer = device::changer(device)?;
    changer.wait_until_ready(READY_LIMIT)?;
    let inventory = changer.inventory()?;
    Ok((changer, inventory))
}

fn holding<'a>(inventory: &'a Inventory, label: &str) -> Result<&'a Element, CliError> {
    inventory.find(label).ok_or_else(|| {
        CliError::input(format!("no cartridge labelled {label} is in the library")).hint(
            "`tapewise library inventory DEVICE` lists them; --scan looks at every label again",
        )
    })
}

fn free<'a>(
    inventory: &Inventory,
    elements: &'a [Element],
    what: &str,
) -> Result<&'a Element, CliError> {
    elements
        .iter()
        .find(|element| !element.is_full && !inventory.is_blocked(element))
        .ok_or_else(|| CliError::with(Exit::Busy, format!("every {what} holds a cartridge")))
}

/// Says it before the robot moves, and that it did.
fn go(
    changer: &mut Changer,
    label: &str,
    from: &Element,
    to: &Element,
    what: &str,
) -> Result<(), CliError> {
    let (from, to) = (from.address, to.address);
    output::say(format_args!(
        "the robot takes {label} from element {from} to {what} {to}\n"
    ));
    changer.move_medium(from, to)?;
    output::say(format_args!("{label} is in {what} {to}\n"));
    Ok(())
}
