//! An adapter that carries little with one command: blocks are read all the same, as far as they fit.

mod fake;
#[path = "fake/tape.rs"]
mod tape;

use fake::{Adapter, Asked};
use tape::{Object, Skill, tape};
use tapewise_scsi::commands::ReadOutcome;
use tapewise_scsi::{ScsiError, TapeDrive};

const KIB: usize = 1 << 10;

/// A drive behind an adapter, with blocks of these lengths on its tape.
fn drive(blocks: &[usize], adapter: Adapter) -> (TapeDrive, Asked) {
    let objects = blocks.iter().map(|&bytes| Object::Block(bytes)).collect();
    let (mut fake, asked) = tape(objects, Skill::ALL);
    fake.adapter = adapter;
    (TapeDrive::open(fake).unwrap(), asked)
}

/// An adapter that carries so much and does not tell it.
fn silent(most_bytes: usize) -> Adapter {
    Adapter {
        most_bytes: Some(most_bytes),
        told_bytes: None,
    }
}

/// Reads the next block as everybody does: with room for it once its length is known.
fn read(drive: &mut TapeDrive, buffer: &mut Vec<u8>) -> Result<usize, ScsiError> {
    loop {
        match drive.read(buffer)? {
            ReadOutcome::Block { bytes } => return Ok(bytes),
            ReadOutcome::Longer { block_bytes } => {
                buffer.resize(block_bytes as usize, 0);
                drive.space_blocks(-1)?;
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_first_read_asks_for_what_the_adapter_carries_for_sure() {
    let ask = |told_bytes| {
        let adapter = Adapter {
            most_bytes: None,
            told_bytes,
        };
        drive(&[], adapter).0.first_read_bytes()
    };
    assert_eq!(ask(None), 1024 * KIB);
    assert_eq!(ask(Some(512 * KIB)), 512 * KIB);
    assert_eq!(ask(Some(4096 * KIB)), 1024 * KIB);
    assert_eq!(ask(Some(0)), 4 * KIB);
}

#[test]
fn a_read_that_the_adapter_refuses_is_tried_with_less_and_the_position_is_kept() {
    let (mut drive, asked) = drive(&[80, 512 * KIB, 300 * KIB, 80], silent(512 * KIB));
    let mut buffer = vec![0; 1024 * KIB];
    drive.rewind().unwrap();
    for length in [80, 512 * KIB, 300 * KIB, 80] {
        assert_eq!(read(&mut drive, &mut buffer).unwrap(), length);
    }
    assert_eq!(drive.position().unwrap().block, 4);
    // What was refused once is not tried again: one READ for each block.
    let reads = asked
        .lock()
        .unwrap()
        .iter()
        .filter(|cdb| cdb[0] == 0x08)
        .count();
    assert_eq!(reads, 4);
}

#[test]
fn a_block_longer_than_what_was_tried_is_read_with_its_own_length() {
    // Halving 1 MiB until it fits gives 256 KiB; the block has more and still fits.
    let (mut drive, _) = drive(&[380 * KIB, 380 * KIB], silent(400 * KIB));
    let mut buffer = vec![0; 1024 * KIB];
    assert_eq!(read(&mut drive, &mut buffer).unwrap(), 380 * KIB);
    assert_eq!(read(&mut drive, &mut buffer).unwrap(), 380 * KIB);
}

#[test]
fn a_block_that_does_not_fit_the_adapter_is_an_error_with_both_numbers() {
    let adapter = Adapter {
        most_bytes: Some(512 * KIB),
        told_bytes: Some(512 * KIB),
    };
    let (mut drive, _) = drive(&[1024 * KIB], adapter);
    let mut buffer = vec![0; drive.first_read_bytes()];
    let error = read(&mut drive, &mut buffer).unwrap_err();
    assert!(error.is_too_large());
    let text = error.to_string();
    assert!(
        text.contains("1048576 bytes") && text.contains("524288 bytes"),
        "{text}"
    );
    assert_eq!(drive.position().unwrap().block, 0);
}
