//! Files of LTFS volumes, read from the tape in our order, byte for byte.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use tapewise_archive::deliver::{Delivered, Destination};
use tapewise_archive::ltfs::deliver::{Deliveries, Missing, NotWanted, Wanted};
use tapewise_archive::ltfs::volume::LtfsVolume;
use tapewise_archive::ltfs::wanted::{ByteRange, WantError, segments};
use tapewise_archive::read::{MappedTape, Outcome as ReadOutcome, Progress, TapeRead};
use tapewise_archive::record::{Segment, VolumeFormat};
use tapewise_archive::sums::{Kind, Sum};
use tapewise_formats::event::{Action, Event, Outcome as Ended};
use tapewise_formats::ltfs_extent::LtfsLayout;
use tapewise_formats::ltfs_index::{LtfsAttribute, LtfsExtent, LtfsFile};
use tapewise_house::ltfs_tape::{
    self, BLOCK_BYTES, Record, drive, fixture, index, label, library, made_up_file, partition,
    write_from,
};
use tapewise_model::{NominalLayout, Position, profile};
use tapewise_order::{Algorithm, Tape};
use tapewise_run::{Recorder, RunError};
use tapewise_scsi::TapeDrive;

static NEVER: AtomicBool = AtomicBool::new(false);

/// An LTO-8 drive with a cartridge of which nothing is known.
fn cartridge() -> MappedTape {
    let lto8 = profile::find("lto8").expect("a profile");
    let layout = lto8.ltfs_layout().expect("a layout");
    assert!(!matches!(layout, NominalLayout::Single));
    MappedTape {
        tape: Tape::new(&lto8, None).expect("a tape"),
        map: lto8.nominal_map(layout, BLOCK_BYTES as u64).expect("a map"),
        format: VolumeFormat::Ltfs,
        block_bytes: BLOCK_BYTES as u64,
        byte_scale: 1,
        algorithm: Algorithm::Best,
    }
}

/// What a recall left behind.
struct Ran {
    result: Result<ReadOutcome, RunError>,
    delivered: BTreeMap<String, Delivered>,
    missing: Vec<Missing>,
    events: Vec<Event>,
    progress: Vec<Progress>,
}

fn recall(drive: &mut TapeDrive, wanted: &[Wanted], to: &Path, stop: &AtomicBool) -> Ran {
    let cartridge = cartridge();
    let destination = Destination::open(to).expect("a destination");
    let wants: Vec<Vec<Segment>> = wanted.iter().map(|one| one.segments.clone()).collect();
    let head = Position::beginning_of_tape(cartridge.tape.geometry.lpos_min);
    let read = TapeRead::new(&cartridge, head, &wants, true).expect("a read");
    let (mut delivered, mut missing) = (BTreeMap::new(), Vec::new());
    let mut said = |one: Result<Delivered, Missing>| match one {
        Ok(file) => {
            let twice = delivered.insert(file.path.to_string(), file);
            assert_eq!(twice, None, "delivered twice");
        }
        Err(error) => missing.push(error),
    };
    let mut events: Vec<Event> = Vec::new();
    let mut progress = Vec::new();
    let result = {
        let mut receiver = Deliveries::new(&destination, wanted, &mut said);
        let mut recorder = Recorder::new(drive, &mut events, stop);
        let name = |want: usize| wanted[want].path.to_string();
        read.run(&mut recorder, &name, &mut receiver, &mut |now| {
            progress.push(now)
        })
    };
    Ran {
        result,
        delivered,
        missing,
        events,
        progress,
    }
}

fn all_wanted(volume: &LtfsVolume) -> (Vec<LtfsFile>, Vec<Wanted>) {
    let mut files = Vec::new();
    volume
        .index
        .visit(|file| files.push(file))
        .expect("an index");
    files.retain(|file| file.symlink.is_none());
    let wanted = files
        .iter()
        .map(|file| want(file, &volume.layout))
        .collect();
    (files, wanted)
}

fn want(file: &LtfsFile, layout: &LtfsLayout) -> Wanted {
    Wanted::new(file, layout, None, Vec::new(), vec![Kind::Sha256]).expect("a file with a place")
}

/// The sums of the real volume, as `sha256sum` computed them where it was mounted.
fn published() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(fixture("TST001.sha256")).expect("the fixture");
    let line = |line: &str| {
        let (sum, name) = line.split_once("  ./").expect("a line of sha256sum");
        (name.to_owned(), sum.to_owned())
    };
    text.lines().map(line).collect()
}

