//! From a batch on a cartridge to an ordering problem: every extent gets its position.
//!
//! An extent's recorded position is taken first. Where there is none, the map that
//! [`Cartridge::block_map`](crate::Cartridge::block_map) gives places the extent. A wrap or an LPOS
//! that the cartridge does not have is an error, wherever it comes from.

use crate::batch::{Batch, UnorderableError};
use crate::cartridge::{Cartridge, CartridgeError, MapOrigin};
use crate::location::{EndLocation, Location};
use std::sync::Arc;
use tapewise_formats::{Extent, WrapLpos};
use tapewise_model::{BlockMap, Layout, MapError, Micros, Position, PositionSource, Profile};
use tapewise_order::{
    Action, Alternatives, End, Options, Order, PlacedExtent, Plan, Problem, Request,
    TWO_SECTIONS_SEGMENTS, Tape, read_whole_tape,
};

/// How a file of several extents is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExtentOrder {
    /// In file order, one extent after the other: what a copy file by file does.
    #[default]
    Together,
    /// Each extent where it costs least; whoever reads the plan puts the file together.
    Apart,
}

/// Where the head is, where to leave it, and how files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Where the head is before the first read.
    pub head: Location,
    /// Where to leave it after the last one.
    pub end: EndLocation,
    /// How a file of several extents is read.
    pub extents: ExtentOrder,
    /// For the coalescing orders: requests that begin less than this many blocks apart are read as
    /// one. `None` is 46 MB, the two sections of a DLT4000 of Hillyer & Silberschatz (1996).
    pub coalesce_blocks: Option<u64>,
    /// Whether the drive may stream over a gap instead of locating past it, if that is faster.
    pub read_through: bool,
}

impl Default for Placement {
    /// From the beginning of tape to anywhere, files read together, gaps streamed over.
    fn default() -> Placement {
        Placement {
            head: Location::BeginningOfTape,
            end: EndLocation::Anywhere,
            extents: ExtentOrder::Together,
            coalesce_blocks: None,
            read_through: true,
        }
    }
}

/// Why something has no position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PositionError {
    /// Neither the extent nor the batch says how many bytes are read.
    #[error("without the size of a block tapewise cannot tell how much is read")]
    SizeUnknown,
    /// No recorded position, and nothing to look the block up in.
    #[error("has no recorded position and there is no map")]
    NoMap,
    /// The map does not have the block.
    #[error("{source}")]
    NotOnMap {
        /// Where the map comes from.
        map: PositionSource,
        /// What the map says.
        source: MapError,
    },
    /// The tape has several partitions and none is named.
    #[error("the request does not say which partition its blocks are in, and the tape has several")]
    SeveralPartitions,
    /// A recorded wrap that the cartridge does not have.
    #[error("wrap {wrap} does not exist: {profile} has wraps 0 to {last}")]
    NoSuchWrap {
        /// The wrap.
        wrap: u16,
        /// The profile's name.
        profile: String,
        /// The last wrap of its cartridge.
        last: u16,
    },
    /// A recorded LPOS outside the tape.
    #[error("LPOS {lpos} is beyond the end of the tape, {most}")]
    BeyondTape {
        /// The LPOS.
        lpos: u32,
        /// The last one of the tape.
        most: u32,
    },
    /// The head is at a block, and there is no map to look it up in.
    #[error("a block of the head cannot be placed without a map")]
    HeadWithoutMap,
}

