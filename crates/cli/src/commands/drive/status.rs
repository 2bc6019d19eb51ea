//! `tapewise drive status`: what a drive is and what it is doing.

use super::cartridge::{describe_cartridge, describe_life};
use super::heed;
use super::position::HeadPlace;
use crate::error::CliError;
use crate::{device, json, output, units};
use serde::Serialize;
use std::fmt;
use std::time::Duration;
use tapewise_run::{CartridgeFacts, DriveLife, alerts};
use tapewise_scsi::device::Host;
use tapewise_scsi::holders::{Holder, Holders};
use tapewise_scsi::{Owner, Report, TapeDrive};

/// Show which drive this is, who uses it, and with --active what it is doing.
///
/// Without --active, tapewise sends only INQUIRY. Any other command may consume a message ("another
/// cartridge", "there was a reset") that waits in the drive for the program that uses it.
#[derive(clap::Args, Debug)]
pub struct Status {
    /// The drive.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// Also ask for reservation, state, cartridge and position. Refused while a program on this host uses
    /// the drive. If the drive is reserved, tapewise shows only the reservation.
    #[arg(long)]
    active: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What is known of a drive; the reference of its JSON form is docs/reference/drive-status.md.
#[derive(Serialize)]
struct Document {
    vendor: String,
    product: String,
    firmware: String,
    serial_number: Option<String>,
    used_by: Vec<String>,
    /// Processes of other users that cannot be looked into.
    unseen_processes: usize,
    /// None when it was not asked.
    reservation: Option<Reservation>,
    state: Option<String>,
    is_ready: Option<bool>,
    messages: Vec<String>,
    cartridge: Option<CartridgeFacts>,
    drive_life: Option<DriveLife>,
    alerts: Option<Vec<&'static str>>,
    position: Option<HeadPlace>,
}

/// Runs the verb.
pub fn run(args: &Status) -> Result<(), CliError> {
    let document = if args.active {
        let mut drive = device::tape_unless_held(&args.device)?;
        let mut document = Document::of(&drive, &Holders::default());
        let reservation = Reservation::ask(&args.device, &mut drive)?;
        document.reservation = Some(reservation);
        if document.may_be_asked() {
            document.ask(&mut drive)?;
        }
        document
    } else {
        let drive = device::tape(&args.device)?;
        Document::of(&drive, &device::host_holders(&args.device)?)
    };
    if args.json {
        json::print("drive-status", &document)
    } else {
        output::print(&document.report().to_string())
    }
}

impl Document {
    /// What is known without asking more than who the drive is.
    fn of(drive: &TapeDrive, holders: &Holders) -> Document {
        let identity = drive.identity();
        Document {
            vendor: identity.vendor.clone(),
            product: identity.product.clone(),
            firmware: identity.revision.clone(),
            serial_number: identity.serial.clone(),
            used_by: holders.found.iter().map(ToString::to_string).collect(),
            unseen_processes: holders.unseen,
            reservation: None,
            state: None,
            is_ready: None,
            messages: Vec::new(),
            cartridge: None,
            drive_life: None,
            alerts: None,
            position: None,
        }
    }

    /// Whether nobody else has reserved the drive, as far as is known.
    fn may_be_asked(&self) -> bool {
        let reserved = self.reservation.as_ref();
        reserved.is_none_or(|reservation| reservation.key.is_none() && !reservation.is_hidden)
    }

    /// Adds what the drive says of itself, its cartridge and its head.
    fn ask(&mut self, drive: &mut TapeDrive) -> Result<(), CliError> {
        // Hardly any wait: a status tells what is, not what will be.
        match drive.wait_until_ready(Duration::from_millis(500)) {
            Ok(()) => self.state = Some("ready".to_owned()),
            Err(error) => {
                let Some(sense) = error.sense() else {
                    return Err(error.into());
                };
                self.state = Some(sense.to_string());
                self.is_ready = Some(false);
                return Ok(());
            }
        }
        self.is_ready = Some(true);
        let notices = drive.take_notices();
        self.messages = notices.iter().map(ToString::to_string).collect();
        self.cartridge = Some(CartridgeFacts::ask(drive, &mut heed)?);
        self.drive_life = Some(DriveLife::ask(drive, &mut heed)?);
        self.alerts = alerts(drive, &mut heed)?;
        match HeadPlace::of(drive) {
            Ok(place) => self.position = Some(place),
            Err(error) => self
                .messages
                .push(format!("where the head is: {}", error.message())),
        }
        Ok(())
    }

    /// The same for a person.
    fn report(&self) -> Report {
        let mut report = Report::default();
        let who = format!("{} {}", self.vendor, self.product);
        report.line("drive", who.trim());
        report.line("firmware", &self.firmware);
        report.some("serial number", self.serial_number.as_ref());
        report.line("used by", self.users());
        let not_asked = "not asked; --active asks, and may take a message from another program";
        if let Some(reservation) = &self.reservation {
            report.line("reservation", reservation);
        }
        let not_asked = if self.may_be_asked() {
            not_asked
        } else {
            "not asked, because the drive is reserved"
        };
        report.line("state", self.state.as_deref().unwrap_or(not_asked));
        for message in &self.messages {
            report.line("message", message);
        }
        if let Some(cartridge) = &self.cartridge {
            describe_cartridge(cartridge, &mut report);
        }
        if let Some(life) = &self.drive_life {
            describe_life(life, &mut report);
        }
        if let Some(alerts) = &self.alerts {
            if alerts.is_empty() {
                report.line("alerts", "none")
            } else {
                report.line("alerts", alerts.join("; "))
            }
        }
        if let Some(place) = &self.position {
            for (label, value) in place.report().lines() {
                report.line(label, value);
            }
        }
        report
    }

    fn users(&self) -> String {
        let mut words = self.used_by.clone();
        if words.is_empty() {
            words.push("nobody on this host".to_owned());
        }
        if self.unseen_processes > 0 {
            let processes = units::count(self.unseen_processes, "process");
            words.push(format!("{processes} of other users cannot be looked into"));
        }
        words.join("; ")
    }
}

/// The reservation of a drive.
#[derive(Serialize)]
struct Reservation {
    /// What it allows others, in words.
    r#type: Option<String>,
    key: Option<String>,
    /// Whose key it is, in words.
    holder: Option<String>,
    is_this_host: Option<bool>,
    /// The drive told that it is reserved and nothing more.
    #[serde(skip)]
    is_hidden: bool,
}

impl Reservation {
    /// Asks the drive. A reservation that tapewise left behind on this host is shown like any other.
    fn ask(name: &str, drive: &mut TapeDrive) -> Result<Reservation, CliError> {
        let host = Host::local();
        let holder = drive.reserved_by_others(&host);
        let holder = holder.map_err(|error| CliError::from(error).of(name))?;
        let (held, owner) = match holder {
            Some(Holder::Reservation { held, owner }) => (Some(held), Some(owner)),
            _ => (None, None),
        };
        let known = held.flatten();
        Ok(Reservation {
            r#type: known.map(|(_, kind)| kind.to_string()),
            key: known.map(|(key, _)| format!("{key:#018x}")),
            holder: owner.as_ref().map(Owner::to_string),
            is_this_host: owner.as_ref().and_then(Owner::is_this_host),
            is_hidden: held == Some(None),
        })
    }
}

impl fmt::Display for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.r#type, &self.key, &self.holder) {
            (Some(kind), Some(key), Some(holder)) => write!(f, "{kind}, key {key}, by {holder}"),
            (_, _, Some(holder)) => write!(f, "by {holder}"),
            _ => f.write_str("none"),
        }
    }
}
