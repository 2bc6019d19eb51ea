//! An emulated library as an archive has it: what the examples share.

#![allow(dead_code)] // Each example uses a part of it.

use std::error::Error;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tapewise_archive::cache::{Cache, Directory, Water};
use tapewise_archive::catalogue::{Catalogue, FileId, Place, Terms};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::mover::{Mover, Settings, random_uuid};
use tapewise_archive::store::{Source, StoreTerms, store};
use tapewise_emulator::Library;
use tapewise_formats::event::Event;
use tapewise_library::pool::{Pace, Pool};
use tapewise_model::Random;
use tapewise_scsi::{Changer, TapeDrive};

/// The numbers that an example was given, each with its usual value.
pub fn numbers<const N: usize>(usual: [u64; N]) -> Result<[u64; N], Box<dyn Error>> {
    let mut numbers = usual;
    for (at, given) in std::env::args().skip(1).enumerate() {
        let number = numbers.get_mut(at).ok_or("more numbers than it takes")?;
        *number = given.parse()?;
    }
    Ok(numbers)
}

/// How many files, and how long each.
#[derive(Clone, Copy)]
pub struct Shape {
    pub files: u64,
    pub bytes: usize,
}

/// An archive with its library.
pub struct Archive {
    pub catalogue: Arc<dyn Catalogue>,
    pub cache: Cache,
    pub pool: Pool,
    pub settings: Settings,
    /// What drives and robot have done.
    pub events: Vec<Event>,
}

impl Archive {
    /// The archive whose catalogue and cache are in this directory, which makes them if they are not there.
    pub fn open(
        directory: &Path,
        pool: Pool,
        settings: Settings,
    ) -> Result<Archive, Box<dyn Error>> {
        let catalogue = Place::File(directory.join("catalogue.db"));
        Archive::of(&catalogue, directory, pool, settings)
    }

    /// The same with its catalogue in another place.
    pub fn of(
        catalogue: &Place,
        directory: &Path,
        pool: Pool,
        settings: Settings,
    ) -> Result<Archive, Box<dyn Error>> {
        let catalogue = catalogue.open()?;
        let disk = Box::new(Directory::open(&directory.join("cache"))?);
        let water = Water {
            high_bytes: 1 << 40,
            low_bytes: 1 << 39,
        };
        let (cache, _) = Cache::open(disk, Arc::clone(&catalogue) as Arc<_>, water)?;
        Ok(Archive {
            catalogue,
            cache,
            pool,
            settings,
            events: Vec::new(),
        })
    }

    /// The program that moves files between its cache and its tapes.
    pub fn mover<'a>(
        &'a mut self,
        stop: &'a AtomicBool,
        now_ns: &'a (dyn Fn() -> i64 + Sync),
    ) -> Mover<'a> {
        Mover {
            catalogue: self.catalogue.as_ref(),
            cache: &self.cache,
            pool: &mut self.pool,
            settings: &self.settings,
            log: &mut self.events,
            lessee: None,
            stop,
            now_ns,
            new_uuid: &random_uuid,
        }
    }

    /// Puts all files on tape and every cartridge in its slot, and empties the cache.
    pub fn migrate(&mut self) -> Result<(), Box<dyn Error>> {
        let stop = AtomicBool::new(false);
        self.mover(&stop, &|| 2).migrate(i64::MAX)?;
        self.dismount()?;
        self.cache.evict(u64::MAX, 2)?;
        Ok(())
    }

    /// Puts every cartridge in its slot.
    pub fn dismount(&mut self) -> Result<(), Box<dyn Error>> {
        for drive in 0..self.pool.drives() {
            self.pool.dismount(drive, &mut self.events)?;
        }
        Ok(())
    }
}

/// Some drives of a library, and its robot.
pub fn pool(library: &Library, drives: Range<u16>, pace: Pace) -> Result<Pool, Box<dyn Error>> {
    let drives = drives.map(usize::from).map(|drive| {
        let transport = library.transport_to_drive(drive)?;
        Ok(TapeDrive::open(Box::new(transport))?)
    });
    let drives = drives.collect::<Result<Vec<TapeDrive>, Box<dyn Error>>>()?;
    let changer = Changer::open(Box::new(library.transport_to_changer()?))?;
    let mut pool = Pool::new(drives, vec![changer], None, Box::new(|_| {}))?;
    pool.set_pace(pace);
    Ok(pool)
}

/// Stores files `f/0`, `f/1` and so on, of random bytes.
pub fn stored(
    cache: &Cache,
    directory: &Path,
    shape: Shape,
    seed: u64,
) -> Result<Vec<FileId>, Box<dyn Error>> {
    let how = StoreTerms {
        terms: Terms::default(),
        copies: 1,
        replace: false,
        also: Vec::new(),
    };
    let mut random = Random::new(seed, 1);
    let mut sources = Vec::new();
    for number in 0..shape.files {
        let path = directory.join(number.to_string());
        let words = (0..shape.bytes / 8).map(|_| random.below(u64::MAX).to_le_bytes());
        std::fs::write(&path, words.flatten().collect::<Vec<u8>>())?;
        sources.push(Source {
            from: path,
            path: InnerPath::new(format!("f/{number}"))?,
            bytes: shape.bytes as u64,
        });
    }
    let stored = store(cache, &sources, &how, 1)?;
    Ok(stored.into_iter().map(|(id, _)| id).collect())
}
