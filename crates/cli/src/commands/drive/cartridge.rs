//! What a drive knows of its cartridge and of itself: memory, logs, alerts.

use crate::error::CliError;
use crate::{output, units};
use serde::Serialize;
use tapewise_model::profile::{self, Kind};
use tapewise_model::{Measure, Profile, Used, Wear};
use tapewise_scsi::commands::{
    Attribute, AttributeValue, DeviceStatistics, LogPage, LogSense, ModeData, ModePage,
    ReadAttributes, TapeAlerts, TapeCapacity, VolumeStatistics,
};
use tapewise_scsi::{Command, Report, ScsiError, TapeDrive};

/// Attributes of a cartridge's memory (SPC-5, 7.4).
const BARCODE: u16 = 0x0806;
const SERIAL: u16 = 0x0401;
const MANUFACTURER: u16 = 0x0400;
const MEDIUM_TYPE: u16 = 0x0408;
/// MEDIUM TYPE of a cartridge that can be written only once.
const WORM: u8 = 0x80;

/// The cartridge in a drive. What the drive does not tell is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cartridge {
    barcode: Option<String>,
    serial_number: Option<String>,
    made_by: Option<String>,
    density_code: Option<u8>,
    /// 0 for blocks of any size.
    block_bytes: Option<u32>,
    is_write_protected: Option<bool>,
    /// Whether it can be written only once.
    is_worm: Option<bool>,
    is_compression_on: Option<bool>,
    native_bytes: Option<u64>,
    used_bytes: Option<u64>,
    free_bytes: Option<u64>,
    written_in_its_life_bytes: Option<u64>,
    read_in_its_life_bytes: Option<u64>,
    mounts: Option<u64>,
    passes_of_its_middle: Option<u64>,
    life_left_percent: Option<u64>,
    rated_life: Vec<Rated>,
}

/// How much of a rated life is used.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Rated {
    measure: &'static str,
    used: f64,
    life: f64,
    used_percent: f64,
    warning: Option<String>,
}

/// The drive's own life. What it does not tell is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DriveLife {
    loads: Option<u64>,
    power_on_h: Option<u64>,
    tape_moved_m: Option<u64>,
}

impl Cartridge {
    /// Asks the drive.
    pub fn ask(drive: &mut TapeDrive) -> Result<Cartridge, CliError> {
        let mut cartridge = Cartridge::default();
        cartridge.ask_memory(drive)?;
        let volume = page(drive, VolumeStatistics::PAGE)?;
        if let Some(volume) = volume.as_ref().and_then(VolumeStatistics::of) {
            cartridge.take_statistics(&volume);
        } else if let Some(capacity) = page(drive, TapeCapacity::PAGE)?
            .as_ref()
            .and_then(TapeCapacity::of)
        {
            let bytes = |mib: u64| mib.saturating_mul(1 << 20);
            cartridge.free_bytes = capacity.remaining_0_mib.map(bytes);
            cartridge.native_bytes = capacity.most_0_mib.map(bytes);
        }
        if let Some(mode) = optional(drive.mode(0x3f))? {
            cartridge.take_mode(&mode);
        }
        let density = cartridge.density_code;
        if let Some(profile) = density.and_then(profile_with_density) {
            cartridge.rated_life = cartridge.rated(&profile);
        }
        Ok(cartridge)
    }

