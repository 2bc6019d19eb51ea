//! One partition: blocks and filemarks in the order of the tape.
//!
//! The index file is a header and one record of 32 bytes for each logical object, all little-endian:
//! recorded end (8), data end (8), gzip ratio in thousandths (4; 0 where not compressed), CRC-32 of the block (4),
//! number of the object, low half (4), CRC-32 of the 28 bytes before (4). A filemark is an object that adds nothing to
//! the data. A block that is made up has the highest bit of its ratio set and a seed instead of a checksum: the data
//! file has a hole there, and its bytes follow from seed and number. The first record that is short, has a wrong
//! checksum or points past the data ends the partition: what a power failure leaves is a prefix.

use super::{MediumError, at};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 32] = b"tapewise partition index 1\n\0\0\0\0\0";
const RECORD: usize = 32;
/// Index records are kept back until there are so many: one write instead of hundreds.
const HELD_RECORDS: usize = 512;

/// A block or a filemark, as the index keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// Where on tape it ends, in recorded bytes from the beginning of the partition.
    recorded_end: u64,
    /// Where in the data file it ends.
    data_end: u64,
    gzip_milli: u32,
    /// Of the block's bytes; for a block that is made up, the seed that they follow from.
    checksum: u32,
    is_made_up: bool,
}

/// What marks a block that is made up, beside its ratio.
const MADE_UP: u32 = 1 << 31;

/// A block or a filemark.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// The block's length in bytes, 0 for a filemark.
    pub length: u64,
    /// Where on tape it lies, in recorded bytes from the beginning of the partition.
    pub recorded: Range<u64>,
    /// By how much gzip would compress it (uncompressed over compressed); nothing where the drive
    /// wrote it as it is.
    pub gzip_ratio: Option<f64>,
}

impl Object {
    /// A filemark has no data; a block always has some.
    pub fn is_filemark(&self) -> bool {
        self.length == 0
    }
}

/// One partition of a cartridge.
#[derive(Debug)]
pub struct Partition {
    data_path: PathBuf,
    index_path: PathBuf,
    data: File,
    index: File,
    entries: Vec<Entry>,
    /// Objects that are filemarks, ascending.
    filemarks: Vec<u64>,
    /// Objects whose index record is in the file.
    indexed: usize,
    /// Objects that a flush has made safe from loss of power.
    safe: usize,
}

impl Partition {
    pub(super) fn create(directory: &Path, number: u8) -> Result<Partition, MediumError> {
        let (data_path, index_path) = paths(directory, number);
        let data = file(&data_path, true)?;
        let index = file(&index_path, true)?;
        at::write(&index, MAGIC, 0).map_err(MediumError::io(&index_path))?;
        Ok(Partition {
            data_path,
            index_path,
            data,
            index,
            entries: Vec::new(),
            filemarks: Vec::new(),
            indexed: 0,
            safe: 0,
        })
    }

    pub(super) fn open(directory: &Path, number: u8) -> Result<Partition, MediumError> {
        let (data_path, index_path) = paths(directory, number);
        let data = file(&data_path, false)?;
        let mut index = file(&index_path, false)?;
        let mut bytes = Vec::new();
        index
            .read_to_end(&mut bytes)
            .map_err(MediumError::io(&index_path))?;
        let Some(records) = bytes.strip_prefix(MAGIC) else {
            return Err(MediumError::Format {
                path: index_path,
                what: "not the index of a partition".to_owned(),
            });
        };
        let data_bytes = data.metadata().map_err(MediumError::io(&data_path))?.len();
        let mut partition = Partition {
            data_path,
            index_path,
            data,
            index,
            entries: Vec::with_capacity(records.len() / RECORD),
            filemarks: Vec::new(),
            indexed: 0,
            safe: 0,
        };
        for record in records.chunks_exact(RECORD) {
            match Entry::decode(record, partition.entries.len()) {
                Some(entry) if partition.follows(&entry) && entry.data_end <= data_bytes => {
                    partition.push(entry);
                }
                _ => break,
            }
        }
        partition.indexed = partition.entries.len();
        partition.safe = partition.indexed;
        Ok(partition)
    }

    pub(super) fn remove(directory: &Path, number: u8) -> Result<(), MediumError> {
        let (data, index) = paths(directory, number);
        for path in [index, data] {
            std::fs::remove_file(&path).map_err(MediumError::io(&path))?;
        }
        Ok(())
    }

