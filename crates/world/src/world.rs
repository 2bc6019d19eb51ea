//! The world of one archive: clock, random numbers, disks, catalogue, library and hosts, all of one seed.

use crate::configuration::Configuration;
use crate::destinations::Destinations;
use crate::devices::{self, Path as Way};
use crate::fate::{End, Fates, Plan};
use crate::files::{MemoryDisk, Tree};
use crate::log::LogDisk;
use crate::oracle::{ByTape, on_tape};
use std::fs;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tapewise_archive::cache::Cache;
use tapewise_archive::catalogue::{CatalogueError, SqliteCatalogue};
use tapewise_archive::mover::{MoveError, Mover, Precompress, Settings};
use tapewise_archive::open::{Archive, Machinery, OpenError};
use tapewise_archive::store::StoreError;
use tapewise_emulator::{Clock, Library, LibrarySpec, LibraryUnit};
use tapewise_formats::event::Event;
use tapewise_formats::event_log::{EventWriter, Header};
use tapewise_library::pool::{Pace, Pool, PoolError};
use tapewise_model::{Micros, Profile, Random, profile};
use tapewise_scsi::device::Host;
use tapewise_scsi::{Changer, ScsiError, TapeDrive};
use tapewise_torn::Watched;

/// 13 September 2020, in nanoseconds since 1970: when every world begins.
pub const BEGINNING_NS: i64 = 1_600_000_000_000_000_000;

/// What became of things that were not synced.
const LOST: &str = "contents or names lost or torn";

/// Everything of one archive.
pub struct World {
    /// What goes wrong.
    pub fates: Arc<Fates>,
    /// The cache's disk.
    pub disk: MemoryDisk,
    /// The event log.
    pub log: LogDisk,
    /// Where recalled files go.
    pub destinations: Arc<Destinations>,
    /// Drives and robot.
    pub library: Library,
    /// How the site is built.
    pub configuration: Configuration,
    root: PathBuf,
    watched: Watched,
    clock: Clock,
    /// What operators have changed the clock by.
    shift_ns: i64,
    /// The machine that works with the archive, counted from 0.
    host: u64,
    uuids: AtomicU64,
    lto8: Profile,
    tapes: ByTape,
    _directory: tempfile::TempDir,
}

/// Why a process did not do what it was to do.
#[derive(Debug)]
pub enum Trouble {
    /// The archive was not opened.
    Open(OpenError),
    /// Files were not stored.
    Store(StoreError),
    /// Files were not moved.
    Move(MoveError),
    /// The catalogue.
    Catalogue(CatalogueError),
    /// Another host has the drives.
    Devices(ScsiError),
    /// The drives and robots cannot be worked with.
    Pool(PoolError),
    /// The world that it runs in.
    Io(io::Error),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trouble::Open(error) => error.fmt(f),
            Trouble::Store(error) => error.fmt(f),
            Trouble::Move(error) => error.fmt(f),
            Trouble::Catalogue(error) => error.fmt(f),
            Trouble::Devices(error) => error.fmt(f),
            Trouble::Pool(error) => error.fmt(f),
            Trouble::Io(error) => error.fmt(f),
        }
    }
}

impl Trouble {
    /// The beginning of its words, without numbers, and without the place of a world.
    pub fn beginning(&self, root: &Path) -> String {
        let words = self.to_string().replace(&root.display().to_string(), "");
        let letters = words.chars().filter(|letter| !letter.is_ascii_digit());
        letters.take(60).collect()
    }
}

macro_rules! from {
    ($($error:ident, $variant:ident);*) => {
        $(impl From<$error> for Trouble {
            fn from(error: $error) -> Trouble {
                Trouble::$variant(error)
            }
        })*
    };
}

type Io = io::Error;
from!(OpenError, Open; StoreError, Store; MoveError, Move; CatalogueError, Catalogue; ScsiError, Devices; PoolError, Pool; Io, Io);

/// How a process opens the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// As every verb.
    Usual,
    /// As `catalog rebuild`.
    Rebuild,
}

/// A process that has the archive open.
pub struct Process<'w> {
    world: &'w World,
    /// The archive.
    pub archive: Archive,
    /// Its cache.
    pub cache: Cache,
    /// Decides the order of drives.
    turns: u64,
}

/// Copies of the archive's directory, or of its catalogue only.
#[derive(Clone)]
pub struct Snapshot {
    /// The cache.
    pub tree: Tree,
    /// The catalogue's files and the settings, by name.
    files: Vec<(String, Vec<u8>)>,
}

