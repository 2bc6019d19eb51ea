//! Maps from blocks to places: the drive's table, nominal geometry, and what is refused.

use proptest::prelude::*;
use tapewise_model::{
    BlockMap, EndOfWrap, Geometry, Layout, MapError, NominalLayout, Position, PositionSource,
    profile,
};

const LPOS_MIN: u32 = 2_696;
const LPOS_MAX: u32 = 171_097;

fn geometry(wraps: u16) -> Geometry {
    Geometry {
        layout: Layout::Serpentine,
        wraps,
        bands: 4,
        lpos_min: LPOS_MIN,
        lpos_max: LPOS_MAX,
        metres_per_lpos: None,
        sections: 14,
    }
}

/// Entries as (wrap, partition, block).
fn table(entries: &[(u16, u8, u64)]) -> Vec<EndOfWrap> {
    let entry = |&(wrap, partition, block): &(u16, u8, u64)| EndOfWrap {
        wrap,
        partition,
        block,
    };
    entries.iter().map(entry).collect()
}

fn map_of(wraps: u16, entries: &[(u16, u8, u64)], nominal: f64) -> Result<BlockMap, MapError> {
    BlockMap::from_end_of_wrap(&geometry(wraps), &table(entries), Some(nominal))
}

/// The M8 cartridge of CERN's unit test.
fn m8() -> BlockMap {
    let entries = [
        (0, 0, 208_310),
        (1, 0, 416_271),
        (2, 0, 624_562),
        (3, 0, 633_521),
    ];
    map_of(168, &entries, 208_000.0).unwrap()
}

fn place(position: Position) -> (u16, u32) {
    (position.wrap, position.lpos)
}

#[test]
fn blocks_lie_between_the_ends_of_their_wraps() {
    let map = m8();
    assert_eq!(map.source(), PositionSource::EndOfWrapTable);
    let at = |block| place(map.position(0, block).unwrap());
    let after = |block| place(map.position_after(0, block).unwrap());
    assert_eq!(at(0), (0, LPOS_MIN));
    assert_eq!(after(208_310), (0, LPOS_MAX));
    assert_eq!(at(208_311), (1, LPOS_MAX));
    assert_eq!(after(416_271), (1, LPOS_MIN));
    assert_eq!(at(416_272), (2, LPOS_MIN));
    // Half of the 208,311 blocks of wrap 0.
    assert_eq!(at(104_155), (0, LPOS_MIN + 84_200));
}

#[test]
fn the_wrap_with_end_of_data_ends_where_the_median_wrap_says() {
    // 633,521 - 624,563 = 8,958 blocks; the wraps before hold 208,311, 207,961 and 208,291.
    let map = m8();
    let last = map.spans()[3];
    assert_eq!((last.first_block, last.end_block), (624_563, 633_521));
    assert_eq!(last.lpos_first, LPOS_MAX);
    let used: f64 = 168_401.0 * 8_958.0 / 208_291.0;
    assert_eq!(last.lpos_end, LPOS_MAX - used.round() as u32);
}

#[test]
fn a_reported_position_agrees_with_the_table_to_0_8_per_cent_of_a_wrap() {
    // CERN 2018, sense dump: wrap 2, LPOS 72,311, block 503,808 to 504,063 (its last byte is cut).
    let map = m8();
    for (block, most) in [(503_808, 0.0070), (503_935, 0.0075), (504_063, 0.0082)] {
        let (wrap, lpos) = place(map.position(0, block).unwrap());
        let off = f64::from(lpos.abs_diff(72_311)) / 168_401.0;
        assert_eq!(wrap, 2);
        assert!(off < most, "block {block}: {off}");
    }
    // And that is the error which the map states.
    assert_eq!(map.position(0, 503_808).unwrap().error_lpos, 1_347);
    assert_eq!((map.lpos_error(), map.share_error()), (1_347, 0.0));
}

#[test]
fn end_of_data_is_not_a_block() {
    let map = m8();
    assert_eq!(map.end_block(0), 633_521);
    assert!(map.position(0, 633_520).is_ok());
    let error = map.position(0, 633_521).unwrap_err();
    assert_eq!(
        error.to_string(),
        "block 633521 of partition 0 lies beyond the last one of the map (end-of-wrap table), \
         which is 633520"
    );
    assert!(map.position_after(0, 633_521).is_err());
}