/// Why a batch could not be placed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// The requests cannot be ordered together.
    #[error(transparent)]
    Batch(#[from] UnorderableError),
    /// Where the blocks of the cartridge lie cannot be told.
    #[error(transparent)]
    Cartridge(#[from] CartridgeError),
    /// A request has an extent without a position.
    #[error("request {id}: {source}")]
    Request {
        /// The request.
        id: String,
        /// Why.
        source: PositionError,
    },
    /// The head's location, or where to leave it, has no position.
    #[error(transparent)]
    Head(PositionError),
    /// The cartridge is to be unloaded, and the profile does not tell how long that takes.
    #[error("profile {profile} does not tell how long an unload takes")]
    UnloadUnknown {
        /// The profile's name.
        profile: String,
    },
}

/// For each request of a problem: its index in the batch, and its first extent there.
pub type Owners = Vec<(usize, usize)>;

/// A batch on a cartridge, every extent with its position: what orders are made for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Placed {
    /// The requests.
    pub batch: Arc<Batch>,
    /// The drive.
    pub profile: Arc<Profile>,
    /// Head, end and how files are read, as they were given.
    pub placement: Placement,
    /// The ordering problem.
    pub problem: Problem,
    /// For each request of the problem: its index in the batch, and its first extent there.
    pub owners: Owners,
    /// The map that placed the extents; `None` if every position was recorded.
    pub map: Option<BlockMap>,
    /// Other maps as likely as this one.
    pub alternatives: Alternatives,
    /// Threshold of the coalescing orders, in blocks.
    pub coalesce_blocks: u64,
    /// The least trusted source among the positions.
    pub source: PositionSource,
    /// Where the positions come from, in one line.
    pub provenance: String,
    /// Time to unload once rewound, if the cartridge is to be unloaded.
    unload: Option<Micros>,
}

impl Placed {
    /// Time at the end of every plan in which the cartridge is unloaded; no order changes it.
    pub fn unload(&self) -> Micros {
        self.unload
            .filter(|_| !self.problem.is_empty())
            .unwrap_or(Micros::ZERO)
    }

    /// What the drive does in an order, step by step, with the unload at its end.
    pub fn carry_out(&self, order: Order) -> Plan {
        let mut plan = Plan::new(&self.problem, order);
        if let Some(last) = plan.steps.last_mut()
            && last.action == Action::Finish
        {
            last.duration += self.unload();
            plan.totals.total += self.unload();
            plan.totals.locate += self.unload();
        }
        plan
    }

    /// Time to read the whole tape instead; `None` if every position was recorded.
    pub fn whole_tape(&self) -> Option<Micros> {
        let whole = read_whole_tape(&self.problem, self.map.as_ref()?);
        Some(whole + self.unload())
    }

    /// The batch's requests as a plan reads them, by index. Requests without blocks need no tape and
    /// come first.
    pub fn reading_order(&self, plan: &Plan) -> Vec<usize> {
        let requests = &self.batch.requests;
        let empty = (0..requests.len()).filter(|&at| requests[at].extents.is_empty());
        let read = plan.order.requests(&self.problem).into_iter();
        let read = read.map(|request| self.owners[request as usize].0);
        empty.chain(read).collect()
    }

    /// The ids of the batch's requests as a plan reads them.
    pub fn ids(&self, plan: &Plan) -> impl Iterator<Item = &str> {
        let order = self.reading_order(plan).into_iter();
        order.map(|at| self.batch.requests[at].id.as_str())
    }
}

impl Placement {
    /// From the beginning of tape, which is rewound at the end.
    pub fn rewound() -> Placement {
        Placement {
            end: EndLocation::Rewound,
            ..Placement::default()
        }
    }
}

impl Cartridge {
    /// Places a batch: gives every extent its position, and every move its price.
    ///
    /// # Errors
    /// [`PlaceError`], if the requests are on several cartridges, or any extent, the head or the end has no position.
    pub fn place(
        &self,
        batch: impl Into<Arc<Batch>>,
        placement: &Placement,
    ) -> Result<Placed, PlaceError> {
        let batch: Arc<Batch> = batch.into();
        batch.check_orderable()?;
        let map = self.map_for(&batch)?;
        let placer = Placer {
            cartridge: self,
            batch: &batch,
            map: map.as_ref().map(|(map, _)| map),
        };
        let (requests, owners) = placer.requests(placement.extents)?;
        let head = placer.position(placement.head).map_err(PlaceError::Head)?;
        let end = match placement.end {
            EndLocation::Anywhere => End::Anywhere,
            EndLocation::Rewound | EndLocation::Unloaded => End::Rewound,
            EndLocation::At(location) => {
                End::At(placer.position(location).map_err(PlaceError::Head)?)
            }
        };
        let unload = match placement.end {
            EndLocation::Unloaded => Some(self.unload_time()?),
            _ => None,
        };
        let source = requests
            .iter()
            .flat_map(|request| &request.extents)
            .flat_map(|extent| [extent.start.source, extent.end.source])
            .max()
            .unwrap_or(PositionSource::Exact);
        let provenance = self.provenance(&batch, map.as_ref(), source);
        let options = Options {
            head,
            end,
            read_through: placement.read_through,
        };
        let problem = Problem::new(self.tape().clone(), options, &requests);
        let map = map.map(|(map, _)| map);
        let two_sections = || two_sections(batch.block_size);
        Ok(Placed {
            profile: self.profile().clone(),
            placement: *placement,
            coalesce_blocks: placement.coalesce_blocks.unwrap_or_else(two_sections),
            alternatives: Alternatives::new(&problem, map.as_ref()),
            problem,
            owners,
            map,
            source,
            provenance,
            unload,
            batch,
        })
    }

