//! A cartridge that holds less than a stretch of reading: what fits it is measured.

use crate::common;

use common::{NEVER, drive};
use tapewise_formats::event::{Event, Outcome};
use tapewise_model::profile;
use tapewise_run::Recorder;
use tapewise_run::measure::{Step, Subject, Suite};

#[test]
fn a_tape_shorter_than_a_stretch_is_measured_as_far_as_it_goes() {
    const SCALE: u64 = 1_000;
    // 1.2 GB on the tape; an LTO-8 reads six times as much in a stretch.
    const BLOCKS: u64 = 1_200;
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive("lto8", 3, SCALE, directory.path());
    let profile = profile::find("lto8").expect("a profile");
    let mut log: Vec<Event> = Vec::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    recorder.rewind().expect("rewound");
    recorder
        .write_blocks(BLOCKS, &|_| &[7; 1_000])
        .expect("written");
    let subject = Subject::explore(&mut recorder, &profile, SCALE).expect("a subject");
    let steps = [
        Step::Stream,
        Step::Delay,
        Step::LargeRead,
        Step::ShortSeek,
        Step::SeekMid,
    ];
    let suite = Suite::plan(&subject, Some(&steps), false, None, 5);
    suite
        .run(&mut recorder, &subject, None, &[], &mut |_| ())
        .expect("measured");
    drop(recorder);
    assert!(log.iter().all(|event| event.outcome == Outcome::Done));
}
