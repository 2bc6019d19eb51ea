//! What people do to an archive: they put back copies of it, use cartridges again, swap them, set clocks back. The
//! simulator found that each of these lost something, or hid it.

use super::loss::{copies_of, copy, remove};
use super::{catalogue, desk, empty_cache, make_files, make_files_of, recall_and_compare};
use crate::program::Desk;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tapewise_archive::catalogue::{CacheRecords, Files, Requests as _};

/// Puts two cartridges into each other's place, barcodes and all that is written on the slots left as they are.
fn swap(desk: &Desk, one: &str, two: &str) {
    let cartridges = desk.path().join("lib/cartridges");
    let rename = |from: &str, to: &str| {
        std::fs::rename(cartridges.join(from), cartridges.join(to)).expect("renamed");
    };
    rename(one, "aside");
    rename(two, one);
    rename("aside", two);
}

fn put_back(desk: &Desk, kept: &str) {
    remove(desk, "A");
    copy(desk, kept, "A");
}

#[test]
fn a_rebuild_knows_cartridges_that_were_used_again_and_others_that_were_swapped() {
    let desk = desk();
    let mut files = make_files(&desk, "reel", 4);
    desk.done("store --archive A --quiet reel");
    copy(&desk, "A", "kept");
    desk.done("catalog repack --archive A --quiet --reuse TW0001");
    desk.done("catalog retire --archive A TW0002");
    files.extend(make_files(&desk, "more", 4));
    desk.done("store --archive A --quiet more");
    put_back(&desk, "kept");
    desk.done("catalog rebuild --archive A --quiet");
    desk.done("catalog check --archive A");
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "used-again");

    swap(&desk, "TW0001", "TW0002");
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    desk.put("list.txt", names.join("\n"));
    let refused = desk.run("recall --archive A --to nowhere --files-from list.txt");
    assert_ne!(refused.code, 0, "{}", refused.text());
    desk.done("catalog rebuild --archive A --quiet");
    desk.done("catalog check --archive A");
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "swapped");
}

#[test]
fn a_cartridge_with_more_on_it_than_a_restored_catalogue_knows_is_not_labelled_anew() {
    let desk = desk();
    let mut files = make_files(&desk, "reel", 4);
    desk.done("store --archive A --quiet reel");
    copy(&desk, "A", "kept");
    files.extend(make_files(&desk, "more", 4));
    desk.done("store --archive A --quiet more");
    put_back(&desk, "kept");
    let refused = desk.run("catalog repack --archive A --quiet --reuse TW0001");
    assert_eq!(refused.code, 3, "{}", refused.err);
    let way = "tapewise catalog rebuild";
    assert!(refused.err.contains(way), "{}", refused.err);
    desk.done("catalog rebuild --archive A --quiet");
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
}

#[test]
fn without_a_robot_a_lost_catalogue_is_made_anew_only_from_cartridges_that_are_named() {
    let desk = desk();
    make_files(&desk, "reel", 2);
    desk.done("store --archive A --quiet reel");
    let settings = desk.read("A/archive.toml");
    desk.put(
        "A/archive.toml",
        settings.replace("changers = [", "changers = [] # ["),
    );
    std::fs::remove_file(desk.path().join("A/catalogue.db")).expect("lost");
    desk.refused(
        "catalog rebuild --archive A",
        &[
            "no robot says which cartridges",
            "rebuild --archive A VOLUME",
        ],
    );
    assert!(!desk.path().join("A/catalogue.db").exists());
}

#[test]
fn a_link_that_is_named_is_no_file_to_be_stored() {
    let desk = desk();
    make_files(&desk, "reel", 2);
    std::os::unix::fs::symlink("reel", desk.path().join("link")).expect("a link");
    let words = ["link: a link or a device", "name what it leads to"];
    desk.refused("store --archive A reel link", &words);
    let open = catalogue(&desk).unanswered().expect("a catalogue");
    assert_eq!(open, []);
    let stored = desk.done("store --archive A --quiet link/");
    assert!(
        stored.text().contains("stored     2 files"),
        "{}",
        stored.text()
    );
}

