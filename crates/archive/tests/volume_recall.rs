//! Files of our volumes and of others' tar tapes, read in our order.

use crate::tape;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use tape::*;
use tapewise_archive::read::{Change, Known, Lost, MappedTape, Outcome, Receiver, TapeRead};
use tapewise_archive::record::{Segment, VolumeFormat};
use tapewise_archive::volume::{Blank, Found, VolumeWriter, scan};
use tapewise_emulator::{BadBlock, LibrarySpec};
use tapewise_formats::event::{Action, Event};
use tapewise_model::profile;
use tapewise_run::{Recorder, RunError};
use tapewise_scsi::TapeDrive;

const BLOCK: u32 = 8 << 10;

/// Keeps everything.
#[derive(Default)]
struct Kept<'s> {
    begun: BTreeMap<usize, Vec<u8>>,
    whole: BTreeMap<usize, Vec<u8>>,
    lost: BTreeMap<usize, String>,
    /// Threads that it was called on.
    threads: BTreeSet<String>,
    /// Fails when this one ends.
    fails_at: Option<usize>,
    /// Asks to stop when this one ends.
    stops_at: Option<(usize, &'s AtomicBool)>,
    /// What changes after each read, the last one first.
    changes: Vec<Change>,
    /// What the drive did.
    events: Vec<Event>,
}

impl Receiver for Kept<'_> {
    fn change(&mut self, left: &dyn Fn() -> Vec<usize>) -> Result<Change> {
        assert!(left().iter().all(|want| !self.whole.contains_key(want)));
        Ok(self.changes.pop().unwrap_or_default())
    }

    fn begin(&mut self, want: usize) -> Result<()> {
        self.begun.insert(want, Vec::new());
        Ok(())
    }

    fn bytes(&mut self, want: usize, offset: u64, bytes: &[u8]) -> Result<()> {
        let thread = std::thread::current().id();
        self.threads.insert(format!("{thread:?}"));
        let kept = self.begun.get_mut(&want).expect("begun");
        assert_eq!(kept.len() as u64, offset);
        kept.extend_from_slice(bytes);
        Ok(())
    }

    fn end(&mut self, want: usize) -> Result<()> {
        if self.fails_at == Some(want) {
            return Err(Error::other("the destination is full"));
        }
        if let Some((at, stop)) = self.stops_at
            && at == want
        {
            stop.store(true, Ordering::Relaxed);
        }
        let whole = self.begun.remove(&want).expect("begun");
        assert!(self.whole.insert(want, whole).is_none(), "delivered twice");
        Ok(())
    }

    fn lost(&mut self, want: usize, why: &Lost) -> Result<()> {
        assert!(self.lost.insert(want, why.to_string()).is_none());
        Ok(())
    }
}

/// Files of all lengths, written in two segments, and where they are.
fn write(drive: &mut TapeDrive) -> (Vec<Vec<u8>>, Vec<Segment>) {
    let files: Vec<Vec<u8>> = (0..40u64)
        .map(|n| contents(n, (n * n * 31) as usize))
        .collect();
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(drive, &mut log, &NEVER);
    let writer = VolumeWriter::label(&mut recorder, &label(BLOCK), Blank::Required);
    let mut writer = writer.expect("labelled").with_segments_of(500_000);
    let mut segments = Vec::new();
    while segments.len() < files.len() {
        let name = |n: usize| format!("{}/file-{n}", "d".repeat(1 + n * 5)).into_bytes();
        let mut entries = (segments.len()..files.len()).map(|n| entry(&name(n), &files[n]));
        let written = writer
            .write_segment(&mut recorder, &mut entries)
            .expect("written");
        segments.extend(written.files.iter().map(|placed| placed.segment));
    }
    (files, segments)
}

fn recall(
    drive: &mut TapeDrive,
    (format, block_bytes): (VolumeFormat, u32),
    wants: &[Vec<Segment>],
    kept: &mut Kept<'_>,
    stop: &AtomicBool,
) -> std::result::Result<Outcome, RunError> {
    let known = Known {
        profile: &profile::find("lto8").expect("a profile"),
        format,
        block_bytes: u64::from(block_bytes),
        byte_scale: 1,
        written: wants,
    };
    let (cartridge, _) = MappedTape::in_drive(drive, &known).expect("a map");
    let (head, learns) = cartridge.head(drive).expect("a head");
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(drive, &mut log, stop);
    let read = TapeRead::new(&cartridge, head, wants, learns).expect("one partition");
    let outcome = read.run(&mut recorder, &|want| want.to_string(), kept, &mut |_| {});
    kept.events = log;
    outcome
}

const OURS: (VolumeFormat, u32) = (VolumeFormat::Tapewise, BLOCK);

