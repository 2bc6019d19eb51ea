//! An emulated library as an archive has it: what the examples share.

use std::error::Error;
use std::path::Path;
use tapewise_archive::cache::Cache;
use tapewise_archive::catalogue::{FileId, Terms};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::store::{Source, StoreTerms, store};
use tapewise_emulator::Library;
use tapewise_library::pool::{Pace, Pool};
use tapewise_model::Random;
use tapewise_scsi::{Changer, TapeDrive};

/// How many files, and how long each.
#[derive(Clone, Copy)]
pub struct Shape {
    pub files: u64,
    pub bytes: usize,
}

/// The drives and the robot of a library.
pub fn pool(library: &Library, drives: u16, pace: Pace) -> Result<Pool, Box<dyn Error>> {
    let drives = (0..usize::from(drives)).map(|drive| {
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
        });
    }
    let stored = store(cache, &sources, &how, 1)?;
    Ok(stored.into_iter().map(|(id, _)| id).collect())
}
