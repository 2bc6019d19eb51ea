//! The seven cases of 1996 by hand, on a cartridge of nominal sections.
//!
//! Sections of 704 segments, the last of 568: a track is 9,720 long. Reading a section takes
//! 15.5 s, scanning past it 10 s; case n adds n seconds here, so that the sum tells the case.
//! Forward tracks have their key points at 0, 704, 1408, ..., 9152; reverse tracks, in reading
//! order, at 9720, 9152, 8448, ..., 704.

use tapewise_model::locate::{KeyPointCoefficients, KeyPointModel};
use tapewise_model::{
    KeyPoints, LocateModel, NominalSections, Position, PositionSource, Random, Spread,
};

const NOMINAL: NominalSections = NominalSections {
    tracks: 64,
    sections: 14,
    section_segments: 704,
    last_section_segments: 568,
};

fn model() -> KeyPointModel {
    let spread = Spread {
        track_sd_segments: 0.0,
        dip_sd_segments: 0.0,
    };
    let key_points = KeyPoints::generate(NOMINAL, spread, &mut Random::new(0, 0));
    let coefficients = KeyPointCoefficients {
        read_s_per_section: 15.5,
        scan_s_per_section: 10.0,
        section_segments: 704,
        case_s: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
        residual_s: None,
    };
    KeyPointModel::new(&coefficients, &key_points)
}

fn at(track: u16, lpos: u32) -> Position {
    Position {
        partition: 0,
        wrap: track,
        lpos,
        source: PositionSource::KeyPoints,
        error_lpos: 0,
    }
}

fn time(from: Position, to: Position) -> f64 {
    LocateModel::KeyPoint(model())
        .locate(&from, &to)
        .as_secs_f64()
}

/// Asserts the case and the time of a locate.
fn assert_locate(from: (u16, u32), to: (u16, u32), case: usize, seconds: f64) {
    let (from, to) = (at(from.0, from.1), at(to.0, to.1));
    assert_eq!(model().case(&from, &to), case, "{from:?} to {to:?}");
    let time = time(from, to);
    assert!((time - seconds).abs() < 1e-4, "{time} is not {seconds}");
}

#[test]
fn case_1_reads_on_in_the_own_section_and_the_next_two() {
    // One section: 15.5 + 1.
    assert_locate((0, 100), (0, 804), 1, 16.5);
    // From section 0 to the last segment of section 2: 2111 segments, 46.478 s.
    assert_locate((0, 0), (0, 2_111), 1, 2_111.0 * 15.5 / 704.0 + 1.0);
    // On a reverse track ahead is downwards.
    assert_locate((1, 8_448), (1, 7_744), 1, 16.5);
}

#[test]
fn case_2_scans_forward_to_the_key_point_two_before() {
    // Same track, section 0 to the beginning of 3: scan to 1408 (20 s), read a section.
    assert_locate((0, 0), (0, 2_112), 2, 20.0 + 15.5 + 2.0);
    // Another track of the same direction, from section 2 on: scan to 704, read a section.
    assert_locate((0, 0), (2, 1_408), 2, 10.0 + 15.5 + 2.0);
    // The same on reverse tracks: from the third key point, 8448, to the fifth, 7040.
    assert_locate((1, 8_448), (3, 7_040), 2, 10.0 + 15.5 + 2.0);
}

#[test]
fn case_3_scans_back_to_the_key_point_two_before() {
    // Same track, section 5 to 4: back to 2112 (1408 segments, 20 s), read a section.
    assert_locate((0, 3_520), (0, 2_816), 3, 20.0 + 15.5 + 3.0);
    // Another track, one section ahead: the key point before is right here.
    assert_locate((0, 3_520), (2, 4_224), 3, 15.5 + 3.0);
    // One segment back, in the own section: back to 2816 (704 and 20 segments).
    let seconds = 724.0 * 10.0 / 704.0 + (704.0 + 19.0) * 15.5 / 704.0 + 3.0;
    assert_locate((0, 3_540), (0, 3_539), 3, seconds);
}