#[test]
fn an_empty_name_is_not_every_file() {
    let desk = desk();
    for (from, which) in [("--archive", "A"), ("--ltfs", "emulated:lib#drive0")] {
        let refused = desk.run_args(b"", &["recall", from, which, "--to", "out", ""]);
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(refused.err.contains("--all-files"), "{}", refused.err);
    }
}

#[test]
fn cached_files_that_somebody_took_away_are_counted_and_come_from_tape() {
    let desk = desk();
    let files = make_files(&desk, "reel", 4);
    desk.done("store --archive A --quiet reel");
    std::fs::remove_file(in_cache(&desk, "reel/1.bin")).expect("removed");
    let opened = desk.done("store --archive A --quiet reel");
    let said = "1 file in the cache that is gone or damaged there";
    assert!(opened.err.contains(said), "{}", opened.err);
    recall_and_compare(&desk, &files, "out");
}

#[test]
fn a_copy_in_parts_is_whole_after_a_rebuild_only_if_all_its_parts_were_found() {
    let desk = desk();
    let settings = desk.read("A/archive.toml");
    let parts = settings.replace("part_bytes = ", "part_bytes = 16384 # ");
    desk.put("A/archive.toml", format!("volume_bytes = 70000\n{parts}"));
    let files = long_files(&desk, &[30_000, 40_000]);
    desk.done("store --archive A --quiet long");
    assert!(volumes_of(&desk, "long/1.bin").len() > 1, "it is in parts");
    copy(&desk, "A", "kept");
    let repacked = desk.done("catalog repack --archive A --quiet --reuse TW0001");
    let said = "its cartridge has a new label";
    assert!(repacked.text().contains(said), "{}", repacked.text());
    put_back(&desk, "kept");
    desk.run("catalog rebuild --archive A --quiet");
    desk.done("catalog check --archive A");
    for path in files.keys() {
        let known = volumes_of(&desk, path);
        let is_there = |label: &String| !label.contains('(');
        assert!(known.iter().all(is_there), "{path} is on {known:?}");
    }
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
}

/// Files of these lengths without any pattern.
fn long_files(desk: &Desk, lengths: &[usize]) -> BTreeMap<String, Vec<u8>> {
    let noise = make_files_of(desk, "noise", 9, 60_000).into_values();
    let noise: Vec<u8> = noise.flatten().collect();
    std::fs::create_dir_all(desk.path().join("long")).expect("a directory");
    let mut from = 0;
    let cut = |(number, length): (usize, &usize)| {
        let contents = noise[from..from + length].to_vec();
        from += length;
        let name = format!("long/{number}.bin");
        desk.put(&name, &contents);
        (name, contents)
    };
    lengths.iter().enumerate().map(cut).collect()
}

/// The labels of the volumes on which the whole copies of a file lie.
fn volumes_of(desk: &Desk, path: &str) -> Vec<String> {
    use tapewise_archive::catalogue::{CopyState, Volumes};
    let known = catalogue(desk);
    let file = known.live_file(path.as_bytes()).expect("read");
    let entry = known.file(file.expect("a file")).expect("read");
    let whole = entry.copies.iter();
    let whole = whole.filter(|copy| copy.state == CopyState::Whole);
    let mut labels: Vec<String> = whole
        .flat_map(|copy| &copy.segments)
        .map(|(volume, _)| known.volume(*volume).expect("read").label)
        .collect();
    labels.dedup();
    labels
}

