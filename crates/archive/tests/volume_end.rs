//! Where writing ends early: a full tape, files that change, a drive that loses power. What was
//! acknowledged is there, whole, and the archives are such as tar likes.

use crate::tape;

use std::io::{Error, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tape::*;
use tapewise_archive::sums::{Kind, Sum};
use tapewise_archive::volume::{
    Blank, Entry, Found, Kind as MemberKind, Member, Scanned, VolumeError, VolumeWriter, scan,
};
use tapewise_emulator::{CartridgeSpec, EmulatedTransport, LibrarySpec};
use tapewise_formats::event::Event;
use tapewise_run::Recorder;
use tapewise_scsi::{Cdb, Completion, Data, TapeDrive, Transport, TransportError};

const BLOCK: u32 = 8 << 10;

/// The name of a member, and its sum.
type Named = (Vec<u8>, Option<u64>);

/// What a scan finds, in order; nothing may be wrong, and nothing lie behind the last filemark.
fn scan_all(drive: &mut TapeDrive) -> Vec<Named> {
    let (scanned, members) = scan_to_the_end(drive);
    assert_eq!(scanned.next_block, scanned.end_of_data);
    members
}

fn scan_to_the_end(drive: &mut TapeDrive) -> (Scanned, Vec<Named>) {
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(drive, &mut log, &NEVER);
    let mut members = Vec::new();
    let scanned = scan(&mut recorder, &mut |found| match found {
        Found::Member(located) => {
            assert_eq!(located.kind, MemberKind::File);
            members.push((located.member.path, located.member.xxh3));
            Ok(())
        }
        Found::Trouble(trouble) => Err(Error::other(format!("{trouble:?}"))),
    });
    (scanned.expect("scanned"), members)
}

fn xxh3(contents: &[u8]) -> Option<u64> {
    let sum = Sum::of(Kind::Xxh3, contents);
    Some(u64::from_be_bytes(sum.value.try_into().expect("64 bits")))
}

/// Fills a cartridge on which one byte stands for `scale`, and gives how many files it took.
fn fill(scale: u64, segment_bytes: u64) -> usize {
    let mut spec = LibrarySpec::one_drive("lto1", 3);
    spec.cartridges = vec![CartridgeSpec {
        scale,
        ..CartridgeSpec::numbered("lto1", 3, 1)
    }];
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive_of(spec, directory.path());
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let mut writer = VolumeWriter::label(&mut recorder, &label(BLOCK), Blank::Required)
        .expect("labelled")
        .with_segments_of(segment_bytes);
    let files: Vec<(Vec<u8>, Vec<u8>)> = (0..4_000u64)
        .map(|n| {
            (
                format!("file-{n}").into_bytes(),
                contents(n, (n * 977 % 30_000) as usize),
            )
        })
        .collect();
    let mut stored = 0;
    loop {
        let mut left = files[stored..]
            .iter()
            .map(|(path, contents)| entry(path, contents));
        let written = writer
            .write_segment(&mut recorder, &mut left)
            .expect("written");
        assert!(written.failed.is_none(), "{:?}", written.failed);
        stored += written.files.len();
        if written.is_full {
            break;
        }
        assert!(stored < files.len(), "{stored} files do not fill the tape");
    }
    drop(recorder);
    let found = scan_all(&mut drive);
    let expected = files[..stored].iter();
    let expected: Vec<_> = expected
        .map(|(path, bytes)| (path.clone(), xxh3(bytes)))
        .collect();
    assert!(
        found == expected,
        "{} found of {}",
        found.len(),
        expected.len()
    );
    stored
}

#[test]
fn at_early_warning_what_fits_is_closed_and_the_rest_is_handed_back() {
    assert!(fill(8_000, 1 << 20) > 100);
}

#[test]
fn a_tape_that_ends_without_room_for_a_filemark_gives_up_its_last_files() {
    for segment_bytes in [40_000, 100_000, 1 << 30] {
        assert!(fill(100_000, segment_bytes) > 10);
    }
}

/// Contents that fail after some bytes.
struct Failing(u32);

impl Read for Failing {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        self.0 += 1;
        match self.0 {
            1..4 => {
                room.fill(1);
                Ok(room.len())
            }
            _ => Err(Error::other("the disk is gone")),
        }
    }
}

