//! `tapewise drive status`: what a drive is and what it is doing.

use super::cartridge;
use super::position::Place;
use crate::error::CliError;
use crate::{device, output, units};
use std::time::Duration;
use tapewise_scsi::commands::{ModeData, ModePage};
use tapewise_scsi::holders::Holders;
use tapewise_scsi::{Report, ScsiError, TapeDrive};

/// Say who a drive is, who uses it, and, with --active, what it is doing.
///
/// Without --active nothing but INQUIRY is sent. Any other command may take a message ("another
/// cartridge", "there was a reset") that waits in the drive for the program that uses it.
#[derive(clap::Args, Debug)]
pub struct Status {
    /// The drive.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// Ask for state, cartridge and position too. Refused while somebody else uses the drive.
    #[arg(long)]
    active: bool,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub fn run(args: &Status) -> Result<(), CliError> {
    let mut report = Report::default();
    match args.active {
        false => {
            let drive = device::tape(&args.device)?;
            identity(&drive, &mut report);
            let holders = device::host_holders(&args.device)?;
            report.line("used by", words(&holders));
            report.line(
                "state",
                "not asked; --active asks, and may take a message from another program",
            );
        }
        true => {
            let mut drive = device::tape_for_use(&args.device)?;
            identity(&drive, &mut report);
            report.line("used by", "nobody on this host");
            state(&mut drive, &mut report)?;
        }
    }
    output::report(&report, args.json)
}

fn words(holders: &Holders) -> String {
    let mut words: Vec<String> = holders.found.iter().map(ToString::to_string).collect();
    if words.is_empty() {
        words.push("nobody on this host".to_owned());
    }
    if holders.unseen > 0 {
        let processes = units::count(holders.unseen, "process");
        words.push(format!("{processes} of other users cannot be looked into"));
    }
    words.join("; ")
}

fn identity(drive: &TapeDrive, report: &mut Report) {
    let identity = drive.identity();
    let who = format!("{} {}", identity.vendor, identity.product);
    report.line("drive", who.trim());
    report.line("firmware", &identity.revision);
    report.some("serial number", identity.serial.as_ref());
}

/// What the drive says of itself, its cartridge and its head.
fn state(drive: &mut TapeDrive, report: &mut Report) -> Result<(), CliError> {
    // Hardly any wait: a status tells what is, not what will be.
    match drive.wait_until_ready(Duration::from_millis(500)) {
        Ok(()) => report.line("state", "ready"),
        Err(error) => match error.sense() {
            Some(sense) => {
                report.line("state", sense);
                return Ok(());
            }
            None => return Err(error.into()),
        },
    }
    for notice in drive.take_notices() {
        report.line("message", notice);
    }
    cartridge::describe(drive, report)?;
    if let Some(mode) = optional(drive.mode(0x3f))? {
        medium(&mode, report);
    }
    let place = Place::of(drive)?;
    for (label, value) in place.report().lines() {
        report.line(label, value);
    }
    Ok(())
}

/// An answer, or none from a drive that does not know the command.
pub fn optional<T>(answer: Result<T, ScsiError>) -> Result<Option<T>, CliError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.is_unsupported() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn medium(mode: &ModeData, report: &mut Report) {
    if let Some(block) = &mode.block {
        report.line("density code", format_args!("{:02x}h", block.density));
        match block.length_bytes {
            0 => report.line("block size", "variable"),
            bytes => report.line("block size", format_args!("{bytes} bytes")),
        }
    }
    let protected = if mode.is_write_protected { "yes" } else { "no" };
    report.line("write protected", protected);
    for page in &mode.pages {
        if let ModePage::Compression(page) = page {
            let on = if page.is_enabled { "on" } else { "off" };
            report.line("compression", on);
        }
    }
}
