//! Plans carried out on an emulated drive: what is handed on is what was written, whatever happens.

use crate::common;

use common::{NEVER, drive};
use std::sync::atomic::{AtomicBool, Ordering};
use tapewise_emulator::BadBlock;
use tapewise_formats::event::{Action, Event, Outcome, PlanBegun};
use tapewise_model::Micros;
use tapewise_run::{Item, Piece, Recorder, Report, RunError, Sink, Step, carry_on};
use tapewise_scsi::TapeDrive;

/// Writes 200 blocks whose bytes are their number, a filemark at every 50th place.
fn write(drive: &mut TapeDrive) {
    for block in 0..200u64 {
        if block % 50 == 49 {
            drive
                .write_filemarks(1, false)
                .map(|_| ())
                .expect("written")
        } else {
            drive
                .write(&[block as u8; 700])
                .map(|_| ())
                .expect("written")
        }
    }
    drive.rewind().expect("rewound");
}

fn piece(visit: u32, first_block: u64, last_block: u64) -> Piece {
    Piece {
        visit,
        segment: 0,
        partition: 0,
        first_block,
        last_block,
    }
}

fn plan() -> Vec<Step> {
    vec![
        Step::Locate(Micros(3_000_000)),
        Step::Read(piece(0, 120, 125), Micros(50)),
        Step::ReadThrough(Micros(700)),
        Step::Read(piece(1, 140, 151), Micros(50)),
        Step::Locate(Micros(3_000_000)),
        Step::Read(piece(2, 10, 12), Micros(50)),
        Step::Rewind(Micros(4_000_000)),
    ]
}

fn name(visit: u32) -> String {
    format!("file-{visit}")
}

/// Keeps what it is given, and stops everything after so many blocks.
#[derive(Default)]
struct Kept<'a> {
    blocks: Vec<(u32, u64)>,
    whole: Vec<u32>,
    stop_after: Option<(usize, &'a AtomicBool)>,
}

impl Sink for Kept<'_> {
    fn begin(&mut self, piece: &Piece) -> std::io::Result<()> {
        self.blocks.retain(|(visit, _)| *visit != piece.visit);
        Ok(())
    }

    fn item(&mut self, piece: &Piece, block: u64, item: Item<'_>) -> std::io::Result<()> {
        match item {
            Item::Block(bytes) => assert_eq!(bytes[..], [block as u8; 700]),
            Item::Filemark => assert_eq!(block % 50, 49),
        }
        self.blocks.push((piece.visit, block));
        if let Some((count, stop)) = self.stop_after {
            stop.store(self.blocks.len() >= count, Ordering::Relaxed);
        }
        Ok(())
    }

    fn end(&mut self, piece: &Piece) -> std::io::Result<()> {
        self.whole.push(piece.visit);
        Ok(())
    }
}

/// Carries out the plan: what was read, and how it ended.
fn carried_out(recorder: &mut Recorder<'_>, sink: &mut Kept<'_>) -> (Report, Result<(), RunError>) {
    let mut report = Report::default();
    let result = carry_on(&plan(), recorder, &name, sink, &mut report);
    (report, result)
}

#[test]
fn every_block_is_handed_on_in_the_order_of_the_plan_filemarks_too() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive("lto8", 3, 1, directory.path());
    write(&mut drive);
    let (mut log, mut sink) = (Vec::<Event>::new(), Kept::default());
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let (report, result) = carried_out(&mut recorder, &mut sink);
    assert!(result.is_ok() && report.unread.is_empty(), "{report:?}");
    assert_eq!(sink.whole, [0, 1, 2]);
    let expected = (120..=125).chain(140..=151).chain(10..=12);
    assert!(sink.blocks.iter().map(|(_, block)| *block).eq(expected));
    let actions: Vec<Action> = log.iter().map(|event| event.action).collect();
    use Action::{Locate, Read, ReadThrough, Rewind};
    assert_eq!(
        actions,
        [Locate, Read, ReadThrough, Read, Locate, Read, Rewind]
    );
    let predicted: Vec<i64> = log
        .iter()
        .filter_map(|event| Some(event.predicted_us?.0))
        .collect();
    assert_eq!(
        predicted,
        [3_000_000, 50, 700, 50, 3_000_000, 50, 4_000_000]
    );
    // An LTO drive says where it is, and the clock runs on.
    assert!(
        log.iter()
            .all(|event| event.to.and_then(|to| to.lpos).is_some())
    );
    assert!(
        log.windows(2)
            .all(|pair| pair[0].at_us + pair[0].took_us <= pair[1].at_us)
    );
}

#[test]
fn the_time_of_a_way_without_a_move_belongs_to_the_read_and_a_plan_to_its_first_action() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive("lto8", 3, 1, directory.path());
    write(&mut drive);
    let steps = [
        Step::Locate(Micros(9)),
        Step::Read(piece(0, 120, 125), Micros(50)),
        Step::ReadThrough(Micros(7)),
        Step::Read(piece(1, 126, 130), Micros(40)),
    ];
    let (mut log, mut sink) = (Vec::<Event>::new(), Kept::default());
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let plan = PlanBegun {
        predicted_us: Micros(106),
        bound_us: None,
    };
    recorder.begin_plan(plan);
    let mut report = Report::default();
    carry_on(&steps, &mut recorder, &name, &mut sink, &mut report).expect("read");
    let told = log.iter().map(|event| (event.predicted_us, event.plan));
    let (first, second, third) = (Micros(9), Micros(50), Micros(47));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            (Some(first), Some(plan)),
            (Some(second), None),
            (Some(third), None)
        ]
    );
}

#[test]
fn a_run_that_is_stopped_says_what_it_has_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive("lto8", 3, 1, directory.path());
    write(&mut drive);
    let stop = AtomicBool::new(false);
    let mut log = Vec::<Event>::new();
    let mut sink = Kept {
        stop_after: Some((9, &stop)),
        ..Kept::default()
    };
    let mut recorder = Recorder::new(&mut drive, &mut log, &stop);
    let (report, result) = carried_out(&mut recorder, &mut sink);
    assert!(matches!(result, Err(RunError::Interrupted)), "{result:?}");
    drop(recorder);
    assert_eq!(sink.whole, [0]);
    assert_eq!(report.delivered.len(), 1);
    assert_eq!(
        log.last().map(|event| event.outcome),
        Some(Outcome::Abandoned)
    );
}

#[test]
fn a_piece_that_cannot_be_read_is_left_and_the_others_are_delivered() {
    let directory = tempfile::tempdir().expect("a directory");
    let bad = BadBlock {
        barcode: "TW0001".to_owned(),
        partition: 0,
        block: 142,
    };
    let (_library, mut drive) = common::faulty_drive("lto8", vec![bad], directory.path());
    write(&mut drive);
    let (mut log, mut sink) = (Vec::<Event>::new(), Kept::default());
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let (report, result) = carried_out(&mut recorder, &mut sink);
    assert!(result.is_ok(), "{result:?}");
    assert_eq!(sink.whole, [0, 2]);
    assert_eq!(report.unread.len(), 1);
    assert!(report.unread[0].error.to_string().contains("medium error"));
    let failed = log.iter().filter(|event| event.outcome == Outcome::Failed);
    assert_eq!(failed.count(), 1);
}
