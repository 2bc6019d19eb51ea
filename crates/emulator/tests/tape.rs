//! A cartridge's tape: bytes and places, and how cartridges differ.

use proptest::prelude::*;
use tapewise_emulator::{DriveKind, Spot, Tape, TapeError};

fn kind(name: &str) -> DriveKind {
    DriveKind::find(name).expect(name)
}

#[test]
fn every_kind_has_a_tape_of_its_capacity() {
    for name in DriveKind::names() {
        let kind = kind(name);
        let tape = Tape::new(&kind.shape, 1);
        let nominal = kind.capacity_bytes() as f64;
        let differs = tape.capacity(0) as f64 / nominal - 1.0;
        assert!(differs.abs() < 0.01, "{name}: {differs}");
        assert!(tape.early_warning(0) < tape.capacity(0), "{name}");
    }
}

#[test]
fn m8_wraps_hold_what_real_ones_do() {
    // Blocks of 256 KiB on the wraps of one cartridge: 207961 to 208580, so 54.6 GB +- 0.3 %.
    let tape = Tape::new(&kind("lto7-m8").shape, 5);
    let ends: Vec<u64> = (0..168)
        .map(|wrap| tape.end_of_wrap(wrap).unwrap().1)
        .collect();
    let sizes: Vec<f64> = ends
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64)
        .collect();
    let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
    assert!((mean / 54.6e9 - 1.0).abs() < 0.003, "{mean}");
    let squares = sizes.iter().map(|size| (size / mean - 1.0).powi(2));
    let sd = (squares.sum::<f64>() / 167.0).sqrt();
    assert!((0.0005..0.004).contains(&sd), "{sd}");
}

#[test]
fn cartridges_of_different_seeds_differ_and_of_one_seed_do_not() {
    for name in ["lto8", "dlt4000", "ibm3590", "ts1155"] {
        let kind = kind(name);
        assert_eq!(
            Tape::new(&kind.shape, 7),
            Tape::new(&kind.shape, 7),
            "{name}"
        );
        let (one, other) = (Tape::new(&kind.shape, 7), Tape::new(&kind.shape, 8));
        assert_ne!(one.end_of_wrap(0), other.end_of_wrap(0), "{name}");
        assert_ne!(one.landings(3), other.landings(3), "{name}");
    }
}

#[test]
fn landing_points_lie_in_reading_order_and_begin_with_the_wrap() {
    for name in ["dlt4000", "dlt7000", "ibm3590", "lto1", "lto8", "ts1155"] {
        let tape = Tape::new(&kind(name).shape, 3);
        for wrap in 0..tape.shape().wraps {
            let landings = tape.landings(wrap);
            assert_eq!(landings[0], tape.wrap_span(wrap).unwrap().0, "{name}");
            let sign = if wrap.is_multiple_of(2) { 1.0 } else { -1.0 };
            let on = |pair: &[f64]| (pair[1] - pair[0]) * sign > 0.0;
            assert!(landings.windows(2).all(on), "{name}");
        }
    }
}

#[test]
fn a_dlt4000_track_has_14_sections_of_about_704_segments() {
    let tape = Tape::new(&kind("dlt4000").shape, 11);
    for track in 0..64 {
        let landings = tape.landings(track);
        assert_eq!(landings.len(), 14);
        let middle = (landings[7] - landings[6]).abs();
        assert!((middle - 704.0).abs() < 20.0, "track {track}: {middle}");
    }
    let segments = tape.capacity(0) / 32_768;
    assert!((621_800..622_400).contains(&segments), "{segments}");
}

#[test]
fn partitions_own_whole_wraps_with_guards_between_them() {
    let tape = Tape::new(&kind("lto8").shape, 2)
        .with_partitions(&[2, 204])
        .unwrap();
    assert_eq!(tape.partitions(), 2);
    assert_eq!(tape.place(0, 0).wrap, 0);
    assert_eq!(tape.place(1, 0).wrap, 4);
    assert_eq!(tape.end_of_wrap(2), None);
    assert_eq!(tape.offset(Spot { wrap: 3, lpos: 9e4 }), None);
    assert_eq!(tape.end_of_wrap(207), Some((1, tape.capacity(1))));
    let sum = tape.capacity(0) + tape.capacity(1);
    assert!((sum as f64 / 11.885e12 - 1.0).abs() < 0.02, "{sum}");
}

#[test]
fn partitions_that_do_not_fit_are_refused() {
    let tape = Tape::new(&kind("lto8").shape, 2);
    let refused = TapeError::TooLong {
        needed: 209,
        wraps: 208,
    };
    assert_eq!(tape.clone().with_partitions(&[2, 205]), Err(refused));
    assert_eq!(tape.clone().with_partitions(&[]), Err(TapeError::Empty));
    assert_eq!(tape.with_partitions(&[4, 0]), Err(TapeError::Empty));
}

#[test]
fn a_scaled_tape_has_the_same_places_at_smaller_offsets() {
    let full = Tape::new(&kind("lto8").shape, 4);
    let small = full.clone().with_scale(1_000_000);
    assert_eq!(small.capacity(0), full.capacity(0) / 1_000_000);
    for offset in [0, 17, 5_000_000, 12_000_000] {
        assert_eq!(small.place(0, offset), full.place(0, offset * 1_000_000));
    }
}

#[test]
fn what_is_beyond_the_end_lies_at_the_end() {
    let tape = Tape::new(&kind("lto8").shape, 4);
    let end = tape.place(0, tape.capacity(0));
    assert_eq!(tape.place(0, u64::MAX), end);
    assert_eq!((end.wrap, end.lpos), (207, tape.wrap_span(207).unwrap().1));
}

proptest! {
    #[test]
    fn places_come_back_as_the_offset_they_were_made_of(
        name in prop::sample::select(DriveKind::names().collect::<Vec<_>>()),
        seed in 0u64..50,
        share in 0.0f64..1.0,
    ) {
        let tape = Tape::new(&kind(name).shape, seed);
        let offset = (tape.capacity(0) as f64 * share) as u64;
        let (partition, back) = tape.offset(tape.place(0, offset)).unwrap();
        prop_assert_eq!(partition, 0);
        // LPOS is a float: a byte or a few of tens of billions are lost.
        prop_assert!(back.abs_diff(offset) <= 64, "{} {}", offset, back);
    }

    #[test]
    fn places_move_on_along_the_track(
        name in prop::sample::select(DriveKind::names().collect::<Vec<_>>()),
        shares in (0.0f64..1.0, 0.0f64..1.0),
    ) {
        let tape = Tape::new(&kind(name).shape, 3);
        let at = |share: f64| tape.place(0, (tape.capacity(0) as f64 * share) as u64);
        let (first, second) = (at(shares.0.min(shares.1)), at(shares.0.max(shares.1)));
        prop_assert!(first.wrap <= second.wrap);
        if first.wrap == second.wrap {
            let sign = if first.wrap.is_multiple_of(2) { 1.0 } else { -1.0 };
            prop_assert!((second.lpos - first.lpos) * sign >= 0.0);
        }
    }
}
