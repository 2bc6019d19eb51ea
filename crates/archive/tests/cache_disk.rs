//! The disk below a cache: how much room it has, and files on it that cannot be opened.

use crate::catalogue_help;
use crate::on_each_database;
use crate::small_disk::SmallDisk;

use catalogue_help::{store, volume, write_whole};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tapewise_archive::cache::{Cache, CacheError, Directory, Disk, Water};
use tapewise_archive::catalogue::Catalogue;

on_each_database!(
    two_files_that_do_not_both_fit_are_not_both_taken,
    what_cannot_be_opened_for_now_stays_and_what_is_damaged_goes,
);

fn cache(disk: Box<dyn Disk>, catalogue: &Arc<dyn Catalogue>) -> Cache {
    let water = Water {
        high_bytes: 1000,
        low_bytes: 600,
    };
    let opened = Cache::open(disk, catalogue.clone(), water);
    opened.expect("a cache").0
}

fn two_files_that_do_not_both_fit_are_not_both_taken(catalogue: Arc<dyn Catalogue>) {
    let directory = tempfile::tempdir().expect("a directory");
    let disk = SmallDisk::new(directory.path(), Some(500));
    let cache = cache(disk, &catalogue);
    let mut first = cache.reserve(300, 1).expect("room").create().expect("made");
    let refused = |bytes| match cache.reserve(bytes, 2).map(drop) {
        Err(error @ CacheError::Full { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(refused(300).contains("200 free"));
    // What is written is no longer to come.
    first.write_all(&[1; 100]).expect("written");
    assert!(refused(300).contains("200 free"));
    drop(cache.reserve(200, 3).expect("room"));
    drop(first);
    drop(cache.reserve(500, 4).expect("room"));
}

fn what_cannot_be_opened_for_now_stays_and_what_is_damaged_goes(catalogue: Arc<dyn Catalogue>) {
    let directory = tempfile::tempdir().expect("a directory");
    let disk = Directory::open(directory.path()).expect("a directory");
    let cache = cache(Box::new(disk), &catalogue);
    let mut incoming = cache.reserve(5, 1).expect("room").create().expect("made");
    incoming.write_all(b"frame").expect("written");
    let arrived = incoming.finish().expect("in its place");
    let mut film = store("film", 5, 2);
    film.new.file.sums.clear();
    let stored = cache.store(vec![(arrived, film)], 1);
    let (file, _) = stored.expect("stored")[0];
    let tape = catalogue.add_volume(&volume("A00001L8"), 1).expect("added");
    write_whole(&*catalogue, tape, &[(file, 1)], 2).expect("on tape");
    let cached = catalogue.cached(file).expect("asked").expect("cached");
    let name = walk(directory.path())
        .into_iter()
        .find(|path| std::fs::read(path).is_ok_and(|bytes| bytes == b"frame"));
    let name = name.expect("a file");

    // A copy is missing, so it must not go because of what passes, such as too many open files.
    let aside = directory.path().join("aside");
    std::fs::rename(&name, &aside).expect("renamed");
    std::os::unix::fs::symlink(&name, &name).expect("a link to itself");
    assert!(!cache.discard(file).expect("not known"));
    std::fs::rename(&aside, &name).expect("renamed");
    assert!(!cache.discard(file).expect("whole"));
    assert_eq!(catalogue.cached(file).expect("asked"), Some(cached));
    std::fs::write(&name, b"fr").expect("damaged");
    assert!(cache.discard(file).expect("damaged"));
    assert_eq!(catalogue.cached(file).expect("asked"), None);
}

/// All files below a directory.
fn walk(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                walk(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}
