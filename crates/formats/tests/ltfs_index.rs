//! LTFS indexes: real ones to the last extent, damaged and hostile ones to an error.

use std::io::{BufReader, Read};
use std::sync::LazyLock;

use proptest::prelude::*;
use tapewise_formats::XmlError;
use tapewise_formats::ltfs_index::{
    LtfsExtent, LtfsFile, LtfsIndex, LtfsIndexError, LtfsLocation, read_ltfs_index,
    visit_ltfs_index,
};
use tapewise_house::bytes;

static TST001: LazyLock<Vec<u8>> = LazyLock::new(|| bytes("ltfs/TST001-20files.xml"));
static TST002_2: LazyLock<Vec<u8>> = LazyLock::new(|| bytes("ltfs/TST002-gen2-2077files.xml"));
static TST002_4: LazyLock<Vec<u8>> =
    LazyLock::new(|| bytes("ltfs/TST002-gen4-3001files-3302extents.xml"));
static LTO8: LazyLock<Vec<u8>> = LazyLock::new(|| bytes("ltfs/lto8-36files.xml"));

fn read(bytes: &[u8]) -> (LtfsIndex, Vec<LtfsFile>) {
    read_ltfs_index(bytes).expect("a good index")
}

fn error(xml: &str) -> LtfsIndexError {
    read_ltfs_index(xml.as_bytes()).expect_err("a bad index")
}

/// The text of each `<tag>…</tag>`, found by searching for it: no parser, so nothing in common with ours.
fn texts<'a>(xml: &'a str, tag: &str) -> Vec<&'a str> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    xml.split(&open)
        .skip(1)
        .map(|rest| rest.split(&close).next().unwrap())
        .collect()
}

/// All extents of a fixture in the order of the file, by searching.
fn naive_extents(xml: &str) -> Vec<LtfsExtent> {
    let number = |extent: &str, tag: &str| texts(extent, tag)[0].parse().unwrap();
    texts(xml, "extent")
        .into_iter()
        .map(|extent| LtfsExtent {
            file_offset: number(extent, "fileoffset"),
            partition: texts(extent, "partition")[0].chars().next().unwrap(),
            start_block: number(extent, "startblock"),
            byte_offset: number(extent, "byteoffset"),
            byte_count: number(extent, "bytecount"),
        })
        .collect()
}

#[test]
fn every_fixture_gives_exactly_the_extents_that_searching_finds() {
    for fixture in [&TST001, &TST002_2, &TST002_4, &LTO8] {
        let xml = std::str::from_utf8(fixture).unwrap();
        let (index, files) = read(fixture);
        let mut ours: Vec<LtfsExtent> = files.iter().flat_map(|f| f.extents.clone()).collect();
        let mut naive = naive_extents(xml);
        let key = |e: &LtfsExtent| (e.partition, e.start_block, e.byte_offset, e.file_offset);
        ours.sort_by_key(key);
        naive.sort_by_key(key);
        assert_eq!(ours, naive);
        assert_eq!(index.file_count as usize, xml.matches("<file>").count());
        assert_eq!(
            index.directory_count as usize,
            xml.matches("<directory>").count()
        );
        assert_eq!(index.extent_count as usize, naive.len());
        assert_eq!(
            index.extent_bytes,
            naive.iter().map(|e| e.byte_count).sum::<u64>()
        );
        let lengths: u64 = texts(xml, "length")
            .iter()
            .map(|t| t.parse::<u64>().unwrap())
            .sum();
        assert_eq!(files.iter().map(|f| f.length).sum::<u64>(), lengths);
        assert_eq!(index.notices, []);
    }
}

#[test]
fn the_large_fixture_holds_every_kind_of_file() {
    let (index, files) = read(&TST002_4);
    assert_eq!(
        (index.file_count, index.extent_count, index.directory_count),
        (3001, 3302, 109)
    );
    let extents = || files.iter().flat_map(|f| &f.extents);
    assert_eq!(extents().filter(|e| e.byte_offset > 0).count(), 80);
    assert_eq!(files.iter().map(|f| f.extents.len()).max(), Some(9));
    assert!(extents().any(|e| e.partition == 'a') && extents().any(|e| e.partition == 'b'));
    let links: Vec<_> = files.iter().filter_map(|f| f.symlink.as_deref()).collect();
    assert_eq!(links, ["../proj01"]);
    assert!(
        files
            .iter()
            .any(|f| f.length == 0 && f.symlink.is_none() && f.extents.is_empty())
    );
    let sparse = files.iter().filter(|f| {
        f.symlink.is_none() && f.extents.iter().map(|e| e.byte_count).sum::<u64>() < f.length
    });
    assert_eq!(sparse.count(), 5);
    assert!(
        files
            .iter()
            .all(|f| f.extents.is_sorted_by_key(|e| e.file_offset))
    );
}

