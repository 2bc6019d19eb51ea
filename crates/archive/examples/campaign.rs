//! A whole archive at work: files stored on many cartridges, the cache emptied, and many of them
//! recalled in random batches by several users; every checksum compared, and the drive time beside
//! what sorting and CTA's greedy order would have taken.
//!
//! `cargo run --release -p tapewise-archive --example campaign -- [FILES] [CARTRIDGES] [RECALLS]`

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tapewise_archive::cache::{Cache, Directory, Water};
use tapewise_archive::catalogue::{
    Catalogue, CatalogueError, FileId, Files, NewRecall, Requests, SqliteCatalogue, Terms, Volumes,
};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::mover::{Mover, Settings, random_uuid};
use tapewise_archive::store::{Source, StoreTerms, store};
use tapewise_emulator::{Clock, Library, LibrarySpec};
use tapewise_formats::event::{Action, Event};
use tapewise_library::pool::{Pace, Pool};
use tapewise_model::{Micros, Random, profile};
use tapewise_order::Algorithm;
use tapewise_scsi::{Changer, TapeDrive};

/// Bytes of tape for each stored byte: files of some kilobytes are files of gigabytes there.
const SCALE: u64 = 200_000;
const DRIVES: u16 = 4;
const USERS: u64 = 5;
/// Requests that come together.
const BATCH: usize = 2_000;

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<u64> = std::env::args()
        .skip(1)
        .map(|arg| arg.parse())
        .collect::<Result<_, _>>()?;
    let number = |at: usize, usual: u64| numbers.get(at).copied().unwrap_or(usual);
    let (files, cartridges, recalls) = (number(0, 100_000), number(1, 200), number(2, 20_000));
    let directory = tempfile::tempdir()?;
    let library = library(directory.path(), u16::try_from(cartridges)?)?;
    let mut site = Site::new(directory.path(), &library, files / cartridges)?;
    let began = Instant::now();
    let sums = site.fill(directory.path(), files)?;

    let mut ids: Vec<FileId> = sums.keys().copied().collect();
    Random::new(5, 5).shuffle(&mut ids);
    ids.truncate(recalls as usize);
    println!(
        "recall  {} files by {USERS} users, {BATCH} requests at a time",
        ids.len()
    );
    for (name, algorithm) in [
        ("tapewise best", Algorithm::Best),
        ("LINEAR", Algorithm::Sort),
        ("CTA's SLTF", Algorithm::Cta),
    ] {
        site.settings.algorithm = algorithm;
        site.recall(name, directory.path(), &ids, &sums)?;
    }
    println!(
        "in {:.0} s of this machine's time",
        began.elapsed().as_secs_f64()
    );
    assert_eq!(site.catalogue.integrity()?, Vec::<String>::new());
    Ok(())
}

/// A library of blank cartridges that lie beside its drives.
fn library(directory: &Path, cartridges: u16) -> Result<Library, Box<dyn Error>> {
    let slots = cartridges.saturating_add(10);
    let mut spec = LibrarySpec::with_robot("ibm3584", "lto8", DRIVES, slots, cartridges, 7);
    spec.cartridges
        .iter_mut()
        .for_each(|cartridge| cartridge.scale = SCALE);
    let place = directory.join("library");
    Ok(Library::create(&place, &spec, Clock::virtual_time())?)
}

struct Site {
    catalogue: Arc<SqliteCatalogue>,
    cache: Cache,
    pool: Pool,
    settings: Settings,
    events: Vec<Event>,
    stop: AtomicBool,
    clock: i64,
}

impl Site {
    fn new(directory: &Path, library: &Library, on_each: u64) -> Result<Site, Box<dyn Error>> {
        let mut drives = Vec::new();
        for drive in 0..usize::from(DRIVES) {
            drives.push(TapeDrive::open(Box::new(
                library.transport_to_drive(drive)?,
            ))?);
        }
        let changer = Changer::open(Box::new(library.transport_to_changer()?))?;
        let catalogue = Arc::new(SqliteCatalogue::open(&directory.join("catalogue.db"))?);
        let disk = Box::new(Directory::open(&directory.join("cache"))?);
        let water = Water {
            high_bytes: 1 << 40,
            low_bytes: 1 << 39,
        };
        let (cache, _) = Cache::open(disk, Arc::clone(&catalogue) as _, water)?;
        let mut settings = Settings::of(profile::find("lto8")?);
        settings.block_bytes = 8192;
        settings.segment_bytes = 1 << 20;
        settings.byte_scale = SCALE;
        // As many files as spread over all cartridges.
        settings.volume_bytes = Some(on_each * (MEAN_BYTES + 1_500));
        let mut pool = Pool::new(drives, vec![changer], None, Box::new(|_| {}))?;
        // The drives share a clock: what one does would count as the other's time too.
        pool.set_pace(Pace::Turns);
        Ok(Site {
            pool,
            catalogue,
            cache,
            settings,
            events: Vec::new(),
            stop: AtomicBool::new(false),
            clock: 1,
        })
    }

