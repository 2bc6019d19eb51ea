//! Pieces of a plan become contents of files, on another thread than the drive's.

mod tape;

use std::collections::BTreeMap;
use std::io::{Error, Result};
use tape::*;
use tapewise_archive::stream::{Ring, read_ahead};
use tapewise_archive::volume::{Blank, Consumer, Contents, VolumeWriter, Wanted};
use tapewise_emulator::{BadBlock, LibrarySpec};
use tapewise_formats::event::Event;
use tapewise_run::{Piece, Recorder, Report, Step, carry_out};
use tapewise_scsi::TapeDrive;

const BLOCK: u32 = 8 << 10;

/// Keeps everything.
#[derive(Default)]
struct Kept {
    begun: BTreeMap<usize, Vec<u8>>,
    whole: BTreeMap<usize, Vec<u8>>,
    refused: BTreeMap<usize, String>,
    /// Fails when this one ends.
    fails_at: Option<usize>,
}

impl Consumer for Kept {
    fn begin(&mut self, index: usize) -> Result<()> {
        self.begun.insert(index, Vec::new());
        Ok(())
    }

    fn bytes(&mut self, index: usize, file_offset: u64, bytes: &[u8]) -> Result<()> {
        let kept = self.begun.get_mut(&index).expect("begun");
        assert_eq!(kept.len() as u64, file_offset);
        kept.extend_from_slice(bytes);
        Ok(())
    }

    fn end(&mut self, index: usize) -> Result<()> {
        if self.fails_at == Some(index) {
            return Err(Error::other("the destination is full"));
        }
        let whole = self.begun.remove(&index).expect("begun");
        assert!(self.whole.insert(index, whole).is_none(), "delivered twice");
        Ok(())
    }

    fn refuse(&mut self, index: usize, why: &str) -> Result<()> {
        self.refused.insert(index, why.to_owned());
        Ok(())
    }
}

/// Files of all lengths, written in two segments; gives what a catalogue has of them.
fn write(drive: &mut TapeDrive) -> (Vec<Vec<u8>>, Vec<Wanted>) {
    let files: Vec<Vec<u8>> = (0..40u64)
        .map(|n| contents(n, (n * n * 31) as usize))
        .collect();
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(drive, &mut log, &NEVER);
    let writer = VolumeWriter::label(&mut recorder, &label(BLOCK), Blank::Required);
    let mut writer = writer.expect("labelled").with_segments_of(500_000);
    let mut wanted = Vec::new();
    while wanted.len() < files.len() {
        let from = wanted.len();
        let name = |n: usize| format!("{}/file-{n}", "d".repeat(n * 5)).into_bytes();
        let mut entries =
            (from..files.len()).map(|n| entry(&name(n)[usize::from(n == 0)..], &files[n]));
        let written = writer
            .write_segment(&mut recorder, &mut entries)
            .expect("written");
        wanted.extend(written.files.iter().enumerate().map(|(at, placed)| Wanted {
            segment: placed.segment,
            name: name(from + at)[usize::from(from + at == 0)..].to_vec(),
        }));
    }
    (files, wanted)
}

/// A piece for each, the last one first.
fn steps(wanted: &[Wanted]) -> Vec<Step> {
    let read = |(visit, wanted): (usize, &Wanted)| {
        Step::Read(Piece {
            visit: visit as u32,
            segment: 0,
            partition: 0,
            first_block: wanted.segment.first_block,
            last_block: wanted.segment.last_block,
        })
    };
    wanted.iter().enumerate().rev().map(read).collect()
}

fn recall(drive: &mut TapeDrive, steps: &[Step], wanted: &[Wanted], kept: &mut Kept) -> Report {
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(drive, &mut log, &NEVER);
    recorder.expect_blocks(BLOCK as usize);
    let mut ring = Ring::new(3, BLOCK as usize);
    let mut sink = Contents::new(wanted.to_vec(), kept);
    let report = read_ahead(&mut ring, &mut sink, |ahead| {
        carry_out(steps, &mut recorder, &|visit| visit.to_string(), ahead)
    });
    assert_eq!(sink.left().is_empty(), report.is_complete());
    report
}

#[test]
fn every_file_comes_back_alone_and_all_of_them_in_one_piece() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let (files, wanted) = write(&mut drive);
    let whole_tape = Step::Read(Piece {
        visit: 0,
        segment: 0,
        partition: 0,
        first_block: 0,
        last_block: wanted.last().expect("files").segment.last_block,
    });
    for steps in [steps(&wanted), vec![whole_tape]] {
        let mut kept = Kept::default();
        let report = recall(&mut drive, &steps, &wanted, &mut kept);
        assert!(report.is_complete(), "{report:?}");
        assert!(kept.refused.is_empty(), "{:?}", kept.refused);
        assert!(kept.whole.into_values().eq(files.iter().cloned()));
    }
}

#[test]
fn what_is_not_the_file_of_the_catalogue_is_refused_and_the_others_come() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let (files, mut wanted) = write(&mut drive);
    wanted[5].name = b"another".to_vec();
    wanted[6].segment.byte_offset += 1;
    wanted[7].segment.bytes += 1;
    wanted[8].segment.byte_offset = u64::MAX;
    wanted[30].segment.first_block -= 1;
    let mut kept = Kept::default();
    let report = recall(&mut drive, &steps(&wanted), &wanted, &mut kept);
    assert!(report.is_complete(), "{report:?}");
    let refused: Vec<usize> = kept.refused.keys().copied().collect();
    assert_eq!(refused, [5, 6, 7, 8, 30], "{:?}", kept.refused);
    assert!(
        kept.refused[&5].contains("\"another\""),
        "{}",
        kept.refused[&5]
    );
    assert_eq!(kept.whole.len(), files.len() - 5);
    assert!(kept.whole.iter().all(|(at, whole)| *whole == files[*at]));
}

#[test]
fn a_block_that_cannot_be_read_costs_the_files_in_it_and_no_others() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut spec = LibrarySpec::one_drive("lto8", 7);
    spec.faults.bad_blocks = vec![BadBlock {
        barcode: BARCODE.to_owned(),
        partition: 0,
        block: 40,
    }];
    let (_library, mut drive) = drive_of(spec, directory.path());
    let (files, wanted) = write(&mut drive);
    let bad =
        |wanted: &Wanted| (wanted.segment.first_block..=wanted.segment.last_block).contains(&40);
    let lost = wanted.iter().filter(|wanted| bad(wanted)).count();
    assert!(lost > 0);
    let mut kept = Kept::default();
    let report = recall(&mut drive, &steps(&wanted), &wanted, &mut kept);
    assert_eq!(report.unread.len(), lost);
    assert_eq!(kept.whole.len(), files.len() - lost);
    assert!(kept.whole.iter().all(|(at, whole)| *whole == files[*at]));
}

#[test]
fn a_consumer_that_fails_ends_the_run_with_its_own_words_and_its_piece_is_not_delivered() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let (files, wanted) = write(&mut drive);
    let mut kept = Kept {
        fails_at: Some(20),
        ..Kept::default()
    };
    let report = recall(&mut drive, &steps(&wanted), &wanted, &mut kept);
    let said = report.stopped_by.expect("an error").to_string();
    assert!(said.contains("the destination is full"), "{said}");
    assert_eq!(report.delivered.len(), files.len() - 21);
    assert_eq!(kept.whole.len(), files.len() - 21);
}
