//! `store`, `recall --archive` and `catalog`: on an emulated library here, killed at random instants in
//! `kills`, restored, rebuilt and read wrongly in `loss`, on a SCSI target that is none of ours in `real_target`.

mod kills;
pub mod loss;
mod mistakes;
mod real_target;

use crate::program::Desk;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use tapewise_archive::cache::{Cache, Directory, Water};
use tapewise_archive::catalogue::{CacheRecords, Files, SqliteCatalogue};
use tapewise_model::Random;

/// Names are bytes. What is no text is found by its directory and by patterns, like any other.
#[test]
fn a_name_that_is_no_text_is_recalled_with_its_directory() {
    let desk = desk();
    let name = OsStr::from_bytes(b"caf\xe9.bin");
    std::fs::create_dir(desk.path().join("d")).expect("a directory");
    std::fs::write(desk.path().join("d/plain"), b"text").expect("written");
    std::fs::write(desk.path().join("d").join(name), b"bytes").expect("written");
    desk.done("store --archive A d");
    let found = desk.done("catalog find --archive A --json").json();
    let file = |at: usize| found["files"][at].clone();
    assert_eq!(file(0)["path"], r"d/caf\xe9.bin");
    assert_eq!(file(0)["path_hex"], "642f636166e92e62696e");
    assert_eq!(file(1).get("path_hex"), None);
    for (to, asked, files) in [("one", "d", 2), ("two", "**", 2), ("three", "d/*.bin", 1)] {
        desk.done(&format!("recall --archive A --to {to} {asked}"));
        let come = desk.path().join(to).join("d");
        assert_eq!(std::fs::read(come.join(name)).expect("delivered"), b"bytes");
        assert_eq!(
            std::fs::read_dir(come).expect("a directory").count(),
            files,
            "{asked}"
        );
    }
}

/// Room for two files beside one that is kept for somebody, and a portion is five.
#[test]
fn a_cache_with_little_room_takes_files_few_by_few() {
    let desk = desk();
    desk.put("kept", [1; 80_000]);
    desk.done("store --archive A kept --quiet");
    let archive = catalogue(&desk);
    let kept = archive.live_file(b"kept").expect("read").expect("a file");
    archive.pin(kept, "somebody", None).expect("pinned");
    let settings = desk.read("A/archive.toml");
    let settings = settings
        .replace("cache_high_bytes = ", "cache_high_bytes = 100000 # ")
        .replace("cache_low_bytes = ", "cache_low_bytes = 90000 # ");
    desk.put("A/archive.toml", settings);
    for number in 0..7 {
        desk.put(&format!("{number}.bin"), [number; 8_000]);
    }
    let later = desk.run("store --archive A 0.bin 1.bin 2.bin --later --quiet");
    assert_eq!(later.code, 1, "{}", later.err);
    assert!(
        later.err.contains("2 files before it were acknowledged"),
        "{}",
        later.err
    );
    let names: Vec<String> = (0..7).map(|number| format!("{number}.bin")).collect();
    desk.done(&format!("store --archive A {} --quiet", names.join(" ")));
    desk.done(&format!("recall --archive A --to out {}", names.join(" ")));
    for number in 0..7 {
        let come = std::fs::read(desk.path().join(format!("out/{number}.bin")));
        assert_eq!(come.expect("delivered"), [number; 8_000]);
    }
}

#[test]
fn a_file_without_a_whole_copy_is_no_part_of_what_was_done() {
    let desk = desk();
    let files = make_files(&desk, "reel", 3);
    desk.done("store --archive A reel");
    empty_cache(&desk);
    let catalogue = catalogue(&desk);
    let file = catalogue
        .live_file(b"reel/1.bin")
        .expect("read")
        .expect("a file");
    let number = catalogue.file(file).expect("a file").copies[0].number;
    catalogue.mark_lost(file, number, 1).expect("marked");
    let none = desk.run_with("reel/1.bin\n", "recall --archive A --to out");
    assert_eq!(none.code, 6, "{}", none.err);
    for words in [
        "reel/1.bin: no copy of the file is whole",
        "1 file not delivered",
        "hint: ",
    ] {
        assert!(none.err.contains(words), "{words:?} not in {}", none.err);
    }
    let some = desk.run_with("reel/1.bin\nreel/2.bin\n", "recall --archive A --to out");
    assert_eq!(some.code, 7, "{}", some.err);
    assert!(some.err.contains("1 file not delivered"), "{}", some.err);
    let there = std::fs::read(desk.path().join("out/reel/2.bin")).expect("delivered");
    assert_eq!(there, files["reel/2.bin"]);
}