#[test]
fn contents_that_are_not_as_said_end_the_segment_before_them_and_nothing_is_left_of_them() {
    let whole = contents(1, 50_000);
    let good = contents(2, 20_123);
    let member = || Member::of(&file(b"bad", &whole));
    let other = contents(3, 50_000);
    let long = [whole.as_slice(), b"more"].concat();
    let bad: [(&str, Box<dyn Read + Send + '_>); 4] = [
        ("xxh3", Box::new(other.as_slice())),
        ("ends 1000 bytes before", Box::new(&whole[..49_000])),
        ("goes on", Box::new(long.as_slice())),
        ("disk is gone", Box::new(Failing(0))),
    ];
    for (why, contents) in bad {
        let directory = tempfile::tempdir().expect("a directory");
        let (_library, mut drive) = drive(directory.path());
        let mut log = Vec::<Event>::new();
        let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
        let mut writer =
            VolumeWriter::label(&mut recorder, &label(BLOCK), Blank::Required).expect("labelled");
        let bad = Entry {
            member: member(),
            contents,
        };
        let mut entries = [entry(b"before", &good), Ok(bad), entry(b"never", &good)].into_iter();
        let written = writer
            .write_segment(&mut recorder, &mut entries)
            .expect("closed");
        assert_eq!(written.files.len(), 1);
        let said = written.failed.expect("a failure").to_string();
        assert!(said.contains(why), "{said}");
        let mut entries = [entry(b"behind", &good)].into_iter();
        let written = writer
            .write_segment(&mut recorder, &mut entries)
            .expect("closed");
        assert_eq!(written.files.len(), 1);
        drop(recorder);
        let found = scan_all(&mut drive);
        let expected = [b"before", b"behind"].map(|path| (path.to_vec(), xxh3(&good)));
        assert_eq!(found, expected, "{why}");
    }
}

#[test]
fn names_that_would_climb_out_are_not_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let mut writer =
        VolumeWriter::label(&mut recorder, &label(BLOCK), Blank::Required).expect("labelled");
    for path in [
        "",
        "/etc/passwd",
        "../up",
        "a/../../up",
        "a//b",
        "./a",
        "a/",
        "a\0b",
    ] {
        let mut entries = [entry(path.as_bytes(), b"x")].into_iter();
        let written = writer
            .write_segment(&mut recorder, &mut entries)
            .expect("nothing");
        assert!(
            written.failed.is_some() && written.files.is_empty(),
            "{path:?}"
        );
    }
    assert_eq!(writer.next_block(), 2);
}

