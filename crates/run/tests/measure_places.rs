//! Where blocks lie and where a drive lands, as the suite finds it, against the tape of the very
//! cartridge.

use crate::common;

use common::{NEVER, drive};
use tapewise_emulator::{DriveKind, Tape};
use tapewise_formats::event::Event;
use tapewise_model::{PositionSource, profile};
use tapewise_run::Recorder;
use tapewise_run::measure::summary::Summary;
use tapewise_run::measure::{LeftOut, Step, Subject, Suite, fill};

/// A filled cartridge of this kind and seed, its suite of these steps, and what it measured.
fn measured(kind: &str, seed: u64, scale: u64, steps: &[Step]) -> (Subject, Suite, Summary) {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(kind, seed, scale, directory.path());
    let profile = profile::find(kind).expect("a profile");
    let mut log: Vec<Event> = Vec::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    fill(&mut recorder, 64, u64::MAX, 1, &mut |_| ()).expect("filled");
    let subject = Subject::explore(&mut recorder, &profile, scale).expect("data");
    let suite = Suite::plan(&subject, Some(steps), false, None, 5);
    suite
        .run(&mut recorder, &subject, None, &[], &mut |_| ())
        .expect("measured");
    drop(recorder);
    let summary = Summary::of(&log, &subject);
    (subject, suite, summary)
}

fn tape(kind: &str, seed: u64) -> Tape {
    Tape::new(&DriveKind::find(kind).expect("a kind").shape, seed)
}

#[test]
fn seek_times_of_an_lto8_fall_where_the_emulated_drive_lands() {
    for seed in [1, 8, 23, 99] {
        let (_, _, summary) = measured("lto8", seed, 1 << 18, &[Step::Landing]);
        let falls = summary.landing.expect("seeks close to each other");
        let targets: Vec<f64> = falls.measured.iter().map(|target| target.0).collect();
        let [first, last] = [targets[0], targets[targets.len() - 1]];
        let apart = (last - first).abs() / (targets.len() - 1) as f64;
        // Off the ends by the three targets that tell a step from a late seek.
        let seen = |lpos: &&f64| **lpos > first + 3.0 * apart && **lpos < last - 3.0 * apart;
        let tape = tape("lto8", seed);
        let truth: Vec<f64> = tape.landings(104).iter().filter(seen).copied().collect();
        assert!(truth.len() >= 8, "seed {seed}: {truth:?}");
        assert_eq!(
            falls.lpos.len(),
            truth.len(),
            "seed {seed}: {falls:?}, {truth:?}"
        );
        for (found, truth) in falls.lpos.iter().zip(&truth) {
            let off = (found - truth).abs();
            assert!(off <= apart, "seed {seed}: {found} for {truth}");
        }
        let spacing = falls.spacing_lpos.expect("falls");
        let emulated = 168_401.0 * 76.0 / 922.0;
        assert!((spacing.mean / emulated - 1.0).abs() < 0.02, "{spacing:?}");
    }
}

#[test]
fn an_lto8_tells_its_wrap_ends_though_they_were_written_since_the_load() {
    let (subject, _, summary) = measured("lto8", 8, 1 << 18, &[Step::Positions]);
    let table = subject.wrap_ends.as_ref().expect("a table");
    let wraps: Vec<u16> = table.iter().map(|end| end.wrap).collect();
    assert_eq!(wraps, (0..208).collect::<Vec<u16>>());
    assert_eq!(table.last().map(|end| end.block), Some(subject.blocks));
    let map = subject.map.as_ref().expect("a map");
    assert_eq!(map.source(), PositionSource::EndOfWrapTable);
    // What the drive says of each place is what its table says, but for uneven density on a wrap.
    assert!(summary.positions.len() > 64, "{}", summary.positions.len());
    let is_data = |place: &&(u64, u16, u32)| place.0 < subject.blocks;
    for &(block, wrap, lpos) in summary.positions.iter().filter(is_data) {
        let place = map.position(0, block).expect("a place");
        assert_eq!(place.wrap, wrap, "block {block}");
        assert!(
            place.lpos.abs_diff(lpos) < 1_000,
            "block {block}: {lpos}, {place:?}"
        );
    }
}

#[test]
fn an_lto6_has_no_table_but_says_where_it_is() {
    let (subject, _, summary) = measured("lto6", 8, 1 << 18, &[Step::Positions]);
    assert_eq!(subject.wrap_ends, None);
    assert!(subject.tells_place);
    let wraps: Vec<u16> = summary.positions.iter().map(|place| place.1).collect();
    assert!(wraps.len() > 60 && wraps.is_sorted(), "{wraps:?}");
    assert!(wraps.last() >= Some(&132), "{wraps:?}");
}

#[test]
fn a_dlt4000_says_nothing_of_places_and_that_is_said() {
    let steps = [Step::Positions, Step::Landing];
    let (subject, suite, summary) = measured("dlt4000", 8, 1 << 14, &steps);
    assert!(!subject.tells_place);
    let why = steps.map(|step| (step, LeftOut::NoPlaces));
    assert_eq!((suite.steps.len(), suite.left_out), (0, why.to_vec()));
    assert!(summary.positions.is_empty() && summary.landing.is_none());
}
