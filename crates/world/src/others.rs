//! A volume of LTFS, which others wrote, one block of which cannot be read.

use std::path::Path;
use tapewise_archive::ltfs::volume::LtfsVolume;
use tapewise_house::ltfs_tape::{drive, index, label, library, partition, write_from};
use tapewise_model::Random;

const UUID: &str = "00cdef45-a864-41ae-82f7-502523299cf1";

/// The first block of the first index after a label.
const FIRST: u64 = 5;

/// An index of no files.
fn empty_index(generation: u64, letter: char, block: u64) -> Vec<u8> {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ltfsindex version=\"2.4.0\"><creator>another</creator>\
         <volumeuuid>{UUID}</volumeuuid><generationnumber>{generation}</generationnumber>\
         <updatetime>2026-11-21T04:01:50.835087869Z</updatetime>\
         <location><partition>{letter}</partition><startblock>{block}</startblock></location>\
         <directory><name>made</name><contents></contents></directory></ltfsindex>"
    )
    .into_bytes()
}

/// Reads a volume of some generations, one of whose indexes cannot be read: whether it says so when it is read by an
/// older index than the newest.
///
/// # Errors
/// The promise that is broken.
pub fn look(directory: &Path, random: &mut Random) -> Result<(), String> {
    let newest = 1 + random.below(4);
    let in_index = [1 + random.below(newest)];
    let in_data: Vec<u64> = (1..=newest).collect();
    let bad = match random.below(4) {
        0 => vec![],
        1 => vec![(0, FIRST)],
        _ => vec![(1, FIRST + 3 * random.below(newest))],
    };
    let library = library(directory, &bad);
    let mut drive = drive(&library);
    partition(&mut drive);
    for (number, letter, generations) in [(0, 'a', &in_index[..]), (1, 'b', &in_data[..])] {
        let mut records = label(letter, UUID);
        for &generation in generations {
            let block = records.len() as u64 + 1;
            records.extend(index(&empty_index(generation, letter, block)));
        }
        write_from(&mut drive, number, 0, &records);
    }
    match LtfsVolume::look(&mut drive) {
        Ok(volume) if volume.index.head.generation < newest && volume.fallback.is_none() => {
            let read = volume.index.head.generation;
            Err(format!(
                "generation {read} of {newest} was read, and nothing says so"
            ))
        }
        _ => Ok(()),
    }
}
