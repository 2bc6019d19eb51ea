//! A library: its inventory by type, drives matched by serial number, moves.

use crate::fake;

use fake::{Asked, Fake, check, inquiry, send};
use std::time::Duration;
use tapewise_scsi::commands::{ElementKind, ElementRange};
use tapewise_scsi::{Changer, Condition, Data, ScsiError};

const ROBOT: u16 = 1;
const SLOTS: u16 = 1000;
const STATION: u16 = 500;
const DRIVES: u16 = 256;

/// A descriptor: address, flags, label, and a T10 identifier where a serial number is given.
fn descriptor(address: u16, tag: &str, serial: Option<&str>) -> Vec<u8> {
    let mut bytes = address.to_be_bytes().to_vec();
    bytes.push(0x08 | u8::from(!tag.is_empty()));
    bytes.extend([0; 9]);
    bytes.extend(format!("{tag:32}").bytes());
    bytes.extend([0; 4]);
    match serial {
        Some(serial) => {
            bytes.extend([2, 1, 0, 34]);
            bytes.extend(format!("{:8}{:16}{serial:10}", "TEST", "FAKE").bytes());
        }
        None => bytes.extend([0; 4]),
    }
    bytes
}

fn status(kind: u8, first: u16, descriptors: &[Vec<u8>]) -> Vec<u8> {
    let bytes: Vec<u8> = descriptors.concat();
    let length = descriptors.first().map_or(0, Vec::len) as u16;
    let mut answer = first.to_be_bytes().to_vec();
    answer.extend((descriptors.len() as u16).to_be_bytes());
    answer.extend((bytes.len() as u32 + 8).to_be_bytes());
    answer.extend([kind, 0x80]);
    answer.extend(length.to_be_bytes());
    answer.extend((bytes.len() as u32).to_be_bytes());
    answer.extend(bytes);
    answer
}

/// A library of 900 slots, of which every third is full, two drives, and a station.
fn library(tells_serials: bool) -> (Changer, Asked) {
    let (fake, asked) = Fake::new(move |cdb, data: Data<'_>| {
        let bytes = cdb.bytes();
        let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        match cdb.opcode() {
            0x12 => inquiry(cdb, 8, "LIB1", data),
            0x1a => {
                let mut page = vec![23, 0, 0, 0, 0x1d, 18];
                for (first, count) in [(ROBOT, 1), (SLOTS, 900), (STATION, 2), (DRIVES, 2)] {
                    page.extend(first.to_be_bytes());
                    page.extend(u16::to_be_bytes(count));
                }
                page.extend([0, 0]);
                send(&page, data)
            }
            0xb8 => {
                let (kind, first, count) = (bytes[1] & 0x0f, word(2), word(4));
                let asks_ids = bytes[6] & 1 == 1;
                if asks_ids && !tells_serials {
                    return check(5, 0, 0x2400, 0);
                }
                let descriptors: Vec<_> = (first..first + count)
                    .map(|address| {
                        let is_full = kind == 2 && address % 3 == 0;
                        let tag = if is_full {
                            format!("T{address:05}L8")
                        } else {
                            String::new()
                        };
                        let serial = format!("DRIVE{address}");
                        descriptor(address, &tag, asks_ids.then_some(&serial))
                    })
                    .collect();
                send(&status(kind, first, &descriptors), data)
            }
            0xa5 if word(4) == word(6) => check(5, 0, 0x3b0d, 0),
            0xa5 | 0x07 | 0x37 => send(&[], data),
            _ => check(5, 0, 0x2000, 0),
        }
    });
    (Changer::open(fake).unwrap(), asked)
}

#[test]
fn an_inventory_is_asked_type_by_type_and_in_parts() {
    let (mut changer, asked) = library(true);
    let inventory = changer.inventory().unwrap();
    let lengths = [
        inventory.robots.len(),
        inventory.slots.len(),
        inventory.stations.len(),
        inventory.drives.len(),
    ];
    assert_eq!(lengths, [1, 900, 2, 2]);
    assert!(
        inventory
            .slots
            .iter()
            .all(|slot| slot.kind == ElementKind::Slot)
    );
    assert_eq!(
        inventory.slots.iter().filter(|slot| slot.is_full).count(),
        300
    );
    assert_eq!(inventory.find("T01200L8").unwrap().address, 1200);
    assert_eq!(
        inventory.element(STATION).unwrap().kind,
        ElementKind::Station
    );
    let asked = asked.lock().unwrap();
    let of_slots = asked
        .iter()
        .filter(|cdb| cdb[0] == 0xb8 && cdb[1] & 0x0f == 2);
    assert_eq!(of_slots.count(), 3);
}

#[test]
fn a_drive_is_found_by_its_serial_number_or_not_at_all() {
    let (mut changer, _) = library(true);
    assert_eq!(changer.element_of("DRIVE257").unwrap(), 257);
    let error = changer.element_of("DRIVE999").unwrap_err();
    assert_eq!(
        error.to_string(),
        "no drive element has serial number \"DRIVE999\"; the library names DRIVE256, DRIVE257"
    );
}

#[test]
fn a_library_that_does_not_name_its_drives_is_still_listed() {
    let (mut changer, asked) = library(false);
    assert_eq!(changer.inventory().unwrap().drives.len(), 2);
    assert!(matches!(
        changer.element_of("DRIVE256"),
        Err(ScsiError::NoDriveSerials)
    ));
    // Refused once, and not asked again.
    let asked = asked.lock().unwrap();
    let with_ids = asked.iter().filter(|cdb| cdb[0] == 0xb8 && cdb[6] & 1 == 1);
    assert_eq!(with_ids.count(), 1);
}

