//! Where the drive is: by block, by wrap and LPOS, and where its wraps end.

use super::heard::{MOST_ATTENTIONS, is_benign};
use super::travel::SpaceOutcome;
use super::ways::PositionForm;
use super::{TapeDrive, request_sense_error};
use crate::commands::{
    BufferedPosition, EndOfWrap, ReadEndOfWrapPositions, ReadPositionExtended, ReadPositionLong,
    ReadPositionShort, RequestSense,
};
use crate::error::ScsiError;
use crate::sense::{Condition, DeviceSense};

/// Where the drive is, by block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogicalPosition {
    /// Partition.
    pub partition: u8,
    /// The next block, filemarks counted.
    pub block: u64,
    /// At the beginning of the partition.
    pub is_bop: bool,
    /// In early warning.
    pub is_eop: bool,
    /// Filemarks before it, where the drive says so.
    pub filemarks: Option<u64>,
    /// How it is known.
    pub source: PositionSource,
}

/// How a position by block is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionSource {
    /// READ POSITION, long form.
    Long,
    /// READ POSITION, extended form.
    Extended,
    /// READ POSITION, short form.
    Short,
    /// Counted by ourselves from a known place: the drive's answer says nothing.
    Counted,
}

/// Where the head is on the tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhysicalPosition {
    /// The wrap; none above 254, which one byte cannot say.
    pub wrap: Option<u16>,
    /// Longitudinal position, in the drive's units.
    pub lpos: u32,
    /// Active partition.
    pub partition: Option<u8>,
    /// Logical block, as the drive's sense has it.
    pub block: Option<u32>,
    /// The tape directory is valid.
    pub tape_directory_valid: Option<bool>,
}

impl TapeDrive {
    /// Where the drive is, by block: the long form of READ POSITION where the drive has it, then the
    /// extended and the short one. An answer that contradicts itself or says that it does not know
    /// is replaced by our own count, unless the drive has told its position before.
    ///
    /// # Errors
    /// [`ScsiError::PositionUnknown`] when our count does not help either; those of every command.
    pub fn position(&mut self) -> Result<LogicalPosition, ScsiError> {
        let told = self.told_position()?;
        // A drive that has no way to say it was not asked anything.
        self.notice_reset();
        let counted = self.count.at();
        let position = match (told, counted) {
            // Block 0 is the beginning of the partition; an answer that says it is not is a dummy,
            // unless we know better that it is right and only the flag is missing.
            (Some(told), Some((_, 0))) if is_dummy(&told) => told,
            (Some(told), _) if !is_dummy(&told) => told,
            // A drive that has told its position before and does not now has lost it, and may stand anywhere.
            (_, Some((partition, block))) if !self.tells_position => LogicalPosition {
                partition,
                block,
                is_bop: block == 0,
                is_eop: false,
                filemarks: None,
                source: PositionSource::Counted,
            },
            (Some(told), _) if self.stands_at_beginning() => LogicalPosition {
                is_bop: true,
                ..told
            },
            _ => {
                self.count.lose();
                return Err(ScsiError::PositionUnknown);
            }
        };
        if position.source == PositionSource::Counted {
            self.count.set_block(position.block);
        } else {
            self.count.set(position.partition, position.block);
        }
        Ok(position)
    }

    /// Whether the head stands before the first block, found out by a step back: at the beginning a
    /// drive says so and does not move. From anywhere else the step is taken back.
    fn stands_at_beginning(&mut self) -> bool {
        match self.space_blocks(-1) {
            Ok(SpaceOutcome::BeginningOfPartition { .. }) => true,
            Ok(SpaceOutcome::Done) => {
                let _ = self.space_blocks(1);
                self.count.lose();
                false
            }
            Ok(SpaceOutcome::Filemark { .. }) => {
                let _ = self.space_filemarks(1);
                self.count.lose();
                false
            }
            Ok(SpaceOutcome::EndOfData { .. }) | Err(_) => false,
        }
    }

