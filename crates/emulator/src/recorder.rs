//! Writes on a cartridge without a drive, and in no time: what it holds before anybody in the library touches it.

use crate::drive::InsertedCartridge;
use crate::error::LibraryError;
use crate::gzip::Gauge;
use crate::kind::DriveKind;
use crate::medium::{HostAttribute, Medium};
use crate::tape::{FILEMARK_BYTES, Tape};

/// Wraps of the first of two partitions: the least that an LTO drive makes, and what `mkltfs` asks for.
const FIRST_WRAPS: u16 = 2;

/// A cartridge that is being written on outside of any drive.
pub struct Recorder {
    barcode: String,
    kind: DriveKind,
    tape: Tape,
    medium: Medium,
    gauge: Gauge,
    seed: u32,
}

impl Recorder {
    pub(crate) fn new(cartridge: InsertedCartridge, kind: DriveKind, seed: u32) -> Recorder {
        Recorder {
            barcode: cartridge.barcode,
            kind,
            tape: cartridge.tape,
            medium: cartridge.medium,
            gauge: Gauge::default(),
            seed,
        }
    }

    /// The seed of its made-up blocks: see [`crate::made_up`].
    pub fn seed(&self) -> u32 {
        self.seed
    }

    /// Makes it blank, with a small first partition and the rest of the tape in a second one.
    ///
    /// # Errors
    /// [`LibraryError::Refused`] when drives of its kind make no partitions.
    pub fn make_two_partitions(&mut self) -> Result<(), LibraryError> {
        let shape = &self.kind.shape;
        let rest = shape
            .wraps
            .checked_sub(FIRST_WRAPS + shape.guard_wraps)
            .filter(|_| self.kind.features.partitions > 1);
        let Some(rest) = rest else {
            return Err(self.refused("drives of its kind make no partitions"));
        };
        let wraps = [FIRST_WRAPS, rest];
        self.tape = self
            .tape
            .clone()
            .with_partitions(&wraps)
            .map_err(|error| self.refused(&error.to_string()))?;
        self.medium.format(&wraps)?;
        self.medium.memory.initialisations += 1;
        Ok(())
    }

    /// The number of the next block of a partition.
    pub fn end_of_data(&self, partition: u8) -> u64 {
        self.medium
            .partition(partition)
            .map_or(0, |one| one.end_of_data())
    }

    /// Stored bytes that are left until a drive would warn of the end of a partition.
    pub fn room(&self, partition: u8) -> u64 {
        let used = self.medium.partition(partition);
        let used = used.map_or(0, |one| one.offset(one.end_of_data()));
        self.tape.early_warning(partition).saturating_sub(used)
    }

    /// Appends a block.
    ///
    /// # Errors
    /// [`LibraryError::Refused`] for a block that no drive would write, or a partition that is full.
    pub fn block(&mut self, partition: u8, bytes: &[u8]) -> Result<(), LibraryError> {
        let length = bytes.len() as u64;
        let ratio = self.kind.compression.map(|_| self.gauge.ratio(bytes));
        let recorded = self.recorded(partition, length, ratio)?;
        let number = self.end_of_data(partition);
        if let Some(to) = self.medium.partition_mut(partition) {
            to.write_block(number, bytes, recorded, ratio)?;
        }
        self.medium.memory.bytes_written += length;
        Ok(())
    }

    /// Appends a block whose bytes are made up, and take no room on the disk.
    ///
    /// # Errors
    /// As [`Recorder::block`].
    pub fn made_up(&mut self, partition: u8, bytes: u64) -> Result<(), LibraryError> {
        let ratio = self.kind.compression.map(|_| 1.0);
        let recorded = self.recorded(partition, bytes, ratio)?;
        let number = self.end_of_data(partition);
        if let Some(to) = self.medium.partition_mut(partition) {
            to.write_made_up(number, bytes, recorded, ratio, self.seed)?;
        }
        self.medium.memory.bytes_written += bytes;
        Ok(())
    }

    /// Appends a filemark.
    ///
    /// # Errors
    /// [`LibraryError::Refused`] where the partition is full.
    pub fn filemark(&mut self, partition: u8) -> Result<(), LibraryError> {
        self.require_room(partition)?;
        let number = self.end_of_data(partition);
        if let Some(to) = self.medium.partition_mut(partition) {
            to.write_filemark(number, FILEMARK_BYTES)?;
        }
        Ok(())
    }

    /// Leaves an attribute in the cartridge's memory.
    pub fn attribute(&mut self, attribute: HostAttribute) {
        self.medium.memory.set_host_attribute(attribute);
    }

    /// Puts everything into the files of the cartridge.
    ///
    /// # Errors
    /// [`LibraryError::Medium`].
    pub fn finish(mut self) -> Result<(), LibraryError> {
        Ok(self.medium.sync()?)
    }

    /// What a block takes on tape.
    fn recorded(&self, partition: u8, bytes: u64, ratio: Option<f64>) -> Result<u64, LibraryError> {
        let most = u64::from(self.kind.identity.largest_block);
        if bytes == 0 || bytes > most {
            let what = format!("a block of {bytes} bytes, and its drives write up to {most}");
            return Err(self.refused(&what));
        }
        self.require_room(partition)?;
        let packed = self.kind.compression.zip(ratio);
        Ok(packed.map_or(bytes, |(compression, ratio)| {
            compression.recorded_bytes(bytes, ratio).max(1)
        }))
    }

    fn require_room(&self, partition: u8) -> Result<(), LibraryError> {
        let Some(here) = self.medium.partition(partition) else {
            return Err(self.refused(&format!("it has no partition {partition}")));
        };
        let end = here.end_of_data();
        if here.offset(end) >= self.tape.capacity(partition) {
            let what = format!("partition {partition} is full after block {end}");
            return Err(self.refused(&what));
        }
        Ok(())
    }

    fn refused(&self, what: &str) -> LibraryError {
        LibraryError::Refused {
            what: format!("cartridge {}: {what}", self.barcode),
        }
    }
}
