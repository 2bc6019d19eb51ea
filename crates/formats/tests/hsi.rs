//! Listings of hsi.

use tapewise_formats::hsi::read_hsi_listing;

/// The line that NERSC's sorting script quotes as typical.
const LINE: &str = "FILE\t/home/l/lgerhard/159240_test.tar\t2465280\t2465280\t111+1121698225\tEG010100\t4\t0\t1\t\
                    11/06/2013\t08:47:20\t02/24/2017\t13:01:15";

#[test]
fn a_typical_line_gives_volume_and_sort_key_and_no_block() {
    let read = read_hsi_listing(LINE.as_bytes()).unwrap();
    let request = &read.requests[0];
    assert_eq!(request.id, "/home/l/lgerhard/159240_test.tar");
    assert_eq!(request.volume.as_deref(), Some("EG010100"));
    assert_eq!(request.sort_key, Some((111 << 40) + 1_121_698_225));
    assert!(request.extents.is_empty());
    assert_eq!(read.notices[0].code, "sort-key-only");
}

#[test]
fn paths_with_blanks_and_tabs_are_whole() {
    let text = LINE.replace("159240_test", "a b\tc");
    assert_eq!(
        read_hsi_listing(text.as_bytes()).unwrap().requests[0].id,
        "/home/l/lgerhard/a b\tc.tar"
    );
}

#[test]
fn other_lines_and_files_on_disk_are_told() {
    let disk = LINE.replace("111+1121698225", "0");
    let text = format!("DIRECTORY\t/home/l\r\n{LINE}\r\n{disk}\n");
    let read = read_hsi_listing(text.as_bytes()).unwrap();
    assert_eq!((read.requests.len(), read.requests[1].sort_key), (2, None));
    let codes: Vec<_> = read.notices.iter().map(|n| n.code.as_str()).collect();
    assert_eq!(codes, ["hsi-line", "hsi-not-on-tape", "sort-key-only"]);
}

#[test]
fn errors_name_line_and_text() {
    for (text, expected) in [
        (
            "FILE\ta\t1\n".to_string(),
            "line 1: 3 fields, expected at least 13",
        ),
        (
            LINE.replace("111+", "x+"),
            "the position is \"x+1121698225\"",
        ),
        (
            LINE.replace("111+1121698225", "tape"),
            "expected section+offset",
        ),
        ("nothing\n".to_string(), "make the listing with `hsi ls -P`"),
    ] {
        let message = read_hsi_listing(text.as_bytes()).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}
