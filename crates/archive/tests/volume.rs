//! Our volumes: what is written is what tar restores, what a scan finds, and what segments point at.

use crate::tape;

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::{Error, Read, Write as _};
use std::process::{Command, Stdio};
use tape::*;
use tapewise_archive::record::Segment;
use tapewise_archive::volume::{
    Blank, Entry, Found, Label, Located, Member, Part, VolumeError, VolumeWriter, Written, Wrong,
    compress, parts, read_label, scan,
};
use tapewise_emulator::{BadBlock, LibrarySpec};
use tapewise_formats::event::Event;
use tapewise_run::Recorder;
use tapewise_scsi::{Cdb, TapeDrive};

/// Blocks small enough for many of them.
const BLOCK: u32 = 8 << 10;

type Files = Vec<(Vec<u8>, Vec<u8>)>;

/// Labels the cartridge and writes all files, in segments of so many bytes.
fn write(drive: &mut TapeDrive, files: &Files, segment_bytes: u64) -> Vec<Written> {
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(drive, &mut log, &NEVER);
    let writer = VolumeWriter::label(&mut recorder, &label(BLOCK), Blank::Required);
    let mut writer = writer.expect("labelled").with_segments_of(segment_bytes);
    let mut entries = files.iter().map(|(path, contents)| entry(path, contents));
    let mut segments = Vec::new();
    loop {
        let written = writer.write_segment(&mut recorder, &mut entries);
        let written = written.expect("written");
        assert!(written.failed.is_none(), "{:?}", written.failed);
        if written.files.is_empty() {
            return segments;
        }
        segments.push(written);
    }
}

fn scan_all(drive: &mut TapeDrive) -> (Option<Label>, u64, Vec<Located>) {
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(drive, &mut log, &NEVER);
    let mut members = Vec::new();
    let scanned = scan(&mut recorder, &mut |found| match found {
        Found::Member(located) => {
            members.push(located);
            Ok(())
        }
        Found::Trouble(trouble) => Err(Error::other(format!("{trouble:?}"))),
    });
    let scanned = scanned.expect("scanned");
    (scanned.label, scanned.next_block, members)
}

/// The blocks of a tape by their numbers; filemarks are empty ones.
fn numbered(drive: &mut TapeDrive) -> Vec<Vec<u8>> {
    let files = tape_files(drive);
    files.join(&Vec::new())
}

fn without_places(segment: Segment) -> Segment {
    Segment {
        start: None,
        end: None,
        ..segment
    }
}

/// Lengths around everything that has a length.
fn lengths() -> impl Strategy<Value = usize> {
    let block = BLOCK as usize;
    prop_oneof![
        Just(0),
        Just(1),
        511..=513usize,
        block - 1..=block + 1,
        3 * block - 600..=3 * block + 600,
        0..5 * block,
    ]
}

