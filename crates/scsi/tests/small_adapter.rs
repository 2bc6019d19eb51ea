//! An adapter that carries little with one command: blocks are read all the same, as far as they fit.

use crate::fake;

use crate::fake::tape::{Object, Skill, tape};
use fake::{Adapter, Asked};
use std::time::Duration;
use tapewise_scsi::commands::{LogSense, ReadOutcome};
use tapewise_scsi::{
    Cdb, Command, Completion, Data, ScsiError, TapeDrive, Transport, TransportError,
};

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

/// An adapter that takes so many bytes, and a drive that fills the room it is given with a log page.
struct Little {
    most_bytes: usize,
    asked: Vec<usize>,
}

impl Transport for Little {
    fn name(&self) -> &str {
        "little"
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        _: Duration,
    ) -> Result<Completion, TransportError> {
        let Data::In(room) = data else {
            panic!("an answer is wanted");
        };
        let allocation = usize::from(cdb.bytes()[7]) << 8 | usize::from(cdb.bytes()[8]);
        assert_eq!(room.len(), allocation, "{cdb:?}");
        self.asked.push(allocation);
        if room.len() > self.most_bytes {
            return Err(TransportError::TooLarge {
                device: "little".to_owned(),
                bytes: room.len(),
                limit_bytes: room.len(),
            });
        }
        let page = [0x2e, 0, 0, 5, 0, 1, 3, 1, 1];
        room[..page.len()].copy_from_slice(&page);
        Ok(Completion::good(page.len()))
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn wait(&mut self, _: Duration) {}
}

#[test]
fn a_long_answer_is_asked_for_again_in_less_room_and_never_in_less_than_a_page() {
    let log = LogSense {
        page: 0x2e,
        subpage: 0,
    };
    let mut adapter = Little {
        most_bytes: 16 * KIB,
        asked: Vec::new(),
    };
    let page = log.send(&mut adapter).unwrap();
    assert_eq!(page.parameters.len(), 1);
    assert_eq!(adapter.asked, [65_535, 32_767, 16_383]);
    let mut adapter = Little {
        most_bytes: 1000,
        asked: Vec::new(),
    };
    assert!(log.send(&mut adapter).unwrap_err().is_too_large());
    assert_eq!(adapter.asked.last(), Some(&(4 * KIB)));
}
