//! What a library consists of, as `library.toml` says it.

use crate::clock::Clock;
use crate::elements::Elements;
use crate::error::LibraryError;
use crate::faults::Faults;
use crate::kind::DriveKind;
use crate::robot::Robot;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const SPEC: &str = "library.toml";

/// What a library consists of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LibrarySpec {
    /// Serial number of the library.
    pub serial: String,
    /// Name of the robot's profile; none for drives that are loaded by hand.
    pub robot: Option<String>,
    /// Emulated seconds for each second of life, 1 for real time; without it time is virtual, and
    /// passes only by what commands take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_scale: Option<f64>,
    /// Seed of everything that differs from time to time: the mechanics' noise, the robot's times.
    pub seed: u64,
    /// Storage slots.
    #[serde(default)]
    pub slots: u16,
    /// Places of the import/export station.
    #[serde(default)]
    pub stations: u16,
    /// The drives, in the order of their elements.
    #[serde(rename = "drive")]
    pub drives: Vec<DriveSpec>,
    /// The cartridges.
    #[serde(rename = "cartridge", default)]
    pub cartridges: Vec<CartridgeSpec>,
    /// What goes wrong.
    #[serde(default)]
    pub faults: Faults,
    /// How drives and cartridges differ from those of their kind.
    #[serde(default)]
    pub variation: Variation,
}

/// A library whose drives and cartridges are not quite those of their kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Variation {
    /// Other mechanics by this seed: see [`DriveKind::perturbed`].
    pub perturbed: Option<u64>,
    /// A slow start of reverse tracks: see [`DriveKind::with_slow_reverse_start`].
    pub slow_reverse_start_s: Option<f64>,
    /// Cartridges whose tracks differ more: see [`DriveKind::with_uneven_tracks`].
    pub uneven_tracks_lpos: Option<[f64; 2]>,
}

/// A drive of a library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveSpec {
    /// Name of its kind: see [`DriveKind::names`].
    pub kind: String,
    /// Its serial number.
    pub serial: String,
}

/// A cartridge of a library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CartridgeSpec {
    /// Its label.
    pub barcode: String,
    /// The kind of drive it is made for.
    pub kind: String,
    /// What makes it differ from others of its kind.
    pub seed: u64,
    /// One byte in its files stands for so many on its tape.
    pub scale: u64,
}

impl LibrarySpec {
    /// One drive without a robot, one cartridge.
    pub fn one_drive(kind: &str, seed: u64) -> LibrarySpec {
        LibrarySpec {
            serial: "TW00000000".to_owned(),
            robot: None,
            clock_scale: None,
            seed,
            slots: 0,
            stations: 0,
            drives: vec![DriveSpec::numbered(kind, 1)],
            cartridges: vec![CartridgeSpec::numbered(kind, seed, 1)],
            faults: Faults::none(),
            variation: Variation::default(),
        }
    }

    /// A library with `drives` drives and `cartridges` cartridges of one kind, in the first slots.
    pub fn with_robot(
        robot: &str,
        kind: &str,
        drives: u16,
        slots: u16,
        cartridges: u16,
        seed: u64,
    ) -> LibrarySpec {
        LibrarySpec {
            serial: "TW00000001".to_owned(),
            robot: Some(robot.to_owned()),
            clock_scale: None,
            seed,
            slots,
            stations: 2,
            drives: (1..=drives).map(|n| DriveSpec::numbered(kind, n)).collect(),
            cartridges: (1..=cartridges)
                .map(|n| CartridgeSpec::numbered(kind, seed.wrapping_add(u64::from(n) - 1), n))
                .collect(),
            faults: Faults::none(),
            variation: Variation::default(),
        }
    }

    /// Where the specification of the library in this directory stands.
    pub fn path(directory: &Path) -> PathBuf {
        directory.join(SPEC)
    }

    /// Reads the specification of the library in this directory.
    ///
    /// # Errors
    /// [`LibraryError::Io`] when there is none, [`LibraryError::Format`] when it is none that can be built.
    pub fn read(directory: &Path) -> Result<LibrarySpec, LibraryError> {
        let path = LibrarySpec::path(directory);
        let text = fs::read_to_string(&path).map_err(LibraryError::io(&path))?;
        let format = |what: String| LibraryError::Format {
            path: path.clone(),
            what,
        };
        let spec: LibrarySpec = toml::from_str(&text).map_err(|error| format(error.to_string()))?;
        match spec.check() {
            Err(LibraryError::Spec { what }) => Err(format(what)),
            checked => checked.map(|()| spec),
        }
    }