    /// The map for a batch; `None` if every extent has recorded positions and no measured map tells
    /// more.
    fn map_for(&self, batch: &Batch) -> Result<Option<(BlockMap, MapOrigin)>, CartridgeError> {
        let mut extents = batch.requests.iter().flat_map(|request| &request.extents);
        let is_recorded = |extent: &Extent| extent.start.is_some() && extent.end.is_some();
        if !self.is_mapped() && extents.all(is_recorded) {
            // A layout that the drive does not have is an error even if nothing depends on it.
            self.nominal_layout(batch.is_ltfs)?;
            return Ok(None);
        }
        self.block_map(batch.block_size, batch.is_ltfs).map(Some)
    }

    /// Time from a rewound tape until the cartridge can be taken.
    fn unload_time(&self) -> Result<Micros, PlaceError> {
        let known = self.profile().handling.unmount_s.as_ref();
        let seconds = known.map(|known| known.value);
        seconds
            .map(Micros::from_secs_f64)
            .ok_or_else(|| PlaceError::UnloadUnknown {
                profile: self.profile().name.clone(),
            })
    }

    /// Where the positions of a batch come from, in one line.
    fn provenance(
        &self,
        batch: &Batch,
        map: Option<&(BlockMap, MapOrigin)>,
        source: PositionSource,
    ) -> String {
        const RECORDED: &str = "recorded when the segments were written";
        if batch.extents() == 0 {
            return "none needed: there is nothing to read".to_owned();
        }
        let Some((map, _)) = map else {
            return RECORDED.to_owned();
        };
        let title = &self.profile().title;
        match source {
            PositionSource::Nominal if self.tape().geometry.layout == Layout::Helical => {
                format!("by block number: on {title} logical order is the order on the tape")
            }
            PositionSource::Nominal => format!(
                "nominal geometry of {title}, data in wraps {}: NOT measured on this cartridge, taken as +-{} %",
                wraps_of_data(map),
                map.share_error() * 100.0
            ),
            PositionSource::Recorded | PositionSource::Exact => RECORDED.to_owned(),
            PositionSource::EndOfWrapTable
            | PositionSource::Probed
            | PositionSource::KeyPoints
            | PositionSource::Timed => {
                let file = self.map_name().unwrap_or_default();
                let wraps = map.spans().chunk_by(|a, b| a.wrap == b.wrap).count();
                format!("{source} of this cartridge ({file}), {wraps} wraps")
            }
        }
    }
}

/// The threshold of the paper of 1996 in blocks of another size.
fn two_sections(block_bytes: Option<u64>) -> u64 {
    const SEGMENT_BYTES: u64 = 32_768;
    let bytes = TWO_SECTIONS_SEGMENTS * SEGMENT_BYTES;
    let blocks = |block_bytes: u64| bytes.div_ceil(block_bytes.max(1));
    block_bytes.map_or(TWO_SECTIONS_SEGMENTS, blocks)
}

/// The wraps of the last partition: the data partition of LTFS, or the only one.
fn wraps_of_data(map: &BlockMap) -> String {
    let spans = map.spans();
    let last = spans.last().map(|span| (span.partition, span.wrap));
    let first = spans
        .iter()
        .find(|span| Some(span.partition) == last.map(|(last, _)| last));
    match first.zip(last) {
        Some((first, (_, last))) => format!("{}-{last}", first.wrap),
        None => "none".to_owned(),
    }
}