#[test]
fn the_head_of_an_index_is_read() {
    let (index, files) = read(&TST001);
    assert_eq!(index.version, "2.4.0");
    assert_eq!(
        index.creator,
        "IBM LTFS 2.4.8.4 (Prelim) - Linux - ltfs - Unmount"
    );
    assert_eq!(index.volume_uuid, "00cdef45-a864-41ae-82f7-502523299cf1");
    assert_eq!((index.generation, index.highest_file_uid), (2, Some(24)));
    assert_eq!(index.update_time, "2026-11-21T04:01:50.835087869Z");
    let at = |partition, start_block| {
        Some(LtfsLocation {
            partition,
            start_block,
        })
    };
    assert_eq!(
        (index.location, index.previous_location),
        (at('a', 5), at('b', 33))
    );
    assert_eq!(index.volume_name, "smallvol");
    let hello = &files[0];
    assert_eq!(
        (hello.path.to_string(), hello.length, hello.file_uid),
        ("docs/a/hello.txt".to_string(), 6, Some(22))
    );
    // 2026-11-21T04:01:50.812333871Z
    assert_eq!(hello.modified_ns, Some(1_795_233_710_812_333_871));
    assert_eq!(hello.extents[0].start_block, 31);
}

fn volume(inside: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ltfsindex version=\"2.4.0\">\n<volumeuuid>U</volumeuuid>\n\
         <directory><name>v</name><contents>\n{inside}\n</contents></directory>\n</ltfsindex>\n"
    )
}

fn file(inside: &str) -> String {
    volume(&format!(
        "<file><name>f</name><length>1</length>{inside}</file>"
    ))
}

fn extent(start: &str, offset: &str, count: &str) -> String {
    file(&format!(
        "<extentinfo><extent><partition>b</partition><fileoffset>0</fileoffset><startblock>{start}</startblock>\
         <byteoffset>{offset}</byteoffset><bytecount>{count}</bytecount></extent></extentinfo>"
    ))
}

#[test]
fn names_are_decoded_and_entities_resolved() {
    let xml = volume(
        "<directory><name>a &amp; b</name><contents>\
         <file><name percentencoded=\"true\">c%3Ad+%25.mov</name><length>0</length></file>\
         <file><name>100%25 &lt;&#233;&#x1F600;&gt;</name><length>0</length></file>\
         <file><name><![CDATA[<x>]]></name><length>0</length></file>\
         </contents></directory>",
    );
    let (_, files) = read(xml.as_bytes());
    let paths: Vec<_> = files.iter().map(|f| f.path.to_string()).collect();
    assert_eq!(
        paths,
        ["a & b/c:d+%.mov", "a & b/100%25 <é😀>", "a & b/<x>"]
    );
}

#[test]
fn paths_come_back_after_each_directory() {
    let one = |name: &str| format!("<file><name>{name}</name><length>0</length></file>");
    let xml = volume(&format!(
        "{}<directory><name>d</name><contents>{}<directory><name>e</name><contents>{}</contents></directory>{}\
         </contents></directory><directory><name>empty</name></directory>{}",
        one("1"),
        one("2"),
        one("3"),
        one("4"),
        one("5")
    ));
    let (index, files) = read(xml.as_bytes());
    let paths: Vec<_> = files.iter().map(|f| f.path.to_string()).collect();
    assert_eq!(paths, ["1", "d/2", "d/e/3", "d/4", "5"]);
    assert_eq!(index.directory_count, 4);
}

