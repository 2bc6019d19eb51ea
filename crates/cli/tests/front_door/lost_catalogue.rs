//! The catalogue is missing, empty, or restored from a copy: no file in the cache is lost by that, whatever
//! command comes next.

use crate::archive::{desk, make_files_of};
use crate::program::{Desk, Ran};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

type Contents = BTreeMap<String, Vec<u8>>;

fn says(ran: &Ran, words: &[&str]) {
    for word in words {
        assert!(ran.err.contains(word), "{word:?} not in\n{}", ran.err);
    }
}

/// Every file below a directory that holds one of these contents.
fn holding(directory: &Path, contents: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => found.extend(holding(&path, contents)),
            false if std::fs::read(&path).expect("a file") == contents => found.push(path),
            false => {}
        }
    }
    found
}

/// The contents of all files are still somewhere in the cache.
fn all_are_in_the_cache(desk: &Desk, files: &Contents) {
    for (name, contents) in files {
        let found = holding(&desk.path().join("A/cache"), contents);
        assert!(!found.is_empty(), "{name} is gone");
    }
}

/// Files that are acknowledged, and in the cache only.
fn stored_later(desk: &Desk, directory: &str) -> Contents {
    let mut files = make_files_of(desk, directory, 6, 6_000);
    // Nothing tells an empty file from others.
    std::fs::remove_file(desk.path().join(format!("{directory}/0.bin"))).expect("removed");
    files.remove(&format!("{directory}/0.bin"));
    let stored = desk.done(&format!("store --archive A {directory} --later"));
    assert!(stored.text().contains("5 files in the cache, acknowledged"));
    files
}

#[test]
fn a_catalogue_that_is_missing_or_empty_is_an_error_and_the_cache_stays_as_it_is() {
    let desk = desk();
    let files = stored_later(&desk, "reel");
    let database = desk.path().join("A/catalogue.db");
    let kept = desk.path().join("kept.db");
    std::fs::rename(&database, &kept).expect("moved");
    for command in [
        "store --archive A",
        "catalog find --archive A",
        "catalog check --archive A",
        "catalog reconcile --archive A",
    ] {
        let missing = desk.run(command);
        assert_eq!(missing.code, 1, "{command}: {}", missing.err);
        says(
            &missing,
            &["A/catalogue.db is missing", "hint: put a backup"],
        );
        assert!(!database.exists(), "{command} made a new one");
        std::fs::write(&database, "").expect("an empty file");
        let empty = desk.run(command);
        assert_eq!(empty.code, 1, "{command}: {}", empty.err);
        says(&empty, &["A/catalogue.db is empty"]);
        std::fs::remove_file(&database).expect("removed");
    }
    all_are_in_the_cache(&desk, &files);
    std::fs::rename(&kept, &database).expect("back again");
    desk.done("store --archive A");
}

#[test]
fn a_backup_replaces_a_backup_and_nothing_else() {
    let desk = desk();
    stored_later(&desk, "first");
    desk.done("catalog backup --archive A backup.db");
    stored_later(&desk, "second");
    desk.done("catalog backup --archive A backup.db");
    desk.put("film.mov", b"the only copy");
    std::fs::create_dir(desk.path().join("B")).expect("a directory");
    for (from, to) in [
        ("backup.db", "B/catalogue.db"),
        ("A/archive.toml", "B/archive.toml"),
    ] {
        std::fs::copy(desk.path().join(from), desk.path().join(to)).expect("copied");
    }
    for (file, why) in [
        ("A/archive.toml", "is there, and is no catalogue"),
        ("film.mov", "is there, and is no catalogue"),
        ("B/catalogue.db", "is the catalogue of another archive"),
        ("A/catalogue.db", "is the catalogue itself"),
    ] {
        let before = std::fs::read(desk.path().join(file)).expect("there");
        let refused = desk.run(&format!("catalog backup --archive A {file}"));
        assert_eq!(refused.code, 2, "{file}: {}", refused.err);
        assert!(refused.err.contains(why), "{}", refused.err);
        assert!(before == std::fs::read(desk.path().join(file)).expect("there"));
    }
}

