//! The regression on LTO: each coefficient by itself, bands, the clamp at zero.

use tapewise_model::locate::{LtoCoefficients, LtoRegression};
use tapewise_model::{Geometry, Layout, LocateModel, Micros, Position, PositionSource, profile};

fn geometry(wraps: u16) -> Geometry {
    Geometry {
        layout: Layout::Serpentine,
        wraps,
        bands: 4,
        lpos_min: 2_696,
        lpos_max: 171_097,
        metres_per_lpos: None,
        sections: 14,
    }
}

/// Coefficients that tell by the digits of the sum what was added.
fn marked(wraps: u16) -> LocateModel {
    let coefficients = LtoCoefficients {
        intercept_s: 1.0,
        wrap_change_s: 10.0,
        band_change_s: 100.0,
        mid_cross_s: 1_000.0,
        direction_change_s: 10_000.0,
        step_back_s: 100_000.0,
        per_lpos_s: 0.000_001,
        residual_s: 0.0,
    };
    LocateModel::LtoRegression(LtoRegression::new(&coefficients, &geometry(wraps)))
}

fn at(wrap: u16, lpos: u32) -> Position {
    Position {
        partition: 0,
        wrap,
        lpos,
        source: PositionSource::EndOfWrapTable,
        error_lpos: 0,
    }
}

/// What the marked model adds, in whole seconds.
fn added(wraps: u16, from: (u16, u32), to: (u16, u32)) -> f64 {
    let time = marked(wraps).locate(&at(from.0, from.1), &at(to.0, to.1));
    time.as_secs_f64().floor()
}

const MIDDLE: u32 = 2_696 + 84_200;

#[test]
fn staying_costs_the_intercept() {
    assert_eq!(
        marked(208).locate(&at(0, 5_000), &at(0, 5_000)),
        Micros(1_000_000)
    );
}

#[test]
fn each_unit_of_distance_costs_the_same() {
    let time = marked(208).locate(&at(0, 5_000), &at(0, 55_000));
    assert_eq!(time, Micros(1_000_000 + 50_000));
}

#[test]
fn another_wrap_of_the_same_direction_costs_the_wrap_change() {
    assert_eq!(added(208, (0, 5_000), (2, 6_000)), 11.0);
    assert_eq!(added(208, (2, 6_000), (0, 5_000)), 11.0);
}

#[test]
fn the_other_direction_costs_the_direction_change_on_top() {
    assert_eq!(added(208, (0, 5_000), (1, 6_000)), 10_011.0);
    assert_eq!(added(208, (1, 5_000), (0, 4_000)), 10_011.0);
}

#[test]
fn another_band_costs_the_band_change_on_top_however_far() {
    assert_eq!(added(208, (0, 5_000), (52, 6_000)), 111.0);
    assert_eq!(added(208, (0, 5_000), (206, 6_000)), 111.0);
    assert_eq!(added(208, (51, 5_000), (52, 6_000)), 10_111.0);
}

#[test]
fn the_other_half_of_the_tape_costs_the_mid_crossing() {
    assert_eq!(added(208, (0, MIDDLE - 1), (0, MIDDLE)), 1_001.0);
    assert_eq!(added(208, (0, 5_000), (2, 170_000)), 1_011.0);
    assert_eq!(added(208, (0, MIDDLE), (0, MIDDLE + 1)), 1.0);
    assert_eq!(added(208, (1, MIDDLE), (1, MIDDLE - 1)), 1_001.0);
}

#[test]
fn stepping_back_counts_on_the_same_wrap_only() {
    assert_eq!(added(208, (0, 6_000), (0, 5_000)), 100_001.0);
    assert_eq!(added(208, (1, 5_000), (1, 6_000)), 100_001.0);
    assert_eq!(added(208, (0, 6_000), (2, 5_000)), 11.0);
    assert_eq!(added(208, (1, 6_000), (1, 5_000)), 1.0);
}

#[test]
fn a_quarter_of_the_wraps_is_a_band() {
    // LTO-6, M8, LTO-8, LTO-9 and LTO-10.
    for (wraps, in_band) in [(136, 34), (168, 42), (208, 52), (280, 70), (472, 118)] {
        for band in 1..4 {
            let first = band * in_band;
            // Reverse to forward within and over the edge.
            assert_eq!(
                added(wraps, (first - 1, 5_000), (first - 2, 5_000)),
                10_011.0
            );
            assert_eq!(added(wraps, (first - 1, 5_000), (first, 5_000)), 10_111.0);
        }
        assert_eq!(geometry(wraps).band(wraps - 1), 3);
    }
}

#[test]
fn a_short_move_over_the_middle_takes_no_less_than_no_time() {
    // 4.239 - 6.042 s and next to no distance; 2,912 LPOS farther it takes time again.
    let m8 = profile::find("lto7-m8")
        .unwrap()
        .locate_model(None)
        .unwrap();
    let time = |from: u32, to: u32| m8.locate(&at(0, from), &at(0, to));
    assert_eq!(time(MIDDLE - 1, MIDDLE), Micros::ZERO);
    assert_eq!(time(MIDDLE - 1, MIDDLE + 2_910), Micros::ZERO);
    assert!(time(MIDDLE - 1, MIDDLE + 2_920) > Micros::ZERO);
}

#[test]
fn the_published_coefficients_add_up() {
    // From wrap 0 at 10,000 to wrap 53 (band 1, reverse) at 160,000.
    let m8 = profile::find("lto7-m8")
        .unwrap()
        .locate_model(None)
        .unwrap();
    let time = m8.locate(&at(0, 10_000), &at(53, 160_000)).as_secs_f64();
    let expected = 4.2389745 + 6.69773 + 3.1991467 - 6.0424286 + 5.2179431 + 0.0006192 * 150_000.0;
    assert!((time - expected).abs() < 1e-4, "{time} is not {expected}");
    assert_eq!(m8.residual(), Some(Micros::from_secs_f64(8.193)));
}

#[test]
fn a_rewind_takes_the_intercept_and_the_distance() {
    let m8 = profile::find("lto7-m8")
        .unwrap()
        .locate_model(None)
        .unwrap();
    let rewind = m8.rewind(&m8.point(&at(7, 102_696))).as_secs_f64();
    assert!((rewind - 4.2389745 - 61.92).abs() < 1e-4, "{rewind}");
}
