//! Measuring a cartridge that cannot be read everywhere.

use crate::common;

use common::{NEVER, faulty_drive};
use tapewise_emulator::BadBlock;
use tapewise_formats::event::Event;
use tapewise_model::profile;
use tapewise_run::Recorder;
use tapewise_run::measure::summary::Summary;
use tapewise_run::measure::{Step, Subject, Suite, failed, fill};

const STEPS: [Step; 2] = [Step::SeekMid, Step::SeekBot];
const BLOCKS: u64 = 3_000;

fn bad(blocks: impl Iterator<Item = u64>) -> Vec<BadBlock> {
    let bad = |block| BadBlock {
        barcode: "TW0001".to_owned(),
        partition: 0,
        block,
    };
    blocks.map(bad).collect()
}

/// The log of these steps, twice, the second time after the first.
fn measured(bad_blocks: Vec<BadBlock>) -> ([Vec<Event>; 2], Summary) {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = faulty_drive("dat-4mm", bad_blocks, directory.path());
    let profile = profile::find("dat-4mm").expect("a profile");
    let mut filled = Vec::new();
    let mut recorder = Recorder::new(&mut drive, &mut filled, &NEVER);
    fill(&mut recorder, 64, BLOCKS, 1, &mut |_| ()).expect("filled");
    let subject = Subject::explore(&mut recorder, &profile, 1).expect("data");
    drop(recorder);
    let mut measure = |past: &[Event]| {
        let mut log = Vec::new();
        let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
        let suite = Suite::plan(&subject, Some(&STEPS), false, None, 5);
        suite
            .run(&mut recorder, &subject, None, past, &mut |_| ())
            .expect("the suite goes on");
        drop(recorder);
        log
    };
    let first = measure(&[]);
    let second = measure(&first);
    let summary = Summary::of(&first, &subject);
    ([first, second], summary)
}

#[test]
fn an_unreadable_place_is_in_the_log_as_failed_and_the_others_are_measured() {
    // The place that tells the length of the blocks is one of them.
    let ([first, second], summary) = measured(bad((3..BLOCKS).step_by(10)));
    let lost = failed(&first).count();
    assert!((4..40).contains(&lost), "{lost}");
    for event in failed(&first) {
        assert!(event.sense.as_deref().unwrap().contains("(03/11/00)"));
    }
    assert_eq!(summary.samples, 120 - lost);
    // Only the last sample may have been stopped half way.
    assert!(second.len() <= 4, "{second:?}");
}

#[test]
fn a_step_ends_where_place_after_place_is_unreadable() {
    let ([first, second], summary) = measured(bad(20..BLOCKS));
    let lost = |log: &[Event]| failed(log).count();
    assert_eq!((lost(&first), summary.samples), (6, 0));
    assert_eq!(lost(&second), 1, "the last sample of the log alone");
}
