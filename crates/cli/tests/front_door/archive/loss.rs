//! What an archive meets in life: a restored snapshot, a lost catalogue, a wrong read, worn cartridges. Nothing
//! that was acknowledged is lost.

use super::{catalogue, desk, empty_cache, init, make_files, recall_and_compare, same};
use crate::program::Desk;
use tapewise_archive::catalogue::{CopyState, Files, SqliteCatalogue, Volumes};
use tapewise_archive::sums::{Kind, Sum};

pub fn copy(desk: &Desk, from: &str, to: &str) {
    let copied = std::process::Command::new("cp")
        .args(["-a", from, to])
        .current_dir(desk.path())
        .status();
    assert!(copied.expect("cp").success());
}

pub fn remove(desk: &Desk, name: &str) {
    std::fs::remove_dir_all(desk.path().join(name)).expect("removed");
}

/// Everything that an archive has comes back and is as it was.
fn assert_comes_back(desk: &Desk, archive: &str, names: &str, to: &str) {
    desk.put("names.txt", names);
    desk.done(&format!(
        "recall --archive {archive} --to {to} --files-from names.txt --quiet"
    ));
}

#[test]
fn a_restored_snapshot_writes_over_nothing_and_reads_in_what_is_there() {
    let desk = desk();
    let mut files = make_files(&desk, "before", 4);
    desk.done("store --archive A --quiet before");
    copy(&desk, "A", "snapshot");
    files.extend(make_files(&desk, "since", 6));
    desk.done("store --archive A --quiet since");
    remove(&desk, "A");
    copy(&desk, "snapshot", "A");

    files.extend(make_files(&desk, "later", 4));
    let refused = desk.run("store --archive A --quiet later");
    assert_eq!(refused.code, 3, "{}", refused.err);
    for words in [
        "TW0001",
        "the tape holds more than the catalogue knows",
        "catalog add",
        "nothing was written",
    ] {
        assert!(
            refused.err.contains(words),
            "{words:?} not in {}",
            refused.err
        );
    }
    let read_in = desk.done("catalog add --archive A --quiet --tape TW0001");
    let said = "TW0001: 6 files added, 0 left out, 4 known before\n";
    assert_eq!(read_in.text(), said);
    desk.done("store --archive A --quiet");
    desk.done("catalog check --archive A");
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
}

#[test]
fn what_one_kill_can_leave_is_written_over() {
    let desk = desk();
    let mut files = make_files(&desk, "before", 4);
    desk.done("store --archive A --quiet before");
    files.extend(make_files(&desk, "waiting", 5));
    desk.done("store --archive A --quiet --later waiting");
    copy(&desk, "A", "killed");
    desk.done("store --archive A --quiet");
    // Killed between the filemark and the commit: the segment is closed, its files are in the cache.
    remove(&desk, "A");
    copy(&desk, "killed", "A");
    desk.done("store --archive A --quiet");
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
    desk.done("catalog check --archive A");
}

#[test]
fn of_two_versions_the_later_one_counts_in_whatever_order_cartridges_are_read_in() {
    let desk = desk();
    desk.put("film.txt", "the first cut, which is older and longer");
    desk.done("store --archive A --quiet --copies 2 film.txt");
    desk.done("catalog retire --archive A TW0001 TW0002");
    desk.put("film.txt", "the second cut");
    // Not the time of its contents, the time of storing decides.
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    let file = std::fs::File::options()
        .write(true)
        .open(desk.path().join("film.txt"));
    file.expect("there").set_modified(old).expect("set");
    // One copy: nothing read later puts right what the order of reading made wrong.
    desk.done("store --archive A --quiet --copies 1 --replace film.txt");
    for (archive, order) in [
        ("B", ["TW0001", "TW0002", "TW0003"]),
        ("C", ["TW0003", "TW0001", "TW0002"]),
        ("D", ["TW0001", "TW0003", "TW0002"]),
    ] {
        init(&desk, archive);
        for label in order {
            desk.done(&format!(
                "catalog add --archive {archive} --quiet --tape {label}"
            ));
        }
        assert_comes_back(&desk, archive, "film.txt", &format!("out-{archive}"));
        assert_eq!(
            desk.read(&format!("out-{archive}/film.txt")),
            "the second cut"
        );
        desk.done(&format!("catalog check --archive {archive}"));
        let known = SqliteCatalogue::open(&desk.path().join(archive).join("catalogue.db"));
        let known = known.expect("a catalogue");
        let versions = known.versions(b"film.txt").expect("read");
        assert_eq!(versions.len(), 2, "the older version is kept");
        let copies = |version| {
            let entry = known.file(version).expect("a file");
            (entry.copies.len(), entry.copies_wanted)
        };
        let mut copies: Vec<_> = versions.into_iter().map(copies).collect();
        copies.sort_unstable();
        assert_eq!(
            copies,
            [(1, 1), (2, 2)],
            "the tape says how many were wanted"
        );
    }
}