    /// What the drive says, in the first form that it has.
    pub(super) fn told_position(&mut self) -> Result<Option<LogicalPosition>, ScsiError> {
        let mut form = self.position_form.unwrap_or(PositionForm::Long);
        loop {
            let (told, next) = match form {
                PositionForm::Long => (self.told_long()?, PositionForm::Extended),
                PositionForm::Extended => {
                    let told = self.if_supported(&ReadPositionExtended)?;
                    let told = told.map(|told| buffered(told, PositionSource::Extended));
                    (told, PositionForm::Short)
                }
                PositionForm::Short => {
                    let told = self.if_supported(&ReadPositionShort)?;
                    let told = told.map(|told| buffered(told, PositionSource::Short));
                    (told, PositionForm::None)
                }
                PositionForm::None => (Some(None), PositionForm::None),
            };
            if let Some(told) = told {
                self.position_form = Some(form);
                // Some give zeros everywhere and are right about the beginning.
                self.tells_position |= told.as_ref().is_some_and(|told| told.block > 0);
                return Ok(told);
            }
            form = next;
        }
    }

    /// The outer none: the drive does not have this form. The inner one: it does not know.
    #[allow(clippy::option_option)]
    fn told_long(&mut self) -> Result<Option<Option<LogicalPosition>>, ScsiError> {
        let told = self.if_supported(&ReadPositionLong)?;
        Ok(told.map(|told| {
            told.block.map(|(partition, block)| LogicalPosition {
                // Tapes have at most 256 partitions by every other field of the standard.
                partition: partition as u8,
                block,
                is_bop: told.is_bop,
                is_eop: told.is_eop,
                filemarks: told.filemarks,
                source: PositionSource::Long,
            })
        }))
    }

    /// Where the head is, by REQUEST SENSE, also while the drive reads or writes. None if the drive does not say, or if the
    /// kernel's tape driver stands between, which cannot ask. Sense that repeats that of the last failed command is no news.
    /// After a unit attention that leaves the position as it was the drive is asked again.
    ///
    /// # Errors
    /// Sense that is more than a position: a unit attention or an error that was pending is now
    /// cleared in the drive, so that it must not get lost here.
    pub fn physical_position(&mut self) -> Result<Option<PhysicalPosition>, ScsiError> {
        let mut attentions = 0;
        loop {
            let Some(sense) = self.if_supported(&RequestSense)? else {
                return Ok(None);
            };
            let is_news = self.transport.is_news(&sense);
            if is_news && is_benign(&sense) && attentions < MOST_ATTENTIONS {
                attentions += 1;
                self.transport.notices.push(sense);
                continue;
            }
            if is_news && sense.condition() != Condition::Recovered {
                self.heard(&sense);
                return Err(request_sense_error(sense));
            }
            if is_news {
                self.transport.notices.push(sense.clone());
            }
            return Ok(physical(&sense.device));
        }
    }

    /// The block that each wrap ends with, as of the last load; none for a drive that does not tell
    /// it or does not say whether it would. It is never asked blindly.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command.
    pub fn end_of_wrap_table(&mut self) -> Result<Option<Vec<EndOfWrap>>, ScsiError> {
        if self.supports(0xa3, Some(0x1f))? != Some(true) {
            return Ok(None);
        }
        // The operation code is shared: only the qualifier, which cannot be probed, is this table.
        self.if_supported(&ReadEndOfWrapPositions)
    }
}

fn is_dummy(told: &LogicalPosition) -> bool {
    told.block == 0 && !told.is_bop
}

fn buffered(told: BufferedPosition, source: PositionSource) -> Option<LogicalPosition> {
    Some(LogicalPosition {
        partition: told.partition,
        block: told.first_block?,
        is_bop: told.is_bop,
        is_eop: told.is_eop,
        filemarks: None,
        source,
    })
}

fn physical(device: &DeviceSense) -> Option<PhysicalPosition> {
    if !device.is_filled() {
        return None;
    }
    Some(PhysicalPosition {
        wrap: device.wrap(),
        lpos: device.lpos?,
        partition: device.partition,
        block: device.logical_block,
        tape_directory_valid: device.tape_directory_valid,
    })
}
