//! What becomes of the queue as it stands: which cartridge is mounted when, and when each recall is likely to be
//! answered.

use crate::catalogue::{Catalogue, RequestId};
use crate::mover::{MoveError, OwnerShare, Settings};
use crate::pull_list::{Asking, Left, Pull, Schedule, range};
use tapewise_model::Micros;

/// What becomes of the queue, if nothing joins it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forecast {
    /// The cartridges, in the order in which they are mounted.
    pub pulls: Vec<Pull>,
    /// The recalls that need a cartridge, in the order in which they are likely to be answered.
    pub recalls: Vec<Awaited>,
    /// What each owner has of the drives now, and what holds some of the queue back.
    pub shares: Vec<OwnerShare>,
}

/// When a recall is likely to be answered, from now on. It is planned twice: as if all drives were free now, and with
/// all that drives have begun still to be read. How far they are with it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// The recall.
    pub request: RequestId,
    /// The sooner of both plans, if everything goes faster than predicted; for what a drive has begun, now.
    pub soonest: Micros,
    /// The later of both, if everything takes longer.
    pub latest: Micros,
}

impl Forecast {
    /// The forecast for the queue, as the mover goes about it. `asking` names no files.
    ///
    /// # Errors
    /// As for [`pull_list`](crate::pull_list::pull_list).
    pub fn of(
        catalogue: &dyn Catalogue,
        asking: Asking<'_>,
        settings: &Settings,
    ) -> Result<Forecast, MoveError> {
        let schedule = Schedule {
            catalogue,
            settings,
            asking,
        };
        let queue = catalogue.recall_queue()?;
        let shares = schedule.shares(&queue.volumes)?;
        let mut left = Left::default();
        left.add_queue(queue);
        let (pulls, free) = schedule.of(left.clone())?;
        let begun = catalogue.started_recalls()?;
        let busy = if begun.volumes.is_empty() {
            free.clone()
        } else {
            left.add_queue(begun);
            schedule.of(left)?.1
        };
        let mut in_order: Vec<(RequestId, Micros)> = busy.into_iter().collect();
        in_order.sort_by_key(|&(request, at)| (at, request));
        let recalls = in_order.into_iter().map(|(request, busy)| {
            let free = free.get(&request).copied().unwrap_or(Micros::ZERO);
            let (soonest, latest) = range(free, busy);
            Awaited {
                request,
                soonest,
                latest,
            }
        });
        let recalls = recalls.collect();
        Ok(Forecast {
            pulls,
            recalls,
            shares,
        })
    }
}
