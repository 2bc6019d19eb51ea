//! A suite that is taken up again does not measure twice what its log has; and what a log says of
//! the wear of a cartridge.

use crate::common;

use common::{NEVER, drive};
use tapewise_formats::event::Event;
use tapewise_model::{Micros, profile};
use tapewise_run::measure::{LeftOut, QUICK, Step, Subject, Suite, fill};
use tapewise_run::{Odometer, Recorder};

const STEPS: [Step; 3] = [Step::Mount, Step::SeekBot, Step::SeekMid];

/// Measures an Ampex, with this log of before: the subject, and what was added to the log.
fn measured(past: &[Event]) -> (Subject, Vec<Event>) {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive("ampex-dst310", 4, 1024, directory.path());
    let profile = profile::find("ampex-dst310").expect("a profile");
    let (mut before, mut log) = (Vec::<Event>::new(), Vec::<Event>::new());
    let mut recorder = Recorder::new(&mut drive, &mut before, &NEVER);
    fill(&mut recorder, 1024, u64::MAX, 1, &mut |_| ()).expect("filled");
    let subject = Subject::explore(&mut recorder, &profile, 1024).expect("data");
    drop(recorder);
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let suite = Suite::plan(&subject, Some(&STEPS), false, None, 9);
    suite
        .run(&mut recorder, &subject, None, past, &mut |_| ())
        .expect("measured");
    drop(recorder);
    (subject, log)
}

#[test]
fn what_the_log_has_is_not_measured_again_but_for_the_last_sample() {
    let (_, whole) = measured(&[]);
    let cut = whole.len() * 2 / 3;
    let (_, rest) = measured(&whole[..cut]);
    assert!(
        rest.len() < whole.len() - cut + 6,
        "{} of {}",
        rest.len(),
        whole.len()
    );
    let last = |log: &[Event]| log.last().and_then(|event| event.purpose.clone());
    assert_eq!(last(&rest), last(&whole));
}

#[test]
fn a_quick_suite_is_predicted_to_keep_its_time() {
    let profile = profile::find("ibm3590").expect("a profile");
    let subject = Subject::new(&profile, 19_000, 524_288, 1);
    let suite = Suite::plan(&subject, None, false, Some(QUICK), 1);
    assert!(suite.total() <= QUICK);
    assert!(
        suite
            .steps
            .iter()
            .any(|planned| planned.step == Step::SeekBot)
    );
}

#[test]
fn key_points_within_a_budget_are_one_step_that_is_predicted_to_take_all_of_it() {
    let profile = profile::find("dlt4000").expect("a profile");
    let subject = Subject::new(&profile, 620_000, 32_768, 1);
    for hours in [0.5, 2.0, 8.0] {
        let budget = Micros::from_secs_f64(hours * 3600.0);
        let suite = Suite::for_key_points(&subject, budget, 1);
        assert_eq!(suite.steps.len(), 1);
        let planned = suite.steps[0];
        assert_eq!(planned.step, Step::Probe);
        assert!(
            suite.total() <= budget && budget - suite.total() < planned.each,
            "{hours}"
        );
    }
}

/// Whatever the budget, an acceptance keeps to it, and names what there is no time for; what a recall is made of comes
/// first, and more hours buy more samples of it.
#[test]
fn an_acceptance_spends_its_budget_on_what_teaches_most() {
    for name in ["lto8", "ibm3590", "dlt4000", "dat-4mm"] {
        let profile = profile::find(name).expect("a profile");
        let subject = Subject::new(&profile, 300_000, 262_144, 1);
        let mut walked = 0;
        for hours in [0.3, 1.0, 4.0, 24.0] {
            let limit = Micros::from_secs_f64(hours * 3600.0);
            let suite = Suite::acceptance(&subject, true, limit, 1);
            assert!(suite.total() <= limit, "{name} {hours}");
            let samples = |step| {
                let planned = suite.steps.iter().find(|planned| planned.step == step);
                planned.map_or(0, |planned| planned.samples)
            };
            assert!(samples(Step::Mount) >= 4, "{name} {hours}");
            assert!(samples(Step::Walk) >= walked, "{name} {hours}");
            walked = samples(Step::Walk);
            for step in [Step::DataPath, Step::FileSize, Step::Delay, Step::Walk] {
                let is_named = suite.left_out.contains(&(step, LeftOut::NoTime));
                let named = is_named || suite.left_out.contains(&(step, LeftOut::NoCompression));
                assert!((samples(step) > 0) != named, "{name} {hours} {step}");
            }
        }
        assert!(walked > 24, "{name}: {walked}");
        let limit = Micros::from_secs_f64(4.0 * 3600.0);
        let reads_only = Suite::acceptance(&subject, false, limit, 1);
        assert!(
            reads_only
                .steps
                .iter()
                .all(|planned| !planned.step.writes())
        );
        let left_out = (Step::DataPath, LeftOut::NoWriting);
        assert!(reads_only.left_out.contains(&left_out), "{name}");
    }
}

#[test]
fn the_wear_of_a_measurement_is_its_loads_and_its_tape() {
    let (subject, log) = measured(&[]);
    let geometry = subject.profile.geometry().expect("a geometry");
    let mut odometer = Odometer::new(&geometry, subject.map.as_ref());
    log.iter().for_each(|event| odometer.add(event));
    assert_eq!(odometer.wear.loads, 8);
    // 48 seeks from the beginning and back are 48 passes or so, 60 between places 20.
    let passes = odometer.wear.passes(&geometry);
    assert!((55.0..85.0).contains(&passes), "{passes}");
}