#[test]
fn with_a_restored_older_catalogue_cached_files_are_kept_and_can_be_stored_again() {
    let desk = desk();
    let first = stored_later(&desk, "first");
    desk.done("catalog backup --archive A backup.db");
    let second = stored_later(&desk, "second");
    std::fs::rename(
        desk.path().join("A/catalogue.db"),
        desk.path().join("newer.db"),
    )
    .expect("moved");
    let copied = std::fs::copy(
        desk.path().join("backup.db"),
        desk.path().join("A/catalogue.db"),
    );
    copied.expect("restored");

    for command in ["catalog check --archive A", "store --archive A"] {
        let refused = desk.run(command);
        assert_eq!(refused.code, 3, "{command}: {}", refused.err);
        says(
            &refused,
            &[
                "the catalogue is older than the cache",
                "Nothing was changed",
                "put the right catalogue.db back",
                "catalog reconcile --archive A",
            ],
        );
    }
    all_are_in_the_cache(&desk, &first);
    all_are_in_the_cache(&desk, &second);

    // Whoever finds the right one puts it back, and nothing has happened.
    let right = desk.path().join("A/catalogue.db");
    std::fs::rename(desk.path().join("newer.db"), &right).expect("put back");
    desk.done("catalog check --archive A");
    desk.done("store --archive A --later");
    std::fs::copy(desk.path().join("backup.db"), &right).expect("restored");

    let reconciled = desk.done("catalog reconcile --archive A");
    says(
        &reconciled,
        &["does not know 5 files in the cache", "A/cache/quarantine/"],
    );
    all_are_in_the_cache(&desk, &first);
    for (name, contents) in &second {
        let found = holding(&desk.path().join("A/cache/quarantine"), contents);
        assert!(
            found.len() == 1 && found[0].ends_with(name),
            "{name}: {found:?}"
        );
    }
    let quarantine = std::fs::read_dir(desk.path().join("A/cache/quarantine"));
    let numbered = quarantine
        .expect("it")
        .next()
        .expect("one")
        .expect("an entry");
    let again = format!(
        "store --archive A {}/second --later",
        numbered.path().display()
    );
    let stored = desk.done(&again);
    assert!(
        stored.text().contains("5 files in the cache"),
        "{}",
        stored.text()
    );
    let found = desk.done("catalog find --archive A second/");
    assert_eq!(found.lines().len(), 5, "{}", found.text());
}

#[test]
fn a_backup_of_what_went_on_without_the_restored_directory_is_refused() {
    let desk = desk();
    stored_later(&desk, "first");
    crate::archive::loss::copy(&desk, "A", "snapshot");
    for later in ["second", "third", "fourth"] {
        stored_later(&desk, later);
    }
    desk.done("catalog backup --archive A backup.db");
    // The whole directory goes back to before, and goes on from there.
    std::fs::rename(desk.path().join("A"), desk.path().join("gone")).expect("moved");
    crate::archive::loss::copy(&desk, "snapshot", "A");
    let files = stored_later(&desk, "after");
    // By its numbers the backup is not older than the cache, and it knows nothing of these files.
    let right = desk.path().join("A/catalogue.db");
    std::fs::copy(desk.path().join("backup.db"), &right).expect("restored");
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(desk.path().join(format!("A/catalogue.db{suffix}")));
    }

    let refused = desk.run("store --archive A");
    assert_eq!(refused.code, 3, "{}", refused.err);
    let why = "not the one that the cache was last used with";
    says(
        &refused,
        &[why, "Nothing was changed", "catalog reconcile --archive A"],
    );
    all_are_in_the_cache(&desk, &files);
    desk.done("catalog reconcile --archive A");
    all_are_in_the_cache(&desk, &files);
}

#[test]
fn a_catalogue_of_another_archive_is_refused() {
    let desk = desk();
    let files = stored_later(&desk, "reel");
    desk.done("catalog init B --drive emulated:lto8 --profile lto8");
    let copied = std::fs::copy(
        desk.path().join("B/catalogue.db"),
        desk.path().join("A/catalogue.db"),
    );
    copied.expect("copied");
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(desk.path().join(format!("A/catalogue.db{suffix}")));
    }
    let refused = desk.run("store --archive A");
    assert_eq!(refused.code, 3, "{}", refused.err);
    says(
        &refused,
        &["the cache belongs to another catalogue (files in it: 5)"],
    );
    all_are_in_the_cache(&desk, &files);
    desk.done("catalog reconcile --archive A");
    all_are_in_the_cache(&desk, &files);
}

#[test]
fn a_cache_that_does_not_say_whose_it_is_keeps_what_no_record_knows() {
    let desk = desk();
    let files = stored_later(&desk, "reel");
    desk.done("catalog init B --drive emulated:lto8 --profile lto8");
    std::fs::remove_file(desk.path().join("A/cache/catalogue-id")).expect("removed");
    let copied = std::fs::copy(
        desk.path().join("B/catalogue.db"),
        desk.path().join("A/catalogue.db"),
    );
    copied.expect("copied");
    let stored = desk.done("store --archive A");
    says(&stored, &["does not know 5 files in the cache"]);
    all_are_in_the_cache(&desk, &files);
}

