//! The drive's own order: the lists to ask it with, and its answers.

use crate::batch::Batch;
use crate::found::{Found, Origin};
use crate::location::{EndLocation, Location};
use crate::place::{ExtentOrder, Placed, Placement};
use tapewise_formats::Request;
use tapewise_formats::rao::{RaoError, RaoList, parameter_list};
use tapewise_formats::rao_batch::{AnswerError, BlockPlace, RaoBatch, bound};
use tapewise_order::SequenceFault;

/// Why a drive cannot be asked, or its answer cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DriveOrderError {
    /// The head is given by wrap and LPOS.
    #[error("the drive takes the head's place as a block")]
    HeadIsPhysical,
    /// The lists do not fit the command.
    #[error(transparent)]
    List(#[from] RaoError),
    /// A drive orders whole files.
    #[error("the order of a drive is taken file by file, not extent by extent")]
    ExtentsApart,
    /// The answers are not to these requests.
    #[error(transparent)]
    Answer(#[from] AnswerError),
    /// The answers do not name every request once.
    #[error(transparent)]
    Sequence(#[from] SequenceFault),
}

/// The requests as the drive is asked for them: in the order of their blocks, so that each of
/// several lists covers a stretch of the tape.
struct Asked {
    requests: Vec<Request>,
    /// The index in the batch of each.
    from: Vec<usize>,
}

impl Asked {
    fn new(batch: &Batch) -> Asked {
        let first_block = |&at: &usize| {
            let first = batch.requests[at].extents.first();
            first.map(|extent| (extent.partition.unwrap_or(0), extent.start_block))
        };
        let mut from: Vec<usize> = (0..batch.requests.len()).collect();
        from.sort_by_key(first_block);
        let requests = from.iter().map(|&at| batch.requests[at].clone()).collect();
        Asked { requests, from }
    }
}

/// The parameter lists of GENERATE RECOMMENDED ACCESS ORDER, one for each window of a batch.
///
/// # Errors
/// [`DriveOrderError::HeadIsPhysical`] and [`DriveOrderError::List`].
pub fn lists(batch: &Batch, placement: &Placement) -> Result<Vec<Vec<u8>>, DriveOrderError> {
    let asked = Asked::new(batch);
    let unload = matches!(placement.end, EndLocation::Rewound | EndLocation::Unloaded);
    let mut head = head_block(placement.head)?;
    let mut lists = Vec::new();
    for window in RaoBatch::new(&asked.requests).windows() {
        lists.push(parameter_list(&bound(window, head, unload)?)?);
        // Where the drive ends a list is known when it has answered; by block it ends here.
        if let Some(last) = window.last() {
            head = BlockPlace {
                partition: last.partition,
                block: last.last_block,
            };
        }
    }
    Ok(lists)
}

/// The head's location as a drive is told it.
///
/// # Errors
/// [`DriveOrderError::HeadIsPhysical`].
pub fn head_block(head: Location) -> Result<BlockPlace, DriveOrderError> {
    match head {
        Location::BeginningOfTape => Ok(BlockPlace {
            partition: 0,
            block: 0,
        }),
        Location::Block { partition, block } => Ok(BlockPlace {
            partition: partition.unwrap_or(0),
            block,
        }),
        Location::Physical(_) => Err(DriveOrderError::HeadIsPhysical),
    }
}

impl Placed {
    /// The order that a drive answered with, to the [`lists`] of this batch.
    ///
    /// # Errors
    /// [`DriveOrderError`], if the answers are not to these requests.
    pub fn drive_order(&self, answers: &[RaoList]) -> Result<Found, DriveOrderError> {
        if self.placement.extents == ExtentOrder::Apart {
            return Err(DriveOrderError::ExtentsApart);
        }
        let asked = Asked::new(&self.batch);
        let sequence = RaoBatch::new(&asked.requests).order(answers)?;
        // File by file, each request of the batch is one of the problem, with the same index.
        let requests: Vec<u32> = sequence.iter().map(|&at| asked.from[at] as u32).collect();
        let order = tapewise_order::rao(&self.problem, &requests)?;
        Ok(self.priced(Origin::Drive, order))
    }
}