#[test]
fn a_drive_that_loses_power_loses_nothing_that_was_acknowledged() {
    let mut spec = LibrarySpec::one_drive("lto8", 5);
    spec.faults.seed = 11;
    spec.faults.power_loss = 0.01;
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive_of(spec, directory.path());
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let label = label(BLOCK);
    VolumeWriter::label(&mut recorder, &label, Blank::Required).expect("labelled");
    let files: Vec<(Vec<u8>, Vec<u8>)> = (0..60u64)
        .map(|n| {
            (
                format!("file-{n}").into_bytes(),
                contents(n, (n * 977 % 60_000) as usize),
            )
        })
        .collect();
    let (mut stored, mut next_block, mut abandoned) = (0, 2, 0);
    while stored < files.len() {
        // As after a crash: what a catalogue has is all that is known.
        let volume = volume(&label, next_block);
        let writer = VolumeWriter::resume(&mut recorder, &volume, &|_| false);
        let mut writer = writer
            .expect("the tape is as the catalogue has it")
            .with_segments_of(100_000);
        let mut left = files[stored..]
            .iter()
            .map(|(path, contents)| entry(path, contents));
        match writer.write_segment(&mut recorder, &mut left) {
            Ok(written) => {
                stored += written.files.len();
                next_block = written.next_block;
            }
            Err(VolumeError::Abandoned { first_block, .. }) => {
                assert_eq!((first_block, writer.next_block()), (next_block, next_block));
                abandoned += 1;
                let limit = std::time::Duration::from_secs(600);
                recorder
                    .drive()
                    .wait_until_ready(limit)
                    .expect("ready again");
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(abandoned > 0, "the power was never lost");
    drop(recorder);
    let found = scan_all(&mut drive);
    let expected = files
        .iter()
        .map(|(path, bytes)| (path.clone(), xxh3(bytes)));
    assert!(found.into_iter().eq(expected));
}

#[test]
fn what_a_killed_run_left_behind_the_last_filemark_is_neither_found_nor_wrong() {
    let directory = tempfile::tempdir().expect("a directory");
    let (_library, mut drive) = drive(directory.path());
    let good = contents(2, 20_123);
    let mut log = Vec::<Event>::new();
    let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
    let mut writer =
        VolumeWriter::label(&mut recorder, &label(BLOCK), Blank::Required).expect("labelled");
    let mut entries = [entry(b"before", &good)].into_iter();
    let written = writer
        .write_segment(&mut recorder, &mut entries)
        .expect("closed");
    drop(recorder);
    let mut tail = ::tar::Builder::new(Vec::new());
    for name in ["whole", "cut off"] {
        let mut header = ::tar::Header::new_gnu();
        header.set_size(good.len() as u64);
        tail.append_data(&mut header, name, good.as_slice())
            .expect("appended");
    }
    let tail = tail.into_inner().expect("an archive");
    drive
        .locate(0, written.next_block)
        .expect("behind the filemark");
    for block in tail.chunks(BLOCK as usize).take(4) {
        drive.write(block).expect("written");
    }
    let (scanned, found) = scan_to_the_end(&mut drive);
    assert_eq!(found, [(b"before".to_vec(), xxh3(&good))]);
    let end = written.next_block + 4;
    assert_eq!(
        (scanned.next_block, scanned.end_of_data),
        (written.next_block, end)
    );
}

/// A way to a drive that does not tell where it is, and that somebody rewinds before it writes a filemark.
struct Untold {
    drive: EmulatedTransport,
    is_moved: Arc<AtomicBool>,
    is_tape_driver: bool,
}

impl Transport for Untold {
    fn name(&self) -> &str {
        self.drive.name()
    }

    fn execute(
        &mut self,
        cdb: &Cdb,
        data: Data<'_>,
        timeout: Duration,
    ) -> Result<Completion, TransportError> {
        const WRITE_FILEMARKS: u8 = 0x10;
        const READ_POSITION: u8 = 0x34;
        let mut sense = [0; 18];
        (sense[0], sense[2], sense[7], sense[12]) = (0x70, 0x05, 10, 0x20);
        match cdb.opcode() {
            READ_POSITION => return Ok(Completion::check_condition(0, &sense)),
            WRITE_FILEMARKS if self.is_moved.load(Ordering::Relaxed) => {
                let rewind = Cdb::new([0x01, 0, 0, 0, 0, 0]);
                self.drive.execute(&rewind, Data::None, timeout)?;
            }
            _ => {}
        }
        self.drive.execute(cdb, data, timeout)
    }

    fn closes_with_filemark(&self) -> bool {
        self.is_tape_driver
    }

    fn now(&self) -> Duration {
        self.drive.now()
    }

    fn wait(&mut self, duration: Duration) {
        self.drive.wait(duration);
    }
}

#[test]
fn where_the_drive_does_not_tell_the_filemark_is_looked_for_before_a_segment_counts() {
    for moves in [false, true] {
        let directory = tempfile::tempdir().expect("a directory");
        let (library, _) = drive(directory.path());
        let is_moved = Arc::new(AtomicBool::new(false));
        let untold = Untold {
            drive: library.transport_to_drive(0).expect("a drive"),
            is_moved: Arc::clone(&is_moved),
            is_tape_driver: false,
        };
        let mut drive = TapeDrive::open(Box::new(untold)).expect("a tape drive");
        let limit = Duration::from_secs(600);
        drive.wait_until_ready(limit).expect("ready");
        let mut log = Vec::<Event>::new();
        let mut recorder = Recorder::new(&mut drive, &mut log, &NEVER);
        let mut writer =
            VolumeWriter::label(&mut recorder, &label(BLOCK), Blank::Required).expect("labelled");
        is_moved.store(moves, Ordering::Relaxed);
        for n in 0..2 {
            let contents = contents(n, 50_000);
            let mut entries = [entry(b"film", &contents)].into_iter();
            let written = writer.write_segment(&mut recorder, &mut entries);
            assert_eq!(written.expect("written").files.len(), 1);
            let confirmed = writer.confirm(&mut recorder);
            match confirmed {
                Ok(()) => assert!(!moves),
                Err(VolumeError::NotAtEnd { .. }) if moves => break,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn an_archive_is_not_written_where_a_filemark_closes_what_was_interrupted() {
    let directory = tempfile::tempdir().expect("a directory");
    let (library, _) = drive(directory.path());
    let open = |is_tape_driver| {
        let untold = Untold {
            drive: library.transport_to_drive(0).expect("a drive"),
            is_moved: Arc::default(),
            is_tape_driver,
        };
        let mut drive = TapeDrive::open(Box::new(untold)).expect("a tape drive");
        let limit = Duration::from_secs(600);
        drive.wait_until_ready(limit).expect("ready");
        drive
    };
    let refused = |drive: &mut TapeDrive, resumes| {
        let mut log = Vec::<Event>::new();
        let mut recorder = Recorder::new(drive, &mut log, &NEVER);
        let label = label(BLOCK);
        let writer = if resumes {
            VolumeWriter::resume(&mut recorder, &volume(&label, 2), &|_| false)
        } else {
            VolumeWriter::label(&mut recorder, &label, Blank::Required)
        };
        writer.err().map(|error| error.to_string())
    };
    let mut driver = open(true);
    let said = refused(&mut driver, false).expect("refused");
    assert!(said.contains("modprobe sg"), "{said}");
    assert_eq!(refused(&mut open(false), false), None);
    let said = refused(&mut driver, true).expect("refused");
    assert!(said.contains("modprobe sg"), "{said}");
}
