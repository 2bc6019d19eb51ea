//! The label of an LTFS volume.

use std::sync::LazyLock;
use tapewise_formats::ltfs_label::read_ltfs_label;

static LABEL: LazyLock<String> = LazyLock::new(|| tapewise_house::text("ltfs/TST001.label.xml"));

#[test]
fn the_fixture_is_read() {
    let label = read_ltfs_label(LABEL.as_bytes()).unwrap();
    assert_eq!(label.version, "2.4.0");
    assert_eq!(label.volume_uuid, "00cdef45-a864-41ae-82f7-502523299cf1");
    assert_eq!(
        (label.partition, label.index_partition, label.data_partition),
        ('a', 'a', 'b')
    );
    assert_eq!((label.block_size, label.compression), (524_288, true));
    assert_eq!(label.format_time, "2026-11-21T04:01:25.992648535Z");
}

#[test]
fn a_label_that_lacks_something_says_what() {
    let cases = [
        (
            LABEL.replace("<blocksize>524288</blocksize>", ""),
            "has no <blocksize>",
        ),
        (LABEL.replace("<index>a</index>", ""), "has no <partitions>"),
        (
            LABEL.replace("524288", "4095"),
            "expected 4096 to 16777215 (bytes)",
        ),
        (
            LABEL.replace("524288", "16777216"),
            "expected 4096 to 16777215 (bytes)",
        ),
        (
            LABEL.replace("<data>b</data>", "<data>B</data>"),
            "expected a letter from a to z",
        ),
        (
            LABEL.replace("ltfslabel", "ltfsindex"),
            "this is <ltfsindex>, expected <ltfslabel>",
        ),
        (LABEL.replace(">true<", ">yes<"), "expected true or false"),
        (LABEL[..300].to_string(), "the file ends inside <"),
    ];
    for (xml, expected) in cases {
        let message = read_ltfs_label(xml.as_bytes()).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}
