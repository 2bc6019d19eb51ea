//! Where the blocks of the cartridge in a drive are believed to lie, and where that knowledge comes from.

use crate::tape;

use tape::drive_of;
use tapewise::{CartridgeError, MapOrigin};
use tapewise_archive::read::{Known, MapSource, MappedTape, NoMap};
use tapewise_archive::record::{Segment, VolumeFormat};
use tapewise_emulator::LibrarySpec;
use tapewise_formats::WrapLpos;
use tapewise_model::{BlockMap, NominalLayout, PositionSource, Profile, profile};

const BLOCK: u64 = 256 << 10;

/// The empty cartridge of a drive without a table of wrap ends.
fn lto5(
    format: VolumeFormat,
    byte_scale: u64,
    written: &[Vec<Segment>],
) -> Result<(MappedTape, MapSource), NoMap> {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive_of(LibrarySpec::one_drive("lto5", 7), directory.path());
    let known = Known {
        profile: &lto5_profile(),
        format,
        block_bytes: BLOCK,
        byte_scale,
        written,
    };
    MappedTape::in_drive(&mut drive, &known)
}

fn lto5_profile() -> Profile {
    profile::find("lto5").expect("a profile")
}

/// A segment of ten blocks, with what a drive told of its beginning.
fn written(truth: &BlockMap, block: u64) -> Vec<Segment> {
    let start = truth.position(0, block).expect("a block of the tape");
    vec![Segment {
        partition: 0,
        first_block: block,
        last_block: block + 9,
        byte_offset: 512,
        bytes: 9 * BLOCK,
        file_offset: 0,
        start: Some(WrapLpos {
            wrap: start.wrap,
            lpos: start.lpos,
        }),
        end: None,
    }]
}

#[test]
fn places_recorded_when_a_cartridge_was_written_put_its_nominal_map_right() {
    let lto5 = lto5_profile();
    let nominal = lto5
        .nominal_map(NominalLayout::Single, BLOCK)
        .expect("a map");
    // Compression: its wraps hold more than they should.
    let truth = nominal.scaled(1.04);
    let end = truth.end_block(0);
    let places: Vec<Vec<Segment>> = (1..50).map(|n| written(&truth, end * n / 50)).collect();
    let (cartridge, map_source) = self::lto5(VolumeFormat::Tapewise, 1, &places).expect("a map");
    assert_eq!(
        map_source.to_string(),
        format!(
            "nominal geometry of {}, put right by 49 places that the drive told when it was written, \
             learned while it is read",
            lto5.title
        )
    );
    assert_eq!(cartridge.map.source(), PositionSource::Probed);
    let geometry = &cartridge.tape.geometry;
    let along = |map: &BlockMap, block| {
        let at = map.nearest_position(0, block, false).expect("a block");
        let one_way = f64::from(geometry.wrap_lpos());
        let into = f64::from(at.lpos - geometry.lpos_min) / one_way;
        let is_forward = at.wrap.is_multiple_of(2);
        f64::from(at.wrap) + if is_forward { into } else { 1.0 - into }
    };
    for n in 5..45 {
        let block = end * (2 * n + 1) / 100;
        let right = along(&truth, block);
        let learned = (along(&cartridge.map, block) - right).abs();
        let believed = (along(&nominal, block) - right).abs();
        assert!(
            learned < 0.05 && learned < believed / 5.0,
            "{block}: {learned} {believed}"
        );
    }
}

#[test]
fn what_was_recorded_of_a_scaled_cartridge_says_too_little_and_nominal_geometry_stays() {
    let truth = lto5_profile()
        .nominal_map(NominalLayout::Single, BLOCK * 1_000)
        .expect("a map");
    let places = [written(&truth, 5_000)];
    let (cartridge, map_source) = lto5(VolumeFormat::Tapewise, 1_000, &places).expect("a map");
    assert!(
        matches!(map_source.0, MapOrigin::Nominal { .. }),
        "{map_source}"
    );
    assert!(
        map_source.to_string().contains("taken as +-1 %"),
        "{map_source}"
    );
    assert_eq!(cartridge.map.source(), PositionSource::Nominal);
}

#[test]
fn an_ltfs_volume_has_two_partitions_where_only_nominal_geometry_is_known() {
    let (cartridge, _) = lto5(VolumeFormat::Ltfs, 1, &[]).expect("a map");
    assert!(cartridge.map.end_block(1) > cartridge.map.end_block(0));
    let (cartridge, _) = lto5(VolumeFormat::Tapewise, 1, &[]).expect("a map");
    assert_eq!(cartridge.map.end_block(1), 0);
}

#[test]
fn a_place_on_a_wrap_that_the_cartridge_does_not_have_is_an_error_as_in_a_table() {
    let lto5 = lto5_profile();
    let nominal = lto5
        .nominal_map(NominalLayout::Single, BLOCK)
        .expect("a map");
    let mut places = vec![written(&nominal, 1_000), written(&nominal, 900_000)];
    places[1][0].start = Some(WrapLpos { wrap: 80, lpos: 9 });
    let error = self::lto5(VolumeFormat::Tapewise, 1, &places).expect_err("80 wraps, 0 to 79");
    assert_eq!(
        error.to_string(),
        "what the drive told when it was written: place 2 (wrap 80): the cartridge has wraps 0 to 79 only"
    );
    assert!(matches!(
        error,
        NoMap::Cartridge(CartridgeError::NoSuchWrap { wrap: 80, .. })
    ));
}
