//! Lists of sums: those of other programs are understood, those of ours are read by them, contradictions are said.

use proptest::prelude::*;
use std::io::Write;
use std::process::{Command, Stdio};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::sums::{
    Kind, Ledger, Listed, Sum, SumList, list_line, ltfs_index_sum, ltfs_sum, mhl_element, read_sums,
};
use tapewise_formats::ltfs_index::LtfsHash;
use tapewise_formats::mhl::{MhlCreator, MhlRecord, write_mhl};

fn read(list_name: &str, text: impl AsRef<[u8]>) -> SumList {
    read_sums(text.as_ref(), list_name).expect("a list")
}

fn refused(list_name: &str, text: impl AsRef<[u8]>) -> String {
    let read = read_sums(text.as_ref(), list_name);
    read.expect_err("no list").to_string()
}

/// The names and sums of a list.
fn sums(list: &SumList) -> Vec<(&[u8], Sum)> {
    let pair = |listed: &'_ Listed| listed.sum.clone();
    list.sums
        .iter()
        .map(|listed| (listed.name.as_slice(), pair(listed)))
        .collect()
}

#[test]
fn digits_are_read_strictly() {
    let sum = Sum::of(Kind::Crc32, b"x");
    assert_eq!(
        Sum::from_hex(Kind::Crc32, &sum.hex().to_uppercase()),
        Some(sum.clone())
    );
    assert_eq!(sum.to_string().parse(), Ok(sum));
    for wrong in [
        "+1234567",
        "1234567",
        "123456789",
        "1234567g",
        "12 34567",
        "",
        "1234567é",
    ] {
        assert_eq!(Sum::from_hex(Kind::Crc32, wrong), None, "{wrong}");
        assert!(format!("crc32:{wrong}").parse::<Sum>().is_err(), "{wrong}");
    }
}

#[test]
fn lists_of_gnu_programs_are_read() {
    let md5 = Sum::of(Kind::Md5, b"film");
    let text = format!(
        "{0}  a b.mov\n{0} *sub/binary\r\n\n\\{0}  two\\nlines\\\\\n",
        md5.hex()
    );
    let list = read("clips.md5", text);
    let names: Vec<&[u8]> = list
        .sums
        .iter()
        .map(|listed| listed.name.as_slice())
        .collect();
    assert_eq!(names, [&b"a b.mov"[..], b"sub/binary", b"two\nlines\\"]);
    assert!(list.sums.iter().all(|listed| listed.sum == md5));
    let kinds = [Kind::Sha1, Kind::Sha256, Kind::Sha512, Kind::Xxh64];
    for kind in kinds {
        let sum = Sum::of(kind, b"film");
        assert_eq!(
            sums(&read("list", format!("{}  a\n", sum.hex()))),
            [(&b"a"[..], sum)]
        );
    }
    let xxh3 = Sum::of(Kind::Xxh3, b"film");
    assert_eq!(
        read("x", format!("XXH3_{}  a\n", xxh3.hex())).sums[0].sum,
        xxh3
    );
    assert_eq!(
        read("x.xxh3", format!("{}  a\n", xxh3.hex())).sums[0].sum,
        xxh3
    );
}

#[test]
fn lists_of_bsd_programs_are_read() {
    let sum = Sum::of(Kind::Sha256, b"film");
    let text = format!(
        "SHA256 (a (1).mov) = {}\nMD5 (b) = {}\n",
        sum.hex(),
        Sum::of(Kind::Md5, b"x").hex()
    );
    let list = read("list", text);
    let expected = [
        (&b"a (1).mov"[..], sum),
        (&b"b"[..], Sum::of(Kind::Md5, b"x")),
    ];
    assert_eq!(sums(&list), expected);
    assert!(refused("list", "RMD160 (a) = 00\n").contains("does not know this kind"));
}

#[test]
fn eight_digits_need_a_kind() {
    for kind in [Kind::Crc32, Kind::Crc32c, Kind::Adler32] {
        let sum = Sum::of(kind, b"film");
        let line = format!("{}  a\n", sum.hex());
        assert!(refused("clips.txt", &line).contains("eight digits"));
        assert_eq!(
            read(&format!("dir/clips.{}", kind.name()), &line).sums[0].sum,
            sum
        );
        assert_eq!(read("clips.txt", format!("{sum}  a\n")).sums[0].sum, sum);
    }
    let sum = Sum::of(Kind::Crc32, b"film");
    let sfv = read(
        "clips.SFV",
        format!("; by a program\na b.mov {}\n", sum.hex().to_uppercase()),
    );
    assert_eq!(sums(&sfv), [(&b"a b.mov"[..], sum)]);
}

