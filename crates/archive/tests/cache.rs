//! The disk cache: what comes in, what goes, and what a kill or a power cut leaves.

use crate::cache_faults;
use crate::catalogue_help;
use crate::on_each_database;

use cache_faults::{Fate, Mortal, MortalRecords, Plug};
use catalogue_help::{assert_sound, new_on_sqlite, store, volume, write_whole};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use tapewise_archive::cache::{Arrived, Cache, CacheError, Directory, Recovered, Usage, Water};
use tapewise_archive::catalogue::{CacheRecords, Catalogue, FileId, Loss, NewStore, VolumeId};
use tapewise_archive::sums::{Kind, Sum};

on_each_database!(
    a_file_that_was_stored_is_there_again_after_a_start,
    a_directory_belongs_to_one_cache,
    at_high_water_the_longest_unused_go_until_low_water,
    a_cache_full_of_what_must_stay_says_what_holds_it,
    what_is_refused_or_dropped_leaves_nothing_behind,
    what_somebody_took_away_is_said_and_what_is_not_the_caches_is_left_alone,
    a_file_that_is_gone_is_dropped_where_tape_has_it_and_takes_no_room,
    a_place_that_a_restored_catalogue_gave_to_another_file_is_not_taken_for_it,
    a_restored_catalogue_does_not_say_that_a_file_is_here_which_is_not,
    who_only_looks_learns_whether_the_catalogue_is_the_caches,
);

const WATER: Water = Water {
    high_bytes: 1000,
    low_bytes: 600,
};

/// A cache over a directory, with a catalogue.
struct Desk {
    directory: tempfile::TempDir,
    catalogue: Arc<dyn Catalogue>,
}

impl Desk {
    fn new() -> Desk {
        Desk::on(new_on_sqlite())
    }

    fn on(catalogue: Arc<dyn Catalogue>) -> Desk {
        // In memory where that can be had: hundreds of directories are made for each case.
        let memory = Path::new("/dev/shm");
        let directory = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        Desk {
            directory: directory.expect("a directory"),
            catalogue,
        }
    }

    fn root(&self) -> &Path {
        self.directory.path()
    }

    fn open(&self) -> (Cache, Recovered) {
        let disk = Box::new(Directory::open(self.root()).expect("a directory"));
        let records: Arc<dyn CacheRecords> = self.catalogue.clone();
        Cache::open(disk, records, WATER).expect("a cache")
    }

    /// The same without waiting for the medium.
    fn open_quickly(&self) -> (Cache, Recovered) {
        let disk = Mortal::new(self.root(), Plug::fast()).expect("a directory");
        let records: Arc<dyn CacheRecords> = self.catalogue.clone();
        Cache::open(Box::new(disk), records, WATER).expect("a cache")
    }

    /// The names and contents below the directory that are not the lock.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for directory in std::fs::read_dir(self.root()).expect("a directory") {
            let directory = directory.expect("an entry");
            if !directory.file_type().expect("a kind").is_dir() {
                continue;
            }
            for file in std::fs::read_dir(directory.path()).expect("a directory") {
                let path = file.expect("an entry").path();
                let name = path.strip_prefix(self.root()).expect("below it");
                let bytes = std::fs::read(&path).expect("contents");
                files.insert(name.to_string_lossy().into_owned(), bytes);
            }
        }
        files
    }
}

/// The contents of the file of a number: any that differ.
fn contents(number: u64, bytes: u64) -> Vec<u8> {
    (0..bytes).map(|at| (number * 31 + at * 7) as u8).collect()
}

fn arrive(cache: &Cache, bytes: &[u8], at_ns: i64) -> Result<Arrived, CacheError> {
    let mut incoming = cache.reserve(bytes.len() as u64, at_ns)?.create()?;
    incoming.write_all(bytes).expect("written");
    incoming.finish()
}

fn put(cache: &Cache, number: u64, bytes: u64, at_ns: i64) -> Result<FileId, CacheError> {
    let arrived = arrive(cache, &contents(number, bytes), at_ns)?;
    let files = vec![(arrived, named(number, bytes))];
    Ok(cache.store(files, at_ns)?[0].0)
}

