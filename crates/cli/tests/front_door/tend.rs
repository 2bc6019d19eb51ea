//! An archive that is tended: its settings, what is due in it, what is compressed for it.

use crate::archive;
use crate::program::Desk;

/// A desk with an archive, and reels that it knows nothing of.
fn desk() -> Desk {
    let desk = archive::desk();
    for number in 0..6 {
        let line = format!("frame {number} of the only copy of a film\n");
        desk.put(&format!("reel-{number}.txt"), line.repeat(300));
    }
    desk
}

const REELS: &str = "reel-0.txt reel-1.txt reel-2.txt reel-3.txt reel-4.txt reel-5.txt";

/// Adds to `archive.toml`.
fn set(desk: &Desk, more: &str) {
    let settings = desk.read("A/archive.toml");
    desk.put("A/archive.toml", format!("{settings}{more}"));
}

#[test]
fn a_setting_that_no_archive_can_work_with_is_named() {
    let desk = desk();
    let settings = desk.read("A/archive.toml");
    for (from, to, words) in [
        ("part_bytes = ", "part_bytes = 0 # ", "`part_bytes` is 0"),
        ("copies = ", "copies = 0 # ", "`copies` is 0"),
        (
            "block_bytes = ",
            "block_bytes = 8000 # ",
            "`block_bytes` is 8000",
        ),
        ("profile = ", "profile = \"lto99\" # ", "`profile`"),
        (
            "profile = ",
            "profile = \"ts1160\" # ",
            "requests cannot be placed on the tape",
        ),
        ("drives = ", "drive = ", "drive"),
    ] {
        desk.put("A/archive.toml", settings.replace(from, to));
        desk.refused("catalog volumes --archive A", &["archive.toml", words]);
    }
}

#[test]
fn what_is_due_is_said_before_it_is_moved() {
    let desk = desk();
    desk.done(&format!("store --archive A --quiet --later {REELS}"));
    let due = desk.done("catalog migrate --archive A --dry-run");
    assert!(
        due.text().starts_with("cache -> tape: 6 files, "),
        "{}",
        due.text()
    );
    let moved = desk.done("catalog migrate --archive A --quiet");
    assert!(
        moved.text().contains("on tape    6 files complete"),
        "{}",
        moved.text()
    );
    let tiers = "[[tier]]\nname = \"quick\"\nvolumes = \"TW0001*\"\nafter_days = 0\n\
                 [[tier]]\nname = \"deep\"\nvolumes = \"TW000[2-4]*\"\nafter_days = 1\n";
    set(&desk, tiers);
    let nothing = desk.done("catalog migrate --archive A --dry-run");
    assert_eq!(nothing.text(), "nothing is due\n");
    let settings = desk.read("A/archive.toml");
    desk.put("A/archive.toml", settings.replace("\"deep\"", "\"quick\""));
    desk.refused(
        "catalog migrate --archive A",
        &["archive.toml", "`tier.name` is quick"],
    );
}

#[test]
fn what_was_compressed_says_by_how_much_and_is_recalled_and_verified() {
    let desk = desk();
    let stored = desk.done(&format!("store --archive A --quiet --precompress {REELS}"));
    assert!(
        stored.text().contains("compressed 6 copies from "),
        "{}",
        stored.text()
    );
    desk.done_with(
        REELS.replace(' ', "\n"),
        "recall --archive A --to back --quiet",
    );
    assert_eq!(desk.read("back/reel-3.txt"), desk.read("reel-3.txt"));
    let volumes = desk.done("catalog volumes --archive A");
    let label = volumes
        .text()
        .split_whitespace()
        .find(|word| word.starts_with("TW0"));
    let label = label.expect("a volume").to_owned();
    let verified = desk.done(&format!("catalog verify --archive A --quiet {label}"));
    assert!(
        verified.text().contains("6 copies right"),
        "{}",
        verified.text()
    );
}

#[test]
fn a_volume_that_is_in_no_library_keeps_no_other_one_from_being_scrubbed() {
    let desk = desk();
    desk.done(&format!("store --archive A --quiet {REELS}"));
    desk.put(
        "shelf.csv",
        "volume,path,size_bytes,start_block\nA00001L8,old,1000,4\n",
    );
    desk.done("catalog add --archive A shelf.csv --block-size 262144");
    for command in [
        "scrub --archive A --hours 99",
        "verify --archive A A00001L8 TW0001",
    ] {
        let read = desk.run(&format!("catalog {command} --quiet"));
        assert_eq!(read.code, 7, "{command}: {}", read.err);
        assert!(
            read.text().contains("TW0001: 6 copies right"),
            "{}",
            read.text()
        );
        assert!(read.err.contains("A00001L8: not verified"), "{}", read.err);
    }
    let alone = desk.run("catalog verify --archive A --quiet A00001L8");
    assert!(
        alone.code != 0 && alone.code != 7,
        "{}: {}",
        alone.code,
        alone.err
    );
}