#[test]
fn kinds_that_are_not_computed_are_not_taken_for_others() {
    let as_many_as_md5 = "00112233445566778899aabbccddeeff  a\n";
    assert!(refused("clips.xxh128", as_many_as_md5).contains("not computed here"));
    let as_many_as_sha256 = format!("{}  a\n", "ab".repeat(32));
    assert!(refused("manifest-sha3256.txt", as_many_as_sha256).contains("not computed here"));
}

#[test]
fn bagit_manifests_are_read() {
    let sum = Sum::of(Kind::Sha512, b"film");
    let text = format!("{0} data/a b\n{0}\tdata/100%25%0Asure%41\n", sum.hex());
    let list = read("bag/manifest-sha512.txt", text);
    assert_eq!(list.form, "BagIt manifest");
    let expected = [
        (&b"data/a b"[..], sum.clone()),
        (&b"data/100%\nsure%41"[..], sum),
    ];
    assert_eq!(sums(&list), expected);
}

#[test]
fn a_line_that_is_no_sum_is_an_error_with_its_line() {
    let good = format!("{}  a\n", Sum::of(Kind::Md5, b"x").hex());
    for bad in [
        "hello",
        "hello  world",
        "d41d8cd98f00b204e9800998ecf8427e a",
        "d41d  a",
    ] {
        let text = refused("list.md5", format!("{good}{bad}\n"));
        assert!(text.starts_with("line 2: "), "{text}");
    }
    assert!(refused("list", "\\d41d8cd98f00b204e9800998ecf8427e  a\\x\n").contains("backslash"));
}

#[test]
fn media_hash_lists_of_both_versions_are_read() {
    let first = r#"<?xml version="1.0" encoding="UTF-8"?>
<hashlist version="1.1">
  <creatorinfo><name>A</name><tool>copier 1</tool><startdate>2026-01-01T00:00:00Z</startdate></creatorinfo>
  <hash><file>Clips/A &amp; B.mov</file><size>5</size>
    <lastmodificationdate>2026-01-01T00:00:00Z</lastmodificationdate>
    <xxhash64be>0ea03b369a463d9d</xxhash64be><md5>0CC175B9C0F1B6A831C399E269772661</md5>
    <hashdate>2026-01-01T00:00:00Z</hashdate></hash>
  <hash><file>old</file><size>5</size><xxhash64>9d3d469a363ba00e</xxhash64><null/></hash>
</hashlist>"#;
    let list = read("x.mhl", first);
    assert_eq!(list.form, "MHL 1.1");
    let names: Vec<&[u8]> = list
        .sums
        .iter()
        .map(|listed| listed.name.as_slice())
        .collect();
    assert_eq!(names, [&b"Clips/A & B.mov"[..], b"Clips/A & B.mov", b"old"]);
    // The older element has the bytes the other way round: the same sum.
    assert_eq!(list.sums[0].sum, list.sums[2].sum);
    assert_eq!(list.sums[0].sum, Sum::of(Kind::Xxh64, b"abcd\n"));
    assert_eq!(list.sums[1].bytes, Some(5));

    let second = r#"<?xml version="1.0" encoding="UTF-8"?>
<hashlist version="2.0" xmlns="urn:ASC:MHL:v2.0">
  <creatorinfo><creationdate>2026-01-01T00:00:00Z</creationdate><tool version="1">t</tool></creatorinfo>
  <processinfo><process>in-place</process><roothash><content><xxh64>8d02114c32e28cbe</xxh64></content></roothash>
  </processinfo>
  <hashes>
    <hash><path size="5">Clips/a.mov</path><xxh64 action="verified">0ea03b369a463d9d</xxh64>
      <c4>c44pdRyHLMvHsYbJnRpTrh5ohdWW6uVbm4mZx421aTN7y9MUKk74TqyshmTLgvnq2tcZex6khpxrYUq87Hczcmnyq3</c4></hash>
    <directoryhash><path>Clips</path><content><xxh64>4c226b42e27d7af3</xxh64></content></directoryhash>
    <hash><path size="4">bad.mov</path><xxh64 action="failed">7680e5f98f4a80fd</xxh64></hash>
  </hashes>
  <metadata>free<any thing="1"/>text</metadata>
</hashlist>"#;
    let list = read("0001_x.mhl", second);
    assert_eq!(list.form, "ASC MHL 2.0");
    assert_eq!(
        sums(&list),
        [(&b"Clips/a.mov"[..], Sum::of(Kind::Xxh64, b"abcd\n"))]
    );
    let notices: Vec<String> = list.notices.iter().map(ToString::to_string).collect();
    assert!(
        notices.iter().any(|text| text.contains("failed")),
        "{notices:?}"
    );
    assert!(
        notices.iter().any(|text| text.contains("C4")),
        "{notices:?}"
    );
}

