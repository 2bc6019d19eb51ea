//! Blocks and filemarks of a tape one after the other, before anything is known of it.

use tapewise_scsi::commands::ReadOutcome;
use tapewise_scsi::{ScsiError, TapeDrive};

/// The longest block that READ(6) can ask for.
const LARGEST_BLOCK_BYTES: usize = (1 << 24) - 1;

/// What came next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next<'a> {
    Block(&'a [u8]),
    Filemark,
    EndOfData,
}

/// A drive that is read block by block.
pub(super) struct Blocks<'a> {
    pub drive: &'a mut TapeDrive,
    buffer: Vec<u8>,
}

impl<'a> Blocks<'a> {
    pub fn new(drive: &'a mut TapeDrive) -> Self {
        let buffer = vec![0; drive.first_read_bytes()];
        Blocks { drive, buffer }
    }

    /// Reads what stands next on the tape.
    pub fn next(&mut self) -> Result<Next<'_>, ScsiError> {
        let bytes = loop {
            match self.drive.read(&mut self.buffer)? {
                ReadOutcome::Block { bytes } => break bytes,
                ReadOutcome::Longer { block_bytes } => {
                    let room = usize::try_from(block_bytes).unwrap_or(usize::MAX);
                    self.buffer.resize(room.min(LARGEST_BLOCK_BYTES), 0);
                    self.drive.space_blocks(-1)?;
                }
                ReadOutcome::Filemark => return Ok(Next::Filemark),
                ReadOutcome::EndOfData | ReadOutcome::EndOfMedium => return Ok(Next::EndOfData),
            }
        };
        Ok(Next::Block(&self.buffer[..bytes]))
    }

    /// The block at which the drive stands.
    pub fn block(&mut self) -> Result<u64, ScsiError> {
        Ok(self.drive.position()?.block)
    }
}
