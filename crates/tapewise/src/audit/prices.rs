//! What the reads of a mount cost in several orders, by a model of the drive.

use super::mounts::{Mount, Read, place as recorded_place};
use crate::batch::Batch;
use crate::cartridge::Cartridge;
use crate::effort::Effort;
use crate::found::Origin;
use crate::location::{EndLocation, Location};
use crate::place::{PlaceError, Placed, Placement};
use std::collections::BTreeMap;
use tapewise_formats::event::Spot;
use tapewise_formats::{Extent, Request};
use tapewise_model::Micros;
use tapewise_order::{Algorithm, Alternatives, emulated_rao};

/// The orders that are priced, in the order of the table.
pub const ORDERS: [Origin; 4] = [
    Origin::Algorithm(Algorithm::Sort),
    Origin::Algorithm(Algorithm::Cta),
    Origin::StandIn,
    Origin::BEST,
];

/// What a model says of a mount. All are times on the way, without the reading of what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices {
    /// The order in which it was really read.
    pub as_read: Micros,
    /// Each of [`ORDERS`]; `None` where it does not apply.
    pub orders: [Option<Micros>; ORDERS.len()],
    /// Where the positions come from.
    pub positions: String,
    /// Reads of blocks that this mount had read before; the other orders read them once.
    pub repeated: usize,
    /// Whether time ran out while an order was looked for.
    pub cut_short: bool,
}

/// Why a mount cannot be priced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PriceError {
    /// The mount wrote too.
    #[error("wrote too, and an order of writes is not free")]
    Wrote,
    /// The log does not tell the blocks of some reads.
    #[error("the log does not say which blocks were read")]
    BlocksUnknown,
    /// The reads have no positions on this cartridge.
    #[error(transparent)]
    Place(#[from] PlaceError),
}

/// What the reads of a mount cost in the order in which they were really read, and in each of
/// [`ORDERS`].
///
/// # Errors
/// [`PriceError`].
pub fn price(mount: &Mount, cartridge: &Cartridge, effort: &Effort) -> Result<Prices, PriceError> {
    mount.check()?;
    let end = match mount.rewind {
        Some(_) => EndLocation::Rewound,
        None => EndLocation::Anywhere,
    };
    let from = |head: Location, end: EndLocation| Placement {
        head,
        end,
        ..Placement::default()
    };
    let head = mount.head.as_ref().map_or(Location::default(), head_at);
    let placed = cartridge.place(batch(&mount.reads), &from(head, end))?;
    let mut as_read = Micros::ZERO;
    let mut at = head;
    let runs = without_repeats(&mount.reads);
    for (number, run) in runs.iter().enumerate() {
        let is_last = number + 1 == runs.len();
        let end = if is_last { end } else { EndLocation::Anywhere };
        let part = cartridge.place(batch(run), &from(at, end))?;
        let way = locating(&part, Origin::Algorithm(Algorithm::Fifo), effort);
        as_read += way.map_or(Micros::ZERO, |(way, _)| way);
        at = run.last().map_or(at, behind);
    }
    let found = ORDERS.map(|origin| locating(&placed, origin, effort));
    Ok(Prices {
        as_read,
        orders: found.map(|found| found.map(|(way, _)| way)),
        cut_short: found.into_iter().flatten().any(|(_, cut_short)| cut_short),
        repeated: mount.reads.len().saturating_sub(placed.problem.len()),
        positions: placed.provenance,
    })
}

impl Mount {
    /// Sees that the log tells enough of the mount to price it.
    ///
    /// # Errors
    /// [`PriceError::Wrote`] and [`PriceError::BlocksUnknown`].
    pub fn check(&self) -> Result<(), PriceError> {
        match self {
            Mount { wrote: true, .. } => Err(PriceError::Wrote),
            Mount { unplaced: 0, .. } => Ok(()),
            _ => Err(PriceError::BlocksUnknown),
        }
    }
}

/// What an order spends on the way, and whether time ran out while it was looked for; `None` if the
/// order does not apply.
///
/// Orders are chosen as if the positions were sure: those of others do not hold back either.
fn locating(placed: &Placed, origin: Origin, effort: &Effort) -> Option<(Micros, bool)> {
    let (order, cut_short) = match origin {
        Origin::Algorithm(algorithm) => {
            let found = placed.solve(&Alternatives::none(), algorithm, effort)?;
            (found.order, found.cut_short)
        }
        Origin::StandIn => {
            let rao = placed.profile.features.rao.as_ref();
            rao.filter(|rao| rao.value)?;
            (emulated_rao(&placed.problem), false)
        }
        Origin::Objective(_) | Origin::Drive => return None,
    };
    Some((placed.carry_out(order).totals.locate, cut_short))
}

/// Reads as requests, one for each, in the order in which they were read.
fn batch(reads: &[Read]) -> Batch {
    let blocks: u64 = reads
        .iter()
        .map(|read| read.blocks)
        .fold(0, u64::saturating_add);
    let bytes: u64 = reads
        .iter()
        .map(|read| read.bytes)
        .fold(0, u64::saturating_add);
    let request = |(number, read): (usize, &Read)| Request {
        id: format!("{} of the mount", number + 1),
        extents: vec![Extent {
            partition: Some(read.partition),
            start_block: read.first_block,
            block_count: read.blocks,
            byte_count: Some(read.bytes),
            start: read.start,
            end: read.end,
            ..Extent::default()
        }],
        ..Request::default()
    };
    Batch {
        requests: reads.iter().enumerate().map(request).collect(),
        // What a block takes on average, for the nominal geometry.
        block_size: bytes.checked_div(blocks).filter(|&size| size > 0),
        is_ltfs: reads.iter().any(|read| read.partition > 0),
        recognised: String::new(),
        notices: Vec::new(),
    }
}

fn head_at(spot: &Spot) -> Location {
    match (recorded_place(spot), spot.block) {
        (Some(place), _) => Location::Physical(place),
        (None, Some(block)) if block > 0 || spot.partition > 0 => Location::Block {
            partition: Some(spot.partition),
            block,
        },
        (None, _) => Location::BeginningOfTape,
    }
}

fn behind(read: &Read) -> Location {
    read.end.map_or(
        Location::Block {
            partition: Some(read.partition),
            block: read.behind(),
        },
        Location::Physical,
    )
}

/// Parts of a sequence in each of which no block is read twice: only there is every read a visit.
fn without_repeats(reads: &[Read]) -> Vec<&[Read]> {
    let mut parts = Vec::new();
    let mut begin = 0;
    // First block of each read of this part, with the block behind it.
    let mut seen: BTreeMap<(u8, u64), u64> = BTreeMap::new();
    for (number, read) in reads.iter().enumerate() {
        let (partition, behind) = (read.partition, read.behind());
        // Reads of a part share nothing, so only the last that begins below the end can overlap.
        let before = seen.range((partition, 0)..(partition, behind)).next_back();
        if before.is_some_and(|(_, &end)| end > read.first_block) {
            parts.push(&reads[begin..number]);
            begin = number;
            seen.clear();
        }
        seen.insert((partition, read.first_block), behind);
    }
    parts.push(&reads[begin..]);
    parts
}
