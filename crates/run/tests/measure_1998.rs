//! The suite on the six emulated drives of 1998 finds Table 4 of Johnson & Miller within 5 %.

use crate::common;

use common::{NEVER, drive};
use tapewise_formats::event::Event;
use tapewise_model::profile;
use tapewise_run::Recorder;
use tapewise_run::measure::summary::Summary;
use tapewise_run::measure::{Step, Subject, Suite, fill};

/// Fills a cartridge of this kind, measures the steps of Table 4 and sums up.
fn measured(kind: &str, block_kb: usize) -> Summary {
    const SCALE: usize = 1024;
    const STEPS: [Step; 7] = [
        Step::Mount,
        Step::SeekBot,
        Step::SeekOpposite,
        Step::ShortSeek,
        Step::Stream,
        Step::Delay,
        Step::Midtape,
    ];
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(kind, 11, SCALE as u64, directory.path());
    let profile = profile::find(kind).expect("a profile");
    let mut log: Vec<Event> = Vec::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let block = block_kb * 1024 / SCALE;
    let most = Subject::most_blocks(&profile, (block * SCALE) as u64);
    fill(&mut recorder, block, most, 1, &mut |_| ()).expect("filled");
    let subject = Subject::explore(&mut recorder, &profile, SCALE as u64).expect("data");
    let suite = Suite::plan(&subject, Some(&STEPS), false, None, 5);
    suite
        .run(&mut recorder, &subject, None, &[], &mut |_| ())
        .expect("measured");
    drop(recorder);
    Summary::of(&log, &subject)
}

/// Mount, unmount, rate, seek startup, full seek, smallest seek; and the delay where it is printed.
fn table_4(kind: &str, block_kb: usize, theirs: [f64; 6], delay_ms: Option<f64>) -> Summary {
    let summary = measured(kind, block_kb);
    let long = summary.long_seek.expect("long seeks");
    let ours = [
        summary.mount_s.expect("mounts").mean,
        summary.unmount_s.expect("unmounts").mean,
        summary.rate_mb_s.expect("rates").mean,
        long.startup_s,
        long.full_s,
        summary.crossover.as_ref().expect("short seeks").mb,
    ];
    let off = |ours: f64, theirs: f64| (ours / theirs - 1.0).abs();
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!(off(*ours, theirs) < 0.05, "{kind}: {ours} of {theirs}");
    }
    if let Some(theirs) = delay_ms {
        let ours = summary.delay.as_ref().expect("delays").ms;
        assert!(off(ours, theirs) < 0.05, "{kind}: {ours} ms of {theirs}");
    }
    summary
}

#[test]
fn a_4mm_drive() {
    // The paper's 1.6 MB is rounded: its line of short seeks meets reading at 1.75 MB. The emulated
    // drive stands between the two.
    table_4("dat-4mm", 16, [50.0, 21.0, 0.325, 13.0, 110.0, 1.67], None);
}

#[test]
fn an_ampex_lets_go_of_a_tape_at_its_zones_and_then_seeks_25_s_longer() {
    let theirs = [10.1, 4.0, 14.2, 9.6, 26.2, 110.0];
    let summary = table_4("ampex-dst310", 1024, theirs, Some(6.0));
    let unmount = summary.unmount_midtape_s.expect("unmounts");
    assert!((unmount.mean / 12.24 - 1.0).abs() < 0.05, "{unmount:?}");
    assert!((unmount.sd / 3.1 - 1.0).abs() < 0.15, "{unmount:?}");
    let (first, usual) = (summary.first_seek_s, summary.seek_bot_s);
    let more = first.expect("seeks").mean - usual.expect("seeks").mean;
    assert!((20.0..27.0).contains(&more), "{more}");
}

#[test]
fn a_sony_dtf() {
    let theirs = [51.0, 18.0, 12.0, 10.0, 144.0, 100.0];
    table_4("sony-dtf", 512, theirs, Some(6.0));
}

#[test]
fn a_dlt4000() {
    let theirs = [40.0, 21.0, 1.3, 21.0, 147.0, 43.0];
    table_4("dlt4000-jm98", 32, theirs, Some(10.0));
}

#[test]
fn a_dlt7000() {
    table_4("dlt7000", 32, [39.0, 12.0, 4.3, 13.0, 119.0, 150.0], None);
}

#[test]
fn an_ibm_3590() {
    table_4("ibm3590", 512, [16.5, 23.0, 8.9, 6.0, 60.0, 100.0], None);
}