    /// Logical objects: the number of the next one to be written, which is end of data.
    pub fn end_of_data(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Bytes that hosts have written, in all blocks.
    pub fn data_bytes(&self) -> u64 {
        self.ends_before(self.entries.len()).1
    }

    /// The numbers of the objects that are filemarks, ascending.
    pub fn filemarks(&self) -> &[u64] {
        &self.filemarks
    }

    /// Object `number`, or nothing at and beyond end of data.
    pub fn object(&self, number: u64) -> Option<Object> {
        let entry = self.entries.get(usize::try_from(number).ok()?)?;
        let (recorded, data) = self.ends_before(number as usize);
        Some(Object {
            length: entry.data_end - data,
            recorded: recorded..entry.recorded_end,
            gzip_ratio: (entry.gzip_milli > 0).then(|| f64::from(entry.gzip_milli) / 1000.0),
        })
    }

    /// Where object `number` begins on tape, in recorded bytes; beyond end of data, where that is.
    pub fn offset(&self, number: u64) -> u64 {
        let number = number.min(self.end_of_data()) as usize;
        self.ends_before(number).0
    }

    /// The first object that begins at or after this offset in recorded bytes.
    pub fn object_at(&self, offset: u64) -> u64 {
        let ended = self
            .entries
            .partition_point(|one| one.recorded_end < offset);
        (ended + usize::from(offset > 0)).min(self.entries.len()) as u64
    }

    /// Reads the first bytes of block `number`, as many as there is room for; the checksum is
    /// looked at when that is the whole block.
    ///
    /// # Errors
    /// [`MediumError::Checksum`] when the data file was damaged, [`MediumError::Io`].
    pub fn read(&self, number: u64, into: &mut [u8]) -> Result<usize, MediumError> {
        let Some(object) = self.object(number) else {
            return Ok(0);
        };
        let entry = self.entries[number as usize];
        let length = (object.length as usize).min(into.len());
        let into = &mut into[..length];
        if entry.is_made_up {
            made_up(entry.checksum, number, into);
            return Ok(length);
        }
        at::read(&self.data, into, entry.data_end - object.length)
            .map_err(MediumError::io(&self.data_path))?;
        let found = crc32fast::hash(into);
        if length as u64 == object.length && found != entry.checksum {
            return Err(MediumError::Checksum {
                path: self.data_path.clone(),
                block: number,
                found,
                expected: entry.checksum,
            });
        }
        Ok(length)
    }

    /// Writes a block as object `number`; what was there and behind it is gone, as on any tape.
    ///
    /// # Errors
    /// [`MediumError::Io`]; the partition then ends before the block.
    pub fn write_block(
        &mut self,
        number: u64,
        bytes: &[u8],
        recorded_bytes: u64,
        gzip_ratio: Option<f64>,
    ) -> Result<(), MediumError> {
        self.truncate(number)?;
        let (recorded, data) = self.ends_before(self.entries.len());
        at::write(&self.data, bytes, data).map_err(MediumError::io(&self.data_path))?;
        self.append(Entry {
            recorded_end: recorded + recorded_bytes,
            data_end: data + bytes.len() as u64,
            gzip_milli: gzip_ratio.map_or(0, |ratio| (ratio * 1000.0).round() as u32),
            checksum: crc32fast::hash(bytes),
            is_made_up: false,
        })
    }

    /// Writes a block of noise as object `number`, which takes no room on the disk: see [`made_up`].
    ///
    /// # Errors
    /// [`MediumError::Io`], also where the file system has no files as long as that.
    pub fn write_made_up(
        &mut self,
        number: u64,
        bytes: u64,
        recorded_bytes: u64,
        gzip_ratio: Option<f64>,
        seed: u32,
    ) -> Result<(), MediumError> {
        self.truncate(number)?;
        let (recorded, data) = self.ends_before(self.entries.len());
        self.append(Entry {
            recorded_end: recorded + recorded_bytes,
            data_end: data + bytes,
            gzip_milli: gzip_ratio.map_or(0, |ratio| (ratio * 1000.0).round() as u32),
            checksum: seed,
            is_made_up: true,
        })
    }

    /// Writes a filemark as object `number`; what was there and behind it is gone.
    ///
    /// # Errors
    /// [`MediumError::Io`].
    pub fn write_filemark(&mut self, number: u64, recorded_bytes: u64) -> Result<(), MediumError> {
        self.truncate(number)?;
        let (recorded, data) = self.ends_before(self.entries.len());
        self.append(Entry {
            recorded_end: recorded + recorded_bytes,
            data_end: data,
            gzip_milli: 0,
            checksum: 0,
            is_made_up: false,
        })
    }

    /// Ends the partition at object `number`.
    ///
    /// # Errors
    /// [`MediumError::Io`].
    pub fn truncate(&mut self, number: u64) -> Result<(), MediumError> {
        if number >= self.end_of_data() {
            return Ok(());
        }
        let keep = number as usize;
        if keep < self.indexed {
            self.index
                .set_len((MAGIC.len() + keep * RECORD) as u64)
                .map_err(MediumError::io(&self.index_path))?;
            self.indexed = keep;
        }
        self.entries.truncate(keep);
        let filemarks = self.filemarks.partition_point(|&mark| mark < number);
        self.filemarks.truncate(filemarks);
        self.safe = self.safe.min(keep);
        self.data
            .set_len(self.ends_before(keep).1)
            .map_err(MediumError::io(&self.data_path))
    }

    /// Makes everything written so far safe from loss of power.
    ///
    /// # Errors
    /// [`MediumError::Io`].
    pub fn sync(&mut self) -> Result<(), MediumError> {
        self.write_index()?;
        self.safe = self.entries.len();
        Ok(())
    }

    /// Objects that were written after the last flush.
    pub fn unsafe_objects(&self) -> u64 {
        (self.entries.len() - self.safe) as u64
    }

    /// Loses what was in the drive's buffer: all but the first `kept` objects of those that were
    /// written after the last flush.
    ///
    /// # Errors
    /// [`MediumError::Io`].
    pub fn lose_power(&mut self, kept: u64) -> Result<(), MediumError> {
        let kept = kept.min(self.unsafe_objects());
        self.truncate(self.safe as u64 + kept)?;
        self.sync()
    }

    fn append(&mut self, entry: Entry) -> Result<(), MediumError> {
        self.push(entry);
        if self.entries.len() - self.indexed >= HELD_RECORDS {
            self.write_index()?;
        }
        Ok(())
    }

    fn push(&mut self, entry: Entry) {
        if entry.data_end == self.ends_before(self.entries.len()).1 {
            self.filemarks.push(self.entries.len() as u64);
        }
        self.entries.push(entry);
    }

    fn write_index(&mut self) -> Result<(), MediumError> {
        if self.entries[self.indexed..]
            .iter()
            .any(|one| one.is_made_up)
        {
            // The hole reaches as far as the index says.
            let (_, data) = self.ends_before(self.entries.len());
            self.data
                .set_len(data)
                .map_err(MediumError::io(&self.data_path))?;
        }
        let mut bytes = Vec::with_capacity((self.entries.len() - self.indexed) * RECORD);
        for (number, entry) in self.entries.iter().enumerate().skip(self.indexed) {
            bytes.extend_from_slice(&entry.encode(number));
        }
        let end = (MAGIC.len() + self.indexed * RECORD) as u64;
        at::write(&self.index, &bytes, end).map_err(MediumError::io(&self.index_path))?;
        self.indexed = self.entries.len();
        Ok(())
    }

    /// Where the objects before `number` end: on tape and in the data file.
    fn ends_before(&self, number: usize) -> (u64, u64) {
        match number.checked_sub(1) {
            Some(last) => (self.entries[last].recorded_end, self.entries[last].data_end),
            None => (0, 0),
        }
    }

    fn follows(&self, entry: &Entry) -> bool {
        let (recorded, data) = self.ends_before(self.entries.len());
        entry.recorded_end >= recorded && entry.data_end >= data
    }
}

impl Drop for Partition {
    /// A drive that is switched off in peace writes its buffer first. An error has nobody to go to
    /// here; whoever must know calls [`Partition::sync`].
    fn drop(&mut self) {
        let _ = self.write_index();
    }
}

impl Entry {
    fn encode(&self, number: usize) -> [u8; RECORD] {
        let mut record = [0; RECORD];
        record[..8].copy_from_slice(&self.recorded_end.to_le_bytes());
        record[8..16].copy_from_slice(&self.data_end.to_le_bytes());
        let mark = if self.is_made_up { MADE_UP } else { 0 };
        record[16..20].copy_from_slice(&(self.gzip_milli | mark).to_le_bytes());
        record[20..24].copy_from_slice(&self.checksum.to_le_bytes());
        record[24..28].copy_from_slice(&(number as u32).to_le_bytes());
        let crc = crc32fast::hash(&record[..28]);
        record[28..].copy_from_slice(&crc.to_le_bytes());
        record
    }

