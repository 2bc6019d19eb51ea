//! 4mm, Ampex DST 310 and Sony DTF: what Johnson & Miller 1998 publish comes out of the motions.

use crate::common;

use common::*;
use tapewise_emulator::{DriveKind, Mechanics, Tape};
use tapewise_model::{Random, profile};

/// A drive with a cartridge that was left at `parked_lpos`.
fn loaded(kind: &DriveKind, parked_lpos: Option<f64>, seed: u64) -> Mechanics {
    Mechanics::load(
        &kind.mechanism,
        Tape::new(&kind.shape, 1),
        parked_lpos,
        Random::new(seed, 3),
    )
    .0
}

#[test]
fn long_seeks_from_the_beginning_of_tape_are_a_line_with_the_published_startup_and_slope() {
    for name in ["dat-4mm", "ampex-dst310", "sony-dtf"] {
        let kind = kind(name);
        let mut drive = drive(&kind, 1);
        let mut random = Random::new(5, 0);
        let capacity = drive.tape().capacity(0);
        let points: Vec<(f64, f64)> = (0..500)
            .map(|_| {
                drive.rewind();
                let to = capacity / 10 + random.below(capacity * 9 / 10);
                (to as f64 / capacity as f64, seconds(drive.locate(0, to)))
            })
            .collect();
        let (startup, full) = line(&points);
        let seek = profile::find(name).unwrap().seek;
        assert_near(
            &format!("{name}, startup"),
            startup,
            seek.startup_s.unwrap().value,
            0.03,
        );
        assert_near(
            &format!("{name}, full"),
            full,
            seek.full_s.unwrap().value,
            0.03,
        );
    }
}

#[test]
fn an_ampex_finds_a_place_again_faster_than_for_the_first_time() {
    let mut drive = drive(&kind("ampex-dst310"), 1);
    let mut saved = Vec::new();
    for place in 1..100u64 {
        let offset = place * 400_000_000;
        drive.rewind();
        let first = seconds(drive.locate(0, offset));
        drive.rewind();
        saved.push(first - seconds(drive.locate(0, offset)));
    }
    let (mean, _) = mean_sd(&saved);
    assert!((mean - (9.6 - 7.4)).abs() < 0.1, "{mean}");
}

/// Where the line of short seeks ahead meets that of reading, in MB.
fn crossover_mb(name: &str, distances_mb: std::ops::Range<u64>, hinted: bool) -> f64 {
    let kind = kind(name);
    let mut drive = drive(&kind, 1);
    let from = drive.tape().capacity(0) / 3;
    let mut points = Vec::new();
    for distance in distances_mb {
        let step = kind.capacity_bytes() / 40_000;
        let to = from + distance * step;
        for visit in 0..2 {
            drive.locate(0, from);
            let time = seconds(drive.locate(0, to));
            if (visit == 1) == hinted {
                points.push(((to - from) as f64 / 1e6, time));
            }
        }
    }
    let (start_s, s_per_mb) = line(&points);
    start_s / (1.0 / kind.mechanism.streaming.rate_mb_s - s_per_mb)
}

#[test]
fn short_seeks_overtake_reading_where_published() {
    // Distances in steps of 1/40,000 of the tape: 40 KB on the 4mm, 1 MB on the others. The Ampex
    // was measured at places it had visited.
    let dat = crossover_mb("dat-4mm", 20..500, false);
    assert_near("4mm", dat, 1.6, 0.05);
    assert_near(
        "Ampex",
        crossover_mb("ampex-dst310", 20..500, true),
        110.0,
        0.05,
    );
    assert_near(
        "Sony",
        crossover_mb("sony-dtf", 20..500, false),
        100.0,
        0.05,
    );
}

#[test]
fn short_seeks_on_a_4mm_take_436_seconds_a_gigabyte_and_4_61() {
    let mut drive = drive(&kind("dat-4mm"), 1);
    let points: Vec<(f64, f64)> = (1..=200u64)
        .map(|part| {
            let from = 500_000_000;
            drive.locate(0, from);
            let bytes = part * 100_000;
            (bytes as f64 / 1e9, seconds(drive.locate(0, from + bytes)))
        })
        .collect();
    let (start_s, s_per_gb) = line(&points);
    assert_near("start", start_s, 4.61, 0.06);
    assert_near("slope", s_per_gb, 436.0, 0.05);
}