struct Placer<'a> {
    cartridge: &'a Cartridge,
    batch: &'a Batch,
    map: Option<&'a BlockMap>,
}

impl Placer<'_> {
    fn tape(&self) -> &Tape {
        self.cartridge.tape()
    }

    /// The requests with their positions, and for each which of the batch it is.
    fn requests(&self, extents: ExtentOrder) -> Result<(Vec<Request>, Owners), PlaceError> {
        let (mut requests, mut owners) = (Vec::new(), Vec::new());
        for (owner, request) in self.batch.requests.iter().enumerate() {
            let placed = request.extents.iter().map(|extent| self.placed(extent));
            let placed: Vec<PlacedExtent> =
                placed
                    .collect::<Result<_, _>>()
                    .map_err(|source| PlaceError::Request {
                        id: request.id.clone(),
                        source,
                    })?;
            let together = extents == ExtentOrder::Together || placed.is_empty();
            let parts = if together {
                vec![placed]
            } else {
                placed.into_iter().map(|extent| vec![extent]).collect()
            };
            for (first, extents) in parts.into_iter().enumerate() {
                requests.push(Request { extents });
                owners.push((owner, first));
            }
        }
        Ok((requests, owners))
    }

    fn placed(&self, extent: &Extent) -> Result<PlacedExtent, PositionError> {
        let partition = self.partition(extent.partition)?;
        let (first_block, last_block) = (extent.start_block, extent.end_block());
        let bytes = self.batch.bytes(extent).ok_or(PositionError::SizeUnknown)?;
        let position = |recorded: Option<WrapLpos>, after: bool| match recorded {
            Some(at) => self.recorded(partition, at),
            None => {
                let map = self.map.ok_or(PositionError::NoMap)?;
                let found = if after {
                    map.position_after(partition, last_block)
                } else {
                    map.position(partition, first_block)
                };
                found.map_err(|source| not_on(map, source))
            }
        };
        Ok(PlacedExtent {
            first_block,
            last_block,
            bytes,
            start: position(extent.start, false)?,
            end: position(extent.end, true)?,
        })
    }

    /// The partition that is named, or the only one there is.
    fn partition(&self, named: Option<u8>) -> Result<u8, PositionError> {
        let has_several = || {
            let spans = self.map?.spans();
            Some(spans.first()?.partition != spans.last()?.partition)
        };
        match named {
            Some(partition) => Ok(partition),
            None if has_several() != Some(true) => Ok(0),
            None => Err(PositionError::SeveralPartitions),
        }
    }

    fn recorded(&self, partition: u8, at: WrapLpos) -> Result<Position, PositionError> {
        let geometry = &self.tape().geometry;
        if at.wrap >= geometry.wraps {
            return Err(PositionError::NoSuchWrap {
                wrap: at.wrap,
                profile: self.cartridge.profile().name.clone(),
                last: geometry.wraps.saturating_sub(1),
            });
        }
        // Drives report positions a little outside the range in which data lies.
        let slack = geometry.wrap_lpos() / 20;
        if at.lpos > geometry.lpos_max.saturating_add(slack) {
            return Err(PositionError::BeyondTape {
                lpos: at.lpos,
                most: geometry.lpos_max,
            });
        }
        Ok(Position {
            partition,
            wrap: at.wrap,
            lpos: at.lpos,
            source: PositionSource::Recorded,
            error_lpos: 0,
        })
    }

    fn position(&self, location: Location) -> Result<Position, PositionError> {
        match location {
            Location::BeginningOfTape => {
                Ok(Position::beginning_of_tape(self.tape().geometry.lpos_min))
            }
            // Of what has no blocks nothing is read, and the head stays where it is.
            Location::Block { .. } if self.map.is_none() && self.batch.extents() == 0 => {
                self.position(Location::BeginningOfTape)
            }
            Location::Physical(at) => self.recorded(0, at),
            Location::Block { partition, block } => {
                let map = self.map.ok_or(PositionError::HeadWithoutMap)?;
                let found = map.position(self.partition(partition)?, block);
                found.map_err(|source| not_on(map, source))
            }
        }
    }
}

fn not_on(map: &BlockMap, source: MapError) -> PositionError {
    PositionError::NotOnMap {
        map: map.source(),
        source,
    }
}
