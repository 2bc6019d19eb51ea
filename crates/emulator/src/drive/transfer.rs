//! READ, WRITE and WRITE FILEMARKS, with the rules of IBM's LTO reference for blocks of another
//! length than asked for, filemarks, end of data and early warning (section 4.12, Table 16).

use super::Drive;
use crate::check::Check;
use crate::exchange::{Exchange, Stop};
use crate::mechanics::{Mechanics, Motion, Stretch};
use crate::medium::{MediumError, Object};
use crate::tape::FILEMARK_BYTES;
use std::ops::Range;
use tapewise_model::Micros;
use tapewise_model::profile::BlockSizes;
use tapewise_scsi::SenseKey;

/// How long a drive tries to read a bad block before it gives up; assumed. It backs up and reads
/// again many times, which takes LTO drives from seconds to minutes.
const RETRIES: Micros = Micros(20_000_000);

/// The partition is full.
const VOLUME_OVERFLOW: Check = Check::new(SenseKey::VolumeOverflow, 0x0002).end_of_medium();
const EARLY_WARNING: Check = Check::new(SenseKey::NoSense, 0x0002).end_of_medium();
const FILEMARK: Check = Check::new(SenseKey::NoSense, 0x0001).filemark();
const INCORRECT_LENGTH: Check = Check::new(SenseKey::NoSense, 0x0000).incorrect_length();
const READ_AFTER_END: Check = Check::new(SenseKey::MediumError, 0x1404);

/// What a READ or WRITE asks for.
#[derive(Clone, Copy)]
struct Request {
    /// In fixed mode blocks of the length that MODE SELECT has set, else one block.
    block_length: Option<u64>,
    /// Blocks in fixed mode, else bytes.
    length: u64,
    /// Do not complain of a length that is not the one asked for (SILI).
    ignore_length: bool,
}

impl Drive {
    fn request(&self, exchange: &Exchange<'_>) -> Result<Request, Check> {
        let fixed = exchange.bit(1, 0);
        let ignore_length = exchange.bit(1, 1);
        let length = exchange.number::<3>(2);
        let block_length = u64::from(self.mode.block_length);
        if fixed && (ignore_length || block_length == 0) {
            return Err(Check::invalid_cdb_bits(1, 1).information(length as i64));
        }
        Ok(Request {
            block_length: fixed.then_some(block_length),
            length,
            ignore_length,
        })
    }

    /// Moves the tape past what is read or written, and lets the time pass.
    fn stream(
        &mut self,
        run: fn(&mut Mechanics, Stretch, Micros) -> Motion,
        recorded: Range<u64>,
        host_bytes: u64,
        gzip_ratio: Option<f64>,
        exchange: &mut Exchange<'_>,
    ) -> Result<(), Check> {
        let loaded = self.ready()?;
        let stretch = Stretch {
            partition: loaded.partition,
            from: recorded.start,
            to: recorded.end,
            host_bytes,
            gzip_ratio,
        };
        let motion = run(loaded.mechanics()?, stretch, exchange.now());
        self.moved(motion, exchange);
        Ok(())
    }

    fn stream_read(
        &mut self,
        recorded: Range<u64>,
        host_bytes: u64,
        gzip_ratio: Option<f64>,
        exchange: &mut Exchange<'_>,
    ) -> Result<(), Check> {
        self.ready()?.medium.memory.bytes_read += host_bytes;
        self.stream(Mechanics::read, recorded, host_bytes, gzip_ratio, exchange)
    }

    fn stream_write(
        &mut self,
        recorded: Range<u64>,
        host_bytes: u64,
        gzip_ratio: Option<f64>,
        exchange: &mut Exchange<'_>,
    ) -> Result<(), Check> {
        self.ready()?.medium.memory.bytes_written += host_bytes;
        self.stream(Mechanics::write, recorded, host_bytes, gzip_ratio, exchange)
    }

    /// The next object, if it is a block that can be read. A filemark is passed.
    fn next_block(&mut self, exchange: &mut Exchange<'_>) -> Result<Object, Check> {
        let loaded = self.loaded.as_mut().ok_or(Check::NO_MEDIUM)?;
        let (partition, number) = (loaded.partition, loaded.object);
        let Some(object) = loaded.current()?.object(number) else {
            if loaded.has_met_end {
                return Err(READ_AFTER_END);
            }
            loaded.has_met_end = true;
            return Err(Check::END_OF_DATA);
        };
        if object.is_filemark() {
            loaded.object += 1;
            self.stream_read(object.recorded, 0, None, exchange)?;
            return Err(FILEMARK);
        }
        if self
            .faults
            .faults
            .is_bad(&loaded.barcode, partition, number)
        {
            self.life.hard_read_errors += 1;
            exchange.spend(RETRIES);
            return Err(Check::UNRECOVERED_READ);
        }
        Ok(object)
    }