#[test]
fn case_4_scans_back_to_the_beginning_of_the_track() {
    // Into section 0: 3520 segments back (50 s), half a section to read.
    assert_locate((0, 3_520), (0, 352), 4, 50.0 + 7.75 + 4.0);
    // Into section 1 of another track: as far back, one and a half to read.
    assert_locate((0, 3_520), (2, 1_056), 4, 50.0 + 23.25 + 4.0);
}

#[test]
fn case_5_scans_forward_on_a_track_of_the_other_direction() {
    // Section 5 is number 8 of a reverse track in reading order. To its number 10, at 2816: the
    // key point before, 3520, is right here.
    assert_locate((0, 3_520), (1, 2_816), 5, 15.5 + 5.0);
    // To its number 12, at 1408: scan to 2112.
    assert_locate((0, 3_520), (1, 1_408), 5, 20.0 + 15.5 + 5.0);
}

#[test]
fn case_6_scans_back_on_a_track_of_the_other_direction() {
    // To number 9 of the reverse track, at 3520: back to 4224, read a section.
    assert_locate((0, 3_520), (1, 3_520), 6, 10.0 + 15.5 + 6.0);
    // To number 2, at 8448: back to 9152 (5632 segments, 80 s).
    assert_locate((0, 3_520), (1, 8_448), 6, 80.0 + 15.5 + 6.0);
    // And from a reverse track to a forward one: number 9 is section 4; forward to its section 5.
    assert_locate((1, 3_520), (2, 3_520), 6, 10.0 + 15.5 + 6.0);
}

#[test]
fn case_7_scans_back_to_the_beginning_of_a_track_of_the_other_direction() {
    // To number 1 of the reverse track, at 9152: back to 9720 (6200 segments), read 568.
    let seconds = 6_200.0 * 10.0 / 704.0 + 568.0 * 15.5 / 704.0 + 7.0;
    assert_locate((0, 3_520), (1, 9_152), 7, seconds);
    // To its very beginning.
    assert_locate((0, 3_520), (1, 9_720), 7, 6_200.0 * 10.0 / 704.0 + 7.0);
}

#[test]
fn the_same_place_costs_the_constant_only() {
    assert_locate((0, 3_520), (0, 3_520), 1, 1.0);
    assert_locate((1, 3_521), (1, 3_521), 1, 1.0);
}

#[test]
fn one_segment_farther_at_a_dip_saves_5_5_s_on_forward_tracks_and_25_5_on_reverse() {
    // Figure 1 of the paper, from segment 0. The key point two before moves on by a section: a
    // section less to read (15.5), one more (forward) or one less (reverse) to scan past, and one
    // segment, 0.022 s, to read.
    let bot = at(0, 0);
    for section in 3..14 {
        let dip = 704 * section;
        let drop = time(bot, at(2, dip - 1)) - time(bot, at(2, dip));
        assert!(
            (drop - (5.5 - 0.022)).abs() < 1e-3,
            "section {section}: {drop}"
        );
    }
    for section in 2..12 {
        let dip = 9_152 - 704 * section;
        let drop = time(bot, at(1, dip + 1)) - time(bot, at(1, dip));
        assert!(
            (drop - (25.5 - 0.022)).abs() < 1e-3,
            "section {section}: {drop}"
        );
    }
}

#[test]
fn a_rewind_scans_all_the_way() {
    let model = LocateModel::KeyPoint(model());
    let rewind = model.rewind(&model.point(&at(1, 7_040)));
    assert!((rewind.as_secs_f64() - 100.0).abs() < 1e-4);
}

#[test]
fn sections_are_counted_from_the_beginning_of_tape_on_every_track() {
    let model = LocateModel::KeyPoint(model());
    let section = |track, lpos| model.section(&model.point(&at(track, lpos)));
    for (track, lpos, expected) in [
        (0, 0, 0),
        (0, 703, 0),
        (0, 704, 1),
        (0, 9_152, 13),
        (0, 9_720, 13),
        (1, 9_720, 13),
        (1, 9_153, 13),
        (1, 9_152, 12),
        (1, 704, 0),
        (1, 0, 0),
    ] {
        assert_eq!(section(track, lpos), Some(expected), "{track} {lpos}");
    }
}
