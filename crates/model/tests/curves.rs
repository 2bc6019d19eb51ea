//! The model of curves: each curve by itself, by sums made by hand.

use tapewise_model::locate::{CurvesCoefficients, CurvesModel};
use tapewise_model::{Geometry, Layout, LocateModel, Position, PositionSource, Profile, profile};

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

/// A second for each 1,000 LPOS, and constants that tell by their digits what was added.
fn plain() -> CurvesCoefficients {
    CurvesCoefficients {
        same_wrap_s: [1_000.0, 2_000.0],
        other_wrap_s: [3_000.0, 4_000.0, 5_000.0, 6_000.0],
        band_change_s: vec![0.0; 6],
        away_s: vec![0.0],
        away_per_way_s: vec![0.001],
        towards_s: vec![0.0],
        towards_per_way_s: vec![0.001],
        read_on_s: 9_000.0,
        read_per_lpos_s: 0.01,
        ..CurvesCoefficients::default()
    }
}

fn locate_s(coefficients: &CurvesCoefficients, from: (u16, u32), to: (u16, u32)) -> f64 {
    let at = |(wrap, lpos)| Position {
        partition: 0,
        wrap,
        lpos,
        source: PositionSource::Recorded,
        error_lpos: 0,
    };
    let model = LocateModel::Curves(CurvesModel::new(coefficients, &geometry()));
    model.locate(&at(from), &at(to)).as_secs_f64()
}

#[test]
fn what_the_drive_must_do_has_constants_of_its_own() {
    let plain = plain();
    assert_eq!(locate_s(&plain, (0, 11_000), (0, 31_000)), 1_020.0, "ahead");
    assert_eq!(
        locate_s(&plain, (0, 31_000), (0, 11_000)),
        2_020.0,
        "behind"
    );
    assert_eq!(
        locate_s(&plain, (1, 31_000), (1, 11_000)),
        1_020.0,
        "ahead, on a wrap read the other way"
    );
    assert_eq!(locate_s(&plain, (0, 11_000), (2, 31_000)), 3_020.0);
    assert_eq!(locate_s(&plain, (0, 31_000), (2, 11_000)), 4_020.0);
    assert_eq!(locate_s(&plain, (0, 31_000), (1, 11_000)), 5_020.0);
    assert_eq!(locate_s(&plain, (0, 11_000), (1, 31_000)), 6_020.0);
    let bands = CurvesCoefficients {
        band_change_s: vec![0.0, 0.0, 0.0, 0.0, 70_000.0, 0.0],
        ..plain
    };
    assert_eq!(
        locate_s(&bands, (4, 11_000), (14, 31_000)),
        73_020.0,
        "from band 1 to band 3"
    );
}

#[test]
fn an_uneven_pace_is_summed_up_along_the_tape_and_each_way_has_its_curve() {
    // 50,000 LPOS at one second for 1,000, then twice as slow.
    let uneven = CurvesCoefficients {
        pace: vec![1.0, 2.0],
        ..plain()
    };
    assert_eq!(
        locate_s(&uneven, (0, 41_000), (2, 61_000)),
        3_000.0 + 10.0 + 20.0
    );
    assert_eq!(
        locate_s(&uneven, (0, 61_000), (2, 41_000)),
        4_000.0 + 10.0 + 20.0
    );
    let slow_back = CurvesCoefficients {
        towards_per_way_s: vec![0.003],
        ..uneven
    };
    assert_eq!(
        locate_s(&slow_back, (0, 41_000), (2, 61_000)),
        3_000.0 + 30.0
    );
    assert_eq!(
        locate_s(&slow_back, (0, 61_000), (2, 41_000)),
        4_000.0 + 90.0
    );
    // A short move never gets up to speed: 2 s for each 1,000 LPOS up to 5,000, then as usual.
    let bent = CurvesCoefficients {
        away_s: vec![0.0, 5.0],
        away_per_way_s: vec![0.002, 0.001],
        ..plain()
    };
    assert_eq!(locate_s(&bent, (0, 11_000), (2, 14_000)), 3_006.0);
    assert_eq!(locate_s(&bent, (0, 11_000), (2, 31_000)), 3_025.0);
}

