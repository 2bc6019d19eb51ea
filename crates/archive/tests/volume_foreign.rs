//! Cartridges of others: archives of any tar in any blocks, damaged ones, and what is no archive.

use crate::tape;

use proptest::prelude::*;
use std::os::unix::fs::symlink;
use std::process::Command;
use tape::*;
use tapewise_archive::volume::{Found, Kind, Located, Scanned, Trouble, Wrong, scan};
use tapewise_emulator::{BadBlock, LibrarySpec};
use tapewise_formats::event::Event;
use tapewise_run::Recorder;
use tapewise_scsi::TapeDrive;

fn scan_all(drive: &mut TapeDrive) -> (Scanned, Vec<Located>, Vec<Trouble>) {
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(drive, &mut log, &NEVER);
    let (mut members, mut troubles) = (Vec::new(), Vec::new());
    let scanned = scan(&mut recorder, &mut |found| {
        match found {
            Found::Member(located) => members.push(located),
            Found::Trouble(trouble) => troubles.push(trouble),
        }
        Ok(())
    });
    (scanned.expect("scanned"), members, troubles)
}

/// Writes archives in blocks of so many bytes, a filemark behind each.
fn write(drive: &mut TapeDrive, archives: &[Vec<u8>], block_bytes: usize) {
    drive.rewind().expect("rewound");
    for archive in archives {
        for block in archive.chunks(block_bytes) {
            drive.write(block).expect("written");
        }
        drive.write_filemarks(1, false).expect("written");
    }
}

/// An archive of two small files and one larger, as a program that knows nothing of tape makes it.
fn archive(names: [&str; 3]) -> Vec<u8> {
    let mut builder = ::tar::Builder::new(Vec::new());
    for (name, length) in names.iter().zip([700, 0, 40_000]) {
        let mut header = ::tar::Header::new_gnu();
        header.set_size(length as u64);
        header.set_mode(0o644);
        header.set_mtime(1_000_000_000);
        let bytes = contents(length as u64, length);
        builder
            .append_data(&mut header, name, bytes.as_slice())
            .expect("appended");
    }
    builder.into_inner().expect("an archive")
}

#[test]
fn archives_of_gnu_tar_in_all_its_formats_are_found_with_their_contents() {
    let is_gnu = Command::new("tar").arg("--version").output();
    if !is_gnu.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("GNU")) {
        eprintln!("SKIPPED: there is no GNU tar here, its archives were not tried");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let tree = directory.path().join("tree");
    std::fs::create_dir_all(tree.join("sub")).expect("a directory");
    let long = format!("sub/{}", "n".repeat(180));
    let files = [("small", 700), ("empty", 0), ("sub/large", 123_456)];
    for (name, length) in files {
        std::fs::write(tree.join(name), contents(length as u64, length)).expect("a file");
    }
    symlink("small", tree.join("link")).expect("a link");
    std::fs::hard_link(tree.join("small"), tree.join("sub/twin")).expect("a link");
    let (_library, mut drive) = drive(directory.path());
    let formats = [
        ("v7", false),
        ("ustar", false),
        ("oldgnu", true),
        ("gnu", true),
        ("posix", true),
    ];
    for (format, holds_long_names) in formats {
        let mut names = vec!["small", "empty", "link", "sub"];
        if holds_long_names {
            std::fs::write(tree.join(&long), contents(9, 9_000)).expect("a file");
            // A hole before the contents, which tar keeps out of the archive.
            let sparse = std::fs::File::create(tree.join("sparse")).expect("a file");
            use std::os::unix::fs::FileExt as _;
            sparse.write_all_at(b"end", 10 << 20).expect("written");
            names.push("sparse");
        }
        let mut tar = Command::new("tar");
        tar.arg(if holds_long_names { "-cS" } else { "-c" })
            .arg(format!("--format={format}"))
            .args(["-b", "20", "-f", "-"]);
        let made = tar
            .args(&names)
            .current_dir(&tree)
            .output()
            .expect("tar runs");
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        write(&mut drive, &[made.stdout.clone(), made.stdout], 10_240);
        let (scanned, members, troubles) = scan_all(&mut drive);
        assert_eq!(troubles, [], "{format}");
        assert_eq!((scanned.label, scanned.longest_block), (None, 10_240));
        let blocks = tape_files(&mut drive).join(&Vec::new());
        let of = |kind: Kind| members.iter().filter(move |located| located.kind == kind);
        assert_eq!(of(Kind::Directory).count(), 2);
        assert_eq!(of(Kind::HardLink).count() + of(Kind::Symlink).count(), 4);
        assert_eq!(
            of(Kind::Sparse).count(),
            if holds_long_names { 2 } else { 0 },
            "{format}"
        );
        assert_eq!(
            of(Kind::File).count(),
            if holds_long_names { 8 } else { 6 },
            "{format}"
        );
        for located in of(Kind::File) {
            let name = String::from_utf8(located.member.path.clone()).expect("a name");
            let expected = std::fs::read(tree.join(&name)).expect("the file");
            let segment = located.segment;
            let all = blocks[segment.first_block as usize..=segment.last_block as usize].concat();
            let found = &all[segment.byte_offset as usize..][..segment.bytes as usize];
            assert!(found == expected, "{format}: {name}");
        }
        assert_eq!(members.last().map(|located| located.tape_file), Some(1));
    }
}

