//! What an LTFS volume says of itself, read from its tape.

use tapewise_archive::ltfs::label::{Coherency, NoVol1, volume_name};
use tapewise_archive::ltfs::volume::{Doubt, LtfsError, LtfsVolume};
use tapewise_house::ltfs_tape::{
    self, Record, drive, index, label, library, partition, real_records, write_from,
};
use tapewise_scsi::TapeDrive;

const UUID: &str = "00cdef45-a864-41ae-82f7-502523299cf1";

/// Runs on a drive with a cartridge on which nothing was written yet.
fn with_drive<T>(bad_blocks: &[(u8, u64)], work: impl FnOnce(&mut TapeDrive) -> T) -> T {
    let directory = tempfile::tempdir().expect("a directory");
    let library = library(&directory.path().join("lib"), bad_blocks);
    work(&mut drive(&library))
}

fn look_at(write: impl FnOnce(&mut TapeDrive)) -> Result<LtfsVolume, LtfsError> {
    with_drive(&[], |drive| {
        write(drive);
        LtfsVolume::look(drive)
    })
}

/// An index of no files, of a generation, standing in a block of a partition.
fn empty_index(
    uuid: &str,
    generation: u64,
    letter: char,
    block: u64,
    before: Option<u64>,
) -> Vec<u8> {
    let before = before.map_or(String::new(), |block| {
        format!("<previousgenerationlocation><partition>b</partition><startblock>{block}</startblock></previousgenerationlocation>")
    });
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ltfsindex version=\"2.4.0\"><creator>a test</creator>\
         <volumeuuid>{uuid}</volumeuuid><generationnumber>{generation}</generationnumber>\
         <updatetime>2026-11-21T04:01:50.835087869Z</updatetime>\
         <location><partition>{letter}</partition><startblock>{block}</startblock></location>{before}\
         <directory><name>made</name><contents></contents></directory></ltfsindex>"
    )
    .into_bytes()
}

/// A volume whose index partition holds an index of one generation and whose data partition ends with
/// others, one after the other.
fn write_generations(
    drive: &mut TapeDrive,
    in_index: &[u64],
    in_data: &[u64],
    before: Option<u64>,
) {
    partition(drive);
    for (number, letter, generations) in [(0, 'a', in_index), (1, 'b', in_data)] {
        let mut records = label(letter, UUID);
        for &generation in generations {
            let block = records.len() as u64 + 1;
            records.extend(index(&empty_index(UUID, generation, letter, block, before)));
        }
        write_from(drive, number, 0, &records);
    }
}

#[test]
fn a_real_volume_says_what_it_is() {
    let volume = look_at(ltfs_tape::write_real_volume).expect("a volume");
    assert_eq!(volume.name.as_deref(), Some("TST001"));
    assert_eq!(volume.title(), format!("TST001 (smallvol, {UUID})"));
    assert_eq!(volume.label.volume_uuid, UUID);
    assert_eq!(volume.layout.block_size, 524_288);
    assert_eq!((volume.index.partition, volume.index.start_block), (0, 5));
    assert_eq!(volume.index.head.generation, 2);
    assert_eq!(volume.index.head.file_count, 20);
    assert_eq!(volume.doubts, []);
    let mut files = 0;
    volume.index.visit(|_| files += 1).expect("the index again");
    assert_eq!(files, 20);
}

#[test]
fn an_index_partition_that_was_not_brought_up_to_date_is_read_past_and_said() {
    let volume =
        look_at(|drive| write_generations(drive, &[3], &[2, 3, 7], None)).expect("a volume");
    assert_eq!(
        (volume.index.partition, volume.index.head.generation),
        (1, 7)
    );
    assert_eq!(
        volume.doubts,
        [Doubt::IndexPartitionBehind {
            index: Some(3),
            data: 7
        }]
    );
    let volume = look_at(|drive| write_generations(drive, &[], &[1], None)).expect("a volume");
    assert_eq!(
        volume.doubts,
        [Doubt::IndexPartitionBehind {
            index: None,
            data: 1
        }]
    );
}

#[test]
fn an_index_only_in_the_index_partition_is_whole_where_it_points_back_to_the_last_of_the_data() {
    let whole =
        look_at(|drive| write_generations(drive, &[4], &[2, 3], Some(8))).expect("a volume");
    assert_eq!((whole.index.head.generation, whole.doubts), (4, vec![]));
    let lacking = look_at(|drive| write_generations(drive, &[4], &[2], Some(8))).expect("a volume");
    assert_eq!(
        lacking.doubts,
        [Doubt::DataPartitionBehind {
            index: 4,
            data: Some(2)
        }]
    );
}

#[test]
fn data_behind_the_last_index_is_said_and_what_is_indexed_is_read() {
    let volume = look_at(|drive| {
        ltfs_tape::write_real_volume(drive);
        write_from(
            drive,
            1,
            35,
            &[Record::Block(vec![1; 70_000]), Record::Block(vec![2; 5])],
        );
    })
    .expect("a volume");
    assert_eq!(volume.index.head.generation, 2);
    assert_eq!(
        volume.doubts,
        [Doubt::Unindexed {
            partition: 1,
            first_block: 35,
            blocks: 2
        }]
    );
}

#[test]
fn an_index_that_was_cut_off_is_not_read() {
    let volume = look_at(|drive| {
        ltfs_tape::write_real_volume(drive);
        let cut = Record::Block(empty_index(UUID, 3, 'b', 36, Some(33)));
        write_from(drive, 1, 35, &[Record::Filemark, cut]);
    })
    .expect("a volume");
    assert_eq!(volume.index.head.generation, 2);
    let [
        Doubt::BadIndex {
            partition: 1,
            block: 36,
            generation: Some(3),
            why,
        },
    ] = &volume.doubts[..]
    else {
        panic!("{:?}", volume.doubts);
    };
    assert_eq!(why, "no filemark closes it");
}

