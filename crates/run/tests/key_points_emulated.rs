//! Key points found on an emulated DLT4000, against the landing points of its very cartridge.

use crate::common;

use common::{NEVER, drive};
use tapewise_emulator::{DriveKind, Spot, Tape};
use tapewise_formats::event::Event;
use tapewise_model::profile;
use tapewise_run::Recorder;
use tapewise_run::measure::{Step, Subject, Suite, fill, key_points};

#[test]
fn the_key_points_of_a_cartridge_never_seen_are_found_by_timing() {
    const SCALE: u64 = 1024;
    const BLOCK: u64 = 32 * 1024 / SCALE;
    const SEED: u64 = 23;
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