#[test]
fn an_ampex_unmounts_from_anywhere_on_two_lines_6_seconds_apart() {
    let kind = kind("ampex-dst310");
    let mut random = Random::new(1, 1);
    let mut times = Vec::new();
    let mut ends = [Vec::new(), Vec::new()];
    for seed in 0..1_000 {
        let mut drive = loaded(&kind, None, seed);
        let capacity = drive.tape().capacity(0);
        drive.locate(0, random.below(capacity));
        let place = drive.head().lpos;
        let unloaded = drive.unload((0, capacity));
        let time = seconds(unloaded.motion);
        times.push(time);
        let ahead = unloaded.parked_lpos.unwrap_or(0.0) > place;
        ends[usize::from(ahead)].push(time);
    }
    let (mean, sd) = mean_sd(&times);
    assert_near("mean", mean, 12.24, 0.02);
    assert_near("standard deviation", sd, 3.1, 0.05);
    let apart = mean_sd(&ends[1]).0 - mean_sd(&ends[0]).0;
    assert!((apart - 6.0).abs() < 0.2, "{apart}");
}

#[test]
fn an_ampex_unmounts_in_4_seconds_when_rewound() {
    let mut drive = drive(&kind("ampex-dst310"), 1);
    drive.locate(0, 20_000_000_000);
    drive.rewind();
    let unloaded = drive.unload((0, 40_000_000_000));
    assert_near("unmount", seconds(unloaded.motion), 4.0, 0.08);
    assert_eq!(unloaded.parked_lpos, None);
}

#[test]
fn the_first_seek_after_a_mount_mid_tape_depends_on_the_target_only_and_costs_25_seconds_more() {
    let kind = kind("ampex-dst310");
    let mut random = Random::new(2, 2);
    let (mut by_target, mut by_distance, mut extra) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..300 {
        let target = random.below(kind.capacity_bytes());
        let parked = 40_960_000.0 * random.unit();
        let mut lost = loaded(&kind, Some(parked), seed);
        let first = seconds(lost.locate(0, target));
        let distance = (lost.head().lpos - parked).abs();
        let rewound = seconds(loaded(&kind, None, seed).locate(0, target));
        extra.push(first - rewound);
        by_target.push((target as f64, first));
        by_distance.push((distance, first));
    }
    assert_near("extra", mean_sd(&extra).0, 25.0, 0.02);
    assert!(explained(&by_target) > 0.99, "{}", explained(&by_target));
    assert!(explained(&by_distance) < 0.1, "{}", explained(&by_distance));
}

/// R squared of a line through the points.
fn explained(points: &[(f64, f64)]) -> f64 {
    let (intercept, slope) = line(points);
    let values: Vec<f64> = points.iter().map(|point| point.1).collect();
    let left: Vec<f64> = points
        .iter()
        .map(|(x, y)| y - intercept - slope * x)
        .collect();
    1.0 - (mean_sd(&left).1 / mean_sd(&values).1).powi(2)
}

#[test]
fn only_the_first_seek_after_such_a_mount_is_dear() {
    let kind = kind("ampex-dst310");
    let mut drive = loaded(&kind, Some(2e7), 1);
    drive.locate(0, 10_000_000_000);
    assert!(seconds(drive.locate(0, 11_000_000_000)) < 12.0);
}

#[test]
fn a_sony_unmounts_at_the_nearer_of_beginning_and_end_of_data() {
    let kind = kind("sony-dtf");
    let end_of_data = (0, 30_000_000_000);
    let unload_from = |offset: u64| {
        let mut drive = drive(&kind, 1);
        drive.locate(0, offset);
        let unloaded = drive.unload(end_of_data);
        (seconds(unloaded.motion), unloaded.parked_lpos)
    };
    let (near_start, parked) = unload_from(5_000_000_000);
    assert_eq!(parked, None);
    assert_near(
        "near the beginning",
        near_start,
        18.0 + 10.0 + 144.0 * 5.0 / 40.96,
        0.05,
    );
    let (near_end, parked) = unload_from(25_000_000_000);
    assert_eq!(parked, Some(30_000_000.0));
    assert_near(
        "near the end of data",
        near_end,
        18.0 + 10.0 + 144.0 * 5.0 / 40.96,
        0.05,
    );
}