    /// Reads one block into the host's room, as much of it as fits.
    fn copy_block(&mut self, room: &mut [u8]) -> Result<usize, Check> {
        let loaded = self.ready()?;
        let number = loaded.object;
        let copied = loaded.current()?.read(number, room);
        loaded.object += 1;
        match copied {
            Ok(bytes) => Ok(bytes),
            Err(MediumError::Checksum { .. }) => Err(Check::UNRECOVERED_READ),
            Err(error) => Err(self.host_disk(error)),
        }
    }

    /// Writes what is still in the drive's buffer, and makes it safe.
    pub(super) fn flush(&mut self, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
        let loaded = self.ready()?;
        if loaded.current()?.unsafe_objects() == 0 {
            return Ok(());
        }
        let motion = loaded.mechanics()?.flush(exchange.now());
        let synced = loaded.medium.sync();
        self.moved(motion, exchange);
        synced.map_err(|error| self.host_disk(error).into())
    }

    /// The head's offset in its partition, from where on the drive warns of the end, and where the partition is full.
    fn ends(&mut self) -> Result<(u64, u64, u64), Check> {
        let full = self.faults.faults.full_after_bytes;
        let loaded = self.ready()?;
        let offset = loaded.current()?.offset(loaded.object);
        let (warning, end) = (
            loaded.tape.early_warning(loaded.partition),
            loaded.tape.capacity(loaded.partition),
        );
        Ok(match full {
            Some(full) => (offset, warning.min(full / 4 * 3), end.min(full)),
            None => (offset, warning, end),
        })
    }

    /// Whether the head is where the drive should warn of the end of the partition.
    pub(super) fn is_near_end(&mut self) -> Result<bool, Check> {
        let (offset, warning, _) = self.ends()?;
        Ok(offset >= warning)
    }

    /// Whether the next block or filemark may be written here.
    fn require_room(&mut self, requested: u64) -> Result<(), Check> {
        let (offset, _, end) = self.ends()?;
        if offset >= end {
            return Err(VOLUME_OVERFLOW.information(requested as i64));
        }
        Ok(())
    }

    /// What a block of `bytes` takes on tape, and what gzip makes of it when the drive compresses.
    fn recorded_bytes(&mut self, block: &[u8]) -> (u64, Option<f64>) {
        let bytes = block.len() as u64;
        match self.kind.compression {
            Some(compression) if self.mode.compresses => {
                let ratio = self.gauge.ratio(block);
                (compression.recorded_bytes(bytes, ratio).max(1), Some(ratio))
            }
            _ => (bytes, None),
        }
    }

    fn write_block(&mut self, block: &[u8], exchange: &mut Exchange<'_>) -> Result<(), Stop> {
        let (recorded_bytes, gzip_ratio) = self.recorded_bytes(block);
        let loaded = self.loaded.as_mut().ok_or(Check::NO_MEDIUM)?;
        let (partition, number) = (loaded.partition, loaded.object);
        let faults = &self.faults.faults;
        if faults.is_unwritable(&loaded.barcode, partition, number) {
            exchange.spend(RETRIES);
            return Err(Check::WRITE_ERROR.into());
        }
        let written = match loaded.medium.partition_mut(partition) {
            Some(to) => to.write_block(number, block, recorded_bytes, gzip_ratio),
            None => return Err(Check::INTERNAL_FAILURE.into()),
        };
        if let Err(error) = written {
            return Err(self.host_disk(error).into());
        }
        loaded.object += 1;
        loaded.has_met_end = false;
        let recorded = match loaded.current()?.object(number) {
            Some(object) => object.recorded,
            None => return Err(Check::INTERNAL_FAILURE.into()),
        };
        self.stream_write(recorded, block.len() as u64, gzip_ratio, exchange)?;
        self.lose_power_by_chance(exchange)
    }

    fn lose_power_by_chance(&mut self, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
        let loaded = self.loaded.as_mut().ok_or(Check::NO_MEDIUM)?;
        let partition = loaded.partition;
        let Some(here) = loaded.medium.partition_mut(partition) else {
            return Err(Check::INTERNAL_FAILURE.into());
        };
        let Some(kept) = self.faults.power_loss(here.unsafe_objects()) else {
            return Ok(());
        };
        if let Err(error) = here.lose_power(kept) {
            return Err(self.host_disk(error).into());
        }
        self.reset(exchange);
        let attention = self.attentions.take(exchange.nexus);
        Err(attention.unwrap_or(Check::INTERNAL_FAILURE).into())
    }

    /// A drive of blocks of one size takes no other than the first of the partition has.
    fn require_block_length(&mut self, length: u64) -> Result<(), Check> {
        if length > u64::from(self.kind.identity.largest_block) {
            return Err(Check::invalid_cdb(2).information(length as i64));
        }
        if self.kind.features.block_sizes == BlockSizes::Variable {
            return Ok(());
        }
        let loaded = self.ready()?;
        let here = loaded.current()?;
        let mut before = (0..loaded.object).filter_map(|number| here.object(number));
        match before.find(|object| !object.is_filemark()) {
            Some(first) if first.length != length => {
                Err(Check::invalid_cdb(2).information(length as i64))
            }
            _ => Ok(()),
        }
    }
}