#[test]
fn a_restored_catalogue_takes_no_cached_file_of_equal_length_for_another() {
    let desk = desk();
    desk.put("one.txt", "the first of two");
    desk.put("two.txt", "the other of two");
    desk.done("store --archive A --quiet one.txt");
    desk.done("catalog backup --archive A backup.db");
    // Its place in the cache is free, and the next file gets it.
    empty_cache(&desk);
    desk.done("store --archive A --quiet --later two.txt");
    let restored = std::fs::copy(
        desk.path().join("backup.db"),
        desk.path().join("A/catalogue.db"),
    );
    restored.expect("restored");
    let refused = desk.run("store --archive A");
    assert_eq!(refused.code, 3, "{}", refused.err);
    let reconciled = desk.done("catalog reconcile --archive A");
    let said = "does not know 1 file in the cache";
    assert!(reconciled.err.contains(said), "{}", reconciled.err);
    let ran = desk.run_with("one.txt\n", "recall --archive A --to out");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(desk.read("out/one.txt"), "the first of two");
    let aside = desk.path().join("A/cache/quarantine");
    let mut found = std::fs::read_dir(aside).expect("a directory");
    let numbered = found.next().expect("one").expect("an entry").path();
    let two = std::fs::read_to_string(numbered.join("two.txt")).expect("set aside");
    assert_eq!(two, "the other of two");
}

#[test]
fn a_file_of_which_nothing_is_left_is_stored_again_without_replacing() {
    let desk = desk();
    let files = make_files(&desk, "reel", 3);
    desk.done("store --archive A --quiet reel");
    empty_cache(&desk);
    let known = catalogue(&desk);
    let file = known.live_file(b"reel/1.bin").expect("read");
    let file = file.expect("a file");
    let number = known.file(file).expect("a file").copies[0].number;
    known.mark_lost(file, number, 1).expect("marked");
    drop(known);
    let stored = desk.done("store --archive A reel");
    let said = "1 file in the cache, acknowledged";
    assert!(stored.text().contains(said), "{}", stored.text());
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
}

/// Where the cache keeps a file.
fn in_cache(desk: &Desk, path: &str) -> PathBuf {
    let known = catalogue(desk);
    let file = known.live_file(path.as_bytes()).expect("read");
    let cached = known.cached(file.expect("a file")).expect("read");
    let key = cached.expect("it is in the cache").key.0;
    desk.path()
        .join(format!("A/cache/{:02x}/{key:016x}", key & 0xff))
}

/// A bit of a cached file turns.
fn rot(desk: &Desk, path: &str) -> Vec<u8> {
    let place = in_cache(desk, path);
    let mut contents = std::fs::read(&place).expect("contents");
    contents[0] ^= 1;
    std::fs::write(place, &contents).expect("written");
    contents
}

#[test]
fn a_file_that_is_damaged_in_the_cache_and_on_no_tape_is_stored_again() {
    let desk = desk();
    let files = make_files(&desk, "reel", 4);
    desk.done("store --archive A --quiet --later reel");
    let rotten = rot(&desk, "reel/1.bin");
    std::fs::remove_file(in_cache(&desk, "reel/2.bin")).expect("removed");
    let stored = desk.done("store --archive A reel");
    let said = "2 files in the cache, acknowledged";
    assert!(stored.text().contains(said), "{}", stored.text());
    let said = "reel/1.bin was damaged in the cache and on no tape: it is stored again";
    assert!(stored.err.contains(said), "{}", stored.err);
    let aside = std::fs::read_dir(desk.path().join("A/cache/quarantine"));
    let numbered = aside.expect("a directory").next().expect("one");
    let left = numbered.expect("an entry").path().join("reel/1.bin");
    assert_eq!(std::fs::read(left).expect("what was left"), rotten);
    let again = desk.done("store --archive A reel");
    let said = "4 files of the same length and time, stored before";
    assert!(again.text().contains(said), "{}", again.text());
    desk.done("catalog check --archive A");
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
}

