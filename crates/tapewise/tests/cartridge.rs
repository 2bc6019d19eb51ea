//! Which map counts: every rule at the top of `cartridge`, and each of its errors.

use tapewise::formats::map_file::{MapFile, ProbedPlace};
use tapewise::model::{BlockMap, EndOfWrap, PositionSource, Profile, profile};
use tapewise::{Cartridge, CartridgeError, MapOrigin, PartitionLayout};

const BLOCK: u64 = 262_144;

fn lto(name: &str) -> Profile {
    profile::find(name).expect("a profile")
}

fn cartridge(name: &str) -> Cartridge {
    Cartridge::new(lto(name)).expect("a drive")
}

/// Wraps along the track at which a block of partition 0 begins.
fn along(cartridge: &Cartridge, map: &BlockMap, block: u64) -> f64 {
    let geometry = &cartridge.tape().geometry;
    let at = map.nearest_position(0, block, false).expect("a block");
    let into = f64::from(at.lpos - geometry.lpos_min) / f64::from(geometry.wrap_lpos());
    let forward = at.wrap.is_multiple_of(2);
    f64::from(at.wrap) + if forward { into } else { 1.0 - into }
}

/// What the drive tells of blocks, if the tape is as this map has it.
fn told(truth: &BlockMap, blocks: impl Iterator<Item = u64>) -> Vec<ProbedPlace> {
    let place = |block| {
        let at = truth.position(0, block).expect("a block of the tape");
        ProbedPlace {
            partition: 0,
            block,
            wrap: at.wrap,
            lpos: at.lpos,
        }
    };
    blocks.map(place).collect()
}

fn table(wraps: u16, blocks_each: u64) -> MapFile {
    let end = |wrap: u16| EndOfWrap {
        wrap,
        partition: 0,
        block: blocks_each * (u64::from(wrap) + 1) - 1,
    };
    MapFile::EndOfWrap((0..wraps).map(end).collect())
}

#[test]
fn the_table_of_wrap_ends_counts_as_it_is_and_needs_no_size_of_a_block() {
    let cartridge = cartridge("lto8")
        .with_map("ends.csv", table(4, 1_000))
        .unwrap();
    let (map, origin) = cartridge.block_map(None, false).unwrap();
    assert_eq!(map.source(), PositionSource::EndOfWrapTable);
    assert_eq!(origin, MapOrigin::WrapEnds { wraps: 4 });
    assert_eq!(map.position(0, 2_000).unwrap().wrap, 2);
}

#[test]
fn a_wrap_that_the_cartridge_does_not_have_is_an_error_wherever_it_comes_from() {
    let of_table = cartridge("lto5")
        .with_map("ends.csv", table(90, 1_000))
        .unwrap();
    let error = of_table.block_map(Some(BLOCK), false).unwrap_err();
    assert!(matches!(error, CartridgeError::Table { .. }), "{error}");
    assert!(error.to_string().contains("wraps 0 to 79 only"), "{error}");

    let place = ProbedPlace {
        partition: 0,
        block: 7,
        wrap: 80,
        lpos: 1,
    };
    let probed = cartridge("lto5").with_map("probed.csv", MapFile::Probed(vec![place]));
    let written = cartridge("lto5").with_written_places("what was told", vec![place], 0);
    for (name, result) in [("probed.csv", probed), ("what was told", written)] {
        let error = result.unwrap_err();
        let said = "place 1 (wrap 80): the cartridge has wraps 0 to 79 only";
        assert_eq!(error.to_string(), format!("{name}: {said}"));
    }
}

#[test]
fn places_put_the_nominal_map_right_whether_probed_or_told_at_writing() {
    let plain = cartridge("lto5");
    let (nominal, origin) = plain.block_map(Some(BLOCK), false).unwrap();
    assert!(matches!(origin, MapOrigin::Nominal { share_error, .. } if share_error > 0.0));
    let truth = nominal.scaled(1.04);
    let end = truth.end_block(0);
    let places = told(&truth, (1..50).map(|n| end * n / 50));
    let probed = MapFile::Probed(places.clone());
    let probed = plain.clone().with_map("p", probed).unwrap();
    let written = plain.clone().with_written_places("w", places, 0).unwrap();
    let (by_probes, origin) = probed.block_map(Some(BLOCK), false).unwrap();
    assert!(
        matches!(origin, MapOrigin::Probed { places: 49, .. }),
        "{origin}"
    );
    let (by_writing, origin) = written.block_map(Some(BLOCK), false).unwrap();
    assert!(
        matches!(origin, MapOrigin::Written { places: 49, .. }),
        "{origin}"
    );
    assert_eq!(by_probes, by_writing, "one rule for both");
    let block = end / 3;
    let off = |map: &BlockMap| (along(&plain, map, block) - along(&plain, &truth, block)).abs();
    assert!(off(&by_probes) < off(&nominal) / 5.0);
}