fn named(number: u64, bytes: u64) -> NewStore {
    store(&format!("file {number}"), bytes, 1)
}

fn read(cache: &Cache, file: FileId, at_ns: i64) -> Option<Vec<u8>> {
    let opened = cache.read(file, Some(at_ns)).expect("an answer");
    opened.map(|mut opened| {
        let mut bytes = Vec::new();
        opened.read_to_end(&mut bytes).expect("contents");
        bytes
    })
}

fn a_file_that_was_stored_is_there_again_after_a_start(catalogue: Arc<dyn Catalogue>) {
    let desk = Desk::on(catalogue);
    let (cache, recovered) = desk.open();
    assert_eq!(recovered, Recovered::default());
    let film = put(&cache, 1, 300, 5).expect("stored");
    drop(cache);
    let (cache, recovered) = desk.open();
    assert_eq!(recovered, Recovered::default());
    assert_eq!(read(&cache, film, 6), Some(contents(1, 300)));
    let expected = Usage {
        held_bytes: 300,
        reserved_bytes: 0,
    };
    assert_eq!(cache.usage(), expected);
    assert_sound(&*desk.catalogue);
}

fn a_directory_belongs_to_one_cache(catalogue: Arc<dyn Catalogue>) {
    let desk = Desk::on(catalogue);
    let cache = desk.open();
    let error = Directory::open(desk.root()).err().expect("refused");
    assert_eq!(error.kind(), std::io::ErrorKind::ResourceBusy);
    drop(cache);
    Directory::open(desk.root()).expect("free again");
}

fn at_high_water_the_longest_unused_go_until_low_water(catalogue: Arc<dyn Catalogue>) {
    let desk = Desk::on(catalogue);
    let (cache, _) = desk.open();
    let tape = desk
        .catalogue
        .add_volume(&volume("A00001L8"), 1)
        .expect("a volume");
    let files: Vec<FileId> = (0..4)
        .map(|number| put(&cache, number, 250, number as i64).expect("stored"))
        .collect();
    for file in &files {
        write_whole(&*desk.catalogue, tape, &[(*file, 1)], 9).expect("on tape");
    }
    assert!(read(&cache, files[0], 10).is_some());
    desk.catalogue.pin(files[1], "ada", None).expect("pinned");
    put(&cache, 4, 10, 11).expect("stored");
    // 1,010 bytes: at least 410 have to go, of those that were not used since and are not pinned.
    let left = files.iter().map(|file| read(&cache, *file, 12).is_some());
    assert_eq!(left.collect::<Vec<_>>(), [true, true, false, false]);
    assert_eq!(cache.usage().held_bytes, 510);
    assert_sound(&*desk.catalogue);
}

fn a_cache_full_of_what_must_stay_says_what_holds_it(catalogue: Arc<dyn Catalogue>) {
    let desk = Desk::on(catalogue);
    let (cache, _) = desk.open();
    let tape = desk
        .catalogue
        .add_volume(&volume("A00001L8"), 1)
        .expect("a volume");
    let pinned = put(&cache, 0, 300, 1).expect("stored");
    write_whole(&*desk.catalogue, tape, &[(pinned, 1)], 2).expect("on tape");
    desk.catalogue.pin(pinned, "ada", Some(50)).expect("pinned");
    put(&cache, 1, 400, 3).expect("stored");
    let reserved = cache.reserve(200, 4).expect("reserved");
    let error = cache.reserve(101, 5).err().expect("full");
    assert_eq!(
        error.to_string(),
        "the cache is full: 101 bytes wanted, high water is 1000; not on tape yet: 1 file with 400 bytes; \
         pinned: 1 file with 300 bytes; 200 bytes are reserved by transfers"
    );
    let error = cache.reserve(1001, 5).err().expect("too large");
    assert!(matches!(error, CacheError::TooLarge { .. }));
    drop(reserved);
    assert!(
        cache.reserve(300, 6).is_ok(),
        "what was reserved is free again"
    );
    assert!(cache.reserve(600, 50).is_ok(), "the pin has run out");
    assert_sound(&*desk.catalogue);
}

