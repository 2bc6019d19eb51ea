//! Streaming: rates, delays, buffers and compression as published.

use crate::common;

use common::*;
use tapewise_emulator::{DriveKind, Mechanics, Stretch};
use tapewise_model::profile;

/// MB/s of `requests` reads of `bytes`, the host pausing `delay_s` after each; and the mean response.
fn read_loop(kind: &DriveKind, bytes: u64, delay_s: f64, requests: u64) -> (f64, f64) {
    let mut drive = drive(kind, 1);
    drive.locate(0, 0);
    let (mut now, mut waited) = (0.0, 0.0);
    for request in 0..requests {
        let time = seconds(drive.read(stretch(request * bytes, bytes), at(now)));
        waited += time;
        now += time + delay_s;
    }
    (
        (requests * bytes) as f64 / 1e6 / now,
        waited / requests as f64,
    )
}

const SIX: [&str; 6] = [
    "dat-4mm",
    "ampex-dst310",
    "sony-dtf",
    "dlt4000-jm98",
    "dlt7000",
    "ibm3590",
];

#[test]
fn a_tight_loop_reads_at_the_published_rate_from_the_published_size_on() {
    for name in SIX {
        let kind = kind(name);
        let transfer = profile::find(name).unwrap().transfer;
        let bytes = (transfer.transfer_kb.unwrap().value * 1024.0) as u64;
        let rate = transfer.rate_mb_s.unwrap().value;
        let (at_size, _) = read_loop(&kind, bytes, 0.0, 200);
        assert_near(&format!("{name} at the size"), at_size, rate, 0.01);
        let (at_half, _) = read_loop(&kind, bytes / 2, 0.0, 200);
        assert!(at_half < 0.97 * rate, "{name} at half the size: {at_half}");
    }
}

#[test]
fn delays_cost_nothing_up_to_the_published_ones() {
    for (name, bytes, tolerated_s) in [
        ("dlt4000-jm98", 32 * 1024, 0.010),
        ("ampex-dst310", 1024 * 1024, 0.006),
        ("sony-dtf", 512 * 1024, 0.006),
    ] {
        let kind = kind(name);
        let (full, response) = read_loop(&kind, bytes, 0.0, 300);
        let (tolerated, shorter) = read_loop(&kind, bytes, tolerated_s * 0.98, 300);
        assert_near(&format!("{name}, tolerated"), tolerated, full, 0.01);
        // "The response time actually decreases with an increasing delay."
        assert!(
            shorter < response - tolerated_s / 2.0,
            "{name}: {shorter} {response}"
        );
        let (late, _) = read_loop(&kind, bytes, tolerated_s * 1.5, 300);
        assert!(late < 0.985 * full, "{name}: {late} {full}");
    }
}

#[test]
fn pauses_of_ten_seconds_do_not_lengthen_the_reading_of_one_block() {
    for name in SIX {
        let kind = kind(name);
        let bytes = 32 * 1024;
        let (_, tight) = read_loop(&kind, bytes, 0.0, 100);
        let (_, paused) = read_loop(&kind, bytes, 10.0, 100);
        assert!(paused <= tight * 1.02, "{name}: {paused} {tight}");
    }
}

/// Response to a large read after a pause, the tape streaming before it.
fn after_pause(drive: &mut Mechanics, bytes: u64, pause_s: f64) -> f64 {
    drive.locate(0, 0);
    let first = seconds(drive.read(stretch(0, bytes), at(0.0)));
    seconds(drive.read(stretch(bytes, bytes), at(first + pause_s)))
}

#[test]
fn an_ampex_restarts_for_7_seconds_after_32_when_more_is_read_than_its_buffer_holds() {
    let mut drive = drive(&kind("ampex-dst310"), 1);
    let mut lost =
        |bytes: u64, pause_s: f64| after_pause(&mut drive, bytes, pause_s) - bytes as f64 / 14.2e6;
    for mb in [70, 100] {
        assert_near("lost", lost(mb * 1_000_000, 33.0), 7.0, 0.03);
        assert!(lost(mb * 1_000_000, 31.0) < 1.0);
    }
    assert!(lost(60_000_000, 33.0) <= 0.0);
}

#[test]
fn a_dlt4000_starts_without_loss_after_100_seconds_and_for_100_megabytes() {
    let mut drive = drive(&kind("dlt4000-jm98"), 1);
    let paused = after_pause(&mut drive, 100_000_000, 100.0);
    assert_near("paused against streaming", paused, 100.0 / 1.3, 0.01);
}

