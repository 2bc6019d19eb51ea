//! A library in a directory: drives, cartridges, a robot or none.
//!
//! `library.toml` says what there is ([`LibrarySpec`]), `places.toml` which element holds which
//! cartridge, `cartridges/BARCODE/` what is recorded on it, `drives/SERIAL.toml` what a drive has
//! done in its life. One process at a time: the directory is locked while it is open. All devices
//! share one clock; a command lets it run by what the command took.

use crate::changer::{Element, Elements, Robot};
use crate::clock::Clock;
use crate::faults::{BrokenDrive, Faults};
use crate::kind::DriveKind;
use crate::medium::{Medium, MediumError};
use crate::transport::{EmulatedTransport, Target};
use crate::world::World;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tapewise_model::Micros;
use tempfile::TempDir;

/// What can go wrong with a library's directory.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that cannot be understood.
    #[error("{path}: {what}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Another process has the library open.
    #[error("{path}: the library is in use by another process")]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// A specification that cannot be built.
    #[error("library: {what}")]
    Spec {
        /// What is wrong with it.
        what: String,
    },
    /// Something was asked for that this library does not have.
    #[error("library: there is no {what}")]
    Missing {
        /// What.
        what: String,
    },
    /// A cartridge's files are damaged.
    #[error(transparent)]
    Medium(#[from] MediumError),
    /// A cartridge cannot go in or out now.
    #[error("library: {what}")]
    Refused {
        /// Why.
        what: String,
    },
}

impl LibraryError {
    fn io(path: &Path) -> impl FnOnce(std::io::Error) -> LibraryError + '_ {
        move |source| LibraryError::Io {
            path: path.to_owned(),
            source,
        }
    }
}

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
                .map(|n| CartridgeSpec::numbered(kind, seed + u64::from(n) - 1, n))
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
        Ok(kind)
    }

    /// Looks for what cannot be built.
    fn check(&self) -> Result<(), LibraryError> {
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
            self.kind(&drive.kind)?;
        }
        let mut barcodes = BTreeSet::new();
        for cartridge in &self.cartridges {
            if !barcodes.insert(&cartridge.barcode) {
                return wrong(format!("two cartridges are labelled {}", cartridge.barcode));
            }
            plain_name("barcode", &cartridge.barcode)?;
            self.kind(&cartridge.kind)?;
            if cartridge.scale == 0 {
                return wrong(format!("cartridge {}: scale 0", cartridge.barcode));
            }
        }
        let drives = self.drives.len() as u64;
        let mut broken = self.faults.broken_drives.iter();
        match broken.find(|broken| broken.drive >= drives) {
            Some(BrokenDrive { drive, .. }) => wrong(format!(
                "faults: drive {drive} is to break, and the {drives} drives are counted from 0"
            )),
            None => Ok(()),
        }
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

/// A library that is open.
#[derive(Clone)]
pub struct Library {
    world: Arc<Mutex<World>>,
    directory: PathBuf,
    is_apart: bool,
}

const SPEC: &str = "library.toml";
const LOCK: &str = "lock";

impl Library {
    /// Makes a library of blank cartridges in a directory that does not exist or is empty.
    ///
    /// Where there is a robot the cartridges are in the first slots; otherwise the first one is
    /// beside the first drive: see [`Library::load_cartridge`].
    ///
    /// # Errors
    /// [`LibraryError`] when the specification cannot be built or the directory is in use.
    pub fn create(
        directory: &Path,
        spec: &LibrarySpec,
        clock: Clock,
    ) -> Result<Library, LibraryError> {
        spec.check()?;
        fs::create_dir_all(directory).map_err(LibraryError::io(directory))?;
        let mut entries = fs::read_dir(directory).map_err(LibraryError::io(directory))?;
        if entries.next().is_some() {
            return Err(LibraryError::Spec {
                what: format!("{} is not empty", directory.display()),
            });
        }
        for name in ["cartridges", "drives"] {
            let path = directory.join(name);
            fs::create_dir(&path).map_err(LibraryError::io(&path))?;
        }
        for cartridge in &spec.cartridges {
            let path = directory.join("cartridges").join(&cartridge.barcode);
            Medium::create(&path, &format!("{:016X}", cartridge.seed))?;
        }
        let path = LibrarySpec::path(directory);
        let text = toml::to_string(spec).map_err(|error| LibraryError::Format {
            path: path.clone(),
            what: error.to_string(),
        })?;
        write_whole(&path, &text).map_err(LibraryError::io(&path))?;
        let lock = lock(directory)?;
        let mut world = World::new(directory, spec.clone(), clock, lock)?;
        if spec.robot.is_some() {
            world.fill_slots()?;
        }
        Ok(Library::of(world, directory))
    }

    /// Opens the library in this directory: its devices are powered on, and a drive that holds a
    /// cartridge begins to load it.
    ///
    /// # Errors
    /// [`LibraryError`] when there is none, or another process has it.
    pub fn open(directory: &Path, clock: Clock) -> Result<Library, LibraryError> {
        let spec = LibrarySpec::read(directory)?;
        let lock = lock(directory)?;
        let mut world = World::new(directory, spec, clock, lock)?;
        world.restore_places()?;
        Ok(Library::of(world, directory))
    }