    /// The clock that it asks for.
    pub fn clock(&self) -> Clock {
        self.clock_scale
            .map_or_else(Clock::virtual_time, Clock::scaled)
    }

    /// The kind of this name as it is in this library.
    ///
    /// # Errors
    /// [`LibraryError::Spec`].
    pub(crate) fn kind(&self, name: &str) -> Result<DriveKind, LibraryError> {
        let mut kind = DriveKind::find(name).ok_or_else(|| LibraryError::Spec {
            what: format!("no kind of drive is called {name:?}"),
        })?;
        if let Some(seed) = self.variation.perturbed {
            kind = kind.perturbed(seed);
        }
        if let Some(seconds) = self.variation.slow_reverse_start_s {
            kind = kind.with_slow_reverse_start(seconds);
        }
        if let Some([wrap_end, landing]) = self.variation.uneven_tracks_lpos {
            kind = kind.with_uneven_tracks(wrap_end, landing);
        }
        Ok(kind)
    }

    /// Looks for what cannot be built.
    pub(crate) fn check(&self) -> Result<(), LibraryError> {
        let wrong = |what: String| Err(LibraryError::Spec { what });
        if self.drives.is_empty() {
            return wrong("a library needs a drive".to_owned());
        }
        let most = Elements::MOST;
        if self.slots > most.slots
            || self.stations > most.stations
            || self.drives.len() > usize::from(most.drives)
        {
            return wrong(format!(
                "at most {} slots, {} stations and {} drives",
                most.slots, most.stations, most.drives
            ));
        }
        if let Some(robot) = &self.robot
            && Robot::find(robot, self.seed).is_none()
        {
            return wrong(format!("no robot is called {robot:?}"));
        }
        if let Some(scale) = self.clock_scale
            && !(scale.is_finite() && scale > 0.0)
        {
            return wrong(format!("clock_scale {scale}: a number above 0"));
        }
        let mut serials = BTreeSet::new();
        for drive in &self.drives {
            if !serials.insert(&drive.serial) {
                return wrong(format!(
                    "two drives have the serial number {}",
                    drive.serial
                ));
            }
            plain_name("serial number", &drive.serial)?;
        }
        let mut barcodes = BTreeSet::new();
        for cartridge in &self.cartridges {
            if !barcodes.insert(&cartridge.barcode) {
                return wrong(format!("two cartridges are labelled {}", cartridge.barcode));
            }
            plain_name("barcode", &cartridge.barcode)?;
            if cartridge.scale == 0 {
                return wrong(format!("cartridge {}: scale 0", cartridge.barcode));
            }
        }
        let of_drives = self.drives.iter().map(|drive| &drive.kind);
        let of_cartridges = self.cartridges.iter().map(|cartridge| &cartridge.kind);
        // Each one once: reading what is known of a kind is most of what opening a library takes.
        let kinds: BTreeSet<&String> = of_drives.chain(of_cartridges).collect();
        for kind in kinds {
            self.kind(kind)?;
        }
        let serials = self.drives.iter().map(|drive| drive.serial.as_str());
        let barcodes = self.cartridges.iter();
        let barcodes = barcodes.map(|cartridge| cartridge.barcode.as_str());
        let (serials, barcodes): (Vec<&str>, Vec<&str>) = (serials.collect(), barcodes.collect());
        self.faults.check(&serials, &barcodes).or_else(wrong)
    }
}

impl DriveSpec {
    /// The drive number `number` of this kind, counted from 1.
    pub fn numbered(kind: &str, number: u16) -> DriveSpec {
        DriveSpec {
            kind: kind.to_owned(),
            serial: format!("TWD{number:07}"),
        }
    }
}

impl CartridgeSpec {
    /// The cartridge number `number` of this kind, counted from 1.
    pub fn numbered(kind: &str, seed: u64, number: u16) -> CartridgeSpec {
        CartridgeSpec {
            barcode: format!("TW{number:04}"),
            kind: kind.to_owned(),
            seed,
            scale: 1,
        }
    }
}

/// Barcodes and serial numbers become file names, and fit the fields of SCSI.
fn plain_name(what: &str, name: &str) -> Result<(), LibraryError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if name.is_empty() || name.len() > 32 || !name.bytes().all(is_plain) {
        return Err(LibraryError::Spec {
            what: format!("{what} {name:?}: 1 to 32 letters, digits, - and _"),
        });
    }
    Ok(())
}
