//! From files of an index to requests.

use tapewise_formats::ltfs_extent::{LtfsExtentError, LtfsLayout, ltfs_requests};
use tapewise_formats::ltfs_index::{LtfsExtent, LtfsFile, read_ltfs_index};
use tapewise_formats::ltfs_label::read_ltfs_label;

fn file(extents: &[(char, u64, u64, u64)]) -> LtfsFile {
    LtfsFile {
        path: "d/f".into(),
        extents: extents
            .iter()
            .map(
                |&(partition, start_block, byte_offset, byte_count)| LtfsExtent {
                    file_offset: 0,
                    partition,
                    start_block,
                    byte_offset,
                    byte_count,
                },
            )
            .collect(),
        ..LtfsFile::default()
    }
}

fn blocks(extent: (char, u64, u64, u64)) -> (u64, u64) {
    let read = ltfs_requests(&[file(&[extent])], &LtfsLayout::assumed(), None).unwrap();
    let extent = &read.requests[0].extents[0];
    (extent.start_block, extent.end_block())
}

#[test]
fn the_last_block_counts_the_offset_in_the_first() {
    assert_eq!(blocks(('b', 10, 0, 1)), (10, 10));
    assert_eq!(blocks(('b', 10, 0, 524_288)), (10, 10));
    assert_eq!(blocks(('b', 10, 1, 524_288)), (10, 11));
    assert_eq!(blocks(('b', 10, 524_287, 1)), (10, 10));
    assert_eq!(blocks(('b', 7, 0, 8_000_000)), (7, 22));
}

#[test]
fn letters_become_partitions_through_the_label() {
    let label = tapewise_house::bytes("ltfs/TST001.label.xml");
    let mut label = read_ltfs_label(&label[..]).unwrap();
    (label.index_partition, label.data_partition) = ('b', 'a');
    let read = ltfs_requests(
        &[file(&[('a', 1, 0, 1), ('b', 2, 0, 1)])],
        &LtfsLayout::from_label(&label),
        None,
    )
    .unwrap();
    let numbers: Vec<_> = read.requests[0]
        .extents
        .iter()
        .map(|e| e.partition)
        .collect();
    assert_eq!(numbers, [Some(1), Some(0)]);
    assert_eq!(read.notices, []);
}

#[test]
fn without_a_label_the_assumption_is_told() {
    let read = ltfs_requests(&[], &LtfsLayout::assumed(), None).unwrap();
    assert_eq!(read.notices[0].code, "ltfs-layout-assumed");
    let read = ltfs_requests(&[], &LtfsLayout::assumed().with_block_size(65_536), None).unwrap();
    assert!(!read.notices[0].text.contains("524288"));
}

#[test]
fn an_extent_of_no_bytes_is_dropped_with_a_notice() {
    let read = ltfs_requests(
        &[file(&[('b', 1, 0, 0), ('b', 2, 0, 5)])],
        &LtfsLayout::assumed(),
        None,
    )
    .unwrap();
    assert_eq!(read.requests[0].extents.len(), 1);
    assert_eq!(read.notices[1].code, "empty-extent");
}

#[test]
fn what_cannot_be_placed_is_an_error() {
    let error =
        ltfs_requests(&[file(&[('c', 1, 0, 1)])], &LtfsLayout::assumed(), None).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("neither the index partition (a) nor the data partition (b)")
    );
    let error = ltfs_requests(
        &[file(&[('b', u64::MAX, 0, 600_000)])],
        &LtfsLayout::assumed(),
        None,
    )
    .unwrap_err();
    assert!(matches!(error, LtfsExtentError::Overflow { .. }));
    let layout = LtfsLayout::assumed().with_block_size(0);
    assert_eq!(
        ltfs_requests(&[], &layout, None),
        Err(LtfsExtentError::ZeroBlockSize)
    );
}

#[test]
fn blocks_of_a_real_volume_lie_below_its_end() {
    // The index before the last lies at block 3522 of the data partition; everything was written before it.
    let xml = tapewise_house::bytes("ltfs/TST002-gen4-3001files-3302extents.xml");
    let (index, files) = read_ltfs_index(&xml[..]).unwrap();
    let read = ltfs_requests(&files, &LtfsLayout::assumed(), Some(&index.volume_uuid)).unwrap();
    assert_eq!(read.requests.len(), 3001);
    let end = index.previous_location.unwrap().start_block;
    let extents = read.requests.iter().flat_map(|r| &r.extents);
    assert_eq!(extents.clone().count(), 3302);
    assert!(
        extents
            .clone()
            .filter(|e| e.partition == Some(1))
            .all(|e| e.end_block() < end)
    );
    assert!(
        read.requests
            .iter()
            .all(|r| r.volume.as_deref() == Some(&index.volume_uuid))
    );
}