#[test]
fn behind_a_damaged_header_the_next_one_is_found_and_the_place_is_said() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let mut damaged = archive(["one", "two", "three"]);
    // The header of "two" stands behind a header and two records of contents.
    damaged[3 * 512 + 20] ^= 1;
    let damaged_blocks = damaged.len().div_ceil(1_000) as u64;
    let garbage = contents(1, 5_000);
    write(
        &mut drive,
        &[damaged, garbage, archive(["a", "b", "c"])],
        1_000,
    );
    let (_, members, troubles) = scan_all(&mut drive);
    let names: Vec<&[u8]> = members
        .iter()
        .map(|located| &located.member.path[..])
        .collect();
    assert_eq!(names, [b"one" as &[u8], b"three", b"a", b"b", b"c"]);
    let wrong: Vec<_> = troubles
        .iter()
        .map(|trouble| (trouble.block, trouble.what.clone()))
        .collect();
    let garbage_begins = damaged_blocks + 1;
    assert_eq!(
        wrong,
        [(2, Wrong::NoHeader), (garbage_begins, Wrong::NoHeader)]
    );
}

#[test]
fn a_block_that_cannot_be_read_is_stepped_over_and_said() {
    let mut spec = LibrarySpec::one_drive("lto8", 7);
    spec.faults.bad_blocks = [0, 20]
        .map(|block| BadBlock {
            barcode: BARCODE.to_owned(),
            partition: 0,
            block,
        })
        .to_vec();
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive_of(spec, directory.path());
    write(
        &mut drive,
        &[archive(["one", "two", "three"]), archive(["a", "b", "c"])],
        2_048,
    );
    let (scanned, members, troubles) = scan_all(&mut drive);
    assert_eq!(scanned.unreadable_blocks, 2);
    // Block 0 has all of "one" and the header of "two"; block 20 lies in "three".
    let names: Vec<&[u8]> = members
        .iter()
        .map(|located| &located.member.path[..])
        .collect();
    assert_eq!(names, [b"a" as &[u8], b"b", b"c"]);
    assert!(matches!(troubles[0].what, Wrong::Unreadable(_)) && troubles[0].block == 0);
    let truncated =
        |trouble: &Trouble| matches!(&trouble.what, Wrong::Truncated(name, _) if name == "three");
    assert!(troubles.iter().any(truncated), "{troubles:?}");
}

#[test]
fn an_archive_that_breaks_off_is_said_and_an_extended_header_of_4_gib_is_not_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let mut cut = archive(["one", "two", "three"]);
    cut.truncate(10_000);
    let mut header = ::tar::Header::new_ustar();
    header.set_entry_type(::tar::EntryType::XHeader);
    header.set_size(4 << 30);
    header.set_cksum();
    let greedy = [header.as_bytes().as_slice(), &archive(["x", "y", "z"])].concat();
    write(&mut drive, &[cut, greedy], 512);
    let (_, members, troubles) = scan_all(&mut drive);
    assert_eq!(members.len(), 2 + 3);
    assert!(
        matches!(&troubles[0].what, Wrong::Truncated(name, left) if name == "three" && *left > 30_000)
    );
    assert!(matches!(troubles[1].what, Wrong::Extended(_)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_stands_on_a_tape_a_scan_ends_and_says_so(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        block_bytes in 1usize..3_000,
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = archive(["one", &"long/".repeat(60), "three"]);
        for (at, byte) in damage {
            // Most of it where headers are.
            let at = at.index(4_096);
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()));
        bytes.truncate(300 * block_bytes);
        let directory = tempfile::tempdir().expect("a directory");
        let (_library, mut drive) = drive(directory.path());
        let blocks = bytes.len().div_ceil(block_bytes) as u64;
        write(&mut drive, &[bytes], block_bytes);
        let (scanned, members, _) = scan_all(&mut drive);
        prop_assert_eq!(scanned.end_of_data, blocks + 1);
        prop_assert!(members.iter().all(|located| located.segment.last_block < blocks));
    }
}
