//! `store`, `recall --archive` and `catalog`, on an emulated library.

use crate::program::Desk;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tapewise_archive::cache::{Cache, Directory, Water};
use tapewise_archive::catalogue::{CacheRecords, Catalogue, Files, Requests, SqliteCatalogue};
use tapewise_model::Random;

/// A desk with a library of two drives and four cartridges, and an archive that it serves.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 2 --slots 8 --cartridges 4 --scale 100000");
    desk.done(
        "catalog init A --drive emulated:lib#drive0 --drive emulated:lib#drive1 --changer emulated:lib#changer \
         --profile lto8 --block-size 8192 --segment-size 32768 --cache-gb 0.1",
    );
    desk
}

/// Files of no pattern in a new directory.
fn make_files(desk: &Desk, directory: &str, count: u64) -> BTreeMap<String, Vec<u8>> {
    std::fs::create_dir_all(desk.path().join(directory)).expect("a directory");
    let seed = directory.bytes().map(u64::from).sum::<u64>();
    let make = |number: u64| {
        let mut random = Random::new(seed, number);
        let bytes = if number == 0 { 0 } else { random.below(6_000) };
        let contents: Vec<u8> = (0..bytes).map(|_| random.below(256) as u8).collect();
        let name = format!("{directory}/{number}.bin");
        desk.put(&name, &contents);
        (name, contents)
    };
    (0..count).map(make).collect()
}

fn catalogue(desk: &Desk) -> SqliteCatalogue {
    SqliteCatalogue::open(&desk.path().join("A/catalogue.db")).expect("a catalogue")
}

/// What is on tape must come from there.
fn empty_cache(desk: &Desk) {
    let records: Arc<dyn CacheRecords> = Arc::new(catalogue(desk));
    let disk = Directory::open(&desk.path().join("A/cache")).expect("a directory");
    let water = Water {
        high_bytes: 1 << 30,
        low_bytes: 0,
    };
    let (cache, _) = Cache::open(Box::new(disk), records, water).expect("a cache");
    cache.evict(u64::MAX, i64::MAX / 2).expect("evicted");
    assert_eq!(cache.usage().held_bytes, 0, "everything is on tape");
}

/// Names of files below a directory, those on their way left out.
fn delivered(directory: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            let inner = path
                .strip_prefix(directory)
                .expect("below")
                .display()
                .to_string();
            match path.is_dir() {
                true => left.push(path),
                false if inner.contains(".tapewise-") => {}
                false => {
                    names.insert(inner);
                }
            }
        }
    }
    names
}

#[test]
fn files_go_to_tape_and_come_back_and_the_catalogue_says_where_they_are() {
    let desk = desk();
    let files = make_files(&desk, "reel", 30);
    let stored = desk.done("store --archive A reel --copies 2");
    assert!(
        stored
            .text()
            .contains("stored     30 files in the cache, acknowledged"),
        "{}",
        stored.text()
    );
    assert!(
        stored.text().contains("on tape    30 files complete"),
        "{}",
        stored.text()
    );
    assert!(
        stored.err.contains("TW0001"),
        "a robot's moves are said: {}",
        stored.err
    );

    let again = desk.done("store --archive A reel");
    assert!(
        again.text().contains("stored     0 files"),
        "{}",
        again.text()
    );
    assert!(
        again.text().contains("known      30 files"),
        "{}",
        again.text()
    );
    desk.put("reel/7.bin", "another");
    let other = desk.run("store --archive A reel");
    assert_eq!(other.code, 2);
    assert!(
        other.err.contains("reel/7.bin: another file of this path"),
        "{}",
        other.err
    );

    let found = desk.done("catalog find --archive A reel/7.bin");
    assert!(
        found.text().contains("TW0001 TW0002 cache"),
        "{}",
        found.text()
    );
    empty_cache(&desk);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    desk.put("list.txt", names.join("\n"));
    let recalled = desk.done("recall --archive A --to out --files-from list.txt");
    assert!(
        recalled.text().contains("delivered  30 files"),
        "{}",
        recalled.text()
    );
    for (name, contents) in &files {
        let back = std::fs::read(desk.path().join("out").join(name)).expect("delivered");
        assert_eq!(&back, contents, "{name}");
    }
    let verified = desk.done("catalog verify --archive A TW0001");
    assert!(
        verified.text().contains("30 copies right"),
        "{}",
        verified.text()
    );
    desk.done("catalog repack --archive A TW0001");
    desk.done("catalog check --archive A");
    let found = desk.done("catalog find --archive A reel/7.bin");
    assert!(!found.text().contains("TW0001"), "{}", found.text());
    let missing = desk.run_with("reel/77.bin\n", "recall --archive A --to out");
    assert_eq!(missing.code, 2);
    assert!(
        missing
            .err
            .contains("standard input: line 1: reel/77.bin is not in the archive"),
        "{}",
        missing.err
    );
}