#[test]
fn of_several_blocks_at_one_place_the_first_counts() {
    let plain = cartridge("lto5");
    let (nominal, _) = plain.block_map(Some(BLOCK), false).unwrap();
    let once = told(&nominal.scaled(1.02), [400_000, 900_000].into_iter());
    let behind = ProbedPlace {
        block: once[0].block + 5_000,
        ..once[0]
    };
    let with = |places: Vec<ProbedPlace>| {
        let cartridge = plain.clone().with_written_places("w", places, 0).unwrap();
        cartridge.block_map(Some(BLOCK), false).unwrap()
    };
    assert_eq!(with(once.clone()), with(vec![behind, once[0], once[1]]));
}

#[test]
fn places_too_far_from_their_blocks_leave_the_nominal_map() {
    let plain = cartridge("lto5");
    let (nominal, origin) = plain.block_map(Some(BLOCK), false).unwrap();
    let places = told(&nominal.scaled(1.04), [400_000].into_iter());
    let a_hundredth = (plain.tape().wrap_bytes / 100.0) as u64;
    let cartridge = plain.clone().with_written_places("w", places, a_hundredth);
    let found = cartridge.unwrap().block_map(Some(BLOCK), false).unwrap();
    assert_eq!(found, (nominal, origin));
}

#[test]
fn places_that_teach_nothing_leave_the_nominal_map_and_the_origin_says_so() {
    let plain = cartridge("lto5");
    let elsewhere = ProbedPlace {
        partition: 3,
        block: 7,
        wrap: 2,
        lpos: 9_000,
    };
    for places in [vec![], vec![elsewhere]] {
        let map = MapFile::Probed(places);
        let cartridge = plain.clone().with_map("p", map).unwrap();
        let found = cartridge.block_map(Some(BLOCK), false).unwrap();
        assert_eq!(found, plain.block_map(Some(BLOCK), false).unwrap());
    }
}

#[test]
fn key_points_are_for_drives_that_are_modelled_by_them() {
    let points = lto("dlt4000").nominal_key_points().expect("key points");
    let map = MapFile::KeyPoints(points.clone());
    let dlt = cartridge("dlt4000")
        .with_map("kp.csv", map.clone())
        .unwrap();
    let (found, origin) = dlt.block_map(None, false).unwrap();
    assert_eq!(found, points.block_map());
    assert_eq!(origin, MapOrigin::KeyPoints { wraps: 64 });
    let error = cartridge("lto8").with_map("kp.csv", map).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kp.csv: key points, but lto8 is not modelled by them"
    );
}

#[test]
fn nominal_geometry_has_the_partitions_of_ltfs_for_ltfs_or_if_they_are_asked_for() {
    let plain = cartridge("lto8");
    let partitions = |cartridge: &Cartridge, is_ltfs| {
        let (map, _) = cartridge.block_map(Some(BLOCK), is_ltfs).unwrap();
        map.end_block(1) > 0
    };
    assert!(!partitions(&plain, false) && partitions(&plain, true));
    let ltfs = plain.clone().with_layout(PartitionLayout::Ltfs);
    let single = plain.clone().with_layout(PartitionLayout::Single);
    assert!(partitions(&ltfs, false) && !partitions(&single, true));
    let error = plain.block_map(None, false).unwrap_err();
    assert!(matches!(error, CartridgeError::BlockSizeUnknown), "{error}");
    let error = cartridge("dlt4000")
        .block_map(Some(BLOCK), true)
        .unwrap_err();
    assert!(
        matches!(error, CartridgeError::PartitionsUnknown { .. }),
        "{error}"
    );
}

#[test]
fn a_library_is_no_drive() {
    let error = Cartridge::new(lto("stk-9710")).unwrap_err();
    assert!(matches!(error, CartridgeError::Library { .. }), "{error}");
}
