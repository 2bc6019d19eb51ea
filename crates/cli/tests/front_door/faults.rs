//! What goes wrong under an archive: each ends in a state that a person can read and go on from. The exit
//! code is the documented one, the message says what and what to do, nothing that was acknowledged is
//! lost, and the next run finishes.

use crate::archive::{empty_cache, make_files_of, recall_and_compare, same};
use crate::program::{Desk, Ran};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tapewise_model::Random;

/// A desk with a library of two drives and four cartridges of 12 TB, a byte on them standing for
/// `scale`, and an archive that it serves.
fn desk(scale: u64) -> Desk {
    let desk = Desk::new();
    desk.done(&format!(
        "emulate lib --robot ibm3584 --drives 2 --slots 8 --cartridges 4 --scale {scale}"
    ));
    desk.done(
        "catalog init A --drive emulated:lib#drive0 --drive emulated:lib#drive1 --changer emulated:lib#changer \
         --profile lto8 --block-size 8192 --segment-size 262144 --cache-gb 0.1",
    );
    desk
}

/// Small enough for any of the faults' files.
const ROOMY: u64 = 100_000;

/// Sets values of a file of settings: what goes wrong from now on, say.
fn set(desk: &Desk, file: &str, values: &[(&str, &str)]) {
    let mut text = desk.read(file);
    for (key, value) in values {
        let head = format!("{key} = ");
        assert!(
            text.lines().any(|line| line.starts_with(&head)),
            "{key} is not in {file}"
        );
        let line = |line: &str| {
            if line.starts_with(&head) {
                format!("{head}{value}\n")
            } else {
                format!("{line}\n")
            }
        };
        text = text.lines().map(line).collect();
    }
    desk.put(file, text);
}

fn says(ran: &Ran, words: &[&str]) {
    for word in words {
        assert!(ran.err.contains(word), "{word:?} not in\n{}", ran.err);
    }
}

/// All files are on tape, and come back from there.
fn all_is_on_tape(desk: &Desk, files: &BTreeMap<String, Vec<u8>>) {
    empty_cache(desk);
    recall_and_compare(desk, files, "out");
    desk.done("catalog check --archive A");
}

/// A small disk of its own, taken away at the end.
struct Disk<'a>(&'a Path);