#[test]
fn a_lost_catalogue_is_made_again_with_files_that_span_cartridges() {
    let desk = desk();
    let settings = desk.read("A/archive.toml");
    let parts = settings.replace("part_bytes = ", "part_bytes = 16384 # ");
    desk.put("A/archive.toml", format!("volume_bytes = 40000\n{parts}"));
    let mut files = make_files(&desk, "small", 4);
    files.extend(super::make_files_of(&desk, "long", 3, 60_000));
    desk.done("store --archive A --quiet small long");
    let known = catalogue(&desk);
    let spans = |path: &&String| {
        let file = known
            .live_file(path.as_bytes())
            .expect("read")
            .expect("a file");
        let entry = known.file(file).expect("a file");
        let mut on: Vec<_> = entry.copies[0]
            .segments
            .iter()
            .map(|(volume, _)| *volume)
            .collect();
        on.dedup();
        on.len() > 1
    };
    assert!(
        files.keys().any(|path| spans(&path)),
        "a file spans cartridges"
    );

    init(&desk, "B");
    let alone = desk.run("catalog add --archive B --quiet --tape TW0001");
    assert_eq!(alone.code, 7, "{}", alone.err);
    assert!(
        alone
            .err
            .contains("the other parts are on no cartridge that was read"),
        "{}",
        alone.err
    );
    let rebuilt = desk.done("catalog rebuild --archive B --quiet");
    assert!(
        rebuilt.text().contains("passed over: it is blank"),
        "{}",
        rebuilt.text()
    );
    desk.done("catalog check --archive B");
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    assert_comes_back(&desk, "B", &names.join("\n"), "out");
    same(&desk, &files, "out");
    // It goes on where the tape ends.
    let more = make_files(&desk, "more", 4);
    desk.done("store --archive B --quiet more");
    desk.done("catalog check --archive B");
    let names: Vec<&str> = more.keys().map(String::as_str).collect();
    assert_comes_back(&desk, "B", &names.join("\n"), "out");
    same(&desk, &more, "out");
}

#[test]
fn a_volume_with_the_only_copy_of_a_file_is_forgotten_only_when_the_loss_is_accepted() {
    let desk = desk();
    let files = make_files(&desk, "reel", 4);
    desk.done("store --archive A --quiet reel");
    empty_cache(&desk);
    let refused = desk.run("catalog forget --archive A TW0001");
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("--accept-loss"), "{}", refused.err);
    let forgotten = desk.done("catalog forget --archive A --accept-loss TW0001");
    assert_eq!(
        forgotten.text(),
        "TW0001: forgotten, with 4 copies, 4 files lost\n"
    );
    let added = desk.done("catalog add --archive A --quiet --tape TW0001");
    assert_eq!(added.text(), "TW0001: 4 files added, 0 left out\n");
    recall_and_compare(&desk, &files, "out");
    // Its cartridge is written again when that is asked for.
    empty_cache(&desk);
    let forgotten = desk.done("catalog forget --archive A --accept-loss --reuse TW0001");
    let said = forgotten.text();
    assert!(
        said.ends_with("\nTW0001: its cartridge has a new label\n"),
        "{said}"
    );
    let more = make_files(&desk, "more", 4);
    desk.done("store --archive A --quiet more");
    let read_in = desk.done("catalog add --archive A --quiet --tape TW0001");
    assert_eq!(
        read_in.text(),
        "TW0001: 0 files added, 0 left out, 4 known before\n"
    );
    empty_cache(&desk);
    recall_and_compare(&desk, &more, "out");
}