/// Kills at this many instants of each verb; the whole test kills 200 times.
const KILLS: u64 = 100;

#[test]
fn killed_at_random_instants_nothing_acknowledged_is_lost_and_nothing_delivered_twice() {
    let desk = desk();
    let mut random = Random::new(200, 1);
    let mut promised: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    // Instants lie within this; it follows how long a run takes, so that some six of seven are killed.
    let mut usual = Duration::from_millis(100);
    let mut killed = 0;
    for round in 0..KILLS {
        let directory = format!("d{round}");
        let files = make_files(&desk, &directory, 4);
        let instant = usual.mul_f64(random.unit());
        let (said, ended) = desk.killed_after(instant, &format!("store --archive A {directory}"));
        usual = usual.mul_f64(if ended { 0.85 } else { 1.03 });
        killed += u64::from(!ended);
        let catalogue = catalogue(&desk);
        if said.contains("acknowledged") {
            promised.extend(files);
        }
        assert_eq!(
            catalogue.integrity().expect("a catalogue"),
            Vec::<String>::new(),
            "round {round}"
        );
        for name in promised.keys() {
            let live = catalogue.live_file(name.as_bytes()).expect("a catalogue");
            assert!(
                live.is_some(),
                "round {round}: {name} was acknowledged and is lost"
            );
        }
    }
    assert!(
        !promised.is_empty() && killed > KILLS / 2,
        "{killed} killed"
    );
    desk.done("store --archive A");
    empty_cache(&desk);

    let names: Vec<&str> = promised.keys().map(String::as_str).collect();
    let mut inodes: BTreeMap<String, u64> = BTreeMap::new();
    let to = desk.path().join("out");
    for round in 0..KILLS {
        let some: Vec<&str> = (0..6)
            .map(|_| names[random.below(names.len() as u64) as usize])
            .collect();
        desk.put("list.txt", some.join("\n"));
        let instant = usual.mul_f64(random.unit());
        let recall = "recall --archive A --to out --files-from list.txt";
        let (_, ended) = desk.killed_after(instant, recall);
        usual = usual.mul_f64(if ended { 0.85 } else { 1.03 });
        assert_eq!(
            catalogue(&desk).integrity().expect("a catalogue"),
            Vec::<String>::new(),
            "round {round}"
        );
        for name in delivered(&to) {
            let path = to.join(&name);
            let inode = std::fs::metadata(&path).expect("delivered").ino();
            let before = *inodes.entry(name.clone()).or_insert(inode);
            assert_eq!(before, inode, "round {round}: {name} was delivered twice");
            assert!(
                std::fs::read(&path).expect("delivered") == promised[&name],
                "round {round}: {name}"
            );
        }
    }
    desk.put("list.txt", names.join("\n"));
    desk.done("recall --archive A --to out --files-from list.txt");
    assert_eq!(delivered(&to), promised.keys().cloned().collect());
    for (name, contents) in &promised {
        assert!(
            &std::fs::read(to.join(name)).expect("delivered") == contents,
            "{name}"
        );
    }
    let catalogue = catalogue(&desk);
    assert!(catalogue.unanswered().expect("a catalogue").is_empty());
}
