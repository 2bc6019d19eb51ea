//! LOCATE (2Bh, 92h): to a block of a partition (SSC-5, 7.5 and 6.4).

use super::timeouts;
use crate::cdb::Cdb;
use crate::command::Command;
use crate::decode_error::DecodeError;
use std::time::Duration;

/// LOCATE(10): to one of the first 2³² blocks. It changes the partition only when told one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locate10 {
    /// The partition to change to, if any (sets CP).
    pub partition: Option<u8>,
    /// The block, as READ POSITION counts: filemarks are counted too.
    pub block: u32,
    /// Answer as soon as the command is understood (IMMED).
    pub immediate: bool,
}

/// LOCATE(16): to any block, filemark count or the end of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locate16 {
    /// The partition to change to, if any (sets CP).
    pub partition: Option<u8>,
    /// Where to.
    pub destination: Destination,
    /// Answer as soon as the command is understood (IMMED).
    pub immediate: bool,
}

/// Where LOCATE(16) goes (DEST_TYPE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A block, as READ POSITION counts.
    Block(u64),
    /// After so many filemarks.
    File(u64),
    /// The end of the recorded data.
    EndOfData,
}

/// Bit 1 of byte 1: change partition. (LTFS sends 02h; a remark elsewhere that it is bit 2 is wrong.)
const CP: u8 = 1 << 1;

impl Command for Locate10 {
    type Answer = ();

    fn name(&self) -> &'static str {
        "LOCATE(10)"
    }

    fn cdb(&self) -> Cdb {
        let [a, b, c, d] = self.block.to_be_bytes();
        let change = self.partition.map_or(0, |_| CP);
        let how = change | u8::from(self.immediate);
        let partition = self.partition.unwrap_or(0);
        Cdb::new([0x2b, how, 0, a, b, c, d, 0, partition, 0])
    }

    fn timeout(&self) -> Duration {
        timeouts::LOCATE
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}

impl Command for Locate16 {
    type Answer = ();

    fn name(&self) -> &'static str {
        "LOCATE(16)"
    }

    fn cdb(&self) -> Cdb {
        let (kind, to) = match self.destination {
            Destination::Block(block) => (0, block),
            Destination::File(files) => (1, files),
            Destination::EndOfData => (3, 0),
        };
        let mut cdb = [0; 16];
        cdb[0] = 0x92;
        cdb[1] = kind << 3 | self.partition.map_or(0, |_| CP) | u8::from(self.immediate);
        cdb[3] = self.partition.unwrap_or(0);
        cdb[4..12].copy_from_slice(&to.to_be_bytes());
        Cdb::new(cdb)
    }

    fn timeout(&self) -> Duration {
        timeouts::LOCATE
    }

    fn decode(&self, _: &[u8]) -> Result<(), DecodeError> {
        Ok(())
    }
}
