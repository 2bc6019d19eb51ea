//! What can end a run.

use tapewise_scsi::{Condition, ScsiError};

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A command failed.
    #[error(transparent)]
    Scsi(#[from] ScsiError),
    /// The event log cannot be written: what the drive did would be lost.
    #[error("cannot write the event log: {0}")]
    Log(#[source] std::io::Error),
    /// What was read cannot be handed on.
    #[error("cannot hand on what was read: {0}")]
    Sink(#[source] std::io::Error),
    /// What is to be written cannot be had.
    #[error("cannot get what is to be written: {0}")]
    Source(#[source] std::io::Error),
    /// The recorded data ended where blocks were expected.
    #[error("partition {partition}: the data ends before block {block}")]
    EndOfData {
        /// The partition.
        partition: u8,
        /// The first block that is not there.
        block: u64,
    },
    /// There is no room left on the tape.
    #[error("the tape is full: what ends the data could not be written")]
    EndOfMedium,
    /// Blocks were expected to follow where the head is, but nobody knows where it is.
    #[error("where the head is has been lost")]
    Lost,
    /// The cartridge does not hold what a measurement needs.
    #[error("{0}")]
    Unsuitable(String),
    /// A map was to be made of what the drive tells.
    #[error("the drive has no table of wrap ends and does not tell where its head is")]
    HeadUntold,
    /// A map was to be made of data.
    #[error("the cartridge has no data: there is nothing to map")]
    NoData,
    /// The drive time that was allowed is used up.
    #[error("the drive time is used up")]
    OutOfTime,
    /// Somebody asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl RunError {
    /// Whether the fault lies where the head was: elsewhere on the tape reading may go on.
    pub(crate) fn is_of_the_place(&self) -> bool {
        match self {
            RunError::EndOfData { .. } => true,
            RunError::Scsi(error) => matches!(
                error.condition(),
                Some(Condition::Medium | Condition::EndOfData | Condition::EndOfMedium)
            ),
            _ => false,
        }
    }
}