/// Names stand where everybody puts them first: behind the options, whole, bare, as patterns, or a directory's.
#[test]
fn names_on_the_command_line_are_recalled() {
    let desk = desk();
    let files = make_files(&desk, "reel", 4);
    desk.done("store --archive A reel");
    empty_cache(&desk);
    let there = |path: &str| std::fs::read(desk.path().join(path)).ok();
    desk.done("recall --archive A --to out reel/0.bin 1.bin");
    for name in ["reel/0.bin", "reel/1.bin"] {
        assert_eq!(
            there(&format!("out/{name}")).as_ref(),
            files.get(name),
            "{name}"
        );
    }
    assert_eq!(there("out/reel/2.bin"), None);
    desk.done("recall --archive A --to all reel");
    for (name, contents) in &files {
        assert_eq!(
            there(&format!("all/{name}")).as_ref(),
            Some(contents),
            "{name}"
        );
    }
    let none = desk.run("recall --archive A --to out 1.bin none.bin");
    assert_eq!(none.code, 2, "{}", none.err);
    assert!(none.err.contains("none.bin"), "{}", none.err);
    let both = desk.run("recall --archive A --to out 1.bin --files-from list");
    assert_eq!(both.code, 2, "{}", both.err);
}

/// A desk with a library of two drives and four cartridges, and an archive that it serves.
pub fn desk() -> Desk {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 2 --slots 8 --cartridges 4 --scale 100000");
    init(&desk, "A");
    desk
}

/// Makes an archive that the library serves.
fn init(desk: &Desk, name: &str) {
    desk.done(&format!(
        "catalog init {name} --drive emulated:lib#drive0 --drive emulated:lib#drive1 \
         --changer emulated:lib#changer --profile lto8 --block-size 8192 --segment-size 32768 --cache-gb 0.1"
    ));
}

/// Files of no pattern in a new directory, up to 6 KB each.
pub fn make_files(desk: &Desk, directory: &str, count: u64) -> BTreeMap<String, Vec<u8>> {
    make_files_of(desk, directory, count, 6_000)
}

/// Files of no pattern, shorter than `most_bytes`, the first of them empty, in a new directory.
pub fn make_files_of(
    desk: &Desk,
    directory: &str,
    count: u64,
    most_bytes: u64,
) -> BTreeMap<String, Vec<u8>> {
    std::fs::create_dir_all(desk.path().join(directory)).expect("a directory");
    let seed = directory.bytes().map(u64::from).sum::<u64>();
    let make = |number: u64| {
        let mut random = Random::new(seed, number);
        let bytes = if number == 0 {
            0
        } else {
            random.below(most_bytes)
        };
        let contents: Vec<u8> = (0..bytes).map(|_| random.below(256) as u8).collect();
        let name = format!("{directory}/{number}.bin");
        desk.put(&name, &contents);
        (name, contents)
    };
    (0..count).map(make).collect()
}

pub fn catalogue(desk: &Desk) -> SqliteCatalogue {
    SqliteCatalogue::open(&desk.path().join("A/catalogue.db")).expect("a catalogue")
}

/// Its cache, without a limit.
fn cache(desk: &Desk) -> Cache {
    let records: Arc<dyn CacheRecords> = Arc::new(catalogue(desk));
    let disk = Directory::open(&desk.path().join("A/cache")).expect("a directory");
    let water = Water {
        high_bytes: 1 << 30,
        low_bytes: 0,
    };
    let (cache, _) = Cache::open(Box::new(disk), records, water).expect("a cache");
    cache
}

/// What is on tape must come from there.
pub fn empty_cache(desk: &Desk) {
    let cache = cache(desk);
    cache.evict(u64::MAX, i64::MAX / 2).expect("evicted");
    assert_eq!(cache.usage().held_bytes, 0, "everything is on tape");
}

/// Recalls files, and compares every byte.
pub fn recall_and_compare(desk: &Desk, files: &BTreeMap<String, Vec<u8>>, to: &str) {
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    desk.put("list.txt", names.join("\n"));
    desk.done(&format!(
        "recall --archive A --to {to} --files-from list.txt"
    ));
    same(desk, files, to);
}

/// Every byte of what was delivered is as it was stored.
pub fn same(desk: &Desk, files: &BTreeMap<String, Vec<u8>>, to: &str) {
    for (name, contents) in files {
        let back = std::fs::read(desk.path().join(to).join(name)).expect("delivered");
        assert!(&back == contents, "{name} differs");
    }
}