fn each(segments: &[Segment]) -> Vec<Vec<Segment>> {
    segments.iter().map(|segment| vec![*segment]).collect()
}

#[test]
fn every_file_comes_back_on_another_thread_than_the_drives() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let (files, segments) = write(&mut drive);
    let mut kept = Kept::default();
    let outcome = recall(&mut drive, OURS, &each(&segments), &mut kept, &NEVER);
    assert_eq!(outcome.expect("a run").lost, []);
    assert!(kept.lost.is_empty(), "{:?}", kept.lost);
    assert!(kept.whole.into_values().eq(files.iter().cloned()));
    let here = format!("{:?}", std::thread::current().id());
    assert!(!kept.threads.contains(&here));
}

#[test]
fn what_is_asked_for_meanwhile_is_read_with_the_rest_and_the_rest_can_be_left() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let (files, segments) = write(&mut drive);
    let all = each(&segments);
    let nowhere = Segment {
        partition: 3,
        ..segments[30]
    };
    let mut kept = Kept {
        changes: vec![
            Change::More([all[20..].to_vec(), vec![vec![nowhere]]].concat()),
            Change::Nothing,
        ],
        ..Kept::default()
    };
    let outcome = recall(&mut drive, OURS, &all[..20], &mut kept, &NEVER).expect("a run");
    assert_eq!((outcome.lost, outcome.left), (vec![], vec![files.len()]));
    assert!(kept.whole.into_values().eq(files.iter().cloned()));

    let mut kept = Kept {
        changes: vec![Change::Leave],
        ..Kept::default()
    };
    let outcome = recall(&mut drive, OURS, &all, &mut kept, &NEVER).expect("a run");
    assert!((1..files.len()).contains(&kept.whole.len()));
    let both: BTreeSet<usize> = outcome
        .left
        .iter()
        .chain(kept.whole.keys())
        .copied()
        .collect();
    assert_eq!(both.len(), outcome.left.len() + kept.whole.len());
    assert!(both.into_iter().eq(0..files.len()));
}

#[test]
fn what_is_not_the_file_of_the_catalogue_is_lost_and_the_others_come() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let (files, mut segments) = write(&mut drive);
    segments[6].byte_offset += 1;
    segments[7].bytes += 1;
    segments[8].byte_offset = u64::MAX;
    segments[30].first_block -= 1;
    let mut kept = Kept::default();
    let outcome = recall(&mut drive, OURS, &each(&segments), &mut kept, &NEVER);
    assert_eq!(outcome.expect("a run").lost.len(), 4);
    let lost: Vec<usize> = kept.lost.keys().copied().collect();
    assert_eq!(lost, [6, 7, 8, 30], "{:?}", kept.lost);
    assert!(kept.lost[&6].contains("no tar header where a file of 1116 bytes begins"));
    let longer = &kept.lost[&7];
    assert!(
        longer.contains("of 1519 bytes where a file of 1520 bytes begins"),
        "{longer}"
    );
    assert_eq!(kept.whole.len(), files.len() - 4);
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
    let (files, segments) = write(&mut drive);
    let is_bad = |segment: &&Segment| (segment.first_block..=segment.last_block).contains(&40);
    let bad = segments.iter().filter(is_bad).count();
    assert!(bad > 0);
    let mut kept = Kept::default();
    let outcome = recall(&mut drive, OURS, &each(&segments), &mut kept, &NEVER);
    assert_eq!(outcome.expect("a run").lost.len(), bad);
    assert_eq!(kept.whole.len(), files.len() - bad);
    assert!(kept.whole.iter().all(|(at, whole)| *whole == files[*at]));
}

#[test]
fn behind_a_block_that_cannot_be_read_files_that_share_blocks_are_read_on_together() {
    const FILES: u64 = 20;
    let directory = tempfile::tempdir().expect("a directory");
    let mut spec = LibrarySpec::one_drive("lto8", 7);
    spec.faults.bad_blocks = vec![BadBlock {
        barcode: BARCODE.to_owned(),
        partition: 0,
        block: 7,
    }];
    let (_library, mut drive) = drive_of(spec, directory.path());
    // Each begins in the block in which the one before it ends.
    let (block, file) = (u64::from(BLOCK), u64::from(BLOCK) - 96);
    for number in 0..FILES {
        drive
            .write(&vec![number as u8; BLOCK as usize])
            .expect("written");
    }
    let segment = |number: u64| Segment {
        partition: 0,
        first_block: number * file / block,
        last_block: ((number + 1) * file - 1) / block,
        byte_offset: number * file % block,
        bytes: file,
        file_offset: 0,
        start: None,
        end: None,
    };
    let segments: Vec<Segment> = (0..FILES).map(segment).collect();
    let mut kept = Kept::default();
    let blocks = (VolumeFormat::Blocks, BLOCK);
    let outcome = recall(&mut drive, blocks, &each(&segments), &mut kept, &NEVER);
    let bad = segments
        .iter()
        .filter(|one| (one.first_block..=one.last_block).contains(&7));
    assert_eq!(outcome.expect("a run").lost.len(), bad.count());
    let is_read = |event: &&Event| event.action == Action::Read;
    let reads = kept.events.iter().filter(is_read).count();
    assert!(reads < 10, "{reads} reads");
}

