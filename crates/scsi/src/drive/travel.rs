//! Moving the tape: REWIND, LOCATE, SPACE, and a way to a block for drives without LOCATE.

use super::TapeDrive;
use super::ways::LocateBy;
use crate::command::Command;
use crate::commands::{Destination, Locate10, Locate16, Over, Rewind, Space6, Space16};
use crate::error::ScsiError;
use crate::sense::{Condition, Sense};

/// Where a SPACE ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceOutcome {
    /// Over as many as asked for.
    Done,
    /// At a filemark, on its other side; so many were left, where the drive says.
    Filemark {
        /// Blocks that were not passed.
        remaining: Option<u64>,
    },
    /// At the end of the recorded data.
    EndOfData {
        /// Blocks or filemarks that were not passed.
        remaining: Option<u64>,
    },
    /// At the beginning of the partition.
    BeginningOfPartition {
        /// Blocks or filemarks that were not passed.
        remaining: Option<u64>,
    },
}

impl TapeDrive {
    /// Goes to the beginning of the tape; on some drives to that of the active partition.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command.
    pub fn rewind(&mut self) -> Result<(), ScsiError> {
        self.perform(&Rewind::default())?;
        self.count.rewound();
        Ok(())
    }

    /// Goes to a block of a partition, filemarks counted: LOCATE(16), else LOCATE(10), else, for a
    /// drive that has neither, REWIND and SPACE.
    ///
    /// # Errors
    /// Sense of [`Condition::EndOfData`] for a block beyond the recorded data,
    /// [`ScsiError::TooLarge`] for a block from 2³² on without LOCATE(16), [`ScsiError::NotReached`]
    /// where spacing ends elsewhere, and those of every command.
    pub fn locate(&mut self, partition: u8, block: u64) -> Result<(), ScsiError> {
        let mut by = self.locate_by()?;
        loop {
            let done = match by {
                LocateBy::Locate16 => self.locate16(partition, block),
                LocateBy::Locate10 => self.locate10(partition, block),
                LocateBy::Spacing => self.locate_by_spacing(partition, block),
            };
            by = match (done, by) {
                (Err(error), LocateBy::Locate16) if is_unknown(&error) => LocateBy::Locate10,
                (Err(error), LocateBy::Locate10) if is_unknown(&error) => LocateBy::Spacing,
                (done, by) => {
                    self.locate_by = Some(by);
                    return done;
                }
            };
        }
    }

    /// The way to try first: what the drive says it has, LOCATE(16) where it cannot say.
    fn locate_by(&mut self) -> Result<LocateBy, ScsiError> {
        if let Some(by) = self.locate_by {
            return Ok(by);
        }
        Ok(if self.supports(0x92, None)? != Some(false) {
            LocateBy::Locate16
        } else if self.supports(0x2b, None)? != Some(false) {
            LocateBy::Locate10
        } else {
            LocateBy::Spacing
        })
    }

    fn locate16(&mut self, partition: u8, block: u64) -> Result<(), ScsiError> {
        let command = Locate16 {
            partition: self.change_to(partition)?,
            destination: Destination::Block(block),
            immediate: false,
        };
        self.arrive(&command, partition, block)
    }

    fn locate10(&mut self, partition: u8, block: u64) -> Result<(), ScsiError> {
        let short = u32::try_from(block).map_err(|_| ScsiError::TooLarge {
            command: "LOCATE(10)",
            what: "block",
            value: block,
            most: u64::from(u32::MAX),
        })?;
        let command = Locate10 {
            partition: self.change_to(partition)?,
            block: short,
            immediate: false,
        };
        self.arrive(&command, partition, block)
    }

    /// Sends a LOCATE, and knows where we are when it has succeeded.
    fn arrive(
        &mut self,
        command: &impl Command<Answer = ()>,
        partition: u8,
        block: u64,
    ) -> Result<(), ScsiError> {
        let done = self.perform(command);
        match &done {
            Ok(()) => self.count.set(partition, block),
            Err(error) if error.is_unsupported() => {}
            Err(_) => self.count.lose_partition(),
        }
        done
    }

    /// The partition to name in a LOCATE: none when it is the active one, because drives without
    /// partitions refuse to be told any. Where the active one is not known the drive is asked.
    fn change_to(&mut self, partition: u8) -> Result<Option<u8>, ScsiError> {
        if self.count.active_partition().is_none()
            && let Some(told) = self.told_position()?
        {
            self.count.in_partition(told.partition);
        }
        Ok((self.count.active_partition() != Some(partition)).then_some(partition))
    }