#[test]
fn a_wrong_sum_of_an_only_copy_is_said_by_the_exit_code_and_verify_takes_a_lost_copy_back() {
    let desk = desk();
    let files = make_files(&desk, "reel", 3);
    desk.done("store --archive A --quiet reel");
    empty_cache(&desk);
    let known = catalogue(&desk);
    let file = known
        .live_file(b"reel/1.bin")
        .expect("read")
        .expect("a file");
    let number = known.file(file).expect("a file").copies[0].number;
    known.mark_lost(file, number, 1).expect("marked");
    let verified = desk.done("catalog verify --archive A --quiet TW0001");
    assert!(
        verified.text().contains("1 of them had counted as lost"),
        "{}",
        verified.text()
    );
    recall_and_compare(&desk, &files, "out");
    // A sum that somebody said of it, and that is another file's.
    empty_cache(&desk);
    let wrong = Sum {
        kind: Kind::Sha256,
        value: vec![7; 32],
    };
    known.add_sums(file, &[wrong]).expect("added");
    let refused = desk.run_with("reel/1.bin\n", "recall --archive A --to other --quiet");
    assert_eq!(refused.code, 8, "{}", refused.err);
}

/// The copies of a file, by the labels of their volumes: whether each is whole.
pub fn copies_of(desk: &Desk, path: &str) -> Vec<(String, bool)> {
    let known = catalogue(desk);
    let file = known.live_file(path.as_bytes()).expect("read");
    let entry = known.file(file.expect("a file")).expect("read");
    let each = entry.copies.iter().map(|copy| {
        let (volume, _) = copy.segments[0];
        let label = known.volume(volume).expect("read").label;
        (label, copy.state == CopyState::Whole)
    });
    each.collect()
}

/// Lets the catalogue say that something else lies where a copy was written.
fn misplace(desk: &Desk, path: &str, label: &str) {
    let known = catalogue(desk);
    let file = known
        .live_file(path.as_bytes())
        .expect("read")
        .expect("a file");
    let (volume, _) = known.find_volume(label).expect("read").expect("a volume");
    let on = known.all_contents(volume).expect("read");
    let on = on.iter().find(|on| on.file == file).expect("a copy");
    let database = rusqlite::Connection::open(desk.path().join("A/catalogue.db"));
    let changed = database.expect("a database").execute(
        "UPDATE segment SET byte_offset = byte_offset + 1 WHERE volume = ?1 AND first_block = ?2 AND byte_offset = ?3",
        (volume.0, on.segment.first_block, on.segment.byte_offset),
    );
    assert_eq!(changed.expect("changed"), 1);
}

#[test]
fn what_was_not_read_for_longest_is_scrubbed_first() {
    let desk = desk();
    make_files(&desk, "reel", 4);
    desk.done("store --archive A --quiet --copies 2 reel");
    let labels = || -> Vec<String> {
        let order = desk.done("catalog scrub --archive A --hours 100 --dry-run");
        let label = |line: &&str| {
            let label = line.split(':').next();
            label.unwrap_or_default().to_owned()
        };
        order.lines().iter().map(label).collect()
    };
    assert_eq!(labels().len(), 2);
    // As if each, in turn, had been read ten days after the other.
    for (read_last, first) in [("TW0001", "TW0002"), ("TW0002", "TW0001")] {
        let known = catalogue(&desk);
        let (volume, _) = known.find_volume(read_last).expect("read").expect("known");
        let now = known.all_contents(volume).expect("read")[0].stored_ns;
        let later = now + 10 * 86_400_000_000_000 * if read_last == "TW0001" { 1 } else { 2 };
        for on in known.all_contents(volume).expect("read") {
            known
                .note_verified(on.file, on.number, later)
                .expect("noted");
        }
        drop(known);
        assert_eq!(labels(), [first, read_last]);
    }
    let scrubbed = desk.done("catalog scrub --archive A --hours 100 --quiet");
    assert_eq!(scrubbed.lines().len(), 2, "{}", scrubbed.text());
    for line in scrubbed.lines() {
        assert!(line.contains("4 copies right"), "{line}");
    }
}