#[test]
fn moves_name_the_robot_and_say_what_is_wrong_with_an_element() {
    let (mut changer, asked) = library(true);
    changer.move_medium(SLOTS, DRIVES).unwrap();
    let last = asked.lock().unwrap().last().cloned().unwrap();
    assert_eq!(last, [0xa5, 0, 0, 1, 0x03, 0xe8, 0x01, 0x00, 0, 0, 0, 0]);
    let full = changer.move_medium(SLOTS, SLOTS).unwrap_err();
    assert_eq!(full.condition(), Some(Condition::Element));
    assert!(
        changer
            .exchange(SLOTS, DRIVES, SLOTS)
            .unwrap_err()
            .is_unsupported()
    );
    assert!(changer.position_to(SLOTS).unwrap_err().is_unsupported());
}

#[test]
fn it_looks_at_all_elements_or_at_some() {
    let (mut changer, asked) = library(true);
    changer.initialize(None).unwrap();
    let range = ElementRange {
        first: SLOTS,
        count: 3,
    };
    changer.initialize(Some(range)).unwrap();
    let asked = asked.lock().unwrap();
    let [.., all, some] = &asked[..] else {
        panic!("two commands");
    };
    assert_eq!(all[0], 0x07);
    assert_eq!(*some, [0x37, 0x01, 0x03, 0xe8, 0, 0, 0, 3, 0, 0]);
}

#[test]
fn a_drive_is_not_opened_as_a_changer() {
    let (fake, _) = Fake::new(|cdb, data| inquiry(cdb, 1, "X", data));
    assert!(matches!(
        Changer::open(fake),
        Err(ScsiError::WrongDevice { .. })
    ));
}

#[test]
fn a_library_with_an_open_door_is_waited_for() {
    let mut closed_after = 5;
    let (fake, _) = Fake::new(move |cdb, data| match cdb.opcode() {
        0x12 => inquiry(cdb, 8, "LIB1", data),
        _ => {
            closed_after -= 1;
            match closed_after {
                0.. => check(2, 0, 0x0401, 0),
                -1 => check(6, 0, 0x2801, 0),
                _ => send(&[], data),
            }
        }
    });
    let mut changer = Changer::open(fake).unwrap();
    changer.wait_until_ready(Duration::from_secs(60)).unwrap();
    assert_eq!(changer.take_notices().len(), 1);
}

#[test]
fn drives_that_the_library_does_not_name_are_tied_to_their_elements_by_hand() {
    let (mut changer, _) = library(false);
    assert!(matches!(
        changer.inventory().unwrap().element_of("10WT000002"),
        Err(ScsiError::NoDriveSerials)
    ));
    changer.tie(vec![(DRIVES + 1, "10WT000002".to_owned())]);
    assert_eq!(changer.element_of("10WT000002").unwrap(), DRIVES + 1);
    let inventory = changer.inventory().unwrap();
    assert_eq!(inventory.element_of("10WT000002").unwrap(), DRIVES + 1);
    assert!(inventory.element_of("10WT000001").is_err());
    changer.tie(vec![(SLOTS, "10WT000002".to_owned())]);
    let error = changer.inventory().unwrap_err();
    assert_eq!(error.to_string(), "the library has no drive element 1000");
}

#[test]
fn of_a_descriptor_that_is_cut_short_what_is_there_counts() {
    let slots = [
        descriptor(SLOTS, "T01000L8", None),
        descriptor(SLOTS + 1, "T01001L8", None),
    ];
    let whole = status(2, SLOTS, &slots);
    let cut = |bytes: usize| {
        let found = tapewise_scsi::commands::element_status(&whole[..whole.len() - bytes]);
        let found = found.expect("two slots").pop().expect("the last one");
        assert_eq!((found.address, found.is_full), (SLOTS + 1, true), "{bytes}");
        found.volume_tag
    };
    // After the label of 8 characters come 24 blanks, its number and an empty identifier, of 4 bytes each.
    for bytes in [0, 8, 31] {
        assert_eq!(cut(bytes).as_deref(), Some("T01001L8"), "{bytes}");
    }
    // A label that may go on is not a label, and neither is none.
    for bytes in [32, 34, 40, 45, 49] {
        assert_eq!(cut(bytes), None, "{bytes}");
    }
    let nothing = tapewise_scsi::commands::element_status(&whole[..whole.len() - 50]);
    assert!(nothing.is_err(), "address and flags are needed");
}

#[test]
fn of_a_serial_number_that_is_cut_short_what_is_there_counts() {
    let drives: Vec<_> = (0..2)
        .map(|at| descriptor(DRIVES + at, "", Some(&format!("10WT00000{at}"))))
        .collect();
    let whole = status(4, DRIVES, &drives);
    let cut = &whole[..whole.len() - 8];
    let found = tapewise_scsi::commands::element_status(cut).unwrap();
    let ids: Vec<_> = found
        .iter()
        .map(|drive| drive.device_id.clone().unwrap())
        .collect();
    assert!(!ids[0].is_cut && ids[1].is_cut);
    assert_eq!(ids[1].serial.as_deref(), Some("10"));
    let inventory = tapewise_scsi::Inventory {
        drives: found,
        ..tapewise_scsi::Inventory::default()
    };
    assert_eq!(inventory.element_of("10WT000000").unwrap(), DRIVES);
    assert_eq!(inventory.element_of("10WT000001").unwrap(), DRIVES + 1);
    assert!(inventory.element_of("TWD0000001").is_err());
}
