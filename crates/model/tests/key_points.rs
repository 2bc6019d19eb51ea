//! Key points: the nominal cartridge, its spread, and what is refused.

use tapewise_model::{
    KeyPoints, NominalSections, PositionSource, Profile, Random, Spread, profile,
};

fn dlt4000() -> Profile {
    profile::find("dlt4000").unwrap()
}

fn generate(track_sd_segments: f64, dip_sd_segments: f64, seed: u64) -> KeyPoints {
    let nominal = NominalSections {
        tracks: 64,
        sections: 14,
        section_segments: 704,
        last_section_segments: 568,
    };
    let spread = Spread {
        track_sd_segments,
        dip_sd_segments,
    };
    KeyPoints::generate(nominal, spread, &mut Random::new(seed, 0))
}

#[test]
fn the_nominal_cartridge_has_64_tracks_of_9_720_segments() {
    let nominal = dlt4000().nominal_key_points().unwrap();
    assert_eq!(nominal, generate(0.0, 0.0, 1));
    assert_eq!((nominal.tracks(), nominal.sections()), (64, 14));
    assert_eq!(nominal.segments(), 622_080);
    assert_eq!(nominal.length(), 9_720);
    // The short section is the far one: last on forward tracks, first on reverse.
    assert_eq!(nominal.track(0)[12..], [8_448, 9_152]);
    assert_eq!(
        nominal.track(1)[..3],
        [9_720, 9_720 + 568, 9_720 + 568 + 704]
    );
    assert_eq!(nominal.section_lpos(1)[..3], [9_720, 9_152, 8_448]);
    assert_eq!(nominal.section_lpos(2)[..3], [0, 704, 1_408]);
}

#[test]
fn tracks_and_sections_vary_by_the_given_spread() {
    let (mut lengths, mut dips) = (Vec::new(), Vec::new());
    for seed in 0..20 {
        let points = generate(6.0, 3.0, seed);
        for track in 0..63 {
            let first = points.track(track)[0];
            lengths.push((points.track(track + 1)[0] - first) as f64 - 9_720.0);
            let fifth = if track % 2 == 0 {
                5 * 704
            } else {
                568 + 4 * 704
            };
            dips.push((points.track(track)[5] - first) as f64 - f64::from(fifth));
        }
    }
    let moments = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (
            mean,
            (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt(),
        )
    };
    let (mean, sd) = moments(&lengths);
    assert!(mean.abs() < 0.6 && (sd - 6.0).abs() < 0.5, "{mean} {sd}");
    let (mean, sd) = moments(&dips);
    assert!(mean.abs() < 0.3 && (sd - 3.0).abs() < 0.3, "{mean} {sd}");
}

#[test]
fn a_spread_wider_than_a_section_still_gives_ascending_key_points() {
    for seed in 0..50 {
        let points = generate(500.0, 2_000.0, seed);
        let starts: Vec<Vec<u64>> = (0..64).map(|track| points.track(track).to_vec()).collect();
        assert_eq!(KeyPoints::new(starts, points.segments()).unwrap(), points);
    }
}

#[test]
fn every_segment_lies_where_its_key_points_say() {
    let points = generate(6.0, 3.0, 4);
    let map = points.block_map();
    assert_eq!(map.source(), PositionSource::KeyPoints);
    assert_eq!(map.end_block(0), points.segments());
    assert_eq!(map.spans().len(), 64 * 14);
    for track in [0, 1, 33, 62] {
        let reverse = track % 2 == 1;
        let starts = points.track(track).iter().zip(points.section_lpos(track));
        // The last section of a long reverse track ends at the beginning of tape all the same.
        let sections = if reverse { 13 } else { 14 };
        for (&start, lpos) in starts.take(sections) {
            let here = map.position(0, start).unwrap();
            let next = map.position(0, start + 1).unwrap();
            assert_eq!((here.wrap, here.lpos), (track, lpos));
            let step = i64::from(next.lpos) - i64::from(here.lpos);
            assert_eq!(step, if reverse { -1 } else { 1 });
        }
    }
    assert!(map.position(0, points.segments()).is_err());
}

#[test]
fn a_track_that_holds_more_than_the_others_does_not_move_where_reverse_tracks_begin() {
    let even = |last: u64| {
        let starts = (0..6).map(|track| track * 1_000).chain([last]);
        starts.map(|start| vec![start, start + 600]).collect()
    };
    let usual = KeyPoints::new(even(6_000), 7_000).unwrap();
    let longer = KeyPoints::new(even(6_300), 7_300).unwrap();
    for track in [1, 3, 5] {
        assert_eq!(usual.section_lpos(track), [1_000, 400]);
        assert_eq!(longer.section_lpos(track), [1_000, 400]);
    }
    assert_eq!((usual.length(), longer.length()), (1_000, 1_300));
}

#[test]
fn key_points_that_do_not_ascend_are_refused_with_both_numbers() {
    let refused = |starts: Vec<Vec<u64>>, segments| KeyPoints::new(starts, segments).unwrap_err();
    let message = refused(vec![vec![0, 700], vec![650, 1_300]], 2_000);
    assert_eq!(message, "key point 650 is not after key point 700");
    let message = refused(vec![vec![0, 700], vec![1_400, 2_100]], 2_100);
    assert_eq!(message, "key point 2100 is not after key point 2100");
}

#[test]
fn key_points_must_begin_with_segment_0_and_be_equally_many_on_every_track() {
    let refused = |starts: Vec<Vec<u64>>| KeyPoints::new(starts, 9_000).unwrap_err();
    assert_eq!(
        refused(vec![vec![5, 700]]),
        "the first key point must be segment 0"
    );
    assert_eq!(refused(vec![]), "the first key point must be segment 0");
    let uneven = refused(vec![vec![0, 700], vec![1_400]]);
    assert_eq!(uneven, "every track must have 2 key points");
}

#[test]
fn the_geometry_is_the_cartridges_own() {
    let nominal = dlt4000().geometry().unwrap();
    let own = generate(6.0, 3.0, 5).geometry(&nominal);
    assert_eq!((own.lpos_min, own.wraps), (0, 64));
    assert!(
        own.lpos_max > 9_720 && own.lpos_max < 9_760,
        "{}",
        own.lpos_max
    );
}

#[test]
fn the_geometry_has_as_many_sections_as_the_key_points() {
    let nominal = dlt4000().geometry().unwrap();
    let starts = (0..64u64)
        .map(|track| {
            (0..16)
                .map(|section| (track * 16 + section) * 600)
                .collect()
        })
        .collect();
    let points = KeyPoints::new(starts, 64 * 16 * 600).unwrap();
    assert_eq!(points.geometry(&nominal).sections, 16);
}