#[test]
fn a_mover_says_which_file_it_cannot_write_and_that_it_stays() {
    let desk = desk();
    make_files(&desk, "reel", 3);
    desk.done("store --archive A --quiet --later reel");
    rot(&desk, "reel/1.bin");
    let ended = desk.run("mover --archive A --until-idle --quiet");
    let fetches = desk.read("A/events.jsonl").matches("\"fetch\"").count();
    assert!(fetches < 4, "{fetches}: it is not tried again and again");
    assert_eq!(ended.code, 7, "{}", ended.err);
    let said = "reel/1.bin: stays in the cache: ";
    assert_eq!(ended.err.matches(said).count(), 1, "{}", ended.err);
    let said = "ended with 1 file in the cache that could not be written";
    assert!(ended.err.contains(said), "{}", ended.err);
}

#[test]
fn a_closed_segment_is_not_written_over_if_the_cache_has_its_files_damaged() {
    let desk = desk();
    let mut files = make_files(&desk, "before", 4);
    desk.done("store --archive A --quiet before");
    files.extend(make_files(&desk, "reel", 4));
    desk.done("store --archive A --quiet --later reel");
    copy(&desk, "A", "killed");
    desk.done("store --archive A --quiet");
    // Killed between the filemark and the commit.
    put_back(&desk, "killed");
    rot(&desk, "reel/1.bin");
    let refused = desk.run("store --archive A --quiet");
    assert_eq!(refused.code, 3, "{}", refused.text());
    desk.done("catalog add --archive A --quiet --tape TW0001");
    recall_and_compare(&desk, &files, "out");
}

#[test]
fn the_version_that_was_stored_last_counts_after_a_rebuild_though_the_clock_was_set_back() {
    let desk = desk();
    desk.put("film.txt", "the first cut, which is longer");
    desk.done("store --archive A --quiet --later film.txt");
    // As if the clock had been ten days ahead then.
    let database = rusqlite::Connection::open(desk.path().join("A/catalogue.db"));
    let changed = database.expect("a database").execute(
        "UPDATE file SET created_ns = created_ns + 864000000000000",
        (),
    );
    assert_eq!(changed.expect("changed"), 1);
    desk.done("store --archive A --quiet");
    desk.put("film.txt", "the second cut");
    desk.done("store --archive A --quiet --replace film.txt");
    let settings = desk.read("A/archive.toml");
    remove(&desk, "A");
    std::fs::create_dir(desk.path().join("A")).expect("made");
    desk.put("A/archive.toml", settings);
    desk.done("catalog rebuild --archive A --quiet");
    let ran = desk.run_with("film.txt\n", "recall --archive A --to out");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(desk.read("out/film.txt"), "the second cut");
}

#[test]
fn a_forgotten_volume_costs_no_file_that_lies_elsewhere_and_a_retired_one_is_only_read() {
    let desk = desk();
    let mut files = make_files(&desk, "reel", 4);
    desk.done("store --archive A --quiet --copies 2 reel");
    let forgotten = desk.done("catalog forget --archive A TW0001");
    assert_eq!(
        forgotten.text(),
        "TW0001: forgotten, with 4 copies, 4 files lack a copy now\n"
    );
    let whole = |path: &str| -> Vec<String> {
        let copies = copies_of(&desk, path).into_iter();
        let whole = copies.filter(|(_, is_whole)| *is_whole);
        whole.map(|(label, _)| label).collect()
    };
    assert_eq!(whole("reel/1.bin"), ["TW0002"]);
    // The cache has them still: a second copy is made again, and not on the cartridge that nobody knows any more.
    desk.done("store --archive A --quiet");
    assert_eq!(whole("reel/1.bin"), ["TW0002", "TW0003"]);

    desk.done("catalog retire --archive A TW0002 TW0003");
    files.extend(make_files(&desk, "more", 4));
    desk.done("store --archive A --quiet more");
    assert_eq!(whole("more/1.bin"), ["TW0004"]);
    desk.done("catalog check --archive A");
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
}