fn what_is_refused_or_dropped_leaves_nothing_behind(catalogue: Arc<dyn Catalogue>) {
    let desk = Desk::on(catalogue);
    let (cache, _) = desk.open();
    let mut incoming = cache.reserve(10, 1).expect("room").create().expect("made");
    let error = incoming
        .write_all(&[0; 11])
        .expect_err("more than reserved");
    assert_eq!(error.kind(), std::io::ErrorKind::QuotaExceeded);
    drop(incoming);
    drop(arrive(&cache, &[1; 10], 1).expect("arrived"));
    let short = arrive(&cache, &[1; 10], 1).expect("arrived");
    let error = cache
        .store(vec![(short, named(1, 11))], 1)
        .expect_err("short");
    assert!(matches!(error, CacheError::Length { .. }), "{error}");
    // All or none: the second has the path of the first.
    let twice = [1, 1].map(|number| {
        let arrived = arrive(&cache, &contents(number, 10), 1).expect("arrived");
        (arrived, named(number, 10))
    });
    cache.store(twice.into(), 1).expect_err("the path is taken");
    assert_eq!(desk.files(), BTreeMap::new());
    let empty = Usage {
        held_bytes: 0,
        reserved_bytes: 0,
    };
    assert_eq!(cache.usage(), empty);
}

fn what_somebody_took_away_is_said_and_what_is_not_the_caches_is_left_alone(
    catalogue: Arc<dyn Catalogue>,
) {
    let desk = Desk::on(catalogue);
    let (cache, _) = desk.open();
    let tape = desk
        .catalogue
        .add_volume(&volume("A00001L8"), 1)
        .expect("a volume");
    let on_tape = put(&cache, 0, 300, 1).expect("stored");
    write_whole(&*desk.catalogue, tape, &[(on_tape, 1)], 2).expect("on tape");
    let only_here = put(&cache, 1, 300, 3).expect("stored");
    drop(cache);
    for name in desk.files().keys() {
        std::fs::write(desk.root().join(name), b"short").expect("written");
    }
    std::fs::write(desk.root().join("README"), b"a note").expect("written");
    let (cache, recovered) = desk.open();
    let expected = Recovered {
        leftovers: 1,
        forgotten: 1,
        damaged: vec![only_here],
        strangers: vec!["README".into()],
        set_aside: None,
    };
    assert_eq!(recovered, expected);
    assert_eq!(read(&cache, on_tape, 4), None);
    assert_eq!(
        desk.files().len(),
        1,
        "what is left of the only copy is kept"
    );
    std::fs::remove_file(desk.root().join(desk.files().keys().next().expect("one"))).expect("gone");
    let error = cache.read(only_here, None).map(drop).expect_err("gone");
    assert!(matches!(error, CacheError::Missing { .. }), "{error}");
}

fn a_file_that_is_gone_is_dropped_where_tape_has_it_and_takes_no_room(
    catalogue: Arc<dyn Catalogue>,
) {
    let desk = Desk::on(catalogue);
    let (cache, _) = desk.open();
    let tape = desk
        .catalogue
        .add_volume(&volume("A00001L8"), 1)
        .expect("a volume");
    let on_tape = put(&cache, 0, 300, 1).expect("stored");
    write_whole(&*desk.catalogue, tape, &[(on_tape, 1)], 2).expect("on tape");
    let only_here = put(&cache, 1, 200, 3).expect("stored");
    for name in desk.files().keys() {
        std::fs::remove_file(desk.root().join(name)).expect("gone");
    }
    assert!(cache.discard(on_tape).expect("dropped"));
    assert!(!cache.discard(only_here).expect("kept"));
    assert_eq!(cache.usage().held_bytes, 200);
    assert_eq!(read(&cache, on_tape, 4), None);
}

/// What a user of the archive does.
#[derive(Clone, Debug)]
enum Act {
    Store(u64),
    StoreTwo(u64, u64),
    Migrate,
    Stage(usize),
    Read(usize),
    Pin(usize),
    Unpin(usize),
    Retire(usize),
    LoseTape,
    Evict(u64),
}

