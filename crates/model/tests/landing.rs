//! The landing-point model: each coefficient by itself, landing points of both directions, travel.

use tapewise_model::locate::{LandingCoefficients, LandingModel};
use tapewise_model::{Geometry, Layout, LocateModel, Micros, Position, PositionSource, Profile};

fn geometry() -> Geometry {
    Geometry {
        layout: Layout::Serpentine,
        wraps: 16,
        bands: 4,
        lpos_min: 1_000,
        lpos_max: 101_000,
        metres_per_lpos: None,
        sections: 14,
    }
}

/// Coefficients that tell by the digits of the sum what was added.
fn marked() -> LandingCoefficients {
    LandingCoefficients {
        same_wrap_s: [1.0, 2.0],
        other_wrap_s: [10.0, 20.0, 30.0, 40.0],
        band_change_s: vec![100.0, 200.0, 300.0, 400.0, 500.0, 600.0],
        mid_cross_s: 1_000.0,
        travel_s: vec![0.0],
        travel_per_lpos_s: vec![0.000_001],
        read_on_s: 0.5,
        read_per_lpos_s: 0.000_002,
        wrap_start_s: [10_000.0, 20_000.0],
        ..LandingCoefficients::default()
    }
}

fn model(coefficients: &LandingCoefficients) -> LocateModel {
    LocateModel::LandingPoint(LandingModel::new(coefficients, &geometry()))
}

fn at(wrap: u16, lpos: u32) -> Position {
    Position {
        partition: 0,
        wrap,
        lpos,
        source: PositionSource::Recorded,
        error_lpos: 0,
    }
}

fn locate_s(coefficients: &LandingCoefficients, from: (u16, u32), to: (u16, u32)) -> f64 {
    let time = model(coefficients).locate(&at(from.0, from.1), &at(to.0, to.1));
    time.as_secs_f64()
}

/// What the marked model adds, in whole seconds.
fn added(from: (u16, u32), to: (u16, u32)) -> f64 {
    locate_s(&marked(), from, to).floor()
}

#[test]
fn a_step_back_and_each_kind_of_wrap_change_have_their_own_constant() {
    assert_eq!(added((0, 20_000), (0, 10_000)), 2.0);
    assert_eq!(added((1, 10_000), (1, 20_000)), 2.0);
    assert_eq!(added((0, 10_000), (2, 20_000)), 10.0);
    assert_eq!(added((0, 20_000), (2, 10_000)), 20.0);
    assert_eq!(added((0, 20_000), (1, 10_000)), 30.0);
    assert_eq!(added((0, 10_000), (1, 20_000)), 40.0);
}

#[test]
fn each_pair_of_bands_has_its_own_constant_both_ways() {
    let of_pairs = [(0, 4), (0, 8), (0, 12), (4, 8), (4, 12), (8, 12)];
    for (index, (low, high)) in of_pairs.into_iter().enumerate() {
        let expected = 110.0 + 100.0 * index as f64;
        assert_eq!(added((low, 10_000), (high, 20_000)), expected);
        assert_eq!(added((high, 10_000), (low, 20_000)), expected);
    }
}

#[test]
fn the_middle_is_added() {
    assert_eq!(added((0, 10_000), (2, 60_000)), 1_010.0);
    assert_eq!(added((0, 60_000), (2, 10_000)), 1_020.0);
}

#[test]
fn ahead_on_the_same_wrap_the_drive_reads_on_where_that_is_less() {
    let slow = LandingCoefficients {
        read_per_lpos_s: 0.000_2,
        ..marked()
    };
    // 0.5 s and 0.2 ms for each LPOS against 1 s and 1 us for each.
    assert!((locate_s(&slow, (0, 10_000), (0, 11_000)) - 0.7).abs() < 1e-6);
    assert!((locate_s(&slow, (0, 10_000), (0, 20_000)) - 1.01).abs() < 1e-6);
    assert!((locate_s(&slow, (3, 20_000), (3, 20_000)) - 0.5).abs() < 1e-6);
}

#[test]
fn the_drive_lands_before_the_destination_in_its_reading_direction_and_reads_up_to_it() {
    let coefficients = LandingCoefficients {
        forward_lpos: vec![30_000, 60_000],
        reverse_lpos: vec![60_000, 30_000],
        mid_cross_s: 0.0,
        wrap_start_s: [3.0, 5.0],
        ..marked()
    };
    // Landing at 30,000: 20,000 of travel, 15,000 of reading.
    let forward = locate_s(&coefficients, (0, 10_000), (2, 45_000));
    assert!((forward - 10.0 - 0.020 - 0.030).abs() < 1e-6, "{forward}");
    // Landing at 60,000, behind the head as a reverse wrap is read.
    let reverse = locate_s(&coefficients, (0, 10_000), (1, 45_000));
    assert!((reverse - 40.0 - 0.050 - 0.030).abs() < 1e-6, "{reverse}");
    // On a landing point itself nothing is read.
    let exact = locate_s(&coefficients, (0, 10_000), (2, 60_000));
    assert!((exact - 10.0 - 0.050).abs() < 1e-6, "{exact}");
    // Before the first landing point it begins where the wrap begins.
    let early = locate_s(&coefficients, (0, 11_000), (2, 21_000));
    assert!((early - 23.0 - 0.010 - 0.040).abs() < 1e-6, "{early}");
    let late = locate_s(&coefficients, (0, 91_000), (1, 81_000));
    assert!((late - 45.0 - 0.010 - 0.040).abs() < 1e-6, "{late}");
}

