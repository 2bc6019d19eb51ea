//! A small archive: a library with a robot, two LTO-8 drives, a few cartridges, a cache, a catalogue.
#![allow(dead_code)] // not every test needs all of it

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};
use tapewise_archive::cache::{Cache, Directory, Water};
use tapewise_archive::catalogue::{
    CacheRecords, Catalogue, FileId, NewRecall, RequestId, SqliteCatalogue, Terms, VolumeId,
};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::mover::{
    Added, MoveError, Mover, Others, ReadIn, Rebuilt, Recalled, Settings, Verified,
};
use tapewise_archive::store::{Source, StoreTerms, store};
use tapewise_emulator::{Clock, EmulatedTransport, Faults, Library, LibrarySpec};
use tapewise_formats::event::{Action, Event};
use tapewise_library::pool::{Pace, Pool};
use tapewise_model::{Micros, Random, profile};
use tapewise_run::Log;
use tapewise_scsi::{Changer, TapeDrive, Transport};

/// A byte of the host stands for so many on the tapes.
pub const SCALE: u64 = 100_000;

pub struct Site {
    pub directory: tempfile::TempDir,
    pub library: Library,
    pub catalogue: Arc<SqliteCatalogue>,
    pub cache: Cache,
    pub pool: Pool,
    pub settings: Settings,
    pub events: Vec<Event>,
    stop: AtomicBool,
    clock: i64,
    /// How many volumes were made: labels with random UUIDs are not all as long on tape, where drives
    /// compress.
    uuids: AtomicU64,
}

impl Site {
    pub fn new(drives: u16, cartridges: u16, faults: Faults) -> Site {
        Site::at_scale(drives, cartridges, faults, SCALE)
    }

    pub fn at_scale(drives: u16, cartridges: u16, faults: Faults, scale: u64) -> Site {
        let directory = tempfile::tempdir().expect("a directory");
        let mut spec =
            LibrarySpec::with_robot("ibm3584", "lto8", drives, cartridges + 5, cartridges, 7);
        for cartridge in &mut spec.cartridges {
            cartridge.scale = scale;
        }
        spec.faults = faults;
        let path = directory.path().join("library");
        let library = Library::create(&path, &spec, Clock::virtual_time()).expect("a library");
        let pool = pool(&library, drives);
        let catalogue = SqliteCatalogue::open(&directory.path().join("catalogue.db"));
        let catalogue = Arc::new(catalogue.expect("a catalogue"));
        let cache = open_cache(&directory.path().join("cache"), &catalogue, BIG);
        let mut settings = Settings::of(profile::find("lto8").expect("a profile"));
        settings.block_bytes = 8192;
        settings.segment_bytes = 256 << 10;
        settings.byte_scale = scale;
        Site {
            directory,
            library,
            catalogue,
            cache,
            pool,
            settings,
            events: Vec::new(),
            stop: AtomicBool::new(false),
            clock: 1,
            uuids: AtomicU64::new(0),
        }
    }

