//! What only writing tells, on the emulated drives of 1998: sizes of block and compression, Table 4
//! and section 5.6 of Johnson & Miller.

use crate::common;

use common::{NEVER, drive, drive_with_worm};
use tapewise_formats::event::Event;
use tapewise_model::profile;
use tapewise_run::measure::summary::{BlockRate, Summary};
use tapewise_run::measure::{Step, Subject, Suite};
use tapewise_run::{Recorder, RunError};

const SCALE: u64 = 1024;

/// Writes on a new cartridge of this kind what these steps ask for.
fn measured(kind: &str, scale: u64, steps: &[Step]) -> Summary {
    measured_on(3, kind, scale, steps)
}

/// The same on the cartridge of another seed.
fn measured_on(seed: u64, kind: &str, scale: u64, steps: &[Step]) -> Summary {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(kind, seed, scale, directory.path());
    let profile = profile::find(kind).expect("a profile");
    let mut log: Vec<Event> = Vec::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let subject = Subject::new(&profile, 0, 32, scale);
    let suite = Suite::writing(&subject, Some(steps), false, 5);
    suite
        .run(&mut recorder, &subject, None, &[], &mut |_| ())
        .expect("measured");
    drop(recorder);
    Summary::of(&log, &subject)
}

#[track_caller]
fn near(what: &str, ours: f64, theirs: f64) {
    assert!(
        (ours / theirs - 1.0).abs() < 0.05,
        "{what}: {ours}, {theirs}"
    );
}

/// Ratio `[a, b]`, largest rate of reading and of writing.
fn compresses(kind: &str, ratio: [f64; 2], read_mb_s: f64, write_mb_s: f64) {
    let compression = measured(kind, SCALE, &[Step::Compression]).compression;
    let compression = compression.expect("a drive that compresses");
    near("a", compression.ratio.intercept, ratio[0]);
    near("b", compression.ratio.slope, ratio[1]);
    near("read", compression.max_read_mb_s(), read_mb_s);
    near("write", compression.max_write_mb_s(), write_mb_s);
    let gzip: Vec<f64> = compression
        .data
        .iter()
        .map(|data| data.gzip_ratio)
        .collect();
    assert!(gzip[0] <= 1.0 && gzip[gzip.len() - 1] > 6.0, "{gzip:?}");
}

#[test]
fn a_dlt4000_compresses_as_in_table_4() {
    compresses("dlt4000-jm98", [0.56, 0.577], 2.7, 5.2);
}

#[test]
fn a_sony_dtf_compresses_as_in_table_4() {
    compresses("sony-dtf", [0.58, 0.488], 19.0, 16.9);
}

#[test]
fn an_lto8_shows_how_much_tape_a_stretch_took_so_no_cartridge_is_filled() {
    let compression = measured("lto8", 1 << 16, &[Step::Compression]).compression;
    let compression = compression.expect("a drive that compresses");
    // The emulated drive gains half of what gzip gains.
    near("a", compression.ratio.intercept, 0.5);
    near("b", compression.ratio.slope, 0.5);
}

#[test]
fn the_smallest_block_that_reaches_the_full_rate_is_that_of_table_4() {
    for (kind, kb, rate) in [("dlt4000-jm98", 32, 1.3), ("ampex-dst310", 1024, 14.2)] {
        let rates = measured(kind, SCALE, &[Step::BlockSize]).block_rates;
        assert_eq!(
            BlockRate::smallest_full(&rates),
            Some(kb * 1024),
            "{rates:?}"
        );
        let last = rates.last().expect("a rate");
        near("read", last.read_mb_s, rate);
        near("write", last.write_mb_s, rate);
        assert!(rates[0].read_mb_s < 0.9 * rate, "{rates:?}");
    }
}

#[test]
fn a_cartridge_with_no_room_for_a_filemark_behind_the_last_block_is_measured_all_the_same() {
    // Blocks stand for 16 MB each, so the last one leaves any room between all and nothing.
    for seed in 2..6 {
        let compression =
            measured_on(seed, "dlt4000-jm98", SCALE, &[Step::Compression]).compression;
        let compression = compression.expect("a drive that compresses");
        near("b", compression.ratio.slope, 0.577);
    }
}

#[test]
fn a_cartridge_that_can_be_written_only_once_stays_blank() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive_with_worm("lto8", directory.path());
    let profile = profile::find("lto8").expect("a profile");
    let mut log: Vec<Event> = Vec::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let refused = Subject::blank(&mut recorder, &profile, 32, 1);
    assert!(
        matches!(&refused, Err(RunError::Unsuitable(why)) if why.contains("WORM")),
        "{refused:?}"
    );
}
