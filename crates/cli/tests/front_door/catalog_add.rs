//! `catalog add`, and `recall --archive` from what it added: an LTFS volume by its index, a tar tape by
//! reading it, any tape by a list.

use crate::archive;
use crate::drives::until_free;
use crate::program::{Desk, fixture};
use tapewise_archive::catalogue::Volumes;
use tapewise_archive::sums::{Kind, Sum};
use tapewise_emulator::{Clock, Library, LibrarySpec};
use tapewise_formats::event::Event;
use tapewise_house::ltfs_tape;
use tapewise_library::pool::Pool;
use tapewise_scsi::{Changer, TapeDrive};

/// Writes on a cartridge of the library as others would.
fn on_cartridge(pool: &mut Pool, label: &str, write: impl FnOnce(&mut TapeDrive)) {
    let mut events: Vec<Event> = Vec::new();
    let drive = pool.mount(label, &mut events).expect("mounted");
    write(pool.drive(drive));
    pool.dismount(drive, &mut events).expect("dismounted");
}

/// An archive of one file.
fn tar(name: &str, contents: &[u8]) -> Vec<u8> {
    let mut header = [0; 512];
    let mut put = |at: usize, text: &str| {
        header[at..at + text.len()].copy_from_slice(text.as_bytes());
    };
    put(0, name);
    put(100, "0000644\0");
    put(124, &format!("{:011o}\0", contents.len()));
    put(136, "07346545000\0");
    put(148, "        0");
    put(257, "ustar\x0000");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let mut archive = [&header, contents].concat();
    archive.resize(archive.len().next_multiple_of(512) + 1024, 0);
    archive
}

#[test]
fn cartridges_of_others_are_added_and_their_files_recalled() {
    let desk = Desk::new();
    let spec = LibrarySpec::with_robot("ibm3584", "lto8", 1, 8, 2, 7);
    let path = desk.path().join("lib");
    let library = Library::create(&path, &spec, Clock::virtual_time()).expect("a library");
    let drive = library.transport_to_drive(0).expect("a drive");
    let robot = library.transport_to_changer().expect("a robot");
    let drives = vec![TapeDrive::open(Box::new(drive)).expect("a drive")];
    let robots = vec![Changer::open(Box::new(robot)).expect("a robot")];
    let mut pool = Pool::new(drives, robots, None, Box::new(|_| {})).expect("a pool");
    on_cartridge(&mut pool, "TW0001", ltfs_tape::write_real_volume);
    on_cartridge(&mut pool, "TW0002", |drive| {
        for block in tar("reel/1.txt", b"films").chunks(700) {
            drive.write(block).expect("written");
        }
        drive.write_filemarks(1, false).expect("written");
    });
    drop((pool, library));
    until_free(&desk);
    desk.done(
        "catalog init A --drive emulated:lib#drive0 --changer emulated:lib#changer --profile lto8",
    );
    let index = std::fs::read(ltfs_tape::fixture("TST001-20files.xml")).expect("the fixture");
    desk.put("TW0001.xml", index);
    let added = desk.done("catalog add --archive A TW0001.xml --tape TW0002");
    assert!(
        added.text().contains("TW0001: 19 files added"),
        "{}",
        added.text()
    );
    assert!(
        added.text().contains("TW0002: 1 file added"),
        "{}",
        added.text()
    );
    let list = "TW0001/docs/a/hello.txt\nTW0002/reel/1.txt\nTW0001/sp ace/größe 2.dat\n";
    let recalled = desk.run_with(list, "recall --archive A --to out");
    assert_eq!(recalled.code, 0, "{}", recalled.err);
    assert!(
        recalled.text().contains("delivered  3 files"),
        "{}",
        recalled.text()
    );
    for label in ["TW0001", "TW0002"] {
        let said = format!("{label}: positions: the drive's table of wrap ends");
        assert!(recalled.err.contains(&said), "{}", recalled.err);
    }
    assert_eq!(desk.read("out/TW0002/reel/1.txt"), "films");
    let published = std::fs::read_to_string(ltfs_tape::fixture("TST001.sha256"));
    let published = published.expect("the fixture");
    for name in ["docs/a/hello.txt", "sp ace/größe 2.dat"] {
        let bytes = std::fs::read(desk.path().join("out/TW0001").join(name)).expect("delivered");
        let line = format!("{}  ./{name}", Sum::of(Kind::Sha256, &bytes).hex());
        assert!(published.lines().any(|known| known == line), "{name}");
    }
}

#[test]
fn cartridges_that_are_only_listed_are_found_by_their_barcodes() {
    let desk = archive::desk();
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
    // One that is refused holds back those before it.
    desk.put("OLD000L4.csv", "path,start_block,block_count\na.mov,5,1\n");
    for more in ["old.csv", "OLD000L4.csv", "--tape OLD001L4"] {
        desk.refused(
            &format!("catalog add --archive A --block-size 65536 OLD000L4.csv {more}"),
            &["in the catalogue"],
        );
    }
    let found = desk.run("catalog find --archive A OLD000L4/*");
    assert!(!found.text().contains("a.mov"), "{}", found.text());
}

#[test]
fn the_pieces_of_a_file_are_put_in_the_order_of_the_file() {
    let desk = archive::desk();
    desk.put(
        "OLD001L4.csv",
        "id,start_block,block_count,size_bytes,file_offset\n\
         turned,5,1,300,65536\nholed,6,1,,\nturned,20,1,,\nholed,30,1,,65537\n",
    );
    let added = desk.done("catalog add --archive A --block-size 65536 OLD001L4.csv");
    assert_eq!(added.text(), "OLD001L4: 1 file added, 1 left out\n");
    let why = "holed: left out: a piece begins at byte 65537 of the file where byte 65536 is next";
    assert!(added.err.contains(why), "{}", added.err);
    let catalogue = archive::catalogue(&desk);
    let (volume, _) = catalogue
        .find_volume("OLD001L4")
        .expect("read")
        .expect("there");
    let contents = catalogue.contents(volume).expect("contents");
    let places = contents
        .iter()
        .map(|on| (on.segment.first_block, on.segment.file_offset));
    assert_eq!(places.collect::<Vec<_>>(), [(5, 65_536), (20, 0)]);
}