    pub fn mover<T>(&mut self, work: impl FnOnce(&mut Mover<'_>) -> T) -> T {
        self.clock += 1;
        let (now, uuids) = (self.clock, &self.uuids);
        let mut mover = Mover {
            catalogue: self.catalogue.as_ref(),
            cache: &self.cache,
            pool: &mut self.pool,
            settings: &self.settings,
            log: &mut self.events,
            lessee: None,
            stop: &self.stop,
            now_ns: &|| now,
            new_uuid: &|| {
                let number = uuids.fetch_add(1, Ordering::Relaxed) + 1;
                format!("00000000-0000-4000-8000-{number:012x}")
            },
        };
        work(&mut mover)
    }

    /// The time.
    pub fn now_ns(&self) -> i64 {
        self.clock
    }

    /// Time passes.
    pub fn pass(&mut self, ns: i64) {
        self.clock += ns;
    }

    /// The cache again, with other water marks.
    pub fn reopen_cache(&mut self, high_bytes: u64, low_bytes: u64) {
        let path = self.directory.path().join("cache");
        // The lock goes with whoever has it, so another directory stands in while it is opened.
        let aside = self
            .directory
            .path()
            .join(format!("aside-{high_bytes}-{low_bytes}"));
        self.cache = open_cache(
            &aside,
            &Arc::new(SqliteCatalogue::in_memory().expect("one")),
            BIG,
        );
        let water = Water {
            high_bytes,
            low_bytes,
        };
        self.cache = open_cache(&path, &self.catalogue, water);
    }

    /// Other things go wrong from now on. The library is closed and opened again for that.
    pub fn with_faults(mut self, faults: Faults) -> Site {
        let path = self.directory.path().join("library");
        let spec = LibrarySpec {
            faults,
            ..self.library.spec()
        };
        let drives = spec.drives.len() as u16;
        // A process that opens a library has it alone.
        let none = LibrarySpec::with_robot("ibm3584", "lto8", 1, 1, 1, 7);
        let none = Library::create(&path.with_extension("none"), &none, Clock::virtual_time());
        self.library = none.expect("a library");
        self.pool = pool(&self.library, 1);
        let text = toml::to_string(&spec).expect("settings of a library");
        std::fs::write(path.join("library.toml"), text).expect("written");
        self.library = Library::open(&path, Clock::virtual_time()).expect("a library");
        self.pool = pool(&self.library, drives);
        self
    }

    /// Somebody else labels a cartridge.
    pub fn overwrite(&mut self, label: &str) {
        let drive = self.pool.mount(label, &mut self.events).expect("mounted");
        self.pool.drive(drive).rewind().expect("rewound");
        self.pool.drive(drive).write(&[7; 80]).expect("written");
        let marked = self.pool.drive(drive).write_filemarks(1, false);
        marked.expect("written");
        let dismounted = self.pool.dismount(drive, &mut self.events);
        dismounted.expect("dismounted");
    }

    /// Files of random lengths and contents, stored under `d/NUMBER`.
    pub fn store(&mut self, count: u64, copies: u32, seed: u64) -> Vec<(String, Vec<u8>)> {
        let files: Vec<(String, Vec<u8>)> = (0..count)
            .map(|number| (format!("d{}/{number}", seed), contents(seed, number)))
            .collect();
        self.store_these(&files, copies);
        files
    }

    /// Files with these paths and contents.
    pub fn store_these(&mut self, files: &[(String, Vec<u8>)], copies: u32) {
        self.clock += 1;
        let from = self.directory.path().join(format!("source-{}", self.clock));
        std::fs::create_dir_all(&from).expect("a directory");
        let sources: Vec<Source> = files
            .iter()
            .enumerate()
            .map(|(number, (path, bytes))| {
                let file = from.join(number.to_string());
                std::fs::write(&file, bytes).expect("a file");
                // Not the time of day, whose digits would stand in headers on the tape.
                let opened = std::fs::File::options().write(true).open(&file);
                let stored_at = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
                opened
                    .and_then(|file| file.set_modified(stored_at))
                    .expect("its time is set");
                Source {
                    from: file,
                    path: InnerPath::new(path).expect("a path"),
                    bytes: bytes.len() as u64,
                }
            })
            .collect();
        let how = StoreTerms {
            terms: terms(),
            copies,
            replace: false,
            also: Vec::new(),
        };
        store(&self.cache, &sources, &how, self.clock).expect("stored");
    }

    /// Where in the cache a file lies.
    pub fn in_cache(&self, path: &str) -> PathBuf {
        let cached = self.catalogue.cached(self.id(path)).expect("a catalogue");
        let key = cached.expect("a file in the cache").key.0;
        let place = format!("{:02x}/{key:016x}", key & 0xff);
        self.directory.path().join("cache").join(place)
    }

    /// Recalls files and compares every byte.
    pub fn assert_comes_back(&mut self, files: &[(String, Vec<u8>)], name: &str) -> Recalled {
        let to = self.destination(name);
        self.request(&files.iter().collect::<Vec<_>>(), &to);
        let recalled = self.mover(|mover| mover.recall()).expect("recalled");
        assert_eq!(
            (recalled.delivered, &recalled.failed),
            (files.len() as u64, &vec![])
        );
        for (path, contents) in files {
            let read = std::fs::read(to.join(path)).expect("delivered");
            assert!(&read == contents, "{path}");
        }
        recalled
    }

    /// Reads a volume whole and compares its sums.
    pub fn verify(&mut self, volume: VolumeId) -> Result<Verified, MoveError> {
        let found = self.mover(|mover| mover.verify(&[volume], Micros::FAR));
        let (_, found) = found.expect("a catalogue").remove(0);
        found
    }

    /// Reads a cartridge in, which must succeed.
    pub fn read_in(&mut self, labels: &[&str]) -> Rebuilt {
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        let read = self.mover(|mover| mover.read_in(&labels, Others::Add, 1));
        read.expect("read in")
    }

    pub fn request(&mut self, files: &[&(String, Vec<u8>)], to: &Path) -> Vec<RequestId> {
        let recalls: Vec<NewRecall> = files
            .iter()
            .map(|(path, _)| NewRecall {
                file: self.id(path),
                terms: terms(),
                destination: Some(to.as_os_str().as_encoded_bytes().to_vec()),
            })
            .collect();
        self.clock += 1;
        use tapewise_archive::catalogue::Requests;
        self.catalogue
            .submit(&recalls, self.clock)
            .expect("requests")
    }

    pub fn id(&self, path: &str) -> FileId {
        use tapewise_archive::catalogue::Files;
        let found = self
            .catalogue
            .live_file(path.as_bytes())
            .expect("a catalogue");
        found.expect("a live file")
    }

    /// A directory to deliver to.
    pub fn destination(&self, name: &str) -> PathBuf {
        let to = self.directory.path().join(name);
        std::fs::create_dir_all(&to).expect("a directory");
        to
    }

    /// Drives work at this pace from now on.
    pub fn at_pace(&mut self, pace: Pace) {
        self.pool.set_pace(pace);
    }

    /// Empties the cache of all that may go.
    pub fn empty_cache(&mut self) {
        self.clock += 1;
        self.cache.evict(u64::MAX, self.clock).expect("evicted");
    }

    pub fn assert_integrity(&self) {
        let findings = self.catalogue.integrity().expect("a catalogue");
        assert_eq!(findings, Vec::<String>::new());
    }
}

/// Stops a mover at the nth event of a kind.
pub struct Stopping {
    stop: &'static AtomicBool,
    at: Action,
    left: u32,
}

impl Stopping {
    /// What a mover is to look at, and its log.
    pub fn at(at: Action, nth: u32) -> (&'static AtomicBool, &'static mut Stopping) {
        let stop: &AtomicBool = Box::leak(Box::default());
        let left = nth;
        (stop, Box::leak(Box::new(Stopping { stop, at, left })))
    }
}

impl Log for Stopping {
    fn event(&mut self, event: &Event) -> std::io::Result<()> {
        self.left -= u32::from(event.action == self.at && self.left > 0);
        self.stop.store(self.left == 0, Ordering::Relaxed);
        Ok(())
    }
}

pub fn pool(library: &Library, drives: u16) -> Pool {
    pool_through(library, drives, |_, transport| Box::new(transport))
}

/// A pool whose drives are reached through something, by their number.
pub fn pool_through(
    library: &Library,
    drives: u16,
    through: impl Fn(usize, EmulatedTransport) -> Box<dyn Transport>,
) -> Pool {
    let all: Vec<usize> = (0..usize::from(drives)).collect();
    pool_of(library, &all, through)
}

/// A pool of some of a library's drives.
pub fn pool_of(
    library: &Library,
    numbers: &[usize],
    through: impl Fn(usize, EmulatedTransport) -> Box<dyn Transport>,
) -> Pool {
    let drives = numbers.iter().map(|&number| {
        let transport = library.transport_to_drive(number).expect("a drive");
        TapeDrive::open(through(number, transport)).expect("a drive")
    });
    let changer = library.transport_to_changer().expect("a robot");
    let changer = Changer::open(Box::new(changer)).expect("a robot");
    let pool = Pool::new(drives.collect(), vec![changer], None, Box::new(|_| {}));
    let mut pool = pool.expect("a pool");
    pool.set_pace(Pace::Turns);
    pool
}

/// A cache that nothing fills.
const BIG: Water = Water {
    high_bytes: 1 << 30,
    low_bytes: 1 << 29,
};

pub fn open_cache(path: &Path, catalogue: &Arc<SqliteCatalogue>, water: Water) -> Cache {
    let disk = Box::new(Directory::open(path).expect("a directory"));
    let (cache, _) = Cache::open(disk, Arc::clone(catalogue) as _, water).expect("a cache");
    cache
}

pub fn terms() -> Terms {
    Terms {
        user: "alice".to_owned(),
        ..Terms::default()
    }
}

/// From nothing to some blocks, of no pattern.
pub fn contents(seed: u64, number: u64) -> Vec<u8> {
    let mut random = Random::new(seed, number);
    let length = match number % 10 {
        0 => 0,
        1 => 50_000,
        _ => random.below(9_000),
    };
    (0..length).map(|_| random.below(256) as u8).collect()
}

/// What was added of the only cartridge that was read in.
pub fn added(rebuilt: Rebuilt) -> Added {
    let mut volumes = rebuilt.volumes.into_iter();
    match volumes.next().map(|(_, read)| read) {
        Some(ReadIn::Added(added)) => added,
        other => panic!("{other:?}"),
    }
}

/// Bytes of no pattern.
pub fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random::new(seed, 1);
    let words = std::iter::repeat_with(|| random.below(u64::MAX).to_le_bytes());
    words.flatten().take(bytes).collect()
}