#[test]
fn where_a_landing_point_is_not_known_exactly_reading_falls_in_steps() {
    let coefficients = LandingCoefficients {
        forward_lpos: vec![30_000, 60_000],
        reverse_lpos: vec![60_000, 30_000],
        landing_spread_lpos: 400,
        travel_per_lpos_s: vec![0.0],
        read_per_lpos_s: 0.000_01,
        mid_cross_s: 0.0,
        ..marked()
    };
    // Seconds of reading up to a place, from the landing point that is expected there.
    let read =
        |wrap, lpos| locate_s(&coefficients, (4, 1_000 * u32::from(wrap)), (wrap, lpos)) % 10.0;
    for (past, reached) in [
        (-301, 0.0),
        (-299, 0.25),
        (-99, 0.5),
        (101, 0.75),
        (301, 1.0),
    ] {
        let expected = 0.000_01 * (f64::from(past) + 30_000.0 * (1.0 - reached));
        let forward = read(6, (60_000 + past) as u32);
        assert!((forward - expected).abs() < 1e-6, "{past}: {forward}");
        let reverse = read(7, (30_000 - past) as u32);
        assert!((reverse - expected).abs() < 1e-6, "{past}: {reverse}");
    }
}

#[test]
fn across_the_middle_the_way_to_it_is_quicker() {
    let coefficients = LandingCoefficients {
        mid_cross_s: 0.0,
        travel_per_lpos_s: vec![0.001],
        outside_saves_per_lpos_s: 0.000_25,
        ..marked()
    };
    // The middle is at 51,000: 10,000 outside, 20,000 inside.
    let upward = locate_s(&coefficients, (0, 41_000), (2, 71_000));
    assert!((upward - 10.0 - 30.0 + 2.5).abs() < 1e-6, "{upward}");
    let within = locate_s(&coefficients, (0, 61_000), (2, 71_000));
    assert!((within - 10.0 - 10.0).abs() < 1e-6, "{within}");
}

#[test]
fn travel_is_the_least_of_its_lines() {
    let coefficients = LandingCoefficients {
        travel_s: vec![0.0, 3.0],
        travel_per_lpos_s: vec![0.001, 0.000_5],
        ..marked()
    };
    assert!((locate_s(&coefficients, (0, 10_000), (2, 12_000)) - 12.0).abs() < 1e-6);
    assert!((locate_s(&coefficients, (0, 10_000), (2, 20_000)) - 18.0).abs() < 1e-6);
    let rewind = model(&coefficients).rewind(&model(&coefficients).point(&at(5, 11_000)));
    assert_eq!(rewind, Micros::from_secs_f64(1.0 + 3.0 + 5.0));
}

/// A profile's text with the landing-point model, `of` replaced by `with`.
fn profile(of: &str, with: &str) -> Result<Profile, String> {
    let text = r#"
name = "mine"
title = "A drive"
kind = "drive"
status = "estimate"
summary = "Fitted."
[sources]
LOG = "log.csv"
[cartridge]
layout = { value = "serpentine", source = "LOG" }
wraps = { value = 16, source = "LOG" }
bands = { value = 2, source = "LOG" }
lpos_min = { value = 1000, source = "LOG" }
lpos_max = { value = 101000, source = "LOG" }
[locate]
model = "landing-point"
same_wrap_s = { value = [1, 2], source = "LOG" }
other_wrap_s = { value = [10, 20, 30, 40], source = "LOG" }
band_change_s = { value = [3.2], source = "LOG" }
mid_cross_s = { value = -0.5, source = "LOG" }
travel_s = { value = [0, 1.5], source = "LOG" }
travel_per_lpos_s = { value = [0.001, 0.0005], source = "LOG" }
read_on_s = { value = 0.5, source = "LOG" }
read_per_lpos_s = { value = 0.001, source = "LOG" }
wrap_start_s = { value = [0, 0], source = "LOG" }
outside_saves_per_lpos_s = { value = 0.0001, source = "LOG" }
forward_lpos = { value = [30000, 60000], source = "LOG" }
reverse_lpos = { value = [], source = "LOG" }
residual_s = { value = 1.2, source = "LOG" }
"#;
    assert!(text.contains(of), "{of}");
    Profile::from_toml("mine.toml", &text.replace(of, with)).map_err(|error| error.to_string())
}

#[test]
fn a_profile_states_the_model() {
    let model = profile("name", "name").unwrap().locate_model(None).unwrap();
    assert_eq!(model.name(), "landing-point");
    assert_eq!(model.residual(), Some(Micros::from_secs_f64(1.2)));
    let time = model.locate(&at(0, 20_000), &at(2, 35_000));
    assert_eq!(time, Micros::from_secs_f64(10.0 + 1.5 + 5.0 + 5.0));
}

#[test]
fn coefficients_that_do_not_fit_together_are_refused_by_name() {
    for (of, with, field) in [
        ("[3.2]", "[3.2, 1]", "locate.band_change_s"),
        ("[0, 1.5]", "[0]", "locate.travel_s"),
        ("-0.5", "-1.5", "locate.mid_cross_s"),
        (
            "value = 0.0001,",
            "value = 0.0006,",
            "locate.outside_saves_per_lpos_s",
        ),
        ("[1, 2]", "[-1, 2]", "locate.same_wrap_s"),
        ("[30000, 60000]", "[300000]", "locate.forward_lpos"),
        ("value = 2, source", "value = 99, source", "cartridge.bands"),
    ] {
        let error = profile(of, with).unwrap_err();
        assert!(error.contains(field), "{error}");
    }
}
