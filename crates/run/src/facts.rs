//! What a drive knows of its cartridge and of itself: memory, logs, alerts.

use crate::error::RunError;
use serde::Serialize;
use std::fmt;
use tapewise_model::profile::{self, Kind};
use tapewise_model::{Measure, Profile, Used, Wear};
use tapewise_scsi::commands::{
    Attribute, AttributeValue, DeviceStatistics, LogPage, LogSense, ModeData, ModePage,
    ReadAttributes, TapeAlerts, TapeCapacity, VolumeStatistics,
};
use tapewise_scsi::{Command, ScsiError, TapeDrive};

/// What is worth a word while a drive is asked, and keeps nothing from going on.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'a> {
    /// A message that waited in the device: it is taken from it.
    Message(&'a ScsiError),
    /// An answer that was cut short, and is left out.
    LeftOut(&'a ScsiError),
}

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Notice::Message(error) => write!(f, "the device says {error}"),
            Notice::LeftOut(error) => write!(f, "left out: {error}"),
        }
    }
}

/// Who is told of notices.
pub type Heed<'h> = &'h mut dyn FnMut(Notice);

/// All mode pages.
const ALL_PAGES: u8 = 0x3f;

/// Attributes of a cartridge's memory (SPC-5, 7.4).
const BARCODE: u16 = 0x0806;
const SERIAL: u16 = 0x0401;
const MANUFACTURER: u16 = 0x0400;
const MEDIUM_TYPE: u16 = 0x0408;
/// MEDIUM TYPE of a cartridge that can be written only once.
const WORM: u8 = 0x80;

/// The cartridge in a drive. What the drive does not tell is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CartridgeFacts {
    /// Its barcode.
    pub barcode: Option<String>,
    /// Its serial number.
    pub serial_number: Option<String>,
    /// Its maker.
    pub made_by: Option<String>,
    /// Its density code.
    pub density_code: Option<u8>,
    /// 0 for blocks of any size.
    pub block_bytes: Option<u32>,
    /// Whether it is write-protected.
    pub is_write_protected: Option<bool>,
    /// Whether it can be written only once.
    pub is_worm: Option<bool>,
    /// Whether what is written is compressed.
    pub is_compression_on: Option<bool>,
    /// What it holds without compression.
    pub native_bytes: Option<u64>,
    /// What is used of that.
    pub used_bytes: Option<u64>,
    /// What is free.
    pub free_bytes: Option<u64>,
    /// Written in its life.
    pub written_in_its_life_bytes: Option<u64>,
    /// Read in its life.
    pub read_in_its_life_bytes: Option<u64>,
    /// Mounts in its life.
    pub mounts: Option<u64>,
    /// How often its middle passed the head.
    pub passes_of_its_middle: Option<u64>,
    /// Life that is left, as the drive says.
    pub life_left_percent: Option<u64>,
    /// How much of its rated life is used.
    pub rated_life: Vec<Rated>,
}

/// How much of a rated life is used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rated {
    /// Loads, passes or metres.
    pub measure: &'static str,
    /// How many so far.
    pub used: f64,
    /// How many it is rated for.
    pub life: f64,
    /// The share that is used.
    pub used_percent: f64,
    /// A warning, where it nears its end.
    pub warning: Option<String>,
}

/// The drive's own life. What it does not tell is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DriveLife {
    /// Cartridges loaded.
    pub loads: Option<u64>,
    /// Hours of power.
    pub power_on_h: Option<u64>,
    /// Metres of tape moved.
    pub tape_moved_m: Option<u64>,
}

impl CartridgeFacts {
    /// Asks the drive.
    ///
    /// # Errors
    /// [`RunError::Scsi`], except that a drive may not have what is asked for.
    pub fn ask(drive: &mut TapeDrive, heed: Heed) -> Result<CartridgeFacts, RunError> {
        let mut cartridge = CartridgeFacts::default();
        cartridge.ask_memory(drive, heed)?;
        let volume = page(drive, VolumeStatistics::PAGE, heed)?;
        if let Some(volume) = volume.as_ref().and_then(VolumeStatistics::of) {
            cartridge.take_statistics(&volume);
        } else if let Some(capacity) = page(drive, TapeCapacity::PAGE, heed)?
            .as_ref()
            .and_then(TapeCapacity::of)
        {
            let bytes = |mib: u64| mib.saturating_mul(1 << 20);
            cartridge.free_bytes = capacity.remaining_0_mib.map(bytes);
            cartridge.native_bytes = capacity.most_0_mib.map(bytes);
        }
        if let Some(mode) = optional(drive.mode(ALL_PAGES), heed)? {
            cartridge.take_mode(&mode);
        }
        let density = cartridge.density_code;
        if let Some(profile) = density.and_then(profile_with_density) {
            cartridge.rated_life = cartridge.rated(&profile);
        }
        Ok(cartridge)
    }