#[test]
fn hashes_and_attributes_are_kept_but_not_those_of_ltfs_or_too_long_ones() {
    let long = "QUJD".repeat(600_000);
    let xml = file(&format!(
        "<extendedattributes><xattr><key>big</key><value type=\"base64\">{long}</value></xattr>\
         <xattr><key>ltfs.hash.sha256sum</key><value>ABCD</value></xattr>\
         <xattr><key>ltfs.vendor.IBM.prefixLength</key><value>0</value></xattr>\
         <xattr><key>reel name</key><value> 7 a</value></xattr><xattr><key>empty</key><value></value></xattr>\
         <xattr><key>ltfs.hash.md5sum</key><value type=\"base64\">QUI=</value></xattr></extendedattributes>"
    ));
    // The value of 2.4 MB is longer than any text we keep; skipping it needs no more than the parser's buffer.
    let (index, files) = read(xml.as_bytes());
    let hashes = &files[0].hashes;
    assert_eq!(hashes.len(), 2);
    assert_eq!(
        (
            hashes[0].name.as_str(),
            hashes[0].value.as_str(),
            hashes[0].base64
        ),
        ("sha256sum", "ABCD", false)
    );
    assert!(hashes[1].base64);
    let attributes: Vec<(&str, &str)> = files[0]
        .attributes
        .iter()
        .map(|attribute| (attribute.name.as_str(), attribute.value.as_str()))
        .collect();
    assert_eq!(attributes, [("reel name", " 7 a"), ("empty", "")]);
    assert_eq!(index.notices[0].code, "attribute-too-long");
}

#[test]
fn attributes_of_a_file_are_kept_up_to_256_kib_with_their_names_however_short_they_are() {
    let kept = |count: usize, key: &str| {
        let one = format!(
            "<extendedattributes><xattr><key>{key}</key><value/></xattr></extendedattributes>"
        );
        let (index, files) = read(file(&one.repeat(count)).as_bytes());
        let mut notices = index.notices.iter();
        let is_said = notices.any(|notice| notice.code == "attribute-too-long");
        assert_eq!(is_said, files[0].attributes.len() < count);
        files[0].attributes.len()
    };
    assert_eq!(kept(4, &"k".repeat(100_000)), 2);
    assert_eq!(kept(4, &"k".repeat(300_000)), 0);
    assert_eq!(kept(5_000, "k"), (256 << 10) / 65);
}

#[test]
fn unknown_elements_are_skipped_and_named() {
    let (index, files) = read(file("<vendor><a><b>x</b></a></vendor><vendor/>").as_bytes());
    assert_eq!(files.len(), 1);
    assert_eq!(index.notices.len(), 2);
    assert!(index.notices[0].text.contains("<vendor> is not known"));
}

#[test]
fn extents_out_of_order_are_sorted_and_odd_ones_noticed() {
    let one = |offset: u64, start: u64| {
        format!(
            "<extent><fileoffset>{offset}</fileoffset><partition>b</partition><startblock>{start}</startblock>\
             <byteoffset>0</byteoffset><bytecount>10</bytecount></extent>"
        )
    };
    let xml = file(&format!(
        "<extentinfo>{}{}{}</extentinfo>",
        one(20, 7),
        one(0, 9),
        one(5, 11)
    ));
    let (index, files) = read(xml.as_bytes());
    let starts: Vec<_> = files[0].extents.iter().map(|e| e.start_block).collect();
    assert_eq!(starts, [9, 11, 7]);
    let codes: Vec<_> = index.notices.iter().map(|n| n.code.as_str()).collect();
    assert_eq!(codes, ["extents-overlap", "extent-beyond-length"]);
}

#[test]
fn a_file_cut_anywhere_is_an_error_that_says_where() {
    let end = TST002_2.len() - 1;
    for cut in (0..end - 12).step_by(1000).chain(end - 40..end - 12) {
        let Err(error) = read_ltfs_index(&TST002_2[..cut]) else {
            panic!("cut at {cut} was read as whole");
        };
        match error {
            LtfsIndexError::Xml(XmlError::EndsInside {
                opened_line, line, ..
            }) => {
                assert!(opened_line >= 1 && opened_line <= line, "cut at {cut}");
            }
            LtfsIndexError::Xml(XmlError::NothingThere { .. }) => assert!(cut < 100),
            // Cut inside "</length>" or the like there may be a value too short to be one: never a whole index.
            other => panic!("cut at {cut}: {other}"),
        }
    }
}