/// Where the temporary files of worlds go: into memory, where there is such a place.
pub fn temporary() -> io::Result<tempfile::TempDir> {
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("tapewise-world-");
        builder
    };
    builder()
        .tempdir_in("/dev/shm")
        .or_else(|_| builder().tempdir())
}

/// The library of a site, in its directory.
pub fn library(
    root: &Path,
    configuration: &Configuration,
    seed: u64,
    clock: &Clock,
) -> io::Result<Library> {
    let mut spec = LibrarySpec::with_robot(
        "ibm3584",
        "lto8",
        configuration.drives,
        configuration.cartridges + 5,
        configuration.cartridges,
        seed,
    );
    for cartridge in &mut spec.cartridges {
        cartridge.scale = configuration.scale;
    }
    spec.faults = configuration.faults.clone();
    Library::create(&root.join("library"), &spec, clock.clone()).map_err(io::Error::other)
}

/// The next of UUIDs that are the same each time.
pub fn uuid(uuids: &AtomicU64) -> String {
    let number = uuids.fetch_add(1, Ordering::Relaxed) + 1;
    format!("00000000-0000-4000-8000-{number:012x}")
}

impl World {
    /// The world of a seed, with a new archive in it.
    ///
    /// # Errors
    /// [`Trouble`] where not even that works.
    pub fn new(seed: u64) -> Result<World, Trouble> {
        let directory = temporary()?;
        let root = directory.path().canonicalize()?;
        let configuration = Configuration::of(seed);
        let clock = Clock::virtual_time();
        let library = library(&root, &configuration, seed, &clock)?;
        let fates = Arc::new(Fates::default());
        let archive = root.join("archive");
        fs::create_dir(&archive)?;
        let watched = tapewise_torn::watch(&archive, Arc::clone(&fates) as _);
        drop(Archive::create(&archive, &configuration.settings)?);
        watched.settle();
        for host in 0..2 {
            let etc = root.join(format!("host{host}/etc"));
            fs::create_dir_all(&etc)?;
            fs::write(etc.join("machine-id"), format!("machine {host}\n"))?;
        }
        fs::create_dir(root.join("delivered"))?;
        fs::create_dir(root.join("backups"))?;
        Ok(World {
            disk: MemoryDisk::new(Arc::clone(&fates) as _, 8 << 20),
            log: LogDisk::new(Arc::clone(&fates)),
            destinations: Arc::new(Destinations::new(Arc::clone(&fates) as _)),
            fates,
            library,
            configuration,
            root,
            watched,
            clock,
            shift_ns: 0,
            host: 0,
            uuids: AtomicU64::new(0),
            lto8: profile::find("lto8").map_err(io::Error::other)?,
            tapes: ByTape::default(),
            _directory: directory,
        })
    }

    /// The time that hosts see, nanoseconds since 1970.
    pub fn now_ns(&self) -> i64 {
        BEGINNING_NS + self.clock.now().0 * 1000 + self.shift_ns
    }

    /// The time that has really passed.
    pub fn age(&self) -> Micros {
        self.clock.now()
    }

    /// Time passes.
    pub fn pass(&self, time: Micros) {
        self.clock.skip(time);
    }

    /// Somebody changes the clock.
    pub fn shift(&mut self, ns: i64) {
        self.shift_ns = ns;
    }

    /// The archive moves to the other machine. The drives are reset: what the first one prevented is gone with it, what
    /// it has reserved persistently is not.
    pub fn change_host(&mut self) {
        self.host = 1 - self.host;
        for number in 0..usize::from(self.configuration.drives) {
            self.library.reset(LibraryUnit::Drive(number));
        }
    }