#[test]
fn a_copy_that_is_lost_is_made_again_from_its_sister_by_scrub_and_by_repack() {
    let desk = desk();
    let files = make_files(&desk, "reel", 4);
    desk.done("store --archive A --quiet --copies 2 reel");
    empty_cache(&desk);
    misplace(&desk, "reel/1.bin", "TW0001");
    let scrubbed = desk.run("catalog scrub --archive A --hours 100 --quiet");
    assert_eq!(scrubbed.code, 8, "{}", scrubbed.err);
    let copies = copies_of(&desk, "reel/1.bin");
    assert!(!copies.contains(&("TW0001".to_owned(), true)), "{copies:?}");
    let whole = copies.iter().filter(|(_, is_whole)| *is_whole).count();
    assert_eq!(whole, 2, "{copies:?}");

    // Lost, and never looked at again: repack makes it anew.
    let known = catalogue(&desk);
    let file = known
        .live_file(b"reel/2.bin")
        .expect("read")
        .expect("a file");
    let entry = known.file(file).expect("read");
    let on = |copy: &&tapewise_archive::catalogue::Copy| {
        known.volume(copy.segments[0].0).expect("read").label == "TW0002"
    };
    let number = entry.copies.iter().find(on).expect("a copy").number;
    known.mark_lost(file, number, 1).expect("marked");
    drop(known);
    desk.done("catalog repack --archive A --quiet TW0002");
    let copies = copies_of(&desk, "reel/2.bin");
    let whole = copies.iter().filter(|(_, is_whole)| *is_whole).count();
    assert_eq!(whole, 2, "{copies:?}");
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
}

#[test]
fn an_emptied_cartridge_is_written_again_when_that_is_asked_for() {
    let desk = desk();
    let mut files = make_files(&desk, "reel", 4);
    desk.done("store --archive A --quiet reel");
    let repacked = desk.done("catalog repack --archive A --quiet --reuse TW0001");
    let said = "the volume is removed, and its cartridge has a new label";
    assert!(repacked.text().contains(said), "{}", repacked.text());
    desk.done("catalog retire --archive A TW0002");
    files.extend(make_files(&desk, "more", 4));
    desk.done("store --archive A --quiet more");
    let known = catalogue(&desk);
    let (id, reused) = known
        .find_volume("TW0001")
        .expect("read")
        .expect("known again");
    assert!(!known.contents(id).expect("read").is_empty(), "{reused:?}");
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
    desk.done("catalog check --archive A");
}

#[test]
fn an_archive_of_which_only_the_settings_are_left_is_made_again_from_its_cartridges() {
    let desk = desk();
    let files = make_files(&desk, "reel", 6);
    desk.done("store --archive A --quiet --copies 2 reel");
    let settings = desk.read("A/archive.toml");
    remove(&desk, "A");
    std::fs::create_dir(desk.path().join("A")).expect("made");
    desk.put("A/archive.toml", settings);
    let rebuilt = desk.done("catalog rebuild --archive A --quiet");
    // Whichever cartridge is read first.
    for said in [
        ": 6 files added, 0 left out\n",
        "6 further copies of known files",
    ] {
        assert!(rebuilt.text().contains(said), "{}", rebuilt.text());
    }
    desk.done("catalog check --archive A");
    recall_and_compare(&desk, &files, "out");
}

#[test]
fn a_cartridge_that_somebody_else_loaded_stays_in_its_drive() {
    let desk = desk();
    make_files(&desk, "reel", 3);
    desk.done("library mount emulated:lib TW0004 --drive TWD0000001");
    let is_there = || {
        let status = desk.done("library inventory emulated:lib");
        let mut lines = status.lines().into_iter();
        lines.any(|line| line.contains("TW0004") && line.contains("TWD0000001"))
    };
    assert!(is_there());
    // The other drive does the work, and takes no cartridge that somebody has loaded for a blank.
    desk.done("store --archive A --quiet --copies 2 reel");
    assert!(is_there());
    desk.done("library mount emulated:lib TW0003 --drive TWD0000002");
    make_files(&desk, "more", 3);
    let refused = desk.run("store --archive A --quiet more");
    assert_ne!(refused.code, 0, "{}", refused.err);
    for words in [
        "holds TW0004, which somebody else has loaded",
        "holds TW0003",
    ] {
        assert!(refused.err.contains(words), "{}", refused.err);
    }
    assert!(is_there());
    desk.done("drive unload emulated:lib#drive1");
    desk.done("library dismount emulated:lib TW0003");
    desk.done("store --archive A --quiet");
    assert!(is_there());
    // One that is asked for is used, and goes to its slot.
    let other = desk.run("catalog add --archive A --quiet --tape TW0004");
    assert!(matches!(other.code, 0 | 7), "{}", other.err);
    assert!(!is_there());
}