#[test]
fn a_small_file_cut_at_every_byte_is_an_error() {
    let end = TST001.len() - 1;
    for cut in 0..end {
        let result = read_ltfs_index(&TST001[..cut]);
        assert!(result.is_err(), "cut at {cut} was read as whole");
    }
    assert!(
        read_ltfs_index(&TST001[..end]).is_ok(),
        "only the last line feed is gone"
    );
}

#[test]
fn a_file_cut_inside_a_character_is_called_cut() {
    let inside = TST002_2
        .windows(2)
        .position(|w| w == "é".as_bytes())
        .unwrap()
        + 1;
    let error = read_ltfs_index(&TST002_2[..inside]).unwrap_err();
    let ends = matches!(&error, LtfsIndexError::Xml(XmlError::EndsInside { element, .. }) if element == "name");
    assert!(ends, "{error}");
}

#[test]
fn the_message_of_a_cut_file_names_the_element_and_its_line() {
    let error = read_ltfs_index(&TST001[..2000]).unwrap_err().to_string();
    assert!(error.contains("the file ends inside <"), "{error}");
    assert!(error.contains("opened at line"), "{error}");
    assert!(error.contains("copy it again"), "{error}");
}

#[test]
fn a_doctype_is_refused() {
    let bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [<!ENTITY lol \"lol\"><!ENTITY lol2 \"&lol;&lol;\">]>\n\
                <ltfsindex version=\"2.4.0\"><creator>&lol2;</creator></ltfsindex>";
    assert!(matches!(
        error(bomb),
        LtfsIndexError::Xml(XmlError::Doctype { line: 2 })
    ));
    let unknown = file("").replace("<name>f", "<name>&lol;");
    assert!(matches!(
        error(&unknown),
        LtfsIndexError::Xml(XmlError::UnknownEntity { line: 5, .. })
    ));
}

#[test]
fn numbers_must_be_whole_and_fit() {
    for (bad, expected) in [
        ("-1", "not negative"),
        ("18446744073709551616", "up to 18446744073709551615"),
        ("1.5", "digits only"),
        ("", "it is empty"),
        ("0x10", "digits only"),
    ] {
        let message = error(&extent(bad, "0", "1")).to_string();
        assert!(
            message.contains("<startblock>") && message.contains(expected),
            "{message}"
        );
        assert!(message.starts_with("line 5:"), "{message}");
    }
    let overflow = error(&extent("1", "18446744073709551615", "2"));
    assert!(matches!(
        overflow,
        LtfsIndexError::ExtentOverflow { line: 5, .. }
    ));
}

#[test]
fn names_that_leave_their_directory_are_refused() {
    for name in ["..", ".", "", "a/b", "%2e%2e", "a%00b"] {
        let xml = volume(&format!(
            "<file><name percentencoded=\"true\">{name}</name><length>1</length></file>"
        ));
        let error = error(&xml);
        assert!(
            matches!(error, LtfsIndexError::BadName { line: 5, .. }),
            "{name}: {error}"
        );
    }
}

#[test]
fn what_is_missing_or_twice_is_named() {
    let cases = [
        (
            volume("<file><name>f</name></file>"),
            "line 5: <file> has no <length>",
        ),
        (
            volume("<file><length>1</length></file>"),
            "line 5: <file> has no <name>",
        ),
        (file("<length>2</length>"), "line 5: <length> appears twice"),
        (
            file("<extentinfo><extent/></extentinfo>"),
            "line 5: <extent> has no <partition>",
        ),
        (
            file("<extentinfo>x</extentinfo>"),
            "line 5: the text \"x\" inside <extentinfo>",
        ),
        (
            file("").replace("2.4.0", "1.0"),
            "version \"1.0\" is not supported",
        ),
        (
            file("").replace("<volumeuuid>U</volumeuuid>", ""),
            "<ltfsindex> has no <volumeuuid>",
        ),
        (file("") + "<more/>", "more content after the end"),
        (
            "<html></html>".to_string(),
            "this is <html>, expected <ltfsindex>",
        ),
        (" \n".to_string(), "the file is empty: expected <ltfsindex>"),
        ("hello".to_string(), "not an XML file"),
    ];
    for (xml, expected) in cases {
        let message = error(&xml).to_string();
        assert!(
            message.contains(expected),
            "{message}\nexpected: {expected}"
        );
    }
    let (index, _) = read(file("").replace("2.4.0", "2.6.0").as_bytes());
    assert_eq!(index.notices[0].code, "ltfs-version");
}

#[test]
fn bytes_that_are_not_utf8_are_refused_with_their_line() {
    let mut xml = file("").into_bytes();
    let at = xml.windows(3).position(|w| w == b">f<").unwrap();
    xml[at + 1] = 0xe9;
    let error = read_ltfs_index(&xml[..]).unwrap_err();
    assert!(
        matches!(
            error,
            LtfsIndexError::Xml(XmlError::NotUtf8 { line: 5, .. })
        ),
        "{error}"
    );
}

/// Gives the head, then 2 GiB of the filler, without having it in memory.
fn endless(head: &str, filler: &'static [u8]) -> impl std::io::BufRead {
    struct Repeat(&'static [u8], usize);
    impl Read for Repeat {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            for byte in out.iter_mut() {
                *byte = self.0[self.1];
                self.1 = (self.1 + 1) % self.0.len();
            }
            Ok(out.len())
        }
    }
    let head = std::io::Cursor::new(head.as_bytes().to_vec());
    BufReader::with_capacity(1 << 16, head.chain(Repeat(filler, 0).take(2 << 30)))
}

#[test]
fn endless_input_of_any_kind_ends_early() {
    let start = "<ltfsindex version=\"2.4.0\"><volumeuuid>U</volumeuuid><directory>";
    let cases: [(String, &'static [u8]); 12] = [
        ("<".into(), b"a"),
        (format!("{start}<name "), b"a"),
        (format!("{start}<name x=\""), b"a"),
        (format!("{start}<!-- "), b"a"),
        (format!("{start}<![CDATA["), b"a"),
        (format!("{start}<?"), b"a"),
        (format!("{start}<name>"), b"a"),
        (format!("{start}<name>"), b"&amp;"),
        (format!("{start}<name>&"), b"a"),
        (start.into(), b"<name>"),
        (
            format!("{start}<name>v</name><contents>"),
            b"<directory><name>d</name><contents>",
        ),
        (
            format!("{start}<name>v</name><contents><file><extentinfo>"),
            b"<extent><partition>b</partition><startblock>1</startblock><byteoffset>0</byteoffset>\
              <bytecount>1</bytecount><fileoffset>0</fileoffset></extent>",
        ),
    ];
    for (head, filler) in cases {
        let result = visit_ltfs_index(endless(&head, filler), |_| {});
        let shown = String::from_utf8_lossy(filler).into_owned();
        assert!(result.is_err(), "{head}{shown}…");
    }
}

#[test]
fn deep_directories_are_refused_and_a_thousand_are_fine() {
    let nested = |depth: usize| {
        volume(&format!(
            "{}{}",
            "<directory><name>d</name><contents>".repeat(depth),
            "</contents></directory>".repeat(depth)
        ))
    };
    assert_eq!(read(nested(1000).as_bytes()).0.directory_count, 1001);
    let error = error(&nested(1200)).to_string();
    assert!(
        error.contains("more than 1024 directories inside each other"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_changed_index_never_panics(
        changes in prop::collection::vec((0..TST001.len(), any::<u8>(), 0..3_u8), 1..8)
    ) {
        let mut bytes = TST001.to_vec();
        for (at, byte, how) in changes {
            let at = at % bytes.len();
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => { bytes.remove(at); }
            }
        }
        let _ = read_ltfs_index(&bytes[..]);
    }

    #[test]
    fn any_text_in_an_index_never_panics(text in "[<>/&;a-z \"=!\\[\\]-]{0,200}") {
        let _ = read_ltfs_index(volume(&text).as_bytes());
        let _ = read_ltfs_index(text.as_bytes());
    }
}

#[test]
fn utf_16_is_called_that() {
    let xml = String::from_utf8(LTO8.clone()).unwrap();
    let units = std::iter::once(0xfeff).chain(xml.encode_utf16());
    let (little, big): (Vec<_>, Vec<_>) = units
        .map(|unit| (unit.to_le_bytes(), unit.to_be_bytes()))
        .unzip();
    for bytes in [little, big] {
        assert_eq!(
            read_ltfs_index(bytes.as_flattened())
                .unwrap_err()
                .to_string(),
            "the file is UTF-16 text; save it as UTF-8"
        );
    }
}
