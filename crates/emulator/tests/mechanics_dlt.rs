//! DLT4000, DLT7000 and IBM 3590: what Hillyer & Silberschatz 1996 and Johnson & Miller 1998
//! publish comes out of the motions.

use crate::common;

use common::*;
use tapewise_emulator::{DriveKind, Mechanics};
use tapewise_model::{Random, profile};

const SEGMENT: u64 = 32_768;

fn track(drive: &Mechanics, track: u16) -> (u64, u64) {
    let first = track
        .checked_sub(1)
        .map_or(0, |before| drive.tape().end_of_wrap(before).unwrap().1);
    (first, drive.tape().end_of_wrap(track).unwrap().1)
}

#[test]
fn a_dlt4000_has_the_means_and_the_longest_locate_of_1996() {
    let mut drive = drive(&kind("dlt4000"), 1);
    let mut random = Random::new(3, 3);
    let bot = locates_from_bot(&mut drive, 3_000, &mut random);
    assert_near("from the beginning of tape", mean_sd(&bot).0, 96.5, 0.03);
    let between = random_locates(&mut drive, 3_000, &mut random);
    assert_near("between random segments", mean_sd(&between).0, 72.4, 0.03);
    let longest = bot
        .iter()
        .chain(&between)
        .fold(0.0f64, |most, &time| most.max(time));
    assert_near("longest", longest, 180.0, 0.05);
}

#[test]
fn dips_of_25_and_of_5_seconds_lie_at_the_key_points() {
    // Noise apart: the mean of ten measurements on either side of a section's beginning.
    let kind = kind("dlt4000");
    let mut drive = drive(&kind, 4);
    let key_point = |drive: &Mechanics, wrap: u16, section: usize| {
        let lpos = drive.tape().landings(wrap)[section];
        drive
            .tape()
            .offset(tapewise_emulator::Spot { wrap, lpos })
            .unwrap()
            .1
    };
    let mut drop = |source: u64, at: u64| {
        let mut mean = |to: u64| {
            let times: Vec<f64> = (0..10)
                .map(|_| {
                    drive.locate(0, source);
                    seconds(drive.locate(0, to))
                })
                .collect();
            mean_sd(&times).0
        };
        mean(at - 2 * SEGMENT) - mean(at + 2 * SEGMENT)
    };
    let fixed = common::drive(&kind, 4);
    let backward = drop(track(&fixed, 10).1 - SEGMENT, key_point(&fixed, 20, 6));
    assert!((backward - 25.5).abs() < 1.5, "scanning back: {backward}");
    let forward = drop(track(&fixed, 10).0 + SEGMENT, key_point(&fixed, 20, 9));
    assert!((forward - 5.5).abs() < 1.5, "scanning forward: {forward}");
}

#[test]
fn few_locates_are_off_by_more_than_two_seconds() {
    // The same locate twice on one drive: the paper's model missed 7 of 3000 by more than 2 s.
    let mut drive = drive(&kind("dlt4000"), 6);
    let mut random = Random::new(8, 0);
    let capacity = drive.tape().capacity(0);
    let off = (0..3_000)
        .filter(|_| {
            let (from, to) = (random.below(capacity), random.below(capacity));
            let mut once = || {
                drive.locate(0, from);
                seconds(drive.locate(0, to))
            };
            (once() - once()).abs() > 2.0
        })
        .count();
    assert!((1..=21).contains(&off), "{off}");
}

/// Johnson & Miller's summary as their section 5.7 defines it: half of what a seek to an opposite
/// track costs, the seek to the end of a track, and from where on seeking is sooner than reading.
fn summary(kind: &DriveKind, min_seek_mb: f64) -> [f64; 3] {
    let (mut startup, mut full, mut crossover) = (0.0, 0.0, 0.0);
    let seeds = 8;
    for seed in 0..seeds {
        let mut drive = drive(kind, seed);
        startup += opposite_s(&mut drive, seed) / 2.0;
        full += full_s(&mut drive);
        crossover += crossover_mb(kind, &mut drive, min_seek_mb);
    }
    [startup, full, crossover].map(|sum| sum / f64::from(seeds as u32))
}

