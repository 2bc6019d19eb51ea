//! What a file is recognised as.

use tapewise_formats::{
    FORMATS, Format, bsr, csv_requests, cta_tapefile, detect, hsi, jsonl, list, ltfs_index,
    ltfs_label, plan_json,
};

fn format(bytes: &[u8], name: Option<&str>) -> &'static Format {
    detect(bytes, name).format
}

#[test]
fn content_decides() {
    let label = tapewise_house::bytes("ltfs/TST001.label.xml");
    let index = tapewise_house::bytes("ltfs/lto8-36files.xml");
    for (bytes, expected) in [
        (&index[..], &ltfs_index::FORMAT),
        (&label[..], &ltfs_label::FORMAT),
        (
            b"\xef\xbb\xbfID;start_block;end_block\r\n1;2;3\r\n",
            &csv_requests::FORMAT,
        ),
        (b"\"id\",\"sort_key\"\n", &csv_requests::FORMAT),
        (b"{\"id\":1}\n{\"id\":2}\n", &jsonl::FORMAT),
        (b"{\n  \"format\": \"tapewise-plan\",\n", &plan_json::FORMAT),
        (b" [{\"af\":{}}]", &cta_tapefile::FORMAT),
        (b"# made by me\n\nVolume=\"A\"\n", &bsr::FORMAT),
        (b"Storage=Tape\nVolume=A\n", &bsr::FORMAT),
        (b"FILE\t/a\t1", &hsi::FORMAT),
        (b"a\0b\0", &list::NUL_FORMAT),
        (b"dir/a.mov\ndir/b.mov\n", &list::FORMAT),
        (b"", &list::FORMAT),
    ] {
        assert_eq!(
            format(bytes, Some("x.txt")),
            expected,
            "{}",
            String::from_utf8_lossy(bytes)
        );
    }
}

#[test]
fn the_name_helps_where_the_content_does_not() {
    assert_eq!(format(b"id,block\n", Some("A.CSV")), &csv_requests::FORMAT);
    assert_eq!(format(b"id,block\n", None), &list::FORMAT);
    assert_eq!(
        format(b"<?xml version", Some("T.schema")),
        &ltfs_index::FORMAT
    );
    assert_eq!(format(b"", Some("x.bsr")), &bsr::FORMAT);
}

#[test]
fn the_sentence_says_what_and_why() {
    let seen = detect(b"one\ntwo\n", None).sentence;
    assert_eq!(
        seen,
        "read as a list of names, one a line: nothing in it marks another format"
    );
    let seen = detect(b"<ltfsindex version=\"2.4.0\">", None).sentence;
    assert_eq!(
        seen,
        "read as an LTFS index: it has the element <ltfsindex>"
    );
}

#[test]
fn utf_16_is_called_that_and_gets_a_reader_that_says_so() {
    let sentence = "the file is UTF-16 text, by its byte order mark; save it as UTF-8";
    for (text, name, expected) in [
        (
            "id,start_block,block_count\r\n",
            "x.txt",
            &csv_requests::FORMAT,
        ),
        ("Clip\r\n", "x.csv", &csv_requests::FORMAT),
        ("{\"id\":1}\r\n", "x.txt", &jsonl::FORMAT),
        ("one.mov\r\n", "x.txt", &list::FORMAT),
        ("[{\"af\":1}]\r\n", "x.json", &list::FORMAT),
        ("<ltfsindex>", "x.xml", &list::FORMAT),
        ("", "x.csv", &csv_requests::FORMAT),
        ("", "x", &list::FORMAT),
    ] {
        let units = || {
            format!("\u{feff}{text}")
                .encode_utf16()
                .collect::<Vec<u16>>()
        };
        let little: Vec<u8> = units().into_iter().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().into_iter().flat_map(u16::to_be_bytes).collect();
        for bytes in [little, big] {
            let seen = detect(&bytes, Some(name));
            assert_eq!((seen.format, seen.sentence.as_str()), (expected, sentence));
        }
    }
}

#[test]
fn every_format_has_a_name_that_finds_it() {
    for format in FORMATS {
        assert_eq!(Format::from_name(format.name), Some(*format));
    }
    assert_eq!(Format::from_name("tar"), None);
}