/// Every file of the volume that a real LTFS wrote, from its records on an emulated cartridge.
#[test]
fn a_real_volume_is_recalled_byte_for_byte_with_its_times() {
    let directory = tempfile::tempdir().expect("a directory");
    let library = library(&directory.path().join("lib"), &[]);
    let mut drive = drive(&library);
    ltfs_tape::write_real_volume(&mut drive);
    let volume = LtfsVolume::look(&mut drive).expect("a volume");
    let (files, wanted) = all_wanted(&volume);
    let ran = recall(&mut drive, &wanted, directory.path(), &NEVER);
    let outcome = ran.result.expect("a recall");
    assert_eq!(outcome.lost, []);
    assert!(
        outcome.learned > 0,
        "the drive tells where it is, and the map learns it"
    );
    let published = published();
    assert_eq!((ran.delivered.len(), published.len()), (19, 19));
    for (name, sum) in &published {
        assert_eq!(ran.delivered[name].sums[0].hex(), *sum, "{name}");
        let bytes = std::fs::read(directory.path().join(name)).expect("a file");
        assert_eq!(Sum::of(Kind::Sha256, &bytes).hex(), *sum, "{name}");
    }
    use std::os::unix::fs::MetadataExt as _;
    let hello = std::fs::metadata(directory.path().join("docs/a/hello.txt")).expect("a file");
    assert_eq!(
        (hello.mtime(), hello.mtime_nsec()),
        (1_795_233_710, 812_333_871)
    );
    assert_eq!(files.len(), 19);
    let last = ran.progress.last().expect("progress");
    assert_eq!((last.done, last.of), (19, 19));
}

/// 3,001 files in 3,302 extents on both partitions, with blocks that several files share and files
/// that were written over in their middle.
#[test]
fn a_volume_of_three_thousand_files_comes_back_whole_in_one_pass() {
    let directory = tempfile::tempdir().expect("a directory");
    let library = library(&directory.path().join("lib"), &[]);
    let mut drive = drive(&library);
    let xml = std::fs::read(fixture("TST002-gen4-3001files-3302extents.xml")).expect("the fixture");
    let (head, _) = ltfs_tape::write_made_up_volume(&mut drive, &xml);
    let volume = LtfsVolume::look(&mut drive).expect("a volume");
    assert_eq!((volume.index.head.generation, head.file_count), (4, 3001));
    let (files, wanted) = all_wanted(&volume);
    let to = directory.path().join("to");
    std::fs::create_dir(&to).expect("a directory");
    let ran = recall(&mut drive, &wanted, &to, &NEVER);
    assert_eq!(ran.result.expect("a recall").lost, []);
    assert_eq!((ran.delivered.len(), ran.missing.len()), (files.len(), 0));
    for file in &files {
        let sum = Sum::of(Kind::Sha256, &made_up_file(file));
        assert_eq!(
            ran.delivered[&file.path.to_string()].sums[0],
            sum,
            "{}",
            file.path
        );
    }
}

#[test]
fn a_block_that_cannot_be_read_costs_its_file_and_no_other() {
    let directory = tempfile::tempdir().expect("a directory");
    // Blocks 24 and 12 of the data partition: in "größe 2" and f6.
    let library = library(&directory.path().join("lib"), &[(1, 24), (1, 12)]);
    let mut drive = drive(&library);
    ltfs_tape::write_real_volume(&mut drive);
    let volume = LtfsVolume::look(&mut drive).expect("a volume");
    let (_, wanted) = all_wanted(&volume);
    let ran = recall(&mut drive, &wanted, directory.path(), &NEVER);
    let outcome = ran.result.expect("a recall");
    let mut lost: Vec<&[u8]> = outcome
        .lost
        .iter()
        .map(|(want, _)| wanted[*want].path.as_bytes())
        .collect();
    lost.sort_unstable();
    assert_eq!(
        lost,
        ["docs/f6.bin".as_bytes(), "sp ace/größe 2.dat".as_bytes()]
    );
    assert_eq!((ran.delivered.len(), ran.missing.len()), (17, 2));
    for missing in &ran.missing {
        assert!(missing.to_string().contains("medium error"), "{missing}");
    }
    for name in &lost {
        let path = directory
            .path()
            .join(std::str::from_utf8(name).expect("UTF-8"));
        assert!(!path.exists(), "nothing is left of what could not be read");
    }
    // Each bad place was tried once more, after everything else.
    let failed = |event: &&Event| event.action == Action::Read && event.outcome == Ended::Failed;
    assert_eq!(ran.events.iter().filter(failed).count(), 4);
    assert!(ran.events.iter().rev().take(6).filter(failed).count() >= 2);
}

