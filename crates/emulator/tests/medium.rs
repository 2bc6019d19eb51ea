//! A cartridge's files: what is written is there again, and what was damaged is not taken for data.

use proptest::prelude::*;
use std::fs;
use tapewise_emulator::{Medium, MediumError};

#[test]
fn a_cut_or_damaged_index_leaves_the_prefix_before_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("TW0001");
    let mut medium = Medium::create(&path, "serial").unwrap();
    let partition = medium.partition_mut(0).unwrap();
    for number in 0..10u8 {
        let ratio = (number % 2 == 0).then_some(1.5);
        partition
            .write_block(u64::from(number), &[number; 100], 80, ratio)
            .unwrap();
    }
    medium.sync().unwrap();
    drop(medium);
    let index = path.join("0.index");
    let whole = fs::read(&index).unwrap();

    fs::write(&index, &whole[..32 + 7 * 32 + 5]).unwrap();
    let medium = Medium::open(&path).unwrap();
    assert_eq!(medium.partition(0).unwrap().end_of_data(), 7);
    drop(medium);

    let mut damaged = whole.clone();
    damaged[32 + 4 * 32 + 3] ^= 1;
    fs::write(&index, &damaged).unwrap();
    let medium = Medium::open(&path).unwrap();
    let partition = medium.partition(0).unwrap();
    assert_eq!(partition.end_of_data(), 4);
    assert_eq!(partition.object(2).unwrap().gzip_ratio, Some(1.5));
    assert_eq!(partition.object(3).unwrap().gzip_ratio, None);
    drop(medium);

    fs::write(&index, &whole).unwrap();
    let mut data = fs::read(path.join("0.data")).unwrap();
    data[350] ^= 1;
    fs::write(path.join("0.data"), &data).unwrap();
    let medium = Medium::open(&path).unwrap();
    let damaged = medium.partition(0).unwrap().read(3, &mut [0; 100]);
    assert!(
        matches!(damaged, Err(MediumError::Checksum { block: 3, .. })),
        "{damaged:?}"
    );
    medium.partition(0).unwrap().read(4, &mut [0; 100]).unwrap();
    drop(medium);

    fs::write(path.join("0.data"), &data[..650]).unwrap();
    let medium = Medium::open(&path).unwrap();
    assert_eq!(medium.partition(0).unwrap().end_of_data(), 6);
}

#[derive(Clone, Debug)]
enum Step {
    Block(usize, u64),
    Filemark(usize),
    Reopen,
    LosePower(u64),
    Sync,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let one = prop_oneof![
        6 => (0usize..30, 1u64..500).prop_map(|(at, length)| Step::Block(at, length)),
        2 => (0usize..30).prop_map(Step::Filemark),
        1 => Just(Step::Reopen),
        1 => (0u64..5).prop_map(Step::LosePower),
        1 => Just(Step::Sync),
    ];
    prop::collection::vec(one, 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_partition_is_a_list_that_writing_cuts(steps in steps()) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("TW0001");
        let mut medium = Medium::create(&path, "serial").unwrap();
        let mut list: Vec<Vec<u8>> = Vec::new();
        let mut safe = 0;
        for (fill, step) in steps.into_iter().enumerate() {
            let partition = medium.partition_mut(0).unwrap();
            match step {
                Step::Block(at, length) => {
                    let at = at.min(list.len());
                    let block = vec![fill as u8; length as usize];
                    partition.write_block(at as u64, &block, length, None).unwrap();
                    list.truncate(at);
                    safe = safe.min(at);
                    list.push(block);
                }
                Step::Filemark(at) => {
                    let at = at.min(list.len());
                    partition.write_filemark(at as u64, 10).unwrap();
                    list.truncate(at);
                    safe = safe.min(at);
                    list.push(Vec::new());
                }
                Step::Reopen => {
                    drop(medium);
                    medium = Medium::open(&path).unwrap();
                    safe = list.len();
                }
                Step::LosePower(kept) => {
                    partition.lose_power(kept).unwrap();
                    list.truncate(safe + kept as usize);
                    safe = list.len();
                }
                Step::Sync => {
                    partition.sync().unwrap();
                    safe = list.len();
                }
            }
            let partition = medium.partition(0).unwrap();
            prop_assert_eq!(partition.end_of_data(), list.len() as u64);
            let mut offset = 0;
            for (number, block) in list.iter().enumerate() {
                let number = number as u64;
                let object = partition.object(number).unwrap();
                prop_assert_eq!(object.recorded.start, offset);
                prop_assert_eq!(partition.object_at(offset), number);
                offset = object.recorded.end;
                let mut bytes = vec![0; 600];
                let length = partition.read(number, &mut bytes).unwrap();
                prop_assert_eq!(&bytes[..length], &block[..]);
                prop_assert_eq!(object.is_filemark(), block.is_empty());
            }
            let marks = list.iter().enumerate().filter(|(_, block)| block.is_empty());
            let marks: Vec<u64> = marks.map(|(number, _)| number as u64).collect();
            prop_assert_eq!(partition.filemarks(), &marks[..]);
        }
    }
}
