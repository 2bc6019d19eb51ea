//! Emulated cartridges of two partitions, with what LTFS writes on them.

use std::path::{Path, PathBuf};
use std::time::Duration;
use tapewise_emulator::{BadBlock, CartridgeSpec, Clock, Library, LibrarySpec};
use tapewise_formats::ltfs_index::{LtfsFile, LtfsIndex, read_ltfs_index};
use tapewise_formats::ltfs_volume_out::{LtfsVolumeOut, index_at};
use tapewise_scsi::{Cdb, Data, TapeDrive};

/// Longer than any command.
const LONG: Duration = Duration::from_secs(100_000);

/// What `mkltfs` uses.
pub const BLOCK_BYTES: usize = 524_288;

/// One thing on a tape.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// Its bytes.
    Block(Vec<u8>),
    /// A filemark.
    Filemark,
}

/// A file of `fixtures/ltfs`.
pub fn fixture(name: &str) -> PathBuf {
    crate::fixture("ltfs").join(name)
}

/// The directory of a library with one LTO-8 drive and a cartridge TW0001 in it, with some blocks
/// that cannot be read.
pub fn library(directory: &Path, bad_blocks: &[(u8, u64)]) -> Library {
    let mut spec = LibrarySpec::one_drive("lto8", 1);
    spec.cartridges.push(CartridgeSpec::numbered("lto8", 2, 2));
    let bad = bad_blocks.iter().map(|&(partition, block)| BadBlock {
        barcode: "TW0001".to_owned(),
        partition,
        block,
    });
    spec.faults.bad_blocks = bad.collect();
    let library = Library::create(directory, &spec, Clock::virtual_time()).expect("a library");
    library.load_cartridge("TW0001").expect("a free drive");
    library
}

/// The drive of a library, ready.
pub fn drive(library: &Library) -> TapeDrive {
    let transport = library.transport_to_drive(0).expect("a drive");
    let mut drive = TapeDrive::open(Box::new(transport)).expect("a tape drive");
    drive
        .wait_until_ready(LONG)
        .expect("a drive that gets ready");
    drive
}

/// Makes a small first partition and gives the rest to the second, as `mkltfs` does.
pub fn partition(drive: &mut TapeDrive) {
    // Mode page 11h: one additional partition, sizes in units of 10^9 bytes: 1 and the rest.
    let mut list = vec![0; 8];
    list.extend([0x11, 0x0a, 0, 1, 0x3c, 3, 9, 0, 0, 1, 0xff, 0xff]);
    let select = Cdb::new([0x55, 0x10, 0, 0, 0, 0, 0, 0, list.len() as u8, 0]);
    send(drive, &select, Data::Out(&list));
    send(drive, &Cdb::new([0x04, 0, 1, 0, 0, 0]), Data::None);
}

/// Writes an attribute of the cartridge's memory, as the fixture has it: with its header.
pub fn write_attribute(drive: &mut TapeDrive, partition: u8, attribute: &[u8]) {
    let mut list = (attribute.len() as u32).to_be_bytes().to_vec();
    list.extend(attribute);
    let mut cdb = [0; 16];
    cdb[0] = 0x8d;
    cdb[7] = partition;
    cdb[10..14].copy_from_slice(&(list.len() as u32).to_be_bytes());
    send(drive, &Cdb::new(cdb), Data::Out(&list));
}

fn send(drive: &mut TapeDrive, cdb: &Cdb, data: Data<'_>) {
    let done = drive.transport().execute(cdb, data, LONG);
    let done = done.expect("a transport that works");
    assert_eq!(done.sense(), None, "{cdb:?}");
}

/// Writes records from a block of a partition on; what lay behind it is gone.
pub fn write_from<'r>(
    drive: &mut TapeDrive,
    partition: u8,
    block: u64,
    records: impl IntoIterator<Item = &'r Record>,
) {
    drive.locate(partition, block).expect("a place to write at");
    for record in records {
        match record {
            Record::Block(data) => drop(drive.write(data).expect("a block written")),
            Record::Filemark => drop(drive.write_filemarks(1, true).expect("a filemark written")),
        }
    }
    drive.write_filemarks(0, false).expect("everything on tape");
}

/// The records of a partition of the real volume TST001.
pub fn real_records(partition: u8) -> Vec<Record> {
    let directory = fixture("volume-TST001");
    let record = |number: u32| {
        let path = |kind| directory.join(format!("{partition}_{number}_{kind}"));
        match std::fs::read(path("R")) {
            Ok(data) => Some(Record::Block(data)),
            Err(_) if path("F").exists() => Some(Record::Filemark),
            Err(_) => {
                assert!(path("E").exists(), "record {number} of the fixture");
                None
            }
        }
    };
    (0..).map_while(record).collect()
}