#[test]
fn a_drive_that_has_two_names_in_an_archive_is_refused_before_anything_moves() {
    let desk = desk();
    make_files(&desk, "reel", 2);
    let init =
        "catalog init B --drive emulated:lib#drive0 --drive emulated:lib#drive0 --profile lto8";
    let twice = desk.run(init);
    assert_eq!(twice.code, 2, "{}", twice.err);
    let list = "a list with emulated:lib#drive0 as number 1 and 2";
    assert!(twice.err.contains(list), "{}", twice.err);
    let settings = desk.read("A/archive.toml");
    let first = "\"emulated:lib#drive0\"";
    // The files are in the cache when the first `store` finds it out.
    for (other, stored) in [("emulated:lib", 7), ("emulated:./lib#drive0", 2)] {
        let drives = settings.replace(first, &format!("{first}, \"{other}\""));
        desk.put("A/archive.toml", drives);
        for (command, code) in [("store --archive A reel", stored), ("mover --archive A", 2)] {
            let refused = desk.run(command);
            assert_eq!(refused.code, code, "{command}: {}", refused.err);
            let both = format!("emulated:lib#drive0 and {other} are the same drive");
            assert!(refused.err.contains(&both), "{}", refused.err);
            assert!(!refused.err.contains("the robot"), "{}", refused.err);
        }
    }
    desk.put("A/archive.toml", settings);
    desk.done("store --archive A");
}

#[test]
fn a_drive_that_cannot_be_reached_is_not_a_matter_of_its_profile() {
    let desk = Desk::new();
    // No target is at this address. A host without libiscsi says that libiscsi is missing.
    let refused = desk.run("catalog init A --drive iscsi://127.0.0.1:1/iqn.example:tape/1");
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(
        refused
            .err
            .contains("`tapewise doctor` says what this host lacks"),
        "{}",
        refused.err
    );
    assert!(!refused.err.contains("--profile"), "{}", refused.err);
}

#[test]
fn the_archive_is_not_stored_into_itself() {
    let desk = desk();
    std::fs::create_dir(desk.path().join("site")).expect("a directory");
    desk.put("site/one", [1; 100]);
    std::fs::rename(desk.path().join("A"), desk.path().join("site/A")).expect("moved");
    for own in ["site/A", "site/A/cache", "site/A/archive.toml"] {
        let refused = desk.run(&format!("store --archive site/A {own}"));
        assert_eq!(refused.code, 2, "{own}: {}", refused.err);
        assert!(
            refused.err.contains("belongs to the archive itself"),
            "{}",
            refused.err
        );
    }
    let stored = desk.done("store --archive site/A site");
    assert!(
        stored
            .err
            .contains("site/A: the archive itself: not stored"),
        "{}",
        stored.err
    );
    assert!(
        stored.text().contains("1 file in the cache"),
        "{}",
        stored.text()
    );
}

#[test]
fn a_stored_file_gets_further_copies_from_the_cache_or_from_tape() {
    let desk = desk();
    let files = make_files(&desk, "reel", 3);
    desk.done("store --archive A --quiet --copies 1 reel");
    for copies in [2, 3] {
        let more = format!("store --archive A --quiet --json --copies {copies} reel");
        let stored = desk.done(&more).json();
        assert_eq!(
            (&stored["known"], &stored["more_copies"]),
            (&3.into(), &3.into())
        );
        for path in files.keys() {
            assert_eq!(volumes_of(&desk, path).len(), copies, "{path}");
        }
        assert!(desk.done(&more).json().get("more_copies").is_none());
        empty_cache(&desk);
    }
    desk.done("catalog check --archive A");
}

#[test]
fn a_file_that_never_fits_the_cache_keeps_no_other_from_being_stored() {
    let desk = desk();
    let settings = desk.read("A/archive.toml");
    let settings = settings
        .replace("cache_high_bytes = ", "cache_high_bytes = 200000 # ")
        .replace("cache_low_bytes = ", "cache_low_bytes = 100000 # ");
    desk.put("A/archive.toml", settings);
    let files = make_files(&desk, "reel", 3);
    desk.put("reel/z.bin", [7; 200_001]);
    let stored = desk.run("store --archive A --quiet --json reel");
    assert_eq!(stored.code, 7, "{}", stored.err);
    let told = stored.json();
    assert_eq!(told["stored"], files.len());
    let why = told["too_large"][0].as_str().expect("a reason");
    assert!(
        why.contains("reel/z.bin: a file of 200001 bytes never fits"),
        "{why}"
    );
}