#[test]
fn an_interrupted_recall_keeps_what_is_whole_and_leaves_nothing_else() {
    let directory = tempfile::tempdir().expect("a directory");
    let library = library(&directory.path().join("lib"), &[]);
    let mut drive = drive(&library);
    ltfs_tape::write_real_volume(&mut drive);
    let volume = LtfsVolume::look(&mut drive).expect("a volume");
    let (_, wanted) = all_wanted(&volume);
    let stop = AtomicBool::new(true);
    let to = directory.path().join("to");
    std::fs::create_dir(&to).expect("a directory");
    let ran = recall(&mut drive, &wanted, &to, &stop);
    assert!(matches!(ran.result, Err(RunError::Interrupted)));
    // The empty file needs no tape.
    assert_eq!(ran.delivered.into_keys().collect::<Vec<_>>(), ["empty.dat"]);
    let again = recall(&mut drive, &wanted[..3], &to, &NEVER);
    assert_eq!((again.result.is_ok(), again.delivered.len()), (true, 3));
}

fn file(path: &str, length: u64, extents: &[(u64, u64, u64, u64)]) -> LtfsFile {
    let extents =
        extents.iter().map(
            |&(file_offset, start_block, byte_offset, byte_count)| LtfsExtent {
                file_offset,
                partition: 'b',
                start_block,
                byte_offset,
                byte_count,
            },
        );
    LtfsFile {
        path: path.into(),
        length,
        extents: extents.collect(),
        ..LtfsFile::default()
    }
}

/// A volume of which the index is not needed, with these blocks from block 4 of the data partition on.
fn with_blocks<T>(
    bad: &[(u8, u64)],
    blocks: &[Record],
    work: impl FnOnce(&mut TapeDrive, &Path) -> T,
) -> T {
    let directory = tempfile::tempdir().expect("a directory");
    let library = library(&directory.path().join("lib"), bad);
    let mut drive = drive(&library);
    partition(&mut drive);
    write_from(&mut drive, 0, 0, &label('a', "uuid"));
    let mut records = label('b', "uuid");
    records.extend_from_slice(blocks);
    records.extend(index(b"none"));
    write_from(&mut drive, 1, 0, &records);
    let to = directory.path().join("to");
    std::fs::create_dir(&to).expect("a directory");
    work(&mut drive, &to)
}

#[test]
fn files_that_share_a_block_are_read_once_and_holes_are_zeros() {
    let block: Vec<u8> = (0..BLOCK_BYTES).map(|at| (at / 7) as u8).collect();
    let files = [
        file("first", 100, &[(0, 4, 0, 100)]),
        file("second", 50, &[(0, 4, 100, 50)]),
        file("over two", 20, &[(0, 4, BLOCK_BYTES as u64 - 10, 20)]),
        file("holes", 1_000, &[(10, 4, 7, 5), (900, 5, 0, 3)]),
    ];
    let blocks = [Record::Block(block.clone()), Record::Block(block.clone())];
    with_blocks(&[], &blocks, |drive, to| {
        let layout = LtfsLayout::assumed();
        let wanted: Vec<Wanted> = files.iter().map(|file| want(file, &layout)).collect();
        let ran = recall(drive, &wanted, to, &NEVER);
        assert_eq!(ran.result.expect("a recall").lost, []);
        let read = |name: &str| std::fs::read(to.join(name)).expect("a file");
        assert_eq!(read("first"), block[..100]);
        assert_eq!(read("second"), block[100..150]);
        assert_eq!(
            read("over two"),
            [&block[BLOCK_BYTES - 10..], &block[..10]].concat()
        );
        let mut holes = vec![0; 1_000];
        holes[10..15].copy_from_slice(&block[7..12]);
        holes[900..903].copy_from_slice(&block[..3]);
        assert_eq!(read("holes"), holes);
        let reads = ran
            .events
            .iter()
            .filter(|event| event.action == Action::Read);
        // Three files in one run of two blocks, and the one of two extents for itself.
        assert_eq!(reads.map(|event| event.blocks).sum::<u64>(), 4);
    });
}