#[test]
fn all_files_of_an_archive_come_back_and_options_of_other_sources_are_refused() {
    let desk = desk();
    let files = make_files(&desk, "reel", 7);
    desk.done("store --archive A reel");
    let ran = desk.done("recall --archive A --to out --all-files");
    assert!(ran.text().contains("delivered  7 files"), "{}", ran.text());
    same(&desk, &files, "out");
    for (option, needed) in [
        ("--ranges", "--ltfs"),
        ("--events log", "--ltfs"),
        ("--ltfs-index a.xml", "--ltfs"),
    ] {
        let name = option.split(' ').next().unwrap_or_default();
        desk.refused(
            &format!("recall --archive A --to out {option}"),
            &[&format!("{name} works with {needed} only")],
        );
    }
    for option in ["--user", "--activity"] {
        desk.refused(
            &format!("recall --ltfs emulated:lib --to out --all-files {option} ann"),
            &[&format!("{option} works with --archive only")],
        );
    }
    let ran = desk.done_with(
        "reel/1.bin\nreel/none.bin\n",
        "recall --archive A --to some --ignore-missing",
    );
    assert!(ran.err.contains("reel/none.bin"), "{}", ran.err);
    assert!(ran.text().contains("delivered  1 file "), "{}", ran.text());
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
    recall_and_compare(&desk, &files, "out");
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
            .contains("1 name of standard input is not in the archive"),
        "{}",
        missing.err
    );
}

#[test]
fn a_path_with_the_signs_of_a_pattern_is_found_as_it_is() {
    let desk = desk();
    std::fs::create_dir_all(desk.path().join("reel/b[1]")).expect("directories");
    for name in ["a[1].txt", "a1.txt", "b[1]/c"] {
        desk.put(&format!("reel/{name}"), name);
    }
    desk.done("store --archive A reel --later");
    let find = |pattern: &str| desk.done(&format!("catalog find --archive A --paths {pattern}"));
    assert_eq!(find("reel/a[1].txt").text(), "reel/a[1].txt\n");
    assert_eq!(find("reel/b[1]/").text(), "reel/b[1]/c\n");
    assert_eq!(find("reel/a[1-9].txt").text(), "reel/a1.txt\n");
}

#[test]
fn the_event_log_of_emulated_drives_says_so() {
    let desk = desk();
    make_files_of(&desk, "reel", 1, 4_000);
    desk.done("store --archive A reel --quiet");
    let log = desk.read("A/events.jsonl");
    assert!(
        log.lines()
            .next()
            .expect("a header")
            .contains("\"emulated\":true")
    );
}

#[test]
fn what_is_at_the_destination_already_moves_no_tape() {
    let desk = desk();
    let files = make_files_of(&desk, "reel", 6, 4_000);
    desk.done("store --archive A reel --quiet");
    empty_cache(&desk);
    desk.done("recall --archive A --to out reel --quiet");
    let events = |desk: &Desk| desk.read("A/events.jsonl").matches("\"action\"").count();
    let before = events(&desk);
    let again = desk.done("recall --archive A --to out reel --quiet");
    let said = format!("delivered  {} files", files.len());
    assert!(again.text().starts_with(&said) && again.text().contains("there already"));
    assert_eq!(events(&desk), before);
    // One that is damaged there is not there. Nothing is replaced, and no tape moves to find that out.
    let damaged = files.keys().next_back().expect("a file");
    desk.put(&format!("out/{damaged}"), vec![0; files[damaged].len()]);
    let refused = desk.run("recall --archive A --to out reel --json --quiet");
    assert_eq!((refused.code, events(&desk)), (7, before));
    let told = refused.json();
    let delivered = told["delivered"].as_array().expect("files").len();
    assert_eq!(delivered, files.len() - 1);
    let failed = &told["failed"][0];
    assert_eq!(failed["path"], damaged.as_str());
    let refused = desk.run(&format!("recall --archive A --to out {damaged} --quiet"));
    assert_eq!((refused.code, events(&desk)), (3, before));
    // What is there needs no cartridge, and is counted; what is in the way is named.
    let listed = desk.done("recall --archive A --to out reel --dry-run");
    assert!(!listed.text().contains("TW0001"), "{}", listed.text());
    assert_eq!(listed.text(), "5 files at the destination already\n");
    let said = format!("{damaged}: another file of this name is there already");
    assert!(listed.err.contains(&said), "{}", listed.err);
}
