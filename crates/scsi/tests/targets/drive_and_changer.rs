//! `TapeDrive` and `Changer` on tgtd, a target without LOCATE and without a true READ POSITION: so
//! blocks are reached by REWIND and SPACE, and positions are counted.

use super::raw::block;
use std::time::Duration;
use tapewise_house::tgt::{FIRST_DRIVE, FIRST_SLOT, SLOTS, Target, barcode, serial};
use tapewise_scsi::commands::ReadOutcome;
use tapewise_scsi::device::Host;
use tapewise_scsi::{Changer, PositionSource, TapeDrive, Transport};

const PATIENCE: Duration = Duration::from_secs(20);

fn open(address: &str) -> Box<dyn Transport> {
    let opened = Host::local().open(address);
    opened.unwrap_or_else(|error| panic!("{error}")).transport
}

/// A target with a cartridge moved from the third slot to the second of three drives: this target
/// cuts the last drive's serial number off.
fn loaded(test: &str) -> Option<(Target, Changer, TapeDrive)> {
    let target = Target::start(test, 3)?;
    let mut drive = TapeDrive::open(open(&target.unit(2))).expect("a drive");
    let mut changer = Changer::open(open(&target.changer())).expect("a changer");
    changer.wait_until_ready(PATIENCE).expect("a ready changer");
    let own = drive.identity().serial.clone().expect("a serial number");
    assert_eq!(own, serial(2));
    let element = changer.element_of(&own).expect("the drive's element");
    assert_eq!(element, FIRST_DRIVE + 1);
    changer
        .move_medium(FIRST_SLOT + 2, element)
        .expect("a move");
    drive.wait_until_loaded(PATIENCE).expect("a ready drive");
    Some((target, changer, drive))
}

#[test]
fn the_inventory_shows_where_a_cartridge_went_and_from_where() {
    let Some((_target, mut changer, mut drive)) = loaded("the inventory of tgtd's changer") else {
        return;
    };
    let inventory = changer.inventory().expect("an inventory");
    assert_eq!(inventory.slots.len(), usize::from(SLOTS));
    let of = |slot: u16| {
        inventory
            .find(&barcode(slot))
            .map(|element| element.address)
    };
    let places = [
        Some(FIRST_SLOT),
        Some(FIRST_SLOT + 1),
        Some(FIRST_DRIVE + 1),
        Some(FIRST_SLOT + 3),
    ];
    assert_eq!([of(1), of(2), of(3), of(4)], places);
    drive.unload().expect("an unload");
    changer
        .move_medium(FIRST_DRIVE + 1, FIRST_SLOT + 2)
        .expect("a move back");
    let inventory = changer.inventory().expect("an inventory");
    let back = inventory.find(&barcode(3)).map(|element| element.address);
    assert_eq!(back, Some(FIRST_SLOT + 2));
    assert!(drive.wait_until_ready(PATIENCE).is_err(), "no cartridge");
}

/// What stands at each logical object: a block, or a filemark.
fn tape() -> Vec<Option<Vec<u8>>> {
    let length = |object: usize| 1000 + 37 * object;
    let is_filemark = |object: &usize| [4, 9, 10, 15].contains(object);
    let object = |at: usize| (!is_filemark(&at)).then(|| block(at as u8, length(at)));
    (0..16).map(object).collect()
}

#[test]
fn every_block_is_reached_by_locate_through_filemarks_in_any_order() {
    let Some((_target, _changer, mut drive)) = loaded("LOCATE by REWIND and SPACE on tgtd") else {
        return;
    };
    let tape = tape();
    drive.set_block_length(0).expect("variable blocks");
    drive.rewind().expect("a rewind");
    for object in &tape {
        match object {
            Some(data) => drive.write(data).expect("a block written"),
            None => drive.write_filemarks(1, false).expect("a filemark written"),
        };
    }
    // Every object, in an order that goes back and forth: 7 and 16 have no common divisor.
    for step in 0..tape.len() {
        let at = (step * 7 + 3) % tape.len();
        drive
            .locate(0, at as u64)
            .unwrap_or_else(|error| panic!("object {at}: {error}"));
        let position = drive.position().expect("a position");
        assert_eq!(position.block, at as u64);
        // This target says 0 wherever it is, which is believed at 0 only.
        assert_eq!(position.source == PositionSource::Counted, at != 0);
        match &tape[at] {
            Some(data) => {
                let mut buffer = vec![0; data.len()];
                let outcome = drive.read(&mut buffer).expect("a read");
                assert_eq!(
                    outcome,
                    ReadOutcome::Block { bytes: data.len() },
                    "object {at}"
                );
                assert!(buffer == *data, "object {at} is another");
            }
            None => {
                let outcome = drive.read(&mut [0; 64]).expect("a read");
                assert_eq!(outcome, ReadOutcome::Filemark, "object {at}");
            }
        }
    }
    assert_eq!(drive.physical_position().expect("an answer"), None);
    assert_eq!(drive.end_of_wrap_table().expect("an answer"), None);
    assert_eq!(
        drive.supports(0x2b, None).expect("an answer"),
        Some(false),
        "LOCATE(10)"
    );
}