/// The real volume TST001, with what its cartridge's memory said.
pub fn write_real_volume(drive: &mut TapeDrive) {
    partition(drive);
    for number in [0, 1] {
        write_from(drive, number, 0, &real_records(number));
        let name = format!("volume-TST001/attr_{number}_80c");
        let attribute = std::fs::read(fixture(&name)).expect("the fixture");
        write_attribute(drive, number, &attribute);
    }
}

/// What a partition of a volume begins with.
pub fn label(letter: char, uuid: &str) -> Vec<Record> {
    let volume = LtfsVolumeOut {
        creator: "a test".to_owned(),
        barcode: "MADE01".to_owned(),
        uuid: uuid.to_owned(),
        time_ns: 1_795_233_685_992_648_535,
        block_bytes: BLOCK_BYTES as u64,
    };
    vec![
        Record::Block(volume.vol1().to_vec()),
        Record::Filemark,
        Record::Block(volume.label(letter).into_bytes()),
        Record::Filemark,
    ]
}

/// An index construct: a filemark, the XML, a filemark.
pub fn index(xml: &[u8]) -> Vec<Record> {
    let blocks = xml
        .chunks(BLOCK_BYTES)
        .map(|part| Record::Block(part.to_vec()));
    let mut records = vec![Record::Filemark];
    records.extend(blocks);
    records.push(Record::Filemark);
    records
}

/// Bytes of a file that nobody needs to keep: they follow from where they are on the tape.
pub fn made_up(partition: u8, block: u64, from: usize, to: usize) -> impl Iterator<Item = u8> {
    let seed = block.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(partition) << 56;
    (from..to).map(move |at| {
        let mixed = (seed ^ (at as u64 / 8)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (mixed ^ mixed >> 32).to_le_bytes()[at % 8]
    })
}

/// What a file of [`write_made_up_volume`] must contain.
pub fn made_up_file(file: &LtfsFile) -> Vec<u8> {
    let mut content = vec![0; file.length as usize];
    for extent in &file.extents {
        let partition = (extent.partition == 'b') as u8;
        let mut into = &mut content[extent.file_offset as usize..][..extent.byte_count as usize];
        let mut block = extent.start_block;
        let mut from = extent.byte_offset as usize;
        while !into.is_empty() {
            let to = BLOCK_BYTES.min(from + into.len());
            let (now, rest) = into.split_at_mut(to - from);
            now.iter_mut()
                .zip(made_up(partition, block, from, to))
                .for_each(|(to, byte)| *to = byte);
            (into, block, from) = (rest, block + 1, 0);
        }
    }
    content
}

/// A volume with the files of an index, its blocks as long as the index needs them and filled with
/// [`made_up`] bytes; where it has neither data nor an index, filemarks.
pub fn write_made_up_volume(drive: &mut TapeDrive, xml: &[u8]) -> (LtfsIndex, Vec<LtfsFile>) {
    let (head, files) = read_ltfs_index(xml).expect("an index");
    partition(drive);
    for (number, letter) in [(0, 'a'), (1, 'b')] {
        let mut lengths = std::collections::BTreeMap::<u64, usize>::new();
        let extents = files.iter().flat_map(|file| &file.extents);
        for extent in extents.filter(|extent| extent.partition == letter) {
            let mut block = extent.start_block;
            let mut left = (extent.byte_offset + extent.byte_count) as usize;
            while left > 0 {
                let length = left.min(BLOCK_BYTES);
                let known = lengths.entry(block).or_default();
                *known = length.max(*known);
                (block, left) = (block + 1, left - length);
            }
        }
        let mut records = label(letter, &head.volume_uuid);
        let end = lengths.last_key_value().map_or(4, |(&block, _)| block + 1);
        for block in 4..end {
            records.push(match lengths.get(&block) {
                Some(&length) => Record::Block(made_up(number, block, 0, length).collect()),
                None => Record::Filemark,
            });
        }
        let here = [head.location, head.previous_location]
            .into_iter()
            .flatten();
        if let Some(location) = here
            .into_iter()
            .find(|location| location.partition == letter)
        {
            while (records.len() as u64) + 1 < location.start_block {
                records.push(Record::Filemark);
            }
            // In the data partition stands a copy that says where it stands.
            let text = std::str::from_utf8(xml).expect("XML in UTF-8");
            let placed = index_at(text, location, None).expect("an index that knows its place");
            records.extend(index(placed.as_bytes()));
        }
        write_from(drive, number, 0, &records);
    }
    (head, files)
}