    /// A new library of one drive of this kind, with one blank cartridge in it.
    ///
    /// # Errors
    /// As [`Library::create`].
    pub fn fresh_drive(
        kind: &str,
        seed: u64,
        directory: &Path,
        clock: Clock,
    ) -> Result<Library, LibraryError> {
        let spec = LibrarySpec::one_drive(kind, seed);
        let library = Library::create(directory, &spec, clock)?;
        library.load_cartridge(&spec.cartridges[0].barcode)?;
        Ok(library)
    }

    fn of(world: World, directory: &Path) -> Library {
        Library {
            world: Arc::new(Mutex::new(world)),
            directory: directory.to_owned(),
            is_apart: false,
        }
    }

    /// The same library on a virtual clock, each of its devices with a time of its own from where the
    /// clock stands: what a command of one takes does not pass for the others. Whoever sends commands
    /// sends them in the order of those times, and lets a device wait that is behind another one it
    /// meets. Devices on a clock that runs by itself are apart already, and stay as they are.
    pub fn apart(mut self) -> Library {
        let is_virtual = self.world().clock.is_virtual();
        self.is_apart = is_virtual;
        self
    }

    /// The same library, which takes its directory with it: removed when it is closed, that is when
    /// the last of its handles and transports is gone.
    pub fn owning(self, directory: TempDir) -> Library {
        self.world().temporary = Some(directory);
        self
    }

    /// Lets emulated time pass at once, also on a clock that would sleep.
    pub fn skip(&self, time: Micros) {
        self.world().clock.skip(time);
    }

    /// What the library consists of.
    pub fn spec(&self) -> LibrarySpec {
        self.world().spec.clone()
    }

    /// How its elements are numbered.
    pub fn elements(&self) -> Elements {
        self.world().elements()
    }

    /// A way to the drive numbered `number` from 0, as another initiator than all before.
    ///
    /// # Errors
    /// [`LibraryError::Missing`].
    pub fn transport_to_drive(&self, number: usize) -> Result<EmulatedTransport, LibraryError> {
        let mut world = self.world();
        let Some(drive) = world.drives.get_mut(number) else {
            return Err(LibraryError::Missing {
                what: format!("drive {number}"),
            });
        };
        let nexus = drive.open_nexus();
        let name = format!("emulated:{}#drive{number}", self.directory.display());
        Ok(self.transport(&world, name, Target::Drive(number), nexus))
    }

    /// A way to the robot, as another initiator than all before.
    ///
    /// # Errors
    /// [`LibraryError::Missing`] when drives are loaded by hand.
    pub fn transport_to_changer(&self) -> Result<EmulatedTransport, LibraryError> {
        let mut world = self.world();
        if world.spec.robot.is_none() {
            return Err(LibraryError::Missing {
                what: "robot".to_owned(),
            });
        }
        let nexus = world.changer.attentions.open();
        let name = format!("emulated:{}#changer", self.directory.display());
        Ok(self.transport(&world, name, Target::Changer, nexus))
    }

    fn transport(
        &self,
        world: &World,
        name: String,
        target: Target,
        nexus: usize,
    ) -> EmulatedTransport {
        EmulatedTransport::new(
            Arc::clone(&self.world),
            name,
            target,
            nexus,
            world.clock.now(),
            self.is_apart,
        )
    }

    /// Puts a cartridge into the first drive by hand, which takes no time; the drive then loads it.
    ///
    /// # Errors
    /// [`LibraryError::Refused`] when the drive is full, [`LibraryError::Missing`].
    pub fn load_cartridge(&self, barcode: &str) -> Result<(), LibraryError> {
        self.world().insert_by_hand(Element::Drive(0), barcode)
    }

    /// Puts a cartridge that is outside of the library into a place of the station.
    ///
    /// # Errors
    /// [`LibraryError::Refused`] when the place is full, [`LibraryError::Missing`].
    pub fn import(&self, station: u16, barcode: &str) -> Result<(), LibraryError> {
        self.world()
            .insert_by_hand(Element::Station(station), barcode)
    }

    /// Takes a cartridge out of the library by hand: from the first drive, once it is unloaded, or
    /// from the station.
    ///
    /// # Errors
    /// [`LibraryError::Refused`] while it is loaded, or elsewhere than where a hand can reach.
    pub fn take_out(&self, barcode: &str) -> Result<(), LibraryError> {
        self.world().take_by_hand(barcode)
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
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

fn lock(directory: &Path) -> Result<File, LibraryError> {
    let path = directory.join(LOCK);
    let file = File::create(&path).map_err(LibraryError::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(LibraryError::InUse {
            path: directory.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(LibraryError::Io { path, source }),
    }
}

/// Writes a small file so that whoever ends the process leaves the old one or the new one.
pub(crate) fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    fs::write(&beside, text)?;
    fs::rename(&beside, path)
}