/// Names of any bytes that may stand in a path.
fn names() -> impl Strategy<Value = Vec<u8>> {
    let byte = any::<u8>().prop_filter("no part of a name", |byte| ![0, b'/'].contains(byte));
    let short = prop::collection::vec(byte, 1..120);
    let long = (b'a'..=b'z', 90..4096usize).prop_map(|(byte, count)| {
        let part = |at: usize| if at % 200 == 199 { b'/' } else { byte };
        (0..count).map(part).chain([byte]).collect::<Vec<u8>>()
    });
    prop_oneof![short, long].prop_filter("no name of a file", |name| name != b"." && name != b"..")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_files_are_found_again_by_a_scan_and_by_their_segments(
        files in prop::collection::btree_map(names(), (lengths(), any::<u64>()), 1..24),
        segment_bytes in 1u64..400_000,
        modified_ns in any::<i64>(),
    ) {
        let files: Files = files
            .into_iter()
            .map(|(name, (length, seed))| (name, contents(seed, length)))
            .collect();
        let directory = tempfile::tempdir().expect("a directory");
        let (_library, mut drive) = drive(directory.path());
        let mut log = Vec::<Event>::new();
        let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
        let mut writer = VolumeWriter::label(&mut recorder, &label(BLOCK), Blank::Required)
            .expect("labelled")
            .with_segments_of(segment_bytes);
        let mut entries = files.iter().map(|(path, contents)| {
            let mut entry = entry(path, contents)?;
            entry.member.modified_ns = modified_ns;
            Ok(entry)
        });
        let mut placed = Vec::new();
        loop {
            let written = writer.write_segment(&mut recorder, &mut entries).expect("written");
            prop_assert!(written.failed.is_none());
            if written.files.is_empty() {
                break;
            }
            placed.extend(written.files);
        }
        let next_block = writer.next_block();
        drop(recorder);
        let (found_label, found_next, members) = scan_all(&mut drive);
        prop_assert_eq!(found_label, Some(label(BLOCK)));
        prop_assert_eq!(found_next, next_block);
        prop_assert_eq!(members.len(), files.len());
        let blocks = numbered(&mut drive);
        prop_assert!(blocks.iter().all(|block| [0, BLOCK as usize].contains(&block.len())));
        for (((path, contents), placed), located) in files.iter().zip(&placed).zip(&members) {
            let mut member = Member::of(&file(path, contents));
            member.modified_ns = modified_ns;
            prop_assert_eq!(&located.member, &member);
            let segment = placed.segment;
            prop_assert_eq!(without_places(located.segment), without_places(segment));
            let range = segment.first_block as usize..=segment.last_block as usize;
            let bytes = blocks[range].concat();
            let from = segment.byte_offset as usize;
            prop_assert_eq!(&bytes[from..from + contents.len()], &contents[..]);
            prop_assert!(from >= 512, "the header is in another block");
            prop_assert!(segment.start.is_some() && segment.end.is_some());
        }
    }
}

/// Whether there is a tar to try; a missing one is said, because then nothing was proven.
fn has_tar() -> bool {
    let there = Command::new("tar").arg("--version").output();
    let there = there.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("GNU"));
    if !there {
        eprintln!("SKIPPED: there is no GNU tar here, restoring with it was not tried");
    }
    there
}