impl<'a> Disk<'a> {
    /// One of two megabytes at a path, or the reason why not: only root may, and not everywhere.
    fn mount(at: &'a Path) -> Result<Disk<'a>, String> {
        std::fs::create_dir_all(at).map_err(|error| error.to_string())?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"]);
        let done = mount.arg(at).output().map_err(|error| error.to_string())?;
        if done.status.success() {
            Ok(Disk(at))
        } else {
            Err(String::from_utf8_lossy(&done.stderr).into_owned())
        }
    }

    /// With these options from now on, "ro" or "size=20m".
    fn remount(&self, options: &str) {
        let mut mount = Command::new("mount");
        mount.arg("-o").arg(format!("remount,{options}"));
        assert!(mount.arg(self.0).status().expect("mount").success());
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// Says past the capture of the test harness that a test is skipped.
fn skip(test: &str, why: &str) {
    use std::io::Write;
    let line = format!("\nSKIPPED: {test}: {}\n", why.trim());
    let _ = std::io::stderr().write_all(line.as_bytes());
}

#[test]
fn when_the_cache_s_disk_is_full_what_fitted_is_safe_and_the_rest_comes_as_tapes_make_room() {
    let desk = desk(ROOMY);
    let cache = desk.path().join("A/cache");
    let _disk = match Disk::mount(&cache) {
        Ok(disk) => disk,
        Err(why) => return skip("a full disk under the cache", &why),
    };
    let first = make_files_of(&desk, "first", 10, 60_000);
    desk.done("store --archive A first --later");
    let second = make_files_of(&desk, "second", 40, 200_000);
    let full = desk.run("store --archive A second --later");
    assert_eq!(full.code, 1, "{}", full.err);
    says(
        &full,
        &[
            "the cache is full",
            "its disk has ",
            "hint: ",
            "make room, then the same command goes on",
        ],
    );
    desk.done("store --archive A second");
    let files: BTreeMap<_, _> = first.into_iter().chain(second).collect();
    all_is_on_tape(&desk, &files);
}

/// Others fill the disk to its last byte.
fn fill(directory: &Path) {
    use std::io::Write;
    let mut file = std::fs::File::create(directory.join("others")).expect("a file");
    let block = [7; 4096];
    while file.write_all(&block).is_ok() {}
    let _ = file.sync_all();
}

#[test]
fn on_a_full_disk_files_are_found_go_to_tape_and_come_back() {
    let desk = desk(ROOMY);
    let at = desk.path().join("disk");
    let disk = match Disk::mount(&at) {
        Ok(disk) => disk,
        Err(why) => return skip("a full disk under the archive", &why),
    };
    disk.remount("size=60m");
    desk.done(
        "catalog init disk/A --drive emulated:lib#drive0 --drive emulated:lib#drive1 --changer emulated:lib#changer \
         --profile lto8 --block-size 8192 --segment-size 262144 --cache-gb 1",
    );
    let files = make_files_of(&desk, "reel", 20, 60_000);
    desk.done("store --archive disk/A reel --later");
    assert!(desk.path().join("disk/A/reserve").exists(), "room is kept");
    fill(&at);
    let found = desk.done("catalog find --archive disk/A");
    assert_eq!(found.lines().len(), 20);
    desk.done("catalog check --archive disk/A");
    let more = make_files_of(&desk, "more", 5, 60_000);
    let full = desk.run("store --archive disk/A more --later");
    assert_eq!(full.code, 1, "{}", full.err);
    says(
        &full,
        &[
            "the disk of disk/A is full: tapewise gave up the room it keeps for the catalogue",
            "the cache is full",
            "beside what is kept for the catalogue",
        ],
    );
    // The first of the five is empty, and finds room anywhere.
    let stored = desk.done("store --archive disk/A");
    assert!(
        stored.text().contains("21 files complete"),
        "{}",
        stored.text()
    );
    desk.done("catalog find --archive disk/A");
    // Room again: the reserve is taken anew, and what did not fit is stored.
    std::fs::remove_file(at.join("others")).expect("removed");
    desk.done("store --archive disk/A more");
    assert!(
        desk.path().join("disk/A/reserve").exists(),
        "room is kept again"
    );
    let names: Vec<&str> = files
        .keys()
        .chain(more.keys())
        .map(String::as_str)
        .collect();
    desk.put("list.txt", names.join("\n"));
    desk.done("recall --archive disk/A --to out --files-from list.txt");
    same(&desk, &files, "out");
    same(&desk, &more, "out");
}

#[test]
fn a_cache_that_cannot_be_written_is_no_other_process_and_nothing_is_lost() {
    let desk = desk(ROOMY);
    let cache = desk.path().join("A/cache");
    let disk = match Disk::mount(&cache) {
        Ok(disk) => disk,
        Err(why) => return skip("a read-only cache", &why),
    };
    let files = make_files_of(&desk, "reel", 10, 60_000);
    desk.done("store --archive A reel --later");
    disk.remount("ro");
    let refused = desk.run("store --archive A");
    assert_eq!(refused.code, 1, "{}", refused.err);
    says(&refused, &["A/cache: ", "Read-only file system"]);
    assert!(!refused.err.contains("another tapewise"), "{}", refused.err);
    disk.remount("rw");
    desk.done("store --archive A");
    all_is_on_tape(&desk, &files);
}

#[test]
fn when_the_destination_is_full_what_arrived_is_whole_and_with_room_the_same_command_goes_on() {
    let desk = desk(ROOMY);
    let files = make_files_of(&desk, "reel", 40, 200_000);
    desk.done("store --archive A reel");
    empty_cache(&desk);
    let to = desk.path().join("out");
    let disk = match Disk::mount(&to) {
        Ok(disk) => disk,
        Err(why) => return skip("a full destination", &why),
    };
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    desk.put("list.txt", names.join("\n"));
    let recall = "recall --archive A --to out --files-from list.txt";
    let full = desk.run(recall);
    assert_eq!(full.code, 1, "{}", full.err);
    says(
        &full,
        &[
            "No space left on device",
            "the same command recalls the rest",
        ],
    );
    let arrived: BTreeMap<_, _> = files
        .iter()
        .filter(|(name, _)| to.join(name).exists())
        .map(|(name, contents)| (name.clone(), contents.clone()))
        .collect();
    assert!(!arrived.is_empty() && arrived.len() < files.len());
    same(&desk, &arrived, "out");
    disk.remount("size=20m");
    desk.done(recall);
    same(&desk, &files, "out");
}

#[test]
fn more_than_the_cache_holds_is_stored_in_portions_and_a_file_longer_than_it_is_refused() {
    let desk = desk(ROOMY);
    let water = [
        ("cache_high_bytes", "1000000"),
        ("cache_low_bytes", "500000"),
    ];
    set(&desk, "A/archive.toml", &water);
    let files = make_files_of(&desk, "reel", 60, 100_000);
    let bytes: usize = files.values().map(Vec::len).sum();
    assert!(
        bytes > 2_000_000,
        "{bytes} bytes are to be too much at once"
    );
    let later = desk.run("store --archive A reel --later");
    assert_eq!(later.code, 1, "{}", later.err);
    says(
        &later,
        &["the cache is full", "files before it were acknowledged"],
    );
    let stored = desk.done("store --archive A reel");
    assert!(stored.text().contains("known "), "{}", stored.text());
    all_is_on_tape(&desk, &files);

    desk.put("long.bin", vec![7; 1_000_001]);
    let long = desk.run("store --archive A long.bin");
    assert_eq!(long.code, 2, "{}", long.err);
    says(
        &long,
        &[
            "long.bin: a file of 1000001 bytes never fits",
            "cache_high_bytes in archive.toml",
        ],
    );
}

#[test]
fn a_file_that_is_refused_while_room_is_made_is_in_the_exit_code() {
    let desk = desk(ROOMY);
    desk.put("old.bin", vec![7; 20_000]);
    desk.done("store --archive A old.bin --later");
    let water = [
        ("cache_high_bytes", "1000000"),
        ("cache_low_bytes", "500000"),
    ];
    set(&desk, "A/archive.toml", &water);
    // After all is stored nothing is due for a month.
    let settings = desk.read("A/archive.toml");
    let tier = "[[tier]]\nname = \"deep\"\nvolumes = \"*\"\nafter_days = 30\n";
    desk.put("A/archive.toml", settings + tier);
    let cached = kept(&desk.path().join("A/cache"), 20_000);
    std::fs::write(&cached, vec![8; 20_000]).expect("damaged");
    make_files_of(&desk, "reel", 40, 100_000);
    let stored = desk.run("store --archive A reel");
    assert_eq!(stored.code, 7, "{}\n{}", stored.text(), stored.err);
    says(&stored, &["stays in the cache"]);
}

/// The only file of this length below a directory.
fn kept(directory: &Path, bytes: u64) -> PathBuf {
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(next).expect("a directory") {
            let path = entry.expect("an entry").path();
            let about = std::fs::metadata(&path).expect("there");
            match about.is_dir() {
                true => left.push(path),
                false if about.len() == bytes => return path,
                false => {}
            }
        }
    }
    panic!("no file of {bytes} bytes")
}

#[test]
fn files_go_on_to_the_next_cartridge_when_one_is_full_and_wait_when_none_is_left() {
    // Each holds 2.4 MB.
    let desk = desk(5_000_000);
    set(&desk, "A/archive.toml", &[("part_bytes", "400000")]);
    let mut files = make_files_of(&desk, "reel", 30, 100_000);
    // Longer than any part, and than a volume: its parts lie on several.
    let mut random = Random::new(7, 7);
    let long: Vec<u8> = (0..3_000_000).map(|_| random.below(256) as u8).collect();
    desk.put("long.bin", &long);
    files.insert("long.bin".to_owned(), long);
    desk.done("store --archive A reel long.bin");
    let found = desk.done("catalog find --archive A long.bin");
    assert!(found.text().contains("TW0001 TW0002"), "{}", found.text());
    all_is_on_tape(&desk, &files);

    let more = make_files_of(&desk, "more", 80, 200_000);
    let full = desk.run("store --archive A more");
    assert_eq!(full.code, 7, "{}", full.err);
    says(&full, &["lack copies", "Add cartridges, then start again"]);
    assert!(full.text().contains("80 files in the cache, acknowledged"));
    let volumes = desk.done("catalog volumes --archive A");
    assert!(volumes.text().contains(" full "), "{}", volumes.text());
    recall_and_compare(&desk, &more, "more-out");
}

#[test]
fn a_medium_that_cannot_be_written_is_left_and_the_next_volume_takes_the_files() {
    let desk = desk(ROOMY);
    set(&desk, "lib/library.toml", &[("bad_write", "0.0001")]);
    let files = make_files_of(&desk, "reel", 100, 500_000);
    let stored = desk.done("store --archive A reel");
    says(&stored, &["takes no more", "medium error: write error"]);
    let volumes = desk.done("catalog volumes --archive A");
    assert!(volumes.text().contains("suspect"), "{}", volumes.text());
    all_is_on_tape(&desk, &files);
}

#[test]
fn a_medium_that_cannot_be_read_costs_the_files_on_it_unless_they_have_another_copy() {
    let desk = desk(ROOMY);
    let files = make_files_of(&desk, "reel", 100, 500_000);
    desk.done("store --archive A reel --copies 2");
    empty_cache(&desk);
    set(&desk, "lib/library.toml", &[("bad_block", "0.0001")]);
    let verified = desk.run("catalog verify --archive A TW0001");
    assert_eq!(verified.code, 8, "{}", verified.err);
    says(&verified, &["unrecovered read error"]);
    // Every file has a copy without a bad block, here.
    recall_and_compare(&desk, &files, "out");
    // Bad copies are known now, and stored anew they are whole on another volume.
    set(&desk, "lib/library.toml", &[("bad_block", "0.0")]);
    desk.done("store --archive A reel");
    all_is_on_tape(&desk, &files);
}

#[test]
fn a_cartridge_that_the_robot_dropped_is_said_with_its_place_and_another_is_taken() {
    let desk = desk(ROOMY);
    let files = make_files_of(&desk, "reel", 20, 100_000);
    let faults = [("robot_error", "0.3"), ("dropped", "1.0"), ("seed", "4")];
    set_faults(&desk, &faults);
    let stored = desk.run("store --archive A reel");
    assert_eq!(stored.code, 0, "{}", stored.err);
    assert!(
        stored
            .text()
            .contains("20 files in the cache, acknowledged")
    );
    says(
        &stored,
        &[
            "is missing: last seen in slot",
            "put the cartridge into the station",
        ],
    );
    set_faults(&desk, &[("robot_error", "0.0"), ("seed", "0")]);
    desk.done("store --archive A");
    all_is_on_tape(&desk, &files);
}

/// Sets values below `[faults]`, where `seed` is that of the faults.
fn set_faults(desk: &Desk, values: &[(&str, &str)]) {
    let text = desk.read("lib/library.toml");
    let at = text.find("[faults]").expect("faults");
    desk.put("faults.toml", &text[at..]);
    set(desk, "faults.toml", values);
    let faults = desk.read("faults.toml");
    desk.put("lib/library.toml", format!("{}{faults}", &text[..at]));
}

#[test]
fn a_drive_that_fails_in_the_middle_is_set_aside_and_the_other_one_goes_on() {
    let desk = desk(ROOMY);
    let files = make_files_of(&desk, "reel", 60, 100_000);
    let broken = "[{ drive = 0, after_commands = 100 }]";
    set(&desk, "lib/library.toml", &[("broken_drives", broken)]);
    let stored = desk.done("store --archive A reel");
    says(
        &stored,
        &["is set aside", "hardware error: internal target failure"],
    );
    assert!(
        stored.text().contains("on tape    60 files complete"),
        "{}",
        stored.text()
    );
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
}

#[test]
fn a_drive_that_is_reset_in_the_middle_writes_on_after_its_label_was_read_again() {
    let desk = desk(ROOMY);
    let files = make_files_of(&desk, "reel", 60, 100_000);
    set(&desk, "lib/library.toml", &[("reset", "0.01")]);
    desk.done("store --archive A reel");
    set(&desk, "lib/library.toml", &[("reset", "0.0")]);
    all_is_on_tape(&desk, &files);
}
