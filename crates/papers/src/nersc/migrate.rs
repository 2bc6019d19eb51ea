//! Table 1's third path: a file is migrated from the disk cache to tape and staged back, by the mover of our
//! archive.

use super::way::{SCALE, Way};
use crate::PaperError;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise_archive::cache::{Cache, Directory, Water};
use tapewise_archive::catalogue::{FileId, NewRecall, Requests, SqliteCatalogue, Terms};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::mover::{MoveError, Mover, Settings};
use tapewise_archive::store::{Source, StoreTerms, store};
use tapewise_emulator::{Clock, Library, LibrarySpec};
use tapewise_formats::event::{Action, Event};
use tapewise_library::pool::Pool;
use tapewise_model::{Micros, profile};
use tapewise_scsi::{Changer, TapeDrive};

/// Until a starting library is ready.
const READY_LIMIT: Duration = Duration::from_secs(600);

/// Room in the cache, in stored bytes: more than the file.
const CACHE_BYTES: u64 = 1 << 30;

/// MB/s of a file from the cache to tape and back, of the time that the drive writes and reads: what it
/// takes to mount the cartridge and to find the place is not counted, as in the other paths.
pub fn rates(way: Way, blocks: &[Vec<u8>], seed: u64) -> Result<[f64; 2], PaperError> {
    let directory = tempfile::tempdir()?;
    let mut site = Site::new(directory.path(), way, seed)?;
    // The first file brings a cartridge into the drive, which is labelled for it.
    site.store(directory.path(), "first", blocks, 1)?;
    site.moving(|mover| mover.migrate(i64::MAX))?;
    let count = way.file_bytes / way.block_bytes as u64;
    let file = site.store(directory.path(), "file", blocks, count)?;
    let (_, events) = site.moving(|mover| mover.migrate(i64::MAX))?;
    let wrote = time_of(&events, |event| {
        matches!(event.action, Action::Write | Action::WriteFilemarks)
    });
    let at = site.tick();
    site.cache.evict(u64::MAX, at)?;
    let staged = NewRecall {
        file,
        terms: Terms::default(),
        destination: None,
    };
    let at = site.tick();
    site.catalogue.submit(&[staged], at)?;
    let (staged, events) = site.moving(|mover| mover.recall())?;
    if (staged.delivered, staged.reads, staged.unverified) != (1, 1, 0) {
        return Err(PaperError::from(format!(
            "the file was not staged from tape and verified: {staged:?}"
        )));
    }
    // What is read for somebody: the label is not.
    let read = time_of(&events, |event| {
        event.action == Action::Read && event.purpose.is_some()
    });
    let mb = (count * way.block_bytes as u64) as f64 / 1e6;
    Ok([wrote, read].map(|time| mb / time.as_secs_f64()))
}

fn time_of(events: &[Event], counts: impl Fn(&Event) -> bool) -> Micros {
    let counted = events.iter().filter(|event| counts(event));
    counted.map(|event| event.took_us).sum()
}

/// An archive with one emulated LTO-1 drive in its library.
struct Site {
    catalogue: Arc<SqliteCatalogue>,
    cache: Cache,
    pool: Pool,
    settings: Settings,
    clock_ns: i64,
}

impl Site {
    fn new(directory: &Path, way: Way, seed: u64) -> Result<Site, PaperError> {
        let mut spec = LibrarySpec::with_robot("ibm3584", "lto1", 1, 1, 1, seed);
        for cartridge in &mut spec.cartridges {
            cartridge.scale = SCALE as u64;
        }
        let path = directory.join("library");
        let library = Library::create(&path, &spec, Clock::virtual_time())?;
        let mut changer = Changer::open(Box::new(library.transport_to_changer()?))?;
        changer.wait_until_ready(READY_LIMIT)?;
        let drive = TapeDrive::open(Box::new(library.transport_to_drive(0)?))?;
        let catalogue = Arc::new(SqliteCatalogue::open(&directory.join("catalogue.db"))?);
        let disk = Directory::open(&directory.join("cache"))?;
        let water = Water {
            high_bytes: CACHE_BYTES,
            low_bytes: CACHE_BYTES / 2,
        };
        let (cache, _) = Cache::open(Box::new(disk), Arc::clone(&catalogue) as _, water)?;
        let block_bytes = (way.block_bytes / SCALE) as u32;
        let settings = Settings {
            block_bytes,
            segment_bytes: way.interval * u64::from(block_bytes),
            byte_scale: SCALE as u64,
            ..Settings::of(profile::find("lto1")?)
        };
        Ok(Site {
            pool: Pool::new(vec![drive], vec![changer], None, Box::new(|_| {}))?,
            catalogue,
            cache,
            settings,
            clock_ns: 0,
        })
    }

    fn tick(&mut self) -> i64 {
        self.clock_ns += 1;
        self.clock_ns
    }

    /// Stores a file of so many blocks, these over and over.
    fn store(
        &mut self,
        directory: &Path,
        name: &str,
        blocks: &[Vec<u8>],
        count: u64,
    ) -> Result<FileId, PaperError> {
        let from = directory.join(name);
        let contents: Vec<u8> = blocks
            .iter()
            .cycle()
            .take(count as usize)
            .flatten()
            .copied()
            .collect();
        let bytes = contents.len() as u64;
        std::fs::write(&from, contents)?;
        let how = StoreTerms {
            terms: Terms::default(),
            copies: 1,
            replace: false,
            also: Vec::new(),
        };
        let path = InnerPath::new(name)?;
        let at = self.tick();
        let stored = store(&self.cache, &[Source { from, path, bytes }], &how, at)?;
        let none = || PaperError::from("nothing was stored");
        stored.first().map(|(file, _)| *file).ok_or_else(none)
    }

    /// Lets the mover work; what it gives, and what the drive did.
    fn moving<T>(
        &mut self,
        work: impl FnOnce(&mut Mover<'_>) -> Result<T, MoveError>,
    ) -> Result<(T, Vec<Event>), PaperError> {
        let now_ns = self.tick();
        let mut events = Vec::new();
        let never = AtomicBool::new(false);
        let done = work(&mut Mover {
            catalogue: self.catalogue.as_ref(),
            cache: &self.cache,
            pool: &mut self.pool,
            settings: &self.settings,
            log: &mut events,
            lessee: None,
            stop: &never,
            now_ns: &|| now_ns,
            new_uuid: &|| format!("00000000-0000-4000-8000-{now_ns:012x}"),
        })?;
        Ok((done, events))
    }
}
