//! A whole archive at work: files stored on many cartridges, the cache emptied, and many of them
//! recalled in random batches by several users; every checksum compared, and the drive time beside
//! what sorting and CTA's greedy order would have taken, and what a service takes whose movers share the drives.
//!
//! `cargo run --release -p tapewise-archive --example campaign -- [FILES] [CARTRIDGES] [RECALLS] [SEED]`

#[path = "emulated/mod.rs"]
mod emulated;

use emulated::{Archive, numbers, pool};
use std::collections::BTreeMap;
use std::error::Error;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tapewise_archive::cache::Cache;
use tapewise_archive::catalogue::{Catalogue, CatalogueError, FileId, Holder, NewRecall, Terms};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::mover::{Lessee, Mover, Settings, random_uuid};
use tapewise_archive::store::{Source, StoreTerms, store};
use tapewise_emulator::{Clock, Library, LibrarySpec};
use tapewise_formats::event::{Action, Event};
use tapewise_library::pool::Pace;
use tapewise_model::{Micros, Random, profile};
use tapewise_order::Algorithm;

/// Bytes of tape for each stored byte: files of some kilobytes are files of gigabytes there.
const SCALE: u64 = 200_000;
const DRIVES: u16 = 4;
const USERS: u64 = 5;
/// Requests that come together: within a window, where a service gathers them.
const BATCH: usize = 2_000;
/// Files of one request to a service, and its movers.
const REQUEST: usize = 50;
const MOVERS: u16 = 2;

/// What the drives of a mover did, and how many files it delivered.
type Done = (Vec<Event>, u64);

fn main() -> Result<(), Box<dyn Error>> {
    let [files, cartridges, recalls, seed] = numbers([100_000, 200, 20_000, 5])?;
    let directory = tempfile::tempdir()?;
    let library = library(directory.path(), u16::try_from(cartridges)?)?;
    let mut site = Site::new(directory.path(), &library, files / cartridges)?;
    let began = Instant::now();
    let sums = site.fill(directory.path(), files)?;

    let mut ids: Vec<FileId> = sums.keys().copied().collect();
    Random::new(seed, seed).shuffle(&mut ids);
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
        site.archive.settings.algorithm = algorithm;
        site.recall(name, directory.path(), &ids, &sums)?;
    }
    site.archive.settings.algorithm = Algorithm::Best;
    site.serve(&library, directory.path(), &ids, &sums)?;
    println!(
        "in {:.0} s of this machine's time",
        began.elapsed().as_secs_f64()
    );
    assert_eq!(site.archive.catalogue.integrity()?, Vec::<String>::new());
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
    // Every device has a time of its own: what one does does not count as the time of another.
    Ok(Library::create(&place, &spec, Clock::virtual_time())?.apart())
}

struct Site {
    archive: Archive,
    clock: i64,
}

impl Site {
    fn new(directory: &Path, library: &Library, on_each: u64) -> Result<Site, Box<dyn Error>> {
        let mut settings = Settings::of(profile::find("lto8")?);
        settings.block_bytes = 8192;
        settings.segment_bytes = 1 << 20;
        settings.byte_scale = SCALE;
        // So that files spread over all cartridges.
        settings.volume_bytes = Some((on_each + SPARE) * (MEAN_BYTES + 1_500));
        let pool = pool(library, 0..DRIVES, Pace::Turns)?;
        Ok(Site {
            archive: Archive::open(directory, pool, settings)?,
            clock: 1,
        })
    }

    fn mover<T>(&mut self, work: impl FnOnce(&mut Mover<'_>) -> T) -> T {
        self.clock += 1;
        let now = self.clock;
        work(&mut self.archive.mover(&AtomicBool::new(false), &|| now))
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
            let stored = store(&self.archive.cache, &sources, &how, self.clock)?;
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
        let migrated = self.mover(|mover| mover.migrate(i64::MAX))?;
        println!(
            "store   {} files on {} volumes, {} mounts, in {:.0} s of this machine's time",
            migrated.files,
            self.archive.catalogue.volumes()?.len(),
            migrated.mounts,
            began.elapsed().as_secs_f64()
        );
        self.report("store");
        self.archive.cache.evict(u64::MAX, self.clock)?;
        assert_eq!(self.archive.cache.usage().held_bytes, 0);
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
            let recalled = self.mover(|mover| mover.recall())?;
            assert!(recalled.failed.is_empty(), "{:?}", recalled.failed);
            delivered += recalled.delivered;
        }
        self.compare(name, &to, delivered, ids, sums)
    }

