//! Devices that are not broken and yet not as in the book.

use crate::host;

use host::{Host, Said};
use std::path::Path;
use std::time::Duration;
use tapewise_emulator::{Clock, Faults, Library, LibrarySpec, made_up};
use tapewise_model::Micros;
use tapewise_scsi::{Cdb, Data, Transport, TransportError};

const LONG: Duration = Duration::from_secs(100_000);

const DATA_PROTECT: u8 = 7;

fn with(directory: &Path, faults: Faults) -> Host {
    let mut spec = LibrarySpec::one_drive("lto8", 1);
    spec.faults = faults;
    let library = Library::create(&directory.join("lib"), &spec, Clock::virtual_time()).unwrap();
    library.load_cartridge("TW0001").unwrap();
    Host::new(library.transport_to_drive(0).unwrap())
}

/// A block of a thousand bytes that no drive compresses.
fn noise(number: u64) -> Vec<u8> {
    let mut block = vec![0; 1000];
    made_up(1, number, &mut block);
    block
}

fn code(done: Result<(), Said>) -> u16 {
    done.map_or_else(|said| said.code, |()| 0)
}

#[test]
fn a_command_that_is_missing_is_refused_and_not_listed() {
    let directory = tempfile::tempdir().unwrap();
    let faults = Faults {
        missing_commands: vec![0x92, 0x4d],
        ..Faults::none()
    };
    let mut host = with(directory.path(), faults);
    host.wait_until_ready();
    assert_eq!(code(host.locate(0, 0)), 0x2000);
    assert_eq!(code(host.locate_10(0)), 0);
    let list = host
        .input([0xa3, 0x0c, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0], 4096)
        .unwrap();
    let codes: Vec<u8> = list[4..].chunks_exact(8).map(|entry| entry[0]).collect();
    assert!(codes.contains(&0x2b) && !codes.contains(&0x92) && !codes.contains(&0x4d));
}

#[test]
fn attentions_come_at_any_command_and_the_command_is_not_carried_out() {
    let directory = tempfile::tempdir().unwrap();
    let faults = Faults {
        seed: 3,
        attention: 0.2,
        ..Faults::none()
    };
    let mut host = with(directory.path(), faults);
    host.wait_until_ready();
    let mut attentions = 0;
    let mut written = 0;
    while written < 100 {
        match host.write(&[1; 64]) {
            Ok(()) => written += 1,
            Err(said) => {
                assert_eq!((said.key, said.code), (6, 0x2a01));
                attentions += 1;
            }
        }
    }
    assert!((5..60).contains(&attentions), "{attentions}");
    let position = loop {
        if let Ok(answer) = host.input([0x34, 0x06, 0, 0, 0, 0, 0, 0, 0, 0], 32) {
            break u64::from_be_bytes(answer[8..16].try_into().unwrap());
        }
    };
    assert_eq!(position, 100, "each block once");
}

#[test]
fn a_protected_cartridge_takes_nothing_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let faults = Faults {
        write_protected: vec!["TW0001".to_owned()],
        ..Faults::none()
    };
    let mut host = with(directory.path(), faults);
    host.wait_until_ready();
    let refused = host.write(&[1; 64]).unwrap_err();
    assert_eq!((refused.key, refused.code), (DATA_PROTECT, 0x2700));
    assert_eq!(code(host.filemarks(1)), 0x2700);
    assert_eq!(code(host.filemarks(0)), 0, "a flush writes nothing");
    let header = host.input([0x1a, 0, 0x3f, 0, 255, 0], 255).unwrap();
    assert_eq!(header[2] & 0x80, 0x80, "the WP bit");
}

#[test]
fn a_worm_cartridge_takes_data_at_its_end_only() {
    let directory = tempfile::tempdir().unwrap();
    let faults = Faults {
        worm: vec!["TW0001".to_owned()],
        ..Faults::none()
    };
    let mut host = with(directory.path(), faults);
    host.wait_until_ready();
    assert_eq!(code(host.write(&[1; 64])), 0);
    assert_eq!(code(host.write(&[2; 64])), 0);
    host.rewind();
    let refused = host.write(&[3; 64]).unwrap_err();
    assert_eq!((refused.key, refused.code), (DATA_PROTECT, 0x300c));
    assert_eq!(
        code(host.none([0x04, 0, 0, 0, 0, 0])),
        0x300c,
        "nor is it formatted"
    );
    assert_eq!(code(host.space(3, 0)), 0);
    assert_eq!(code(host.write(&[3; 64])), 0);
    host.rewind();
    assert_eq!(host.read(64).unwrap(), [1; 64]);
    let medium_type = host
        .input([0x8c, 0, 0, 0, 0, 0, 0, 0, 4, 8, 0, 0, 0, 64, 0, 0], 64)
        .unwrap();
    assert_eq!(medium_type[4..10], [4, 8, 0x80, 0, 1, 0x80]);
}

#[test]
fn an_adapter_of_few_segments_refuses_what_is_longer_and_does_not_tell_how_long() {
    let directory = tempfile::tempdir().unwrap();
    let faults = Faults {
        adapter_segments: Some(4),
        ..Faults::none()
    };
    let mut host = with(directory.path(), faults);
    host.wait_until_ready();
    assert_eq!(code(host.write(&[1; 16_384])), 0);
    let long = [1; 16_385];
    let write = Cdb::new([0x0a, 0, 0, 0x40, 0x01, 0]);
    let refused = host.transport.execute(&write, Data::Out(&long), LONG);
    let Err(TransportError::TooLarge {
        bytes, limit_bytes, ..
    }) = refused
    else {
        panic!("{refused:?}");
    };
    assert_eq!((bytes, limit_bytes), (16_385, 16_385));
    assert_eq!(host.position(), (0, 1), "it never got to the drive");
}

