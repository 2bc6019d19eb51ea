//! Table 3 of Johnson & Miller 1998 by hand: four regions, parity, the step between them.

use tapewise_model::locate::FourRegion;
use tapewise_model::{LocateModel, Position, PositionSource, profile};

/// A track is 100,000 long; the print's lost operator is taken as +.
fn dlt4000() -> LocateModel {
    let model = FourRegion::new([21.0, 154.0], [31.0, 132.0], 0.04, 0, 100_000);
    LocateModel::FourRegion(model)
}

/// A place by track and share of the track in its reading direction.
fn at(track: u16, share: f64) -> Position {
    let along = (share * 100_000.0).round() as u32;
    Position {
        partition: 0,
        wrap: track,
        lpos: if track.is_multiple_of(2) {
            along
        } else {
            100_000 - along
        },
        source: PositionSource::Nominal,
        error_lpos: 0,
    }
}

fn assert_seek(from: (u16, f64), to: (u16, f64), seconds: f64) {
    let time = dlt4000()
        .locate(&at(from.0, from.1), &at(to.0, to.1))
        .as_secs_f64();
    assert!(
        (time - seconds).abs() < 1e-4,
        "{from:?} to {to:?}: {time} is not {seconds}"
    );
}

#[test]
fn ahead_on_a_track_of_the_same_direction() {
    // p0 + 0.04 = 0.54: 21 + 154 x 0.16.
    assert_seek((0, 0.5), (2, 0.7), 45.64);
    assert_seek((0, 0.5), (0, 0.7), 45.64);
    assert_seek((1, 0.3), (3, 0.5), 45.64);
}

#[test]
fn behind_on_a_track_of_the_same_direction() {
    // 31 + 132 x 0.34.
    assert_seek((0, 0.5), (2, 0.2), 75.88);
    assert_seek((5, 0.5), (1, 0.2), 75.88);
}

#[test]
fn ahead_on_a_track_of_the_other_direction() {
    // 1 - 0.54 = 0.46: 21 + 154 x 0.14.
    assert_seek((0, 0.5), (1, 0.6), 42.56);
    assert_seek((7, 0.5), (2, 0.6), 42.56);
}

#[test]
fn behind_on_a_track_of_the_other_direction() {
    // 31 + 132 x 0.16.
    assert_seek((0, 0.5), (1, 0.3), 52.12);
    assert_seek((1, 0.5), (0, 0.3), 52.12);
}

#[test]
fn the_two_meet_with_a_step_of_ten_seconds() {
    // One hundred-thousandth of a track is 1.5 ms.
    assert_seek((0, 0.5), (2, 0.54), 31.0);
    assert_seek((0, 0.5), (2, 0.54001), 21.00154);
    assert_seek((0, 0.5), (1, 0.46), 31.0);
    assert_seek((0, 0.5), (1, 0.46001), 21.00154);
}

#[test]
fn a_little_ahead_on_the_own_track_counts_as_behind() {
    // 0.52 is below 0.54: 31 + 132 x 0.02. For short seeks the model was not meant.
    assert_seek((0, 0.5), (0, 0.52), 33.64);
    assert_seek((0, 0.5), (0, 0.5), 31.0 + 132.0 * 0.04);
}

#[test]
fn the_profile_has_the_numbers_of_the_table() {
    let model = profile::find("dlt4000-jm98")
        .unwrap()
        .locate_model(None)
        .unwrap();
    for (from, to) in [
        ((0, 0.5), (2, 0.7)),
        ((0, 0.5), (1, 0.3)),
        ((3, 0.1), (8, 0.9)),
    ] {
        let (from, to) = (at(from.0, from.1), at(to.0, to.1));
        assert_eq!(model.locate(&from, &to), dlt4000().locate(&from, &to));
    }
}

#[test]
fn a_drive_whose_places_begin_above_zero_behaves_the_same() {
    let shifted = FourRegion::new([21.0, 154.0], [31.0, 132.0], 0.04, 5_000, 105_000);
    let shifted = LocateModel::FourRegion(shifted);
    let shift = |mut position: Position| {
        position.lpos += 5_000;
        position
    };
    for (from, to) in [
        ((0, 0.5), (2, 0.7)),
        ((0, 0.5), (1, 0.3)),
        ((3, 0.1), (8, 0.9)),
    ] {
        let (from, to) = (at(from.0, from.1), at(to.0, to.1));
        let expected = dlt4000().locate(&from, &to);
        assert_eq!(shifted.locate(&shift(from), &shift(to)), expected);
    }
}