#[test]
fn a_catalogue_of_another_archive_is_refused_by_an_empty_cache_too() {
    let desk = desk();
    desk.done("store --archive A");
    desk.done("catalog init B --drive emulated:lto8 --profile lto8");
    let [right, kept, other] =
        ["A/catalogue.db", "kept.db", "B/catalogue.db"].map(|name| desk.path().join(name));
    std::fs::rename(&right, &kept).expect("kept");
    std::fs::copy(other, &right).expect("copied");
    let refused = desk.run("store --archive A");
    assert_eq!(refused.code, 3, "{}", refused.err);
    says(
        &refused,
        &["the cache belongs to another catalogue (files in it: 0)"],
    );
    std::fs::rename(&kept, &right).expect("put back");
    desk.done("store --archive A");
}

#[test]
fn a_file_that_is_damaged_in_the_cache_is_named() {
    let desk = desk();
    let files = stored_later(&desk, "reel");
    let whole = desk.done("catalog check --archive A --contents");
    assert!(
        whole
            .text()
            .contains("5 files in the cache: all match their checksums"),
        "{}",
        whole.text()
    );
    let place = |name: &str| holding(&desk.path().join("A/cache"), &files[name]).remove(0);
    let [rotten, short] = ["reel/2.bin", "reel/3.bin"].map(place);
    let contents = &files["reel/2.bin"];
    std::fs::write(&rotten, [&[!contents[0]], &contents[1..]].concat()).expect("written");
    // Its length is right, and nobody has read it.
    desk.done("catalog check --archive A");
    std::fs::write(&short, &files["reel/3.bin"][1..]).expect("written");
    let check = |option: &str, lines: usize| {
        let ran = desk.run(&format!("catalog check --archive A {option}"));
        assert_eq!(ran.code, 8, "{}", ran.err);
        let told = ran.text();
        assert_eq!(
            told.lines()
                .filter(|line| line.contains("in the cache it"))
                .count(),
            lines,
            "{told}"
        );
        assert!(told.contains("reel/3.bin: in the cache it has "), "{told}");
        assert!(
            told.contains("no copy on tape is whole: store it again"),
            "{told}"
        );
        told.contains("reel/2.bin: in the cache it has another checksum than when it was stored")
    };
    assert!(!check("", 1));
    assert!(check("--contents", 2));
    std::fs::write(&short, &files["reel/3.bin"]).expect("put back");
    std::fs::write(&rotten, contents).expect("put back");
    desk.done("store --archive A");
    std::fs::remove_file(&short).expect("gone");
    let gone = desk.run("catalog check --archive A --json");
    assert_eq!(gone.code, 8, "{}", gone.err);
    let told = gone.json();
    assert_eq!(told["damaged"][0]["path"], "reel/3.bin", "{told}");
    assert_eq!(told["damaged"][0]["on_tape"], true, "{told}");
}

#[test]
fn an_older_version_that_is_damaged_in_the_cache_is_no_loss_of_the_file() {
    let desk = desk();
    for contents in [[1_u8; 5_000], [2; 5_000]] {
        desk.put("x", contents);
        desk.done("store --archive A x --replace --quiet");
    }
    let old = holding(&desk.path().join("A/cache"), &[1; 5_000]);
    std::fs::write(&old[0], [3; 5_000]).expect("written");
    let told = desk.done("catalog check --archive A --contents");
    let words =
        "x: in the cache it has another checksum than when it was stored; it is an older version";
    assert!(told.text().contains(words), "{}", told.text());
    std::fs::write(&holding(&desk.path().join("A/cache"), &[2; 5_000])[0], [3]).expect("written");
    assert_eq!(desk.run("catalog check --archive A").code, 8);
}

#[test]
fn a_catalogue_made_again_counts_the_bytes_of_volumes_as_the_first_one_did() {
    let desk = desk();
    make_files_of(&desk, "reel", 6, 6_000);
    desk.done("store --archive A --quiet reel");
    let volumes = || {
        let listed = desk.done("catalog volumes --archive A --json").json();
        let volume = listed["volumes"][0].clone();
        ["volume", "recorded_bytes", "next_block"].map(|field| volume[field].clone())
    };
    let before = volumes();
    std::fs::remove_file(desk.path().join("A/catalogue.db")).expect("lost");
    desk.done("catalog rebuild --archive A --quiet");
    assert_eq!(volumes(), before);
}