fn acts() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (1..400u64).prop_map(Act::Store),
        2 => (1..200u64, 1..200u64).prop_map(|(a, b)| Act::StoreTwo(a, b)),
        4 => Just(Act::Migrate),
        3 => any::<usize>().prop_map(Act::Stage),
        2 => any::<usize>().prop_map(Act::Read),
        1 => any::<usize>().prop_map(Act::Pin),
        1 => any::<usize>().prop_map(Act::Unpin),
        1 => any::<usize>().prop_map(Act::Retire),
        1 => Just(Act::LoseTape),
        2 => (1..500u64).prop_map(Act::Evict),
    ]
}

/// What the user was told, and may rely on.
#[derive(Default)]
struct Told {
    /// Acknowledged and not retired: number, length.
    live: BTreeMap<FileId, (u64, u64)>,
    /// Pinned, and seen in the cache since.
    pinned: Vec<FileId>,
    next: u64,
}

impl Told {
    fn pick(&self, at: usize) -> Option<FileId> {
        let count = self.live.len().max(1);
        self.live.keys().nth(at % count).copied()
    }
}

/// Does one thing; an error ends it where it was.
fn act(
    cache: &Cache,
    (catalogue, tapes): (&Arc<dyn Catalogue>, &mut Vec<VolumeId>),
    told: &mut Told,
    (act, at_ns): (&Act, i64),
) -> Result<(), CacheError> {
    match *act {
        Act::Store(bytes) => {
            told.next += 1;
            let number = told.next;
            let file = put(cache, number, bytes, at_ns)?;
            told.live.insert(file, (number, bytes));
        }
        Act::StoreTwo(one, two) => {
            let mut files = Vec::new();
            let mut numbers = Vec::new();
            for bytes in [one, two] {
                told.next += 1;
                numbers.push((told.next, bytes));
                let arrived = arrive(cache, &contents(told.next, bytes), at_ns)?;
                files.push((arrived, named(told.next, bytes)));
            }
            let stored = cache.store(files, at_ns)?;
            told.live
                .extend(stored.iter().map(|stored| stored.0).zip(numbers));
        }
        Act::Migrate => {
            for migration in catalogue.next_migrations(at_ns, 2)? {
                let Some(tape) = tapes.last() else { break };
                let copy = (migration.file, migration.missing[0].number);
                write_whole(&**catalogue, *tape, &[copy], at_ns)?;
            }
        }
        Act::Stage(at) => {
            let Some(file) = told.pick(at) else {
                return Ok(());
            };
            if catalogue.cached(file)?.is_none() {
                let (number, bytes) = told.live[&file];
                let arrived = arrive(cache, &contents(number, bytes), at_ns)?;
                cache.stage(&**catalogue, arrived, file, at_ns)?;
            }
        }
        Act::Read(at) => {
            let Some(file) = told.pick(at) else {
                return Ok(());
            };
            if let Some(mut opened) = cache.read(file, Some(at_ns))? {
                let mut bytes = Vec::new();
                opened.read_to_end(&mut bytes).expect("contents");
                let (number, length) = told.live[&file];
                assert_eq!(bytes, contents(number, length));
            }
        }
        Act::Pin(at) => {
            let Some(file) = told.pick(at) else {
                return Ok(());
            };
            catalogue.pin(file, "ada", None)?;
            if catalogue.cached(file)?.is_some() {
                told.pinned.push(file);
            }
        }
        Act::Unpin(at) => {
            let Some(file) = told.pick(at) else {
                return Ok(());
            };
            told.pinned.retain(|pinned| *pinned != file);
            catalogue.unpin(file, "ada")?;
        }
        Act::Retire(at) => {
            let Some(file) = told.pick(at) else {
                return Ok(());
            };
            told.live.remove(&file);
            told.pinned.retain(|pinned| *pinned != file);
            catalogue.retire(file, at_ns)?;
        }
        Act::LoseTape => {
            // Refused where it would lose a file: what the cache has alone is kept by it again.
            if let Ok(_lost) = catalogue.forget_volume(tapes[0], Loss::Refused, at_ns) {
                let label = format!("T{at_ns:05}L8");
                tapes[0] = catalogue.add_volume(&volume(&label), at_ns)?;
            }
        }
        Act::Evict(bytes) => {
            cache.evict(bytes, at_ns)?;
        }
    }
    Ok(())
}

