//! The drive to measure: a real one by its name, or an emulated one.

use crate::device;
use crate::error::CliError;
use std::path::Path;
use tapewise_emulator::{CartridgeSpec, Clock, DriveKind, Library, LibrarySpec};
use tapewise_model::profile;
use tapewise_scsi::{Changer, TapeDrive, Transport};

/// A drive with what is known of it beside what it says.
pub struct Opened {
    /// The drive.
    pub drive: TapeDrive,
    /// Whether it is an emulated one.
    pub emulated: bool,
    /// What a byte of the host stands for on its cartridge.
    pub byte_scale: u64,
    /// Block length and scale to fill a new emulated cartridge with.
    pub blank_block: Option<(usize, u64)>,
    /// Keeps the files of a new emulated drive while it is used.
    _directory: Option<tempfile::TempDir>,
}

/// Opens the drive of that name.
pub fn drive(name: &str) -> Result<Opened, CliError> {
    let Some(emulated) = name.strip_prefix("emulated:") else {
        return Ok(Opened {
            drive: device::tape_for_use(name)?,
            emulated: false,
            byte_scale: 1,
            blank_block: None,
            _directory: None,
        });
    };
    if !Path::new(emulated).join("library.toml").is_file() {
        return fresh(emulated);
    }
    let library =
        Library::open(Path::new(emulated), Clock::virtual_time()).map_err(CliError::failed)?;
    let mut scales: Vec<u64> = library
        .spec()
        .cartridges
        .iter()
        .map(|one| one.scale)
        .collect();
    scales.dedup();
    let [byte_scale] = scales[..] else {
        return Err(CliError::input(
            "the cartridges of the library have several scales: which one is in the drive is not known",
        ));
    };
    let transport = library.transport_to_drive(0).map_err(CliError::failed)?;
    Ok(Opened {
        drive: tape(Box::new(transport))?,
        emulated: true,
        byte_scale,
        blank_block: None,
        _directory: None,
    })
}

/// Opens a robot.
pub fn changer(name: &str) -> Result<Changer, CliError> {
    device::changer(name)
}

fn tape(transport: Box<dyn Transport>) -> Result<TapeDrive, CliError> {
    Ok(TapeDrive::open(transport)?)
}

/// Host bytes of a block on a new emulated cartridge: little, so that terabytes fit on a disk.
const HOST_BLOCK: u64 = 64;

/// The most blocks on a new emulated cartridge: its blocks are so long that no more fit.
const MOST_BLOCKS: f64 = 1e6;

/// A new drive with a blank cartridge that is to be filled.
fn fresh(kind: &str) -> Result<Opened, CliError> {
    if DriveKind::find(kind).is_none() {
        return Err(CliError::input(format!(
            "emulated:{kind} is neither a library's directory nor a kind of drive"
        )));
    }
    let profile = profile::find(kind)?;
    let kb = profile
        .transfer
        .transfer_kb
        .as_ref()
        .map_or(512.0, |kb| kb.value);
    let gb = profile
        .cartridge
        .capacity_gb
        .as_ref()
        .map_or(100.0, |gb| gb.value);
    let mut recorded = (kb * 1024.0) as u64;
    while gb * 1e9 / recorded as f64 > MOST_BLOCKS {
        recorded *= 2;
    }
    let scale = (recorded / HOST_BLOCK).max(1);
    let directory = tempfile::tempdir().map_err(CliError::failed)?;
    let mut spec = LibrarySpec::one_drive(kind, 1);
    spec.cartridges = vec![CartridgeSpec {
        scale,
        ..CartridgeSpec::numbered(kind, 1, 1)
    }];
    let path = directory.path().join("library");
    let library = Library::create(&path, &spec, Clock::virtual_time()).map_err(CliError::failed)?;
    library
        .load_cartridge(&spec.cartridges[0].barcode)
        .map_err(CliError::failed)?;
    let transport = library.transport_to_drive(0).map_err(CliError::failed)?;
    Ok(Opened {
        drive: tape(Box::new(transport))?,
        emulated: true,
        byte_scale: scale,
        blank_block: Some(((recorded / scale) as usize, scale)),
        _directory: Some(directory),
    })
}

/// The profile of an emulated kind, or of the drive that calls itself so.
pub fn profile_name(device: &str, product: &str) -> Option<String> {
    let kind = device.strip_prefix("emulated:").and_then(DriveKind::find);
    let named = || {
        DriveKind::names()
            .filter_map(DriveKind::find)
            .find(|kind| kind.identity.product == product)
    };
    kind.or_else(named).map(|kind| kind.name)
}