    fn mover<T>(&mut self, work: impl FnOnce(&mut Mover<'_>) -> T) -> Result<T, Box<dyn Error>> {
        self.clock += 1;
        let now = self.clock;
        Ok(work(&mut Mover {
            catalogue: self.catalogue.as_ref(),
            cache: &self.cache,
            pool: &mut self.pool,
            settings: &self.settings,
            log: &mut self.events,
            lessee: None,
            stop: &self.stop,
            now_ns: &|| now,
            new_uuid: &random_uuid,
        }))
    }

    /// Stores files with contents from a seed; their numbers and XXH3.
    fn store(
        &mut self,
        directory: &Path,
        files: u64,
    ) -> Result<BTreeMap<FileId, u64>, Box<dyn Error>> {
        let from = directory.join("source");
        std::fs::create_dir(&from)?;
        let how = StoreTerms {
            terms: Terms::default(),
            copies: 1,
            replace: false,
            also: Vec::new(),
        };
        let mut sums = BTreeMap::new();
        let numbers: Vec<u64> = (0..files).collect();
        for some in numbers.chunks(1000) {
            let mut sources = Vec::new();
            let mut contents = Vec::new();
            for &number in some {
                let bytes = made_up(number);
                let path = from.join((number % 1000).to_string());
                std::fs::write(&path, &bytes)?;
                contents.push(xxhash_rust::xxh3::xxh3_64(&bytes));
                sources.push(Source {
                    from: path,
                    path: InnerPath::new(format!("p{}/{number}", number / 1000))?,
                    bytes: bytes.len() as u64,
                });
            }
            self.clock += 1;
            let stored = store(&self.cache, &sources, &how, self.clock)?;
            sums.extend(stored.into_iter().map(|(id, _)| id).zip(contents));
        }
        Ok(sums)
    }

    /// Stores files, brings them onto tape and empties the cache; their numbers and XXH3.
    fn fill(
        &mut self,
        directory: &Path,
        files: u64,
    ) -> Result<BTreeMap<FileId, u64>, Box<dyn Error>> {
        let began = Instant::now();
        let sums = self.store(directory, files)?;
        let migrated = self.mover(|mover| mover.migrate(i64::MAX))??;
        println!(
            "store   {} files on {} volumes, {} mounts, in {:.0} s of this machine's time",
            migrated.files,
            self.catalogue.volumes()?.len(),
            migrated.mounts,
            began.elapsed().as_secs_f64()
        );
        self.report("store");
        self.cache.evict(u64::MAX, self.clock)?;
        assert_eq!(self.cache.usage().held_bytes, 0);
        Ok(sums)
    }

    /// Recalls these files batch by batch into a new directory, and compares every checksum.
    fn recall(
        &mut self,
        name: &str,
        directory: &Path,
        ids: &[FileId],
        sums: &BTreeMap<FileId, u64>,
    ) -> Result<(), Box<dyn Error>> {
        let to = directory.join(name);
        std::fs::create_dir(&to)?;
        let mut delivered = 0;
        for batch in ids.chunks(BATCH) {
            self.submit(batch, &to)?;
            let recalled = self.mover(|mover| mover.recall())??;
            assert!(recalled.failed.is_empty(), "{:?}", recalled.failed);
            delivered += recalled.delivered;
        }
        let mut right = 0;
        for id in ids {
            let path = String::from_utf8(self.catalogue.file(*id)?.file.path)?;
            let read = std::fs::read(to.join(path))?;
            right += u64::from(xxhash_rust::xxh3::xxh3_64(&read) == sums[id]);
        }
        self.report(name);
        println!("{:14} {delivered} delivered, {right} checksums right", "");
        assert_eq!((delivered, right), (ids.len() as u64, ids.len() as u64));
        Ok(())
    }

    fn submit(&mut self, files: &[FileId], to: &Path) -> Result<(), CatalogueError> {
        let recalls: Vec<NewRecall> = files
            .iter()
            .map(|&file| NewRecall {
                file,
                terms: Terms {
                    user: format!("user{}", file.0.unsigned_abs() % USERS),
                    ..Terms::default()
                },
                destination: Some(to.as_os_str().as_encoded_bytes().to_vec()),
            })
            .collect();
        self.clock += 1;
        self.catalogue.submit(&recalls, self.clock).map(|_| ())
    }

    /// Drive time since the last report, by what was done.
    fn report(&mut self, what: &str) {
        let mut hours: BTreeMap<String, Micros> = BTreeMap::new();
        for event in self.events.drain(..) {
            let of_drive = !matches!(event.action, Action::Fetch | Action::Return);
            let name = format!("{:?}", event.action);
            let sum = hours.entry(name).or_insert(Micros::ZERO);
            *sum += if of_drive {
                event.took_us
            } else {
                Micros::ZERO
            };
        }
        let total: f64 = hours.values().map(|time| time.as_secs_f64()).sum();
        let parts = hours
            .iter()
            .map(|(name, time)| (name, time.as_secs_f64() / 3600.0));
        let parts: Vec<String> = parts
            .map(|(name, hours)| format!("{name} {hours:.1}"))
            .collect();
        println!(
            "{what:14} {:.1} drive-hours: {}",
            total / 3600.0,
            parts.join(", ")
        );
    }
}

const MEAN_BYTES: u64 = 30_000;

/// From nothing to twice the mean, of no pattern.
fn made_up(number: u64) -> Vec<u8> {
    let mut random = Random::new(11, number);
    let bytes = random.below(2 * MEAN_BYTES) as usize;
    let mut contents = Vec::with_capacity(bytes + 8);
    while contents.len() < bytes {
        contents.extend_from_slice(&random.below(u64::MAX).to_le_bytes());
    }
    contents.truncate(bytes);
    contents
}