#[test]
fn steps_are_added_or_the_slower_of_tape_and_head_counts() {
    let after = CurvesCoefficients {
        step_wraps: vec![1, 3, 15],
        step_s: vec![2.0, 6.0, 30.0],
        ..plain()
    };
    assert_eq!(
        locate_s(&after, (0, 11_000), (0, 21_000)),
        1_010.0,
        "no step on the own wrap"
    );
    assert_eq!(
        locate_s(&after, (0, 11_000), (2, 21_000)),
        3_010.0 + 4.0,
        "half way from 1 to 3 wraps"
    );
    let beside = CurvesCoefficients {
        steps_beside: true,
        ..after
    };
    assert_eq!(
        locate_s(&beside, (0, 11_000), (2, 21_000)),
        3_010.0,
        "the tape takes longer"
    );
    assert_eq!(
        locate_s(&beside, (0, 11_000), (2, 12_000)),
        3_004.0,
        "the head takes longer"
    );
}

#[test]
fn a_change_of_band_is_a_step_while_the_tape_runs_and_comes_on_top_otherwise() {
    let after = CurvesCoefficients {
        band_change_s: vec![0.0, 0.0, 0.0, 0.0, 7.0, 0.0],
        step_wraps: vec![1, 15],
        step_s: vec![2.0, 2.0],
        ..plain()
    };
    let beside = CurvesCoefficients {
        steps_beside: true,
        ..after.clone()
    };
    // From band 1 to 3; the step takes 2 s and 7 s for the bands, the tape 10 s or 1 s.
    assert_eq!(locate_s(&after, (4, 11_000), (12, 21_000)), 3_010.0 + 9.0);
    assert_eq!(locate_s(&beside, (4, 11_000), (12, 21_000)), 3_010.0);
    assert_eq!(locate_s(&beside, (4, 11_000), (12, 12_000)), 3_009.0);
}

#[test]
fn moves_between_the_sides_go_by_the_station_and_a_drive_reads_on_only_so_far() {
    let sides = CurvesCoefficients {
        station_lpos: Some(51_000),
        far_wraps: vec![2, 3],
        ..plain()
    };
    assert_eq!(locate_s(&sides, (0, 11_000), (4, 21_000)), 3_010.0);
    // 40 s to the station and 30 s back from there, which is towards the beginning: behind on a forward wrap.
    assert_eq!(locate_s(&sides, (0, 11_000), (2, 21_000)), 4_070.0);
    let reading = CurvesCoefficients {
        read_on_s: 1.0,
        ..plain()
    };
    assert_eq!(locate_s(&reading, (0, 11_000), (0, 12_000)), 11.0);
    assert_eq!(locate_s(&reading, (0, 11_000), (0, 21_000)), 101.0);
    let rule = CurvesCoefficients {
        read_on_lpos: Some(1_000),
        ..reading
    };
    assert_eq!(locate_s(&rule, (0, 11_000), (0, 12_000)), 11.0);
    assert_eq!(locate_s(&rule, (0, 11_000), (0, 12_001)), 1_001.001);
}

#[test]
fn a_profile_whose_curves_cannot_be_is_refused_with_the_field() {
    let lto8 = profile::find("lto8").unwrap().to_toml("").unwrap();
    let head = lto8.find("[locate]").unwrap();
    let tail = lto8[head + 1..]
        .find("\n[")
        .map_or("", |next| &lto8[head + 1 + next..]);
    let locate = |pace: &str, wraps: &str| {
        let field =
            |name: &str, value: &str| format!("{name} = {{ value = {value}, source = \"X\" }}\n");
        let fields = [
            ("same_wrap_s", "[1.0, 2.0]"),
            ("other_wrap_s", "[3.0, 4.0, 5.0, 6.0]"),
            ("band_change_s", "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]"),
            ("pace", pace),
            ("away_s", "[0.0]"),
            ("away_per_way_s", "[0.001]"),
            ("towards_s", "[0.0]"),
            ("towards_per_way_s", "[0.001]"),
            ("step_wraps", wraps),
            ("step_s", "[1.0, 2.0]"),
            ("steps_beside", "false"),
            ("read_on_s", "1.0"),
            ("read_per_lpos_s", "0.001"),
        ];
        let fields: String = fields
            .iter()
            .map(|(name, value)| field(name, value))
            .collect();
        let text = format!(
            "{}[locate]\nmodel = \"curves\"\n{fields}{tail}",
            &lto8[..head]
        );
        Profile::from_toml(
            "mine.toml",
            &text.replace("[sources]", "[sources]\nX = \"x\""),
        )
    };
    assert!(locate("[1.0, 2.0]", "[1, 2]").is_ok());
    for (refused, field) in [
        (locate("[0.5, 2.0]", "[1, 2]"), "pace"),
        (locate("[]", "[2, 2]"), "step_wraps"),
    ] {
        let why = refused.unwrap_err().to_string();
        assert!(why.contains(field), "{why}");
    }
}