#[test]
fn of_files_that_share_blocks_a_bad_one_costs_only_those_that_lie_in_it() {
    let block = vec![5; BLOCK_BYTES];
    let files = [
        file("before", 60, &[(0, 4, 0, 60)]),
        file("across", 80, &[(0, 4, BLOCK_BYTES as u64 - 40, 80)]),
        file("behind", 30, &[(0, 5, 100, 30)]),
    ];
    let blocks = [Record::Block(block.clone()), Record::Block(block)];
    with_blocks(&[(1, 5)], &blocks, |drive, to| {
        let wanted: Vec<Wanted> = files
            .iter()
            .map(|file| want(file, &LtfsLayout::assumed()))
            .collect();
        let ran = recall(drive, &wanted, to, &NEVER);
        assert_eq!(ran.result.expect("a recall").lost.len(), 2);
        assert_eq!(ran.delivered.into_keys().collect::<Vec<_>>(), ["before"]);
    });
}

#[test]
fn a_file_whose_first_extent_cannot_be_read_is_lost_though_its_last_one_can() {
    let block = BLOCK_BYTES as u64;
    let blocks = [1, 2, 3, 4].map(|byte| Record::Block(vec![byte; BLOCK_BYTES]));
    let files = [
        file("short", 200, &[(0, 4, 0, 100), (100, 6, 0, 100)]),
        file(
            "long",
            2 * block + 100,
            &[(0, 4, 0, 2 * block), (2 * block, 7, 0, 100)],
        ),
        file("beside", 50, &[(0, 7, 100, 50)]),
    ];
    let cases: [(u64, &[&str]); 2] = [(4, &["beside"]), (5, &["beside", "short"])];
    for (bad, whole) in cases {
        with_blocks(&[(1, bad)], &blocks, |drive, to| {
            let layout = LtfsLayout::assumed();
            let wanted: Vec<Wanted> = files.iter().map(|file| want(file, &layout)).collect();
            let ran = recall(drive, &wanted, to, &NEVER);
            let lost = ran.result.expect("a recall").lost;
            assert_eq!(lost.len() + whole.len(), files.len(), "{lost:?}");
            assert!(ran.delivered.into_keys().eq(whole.iter().copied()));
            assert_eq!(ran.missing.len(), lost.len());
            for missing in &ran.missing {
                assert!(missing.to_string().contains("medium error"), "{missing}");
            }
            assert!(!to.join("long").exists(), "no zeros for what was not read");
        });
    }
}

#[test]
fn a_tape_that_holds_other_than_the_index_says_gives_no_file() {
    let blocks = [
        Record::Block(vec![1; 1_000]),
        Record::Filemark,
        Record::Block(vec![2; BLOCK_BYTES + 1]),
    ];
    let files = [
        file("short", 2_000, &[(0, 4, 0, 2_000)]),
        file("a filemark", 10, &[(0, 5, 0, 10)]),
        file("long", 10, &[(0, 6, 0, 10)]),
        file("nothing there", 10, &[(0, 60, 0, 10)]),
        file("fine", 1_000, &[(0, 4, 0, 1_000)]),
    ];
    with_blocks(&[], &blocks, |drive, to| {
        let wanted: Vec<Wanted> = files
            .iter()
            .map(|file| want(file, &LtfsLayout::assumed()))
            .collect();
        let ran = recall(drive, &wanted, to, &NEVER);
        ran.result.expect("a recall");
        assert_eq!(ran.delivered.into_keys().collect::<Vec<_>>(), ["fine"]);
        let mut said: Vec<String> = ran.missing.iter().map(ToString::to_string).collect();
        said.sort();
        assert!(
            said[0].contains("a filemark where the index has data"),
            "{said:?}"
        );
        assert!(
            said[1].contains("block 6: 524289 bytes where the index has 524288"),
            "{said:?}"
        );
        assert!(said[2].starts_with("nothing there: "), "{said:?}");
        assert!(
            said[3].contains("block 4: 1000 bytes where the index has 2000"),
            "{said:?}"
        );
    });
}

