//! `catalog add`, and `recall --archive` from what it added: an LTFS volume by its index, a tar tape by
//! reading it.

use crate::drives::until_free;
use crate::program::Desk;
use crate::recall_ltfs::ltfs_tape;
use tapewise_archive::pool::Pool;
use tapewise_archive::sums::{Kind, Sum};
use tapewise_emulator::{Clock, Library, LibrarySpec};
use tapewise_formats::event::Event;
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