#[test]
fn compressed_data_is_read_and_written_at_the_published_rates() {
    for name in ["dlt4000-jm98", "sony-dtf"] {
        let kind = kind(name);
        let transfer = profile::find(name).unwrap().transfer;
        for ratio in [1.0, 2.0, 4.0] {
            let [a, b] = transfer.read_s_per_mb.clone().unwrap().value;
            let read = compressed(&kind, ratio, Mechanics::read);
            assert_near(
                &format!("{name} read at {ratio}"),
                read,
                1.0 / (a + b / ratio),
                0.03,
            );
            let [a, b] = transfer.write_s_per_mb.clone().unwrap().value;
            let written = compressed(&kind, ratio, Mechanics::write);
            assert_near(
                &format!("{name} write at {ratio}"),
                written,
                1.0 / (a + b / ratio),
                0.03,
            );
        }
    }
}

/// MB/s of the host over 400 MB of data with a gzip ratio.
fn compressed(
    kind: &DriveKind,
    ratio: f64,
    run: fn(&mut Mechanics, Stretch, tapewise_model::Micros) -> tapewise_emulator::Motion,
) -> f64 {
    let mut drive = drive(kind, 1);
    drive.locate(0, 0);
    let (bytes, requests) = (1_000_000, 400);
    let recorded = kind.compression.unwrap().recorded_bytes(bytes, ratio);
    let mut now = 0.0;
    for request in 0..requests {
        let stretch = Stretch {
            partition: 0,
            from: request * recorded,
            to: (request + 1) * recorded,
            host_bytes: bytes,
            gzip_ratio: Some(ratio),
        };
        now += seconds(run(&mut drive, stretch, at(now)));
    }
    now += seconds(drive.flush(at(now)));
    (requests * bytes) as f64 / 1e6 / now
}

#[test]
fn compression_gains_the_published_capacity() {
    for (name, a, b) in [("dlt4000-jm98", 0.56, 0.577), ("sony-dtf", 0.58, 0.488)] {
        let compression = kind(name).compression.unwrap();
        for ratio in [1.0, 2.5, 5.0] {
            let gained = 1e9 / compression.recorded_bytes(1_000_000_000, ratio) as f64;
            assert_near(name, gained, a + b * ratio, 0.001);
        }
    }
    assert!(kind("ampex-dst310").compression.is_none());
}

#[test]
fn an_lto_8_follows_a_slow_host_down_to_its_slowest_speed_and_back_hitches_below() {
    // The host writes 1 MB at a time at a steady rate, long enough for what queued up while the
    // tape started to be written; a filemark waits for what is still queued,
    // and most of all where the tape has just stopped and has to back up.
    let kind = kind("lto8");
    let longest_wait = |host_mb_s: f64| {
        let waits = (0..20).map(|phase| {
            let mut drive = drive(&kind, 1);
            let mut now = 0.0;
            for request in 0..10_000 + phase * 17 {
                let time = seconds(drive.write(stretch(request * 1_000_000, 1_000_000), at(now)));
                now += time.max(1.0 / host_mb_s);
            }
            seconds(drive.flush(at(now)))
        });
        waits.fold(0.0, f64::max)
    };
    for matched in [115.0, 160.0, 240.0, 300.0] {
        let wait = longest_wait(matched);
        assert!(wait < 1.0, "{matched} MB/s: {wait}");
    }
    let below = longest_wait(60.0);
    assert!((1.5..4.0).contains(&below), "60 MB/s: {below}");
}

#[test]
fn a_wrap_end_costs_a_turnaround_and_a_tape_holds_its_length() {
    let kind = kind("lto8");
    let mut drive = drive(&kind, 1);
    let end = drive.tape().end_of_wrap(0).unwrap().1;
    let bytes = 1_000_000_000;
    let mut time = |from: u64| {
        drive.locate(0, from);
        drive.read(stretch(from, bytes), at(0.0))
    };
    let (within, across) = (time(end - 2 * bytes), time(end - bytes / 2));
    let turnaround = seconds(across) - seconds(within);
    assert!((turnaround - 1.5).abs() < 1e-6, "{turnaround}");
    let whole = time(0).metres * end as f64 / bytes as f64;
    assert_near("metres of a wrap", whole, 922.0, 0.01);
}

#[test]
fn a_scaled_tape_streams_at_the_times_of_the_full_one() {
    let kind = kind("lto8");
    let full = tapewise_emulator::Tape::new(&kind.shape, 1);
    let time = |scale: u64| {
        let tape = full.clone().with_scale(scale);
        let noise = tapewise_model::Random::new(1, 1);
        let mut drive = Mechanics::load(&kind.mechanism, tape, None, noise).0;
        let bytes = 4_000_000_000 / scale;
        drive.locate(0, 8 * bytes);
        seconds(drive.read(stretch(8 * bytes, bytes), at(0.0)))
    };
    assert_eq!(time(1), time(1_000));
}
