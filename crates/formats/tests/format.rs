//! What a file is recognised as.

use tapewise_formats::{Format, detect};

fn format(bytes: &[u8], name: Option<&str>) -> Format {
    detect(bytes, name).format
}

#[test]
fn content_decides() {
    let label = &tapewise_house::bytes("ltfs/TST001.label.xml")[..];
    let index = &tapewise_house::bytes("ltfs/lto8-36files.xml")[..];
    for (bytes, expected) in [
        (&index[..], Format::LtfsIndex),
        (&label[..], Format::LtfsLabel),
        (
            b"\xef\xbb\xbfID;start_block;end_block\r\n1;2;3\r\n",
            Format::Csv,
        ),
        (b"\"id\",\"sort_key\"\n", Format::Csv),
        (b"{\"id\":1}\n{\"id\":2}\n", Format::JsonLines),
        (b"{\n  \"format\": \"tapewise-plan\",\n", Format::Plan),
        (b" [{\"af\":{}}]", Format::CtaTapefile),
        (b"# made by me\n\nVolume=\"A\"\n", Format::Bsr),
        (b"Storage=Tape\nVolume=A\n", Format::Bsr),
        (b"FILE\t/a\t1", Format::HsiListing),
        (b"a\0b\0", Format::NulList),
        (b"dir/a.mov\ndir/b.mov\n", Format::List),
        (b"", Format::List),
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
    assert_eq!(format(b"id,block\n", Some("A.CSV")), Format::Csv);
    assert_eq!(format(b"id,block\n", None), Format::List);
    assert_eq!(
        format(b"<?xml version", Some("T.schema")),
        Format::LtfsIndex
    );
    assert_eq!(format(b"", Some("x.bsr")), Format::Bsr);
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
        ("id,start_block,block_count\r\n", "x.txt", Format::Csv),
        ("Clip\r\n", "x.csv", Format::Csv),
        ("{\"id\":1}\r\n", "x.txt", Format::JsonLines),
        ("one.mov\r\n", "x.txt", Format::List),
        ("[{\"af\":1}]\r\n", "x.json", Format::List),
        ("<ltfsindex>", "x.xml", Format::List),
        ("", "x.csv", Format::Csv),
        ("", "x", Format::List),
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
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(*format));
    }
    assert_eq!(Format::from_name("tar"), None);
}