#[test]
fn two_files_for_one_path_are_refused_before_anything_is_stored() {
    let desk = desk();
    for card in ["c1", "c2"] {
        std::fs::create_dir_all(desk.path().join(card).join("DCIM")).expect("a directory");
        desk.put(&format!("{card}/DCIM/A001.mov"), card);
    }
    for replace in ["", "--replace"] {
        let words = [
            "c1/DCIM/A001.mov and c2/DCIM/A001.mov would both be DCIM/A001.mov",
            "--under",
        ];
        desk.refused(
            &format!("store --archive A {replace} c1/DCIM c2/DCIM"),
            &words,
        );
    }
    assert_eq!(
        catalogue(&desk).live_file(b"DCIM/A001.mov").expect("read"),
        None
    );
}

#[test]
fn a_taken_name_is_refused_and_moves_no_tape_whatever_has_it() {
    let desk = desk();
    let mut files = make_files(&desk, "reel", 2);
    desk.done("store --archive A --quiet reel");
    empty_cache(&desk);
    files.remove("reel/0.bin");
    let recall = |to: &str, what: &str| {
        desk.run(&format!(
            "recall --archive A --quiet --json --to {to} {what}"
        ))
    };
    for (to, in_the_way) in [("file", "another file"), ("directory", "not a directory")] {
        std::fs::create_dir(desk.path().join(to)).expect("a directory");
        if to == "file" {
            std::fs::create_dir(desk.path().join("file/reel")).expect("a directory");
            desk.put("file/reel/1.bin", "another");
        } else {
            desk.put("directory/reel", "a file");
        }
        let before = desk.read("A/events.jsonl");
        let refused = recall(to, "reel/1.bin");
        assert_eq!(refused.code, 3, "{to}: {}", refused.err);
        assert_eq!(desk.read("A/events.jsonl"), before, "{to}");
        let failed = &refused.json()["failed"][0];
        assert_eq!(failed["path"], "reel/1.bin");
        let why = failed["why"].as_str().expect("a reason");
        assert!(why.contains(in_the_way), "{why}");
    }
    // Beside a file that came it is a part.
    assert_eq!(recall("file", "reel").code, 7);
}

#[test]
fn where_no_drive_can_be_had_the_document_names_each_file_and_why() {
    let desk = desk();
    make_files(&desk, "reel", 2);
    desk.done("store --archive A --quiet reel");
    empty_cache(&desk);
    let settings = desk.read("A/archive.toml");
    desk.put(
        "A/archive.toml",
        settings.replace("emulated:lib#", "emulated:gone#"),
    );
    let failed = desk.run("recall --archive A --quiet --json --to out reel/1.bin");
    // The request was in the catalogue, so it is not 2.
    assert_eq!(failed.code, 1, "{}", failed.err);
    let told = failed.json();
    assert_eq!(
        (&told["withdrawn"], &told["failed"][0]["path"]),
        (&1.into(), &"reel/1.bin".into())
    );
    let why = told["failed"][0]["why"].as_str().expect("a reason");
    assert!(why.contains("gone") && failed.err.contains(why), "{why}");
}

#[test]
fn an_empty_list_from_a_pipe_is_a_mistake_and_one_from_a_file_is_not() {
    let desk = desk();
    desk.put("list.txt", "");
    let piped = desk.run_with("", "recall --archive A --to out");
    assert_eq!(piped.code, 2, "{}", piped.err);
    assert!(
        piped.err.contains("standard input has no names"),
        "{}",
        piped.err
    );
    desk.done("recall --archive A --to out --files-from list.txt");
}