/// Pipes an archive into tar, and gives what it printed.
fn tar(arguments: &[&str], directory: &std::path::Path, archive: &[u8]) -> String {
    let mut tar = Command::new("tar")
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("tar starts");
    let mut into = tar.stdin.take().expect("a pipe");
    let output = std::thread::scope(|scope| {
        // It may close the pipe before the padding: that is its right.
        scope.spawn(move || into.write_all(archive).ok());
        tar.wait_with_output().expect("tar ends")
    });
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.is_empty(), "{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What the label tells people to call, from a pipe instead of a drive.
const BLOCKING: &str = "-b16";
const QUIET: &str = "--warning=no-unknown-keyword";

#[test]
fn raw_blocks_of_a_cartridge_are_restored_by_plain_tar() {
    if !has_tar() {
        return;
    }
    let long = [b"deep/".repeat(200).as_slice(), b"end"].concat();
    let names: [&[u8]; 6] = [
        b"film/reel-1.mxf",
        b"empty",
        "Stra\u{df}e/\u{e9}t\u{e9}.txt".as_bytes(),
        b"old/\xff\xfe\x01name",
        b"with\nnewline",
        &long,
    ];
    let files: Files = names
        .iter()
        .zip([100_000, 0, 8192, 513, 8191, 30_000])
        .map(|(name, length)| (name.to_vec(), contents(length as u64, length)))
        .collect();
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let segments = write(&mut drive, &files, 60_000);
    assert!(segments.len() > 1);
    let tape = tape_files(&mut drive);
    let (first, archives) = tape.split_first().expect("a label");
    let label_text = tar(
        &["-xO", BLOCKING, "-f", "-"],
        directory.path(),
        &first.concat(),
    );
    assert!(label_text.contains("tar -x -b 16 --warning=no-unknown-keyword"));
    assert_eq!(Label::parse(&label_text), Ok(label(BLOCK)));
    let restored = directory.path().join("restored");
    std::fs::create_dir(&restored).expect("a directory");
    let mut listed = 0;
    for archive in archives.iter().filter(|blocks| !blocks.is_empty()) {
        let list = tar(
            &["-tv", BLOCKING, QUIET, "-f", "-"],
            &restored,
            &archive.concat(),
        );
        listed += list.lines().count();
        tar(
            &["-x", BLOCKING, QUIET, "-f", "-"],
            &restored,
            &archive.concat(),
        );
    }
    assert_eq!(listed, files.len());
    use std::os::unix::ffi::OsStrExt as _;
    for (name, contents) in &files {
        let path = restored.join(std::ffi::OsStr::from_bytes(name));
        assert!(
            std::fs::read(&path).expect("restored") == *contents,
            "{path:?}"
        );
        let modified = std::fs::metadata(&path).and_then(|data| data.modified());
        let modified = modified
            .expect("a time")
            .duration_since(std::time::UNIX_EPOCH);
        assert_eq!(
            modified.expect("after 1970").as_nanos(),
            1_700_000_000_123_456_789
        );
    }
}

#[test]
fn parts_and_frames_are_joined_by_cat_and_zstd_and_known_by_a_scan() {
    let whole = contents(5, 100_000);
    let text = b"the same line again and again\n".repeat(2_000);
    let mut frame = Vec::new();
    let made = compress(&mut text.as_slice(), text.len() as u64, 3, &mut frame).expect("a frame");
    assert_eq!(made.bytes, frame.len() as u64);
    let mut entries = Vec::new();
    let ranges = parts(whole.len() as u64, 30_000, 40_000);
    assert_eq!(ranges, [0..30_000, 30_000..70_000, 70_000..100_000]);
    for (at, range) in ranges.iter().enumerate() {
        let part = Part {
            number: at as u32 + 1,
            of: ranges.len() as u32,
            offset: range.start,
        };
        let member = Member::of(&file(b"film.mxf", &whole));
        let piece = &whole[range.start as usize..range.end as usize];
        entries.push(Entry {
            member: member.cut(part, piece.len() as u64),
            contents: Box::new(piece),
        });
    }
    entries.push(Entry {
        member: made.member(Member::of(&file(b"notes.txt", &text))),
        contents: Box::new(frame.as_slice()),
    });
    let expected: Vec<Member> = entries.iter().map(|entry| entry.member.clone()).collect();
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let mut writer =
        VolumeWriter::label(&mut recorder, &label(BLOCK), Blank::Required).expect("labelled");
    let written = writer.write_segment(&mut recorder, &mut entries.into_iter().map(Ok));
    let written = written.expect("written");
    let offsets: Vec<u64> = written
        .files
        .iter()
        .map(|file| file.segment.file_offset)
        .collect();
    assert_eq!(offsets, [0, 30_000, 70_000, 0]);
    drop(recorder);
    let (_, _, members) = scan_all(&mut drive);
    for (located, mut expected) in members.iter().zip(expected) {
        // What a header does not tell, the scan sums.
        expected.xxh3 = expected.xxh3.or(located.member.xxh3);
        assert_eq!(located.member, expected);
    }
    let names: Vec<_> = members
        .iter()
        .map(|located| located.member.name())
        .collect();
    assert_eq!(names[1], b"film.mxf.tapewise-part-0002-of-0003");
    assert_eq!(names[3], b"notes.txt.zst");
    let blocks = numbered(&mut drive);
    let joined: Vec<u8> = (0..3)
        .flat_map(|at| at_segment(&blocks, &written, at))
        .collect();
    assert!(joined == whole);
    let mut expanded = Vec::new();
    let frame = at_segment(&blocks, &written, 3);
    let mut decoder = zstd::stream::read::Decoder::new(frame.as_slice()).expect("a frame");
    decoder.read_to_end(&mut expanded).expect("expanded");
    assert!(expanded == text);
}

#[test]
fn a_cartridge_that_is_not_blank_is_labelled_only_when_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    assert!(matches!(
        read_label(&mut recorder),
        Err(VolumeError::NoLabel { .. })
    ));
    recorder
        .write_blocks(1, &|_| b"somebody's data")
        .expect("written");
    let refused = VolumeWriter::label(&mut recorder, &label(BLOCK), Blank::Required);
    assert!(matches!(refused, Err(VolumeError::NotBlank { .. })));
    VolumeWriter::label(&mut recorder, &label(BLOCK), Blank::Overwritten).expect("labelled");
    assert_eq!(read_label(&mut recorder).expect("a label"), label(BLOCK));
    let refused = VolumeWriter::label(&mut recorder, &label(BLOCK), Blank::Required);
    let said = refused.expect_err("not blank").to_string();
    assert!(said.contains(&label(BLOCK).uuid), "{said}");
    for wrong in [0, 100, 4096, 16 << 20] {
        let refused = VolumeWriter::label(&mut recorder, &label(wrong), Blank::Overwritten);
        assert!(matches!(refused, Err(VolumeError::BlockLength { .. })));
    }
}