#[test]
fn an_adapter_without_a_residue_fills_all_of_the_room_as_far_as_anybody_can_tell() {
    let directory = tempfile::tempdir().unwrap();
    let faults = Faults {
        no_residue: true,
        ..Faults::none()
    };
    let mut host = with(directory.path(), faults);
    host.wait_until_ready();
    host.write(&[7; 100]).unwrap();
    host.rewind();
    let mut room = [0; 500];
    let read = Cdb::new([0x08, 0, 0, 1, 0xf4, 0]);
    let done = host.transport.execute(&read, Data::In(&mut room), LONG);
    let done = done.unwrap();
    assert_eq!(done.transferred, 500);
    let sense = host::decode(done.sense.bytes());
    assert_eq!((sense.flags, sense.information), (host::LENGTH, Some(400)));
    assert_eq!((room[99], room[100]), (7, 0));
}

#[test]
fn a_short_tape_warns_before_it_is_full() {
    let directory = tempfile::tempdir().unwrap();
    let faults = Faults {
        full_after_bytes: Some(4000),
        ..Faults::none()
    };
    let mut host = with(directory.path(), faults);
    host.wait_until_ready();
    let written: Vec<Result<(), Said>> =
        (0..6u64).map(|number| host.write(&noise(number))).collect();
    assert!(written[..2].iter().all(Result::is_ok), "{written:?}");
    for warned in &written[2..4] {
        let said = warned.unwrap_err();
        assert_eq!((said.key, said.code, said.flags), (0, 0x0002, host::END));
    }
    assert_eq!(written[5].unwrap_err().key, 0x0d, "volume overflow");
}

#[test]
fn an_erase_leaves_nothing_after_the_head_and_a_long_one_takes_hours() {
    let directory = tempfile::tempdir().unwrap();
    let mut host = with(directory.path(), Faults::none());
    host.wait_until_ready();
    for byte in 0..4 {
        host.write(&[byte; 64]).unwrap();
    }
    host.locate(0, 2).unwrap();
    let before = host.transport.now();
    host.none([0x19, 0, 0, 0, 0, 0]).unwrap();
    let short = host.transport.now() - before;
    assert_eq!(host.read(64).unwrap_err().code, 0x0005);
    host.locate(0, 1).unwrap();
    let before = host.transport.now();
    host.none([0x19, 1, 0, 0, 0, 0]).unwrap();
    let long = host.transport.now() - before;
    assert!(
        short.as_secs() < 60 && long.as_secs() > 3600,
        "{short:?} {long:?} of emulated time"
    );
    assert_eq!(host.position(), (0, 1));
    host.rewind();
    assert_eq!(host.read(64).unwrap(), [0; 64]);
    assert_eq!(host.read(64).unwrap_err().code, 0x0005);
}

#[test]
fn a_slow_drive_is_ready_later() {
    let ready_after = |slow_load_s| {
        let directory = tempfile::tempdir().unwrap();
        let faults = Faults {
            slow_load_s,
            ..Faults::none()
        };
        let mut host = with(directory.path(), faults);
        host.wait_until_ready();
        host.transport.now()
    };
    let more = ready_after(300.0) - ready_after(0.0);
    assert!(
        (299..=301).contains(&more.as_secs()),
        "{more:?} of emulated time"
    );
}

#[test]
fn a_library_without_serial_numbers_names_no_drive() {
    let directory = tempfile::tempdir().unwrap();
    let mut spec = LibrarySpec::with_robot("ibm3584", "lto8", 1, 4, 2, 1);
    spec.faults.no_drive_serials = true;
    let library =
        Library::create(&directory.path().join("lib"), &spec, Clock::virtual_time()).unwrap();
    library.skip(Micros(600_000_000));
    let mut host = Host::new(library.transport_to_changer().unwrap());
    host.wait_until_ready();
    let status = host
        .input([0xb8, 0x14, 0, 0, 0, 9, 1, 0, 4, 0, 0, 0], 1024)
        .unwrap();
    assert!(!status.windows(10).any(|part| part == b"TWD0000001"));
}

#[test]
fn an_element_status_that_is_cut_short_announces_what_it_does_not_send() {
    let answer_of = |cut| {
        let directory = tempfile::tempdir().unwrap();
        let mut spec = LibrarySpec::with_robot("ibm3584", "lto8", 2, 4, 2, 1);
        spec.faults.element_status_cut_bytes = cut;
        let library =
            Library::create(&directory.path().join("lib"), &spec, Clock::virtual_time()).unwrap();
        library.skip(Micros(600_000_000));
        let mut host = Host::new(library.transport_to_changer().unwrap());
        host.wait_until_ready();
        host.input([0xb8, 0x14, 0, 0, 0, 9, 1, 0, 4, 0, 0, 0], 1024)
            .unwrap()
    };
    let (whole, cut) = (answer_of(0), answer_of(8));
    assert_eq!(cut, whole[..whole.len() - 8]);
    assert!(whole.ends_with(b"TWD0000002") && cut.ends_with(b"TW"));
    assert_eq!(answer_of(100_000), whole[..8], "the header is always there");
}