    /// A place in the world's own directory.
    pub fn place(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// What lies on the tapes now, as anybody can read it.
    ///
    /// # Errors
    /// Those of the files behind the tapes.
    pub fn look_at_tapes(&mut self) -> io::Result<&ByTape> {
        on_tape(&self.root.join("library/cartridges"), &mut self.tapes)?;
        Ok(&self.tapes)
    }

    /// Runs a process in which some things go wrong, to its end. Where it was killed, or the power was cut, nobody
    /// sees what it would have said.
    ///
    /// # Errors
    /// [`Trouble`]; with how it ended, where that was before its end.
    pub fn run<T>(
        &self,
        (plan, seed): (Plan, u64),
        opening: Opening,
        work: impl FnOnce(&mut Process<'_>) -> Result<T, Trouble>,
    ) -> Result<Result<T, Trouble>, End> {
        self.fates.begin(plan);
        self.log.begin();
        let done = self.process(seed, opening, work);
        match self.fates.end() {
            None => Ok(done),
            Some(end) => {
                drop(done);
                self.after(end, seed);
                Err(end)
            }
        }
    }

    fn process<T>(
        &self,
        seed: u64,
        opening: Opening,
        work: impl FnOnce(&mut Process<'_>) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let directory = self.root.join("archive");
        let archive = match opening {
            Opening::Usual => Archive::open(&directory)?,
            Opening::Rebuild => Archive::open_to_rebuild(&directory)?,
        };
        let disk = Box::new(self.disk.clone());
        let (cache, _) = match opening {
            Opening::Usual => archive.cache_on(disk)?,
            Opening::Rebuild => archive.reconcile_on(disk)?,
        };
        work(&mut Process {
            world: self,
            archive,
            cache,
            turns: seed,
        })
    }

    /// The process is gone: what is left of its files?
    fn after(&self, end: End, seed: u64) {
        if end == End::Killed {
            return;
        }
        let mut random = Random::new(seed, 99);
        let mut choose = |most: u64| random.below(most);
        let _ = fs::remove_file(self.root.join("archive/catalogue.db-shm"));
        let of_database = self.watched.cut_power(&mut choose).unwrap_or(0);
        let of_cache = self.disk.tree().cut_power(&mut choose);
        let of_places = self.destinations.cut_power(&mut choose).unwrap_or(0);
        if of_places > 0 {
            self.fates.note("destination, power cut", LOST);
        }
        if of_database > 0 {
            self.fates.note("catalogue, power cut", LOST);
        }
        if of_cache > 0 {
            self.fates.note("cache, power cut", LOST);
        }
        self.log.cut_power(&mut choose);
    }

    /// The catalogue as it stands, for whoever looks on.
    ///
    /// # Errors
    /// Those of the catalogue.
    pub fn catalogue(&self) -> Result<SqliteCatalogue, CatalogueError> {
        SqliteCatalogue::open_to_read(&self.root.join("archive/catalogue.db"))
    }

    /// A copy of the directory as it stands.
    ///
    /// # Errors
    /// Those of the files.
    pub fn snapshot(&self) -> io::Result<Snapshot> {
        let mut files = Vec::new();
        for name in ["archive.toml", "catalogue.db", "catalogue.db-wal"] {
            match fs::read(self.root.join("archive").join(name)) {
                Ok(bytes) => files.push((name.to_owned(), bytes)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        let tree = self.disk.tree().clone();
        Ok(Snapshot { tree, files })
    }

    /// Puts the catalogue of a copy in the place of the one there is, and the cache too if all of it is restored.
    ///
    /// # Errors
    /// Those of the files.
    pub fn restore(&self, snapshot: &Snapshot, with_cache: bool) -> io::Result<()> {
        self.lose_catalogue()?;
        for (name, bytes) in &snapshot.files {
            fs::write(self.root.join("archive").join(name), bytes)?;
        }
        if with_cache {
            let mut tree = snapshot.tree.clone();
            tree.settle();
            *self.disk.tree() = tree;
        }
        self.watched.settle();
        Ok(())
    }

    /// Puts a backup in the place of the catalogue, as the hint says: the log beside it is removed.
    ///
    /// # Errors
    /// Those of the files.
    pub fn restore_backup(&self, backup: &Path) -> io::Result<()> {
        self.lose_catalogue()?;
        fs::copy(backup, self.root.join("archive/catalogue.db"))?;
        self.watched.settle();
        Ok(())
    }

    /// Removes the catalogue, and what SQLite keeps beside it.
    ///
    /// # Errors
    /// Those of the files.
    pub fn lose_catalogue(&self) -> io::Result<()> {
        for name in ["catalogue.db", "catalogue.db-wal", "catalogue.db-shm"] {
            match fs::remove_file(self.root.join("archive").join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.watched.settle();
        Ok(())
    }

    /// Labels of all cartridges.
    pub fn labels(&self) -> Vec<String> {
        let cartridges = self.library.spec().cartridges.into_iter();
        cartridges.map(|cartridge| cartridge.barcode).collect()
    }

    /// Whether a cartridge is in a drive.
    pub fn is_in_drive(&self, label: &str) -> bool {
        let drives = self.library.snapshot().drives;
        drives
            .iter()
            .any(|drive| drive.cartridge.as_deref() == Some(label))
    }

    fn drive(&self, number: usize) -> Result<TapeDrive, Trouble> {
        let port = format!("host{}", self.host);
        let real = self.library.transport_to_drive_from(&port, number);
        let other = self.library.transport_to_drive_from("other", number);
        let (real, other) = (
            real.map_err(io::Error::other)?,
            other.map_err(io::Error::other)?,
        );
        let way = Way::new(real, Some(other), Arc::clone(&self.fates));
        Ok(TapeDrive::open(Box::new(way))?)
    }

    fn pool(&self, turns: u64) -> Result<Pool, Trouble> {
        let host = self.this_host();
        let mut drives = Vec::new();
        for number in 0..usize::from(self.configuration.drives) {
            let mut drive = self.drive(number)?;
            drive.reserve(&host)?;
            drives.push(drive);
        }
        let robot = self.library.transport_to_changer();
        let robot = robot.map_err(io::Error::other)?;
        let robot = Way::new(robot, None, Arc::clone(&self.fates));
        let robot = Changer::open(Box::new(robot))?;
        let mut pool = Pool::new(drives, vec![robot], None, Box::new(|_| {}))?;
        pool.set_pace(Pace::Seeded(turns));
        Ok(pool)
    }

    /// Takes the cartridges out of all drives, as `library dismount` does.
    ///
    /// # Errors
    /// [`Trouble`]; the drives before have given theirs back.
    pub fn take_out(&self) -> Result<(), Trouble> {
        let mut pool = self.pool(0)?;
        let mut log: Vec<Event> = Vec::new();
        for drive in 0..pool.drives() {
            pool.dismount(drive, &mut log)?;
        }
        Ok(())
    }

    fn this_host(&self) -> Host {
        Host::at(&self.root.join(format!("host{}", self.host)))
    }

    /// The other host takes the drives for itself, or gives them back.
    pub fn other_reserves(&self, is_taken: bool) -> bool {
        let mut all = true;
        for number in 0..usize::from(self.configuration.drives) {
            let opcode = if is_taken { 0x16 } else { 0x17 };
            if let Ok(mut other) = self.library.transport_to_drive_from("other", number) {
                all &= devices::send(&mut other, [opcode, 0, 0, 0, 0, 0]);
            }
        }
        all
    }

    /// Ends what the other machine has left in the drives, as `drive release` does.
    ///
    /// # Errors
    /// [`Trouble::Devices`].
    pub fn release_drives(&self) -> Result<(), Trouble> {
        let host = self.this_host();
        for number in 0..usize::from(self.configuration.drives) {
            let mut drive = self.drive(number)?;
            let keys = drive
                .registrations()?
                .map_or_else(Vec::new, |found| found.keys);
            for key in keys
                .into_iter()
                .filter(|key| *key != host.reservation_key())
            {
                drive.clear_registration(&host, key)?;
            }
        }
        Ok(())
    }
}

impl Process<'_> {
    /// How volumes are written.
    fn settings(&self) -> Result<Settings, Trouble> {
        let lto8 = self.world.lto8.clone();
        let byte_scale = self.world.configuration.scale;
        let settings = self.archive.settings.of_mover(lto8, byte_scale);
        let precompress = settings
            .precompress
            .map(|how| Precompress { threads: 1, ..how });
        Ok(Settings {
            precompress,
            overlap: false,
            watch: Some(Arc::clone(&self.world.destinations) as _),
            ..settings
        })
    }

    /// The time.
    pub fn now_ns(&self) -> i64 {
        self.world.now_ns()
    }

    /// The world that it runs in.
    pub fn world(&self) -> &World {
        self.world
    }

    /// Opens drives and robot, and lets `work` move files.
    ///
    /// # Errors
    /// [`Trouble`].
    pub fn moving<T>(
        &self,
        work: impl FnOnce(&mut Mover<'_>) -> Result<T, MoveError>,
    ) -> Result<T, Trouble> {
        let mut pool = self.world.pool(self.turns)?;
        let settings = self.settings()?;
        let stop = AtomicBool::new(false);
        let file = BufWriter::new(self.world.log.append()?);
        let mut log = EventWriter::new(file, &Header::new("tapewise"))?;
        let world = self.world;
        let now_ns = || world.now_ns();
        let new_uuid = || uuid(&world.uuids);
        let machinery = Machinery {
            pool: &mut pool,
            settings: &settings,
            log: &mut log,
            lessee: None,
            stop: &stop,
            now_ns: &now_ns,
            new_uuid: &new_uuid,
        };
        Ok(self
            .archive
            .work(&self.cache, machinery, &mut |_| {}, work)?)
    }
}
