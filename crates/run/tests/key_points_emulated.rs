//! Key points found on an emulated DLT4000, against the landing points of its very cartridge.

use crate::common;

use common::{NEVER, drive};
use tapewise_emulator::{DriveKind, Spot, Tape};
use tapewise_formats::event::Event;
use tapewise_model::{KeyPoints, Micros, profile};
use tapewise_run::Recorder;
use tapewise_run::measure::{Step, Subject, Suite, fill, key_points, probe};

const SCALE: u64 = 1024;
const BLOCK: u64 = 32 * 1024 / SCALE;
const SEED: u64 = 23;

/// By how much each key point is off that shows in locates, in segments.
fn off(found: &KeyPoints) -> Vec<f64> {
    let kind = DriveKind::find("dlt4000").expect("a kind");
    let tape = Tape::new(&kind.shape, SEED).with_scale(SCALE);
    let mut off = Vec::new();
    for track in 0..found.tracks() {
        let landings = tape.landings(track);
        let pairs = found.track(track).iter().zip(landings).enumerate();
        for (_, (&segment, &lpos)) in pairs.filter(|(section, _)| *section != 1) {
            let (_, offset) = tape
                .offset(Spot { wrap: track, lpos })
                .expect("on the tape");
            off.push(segment.abs_diff(offset.div_ceil(BLOCK)) as f64);
        }
    }
    off
}

#[test]
fn a_budget_is_spent_to_the_last_locate_and_a_stopped_search_goes_on_for_the_rest_of_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive("dlt4000", SEED, SCALE, directory.path());
    let profile = profile::find("dlt4000").expect("a profile");
    let (mut before, mut log) = (Vec::<Event>::new(), Vec::<Event>::new());
    let mut recorder = Recorder::new(&mut drive, &mut before, &NEVER);
    fill(&mut recorder, BLOCK as usize, u64::MAX, 1, &mut |_| ()).expect("filled");
    let subject = Subject::explore(&mut recorder, &profile, SCALE).expect("data");
    drop(recorder);
    let budget = Micros::from_secs_f64(1_800.0);
    let suite = Suite::for_key_points(&subject, budget, 1);
    let took = |log: &[Event]| log.iter().map(|event| event.took_us).sum::<Micros>();
    // A locate through the whole tape takes 184 s.
    let on_time = |time: Micros| time >= budget && time < budget + Micros(200_000_000);
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    suite
        .run(&mut recorder, &subject, None, &[], &mut |_| ())
        .expect("measured");
    drop(recorder);
    assert!(on_time(took(&log)), "{:?}", took(&log));

    let half = log[..log.len() / 2].to_vec();
    let mut rest = Vec::<Event>::new();
    let mut recorder = Recorder::new(&mut drive, &mut rest, &NEVER);
    suite
        .run(&mut recorder, &subject, None, &half, &mut |_| ())
        .expect("measured");
    drop(recorder);
    let both = took(&half) + took(&rest);
    assert!(on_time(both), "{both:?}");

    let end = probe::full_end(&profile, subject.blocks);
    let nothing = probe::learned(&[], &profile, end, 1).expect("a belief");
    let learned = probe::learned(&log, &profile, end, 1).expect("a belief");
    let mean = |off: Vec<f64>| off.iter().sum::<f64>() / off.len() as f64;
    let [first, then] = [nothing, learned].map(|learned| mean(off(&learned.key_points())));
    assert!(then < first / 2.0, "{first}, then {then}");
}

#[test]
fn the_key_points_of_a_cartridge_never_seen_are_found_by_timing() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive("dlt4000", SEED, SCALE, directory.path());
    let profile = profile::find("dlt4000").expect("a profile");
    let mut log: Vec<Event> = Vec::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    fill(&mut recorder, BLOCK as usize, u64::MAX, 1, &mut |_| ()).expect("filled");
    let subject = Subject::explore(&mut recorder, &profile, SCALE).expect("data");
    let suite = Suite::plan(&subject, Some(&[Step::KeyPoints]), false, None, 1);
    suite
        .run(&mut recorder, &subject, None, &[], &mut |_| ())
        .expect("measured");
    drop(recorder);
    let nominal = profile.nominal_sections().expect("sections");
    let found = key_points::of_log(&log, nominal, subject.blocks).expect("key points");
    assert!((5_000..8_000).contains(&found.probes), "{}", found.probes);

    let kind = DriveKind::find("dlt4000").expect("a kind");
    let tape = Tape::new(&kind.shape, SEED).with_scale(SCALE);
    let mut off = 0;
    for track in 0..found.key_points.tracks() {
        for (section, &segment) in found.key_points.track(track).iter().enumerate() {
            let lpos = tape.landings(track)[section];
            let (_, offset) = tape
                .offset(Spot { wrap: track, lpos })
                .expect("on the tape");
            let truth = offset.div_ceil(BLOCK);
            // The first boundary of a track shows in no locate.
            let allowed = if section == 1 { 24 } else { 1 };
            off += u32::from(segment.abs_diff(truth) > allowed);
        }
    }
    // Noise: one or two in a thousand locates are off by seconds.
    assert!(off <= 12, "{off} of 896");
}