#[test]
fn hostile_media_hash_lists_end_in_an_error() {
    let bomb = "<!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]><hashlist/>";
    assert!(refused("x.mhl", bomb).contains("DOCTYPE"));
    assert!(refused("x.mhl", "<hashlist><hash><file>a</file>").contains("ends inside"));
    assert!(refused("x.mhl", "<html></html>").contains("<html>"));
    assert!(refused("x.mhl", "<hashlist><hash><md5>0</md5></hash></hashlist>").contains("file"));
    let wrong = "<hashlist version=\"1.1\"><hash><file>a</file><md5>xyz</md5></hash></hashlist>";
    assert!(refused("x.mhl", wrong).contains("\"xyz\" is no md5"));
    let two = "<hashlist><hash><file>a</file><file>b</file></hash></hashlist>";
    assert!(refused("x.mhl", two).contains("twice"));
    let deep = "<x>".repeat(100_000);
    read_sums(format!("<hashlist>{deep}").as_bytes(), "x.mhl").expect_err("too deep");
    let many = "<md5>d41d8cd98f00b204e9800998ecf8427e</md5>".repeat(65);
    refused(
        "x.mhl",
        format!("<hashlist><hash><file>a</file>{many}</hash></hashlist>"),
    );
    let endless = std::io::Read::chain(&b"<hashlist><hash><file>"[..], std::io::repeat(b'a'));
    let endless = std::io::BufReader::new(endless);
    read_sums(endless, "x.mhl").expect_err("an endless name");
    let endless = std::io::BufReader::new(std::io::repeat(b'a'));
    read_sums(endless, "x.md5").expect_err("an endless line");
}

#[test]
fn names_of_a_list_are_below_its_directory() {
    let md5 = Sum::of(Kind::Md5, b"film");
    let listed = |name: &[u8], sum: &Sum| Listed {
        line: 1,
        name: name.to_vec(),
        bytes: Some(4),
        sum: sum.clone(),
    };
    let names: [&[u8]; 4] = [b"./clip", b"sub/clip", b"../clip", b"/etc/passwd"];
    let mut list = names.map(|name| listed(name, &md5)).to_vec();
    list.push(listed(b"clip", &Sum::of(Kind::Md5, b"flim")));
    let mut ledger = Ledger::default();
    let added = ledger.add_list("reel/clips.md5", b"reel", &list);
    assert_eq!(added.taken, 2);
    assert_eq!(added.outside, [&b"../clip"[..], b"/etc/passwd"]);
    assert_eq!(added.conflicts.len(), 1);
    let path = InnerPath::new("reel/clip").expect("a path");
    assert_eq!(ledger.of(&path, 4), Ok(vec![md5]));
    assert_eq!(ledger.len(), 2);
}

#[test]
fn what_is_known_of_a_file_is_one_sum_of_a_kind() {
    let path = InnerPath::new("clip").expect("a path");
    let (md5, sha1) = (Sum::of(Kind::Md5, b"film"), Sum::of(Kind::Sha1, b"film"));
    let mut ledger = Ledger::default();
    assert_eq!(ledger.of(&path, 4), Ok(Vec::new()));
    ledger
        .add("one.md5", &path, Some(4), &md5)
        .expect("nothing is known yet");
    ledger.add("two.md5", &path, None, &md5).expect("the same");
    ledger
        .add("three.sha1", &path, None, &sha1)
        .expect("another kind");
    assert_eq!(ledger.of(&path, 4), Ok(vec![md5.clone(), sha1]));
    let other = Sum::of(Kind::Md5, b"flim");
    let conflict = ledger
        .add("four.md5", &path, None, &other)
        .expect_err("another sum");
    let text = conflict.to_string();
    for word in [
        "clip",
        "one.md5",
        "four.md5",
        &md5.to_string(),
        &other.to_string(),
    ] {
        assert!(text.contains(word), "{text}");
    }
    let longer = ledger
        .add("five.mhl", &path, Some(5), &md5)
        .expect_err("another length");
    assert!(longer.to_string().contains("5 bytes according to five.mhl"));
    let shorter = ledger
        .of(&path, 3)
        .expect_err("not the file that was summed up");
    assert!(
        shorter
            .to_string()
            .contains("3 bytes according to the volume")
    );
}

