//! Positions from the attributes of a mounted LTFS.

use tapewise_formats::ltfs_extent::LtfsLayout;
use tapewise_formats::ltfs_xattr::{request_from_xattrs, xattr_notice};

const UUID: (&str, &[u8]) = ("user.ltfs.volumeUUID", b"5005B061-F7AF");

#[test]
fn attributes_with_and_without_the_prefix_give_the_first_extent() {
    for prefix in ["", "user."] {
        let (start, partition) = (
            format!("{prefix}ltfs.startblock"),
            format!("{prefix}ltfs.partition"),
        );
        let attributes: [(&str, &[u8]); 3] = [(&start, b"92\0"), (&partition, b"b\n"), UUID];
        let request =
            request_from_xattrs("m/f", 600_000, &attributes, &LtfsLayout::assumed()).unwrap();
        let extent = &request.extents[0];
        assert_eq!(
            (extent.partition, extent.start_block, extent.block_count),
            (Some(1), 92, 2)
        );
        assert_eq!(request.volume.as_deref(), Some("5005b061-f7af"));
    }
    assert!(xattr_notice().text.contains("only the first extent"));
}

/// ltfs issue 334: a mount without these attributes was treated as a disk, and 17 files took 40 minutes.
#[test]
fn ltfs_334_a_missing_position_is_an_error_not_a_fallback() {
    let error = request_from_xattrs("m/f", 1, &[UUID], &LtfsLayout::assumed()).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("has no attribute ltfs.startblock"),
        "{message}"
    );
    assert!(
        message.contains("use the index of the volume instead"),
        "{message}"
    );
    assert!(request_from_xattrs("m/f", 0, &[], &LtfsLayout::assumed()).is_err());
}

#[test]
fn an_empty_file_needs_no_position() {
    let request = request_from_xattrs("m/f", 0, &[UUID], &LtfsLayout::assumed()).unwrap();
    assert!(request.extents.is_empty());
}

#[test]
fn values_that_are_none_are_refused() {
    let with = |start: &'static [u8], partition: &'static [u8], length| {
        let attributes = [
            ("ltfs.startblock", start),
            ("ltfs.partition", partition),
            UUID,
        ];
        request_from_xattrs("f", length, &attributes, &LtfsLayout::assumed())
            .unwrap_err()
            .to_string()
    };
    assert!(with(b"-5", b"b", 1).contains("not negative"));
    assert!(with(b"\xff", b"b", 1).contains("digits only"));
    assert!(with(b"5", b"c", 1).contains("expected a or b"));
    assert!(with(b"18446744073709551615", b"b", 600_000).contains("beyond 2^64"));
}
