//! READ POSITION (34h): where the drive is, by block (SSC-5, 7.10).

use super::timeouts;
use crate::bytes::Fields;
use crate::cdb::Cdb;
use crate::command::{Command, Direction};
use crate::decode_error::DecodeError;
use crate::report::{Describe, Report};
use std::time::Duration;

/// The short form: 20 bytes, 32-bit blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadPositionShort;

/// The long form: 32 bytes, 64-bit blocks, and how many filemarks came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadPositionLong;

/// The extended form: 32 bytes, the short form's fields with 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadPositionExtended;

/// The answer of the short and of the extended form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferedPosition {
    /// At the beginning of the partition (BOP).
    pub is_bop: bool,
    /// Between early warning and the end of the partition (EOP).
    pub is_eop: bool,
    /// Beyond programmable early warning (BPEW).
    pub is_beyond_early_warning: bool,
    /// Partition.
    pub partition: u8,
    /// The block that the next command would read or write; none when the drive does not know
    /// (LOLU) or when it does not fit the form (PERR).
    pub first_block: Option<u64>,
    /// The block that the tape itself would take next: it lags behind while the buffer holds data.
    pub last_block: Option<u64>,
    /// Blocks and filemarks in the buffer, where known.
    pub objects_in_buffer: Option<u32>,
    /// Bytes in the buffer, where known.
    pub bytes_in_buffer: Option<u64>,
}

/// The answer of the long form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongPosition {
    /// At the beginning of the partition (BOP).
    pub is_bop: bool,
    /// Between early warning and the end of the partition (EOP).
    pub is_eop: bool,
    /// Beyond programmable early warning (BPEW).
    pub is_beyond_early_warning: bool,
    /// Partition and block, where the drive knows them (LONU).
    pub block: Option<(u32, u64)>,
    /// Filemarks before this position, where known (MPU).
    pub filemarks: Option<u64>,
}

impl Command for ReadPositionShort {
    type Answer = BufferedPosition;

    fn name(&self) -> &'static str {
        "READ POSITION (short)"
    }

    fn cdb(&self) -> Cdb {
        Cdb::new([0x34, 0x00, 0, 0, 0, 0, 0, 0, 0, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(20)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<BufferedPosition, DecodeError> {
        let data = Fields::new("READ POSITION data, short form", answer);
        data.slice(0, 20)?;
        buffered(data.u8(0)?, data.u8(1)?, |field| match field {
            BufferedField::First => data.uint(4, 4),
            BufferedField::Last => data.uint(8, 4),
            BufferedField::Objects => data.uint(13, 3),
            BufferedField::Bytes => data.uint(16, 4),
        })
    }
}

impl Command for ReadPositionExtended {
    type Answer = BufferedPosition;

    fn name(&self) -> &'static str {
        "READ POSITION (extended)"
    }

    fn cdb(&self) -> Cdb {
        Cdb::new([0x34, 0x08, 0, 0, 0, 0, 0, 0, 32, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(32)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<BufferedPosition, DecodeError> {
        let data = Fields::new("READ POSITION data, extended form", answer);
        data.slice(0, 32)?;
        buffered(data.u8(0)?, data.u8(1)?, |field| match field {
            BufferedField::First => data.uint(8, 8),
            BufferedField::Last => data.uint(16, 8),
            BufferedField::Objects => data.uint(5, 3),
            BufferedField::Bytes => data.uint(24, 8),
        })
    }
}

/// The fields that stand elsewhere in each form.
enum BufferedField {
    First,
    Last,
    Objects,
    Bytes,
}

/// Reads the flags, and of the fields those that the flags declare valid.
fn buffered(
    flags: u8,
    partition: u8,
    field: impl Fn(BufferedField) -> Result<u64, DecodeError>,
) -> Result<BufferedPosition, DecodeError> {
    let flag = |bit: u8| flags >> bit & 1 == 1;
    // PERR: the position does not fit the form. LOLU: the drive does not know it.
    let knows_block = !flag(2) && !flag(1);
    // Where the block is not known the fields hold anything.
    let known = |known: bool, which| known.then(|| field(which)).transpose();
    let objects = known(!flag(5), BufferedField::Objects)?;
    Ok(BufferedPosition {
        is_bop: flag(7),
        is_eop: flag(6),
        is_beyond_early_warning: flag(0),
        partition,
        first_block: known(knows_block, BufferedField::First)?,
        last_block: known(knows_block, BufferedField::Last)?,
        objects_in_buffer: objects.map(|count| count as u32),
        bytes_in_buffer: known(!flag(4), BufferedField::Bytes)?,
    })
}

impl Command for ReadPositionLong {
    type Answer = LongPosition;

    fn name(&self) -> &'static str {
        "READ POSITION (long)"
    }

    fn cdb(&self) -> Cdb {
        Cdb::new([0x34, 0x06, 0, 0, 0, 0, 0, 0, 0, 0])
    }

    fn direction(&self) -> Direction<'_> {
        Direction::In(32)
    }

    fn timeout(&self) -> Duration {
        timeouts::QUICK
    }

    fn decode(&self, answer: &[u8]) -> Result<LongPosition, DecodeError> {
        let data = Fields::new("READ POSITION data, long form", answer);
        data.slice(0, 32)?;
        let block = (data.u32(4)?, data.u64(8)?);
        let filemarks = data.u64(16)?;
        Ok(LongPosition {
            is_bop: data.bit(0, 7)?,
            is_eop: data.bit(0, 6)?,
            is_beyond_early_warning: data.bit(0, 0)?,
            block: (!data.bit(0, 2)?).then_some(block),
            filemarks: (!data.bit(0, 3)?).then_some(filemarks),
        })
    }
}

impl Describe for BufferedPosition {
    fn describe(&self, report: &mut Report) {
        report.line("beginning of partition", self.is_bop);
        report.line("end of partition", self.is_eop);
        report.line("beyond early warning", self.is_beyond_early_warning);
        report.line("partition", self.partition);
        report.line("block", known(self.first_block));
        report.line("block on tape", known(self.last_block));
        report.line("objects in buffer", known(self.objects_in_buffer));
        report.line("bytes in buffer", known(self.bytes_in_buffer));
    }
}

impl Describe for LongPosition {
    fn describe(&self, report: &mut Report) {
        report.line("beginning of partition", self.is_bop);
        report.line("end of partition", self.is_eop);
        report.line("beyond early warning", self.is_beyond_early_warning);
        report.line(
            "partition",
            known(self.block.map(|(partition, _)| partition)),
        );
        report.line("block", known(self.block.map(|(_, block)| block)));
        report.line("filemarks before", known(self.filemarks));
    }
}

/// A number, or that the drive does not know it.
fn known(value: Option<impl ToString>) -> String {
    value.map_or_else(
        || "not known to the drive".to_owned(),
        |value| value.to_string(),
    )
}