#[test]
fn what_cannot_be_read_takes_nothing_of_a_piece_behind_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut spec = LibrarySpec::one_drive("lto8", 7);
    spec.faults.bad_blocks = vec![BadBlock {
        barcode: BARCODE.to_owned(),
        partition: 0,
        block: 2,
    }];
    let (_library, mut drive) = drive_of(spec, directory.path());
    for number in 0..12 {
        drive.write(&vec![number; BLOCK as usize]).expect("written");
    }
    // All of them, and two of them alone: without the first, these are two pieces.
    let segments = [(0, 12), (2, 1), (7, 1)].map(|(first_block, blocks)| Segment {
        partition: 0,
        first_block,
        last_block: first_block + blocks - 1,
        byte_offset: 0,
        bytes: blocks * u64::from(BLOCK),
        file_offset: 0,
        start: None,
        end: None,
    });
    let mut kept = Kept::default();
    let blocks = (VolumeFormat::Blocks, BLOCK);
    let outcome = recall(&mut drive, blocks, &each(&segments), &mut kept, &NEVER);
    assert_eq!(outcome.expect("a run").lost.len(), 2);
    let whole = BTreeMap::from([(2, vec![7; BLOCK as usize])]);
    assert_eq!(kept.whole, whole);
}

#[test]
fn a_receiver_that_fails_ends_the_run_with_its_own_words() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let (files, segments) = write(&mut drive);
    let mut kept = Kept {
        fails_at: Some(20),
        ..Kept::default()
    };
    let ended = recall(&mut drive, OURS, &each(&segments), &mut kept, &NEVER);
    let said = ended.expect_err("an error").to_string();
    assert!(said.contains("the destination is full"), "{said}");
    assert!(!kept.whole.contains_key(&20) && kept.whole.len() < files.len());
    assert!(kept.whole.iter().all(|(at, whole)| *whole == files[*at]));
}

#[test]
fn a_run_that_is_asked_to_stop_keeps_what_has_come_and_loses_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let (files, segments) = write(&mut drive);
    let stop = AtomicBool::new(false);
    let mut kept = Kept {
        stops_at: Some((20, &stop)),
        ..Kept::default()
    };
    let ended = recall(&mut drive, OURS, &each(&segments), &mut kept, &stop);
    assert!(matches!(ended, Err(RunError::Interrupted)), "{ended:?}");
    assert!(kept.whole.contains_key(&20) && kept.whole.len() < files.len());
    assert!(kept.whole.iter().all(|(at, whole)| *whole == files[*at]));
    assert!(kept.lost.is_empty());
}

#[test]
fn archives_of_others_in_blocks_of_several_lengths_come_back_by_the_places_that_a_scan_found() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let mut files = Vec::new();
    drive.rewind().expect("rewound");
    // Not even a multiple of a tar record: contents begin and end anywhere in a block.
    for (nth, block_bytes) in [10_240, 700, 4_096, 33_333].into_iter().enumerate() {
        let mut builder = ::tar::Builder::new(Vec::new());
        for length in [1, 512, 30_000, 99_999] {
            let bytes = contents(files.len() as u64, length);
            let mut header = ::tar::Header::new_gnu();
            header.set_size(length as u64);
            header.set_mode(0o644);
            builder
                .append_data(&mut header, format!("{nth}/{length}"), bytes.as_slice())
                .expect("appended");
            files.push(bytes);
        }
        let archive = builder.into_inner().expect("an archive");
        for block in archive.chunks(block_bytes) {
            drive.write(block).expect("written");
        }
        drive.write_filemarks(1, false).expect("written");
    }
    let mut segments = Vec::new();
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let scanned = scan(&mut recorder, &mut |found| {
        match found {
            Found::Member(located) => segments.push(located.segment),
            Found::Trouble(trouble) => panic!("{trouble:?}"),
        }
        Ok(())
    });
    let longest = scanned.expect("scanned").longest_block;
    let mut kept = Kept::default();
    let how = (VolumeFormat::Tar, longest);
    let outcome = recall(&mut drive, how, &each(&segments), &mut kept, &NEVER);
    assert_eq!(outcome.expect("a run").lost, []);
    assert!(kept.whole.into_values().eq(files.iter().cloned()));
}
