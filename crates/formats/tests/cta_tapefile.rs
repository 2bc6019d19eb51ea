//! CTA's listing of tape files.

use tapewise_formats::cta_tapefile::{CtaError, read_cta_tapefiles};

/// One item as `cta-admin --json tapefile ls` prints it (field names of TapeFileLsItem).
fn item(archive_id: u64, vid: &str, f_seq: u64, block_id: u64, size: u64) -> String {
    format!(
        r#"{{"af":{{"archiveId":"{archive_id}","storageClass":"ctaStorageClass","creationTime":"1699000000",
            "checksum":[{{"type":"ADLER32","value":"8a23d4f8"}}],"size":"{size}"}},
            "df":{{"diskId":"4294967{archive_id}","diskInstance":"ctaeos","ownerId":{{"uid":11001,"gid":1200}},"path":""}},
            "tf":{{"vid":"{vid}","copyNb":1,"blockId":"{block_id}","fSeq":"{f_seq}"}}}}"#
    )
}

fn error(text: &str) -> String {
    read_cta_tapefiles(text.as_bytes())
        .expect_err(text)
        .to_string()
}

#[test]
fn a_file_covers_its_labels_too() {
    let text = format!(
        "[{},\n{}]\n",
        item(1, "V01007", 1, 1, 15_360),
        item(2, "V01007", 2, 11, 262_145)
    );
    let read = read_cta_tapefiles(text.as_bytes()).unwrap();
    let first = &read.requests[0];
    assert_eq!(
        (first.id.as_str(), first.volume.as_deref(), first.sort_key),
        ("1", Some("V01007"), Some(1))
    );
    assert_eq!(first.path, None);
    // blockId to blockId + 8 + ceil(size / 262144), both inclusive: the next file begins right after.
    let ends: Vec<_> = read
        .requests
        .iter()
        .map(|r| (r.extents[0].start_block, r.extents[0].end_block()))
        .collect();
    assert_eq!(ends, [(1, 10), (11, 21)]);
    assert_eq!(first.extents[0].byte_count, Some(15_360));
    assert_eq!(first.extra[0], ("copyNb".to_string(), "1".to_string()));
    assert_eq!(read.notices, []);
    assert!(read_cta_tapefiles(&b"[]"[..]).unwrap().requests.is_empty());
}

/// CTA issue 1153: tapes written by Enstore have dummy block numbers, and ordering by them is worse than none.
#[test]
fn cta_1153_dummy_block_numbers_are_refused() {
    let text = format!("[{},{}]", item(1, "V1", 2, 0, 5), item(2, "V1", 1, 0, 5));
    let message = error(&text);
    assert!(
        message.contains("volume V1: file 2 begins at block 0, but file 1 before it at block 0"),
        "{message}"
    );
    assert!(message.contains("Enstore"), "{message}");
    let other = format!("[{},{}]", item(1, "V1", 2, 0, 5), item(2, "V2", 1, 0, 5));
    assert!(read_cta_tapefiles(other.as_bytes()).is_ok());
}

#[test]
fn errors_name_the_item_and_the_field() {
    let good = item(1, "V1", 1, 1, 5);
    for (text, expected) in [
        (
            format!("[{good},{}]", good.replace("\"blockId\":\"1\",", "")),
            "item 2: tf.blockId is missing",
        ),
        (
            format!("[{}]", good.replace("\"5\"", "\"-5\"")),
            "item 1: af.size is \"-5\", expected a whole number that is not negative",
        ),
        (
            format!(
                "[{}]",
                good.replace("\"blockId\":\"1\"", "\"blockId\":18446744073709551615")
            ),
            "end beyond 2^64",
        ),
        (
            format!("[{}]", good.replace("\"tf\"", "\"xx\"")),
            "item 1: tf is missing",
        ),
        (
            r#"[{"id":"a","start_block":5,"block_count":3}]"#.to_owned(),
            "item 1 has neither af nor tf: a JSON array is read as the output of `cta-admin --json tapefile ls`, and this \
             is none. Requests as JSON have one object a line",
        ),
        (
            format!("[{}]", good.replace("\"vid\":\"V1\"", "\"vid\":\"\"")),
            "item 1: tf.vid is missing",
        ),
        ("{}".to_string(), "expected an array of tape files"),
        (format!("[{good},"), "EOF while parsing"),
        (format!("[{good}] x"), "trailing characters"),
        (String::new(), "cta-admin --json tapefile ls"),
    ] {
        let message = error(&text);
        assert!(
            message.contains(expected),
            "{message}\nexpected: {expected}"
        );
    }
}

#[test]
fn superseded_copies_are_left_out_and_told() {
    let old = item(1, "V1", 1, 1, 5).replace("\"fSeq\"", "\"supersededByVid\":\"V2\",\"fSeq\"");
    let read = read_cta_tapefiles(format!("[{old}]").as_bytes()).unwrap();
    assert!(read.requests.is_empty());
    assert_eq!(
        read.notices[0].text,
        "file 1 on V1 is superseded by a copy on V2 and was left out"
    );
}

#[test]
fn an_endless_item_is_an_error() {
    let endless = std::io::BufReader::new(std::io::Read::chain(
        &b"[{\"af\":\""[..],
        std::io::repeat(b'a'),
    ));
    assert!(matches!(read_cta_tapefiles(endless), Err(CtaError::Io(_))));
}