    /// The same as a service does it: requests come by and by, and when the window is over two movers, each with half of
    /// the drives, carry out what waits, by leases on drives and cartridges.
    fn serve(
        &mut self,
        library: &Library,
        directory: &Path,
        ids: &[FileId],
        sums: &BTreeMap<FileId, u64>,
    ) -> Result<(), Box<dyn Error>> {
        self.archive.dismount()?;
        self.archive.events.clear();
        let to = directory.join("service");
        std::fs::create_dir(&to)?;
        let mut delivered = 0;
        for batch in ids.chunks(BATCH) {
            for request in batch.chunks(REQUEST) {
                self.submit(request, &to)?;
            }
            let shared = Shared {
                library,
                catalogue: &self.archive.catalogue,
                cache: &self.archive.cache,
                settings: &self.archive.settings,
                now_ns: self.clock,
            };
            let done: Vec<Done> = std::thread::scope(|scope| {
                let movers = (0..MOVERS).map(|host| {
                    let share = DRIVES / MOVERS;
                    let drives = host * share..(host + 1) * share;
                    scope.spawn(move || shared.work_beside_others(host, drives).expect("a mover"))
                });
                let movers: Vec<_> = movers.collect();
                movers
                    .into_iter()
                    .map(|mover| mover.join().expect("it ended"))
                    .collect()
            });
            for (events, count) in done {
                self.archive.events.extend(events);
                delivered += count;
            }
        }
        self.compare("the service", &to, delivered, ids, sums)
    }

    /// Compares every checksum, and tells what it took.
    fn compare(
        &mut self,
        name: &str,
        to: &Path,
        delivered: u64,
        ids: &[FileId],
        sums: &BTreeMap<FileId, u64>,
    ) -> Result<(), Box<dyn Error>> {
        let mut right = 0;
        for id in ids {
            let path = String::from_utf8(self.archive.catalogue.file(*id)?.file.path)?;
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
        self.archive
            .catalogue
            .submit(&recalls, self.clock)
            .map(|_| ())
    }

    /// Drive time since the last report, by what was done.
    fn report(&mut self, what: &str) {
        let mut hours: BTreeMap<String, Micros> = BTreeMap::new();
        for event in self.archive.events.drain(..) {
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

/// What movers of one archive share.
#[derive(Clone, Copy)]
struct Shared<'a> {
    library: &'a Library,
    catalogue: &'a Arc<dyn Catalogue>,
    cache: &'a Cache,
    settings: &'a Settings,
    now_ns: i64,
}

impl Shared<'_> {
    /// A mover, until nothing waits; what its drives did, and how many files it delivered.
    fn work_beside_others(self, host: u16, drives: Range<u16>) -> Result<Done, Box<dyn Error>> {
        let holder = Holder {
            host: format!("host{host}"),
            process: 1,
            run: random_uuid(),
        };
        let now = self.now_ns;
        let clock: Arc<dyn Fn() -> i64 + Send + Sync> = Arc::new(move || now);
        // The clock stands still, so leases last.
        let lessee = Lessee::new(
            Arc::clone(self.catalogue) as _,
            holder,
            1_000_000_000,
            clock.clone(),
            clock,
        )?;
        let (mut pool, mut events, mut delivered) =
            (pool(self.library, drives, Pace::Turns)?, Vec::new(), 0);
        while self.catalogue.open_recalls()?.queued > 0 {
            let recalled = Mover {
                catalogue: self.catalogue.as_ref(),
                cache: self.cache,
                pool: &mut pool,
                settings: self.settings,
                log: &mut events,
                lessee: Some(&lessee),
                stop: &AtomicBool::new(false),
                now_ns: &|| now,
                new_uuid: &random_uuid,
            }
            .recall()?;
            assert!(recalled.failed.is_empty(), "{:?}", recalled.failed);
            delivered += recalled.delivered;
        }
        for drive in 0..pool.drives() {
            pool.dismount(drive, &mut events)?;
        }
        lessee.give_back_all()?;
        Ok((events, delivered))
    }
}

/// Files for which each cartridge has room besides: files are not of one length.
const SPARE: u64 = 20;

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
