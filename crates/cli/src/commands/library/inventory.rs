//! `tapewise library inventory`: what stands where.

use crate::error::CliError;
use crate::{device, json, output, units};
use serde::Serialize;
use std::fmt::Write;
use std::time::Duration;
use tapewise_plot::Table;
use tapewise_scsi::commands::Element;
use tapewise_scsi::{Inventory as Found, words};

/// List drives, import/export station and slots, and what is in them. Nothing moves.
#[derive(clap::Args, Debug)]
pub struct Inventory {
    /// The library's robot.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// List empty slots too.
    #[arg(long)]
    all: bool,
    /// Let the robot look at every label first, which may take minutes.
    #[arg(long)]
    scan: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// A robot that is starting looks at its shelves.
pub const READY_LIMIT: Duration = Duration::from_secs(1800);

#[derive(Serialize)]
struct Document {
    library: String,
    serial: Option<String>,
    drives: Vec<ElementRow>,
    stations: Vec<ElementRow>,
    slots: Vec<ElementRow>,
}

#[derive(Serialize)]
struct ElementRow {
    element: u16,
    full: bool,
    accessible: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cartridge: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_element: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drive_serial: Option<String>,
    /// The library's answer ended within the serial number.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    drive_serial_cut: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    exception: Option<String>,
}

impl ElementRow {
    fn new(element: &Element, inventory: &Found) -> ElementRow {
        let device = element.device_id.as_ref();
        ElementRow {
            element: element.address,
            full: element.is_full,
            accessible: !inventory.is_blocked(element),
            cartridge: element.volume_tag.clone(),
            from_element: element.source,
            drive_serial: device.map(|id| id.serial.clone().unwrap_or_else(|| id.shown.clone())),
            drive_serial_cut: device.is_some_and(|id| id.is_cut),
            exception: element
                .exception
                .map(|(asc, ascq)| words(asc, ascq).into_owned()),
        }
    }

    /// What is in it, in words.
    fn content(&self) -> String {
        match (&self.cartridge, self.full) {
            (Some(label), true) => label.clone(),
            (None, true) => "a cartridge without a readable label".to_owned(),
            (_, false) => "-".to_owned(),
        }
    }

    fn remarks(&self) -> String {
        let mut remarks = Vec::new();
        remarks.extend(self.from_element.map(|from| format!("from element {from}")));
        if self.drive_serial_cut {
            remarks.push("the library cuts the serial number short".to_owned());
        }
        remarks.extend(self.exception.clone());
        if !self.accessible {
            remarks.push("the robot cannot reach it".to_owned());
        }
        remarks.join("; ")
    }
}

/// Runs the verb.
pub fn run(args: &Inventory) -> Result<(), CliError> {
    let mut changer = device::changer(&args.device)?;
    changer.wait_until_ready(READY_LIMIT)?;
    if args.scan {
        output::say(format_args!(
            "{}: the robot looks at every label\n",
            args.device
        ));
        changer.initialize(None)?;
    }
    let inventory = changer.inventory()?;
    let place = |element: &Element| ElementRow::new(element, &inventory);
    let places = |elements: &[Element]| elements.iter().map(place).collect::<Vec<_>>();
    let identity = changer.identity();
    let document = Document {
        library: format!("{} {}", identity.vendor, identity.product)
            .trim()
            .to_owned(),
        serial: identity.serial.clone(),
        drives: places(&inventory.drives),
        stations: places(&inventory.stations),
        slots: places(&inventory.slots),
    };
    if args.json {
        json::print("library-inventory", &document)
    } else {
        output::print(&text(&document, args.all))
    }
}

fn text(document: &Document, all: bool) -> String {
    let mut text = String::new();
    let serial = document.serial.as_deref().unwrap_or("not told");
    let full = document.slots.iter().filter(|slot| slot.full).count();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{}, serial number {serial}: {}, {} ({full} full), {} in the station\n",
        document.library,
        units::count(document.drives.len(), "drive"),
        units::count(document.slots.len(), "slot"),
        units::count(document.stations.len(), "place"),
    );
    let mut drives = Table::new("", &["drive", "serial number", "cartridge", ""]);
    for drive in &document.drives {
        let serial = drive
            .drive_serial
            .clone()
            .unwrap_or_else(|| "not told".to_owned());
        drives.row([
            drive.element.to_string(),
            serial,
            drive.content(),
            drive.remarks(),
        ]);
    }
    text.push_str(&drives.to_string());
    for (name, places) in [("station", &document.stations), ("slot", &document.slots)] {
        let shown: Vec<&ElementRow> = places
            .iter()
            .filter(|place| all || place.full || place.exception.is_some())
            .collect();
        if shown.is_empty() {
            continue;
        }
        let mut table = Table::new("", &[name, "cartridge", ""]);
        for place in shown {
            table.row([place.element.to_string(), place.content(), place.remarks()]);
        }
        let _ = write!(text, "\n{table}");
    }
    text
}
