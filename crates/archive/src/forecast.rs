//! What becomes of the queue as it stands: which cartridge is mounted when, and when each recall is likely to be
//! answered.

use crate::catalogue::{Catalogue, Lease, RequestId};
use crate::mover::{MoveError, OwnerShare, Settings};
use crate::pull_list::{Asking, Busy, Left, Pull, Schedule, range};
use tapewise_model::Micros;
use tapewise_sim::mounts::Owner;

/// What becomes of the queue, if nothing joins it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forecast {
    /// What drives read now.
    pub busy: Vec<BusyDrive>,
    /// The cartridges, in the order in which they are mounted after that. If a drive is busy, it is until all that it
    /// has begun has been read.
    pub pulls: Vec<Pull>,
    /// The recalls that need a cartridge, in the order in which they are likely to be answered.
    pub recalls: Vec<Awaited>,
    /// What each owner has of the drives now, and what holds some of the queue back.
    pub shares: Vec<OwnerShare>,
}

/// A cartridge that is being read. It stays in its drive until then, and nothing else is mounted there.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyDrive {
    /// The mover's lease on the drive; none where a process works alone, which does not tell its drives.
    pub lease: Option<Lease>,
    /// The cartridge's label.
    pub label: String,
    /// Whom it is read for.
    pub owner: Owner,
    /// Recalls that were begun and have no answer yet.
    pub recalls: usize,
    /// Bytes of these on this cartridge.
    pub bytes: u64,
    /// How long the cartridge stays in the drive from now on, at most: as if nothing had been read of it.
    pub most: Micros,
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
        let mut left = Left::default();
        left.add(catalogue.recall_queue()?.volumes);
        let shares = schedule.shares(&left)?;
        let (mut pulls, free) = schedule.of(left.clone(), &[])?;
        let (mut busy, mut begun) = (Vec::new(), free.clone());
        if let Some(drives) = schedule.add_begun(&mut left)? {
            (pulls, begun) = schedule.of(left, &drives)?;
            busy.extend(drives.into_iter().map(BusyDrive::from));
        }
        let mut in_order: Vec<(RequestId, Micros)> = begun.into_iter().collect();
        in_order.sort_by_key(|&(request, at)| (at, request));
        let recalls = in_order.into_iter().map(|(request, begun)| {
            let free = free.get(&request).copied().unwrap_or(Micros::ZERO);
            let (soonest, latest) = range(free, begun);
            Awaited {
                request,
                soonest,
                latest,
            }
        });
        Ok(Forecast {
            busy,
            pulls,
            recalls: recalls.collect(),
            shares,
        })
    }
}

impl From<Busy> for BusyDrive {
    fn from(Busy { reading, times }: Busy) -> BusyDrive {
        let waiting = &reading.queue.waiting;
        let bytes = waiting.iter().flat_map(|one| &one.segments);
        let bytes = bytes.map(|segment| segment.bytes);
        BusyDrive {
            owner: reading.owner(),
            recalls: waiting.len(),
            bytes: bytes.fold(0, u64::saturating_add),
            most: times.all,
            lease: reading.lease,
            label: reading.queue.label,
        }
    }
}