    /// Forwards from where we are or from the beginning. Filemarks that we know are passed as such,
    /// and those that stop a SPACE over blocks become known; a target that counts filemarks among
    /// the blocks arrives at the same place.
    fn locate_by_spacing(&mut self, partition: u8, block: u64) -> Result<(), ScsiError> {
        let not_reached = |why| ScsiError::NotReached {
            partition,
            block,
            why,
        };
        if !matches!(self.count.at(), Some((here, at)) if here == partition && at <= block) {
            self.rewind()?;
        }
        while let Some((here, at)) = self.count.at() {
            if here != partition {
                return Err(not_reached(
                    "without LOCATE the partition cannot be changed",
                ));
            }
            if at == block {
                return Ok(());
            }
            let outcome = match self.count.next_filemark(partition, at) {
                Some(mark) if mark == at => self.space_filemarks(1)?,
                mark => {
                    let to = mark.unwrap_or(block).min(block);
                    let blocks = (to - at).min(Space6::MOST as u64);
                    self.space_blocks(blocks as i64)?
                }
            };
            match outcome {
                SpaceOutcome::Done | SpaceOutcome::Filemark { .. } => {}
                SpaceOutcome::EndOfData { .. } | SpaceOutcome::BeginningOfPartition { .. } => {
                    return Err(not_reached("the recorded data ends before it"));
                }
            }
        }
        Err(not_reached("the drive did not say how far it went"))
    }

    /// Goes over blocks, backwards when negative, up to a filemark.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command; where it stopped is an outcome.
    pub fn space_blocks(&mut self, count: i64) -> Result<SpaceOutcome, ScsiError> {
        let outcome = self.space(Over::Blocks, count)?;
        let asked = count.unsigned_abs();
        // What a drive claims to have left of more than was asked for is no count.
        let passed = |remaining: Option<u64>| {
            let passed = asked.checked_sub(remaining?)?;
            i64::try_from(passed)
                .ok()
                .map(|passed| passed * count.signum())
        };
        match outcome {
            SpaceOutcome::Done => self.count.step(count),
            SpaceOutcome::Filemark { remaining } => match passed(remaining) {
                Some(passed) => {
                    self.count.step(passed + count.signum());
                    if count > 0 {
                        self.count.passed_filemark();
                    } else {
                        self.count.faces_filemark();
                    }
                }
                None => self.count.lose(),
            },
            SpaceOutcome::EndOfData { remaining } => match passed(remaining) {
                Some(passed) => self.count.step(passed),
                None => self.count.lose(),
            },
            SpaceOutcome::BeginningOfPartition { .. } => self.count.set_block(0),
        }
        Ok(outcome)
    }

    /// Goes over filemarks, backwards when negative.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command; where it stopped is an outcome.
    pub fn space_filemarks(&mut self, count: i64) -> Result<SpaceOutcome, ScsiError> {
        let from = self.count.at();
        let outcome = self.space(Over::Filemarks, count)?;
        // How many blocks lay between is not told, except where the filemark was known to be next.
        match from {
            _ if count == 0 => {}
            Some((partition, at))
                if count == 1
                    && outcome == SpaceOutcome::Done
                    && self.count.next_filemark(partition, at) == Some(at) =>
            {
                self.count.step(1);
            }
            _ => self.count.lose(),
        }
        Ok(outcome)
    }

    /// Goes to the end of the recorded data.
    ///
    /// # Errors
    /// [`ScsiError`] as for every command.
    pub fn space_to_end_of_data(&mut self) -> Result<(), ScsiError> {
        self.count.lose();
        self.space(Over::ToEndOfData, 0).map(|_| ())
    }

    /// SPACE(6) where the count fits it, which every drive has, else SPACE(16).
    fn space(&mut self, over: Over, count: i64) -> Result<SpaceOutcome, ScsiError> {
        let before = self.count.at();
        let done = match Space6::new(over, count) {
            Some(command) => self.perform(&command),
            None => self.perform(&Space16 { over, count }),
        };
        let error = match done {
            Ok(()) => return Ok(SpaceOutcome::Done),
            Err(error) => error,
        };
        let Some(outcome) = error.sense().and_then(stopped) else {
            return Err(error);
        };
        // It stopped where it says; the callers count from where it began.
        if let Some((_, block)) = before {
            self.count.set_block(block);
        }
        Ok(outcome)
    }
}

/// Where SPACE stopped, if that is what the sense tells.
fn stopped(sense: &Sense) -> Option<SpaceOutcome> {
    let remaining = sense.information.and_then(|rest| u64::try_from(rest).ok());
    match sense.condition() {
        _ if sense.is_deferred => None,
        Condition::Filemark => Some(SpaceOutcome::Filemark { remaining }),
        Condition::EndOfData => Some(SpaceOutcome::EndOfData { remaining }),
        Condition::BeginningOfPartition => Some(SpaceOutcome::BeginningOfPartition { remaining }),
        _ => None,
    }
}

/// Whether the drive does not know the operation code.
fn is_unknown(error: &ScsiError) -> bool {
    error.condition() == Some(Condition::UnsupportedCommand)
}
