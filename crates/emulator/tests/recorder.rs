//! Cartridges that are written on without a drive, and read in one.

use crate::host;

use host::{FILEMARK, Host};
use tapewise_emulator::{Clock, Library, LibraryError, LibrarySpec, made_up};

fn block(seed: u32, number: u64, bytes: usize) -> Vec<u8> {
    let mut block = vec![0; bytes];
    made_up(seed, number, &mut block);
    block
}

#[test]
fn a_drive_reads_what_was_recorded_made_up_or_not_and_writes_after_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lib");
    let spec = LibrarySpec::one_drive("lto8", 9);
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    let mut recorder = library.recorder("TW0001").unwrap();
    let seed = recorder.seed();
    recorder.made_up(0, 300_000).unwrap();
    recorder.block(0, b"as it is").unwrap();
    recorder.made_up(0, 1000).unwrap();
    recorder.filemark(0).unwrap();
    assert_eq!(recorder.end_of_data(0), 4);
    recorder.finish().unwrap();
    library.load_cartridge("TW0001").unwrap();
    let mut host = Host::new(library.transport_to_drive(0).unwrap());
    host.wait_until_ready();
    assert!(host.read(300_000).unwrap() == block(seed, 0, 300_000));
    assert_eq!(host.read(8).unwrap(), b"as it is");
    assert_eq!(host.read(1000).unwrap(), block(seed, 2, 1000));
    assert_eq!(host.read(1000).unwrap_err().flags, FILEMARK);
    host.write(b"after").unwrap();
    host.filemarks(1).unwrap();
    let in_drive = library.recorder("TW0001").map(|_| ());
    assert!(matches!(in_drive, Err(LibraryError::Refused { .. })));
    drop((host, library));
    // What was made up is still there when the library is opened again, and so is what came after it.
    let library = Library::open(&path, Clock::virtual_time()).unwrap();
    let mut host = Host::new(library.transport_to_drive(0).unwrap());
    host.wait_until_ready();
    host.locate(0, 2).unwrap();
    assert_eq!(host.read(1000).unwrap(), block(seed, 2, 1000));
    host.locate(0, 4).unwrap();
    assert_eq!(host.read(5).unwrap(), b"after");
    // Over made-up data a drive writes like over any other.
    host.locate(0, 0).unwrap();
    host.write(b"instead").unwrap();
    host.rewind();
    assert_eq!(host.read(7).unwrap(), b"instead");
    assert_eq!(host.read(7).unwrap_err().code, 0x0005);
}

#[test]
fn made_up_blocks_differ_and_do_not_compress() {
    let one = block(1, 5, 100_000);
    assert!(one != block(1, 6, 100_000) && one != block(2, 5, 100_000));
    assert_eq!(one[..10], block(1, 5, 10)[..], "the beginning of the same");
    let mut counts = [0; 256];
    one.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
    assert!(counts.iter().all(|count| (250..550).contains(count)));
}

#[test]
fn partitions_are_made_filled_and_not_overfilled() {
    let directory = tempfile::tempdir().unwrap();
    let mut spec = LibrarySpec::one_drive("lto8", 1);
    spec.cartridges[0].scale = 1_000_000;
    let path = directory.path().join("lib");
    let library = Library::create(&path, &spec, Clock::virtual_time()).unwrap();
    let mut recorder = library.recorder("TW0001").unwrap();
    recorder.make_two_partitions().unwrap();
    while recorder.room(0) > 2000 {
        recorder.made_up(0, 1000).unwrap();
    }
    let full = loop {
        if let Err(error) = recorder.made_up(0, 1000) {
            break error.to_string();
        }
    };
    assert!(full.contains("TW0001: partition 0 is full"), "{full}");
    recorder.made_up(1, 1000).unwrap();
    let none = recorder.made_up(2, 1000).unwrap_err().to_string();
    assert!(none.contains("no partition 2"), "{none}");
    let long = recorder.made_up(1, 1 << 40).unwrap_err().to_string();
    assert!(long.contains("a block of 1099511627776 bytes"), "{long}");
    recorder.finish().unwrap();
    let mut old = LibrarySpec::one_drive("dlt4000", 1);
    old.serial = "TW00000002".to_owned();
    let path = directory.path().join("old");
    let library = Library::create(&path, &old, Clock::virtual_time()).unwrap();
    let refused = library.recorder("TW0001").unwrap().make_two_partitions();
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("make no partitions"), "{refused}");
    assert!(library.recorder("TW0009").is_err());
}