    fn ask_memory(&mut self, drive: &mut TapeDrive, heed: Heed) -> Result<(), RunError> {
        let command = ReadAttributes {
            partition: 0,
            first: 0,
        };
        let Some(attributes) = optional(command.send(drive.transport()), heed)? else {
            return Ok(());
        };
        let text = |id| text_of(&attributes, id);
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
}

impl DriveLife {
    /// Asks the drive.
    ///
    /// # Errors
    /// [`RunError::Scsi`], except that a drive may not have what is asked for.
    pub fn ask(drive: &mut TapeDrive, heed: Heed) -> Result<DriveLife, RunError> {
        let device = page(drive, DeviceStatistics::PAGE, heed)?;
        let device = device.as_ref().and_then(DeviceStatistics::of);
        let device = device.unwrap_or_default();
        Ok(DriveLife {
            loads: device.loads,
            power_on_h: device.power_on_h,
            tape_moved_m: device.tape_m,
        })
    }
}

/// The names of the alerts that are set, none where the drive has no such page. Asking clears them.
///
/// # Errors
/// [`RunError::Scsi`].
pub fn alerts(drive: &mut TapeDrive, heed: Heed) -> Result<Option<Vec<&'static str>>, RunError> {
    let alerts = page(drive, TapeAlerts::PAGE, heed)?;
    let alerts = alerts.as_ref().and_then(LogPage::tape_alerts);
    Ok(alerts.map(|alerts| {
        let set = alerts.set.iter();
        set.map(|&flag| TapeAlerts::name(flag)).collect()
    }))
}

fn page(drive: &mut TapeDrive, page: u8, heed: Heed) -> Result<Option<LogPage>, RunError> {
    let command = LogSense { page, subpage: 0 };
    optional(command.send(drive.transport()), heed)
}

/// The text of an attribute.
fn text_of(attributes: &[Attribute], id: u16) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.id == id)?;
    match &attribute.value {
        AttributeValue::Ascii(text) if !text.is_empty() => Some(text.clone()),
        AttributeValue::Text(bytes) => Some(String::from_utf8_lossy(bytes).trim().to_owned()),
        _ => None,
    }
}

/// The barcode in the memory of the cartridge in a drive (SPC-5, 7.4); none where the drive or the memory does not tell it.
pub fn barcode(drive: &mut TapeDrive) -> Option<String> {
    let command = ReadAttributes {
        partition: 0,
        first: BARCODE,
    };
    text_of(&command.send(drive.transport()).ok()?, BARCODE)
}

/// A profile with the density of the cartridge in the drive.
pub fn profile_of_density(drive: &mut TapeDrive) -> Option<Profile> {
    profile_with_density(drive.mode(ALL_PAGES).ok()?.block?.density)
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
///
/// # Errors
/// [`RunError::Scsi`] for every other failure.
pub fn optional<T>(answer: Result<T, ScsiError>, heed: Heed) -> Result<Option<T>, RunError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.is_unsupported() => Ok(None),
        Err(error @ ScsiError::Decode { .. }) => {
            heed(Notice::LeftOut(&error));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Partitions of the cartridge; one where the drive does not know of any.
///
/// # Errors
/// [`RunError::Scsi`].
pub fn partitions(drive: &mut TapeDrive) -> Result<u8, RunError> {
    const MEDIUM_PARTITION_PAGE: u8 = 0x11;
    match drive.mode(MEDIUM_PARTITION_PAGE) {
        Ok(mode) => Ok(mode
            .pages
            .iter()
            .find_map(|page| match page {
                ModePage::Partitions(page) => Some(page.additional.saturating_add(1)),
                _ => None,
            })
            .unwrap_or(1)),
        Err(error) if error.is_unsupported() => Ok(1),
        Err(error) => Err(error.into()),
    }
}
