//! Steps of the suite one by one, each on an emulated drive that shows what it is for.

use crate::common;

use common::{NEVER, drive};
use tapewise_emulator::{Clock, Element, Library, LibrarySpec};
use tapewise_formats::event::Event;
use tapewise_model::profile;
use tapewise_run::Recorder;
use tapewise_run::measure::summary::{Stat, Summary};
use tapewise_run::measure::{Robot, Step, Subject, Suite, fill};
use tapewise_scsi::{Changer, TapeDrive};

/// Fills a new cartridge with so many blocks and measures these steps.
fn measured(kind: &str, scale: u64, block: usize, most: u64, steps: &[Step]) -> Summary {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(kind, 8, scale, directory.path());
    let profile = profile::find(kind).expect("a profile");
    let mut log: Vec<Event> = Vec::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    fill(&mut recorder, block, most, 1, &mut |_| ()).expect("filled");
    let subject = Subject::explore(&mut recorder, &profile, scale).expect("data");
    let suite = Suite::plan(&subject, Some(steps), false, None, 5);
    suite
        .run(&mut recorder, &subject, None, &[], &mut |_| ())
        .expect("measured");
    drop(recorder);
    Summary::of(&log, &subject)
}

#[test]
fn an_ampex_restarts_for_7_s_after_pauses_of_32_s_in_reads_of_70_mb() {
    let summary = measured("ampex-dst310", 1024, 1024, 4_000, &[Step::LargeRead]);
    let restart = summary.restart.expect("large reads");
    assert!((6.0..8.0).contains(&restart.penalty_s), "{restart:?}");
    let smallest_mb = restart.smallest_mb.expect("a restart");
    assert!((64.0..=72.0).contains(&smallest_mb), "{restart:?}");
    assert_eq!(restart.shortest_pause_s, Some(32.0), "{restart:?}");
}

#[test]
fn a_dlt4000_loses_nothing_at_100_mb_and_100_s() {
    let summary = measured("dlt4000-jm98", 1024, 32, 30_000, &[Step::LargeRead]);
    let restart = summary.restart.expect("large reads");
    assert_eq!(restart.penalty_s, 0.0, "{restart:?}");
    let most =
        |(mb, pause_s): (f64, f64), one: &(f64, f64, f64)| (mb.max(one.0), pause_s.max(one.1));
    let (mb, pause_s) = restart.measured.iter().fold((0.0, 0.0), most);
    assert!(mb > 99.0 && pause_s >= 100.0, "{restart:?}");
}

/// The ways of this robot between its drive and slots all over the library.
fn ways(robot: &str, kind: &str, slots: u16) -> (Stat, Stat) {
    let directory = tempfile::tempdir().expect("a directory");
    let spec = LibrarySpec::with_robot(robot, kind, 1, slots, 1, 4);
    let path = directory.path().join("library");
    let library = Library::create(&path, &spec, Clock::virtual_time()).expect("a library");
    let transport = library.transport_to_changer().expect("a robot");
    let mut changer = Changer::open(Box::new(transport)).expect("a changer");
    changer
        .wait_until_ready(tapewise_run::READY_LIMIT)
        .expect("a changer that gets ready");
    let elements = library.elements();
    let into = elements.address(Element::Drive(0));
    changer
        .move_medium(elements.address(Element::Slot(0)), into)
        .expect("a way");
    let transport = library.transport_to_drive(0).expect("a drive");
    let mut drive = TapeDrive::open(Box::new(transport)).expect("a tape drive");
    drive
        .wait_until_loaded(tapewise_run::READY_LIMIT)
        .expect("a cartridge");
    let profile = profile::find(kind).expect("a profile");
    // A robot's way needs no data on the tape.
    let subject = Subject::new(&profile, 1, 1, 1);
    let mut suite = Suite::plan(&subject, Some(&[Step::Robot]), true, None, 5);
    suite.steps[0].samples = 40;
    let robot = Robot {
        changer: &mut changer,
        drive: into,
        slots: (0..slots)
            .map(|n| elements.address(Element::Slot(n)))
            .collect(),
    };
    let mut log: Vec<Event> = Vec::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    suite
        .run(&mut recorder, &subject, Some(robot), &[], &mut |_| ())
        .expect("measured");
    drop(recorder);
    let summary = Summary::of(&log, &subject);
    (
        summary.fetch_s.expect("fetches"),
        summary.return_s.expect("returns"),
    )
}

#[test]
fn the_robots_of_table_2_are_found_within_5_percent() {
    for (robot, kind, slots, fetch_s, return_s) in [
        ("grau-abba2", "ibm3590", 6_000, 19.7, 16.4),
        ("stk-9710", "dlt7000", 404, 9.0, 9.0),
        ("ampex-810", "ampex-dst310", 256, 2.9, 3.7),
        ("sony-dms-b9", "sony-dtf", 9, 12.8, 17.2),
    ] {
        let (fetch, back) = ways(robot, kind, slots);
        for (ours, theirs) in [(fetch, fetch_s), (back, return_s)] {
            assert_eq!(ours.n, 40);
            assert!((ours.mean / theirs - 1.0).abs() < 0.05, "{robot}: {ours:?}");
        }
    }
}