#[test]
fn a_volume_is_gone_on_with_only_where_the_catalogue_and_the_tape_agree() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let files: Files = vec![(b"one".to_vec(), contents(1, 20_000))];
    let next_block = write(&mut drive, &files, 1 << 20)[0].next_block;
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let mut other = volume(&label(BLOCK), next_block);
    other.uuid = "another".to_owned();
    let refused = VolumeWriter::resume(&mut recorder, &other, &|_| false);
    assert!(matches!(refused, Err(VolumeError::OtherVolume { .. })));
    for wrong in [0, 1, next_block - 1, next_block + 1, next_block + 50] {
        let refused =
            VolumeWriter::resume(&mut recorder, &volume(&label(BLOCK), wrong), &|_| false);
        assert!(
            matches!(refused, Err(VolumeError::NotAtEnd { .. })),
            "{refused:?}"
        );
    }
    let mut writer =
        VolumeWriter::resume(&mut recorder, &volume(&label(BLOCK), next_block), &|_| {
            false
        })
        .expect("the same volume");
    let second = contents(2, 9_000);
    let mut entries = [entry(b"two", &second)].into_iter();
    writer
        .write_segment(&mut recorder, &mut entries)
        .expect("written");
    drop(recorder);
    let (_, _, members) = scan_all(&mut drive);
    let names: BTreeMap<Vec<u8>, u64> = members
        .iter()
        .map(|located| (located.member.path.clone(), located.tape_file))
        .collect();
    assert_eq!(
        names,
        BTreeMap::from([(b"one".to_vec(), 1), (b"two".to_vec(), 2)])
    );
}

/// What a scan finds of these files on a volume of ours with a block that cannot be read: names, and what is wrong.
fn scan_without(block: u64, files: &Files) -> (Vec<Vec<u8>>, Vec<Wrong>) {
    let mut spec = LibrarySpec::one_drive("lto8", 7);
    spec.faults.bad_blocks = vec![BadBlock {
        barcode: BARCODE.to_owned(),
        partition: 0,
        block,
    }];
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive_of(spec, directory.path());
    write(&mut drive, files, 1 << 30);
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let (mut names, mut wrong) = (Vec::new(), Vec::new());
    let scanned = scan(&mut recorder, &mut |found| {
        match found {
            Found::Member(located) => names.push(located.member.path),
            Found::Trouble(trouble) => wrong.push(trouble.what),
        }
        Ok(())
    });
    scanned.expect("scanned");
    assert!(matches!(wrong.remove(0), Wrong::Unreadable(_)));
    (names, wrong)
}

