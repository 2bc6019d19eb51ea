//! A library in a directory: drives, cartridges, a robot or none.
//!
//! `library.toml` says what there is ([`LibrarySpec`]), `places.toml` which element holds which
//! cartridge, `cartridges/BARCODE/` what is recorded on it, `drives/SERIAL.toml` what a drive has
//! done in its life. One process at a time: the directory is locked while it is open. All devices
//! share one clock; a command lets it run by what the command took.

use crate::clock::Clock;
use crate::drive::Drive;
use crate::elements::{Element, Elements};
use crate::error::LibraryError;
use crate::files::write_whole;
use crate::lock::Lock;
use crate::medium::Medium;
use crate::recorder::Recorder;
use crate::snapshot::{CommandDone, Snapshot};
use crate::spec::LibrarySpec;
use crate::transport::{EmulatedTransport, LibraryUnit};
use crate::world::World;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tapewise_model::Micros;
use tempfile::TempDir;

/// A library that is open.
#[derive(Clone)]
pub struct Library {
    world: Arc<Mutex<World>>,
    directory: PathBuf,
    is_apart: bool,
}

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
        let lock = Lock::take(directory)?;
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
        let lock = Lock::take(directory)?;
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

    /// What the drives are doing.
    pub fn snapshot(&self) -> Snapshot {
        let world = self.world();
        let now = world.clock.now();
        let drives = world.drives.iter().enumerate();
        Snapshot {
            clock_us: now.0,
            drives: drives
                .map(|(number, drive)| drive.snapshot(number, now))
                .collect(),
        }
    }

    /// Tells `watcher` of every command that a device of the library carries out from now on, in their order.
    pub fn watch(&self, watcher: impl FnMut(&CommandDone) + Send + 'static) {
        self.world().watcher = Some(Box::new(watcher));
    }

    /// Whether a process has the library in this directory open.
    ///
    /// # Errors
    /// [`LibraryError::Io`] when there is no library.
    pub fn is_in_use(directory: &Path) -> Result<bool, LibraryError> {
        Lock::is_held(directory)
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
        Ok(self.transport(&world, name, LibraryUnit::Drive(number), nexus))
    }

    /// A way to the drive numbered `number` from 0 for the initiator at this port, which finds what it left behind
    /// there: a host whose program was killed and started again.
    ///
    /// # Errors
    /// [`LibraryError::Missing`].
    pub fn transport_to_drive_from(
        &self,
        port: &str,
        number: usize,
    ) -> Result<EmulatedTransport, LibraryError> {
        self.connect(LibraryUnit::Drive(number), port)
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
        Ok(self.transport(&world, name, LibraryUnit::Changer, nexus))
    }

    /// A way to a unit for an initiator with a name, which has the same unit attentions and reservations under that
    /// name whenever it comes.
    ///
    /// # Errors
    /// [`LibraryError::Missing`].
    pub(crate) fn connect(
        &self,
        unit: LibraryUnit,
        port: &str,
    ) -> Result<EmulatedTransport, LibraryError> {
        let mut world = self.world();
        let (name, nexus) = match unit {
            LibraryUnit::Drive(number) => {
                let Some(drive) = world.drives.get_mut(number) else {
                    return Err(LibraryError::Missing {
                        what: format!("drive {number}"),
                    });
                };
                (format!("drive {number}"), drive.open_port(port))
            }
            LibraryUnit::Changer => (
                "changer".to_owned(),
                world.changer.attentions.open_port(port),
            ),
        };
        Ok(self.transport(&world, name, unit, nexus))
    }

    /// On a virtual clock, lets the time pass until a unit has finished what it is at: whoever asks from outside
    /// whether a drive is ready waits by a clock of its own, which this one knows nothing of.
    pub(crate) fn finish_waiting(&self, unit: LibraryUnit) {
        let world = self.world();
        if let LibraryUnit::Drive(number) = unit
            && world.clock.is_virtual()
        {
            let ready = world
                .drives
                .get(number)
                .map_or(Micros::ZERO, Drive::ready_at);
            let left = ready - world.clock.now();
            world.clock.skip(left);
        }
    }

    /// Resets a unit, as a task management function does.
    pub fn reset(&self, unit: LibraryUnit) {
        let mut world = self.world();
        match unit {
            LibraryUnit::Drive(number) => {
                if let Some(drive) = world.drives.get_mut(number) {
                    drive.reset_unit();
                }
            }
            LibraryUnit::Changer => world.changer.reset_unit(),
        }
    }

    fn transport(
        &self,
        world: &World,
        name: String,
        target: LibraryUnit,
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

    /// Writes on a cartridge that is in no drive, as somebody elsewhere may have done. It is to be finished
    /// before the cartridge goes into a drive.
    ///
    /// # Errors
    /// [`LibraryError::Refused`] when it is in a drive, [`LibraryError::Missing`].
    pub fn recorder(&self, barcode: &str) -> Result<Recorder, LibraryError> {
        let world = self.world();
        let place = world.shelf.element_of(barcode);
        if let Some(address) = place.filter(|&address| world.drive_at(address).is_some()) {
            let what = format!("{barcode} is in the drive of element {address}");
            return Err(LibraryError::Refused { what });
        }
        let cartridge = world.open_cartridge(barcode)?;
        let kind = world.spec.kind(&cartridge.kind)?;
        let spec = world.spec.cartridges.iter();
        let seed = spec
            .filter(|one| one.barcode == barcode)
            .map(|one| one.seed as u32)
            .next();
        Ok(Recorder::new(cartridge, kind, seed.unwrap_or_default()))
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