/// All that somebody was told is still so.
fn assert_kept(desk: &Desk, cache: &Cache, recovered: &Recovered, told: &Told) {
    assert_eq!(recovered.damaged, []);
    assert_eq!((recovered.forgotten, recovered.strangers.len()), (0, 0));
    assert_sound(&*desk.catalogue);
    let cached = desk.catalogue.all_cached().expect("records");
    let held: u64 = cached.iter().map(|cached| cached.bytes).sum();
    assert_eq!(cache.usage().held_bytes, held);
    assert_eq!(
        desk.files().len(),
        cached.len(),
        "a file for each record, and no other"
    );
    for (file, (number, bytes)) in &told.live {
        match read(cache, *file, 0) {
            Some(read) => assert_eq!(read, contents(*number, *bytes)),
            None => {
                let entry = desk.catalogue.file(*file).expect("an entry");
                let whole = tapewise_archive::catalogue::CopyState::Whole;
                assert!(entry.copies.iter().any(|copy| copy.state == whole));
                assert!(!told.pinned.contains(file), "what is pinned stays");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    /// Every step of directory and records can be the last one, or fail alone, before or after it was done;
    /// with a power cut, what was not synced is half there or under its old name.
    #[test]
    fn nothing_acknowledged_is_lost_whichever_step_is_the_last(
        acts in prop::collection::vec(acts(), 1..40),
        steps in 1..250u64,
        fate in prop_oneof![Just(Fate::Dies), Just(Fate::FailsOnce)],
        power_cut: bool,
    ) {
        let desk = Desk::new();
        let plug = Plug::new(steps, fate);
        let disk = Mortal::new(desk.root(), Arc::clone(&plug)).expect("a directory");
        let wreck = disk.wreck();
        let records: Arc<dyn CacheRecords> =
            Arc::new(MortalRecords::new(Arc::clone(&desk.catalogue), Arc::clone(&plug)));
        let mut tapes = vec![desk.catalogue.add_volume(&volume("A00001L8"), 0).expect("a volume")];
        let mut told = Told::default();
        if let Ok((cache, _)) = Cache::open(Box::new(disk), records, WATER) {
            for (doing, at_ns) in acts.iter().zip(1..) {
                let catalogue = (&desk.catalogue, &mut tapes);
                let outcome = act(&cache, catalogue, &mut told, (doing, at_ns));
                let usage = cache.usage();
                prop_assert!(usage.held_bytes + usage.reserved_bytes <= WATER.high_bytes);
                if outcome.is_err() && plug.dead() {
                    break;
                }
            }
        }
        if power_cut {
            wreck.cut_power(desk.root());
        }
        let (cache, recovered) = desk.open_quickly();
        assert_kept(&desk, &cache, &recovered, &told);
        // And it goes on.
        for (doing, at_ns) in acts.iter().zip(1000..) {
            let catalogue = (&desk.catalogue, &mut tapes);
            let _full_or_done = act(&cache, catalogue, &mut told, (doing, at_ns));
        }
        assert_kept(&desk, &cache, &Recovered::default(), &told);
    }
}

#[test]
fn a_file_that_may_have_been_recorded_stays() {
    // Which steps are before and after the commit is not for this test to know.
    for steps in 1..20 {
        let desk = Desk::new();
        let plug = Plug::new(steps, Fate::FailsOnce);
        let records = Arc::new(MortalRecords::new(Arc::clone(&desk.catalogue), plug));
        let disk = Box::new(Directory::open(desk.root()).expect("a directory"));
        let _is_unknown = Cache::open(disk, records, WATER).map(|(cache, _)| put(&cache, 1, 50, 1));
        assert_eq!(desk.open_quickly().1.damaged, [], "{steps}");
    }
}

fn a_place_that_a_restored_catalogue_gave_to_another_file_is_not_taken_for_it(
    catalogue: Arc<dyn Catalogue>,
) {
    let desk = Desk::on(catalogue);
    let right = |number| {
        let contents = contents(number, 50);
        let mut store = named(number, 50);
        store.new.file.sums = vec![Sum::of(Kind::Xxh3, &contents)];
        (contents, store)
    };
    let put = |cache: &Cache, number| {
        let (contents, store) = right(number);
        let arrived = arrive(cache, &contents, 1).expect("arrived");
        cache.store(vec![(arrived, store)], 1).expect("stored")[0].0
    };
    let reconcile = |catalogue: &Arc<dyn Catalogue>| {
        let disk = Box::new(Directory::open(desk.root()).expect("a directory"));
        let records: Arc<dyn CacheRecords> = catalogue.clone();
        Cache::reconcile(disk, records, WATER).expect("a cache")
    };
    let (cache, _) = desk.open();
    let first = put(&cache, 1);
    drop(cache);
    // The catalogue is lost, and another one gives the same name to another file.
    let other = new_on_sqlite();
    let (cache, found) = reconcile(&other);
    assert_eq!(found.set_aside.map(|aside| aside.files), Some(1));
    let second = put(&cache, 2);
    drop(cache);
    // A file that agrees with its catalogue stays in its place.
    let (cache, found) = reconcile(&other);
    assert_eq!(found.set_aside, None);
    assert_eq!(read(&cache, second, 2), Some(contents(2, 50)));
    drop(cache);
    // The first catalogue comes back.
    let (cache, found) = reconcile(&desk.catalogue);
    assert_eq!(found.set_aside.map(|aside| aside.files), Some(1));
    assert_eq!(read(&cache, first, 2), None);
}

fn a_restored_catalogue_does_not_say_that_a_file_is_here_which_is_not(
    catalogue: Arc<dyn Catalogue>,
) {
    let desk = Desk::on(catalogue);
    let (cache, _) = desk.open();
    let stored = [1, 2].map(|number| {
        let arrived = arrive(&cache, &contents(number, 50), 1).expect("arrived");
        let stored = cache.store(vec![(arrived, named(number, 50))], 1);
        stored.expect("stored")[0].0
    });
    drop(cache);
    let reconcile = |catalogue: &Arc<dyn Catalogue>| {
        let disk = Box::new(Directory::open(desk.root()).expect("a directory"));
        let records: Arc<dyn CacheRecords> = catalogue.clone();
        Cache::reconcile(disk, records, WATER).expect("a cache")
    };
    // The catalogue is lost: the files are set aside. Then a backup of it is found after all.
    let (cache, found) = reconcile(&new_on_sqlite());
    assert_eq!(found.set_aside.map(|aside| aside.files), Some(2));
    drop(cache);
    let (cache, found) = reconcile(&desk.catalogue);
    assert_eq!((found.damaged, found.forgotten), (vec![], 2));
    for (file, number) in stored.into_iter().zip([1, 2]) {
        assert_eq!(desk.catalogue.cached(file).expect("read"), None);
        // So what was set aside can be stored again, without replacing anything.
        let arrived = arrive(&cache, &contents(number, 50), 2).expect("arrived");
        let again = cache.store(vec![(arrived, named(number, 50))], 2);
        let again = again.expect("stored again")[0].0;
        assert_eq!(read(&cache, again, 3), Some(contents(number, 50)));
    }
    assert_sound(&*desk.catalogue);
}

fn who_only_looks_learns_whether_the_catalogue_is_the_caches(catalogue: Arc<dyn Catalogue>) {
    let desk = Desk::on(catalogue);
    let other = new_on_sqlite();
    Cache::look_at_tie(desk.root(), &*other).expect("a cache that belongs to none yet");
    // Somebody has the cache meanwhile.
    let (cache, _) = desk.open();
    put(&cache, 1, 50, 1).expect("stored");
    Cache::look_at_tie(desk.root(), &*desk.catalogue).expect("its own");
    let refused = Cache::look_at_tie(desk.root(), &*other).map_err(|error| error.to_string());
    assert!(refused.is_err_and(|said| said.contains("(files in it: 1)")));
}
