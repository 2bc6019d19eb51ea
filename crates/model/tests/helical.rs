//! Seeks on helical tape: a startup and a share of the full length, and the short line of 4mm.

use tapewise_model::locate::HelicalLinear;
use tapewise_model::{LocateModel, Position, PositionSource, profile};

fn at(lpos: u32) -> Position {
    Position {
        partition: 0,
        wrap: 0,
        lpos,
        source: PositionSource::Nominal,
        error_lpos: 0,
    }
}

fn seek(model: &LocateModel, from: u32, to: u32) -> f64 {
    model.locate(&at(from), &at(to)).as_secs_f64()
}

fn of(name: &str) -> LocateModel {
    profile::find(name).unwrap().locate_model(None).unwrap()
}

#[track_caller]
fn assert_close(time: f64, seconds: f64) {
    assert!((time - seconds).abs() < 1e-3, "{time} is not {seconds}");
}

#[test]
fn a_seek_costs_the_startup_and_a_share_of_the_length() {
    // Table 4 of Johnson & Miller 1998: 9.6 and 26.2 s for the Ampex, 40.96 GB long.
    let ampex = of("ampex-dst310");
    assert_close(seek(&ampex, 0, 0), 9.6);
    assert_close(seek(&ampex, 0, 40_960_000), 35.8);
    assert_close(seek(&ampex, 10_240_000, 30_720_000), 9.6 + 13.1);
    let sony = of("sony-dtf");
    assert_close(seek(&sony, 0, 40_960_000), 154.0);
}

#[test]
fn a_long_way_back_takes_as_long_as_forth() {
    for name in ["ampex-dst310", "sony-dtf", "dat-4mm"] {
        let model = of(name);
        for (a, b) in [(0, 1_000_000), (17, 1_600_000), (500_000, 530_000)] {
            assert_eq!(seek(&model, a, b), seek(&model, b, a));
        }
    }
}

#[test]
fn short_seeks_ahead_on_4mm_have_a_line_of_their_own() {
    // Section 5.4.3: 436 X + 4.61 s for X GB; LPOS are KB.
    let dat = of("dat-4mm");
    assert_close(seek(&dat, 0, 0), 4.61);
    assert_close(seek(&dat, 600_000, 610_000), 4.61 + 4.36);
    // The paper compares them with reading on: they go ahead. A short way back is wound like a long one.
    assert_close(seek(&dat, 600_000, 590_000), 13.0 + 110.0 * 10.0 / 1_615.0);
}

#[test]
fn long_seeks_on_4mm_are_13_and_110_seconds() {
    let dat = of("dat-4mm");
    assert_close(seek(&dat, 0, 1_615_000), 123.0);
    assert_close(seek(&dat, 100_000, 200_000), 13.0 + 110.0 * 100.0 / 1_615.0);
}

#[test]
fn the_lines_of_4mm_meet_at_22_8_mb() {
    // 436 X + 4.61 = 13 + 110 X / 1.615 at X = 0.022806.
    let dat = of("dat-4mm");
    assert_close(seek(&dat, 0, 22_806), 4.61 + 436.0 * 0.022806);
    assert_close(seek(&dat, 0, 22_806), 13.0 + 110.0 * 22.806 / 1_615.0);
    assert!(seek(&dat, 0, 30_000) < 4.61 + 436.0 * 0.03);
}

#[test]
fn a_rewind_is_a_seek_to_the_beginning() {
    let model = LocateModel::HelicalLinear(HelicalLinear::new(10.0, 144.0, 0, 40_960_000, None));
    let rewind = model.rewind(&model.point(&at(20_480_000)));
    assert_close(rewind.as_secs_f64(), 82.0);
}
