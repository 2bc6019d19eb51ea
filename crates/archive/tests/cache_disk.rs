//! The disk below a cache: how much room it has, and files on it that cannot be opened.

use crate::catalogue_help;
use crate::on_each_database;
use crate::small_disk::SmallDisk;

use catalogue_help::{store, volume, write_whole};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tapewise_archive::cache::{Cache, CacheError, Directory, Disk, Water};
use tapewise_archive::catalogue::{CacheKey, Catalogue, FileId};

on_each_database!(
    two_files_that_do_not_both_fit_are_not_both_taken,
    what_cannot_be_opened_for_now_stays_and_what_is_damaged_goes,
    of_many_files_those_go_that_were_not_used_for_longest,
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

fn of_many_files_those_go_that_were_not_used_for_longest(catalogue: Arc<dyn Catalogue>) {
    const FILES: i64 = 1_300;
    let stores = (0..FILES).map(|at| (CacheKey(at as u64), store(&format!("{at}"), 1, 1)));
    let stores: Vec<_> = stores.collect();
    let stored = catalogue.store_cached(&stores, 1).expect("stored");
    let files: Vec<FileId> = stored.into_iter().map(|(file, _)| file).collect();
    let tape = catalogue.add_volume(&volume("A00001L8"), 1).expect("added");
    let copies: Vec<(FileId, u32)> = files.iter().map(|&file| (file, 1)).collect();
    write_whole(&*catalogue, tape, &copies, 2).expect("on tape");
    // The later ones longer ago; of one it is known that it was used since.
    let used = files.iter().zip(0..).map(|(&file, at)| (file, 9_000 - at));
    let used: Vec<(FileId, i64)> = used.collect();
    catalogue.evict(0, &used, 10_000).expect("noted");
    let older = [(files[0], 5), (files[9], 9_999)];
    let evicted = catalogue.evict(1_295, &older, 10_000).expect("evicted");
    let evicted: Vec<FileId> = evicted.into_iter().map(|one| one.file).collect();
    let mut expected: Vec<FileId> = files[5..].iter().rev().copied().collect();
    expected.retain(|file| *file != files[9]);
    expected.push(files[4]);
    assert_eq!(evicted, expected);
    let kept = catalogue.all_cached().expect("asked");
    let kept: Vec<FileId> = kept.into_iter().map(|one| one.file).collect();
    assert_eq!(kept, [files[0], files[1], files[2], files[3], files[9]]);
}

#[test]
fn the_last_version_set_aside_has_the_path_and_those_before_it_say_so() {
    let directory = tempfile::tempdir().expect("a directory");
    let disk = || Box::new(Directory::open(directory.path()).expect("a directory"));
    let water = Water {
        high_bytes: 1000,
        low_bytes: 600,
    };
    let cache = cache(disk(), &catalogue_help::new_on_sqlite());
    let versions = [
        ("reel/cut", "oldest", 0o400),
        ("reel/cut.earlier-1", "a name", 0o640),
        ("reel/cut", "older", 0o644),
        ("reel/cut", "newest", 0o755),
    ];
    for (path, contents, mode) in versions {
        let bytes = contents.len() as u64;
        let room = cache.reserve(bytes, 1).expect("room");
        let mut incoming = room.create().expect("made");
        incoming.write_all(contents.as_bytes()).expect("written");
        incoming.note(path.as_bytes(), 1, mode);
        let mut film = store(path, bytes, 1);
        film.new.replace = true;
        let arrived = incoming.finish().expect("in its place");
        cache.store(vec![(arrived, film)], 1).expect("stored");
    }
    drop(cache);
    let (_, found) =
        Cache::reconcile(disk(), catalogue_help::new_on_sqlite(), water).expect("a cache");
    let aside = found.set_aside.expect("files");
    assert_eq!((aside.files, aside.earlier), (4, 2));
    let expected = [
        ("reel/cut", "newest", 0o755),
        ("reel/cut.earlier-1", "a name", 0o640),
        ("reel/cut.earlier-2", "older", 0o644),
        ("reel/cut.earlier-3", "oldest", 0o400),
    ];
    for (path, contents, mode) in expected {
        let file = directory.path().join(&aside.directory).join(path);
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), contents);
        let found = file.metadata().expect("a file").permissions().mode();
        assert_eq!(found & 0o7777, mode, "{path}");
    }
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

#[test]
fn a_cache_in_use_is_that_of_a_process_that_has_it_or_of_nobody_by_name() {
    let root = tempfile::tempdir().expect("a directory");
    let busy = || {
        let refused = Directory::open(root.path()).map(drop);
        refused.expect_err("in use").to_string()
    };
    let me = format!("process {}, which works with it", std::process::id());
    let first = Directory::open(root.path()).expect("free");
    assert!(busy().contains(&me), "{}", busy());
    first.let_others_in().expect("shared");
    let other = Directory::join(root.path()).expect("joined");
    assert!(busy().contains(&me), "{}", busy());
    drop(first);
    assert!(busy().contains("of another process"), "{}", busy());
    // Left by a process that was killed; no process has this number.
    std::fs::write(root.path().join("lock"), u32::MAX.to_string()).expect("written");
    assert!(busy().contains("of another process"), "{}", busy());
    drop(other);
    Directory::open(root.path()).expect("free");
}
