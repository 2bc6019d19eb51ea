//! Archives that are tended: settings that are wrong, tiers, compression, cartridges that are only listed.

use crate::program::{Desk, fixture};

/// A desk with a library of two drives and four cartridges, and an archive that it serves.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 2 --slots 8 --cartridges 4 --scale 100000");
    desk.done(
        "catalog init A --drive emulated:lib#drive0 --drive emulated:lib#drive1 --changer emulated:lib#changer \
         --profile lto8 --block-size 8192 --segment-size 32768 --cache-gb 0.1",
    );
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
        stored.text().contains("compressed 6 files from "),
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
fn cartridges_that_are_only_listed_are_found_by_their_barcodes() {
    let desk = desk();
    for (label, index) in [
        ("A00012L6", "ltfs/TST001-20files.xml"),
        ("A00013L6", "ltfs/lto8-36files.xml"),
    ] {
        let index = std::fs::read(fixture(index)).expect("an index");
        desk.put(&format!("{label}.xml"), index);
    }
    let added = desk.done("catalog add --archive A A00012L6.xml A00013L6.xml");
    assert_eq!(added.lines().len(), 2, "{}", added.text());
    for label in ["A00012L6", "A00013L6"] {
        let found = desk.done(&format!("catalog find --archive A {label}/"));
        assert!(found.lines().len() > 10, "{}", found.text());
        let on_it = |line: &&str| line.ends_with(&format!("\t{label}"));
        // Empty files lie on no tape.
        let elsewhere = found.lines().into_iter().filter(|line| !on_it(line));
        let elsewhere: Vec<&str> = elsewhere.filter(|line| !line.contains("\t0 B\t")).collect();
        assert_eq!(elsewhere, Vec::<&str>::new());
    }
    desk.put(
        "old.csv",
        "volume,path,start_block,block_count,size_bytes\n\
         OLD001L4,reels/one.mov,5,10,\nOLD001L4,reels/two.mov,20,3,150000\nOLD002L4,/reels/three.mov,5,1,\n",
    );
    desk.refused(
        "catalog add --archive A old.csv",
        &["old.csv", "--block-size"],
    );
    let added = desk.done("catalog add --archive A --block-size 65536 old.csv");
    assert_eq!(
        added.text(),
        "OLD001L4: 2 files added, 0 left out\nOLD002L4: 1 file added, 0 left out\n"
    );
    let found = desk.done("catalog find --archive A *reels/*");
    let lines: Vec<Vec<&str>> = found
        .lines()
        .iter()
        .map(|line| line.split('\t').collect())
        .collect();
    let places: Vec<(&str, &str)> = lines.iter().map(|line| (line[0], line[2])).collect();
    assert_eq!(
        places,
        [
            ("OLD001L4/reels/one.mov", "OLD001L4"),
            ("OLD001L4/reels/two.mov", "OLD001L4"),
            ("OLD002L4/reels/three.mov", "OLD002L4"),
        ]
    );
    desk.refused(
        "catalog add --archive A --block-size 65536 old.csv",
        &["OLD001L4", "in the catalogue"],
    );
}
