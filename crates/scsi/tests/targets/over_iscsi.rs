//! Our initiator against a target that is not ours: tgtd, through libiscsi.

use super::raw::*;
use tapewise_house::tgt::{FIRST_DRIVE, FIRST_SLOT, Target, barcode, serial};
use tapewise_scsi::device::{DeviceError, Host};
use tapewise_scsi::{Cdb, Data, Transport, TransportError};

fn open(name: &str) -> Box<dyn Transport> {
    let opened = Host::local()
        .open(name)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(opened.notice, None);
    let mut transport = opened.transport;
    // Who logs in anew is told so once (29/00); that it arrives here is part of the transport.
    let first = ask(&mut *transport, Cdb::new([0; 6]));
    assert_eq!(outcome(&first), "6 29/00", "{first:?}");
    transport
}

fn load_first_cartridge(target: &Target) -> Box<dyn Transport> {
    let mut changer = open(&target.changer());
    assert_eq!(
        outcome(&move_medium(&mut *changer, FIRST_SLOT, FIRST_DRIVE)),
        "good"
    );
    let mut drive = open(&target.unit(1));
    wait_until_ready(&mut *drive);
    drive
}

#[test]
fn commands_of_a_loaded_drive_come_back_as_the_target_answers_them() {
    let Some(target) = Target::start("the commands of tgtd's drive", 1) else {
        return;
    };
    let mut drive = load_first_cartridge(&target);
    let with_data: [(&str, Cdb, usize, &str); 12] = [
        ("INQUIRY", Cdb::new([0x12, 0, 0, 0, 96, 0]), 96, "good"),
        (
            "INQUIRY 80h",
            Cdb::new([0x12, 1, 0x80, 0, 96, 0]),
            96,
            "good",
        ),
        (
            "INQUIRY 83h",
            Cdb::new([0x12, 1, 0x83, 0, 96, 0]),
            96,
            "good",
        ),
        (
            "REQUEST SENSE",
            Cdb::new([0x03, 0, 0, 0, 96, 0]),
            96,
            "good",
        ),
        (
            "READ BLOCK LIMITS",
            Cdb::new([0x05, 0, 0, 0, 0, 0]),
            6,
            "good",
        ),
        (
            "MODE SENSE",
            Cdb::new([0x1a, 0, 0x3f, 0, 255, 0]),
            255,
            "good",
        ),
        (
            "READ POSITION",
            Cdb::new([0x34, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            20,
            "good",
        ),
        (
            "READ POSITION extended",
            Cdb::new([0x34, 8, 0, 0, 0, 0, 0, 0, 32, 0]),
            32,
            "5 24/00",
        ),
        (
            "REPORT SUPPORTED OPERATION CODES",
            Cdb::new([0xa3, 0x0c, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0]),
            1024,
            "good",
        ),
        (
            "LOG SENSE",
            Cdb::new([0x4d, 0, 0x40, 0, 0, 0, 0, 1, 0, 0]),
            256,
            "5 20/00",
        ),
        (
            "REPORT DENSITY SUPPORT",
            Cdb::new([0x44, 0, 0, 0, 0, 0, 0, 1, 0, 0]),
            256,
            "5 20/00",
        ),
        (
            "READ ATTRIBUTE",
            Cdb::new([0x8c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]),
            256,
            "5 20/00",
        ),
    ];
    for (name, cdb, room, expected) in with_data {
        let (done, answer) = fetch(&mut *drive, cdb, room);
        assert_eq!(outcome(&done), expected, "{name}: {done:?}");
        assert!(
            expected != "good" || !answer.is_empty(),
            "{name} answers nothing"
        );
    }
    let without: [(&str, Cdb, &str); 6] = [
        ("TEST UNIT READY", Cdb::new([0; 6]), "good"),
        ("REWIND", REWIND, "good"),
        ("PREVENT", Cdb::new([0x1e, 0, 0, 0, 1, 0]), "good"),
        ("ALLOW", Cdb::new([0x1e, 0, 0, 0, 0, 0]), "good"),
        (
            "LOCATE(10)",
            Cdb::new([0x2b, 0, 0, 0, 0, 0, 1, 0, 0, 0]),
            "5 20/00",
        ),
        (
            "LOCATE(16)",
            Cdb::new([0x92, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]),
            "5 20/00",
        ),
    ];
    for (name, cdb, expected) in without {
        assert_eq!(outcome(&ask(&mut *drive, cdb)), expected, "{name}");
    }
}

#[test]
fn blocks_come_back_through_filemarks() {
    let Some(target) = Target::start("data through filemarks on tgtd", 1) else {
        return;
    };
    let mut drive = load_first_cartridge(&target);
    let drive = &mut *drive;
    // Two files of three and one block, of lengths that are no powers of two.
    let blocks = [
        block(1, 65_536),
        block(2, 1),
        block(3, 100_001),
        block(4, 1 << 20),
    ];
    for (at, data) in blocks.iter().enumerate() {
        let done = write(drive, data);
        assert_eq!(
            (outcome(&done), done.transferred),
            ("good".to_owned(), data.len())
        );
        if at == 2 || at == 3 {
            assert_eq!(outcome(&ask(drive, WRITE_FILEMARK)), "good");
        }
    }
    assert_eq!(outcome(&ask(drive, REWIND)), "good");
    for (at, data) in blocks.iter().enumerate() {
        let (done, got) = read(drive, data.len());
        assert_eq!(outcome(&done), "good", "block {at}");
        assert!(got == *data, "block {at} differs");
        if at == 2 || at == 3 {
            let (done, _) = read(drive, 4096);
            assert_eq!(outcome(&done), "0 00/01 filemark");
        }
    }
    let (done, _) = read(drive, 4096);
    // BLANK CHECK; this target leaves its code out (00/05) and says "end of medium" instead.
    assert_eq!(outcome(&done), "8 00/00 end");
    // Positions by REWIND and SPACE: the second file, then the last block of the first.
    assert_eq!(outcome(&ask(drive, REWIND)), "good");
    assert_eq!(outcome(&space(drive, 1, 1)), "good");
    assert!(read(drive, 1 << 20).1 == blocks[3]);
    assert_eq!(outcome(&ask(drive, REWIND)), "good");
    assert_eq!(outcome(&space(drive, 0, 2)), "good");
    assert!(read(drive, 100_001).1 == blocks[2]);
}

#[test]
fn a_cartridge_moves_from_its_slot_to_the_drive_of_that_serial_and_back() {
    // Three drives, for this target cuts the last one's identifier off: we look for the second's.
    let Some(target) = Target::start("a cartridge moved by tgtd's changer", 3) else {
        return;
    };
    let mut changer = open(&target.changer());
    let mut second = open(&target.unit(2));
    let (_, page) = fetch(&mut *second, Cdb::new([0x12, 1, 0x80, 0, 96, 0]), 96);
    let own = String::from_utf8_lossy(&page[4..]).trim().to_owned();
    assert_eq!(own, serial(2));
    // READ ELEMENT STATUS of drives, with tags and device identifiers (DVCID).
    let drives = Cdb::new([0xb8, 0x14, 0, 0, 0, 8, 1, 0, 4, 0, 0, 0]);
    let element = |changer: &mut dyn Transport| {
        let (done, status) = fetch(changer, drives, 1024);
        assert_eq!(outcome(&done), "good");
        let length = usize::from(u16::from_be_bytes([status[10], status[11]]));
        let of_serial = |at: &&[u8]| String::from_utf8_lossy(at).contains(&own);
        let found = status[16..]
            .chunks_exact(length)
            .find(of_serial)
            .expect("the drive");
        found.to_vec()
    };
    let before = element(&mut *changer);
    let address = u16::from_be_bytes([before[0], before[1]]);
    assert_eq!((address, before[2] & 1), (FIRST_DRIVE + 1, 0), "empty");

    let slot = FIRST_SLOT + 2;
    assert_eq!(outcome(&move_medium(&mut *changer, slot, address)), "good");
    assert_eq!(
        outcome(&move_medium(&mut *changer, slot, address)),
        "5 3b/0e",
        "the slot is empty now"
    );
    assert_eq!(
        outcome(&move_medium(&mut *changer, FIRST_SLOT, address)),
        "5 3b/0d",
        "the drive is full"
    );
    wait_until_ready(&mut *second);
    let after = element(&mut *changer);
    let tag = String::from_utf8_lossy(&after[12..44]).trim().to_owned();
    assert_eq!((after[2] & 1, tag), (1, barcode(3)));

    let data = block(7, 65_536);
    assert_eq!(outcome(&write(&mut *second, &data)), "good");
    assert_eq!(outcome(&ask(&mut *second, REWIND)), "good");
    assert!(read(&mut *second, data.len()).1 == data);
    assert_eq!(
        outcome(&ask(&mut *second, Cdb::new([0x1b, 0, 0, 0, 0, 0]))),
        "good",
        "unload"
    );
    assert_eq!(outcome(&move_medium(&mut *changer, address, slot)), "good");
    assert_eq!(outcome(&ask(&mut *second, Cdb::new([0; 6]))), "2 3a/00");
}

#[test]
fn a_target_that_is_not_there_is_named_with_the_reason() {
    let Some(target) = Target::start("a login that is refused", 1) else {
        return;
    };
    let nobody = target.unit(1).replace("lib0", "other");
    let error = Host::local().open(&nobody).err().expect("no such target");
    assert!(matches!(error, DeviceError::Transport(_)), "{error}");
    assert!(error.to_string().starts_with(&nobody), "{error}");
}

#[test]
fn a_target_that_dies_ends_the_session_and_says_so() {
    let Some(target) = Target::start("a target that dies", 1) else {
        return;
    };
    let mut drive = open(&target.unit(1));
    drop(target);
    let mut ask = || drive.execute(&REWIND, Data::None, LIMIT);
    let error = ask().expect_err("no target");
    assert!(matches!(error, TransportError::Path { .. }), "{error}");
    let error = ask().expect_err("no session");
    assert!(
        error.to_string().ends_with("the session has ended"),
        "{error}"
    );
}