    fn ask_memory(&mut self, drive: &mut TapeDrive) -> Result<(), CliError> {
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
                AttributeValue::Text(bytes) => {
                    Some(String::from_utf8_lossy(bytes).trim().to_owned())
                }
                _ => None,
            }
        };
        self.barcode = text(BARCODE);
        self.serial_number = text(SERIAL);
        self.made_by = text(MANUFACTURER);
        let kind = attributes
            .iter()
            .find(|attribute| attribute.id == MEDIUM_TYPE);
        self.is_worm = kind.and_then(|attribute| match &attribute.value {
            AttributeValue::Binary(bytes) => Some(*bytes.first()? == WORM),
            _ => None,
        });
        Ok(())
    }

    fn take_statistics(&mut self, volume: &VolumeStatistics) {
        let bytes = |mb: u64| mb.saturating_mul(1_000_000);
        self.native_bytes = volume.native_capacity_mb.map(bytes);
        self.used_bytes = volume.used_capacity_mb.map(bytes);
        self.written_in_its_life_bytes = volume.written_mb.map(bytes);
        self.read_in_its_life_bytes = volume.read_mb.map(bytes);
        self.mounts = volume.mounts;
        self.passes_of_its_middle = volume.middle_passes;
        self.life_left_percent = volume.life_remaining_percent;
    }

    fn take_mode(&mut self, mode: &ModeData) {
        self.density_code = mode.block.map(|block| block.density);
        self.block_bytes = mode.block.map(|block| block.length_bytes);
        self.is_write_protected = Some(mode.is_write_protected);
        self.is_compression_on = mode.pages.iter().find_map(|page| match page {
            ModePage::Compression(page) => Some(page.is_enabled),
            _ => None,
        });
    }

    /// Its life so far against what such a cartridge is rated for. Each pass of the middle counts as
    /// one of the whole tape.
    fn rated(&self, profile: &Profile) -> Vec<Rated> {
        let Ok(geometry) = profile.geometry() else {
            return Vec::new();
        };
        let passes = self.passes_of_its_middle.unwrap_or(0);
        let wear = Wear {
            distance_lpos: passes.saturating_mul(u64::from(geometry.wrap_lpos())),
            loads: self.mounts.unwrap_or(0),
        };
        let is_told = |used: &Used| match used.measure {
            Measure::Loads => self.mounts.is_some(),
            Measure::Passes | Measure::Metres => self.passes_of_its_middle.is_some(),
        };
        let used = profile.rated_life().used(&wear, &geometry);
        used.into_iter()
            .filter(is_told)
            .map(|used| Rated {
                measure: used.measure.name(),
                used: used.amount,
                life: used.rated,
                used_percent: used.share() * 100.0,
                warning: used.warning(),
            })
            .collect()
    }

    /// The same for a person.
    pub fn describe(&self, report: &mut Report) {
        report.some("cartridge", self.barcode.as_ref());
        report.some("cartridge, serial number", self.serial_number.as_ref());
        report.some("cartridge, made by", self.made_by.as_ref());
        match (self.used_bytes, self.free_bytes, self.native_bytes) {
            (Some(used), _, Some(all)) => report.line(
                "used",
                format_args!("{} of {} native", units::bytes(used), units::bytes(all)),
            ),
            (_, Some(free), Some(all)) => report.line(
                "free",
                format_args!("{} of {}", units::bytes(free), units::bytes(all)),
            ),
            _ => {}
        }
        report.some("mounts", self.mounts);
        report.some("passes of its middle", self.passes_of_its_middle);
        for rated in &self.rated_life {
            report.line(format_args!("rated life, {}", rated.measure), rated.words());
        }
        let written = self.written_in_its_life_bytes.map(units::bytes);
        report.some("written in its life", written);
        let read = self.read_in_its_life_bytes.map(units::bytes);
        report.some("read in its life", read);
        let left = self.life_left_percent.map(|percent| format!("{percent} %"));
        report.some("life left", left);
        let density = self.density_code.map(|code| format!("{code:02x}h"));
        report.some("density code", density);
        let block = self.block_bytes.map(|bytes| match bytes {
            0 => "variable".to_owned(),
            bytes => format!("{bytes} bytes"),
        });
        report.some("block size", block);
        let protected = self.is_write_protected;
        report.some(
            "write protected",
            protected.map(|it| if it { "yes" } else { "no" }),
        );
        let once = self.is_worm.filter(|is_worm| *is_worm);
        report.some("WORM", once.map(|_| "yes: it can be written only once"));
        let compression = self.is_compression_on;
        report.some(
            "compression",
            compression.map(|it| if it { "on" } else { "off" }),
        );
    }
}

impl Rated {
    fn words(&self) -> String {
        match &self.warning {
            Some(warning) => format!("WARNING: {warning}"),
            None => format!(
                "{} % of {:.0} used",
                units::percent(self.used_percent),
                self.life
            ),
        }
    }
}

impl DriveLife {
    /// Asks the drive.
    pub fn ask(drive: &mut TapeDrive) -> Result<DriveLife, CliError> {
        let device = page(drive, DeviceStatistics::PAGE)?;
        let device = device.as_ref().and_then(DeviceStatistics::of);
        let device = device.unwrap_or_default();
        Ok(DriveLife {
            loads: device.loads,
            power_on_h: device.power_on_h,
            tape_moved_m: device.tape_m,
        })
    }

    /// The same for a person.
    pub fn describe(&self, report: &mut Report) {
        report.some("drive, loads", self.loads);
        report.some("drive, power-on hours", self.power_on_h);
        let tape = self.tape_moved_m;
        report.some(
            "drive, tape moved",
            tape.map(|metres| units::metres(metres as f64)),
        );
    }
}

/// The names of the alerts that are set, none where the drive has no such page. Asking clears them.
pub fn alerts(drive: &mut TapeDrive) -> Result<Option<Vec<&'static str>>, CliError> {
    let alerts = page(drive, TapeAlerts::PAGE)?;
    let alerts = alerts.as_ref().and_then(TapeAlerts::of);
    Ok(alerts.map(|alerts| {
        let set = alerts.set.iter();
        set.map(|&flag| TapeAlerts::name(flag)).collect()
    }))
}

fn page(drive: &mut TapeDrive, page: u8) -> Result<Option<LogPage>, CliError> {
    let command = LogSense { page, subpage: 0 };
    optional(command.send(drive.transport()))
}

/// A profile with the density of the cartridge in the drive.
pub fn profile_of_density(drive: &mut TapeDrive) -> Option<Profile> {
    profile_with_density(drive.mode(0x3f).ok()?.block?.density)
}

fn profile_with_density(density: u8) -> Option<Profile> {
    profile::names()
        .filter_map(|name| profile::find(name).ok())
        .find(|profile| {
            let code = profile.cartridge.density_code.as_ref();
            profile.kind == Kind::Drive && code.is_some_and(|code| code.value == u16::from(density))
        })
}

/// An answer, or none from a drive that does not know the command, or whose answer is cut short.
pub fn optional<T>(answer: Result<T, ScsiError>) -> Result<Option<T>, CliError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.is_unsupported() => Ok(None),
        Err(error @ ScsiError::Decode { .. }) => {
            output::say(format_args!("tapewise: left out: {error}\n"));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