#[test]
fn sums_that_ltfs_stores_are_known_in_each_form() {
    let sum = Sum::of(Kind::Sha256, b"film");
    assert_eq!(
        ltfs_sum("sha256sum", sum.hex().as_bytes()),
        Some(sum.clone())
    );
    assert_eq!(
        ltfs_sum("sha256sum", format!("{}\n\0", sum.hex()).as_bytes()),
        Some(sum.clone())
    );
    assert_eq!(ltfs_sum("sha256sum", &sum.value), Some(sum.clone()));
    assert_eq!(ltfs_sum("sha256sum", b"none"), None);
    assert_eq!(ltfs_sum("whirlpool", sum.hex().as_bytes()), None);
    let md5 = Sum::of(Kind::Md5, b"film");
    let hash = |value: &str, base64: bool| LtfsHash {
        name: "md5sum".to_owned(),
        value: value.to_owned(),
        base64,
    };
    assert_eq!(ltfs_index_sum(&hash(&md5.hex(), false)), Some(md5));
    // The bytes of MD5 of nothing.
    let empty = Some(Sum::of(Kind::Md5, b""));
    assert_eq!(
        ltfs_index_sum(&hash("1B2M2Y8As\n gTpgAmY7PhCfg==", true)),
        empty
    );
    assert_eq!(
        ltfs_index_sum(&hash("1B2M2Y8A*gTpgAmY7PhCfg==", true)),
        None
    );
}

/// The program's verdict on a list of ours about files that it is given; `None` where there is no such program.
fn checked_by(program: &str, list: &[u8], files: &[(&str, &[u8])]) -> Option<bool> {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, contents) in files {
        std::fs::write(directory.path().join(name), contents).expect("a file");
    }
    let mut child = Command::new(program)
        .args(["--check", "--strict", "-"])
        .current_dir(directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(list).expect("a list");
    drop(stdin);
    Some(child.wait().expect("a verdict").success())
}

#[test]
fn the_programs_of_others_check_our_lists() {
    let files: [(&str, &[u8]); 3] = [("plain", b"one"), ("two\nlines", b"two"), ("a\\b\r", b"")];
    let mut asked = 0;
    for (kind, program) in [
        (Kind::Md5, "md5sum"),
        (Kind::Sha1, "sha1sum"),
        (Kind::Sha256, "sha256sum"),
        (Kind::Sha512, "sha512sum"),
    ] {
        let line =
            |(name, contents): &(&str, &[u8])| list_line(name.as_bytes(), &Sum::of(kind, contents));
        let list: Vec<u8> = files.iter().flat_map(line).collect();
        let Some(right) = checked_by(program, &list, &files) else {
            continue;
        };
        assert!(right, "{program}");
        let other: [(&str, &[u8]); 3] =
            [("plain", b"one"), ("two\nlines", b"too"), ("a\\b\r", b"")];
        assert_eq!(checked_by(program, &list, &other), Some(false), "{program}");
        asked += 1;
    }
    if asked == 0 {
        println!("skipped: none of md5sum, sha1sum, sha256sum, sha512sum is here");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever a list holds, it is read or refused.
    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        text in "[<>/a-f0-9\\\\ *()=%\n]{0,80}",
        list_name in proptest::sample::select(vec!["x.mhl", "x.sfv", "manifest-md5.txt", "x.crc32c"]),
    ) {
        let _ = read_sums(bytes.as_slice(), list_name);
        let _ = read_sums(text.as_bytes(), list_name);
        let _ = read_sums([b"<hashlist>", bytes.as_slice()].concat().as_slice(), list_name);
    }

    /// Whatever a name is, a list of ours brings it back.
    #[test]
    fn a_list_of_ours_is_read_as_it_was_meant(
        name in proptest::collection::vec(1_u8.., 1..40),
        contents in any::<[u8; 4]>(),
        kind in proptest::sample::select(Kind::ALL.to_vec()),
    ) {
        let sum = Sum::of(kind, &contents);
        let list = read("list", list_line(&name, &sum));
        prop_assert_eq!(sums(&list), vec![(name.as_slice(), sum)]);
    }

    /// Whatever a name is, as long as XML can hold it, an MHL of ours brings it back.
    #[test]
    fn an_mhl_of_ours_is_read_as_it_was_meant(
        name in "[ -~\t\n\ré<>&\u{1f39e}]{1,40}",
        contents in any::<[u8; 4]>(),
        kind in proptest::sample::select(vec![Kind::Xxh64, Kind::Md5, Kind::Sha1]),
    ) {
        let sum = Sum::of(kind, &contents);
        let hashes = [(mhl_element(kind).expect("an element"), sum.hex())];
        let creator = MhlCreator { tool: "a & b".to_owned(), start_ns: 0, finish_ns: 1 };
        let record = MhlRecord {
            path: &name,
            bytes: 4,
            modified_ns: Some(-5),
            hashes: &hashes,
            hashed_ns: 1,
        };
        let mut text = Vec::new();
        write_mhl(&mut text, &creator, [record]).expect("written");
        let list = read("x.mhl", &text);
        prop_assert_eq!(&list.form, "MHL 1.1");
        prop_assert_eq!(sums(&list), vec![(name.as_bytes(), sum)]);
        prop_assert_eq!(list.sums[0].bytes, Some(4));
    }
}
