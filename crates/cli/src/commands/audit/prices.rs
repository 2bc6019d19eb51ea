//! What the reads of a mount cost in several orders, by a model of the drive.

use super::mounts::{Mount, Read, place as recorded_place};
use crate::batch::Batch;
use crate::error::CliError;
use crate::placement::{self, EndPlace, Place, Placed, PlacementArgs};
use crate::profiles;
use crate::search::{Origin, SearchArgs};
use std::collections::BTreeMap;
use std::path::PathBuf;
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

/// What a model says of a mount. All are times on the way, without reading what was asked for.
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

/// Prices mounts.
pub struct Pricer {
    profile: Option<String>,
    maps: BTreeMap<String, PathBuf>,
    search: SearchArgs,
}

impl Pricer {
    /// With this profile, or else with the one that a log names.
    ///
    /// # Errors
    /// Bad input: no such profile, or two maps of one volume.
    pub fn new(
        profile: Option<&str>,
        maps: &[(String, PathBuf)],
        search: &SearchArgs,
    ) -> Result<Pricer, CliError> {
        if let Some(profile) = profile {
            profiles::load_drive(profile)?;
        }
        let mut by_volume = BTreeMap::new();
        for (volume, file) in maps {
            if by_volume.insert(volume.clone(), file.clone()).is_some() {
                return Err(CliError::input(format!("--map: two maps of {volume}")));
            }
        }
        Ok(Pricer {
            profile: profile.map(str::to_owned),
            maps: by_volume,
            search: *search,
        })
    }

    /// Prices a mount.
    ///
    /// # Errors
    /// In words, why it cannot be priced.
    pub fn price(&self, mount: &Mount) -> Result<Prices, String> {
        if mount.wrote {
            return Err("wrote too, and an order of writes is not free".to_owned());
        }
        if mount.unplaced > 0 {
            return Err("the log does not say which blocks were read".to_owned());
        }
        let profile = self.profile.as_ref().or(mount.profile.as_ref());
        let profile = profile.ok_or("the log names no profile; give --profile")?;
        let mut args = PlacementArgs::new(profile);
        let map = mount.volume.as_ref().and_then(|name| self.maps.get(name));
        if let Some(map) = map {
            args = args.with_map(map.clone());
        }
        self.try_price(mount, args)
            .map_err(|error| error.message().to_owned())
    }

    fn try_price(&self, mount: &Mount, args: PlacementArgs) -> Result<Prices, CliError> {
        let end = match mount.rewind {
            Some(_) => EndPlace::Rewound,
            None => EndPlace::Anywhere,
        };
        let from = |head: Place, end: EndPlace| {
            let mut args = args.clone();
            (args.head, args.end) = (head, end);
            args
        };
        let head = mount.head.as_ref().map_or(Place::BeginningOfTape, head_at);
        let placed = placement::place(&batch(&mount.reads), &from(head, end))?;
        let mut as_read = Micros::ZERO;
        let mut at = head;
        let runs = without_repeats(&mount.reads);
        for (number, run) in runs.iter().enumerate() {
            let is_last = number + 1 == runs.len();
            let end = if is_last { end } else { EndPlace::Anywhere };
            let part = placement::place(&batch(run), &from(at, end))?;
            let way = self.locating(&part, Origin::Algorithm(Algorithm::Fifo));
            as_read += way.map_or(Micros::ZERO, |(way, _)| way);
            at = run.last().map_or(at, behind);
        }
        let found = ORDERS.map(|origin| self.locating(&placed, origin));
        Ok(Prices {
            as_read,
            orders: found.map(|found| found.map(|(way, _)| way)),
            cut_short: found.into_iter().flatten().any(|(_, cut_short)| cut_short),
            repeated: mount.reads.len().saturating_sub(placed.problem.len()),
            positions: placed.provenance,
        })
    }

    /// What an order spends on the way, and whether time ran out while it was looked for; `None`
    /// where it does not apply.
    ///
    /// Orders are chosen as if the positions were sure: those of others do not hold back either.
    fn locating(&self, placed: &Placed, origin: Origin) -> Option<(Micros, bool)> {
        let (order, cut_short) = match origin {
            Origin::Algorithm(algorithm) => {
                let found = self
                    .search
                    .solve(placed, &Alternatives::none(), algorithm)?;
                (found.order, found.cut_short)
            }
            Origin::StandIn => {
                let rao = placed.profile.features.rao.as_ref();
                rao.filter(|rao| rao.value)?;
                (emulated_rao(&placed.problem), false)
            }
            Origin::Objective(_) | Origin::Drive => return None,
        };
        Some((placed.plan(order).totals.locate, cut_short))
    }
}

/// Reads as requests, one for each, in the order in which they were read.
fn batch(reads: &[Read]) -> Batch {
    let blocks: u64 = reads.iter().map(|read| read.blocks).sum();
    let bytes: u64 = reads.iter().map(|read| read.bytes).sum();
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

fn head_at(spot: &Spot) -> Place {
    match (recorded_place(spot), spot.block) {
        (Some(place), _) => Place::Physical(place),
        (None, Some(block)) if block > 0 || spot.partition > 0 => Place::Block {
            partition: Some(spot.partition),
            block,
        },
        (None, _) => Place::BeginningOfTape,
    }
}

fn behind(read: &Read) -> Place {
    read.end.map_or(
        Place::Block {
            partition: Some(read.partition),
            block: read.behind(),
        },
        Place::Physical,
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
