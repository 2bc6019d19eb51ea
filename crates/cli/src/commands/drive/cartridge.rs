//! What a drive knows of its cartridge and of itself: memory, logs, alerts.

use super::status::optional;
use crate::error::CliError;
use crate::units;
use tapewise_model::profile::{self, Kind};
use tapewise_model::{Profile, Wear};
use tapewise_scsi::commands::{
    Attribute, AttributeValue, DeviceStatistics, LogPage, LogSense, ReadAttributes, TapeAlerts,
    TapeCapacity, VolumeStatistics,
};
use tapewise_scsi::{Command, Report, TapeDrive};

/// Attributes of a cartridge's memory (SPC-5, 7.4).
const BARCODE: u16 = 0x0806;
const SERIAL: u16 = 0x0401;
const MANUFACTURER: u16 = 0x0400;

/// Adds what is known of the cartridge and of the drive's life. Reading the alerts clears them.
pub fn describe(drive: &mut TapeDrive, report: &mut Report) -> Result<(), CliError> {
    memory(drive, report)?;
    let volume = page(drive, VolumeStatistics::PAGE)?;
    if let Some(volume) = volume.as_ref().and_then(VolumeStatistics::of) {
        let megabytes = |mb: u64| units::bytes(mb.saturating_mul(1_000_000));
        if let (Some(used), Some(all)) = (volume.used_capacity_mb, volume.native_capacity_mb) {
            report.line(
                "used",
                format_args!("{} of {} native", megabytes(used), megabytes(all)),
            );
        }
        report.some(
            "mounts",
            volume.mounts.map(|mounts| with_rating(drive, mounts)),
        );
        report.some("written in its life", volume.written_mb.map(megabytes));
        report.some("read in its life", volume.read_mb.map(megabytes));
        let life = volume.life_remaining_percent;
        report.some("life left", life.map(|percent| format!("{percent} %")));
    } else if let Some(capacity) = page(drive, TapeCapacity::PAGE)?
        .as_ref()
        .and_then(TapeCapacity::of)
        && let (Some(left), Some(all)) = (capacity.remaining_0_mib, capacity.most_0_mib)
    {
        let mebibytes = |mib: u64| units::bytes(mib.saturating_mul(1 << 20));
        report.line(
            "free",
            format_args!("{} of {}", mebibytes(left), mebibytes(all)),
        );
    }
    let device = page(drive, DeviceStatistics::PAGE)?;
    if let Some(device) = device.as_ref().and_then(DeviceStatistics::of) {
        report.some("drive, loads", device.loads);
        report.some("drive, power-on hours", device.power_on_h);
        let tape = device.tape_m.map(|metres| units::metres(metres as f64));
        report.some("drive, tape moved", tape);
    }
    let alerts = page(drive, TapeAlerts::PAGE)?;
    if let Some(alerts) = alerts.as_ref().and_then(TapeAlerts::of) {
        let names: Vec<&str> = alerts
            .set
            .iter()
            .map(|&flag| TapeAlerts::name(flag))
            .collect();
        match names.is_empty() {
            true => report.line("alerts", "none"),
            false => report.line("alerts", names.join("; ")),
        }
    }
    Ok(())
}

fn page(drive: &mut TapeDrive, page: u8) -> Result<Option<LogPage>, CliError> {
    let command = LogSense { page, subpage: 0 };
    optional(command.send(drive.transport()))
}

fn memory(drive: &mut TapeDrive, report: &mut Report) -> Result<(), CliError> {
    let command = ReadAttributes {
        partition: 0,
        first: 0,
    };
    let Some(attributes) = optional(command.send(drive.transport()))? else {
        return Ok(());
    };
    let text = |id: u16| {
        let attribute = attributes
            .iter()
            .find(|attribute: &&Attribute| attribute.id == id)?;
        match &attribute.value {
            AttributeValue::Ascii(text) if !text.is_empty() => Some(text.clone()),
            AttributeValue::Text(bytes) => Some(String::from_utf8_lossy(bytes).trim().to_owned()),
            _ => None,
        }
    };
    report.some("cartridge", text(BARCODE));
    report.some("cartridge, serial number", text(SERIAL));
    report.some("cartridge, made by", text(MANUFACTURER));
    Ok(())
}

/// "412 of 20,000 rated", where the kind of cartridge is known by its density.
fn with_rating(drive: &mut TapeDrive, mounts: u64) -> String {
    let wear = Wear {
        loads: mounts,
        ..Wear::default()
    };
    let used = profile_of_density(drive).and_then(|profile| {
        let geometry = profile.geometry().ok()?;
        profile
            .rated_life()
            .used(&wear, &geometry)
            .into_iter()
            .next()
    });
    match used {
        Some(used) => match used.warning() {
            Some(warning) => format!("{mounts}: {warning}"),
            None => format!("{mounts}, {:.1} % of the rated life", used.share() * 100.0),
        },
        None => mounts.to_string(),
    }
}

/// A profile with the density of the cartridge in the drive.
pub fn profile_of_density(drive: &mut TapeDrive) -> Option<Profile> {
    let density = drive.mode(0x3f).ok()?.block?.density;
    profile::names()
        .filter_map(|name| profile::find(name).ok())
        .find(|profile| {
            let code = profile.cartridge.density_code.as_ref();
            profile.kind == Kind::Drive && code.is_some_and(|code| code.value == u16::from(density))
        })
}