    /// The entry of object `number`, unless the record is damaged or belongs elsewhere.
    fn decode(record: &[u8], number: usize) -> Option<Entry> {
        let long = |at: usize| Some(u64::from_le_bytes(record.get(at..at + 8)?.try_into().ok()?));
        let word = |at: usize| Some(u32::from_le_bytes(record.get(at..at + 4)?.try_into().ok()?));
        let whole = word(28)? == crc32fast::hash(record.get(..28)?);
        (whole && word(24)? == number as u32).then_some(Entry {
            recorded_end: long(0)?,
            data_end: long(8)?,
            gzip_milli: word(16)? & !MADE_UP,
            checksum: word(20)?,
            is_made_up: word(16)? & MADE_UP != 0,
        })
    }
}

/// The first bytes of a made-up block, which follow from its seed and its number: noise, which no drive compresses.
pub fn made_up(seed: u32, number: u64, into: &mut [u8]) {
    // SplitMix64 (Steele, Lea and Flood 2014): every eight bytes are the next number.
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = (u64::from(seed) << 32 | 1).wrapping_mul(number.wrapping_mul(STEP) | 1);
    for eight in into.chunks_mut(8) {
        state = state.wrapping_add(STEP);
        let mut mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        eight.copy_from_slice(&mixed.to_le_bytes()[..eight.len()]);
    }
}

fn paths(directory: &Path, number: u8) -> (PathBuf, PathBuf) {
    (
        directory.join(format!("{number}.data")),
        directory.join(format!("{number}.index")),
    )
}

fn file(path: &Path, create: bool) -> Result<File, MediumError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(create)
        .open(path)
        .map_err(MediumError::io(path))
}