#[test]
fn a_block_that_is_lost_in_a_stored_archive_costs_that_file_alone_and_nothing_in_it_is_taken_for_a_member()
 {
    let block = BLOCK as usize;
    // An archive as full of headers as can be.
    let mut inner = ::tar::Header::new_ustar();
    inner.set_path("important").expect("a path");
    inner.set_size(0);
    inner.set_cksum();
    let archive = inner.as_bytes().repeat(4 * block / 512);
    let files = |bytes: usize| -> Files {
        let named = [
            (b"important".as_slice(), &b"the true one"[..]),
            (b"outer.tar", &archive[..bytes]),
        ];
        let behind = (b"behind".to_vec(), contents(1, 20_000));
        let named = named.map(|(name, bytes)| (name.to_vec(), bytes.to_vec()));
        named.into_iter().chain([behind]).collect()
    };
    let missing = |bytes: usize| Wrong::Truncated("outer.tar".to_owned(), bytes as u64);
    // The segment begins with block 2: four records of the first member, three headers of the next one, its contents.
    let others = [b"important".to_vec(), b"behind".to_vec()];
    let (names, wrong) = scan_without(3, &files(4 * block));
    assert_eq!((names, wrong), (others.to_vec(), vec![missing(block)]));
    // It ends with the block that is lost, or its padding does.
    let first_contents = block - 7 * 512;
    for short in [0, 100] {
        let (names, wrong) = scan_without(3, &files(first_contents + block - short));
        assert_eq!(
            (names, wrong),
            (others.to_vec(), vec![missing(block - short)])
        );
    }
    // The header of the next member is lost with its end.
    let (names, wrong) = scan_without(3, &files(first_contents + 600));
    assert_eq!((names, wrong), (others[..1].to_vec(), vec![missing(600)]));
    // Its own header is lost: nothing tells how long it is.
    let (names, wrong) = scan_without(2, &files(4 * block));
    assert_eq!((names, wrong), (others[1..].to_vec(), vec![]));
}

#[test]
fn a_cartridge_whose_end_of_data_is_not_found_is_blank_only_if_it_was_never_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let (library, mut real) = drive(directory.path());
    let blank = |drive: &mut TapeDrive| {
        let mut log = Vec::<Event>::new();
        let mut recorder = Recorder::new(drive, &mut log, &NEVER);
        VolumeWriter::label(&mut recorder, &label(BLOCK), Blank::Required).map(drop)
    };
    // Neither data nor their end are found.
    let no_end = |cdb: &Cdb| (cdb.opcode() == READ).then_some([0x08, 0x14, 0x03]);
    let mut drive = answering(&library, no_end);
    // It was labelled, and then its label could not be read.
    let labelled = blank(&mut drive);
    assert!(
        !matches!(labelled, Err(VolumeError::NotBlank { .. })),
        "{labelled:?}"
    );
    assert_eq!(tape_files(&mut real)[0].len(), 1);
    real.rewind().expect("rewound");
    for _ in 0..3 {
        real.write(&vec![7; 1 << 20]).expect("written");
    }
    real.write_filemarks(1, false).expect("written");
    let refused = blank(&mut drive);
    assert!(
        matches!(refused, Err(VolumeError::NotBlank { .. })),
        "{refused:?}"
    );
    assert_eq!(tape_files(&mut real)[0].len(), 3);
}

/// What was read to an earlier end would be written over.
#[test]
fn whichever_read_fails_the_end_of_a_volume_is_right_or_said_to_be_unsure() {
    let directory = tempfile::tempdir().expect("a directory");
    let (library, mut real) = drive(directory.path());
    let files = vec![
        (b"one".to_vec(), contents(1, 100)),
        (b"two".to_vec(), contents(2, 3 * BLOCK as usize)),
    ];
    write(&mut real, &files, 1);
    // The one after so many reads that go well fails.
    let scan_with = |good: u64| {
        let mut reads = 0;
        let mut drive = answering(&library, move |cdb: &Cdb| {
            reads += u64::from(cdb.opcode() == READ);
            (cdb.opcode() == READ && reads - 1 == good).then_some([0x03, 0x11, 0x00])
        });
        let mut log = Vec::<Event>::new();
        let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
        let mut troubles = 0;
        let scanned = scan(&mut recorder, &mut |found| {
            troubles += usize::from(matches!(found, Found::Trouble(_)));
            Ok(())
        });
        (scanned.expect("scanned"), troubles)
    };
    let (right, troubles) = scan_with(u64::MAX);
    assert_eq!((right.next_block, troubles), (9, 0));
    let mut earlier = 0;
    for good in 0..40 {
        let (scanned, troubles) = scan_with(good);
        if scanned.next_block != right.next_block && scanned.label.is_some() {
            assert!(troubles > 0, "after {good} reads: {scanned:?}");
            earlier += 1;
        }
    }
    assert!(earlier > 0);
}