#[test]
fn an_index_of_another_volume_or_from_another_place_is_not_read() {
    let other = "11111111-2222-3333-4444-555555555555";
    let volume = look_at(|drive| {
        ltfs_tape::write_real_volume(drive);
        write_from(drive, 1, 35, &index(&empty_index(other, 9, 'b', 36, None)));
        write_from(drive, 0, 7, &index(&empty_index(UUID, 9, 'a', 5, None)));
    })
    .expect("a volume");
    assert_eq!(volume.index.head.generation, 2);
    let words: Vec<String> = volume.doubts.iter().map(ToString::to_string).collect();
    assert!(words[0].contains("stands at block 5"), "{words:?}");
    assert!(words[1].contains(other), "{words:?}");
}

#[test]
fn where_the_index_of_one_partition_cannot_be_read_that_of_the_other_serves() {
    let volume = with_drive(&[(0, 5)], |drive| {
        ltfs_tape::write_real_volume(drive);
        LtfsVolume::look(drive).expect("a volume")
    });
    assert_eq!((volume.index.partition, volume.index.start_block), (1, 33));
    assert_unreadable(&volume.doubts[0], 0, 5);
}

#[test]
fn where_the_newest_index_cannot_be_read_the_one_before_it_serves() {
    let volume = with_drive(&[(1, 11)], |drive| {
        write_generations(drive, &[1], &[1, 2, 3], None);
        LtfsVolume::look(drive).expect("a volume")
    });
    let index = &volume.index;
    assert_eq!((index.partition, index.start_block), (1, 8));
    assert_eq!(index.head.generation, 2);
    assert_unreadable(&volume.doubts[0], 1, 11);
}

fn assert_unreadable(doubt: &Doubt, partition: u8, block: u64) {
    let words = doubt.to_string();
    let place = format!("partition {partition}, block {block}: an index that cannot be read");
    assert!(words.starts_with(&place), "{words}");
    assert!(words.contains("medium error"), "{words}");
}

#[test]
fn a_cartridge_memory_that_knows_more_than_the_tape_is_believed_and_one_of_another_volume_said() {
    let attribute = |generation: u8, uuid: &[u8]| {
        let path = ltfs_tape::fixture("volume-TST001/attr_1_80c");
        let mut attribute = std::fs::read(path).expect("the fixture");
        attribute[5 + 1 + 8 + 7] = generation;
        attribute[5 + 27 + 5..][..36].copy_from_slice(uuid);
        attribute
    };
    let newer = look_at(|drive| {
        ltfs_tape::write_real_volume(drive);
        ltfs_tape::write_attribute(drive, 1, &attribute(5, UUID.as_bytes()));
    });
    assert_eq!(
        newer.expect("a volume").doubts,
        [Doubt::MemoryNewer { memory: 5, tape: 2 }]
    );
    let other = "11111111-2222-3333-4444-555555555555";
    let of_other = look_at(|drive| {
        ltfs_tape::write_real_volume(drive);
        ltfs_tape::write_attribute(drive, 1, &attribute(2, other.as_bytes()));
    });
    let memory = other.to_owned();
    assert_eq!(
        of_other.expect("a volume").doubts,
        [Doubt::MemoryOfOther { memory }]
    );
}

#[test]
fn what_is_no_ltfs_volume_is_refused_in_words() {
    let said = |write: &dyn Fn(&mut TapeDrive)| look_at(write).expect_err("no volume").to_string();
    let records = |records: Vec<Record>| {
        said(&move |drive| {
            partition(drive);
            write_from(drive, 0, 0, &records);
            write_from(drive, 1, 0, &real_records(1));
        })
    };
    let blank = records(vec![]);
    assert!(
        blank.contains("the end of data where a label of LTFS has VOL1"),
        "{blank}"
    );
    let tar = records(vec![Record::Block(vec![0; 10_240])]);
    assert!(tar.contains("10240 bytes, a VOL1 label has 80"), "{tar}");
    let mut ansi = vec![b' '; 80];
    ansi[..4].copy_from_slice(b"VOL1");
    let ansi = records(vec![Record::Block(ansi)]);
    assert!(ansi.contains("not one of LTFS"), "{ansi}");
    let mut cut = real_records(0);
    cut.truncate(3);
    let cut = records(cut);
    assert!(cut.contains("block 3: the end of data"), "{cut}");
    let two = records(label('a', "11111111-2222-3333-4444-555555555555"));
    assert!(
        two.contains("the label of partition 0 is of volume 1111"),
        "{two}"
    );
    let no_index = said(&|drive| write_generations(drive, &[], &[], None));
    assert!(no_index.contains("neither partition has one"), "{no_index}");
}

#[test]
fn names_and_memories_that_are_damaged_are_none() {
    assert_eq!(volume_name(b"VOL1"), Err(NoVol1::Length { bytes: 4 }));
    assert_eq!(volume_name(&[0; 80]), Err(NoVol1::Identifier));
    let path = ltfs_tape::fixture("volume-TST001/attr_0_80c");
    let attribute = std::fs::read(path).expect("the fixture");
    let value = &attribute[5..];
    let whole = Coherency::parse(value).expect("an attribute");
    assert_eq!(
        (whole.change_reference, whole.generation, whole.start_block),
        (2, 2, 5)
    );
    assert_eq!(whole.volume_uuid, UUID);
    for length in 0..value.len() - 2 {
        assert_eq!(Coherency::parse(&value[..length]), None, "{length} bytes");
    }
}