#[test]
fn a_partition_that_is_not_there_is_said_to_be_missing() {
    let error = m8().position(1, 5).unwrap_err();
    assert!(
        matches!(
            error,
            MapError::NoPartition {
                partition: 1,
                block: 5,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(m8().end_block(1), 0);
    assert_eq!(m8().nearest_position(1, 5, false), None);
}

#[test]
fn a_single_wrap_is_as_full_as_the_nominal_length_says() {
    let map = map_of(168, &[(0, 0, 52_000)], 208_000.0).unwrap();
    let span = map.spans()[0];
    assert_eq!(
        (span.lpos_first, span.lpos_end),
        (LPOS_MIN, LPOS_MIN + 42_100)
    );
    // With more on it than the nominal length, it is full.
    let map = map_of(168, &[(0, 0, 300_000)], 208_000.0).unwrap();
    assert_eq!(map.spans()[0].lpos_end, LPOS_MAX);
}

#[test]
fn a_last_wrap_fuller_than_the_median_is_full_and_all_of_it_is_found() {
    // Where others give up: two wraps, the second with more on it than the first.
    let map = map_of(168, &[(0, 0, 99_999), (1, 0, 250_000)], 208_000.0).unwrap();
    assert_eq!(map.spans()[1].lpos_end, LPOS_MIN);
    assert_eq!(
        place(map.position_after(0, 249_999).unwrap()),
        (1, LPOS_MIN)
    );
    // Three quarters of the second lie at a quarter of the tape.
    let (wrap, lpos) = place(map.position(0, 100_000 + 112_500).unwrap());
    assert_eq!((wrap, lpos), (1, LPOS_MAX - 126_300));
}

#[test]
fn blocks_are_counted_from_the_beginning_of_their_partition() {
    let entries = [
        (0, 0, 99),
        (1, 0, 150),
        // Guard wraps 2 and 3 are not listed.
        (4, 1, 999),
        (5, 1, 1_999),
        (6, 1, 2_100),
    ];
    let map = map_of(208, &entries, 1_000.0).unwrap();
    let at = |partition, block| place(map.position(partition, block).unwrap());
    assert_eq!(at(0, 0), (0, LPOS_MIN));
    // 50 blocks where the wrap before holds 100.
    assert_eq!(
        (map.spans()[1].first_block, map.spans()[1].end_block),
        (100, 150)
    );
    assert_eq!(
        place(map.position_after(0, 149).unwrap()),
        (1, LPOS_MAX - 84_201)
    );
    assert_eq!(at(1, 0), (4, LPOS_MIN));
    assert_eq!(at(1, 1_000), (5, LPOS_MAX));
    // 100 blocks where full wraps hold 1,000.
    assert_eq!(
        place(map.position_after(1, 2_099).unwrap()),
        (6, LPOS_MIN + 16_840)
    );
    assert!(map.position(0, 150).is_err() && map.position(1, 2_100).is_err());
    assert_eq!((map.end_block(0), map.end_block(1)), (150, 2_100));
}

#[test]
fn uneven_wraps_are_taken_as_they_are() {
    // Wrap 1 holds a third of what wrap 0 does (bad tape), wrap 2 twice as much (compression).
    let entries = [(0, 0, 2_999), (1, 0, 3_999), (2, 0, 9_999), (3, 0, 10_000)];
    let map = map_of(208, &entries, 3_000.0).unwrap();
    let middle = |block| place(map.position(0, block).unwrap());
    assert_eq!(middle(1_500), (0, LPOS_MIN + 84_200));
    assert_eq!(middle(3_500), (1, LPOS_MAX - 84_200));
    assert_eq!(middle(7_000), (2, LPOS_MIN + 84_200));
}

#[test]
fn compressed_data_has_more_blocks_on_a_wrap_and_the_table_knows() {
    let plain = [(0, 0, 99_999), (1, 0, 199_999), (2, 0, 250_000)];
    let packed =
        plain.map(|(wrap, partition, block)| (wrap, partition, 2 * block + wrap as u64 % 2));
    let plain = map_of(208, &plain, 100_000.0).unwrap();
    let packed = map_of(208, &packed, 100_000.0).unwrap();
    for block in [0, 1_000, 99_000, 150_000, 249_000] {
        let (a, b) = (
            plain.position(0, block).unwrap(),
            packed.position(0, 2 * block).unwrap(),
        );
        assert_eq!(a.wrap, b.wrap);
        assert!(a.lpos.abs_diff(b.lpos) < 10, "block {block}: {a:?} {b:?}");
    }
}

#[test]
fn cartridges_of_280_and_472_wraps_are_read_to_the_last() {
    for wraps in [280u16, 472] {
        let entries: Vec<(u16, u8, u64)> = (0..wraps)
            .map(|wrap| (wrap, 0, (u64::from(wrap) + 1) * 60_000 - 1))
            .collect();
        let map = map_of(wraps, &entries, 60_000.0).unwrap();
        assert_eq!(map.spans().len(), usize::from(wraps));
        let last = map.position(0, u64::from(wraps) * 60_000 - 2).unwrap();
        assert_eq!(last.wrap, wraps - 1);
        assert!(last.lpos < LPOS_MIN + 10);
    }
}

#[test]
fn a_table_that_cannot_be_is_refused_with_its_entry_and_wrap() {
    let refused = |entries: &[(u16, u8, u64)]| map_of(208, entries, 1e5).unwrap_err().to_string();
    assert_eq!(
        refused(&[(0, 0, 99), (208, 0, 199)]),
        "end-of-wrap table, entry 1 (wrap 208): the cartridge has wraps 0 to 207 only"
    );
    assert_eq!(
        refused(&[(0, 0, 99), (2, 0, 199), (1, 0, 299)]),
        "end-of-wrap table, entry 2 (wrap 1): follows wrap 2"
    );
    assert_eq!(
        refused(&[(5, 0, 99), (5, 0, 199)]),
        "end-of-wrap table, entry 1 (wrap 5): follows wrap 5"
    );
    assert_eq!(
        refused(&[(0, 0, 99), (1, 0, 99)]),
        "end-of-wrap table, entry 1 (wrap 1): ends at block 99, not after 99"
    );
    assert_eq!(
        refused(&[(0, 1, 99), (1, 0, 199)]),
        "end-of-wrap table, entry 1 (wrap 1): partition 0 follows 1"
    );
}

#[test]
fn an_empty_table_places_nothing() {
    let map = map_of(208, &[], 1e5).unwrap();
    assert!(map.spans().is_empty() && map.position(0, 0).is_err());
}

#[test]
fn end_of_data_at_the_very_beginning_of_a_wrap_leaves_the_wrap_empty() {
    let map = map_of(208, &[(0, 0, 99), (1, 0, 100)], 1e5).unwrap();
    assert_eq!(place(map.position_after(0, 99).unwrap()), (0, LPOS_MAX));
    assert!(map.position(0, 100).is_err());
}

#[test]
fn an_ltfs_volume_on_lto_8_has_its_data_from_wrap_4_on() {
    let lto8 = profile::find("lto8").unwrap();
    let map = lto8
        .nominal_map(lto8.ltfs_layout().unwrap(), 1 << 19)
        .unwrap();
    let wrap = |partition, block| map.position(partition, block).unwrap().wrap;
    assert_eq!(
        (wrap(0, 0), wrap(0, 110_859), wrap(1, 0), wrap(1, 110_859)),
        (0, 1, 4, 5)
    );
    // Two index wraps of 110,858.9 blocks; the guard wraps 2 and 3 hold none.
    assert_eq!(map.end_block(0), 221_718);
    assert!(map.position(0, 221_718).is_err());
    assert!(
        map.spans()
            .iter()
            .all(|span| span.wrap != 2 && span.wrap != 3)
    );
    assert_eq!(map.spans().last().unwrap().wrap, 207);
    let lto9 = profile::find("lto9").unwrap();
    let map = lto9
        .nominal_map(lto9.ltfs_layout().unwrap(), 1 << 19)
        .unwrap();
    assert_eq!(map.position(1, 0).unwrap().wrap, 6);
}

#[test]
fn nominal_places_are_less_certain_the_farther_along_the_tape() {
    let lto8 = profile::find("lto8").unwrap();
    let map = lto8.nominal_map(NominalLayout::Single, 1 << 19).unwrap();
    let error = |block| map.position(0, block).unwrap().error_lpos;
    assert_eq!(error(0), 0);
    // 1 % of a hundred wraps is a whole one.
    assert!(error(11_085_890).abs_diff(168_401) < 10);
}

#[test]
fn a_block_beyond_the_end_is_at_the_end_where_a_map_is_varied() {
    let map = m8();
    let end = map.position_after(0, 633_520).unwrap();
    assert_eq!(map.nearest_position(0, 700_000, true), Some(end));
    let last = map.position(0, 633_520).unwrap();
    assert_eq!(map.nearest_position(0, 700_000, false), Some(last));
    assert_eq!(
        map.nearest_position(0, 5, false),
        Some(map.position(0, 5).unwrap())
    );
}

#[test]
fn a_map_scaled_by_two_has_every_block_twice_as_far_in() {
    let map = m8();
    let scaled = map.scaled(2.0);
    assert_eq!(map.scaled(1.0), map);
    for block in (0..633_521).step_by(997) {
        let (a, b) = (
            map.position(0, block).unwrap(),
            scaled.position(0, 2 * block).unwrap(),
        );
        assert_eq!(place(a), place(b));
    }
}

#[test]
fn a_map_scaled_by_one_per_cent_moves_a_far_block_to_another_wrap() {
    let lto8 = profile::find("lto8").unwrap();
    let map = lto8.nominal_map(NominalLayout::Single, 1 << 19).unwrap();
    let block = 150 * 110_859 + 50_000;
    assert_eq!(map.position(0, block).unwrap().wrap, 150);
    assert_eq!(map.scaled(0.99).position(0, block).unwrap().wrap, 151);
    assert_eq!(map.scaled(1.01).position(0, block).unwrap().wrap, 148);
}

/// How far along the recorded track a place is: wrap, then distance in reading direction.
fn along(position: Position) -> (u16, u32) {
    let into = if position.wrap.is_multiple_of(2) {
        position.lpos - LPOS_MIN
    } else {
        LPOS_MAX - position.lpos
    };
    (position.wrap, into)
}

proptest! {
    #[test]
    fn blocks_follow_one_another_along_the_track(
        sizes in prop::collection::vec(1u64..300_000, 1..40),
        shares in prop::collection::vec(0.0f64..1.0, 2..40),
        scale in 0.5f64..2.0,
    ) {
        let mut end = 0;
        let entries: Vec<(u16, u8, u64)> = sizes
            .iter()
            .zip(0..)
            .map(|(size, wrap)| {
                end += size;
                (wrap, 0, end)
            })
            .collect();
        let map = map_of(208, &entries, 200_000.0).unwrap();
        for map in [map.clone(), map.scaled(scale)] {
            let end = map.end_block(0);
            prop_assume!(end > 0);
            let mut blocks: Vec<u64> =
                shares.iter().map(|share| (share * end as f64) as u64).map(|b| b.min(end - 1)).collect();
            blocks.sort_unstable();
            let places: Vec<_> = blocks
                .iter()
                .map(|&block| {
                    let begin = along(map.position(0, block).unwrap());
                    let after = along(map.position_after(0, block).unwrap());
                    assert!(begin <= after, "block {block}");
                    assert_eq!(begin.0, after.0, "block {block}");
                    assert_eq!(map.nearest_position(0, block, false), map.position(0, block).ok());
                    begin
                })
                .collect();
            prop_assert!(places.is_sorted(), "{places:?}");
        }
    }

    #[test]
    fn where_a_block_ends_the_next_begins(
        sizes in prop::collection::vec(1u64..300_000, 1..40),
        share in 0.0f64..1.0,
    ) {
        let mut end = 0;
        let entries: Vec<(u16, u8, u64)> = sizes
            .iter()
            .zip(0..)
            .map(|(size, wrap)| {
                end += size;
                (wrap, 0, end)
            })
            .collect();
        let map = map_of(208, &entries, 200_000.0).unwrap();
        let block = (share * (map.end_block(0) - 1) as f64) as u64;
        prop_assume!(block + 1 < map.end_block(0));
        let after = map.position_after(0, block).unwrap();
        let next = map.position(0, block + 1).unwrap();
        // At the end of a wrap the head turns where it stands.
        prop_assert_eq!(after.lpos, next.lpos);
        prop_assert!(next.wrap == after.wrap || next.wrap == after.wrap + 1);
    }
}