#[test]
fn a_range_is_the_blocks_that_hold_it() {
    let block = BLOCK_BYTES as u64;
    let film = file(
        "film.mov",
        10 * block,
        &[(0, 100, 512, 3 * block), (3 * block, 900, 0, 7 * block)],
    );
    let layout = LtfsLayout::assumed();
    let blocks_of = |text: &str| {
        let range: ByteRange = text.parse().expect("a range");
        let found = segments(&film, &layout, Some(range)).expect("a range of the file");
        let places = found.iter().map(|one| {
            (
                one.first_block,
                one.last_block,
                one.byte_offset,
                one.file_offset,
            )
        });
        assert_eq!(found.iter().map(|one| one.bytes).sum::<u64>(), range.bytes);
        places.collect::<Vec<_>>()
    };
    assert_eq!(blocks_of("0+1"), [(100, 100, 512, 0)]);
    assert_eq!(
        blocks_of(&format!("{}+513", block - 512)),
        [(101, 101, 0, 0)]
    );
    let across = format!("{}+20", 3 * block - 10);
    assert_eq!(blocks_of(&across), [(103, 103, 502, 0), (900, 900, 0, 10)]);
    let beyond = "5242880+1".parse().ok();
    let error = segments(&film, &layout, beyond).expect_err("behind the file");
    assert!(matches!(error, WantError::RangeBeyond { .. }), "{error}");
    for text in [
        "",
        "5",
        "5+0",
        "+5",
        "5+",
        "-1+2",
        "1+2+3",
        "18446744073709551615+1",
        "a+b",
    ] {
        assert!(text.parse::<ByteRange>().is_err(), "{text:?}");
    }
    let wanted = Wanted::new(
        &film,
        &layout,
        "7+9".parse().ok(),
        vec![Sum::of(Kind::Md5, b"")],
        vec![],
    );
    let wanted = wanted.expect("a range");
    assert_eq!(wanted.path.as_bytes(), b"film.mov#7+9");
    assert_eq!((wanted.expected.bytes, wanted.expected.sums), (9, vec![]));
}

#[test]
fn attributes_and_the_read_only_flag_come_along() {
    let attribute = |name: &str, value: &str, base64| LtfsAttribute {
        name: name.to_owned(),
        value: value.to_owned(),
        base64,
    };
    let reel = LtfsFile {
        readonly: true,
        attributes: vec![
            attribute("reel", "7 a", false),
            attribute("thumb", "AP8=", true),
        ],
        ..file("f", 0, &[])
    };
    let metadata = want(&reel, &LtfsLayout::assumed()).expected.metadata;
    assert_eq!(metadata.mode, Some(0o444));
    let expected = [
        (b"user.reel".to_vec(), b"7 a".to_vec()),
        (b"user.thumb".to_vec(), vec![0, 255]),
    ];
    assert_eq!(metadata.attributes, expected);
}

#[test]
fn an_index_that_contradicts_itself_gives_no_file() {
    let layout = LtfsLayout::assumed();
    let refused = |file: LtfsFile| match Wanted::new(&file, &layout, None, vec![], vec![]) {
        Ok(_) => panic!("{file:?}"),
        Err(error) => error,
    };
    let overlap = refused(file("f", 20, &[(0, 4, 0, 10), (9, 5, 0, 5)]));
    assert!(
        matches!(overlap, NotWanted::Want(WantError::Overlap { offset: 9 })),
        "{overlap}"
    );
    let beyond = refused(file("f", 20, &[(0, 4, 0, 21)]));
    assert!(
        matches!(
            beyond,
            NotWanted::Want(WantError::BeyondLength { reached: 21, .. })
        ),
        "{beyond}"
    );
    let far = refused(file("f", u64::MAX, &[(0, u64::MAX, 0, 600_000)]));
    assert!(
        matches!(far, NotWanted::Want(WantError::Extent(_))),
        "{far}"
    );
    let climbing = refused(file("../f", 0, &[]));
    assert!(matches!(climbing, NotWanted::Path(_)), "{climbing}");
    let link = LtfsFile {
        symlink: Some("docs/f1.bin".into()),
        ..file("link1", 0, &[])
    };
    assert!(
        refused(link)
            .to_string()
            .contains("a symbolic link to \"docs/f1.bin\"")
    );
    let empty = want(&file("empty", 0, &[]), &layout);
    assert_eq!((empty.segments, empty.expected.bytes), (vec![], 0));
}