/// Mean seek to the same place along the neighbouring track.
fn opposite_s(drive: &mut Mechanics, seed: u64) -> f64 {
    let mut random = Random::new(seed, 5);
    let times: Vec<f64> = (0..300)
        .map(|_| {
            let along = 0.15 + 0.7 * random.unit();
            let wrap = 1 + random.below(6) as u16;
            let at = |wrap: u16| {
                let (first, end) = track(drive, wrap);
                let into = if wrap.is_multiple_of(2) {
                    along
                } else {
                    1.0 - along
                };
                first + ((end - first) as f64 * into) as u64
            };
            let (from, to) = (at(wrap), at(wrap + 1));
            drive.locate(0, from);
            seconds(drive.locate(0, to))
        })
        .collect();
    mean_sd(&times).0
}

/// What the line of seeks from BOT to a forward track gives for the track's end.
fn full_s(drive: &mut Mechanics) -> f64 {
    let (first, end) = track(drive, 2);
    let points: Vec<(f64, f64)> = (1..100)
        .map(|part| {
            drive.rewind();
            let time = seconds(drive.locate(0, first + (end - first) / 100 * part));
            (part as f64 / 100.0, time)
        })
        .collect();
    let (intercept, slope) = line(&points);
    intercept + slope
}

/// The distance from which on a seek ahead on a track takes at least 1 % less than reading.
fn crossover_mb(kind: &DriveKind, drive: &mut Mechanics, about_mb: f64) -> f64 {
    let (first, end) = track(drive, 4);
    let gains = |distance_mb: f64, drive: &mut Mechanics| {
        let distance = (distance_mb * 1e6) as u64;
        let gained: Vec<f64> = (0..60)
            .map(|start| {
                let from = first + (end - first - distance) / 60 * start;
                drive.locate(0, from);
                let reading = distance_mb / kind.mechanism.streaming.rate_mb_s;
                1.0 - seconds(drive.locate(0, from + distance)) / reading
            })
            .collect();
        mean_sd(&gained).0 > 0.01
    };
    let mut distances = (20..200).map(|step| about_mb * f64::from(step) / 100.0);
    distances
        .find(|&distance| gains(distance, drive))
        .expect("a seek that wins")
}

#[test]
fn the_summary_of_1998_comes_out_of_the_serpentine_drives() {
    for name in ["dlt4000-jm98", "dlt7000", "ibm3590"] {
        let seek = profile::find(name).unwrap().seek;
        let min_seek_mb = seek.min_seek_mb.clone().unwrap().value;
        let [startup, full, crossover] = summary(&kind(name), min_seek_mb);
        assert_near(
            &format!("{name}, startup"),
            startup,
            seek.startup_s.unwrap().value,
            0.05,
        );
        assert_near(
            &format!("{name}, full"),
            full,
            seek.full_s.unwrap().value,
            0.05,
        );
        assert_near(&format!("{name}, crossover"), crossover, min_seek_mb, 0.05);
    }
}

#[test]
fn reading_on_is_how_a_dlt_seeks_a_short_way() {
    let kind = kind("dlt4000-jm98");
    let mut drive = drive(&kind, 2);
    let (first, _) = track(&drive, 4);
    for mb in [5u64, 20, 40] {
        drive.locate(0, first);
        let seek = seconds(drive.locate(0, first + mb * 1_000_000));
        let read = mb as f64 / 1.3;
        assert!((seek - read).abs() < 1.5, "{mb} MB: {seek}, reading {read}");
    }
}

#[test]
fn a_3590_with_its_fault_is_slow_to_the_beginning_of_reverse_tracks_only() {
    let plain = kind("ibm3590");
    let slow = plain.clone().with_slow_reverse_start(40.0);
    let at = |kind: &DriveKind, track_number: u16| {
        let mut drive = drive(kind, 1);
        let first = track(&drive, track_number).0;
        seconds(drive.locate(0, first + 1_000_000))
    };
    assert!((at(&slow, 1) - at(&plain, 1) - 40.0).abs() < 1.0);
    assert_eq!(at(&slow, 2), at(&plain, 2));
}

#[test]
fn cartridges_differ_in_their_times() {
    let kind = kind("dlt4000");
    let times = |seed| {
        let mut drive = Mechanics::load(
            &kind.mechanism,
            tapewise_emulator::Tape::new(&kind.shape, seed),
            None,
            Random::new(0, 0),
        )
        .0;
        random_locates(&mut drive, 500, &mut Random::new(1, 2))
    };
    let far = times(1)
        .iter()
        .zip(times(2))
        .filter(|(one, other)| (*one - other).abs() > 2.0)
        .count();
    assert!(
        (2..200).contains(&far),
        "{far} of 500 differ by more than 2 s"
    );
}
