//! Runs of blocks: where they end, what the log says of them, and whose buffers they pass through.

use crate::common;

use common::{NEVER, drive};
use std::io::Error;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_run::{Buffer, Item, Met, Recorder, RunError, Source};

/// Three blocks, a filemark, one block.
fn write(recorder: &mut Recorder<'_>) {
    let blocks: [&[u8]; 3] = [&[1; 4096], &[2; 4096], &[3; 512]];
    recorder.rewind().expect("rewound");
    recorder
        .write_blocks(3, &|at| blocks[at as usize])
        .expect("written");
    recorder.write_filemark().expect("written");
    recorder.write_blocks(1, &|_| &[4; 4096]).expect("written");
    recorder.rewind().expect("rewound");
}

#[test]
fn a_file_ends_behind_its_filemark_or_where_the_data_ends_and_neither_is_a_failure() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive("lto8", 3, 1, directory.path());
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    write(&mut recorder);
    let mut seen = Vec::new();
    let mut ends = Vec::new();
    for most in [2, 9, 9] {
        let run = recorder.read_file(Action::Read, most, &mut |block, item| {
            seen.push((block, matches!(item, Item::Filemark)));
            Ok(())
        });
        let run = run.expect("read");
        ends.push((run.blocks, run.met));
    }
    let end = [
        (2, None),
        (2, Some(Met::Filemark)),
        (1, Some(Met::EndOfData)),
    ];
    assert_eq!(ends, end);
    let marks = [(0, false), (1, false), (2, false), (3, true), (4, false)];
    assert_eq!(seen, marks);
    drop(recorder);
    assert!(log.iter().all(|event| event.outcome == Outcome::Done));
}

#[test]
fn a_block_that_is_taken_is_the_one_the_drive_read_into_and_begins_at_a_page() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive("lto8", 3, 1, directory.path());
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    write(&mut recorder);
    recorder.expect_blocks(4096);
    let mut taken = Vec::new();
    let run = recorder.read(Action::Read, 3, &mut |_, item| {
        let Item::Block(buffer) = item else {
            return Err(Error::other("a filemark"));
        };
        let at = buffer.as_ptr();
        let block = std::mem::replace(buffer, Buffer::new(4096));
        assert_eq!((block.as_ptr(), at as usize % 4096), (at, 0));
        taken.push(block);
        Ok(())
    });
    assert_eq!(run.expect("read").bytes, 4096 + 4096 + 512);
    let blocks: Vec<(u8, usize)> = taken.iter().map(|block| (block[0], block.len())).collect();
    assert_eq!(blocks, [(1, 4096), (2, 4096), (3, 512)]);
}

#[test]
fn a_source_that_fails_ends_the_run_and_the_log_does_not_blame_the_drive() {
    struct Two(u64);
    impl Source for Two {
        fn block(&mut self) -> std::io::Result<Option<&[u8]>> {
            self.0 += 1;
            match self.0 {
                1 | 2 => Ok(Some(&[5; 700])),
                _ => Err(Error::other("the disk is gone")),
            }
        }
    }
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive("lto8", 3, 1, directory.path());
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    recorder.rewind().expect("rewound");
    let failed = recorder.write_from(&mut Two(0)).expect_err("no more");
    assert!(matches!(failed, RunError::Source(_)), "{failed}");
    assert!(recorder.head().is_none());
    drop(recorder);
    let event = log.last().expect("an event");
    assert_eq!((event.outcome, event.blocks), (Outcome::Abandoned, 2));
    let why = event.sense.as_deref().expect("a reason");
    assert!(why.contains("the disk is gone"), "{why}");
}