/// READ(6) (SSC-4, 5.3).
pub(super) fn read(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let request = drive.request(exchange)?;
    if request.length == 0 {
        return Ok(());
    }
    drive.flush(exchange)?;
    match request.block_length {
        None => read_one(drive, request, exchange),
        Some(length) => read_blocks(drive, length, request.length, exchange),
    }
}

fn read_one(drive: &mut Drive, request: Request, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let wanted = request.length;
    let object = drive
        .next_block(exchange)
        .map_err(|check| check.information(wanted as i64))?;
    let length = object.length.min(wanted);
    let copied = drive.copy_block(exchange.room(length)?)?;
    exchange.sent(copied);
    drive.stream_read(object.recorded, object.length, object.gzip_ratio, exchange)?;
    let overlength = object.length > wanted;
    let complain = if request.ignore_length {
        overlength && drive.mode.block_length != 0
    } else {
        object.length != wanted
    };
    if complain {
        let residue = wanted as i64 - object.length as i64;
        return Err(INCORRECT_LENGTH.information(residue).into());
    }
    Ok(())
}

fn read_blocks(
    drive: &mut Drive,
    block_length: u64,
    blocks: u64,
    exchange: &mut Exchange<'_>,
) -> Result<(), Stop> {
    exchange.room(block_length * blocks)?;
    let mut run: Option<(Range<u64>, Option<f64>)> = None;
    let mut done = 0;
    let outcome = loop {
        if done == blocks {
            break Ok(());
        }
        let left = (blocks - done) as i64;
        let object = match drive.next_block(exchange) {
            Ok(object) => object,
            Err(check) => break Err(check.information(left)),
        };
        if object.length != block_length {
            drive.ready()?.object += 1;
            break Err(INCORRECT_LENGTH.information(left));
        }
        let from = (done * block_length) as usize;
        let room = exchange.room(block_length * blocks)?;
        let copied = drive.copy_block(&mut room[from..from + block_length as usize])?;
        exchange.sent(copied);
        done += 1;
        let start = run.map_or(object.recorded.start, |(range, _)| range.start);
        run = Some((start..object.recorded.end, object.gzip_ratio));
    };
    if let Some((recorded, gzip_ratio)) = run {
        drive.stream_read(recorded, done * block_length, gzip_ratio, exchange)?;
    }
    outcome.map_err(Stop::from)
}

/// WRITE(6) (SSC-4, 5.5).
pub(super) fn write(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let request = drive.request(exchange)?;
    if request.length == 0 {
        return Ok(());
    }
    drive.require_writable()?;
    let block_length = request.block_length.unwrap_or(request.length);
    drive.require_block_length(block_length)?;
    let blocks = request.block_length.map_or(1, |_| request.length);
    let data = exchange.received(block_length * blocks)?;
    // In what is not yet written, fixed mode counts blocks and variable mode bytes.
    let unit = request.block_length.map_or(block_length, |_| 1);
    for (done, block) in data.chunks_exact(block_length as usize).enumerate() {
        let left = (blocks - done as u64) * unit;
        drive.require_room(left)?;
        drive.write_block(block, exchange)?;
    }
    if drive.is_near_end()? {
        return Err(EARLY_WARNING.information(0).into());
    }
    Ok(())
}

/// WRITE FILEMARKS(6) (SSC-4, 5.7): none at all is how a host asks for the buffer to be written.
pub(super) fn write_filemarks(drive: &mut Drive, exchange: &mut Exchange<'_>) -> Result<(), Stop> {
    let count = exchange.number::<3>(2);
    let immediate = exchange.bit(1, 0);
    if exchange.bit(1, 1) {
        return Err(Check::invalid_cdb_bits(1, 1).into());
    }
    if count > 0 {
        drive.require_writable()?;
    }
    for done in 0..count {
        drive.require_room(count - done)?;
        let loaded = drive.ready()?;
        let (partition, number) = (loaded.partition, loaded.object);
        let Some(here) = loaded.medium.partition_mut(partition) else {
            return Err(Check::INTERNAL_FAILURE.into());
        };
        if let Err(error) = here.write_filemark(number, FILEMARK_BYTES) {
            return Err(drive.host_disk(error).into());
        }
        loaded.object += 1;
        loaded.has_met_end = false;
        let recorded = here.offset(number)..here.offset(number + 1);
        drive.stream_write(recorded, 0, None, exchange)?;
    }
    if !immediate {
        drive.flush(exchange)?;
    }
    if count > 0 && drive.is_near_end()? {
        return Err(EARLY_WARNING.information(0).into());
    }
    Ok(())
}
