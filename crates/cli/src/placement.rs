//! Where the requests lie: from block numbers, a profile and perhaps a map to an ordering problem.

use crate::batch::Batch;
use crate::error::CliError;
use std::path::PathBuf;
use tapewise_formats::map_file::{MapFile, ProbedPlace, read_map};
use tapewise_formats::{Extent, WrapLpos};
use tapewise_model::{
    BlockMap, KeyPoints, Layout, LearnedMap, Micros, NominalLayout, Position, PositionSource,
    Profile,
};
use tapewise_order::{
    Action, Alternatives, End, Options, Order, PlacedExtent, Plan, Problem, Request,
    TWO_SECTIONS_SEGMENTS, Tape, read_whole_tape,
};

/// The drive, the cartridge, and where the head is.
#[derive(clap::Args, Clone, Debug)]
pub struct PlacementArgs {
    /// Drive profile: a name from `tapewise profile list`, or a TOML file.
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: String,
    /// Map of this cartridge: the drive's table of wrap ends, or key points, as CSV.
    #[arg(long, value_name = "CSV")]
    map: Option<PathBuf>,
    /// How the cartridge is partitioned, where only nominal geometry is known [default: ltfs for
    /// LTFS volumes, else single].
    #[arg(long, value_name = "LAYOUT")]
    layout: Option<PartitionLayout>,
    /// Where the head is: bot, a block (BLOCK or PARTITION:BLOCK), or wrap=W,lpos=L.
    #[arg(long, value_name = "PLACE", default_value = "bot")]
    pub head: Place,
    /// Where to leave the head: anywhere, rewound, unloaded (rewound, and the cartridge out of the
    /// drive), or a place as for --head.
    #[arg(long, value_name = "PLACE", default_value = "anywhere")]
    pub end: EndPlace,
    /// How a file of several extents is read: together, in file order, so that it is whole before
    /// the next; or apart, each extent where it costs least, put together by whoever reads the plan.
    #[arg(long, value_name = "HOW", default_value = "together")]
    pub extents: ExtentOrder,
    /// For the coalescing orders: requests that begin less than this many blocks apart are read as
    /// one [default: 46 MB, two sections of a DLT4000].
    #[arg(long, value_name = "BLOCKS")]
    coalesce: Option<u64>,
    /// Only ever locate, even where streaming over a gap would be faster.
    #[arg(long)]
    no_read_through: bool,
}

impl PlacementArgs {
    /// A drive with its head at the beginning of tape and everything else by default.
    pub fn new(profile: &str) -> PlacementArgs {
        PlacementArgs {
            profile: profile.to_owned(),
            map: None,
            layout: None,
            head: Place::BeginningOfTape,
            end: EndPlace::Anywhere,
            extents: ExtentOrder::Together,
            coalesce: None,
            no_read_through: false,
        }
    }

    /// The same with a map of the cartridge.
    pub fn with_map(self, map: PathBuf) -> PlacementArgs {
        PlacementArgs {
            map: Some(map),
            ..self
        }
    }

    /// The same with files of several extents read extent by extent.
    pub fn apart(&self) -> PlacementArgs {
        PlacementArgs {
            extents: ExtentOrder::Apart,
            ..self.clone()
        }
    }
}

/// How a file of several extents is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ExtentOrder {
    /// In file order, one after the other: what a copy file by file does.
    Together,
    /// Each extent for itself: for plans only.
    Apart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum PartitionLayout {
    /// One partition over all wraps.
    Single,
    /// The index partition of LTFS, guard wraps, the data partition.
    Ltfs,
}

/// A place on the tape as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The beginning of tape.
    BeginningOfTape,
    /// The beginning of a block.
    Block {
        /// Partition; it may be left out where the tape has one only.
        partition: Option<u8>,
        /// Block.
        block: u64,
    },
    /// A physical position.
    Physical(WrapLpos),
}

impl std::str::FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        let wrong = || format!("\"{text}\" is none of bot, BLOCK, PARTITION:BLOCK, wrap=W,lpos=L");
        if text == "bot" {
            return Ok(Place::BeginningOfTape);
        }
        if let Some(rest) = text.strip_prefix("wrap=") {
            let (wrap, lpos) = rest.split_once(",lpos=").ok_or_else(wrong)?;
            let wrap = wrap.parse().map_err(|_| wrong())?;
            let lpos = lpos.parse().map_err(|_| wrong())?;
            return Ok(Place::Physical(WrapLpos { wrap, lpos }));
        }
        let (partition, block) = match text.split_once(':') {
            Some((partition, block)) => (Some(partition.parse().map_err(|_| wrong())?), block),
            None => (None, text),
        };
        Ok(Place::Block {
            partition,
            block: block.parse().map_err(|_| wrong())?,
        })
    }
}

/// Where to leave the head, as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndPlace {
    /// Wherever the last read ends.
    Anywhere,
    /// At the beginning of tape.
    Rewound,
    /// The same, and the cartridge can be taken.
    Unloaded,
    /// At a place.
    At(Place),
}

impl std::str::FromStr for EndPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<EndPlace, String> {
        match text {
            "anywhere" => Ok(EndPlace::Anywhere),
            "rewound" | "bot" => Ok(EndPlace::Rewound),
            "unloaded" => Ok(EndPlace::Unloaded),
            place => place
                .parse()
                .map(EndPlace::At)
                .map_err(|e: String| format!("{e}, anywhere, rewound, unloaded")),
        }
    }
}

/// A batch placed on a tape.
pub struct Placed {
    /// The ordering problem.
    pub problem: Problem,
    /// For each request of the problem: which of the batch, and its first extent there.
    pub owners: Vec<(usize, usize)>,
    /// The map that placed them; `None` where every position was recorded.
    pub map: Option<BlockMap>,
    /// Other maps as likely as this one.
    pub alternatives: Alternatives,
    /// The drive.
    pub profile: Profile,
    /// Threshold of the coalescing orders.
    pub coalesce_blocks: u64,
    /// The least trusted source among the requests' positions.
    pub source: PositionSource,
    /// Where positions come from, in one line.
    pub provenance: String,
    /// Time to unload once rewound, where the cartridge is to be taken.
    unload: Option<Micros>,
}

impl Placed {
    /// Time at the end of every plan in which the cartridge is unloaded; no order changes it.
    pub fn unload(&self) -> Micros {
        self.unload
            .filter(|_| !self.problem.is_empty())
            .unwrap_or(Micros::ZERO)
    }

    /// What the drive does in an order, the unload included.
    pub fn plan(&self, order: Order) -> Plan {
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

    /// Time to read the whole tape instead; `None` where every position was recorded.
    pub fn whole_tape(&self) -> Option<Micros> {
        let whole = read_whole_tape(&self.problem, self.map.as_ref()?);
        Some(whole + self.unload())
    }
}

/// Places a batch.
pub fn place(batch: &Batch, args: &PlacementArgs) -> Result<Placed, CliError> {
    let profile = crate::profiles::load_drive(&args.profile)?;
    let (map, key_points) = read_cartridge_map(batch, args, &profile)?;
    let tape = Tape::new(&profile, key_points.as_ref())?;
    let map = match map {
        Some(map) => Some(map),
        None => nominal_map(batch, args, &profile)?,
    };
    let placer = Placer {
        batch,
        map: map.as_ref(),
        tape: &tape,
        profile: &profile,
    };
    let mut requests: Vec<Request> = Vec::new();
    let mut owners = Vec::new();
    for (owner, request) in batch.requests.iter().enumerate() {
        let placed = |extent| placer.placed(extent).map_err(|e| e.at(&request.id));
        let extents: Vec<PlacedExtent> = request
            .extents
            .iter()
            .map(placed)
            .collect::<Result<_, _>>()?;
        let together = args.extents == ExtentOrder::Together || extents.is_empty();
        let parts = if together {
            vec![extents]
        } else {
            extents.into_iter().map(|s| vec![s]).collect()
        };
        for (extent, extents) in parts.into_iter().enumerate() {
            requests.push(Request { extents });
            owners.push((owner, extent));
        }
    }
    let head = placer.position(args.head)?;
    let end = match args.end {
        EndPlace::Anywhere => End::Anywhere,
        EndPlace::Rewound | EndPlace::Unloaded => End::Rewound,
        EndPlace::At(place) => End::At(placer.position(place)?),
    };
    let unload = match args.end {
        EndPlace::Unloaded => Some(unload(&profile)?),
        _ => None,
    };
    let source = requests
        .iter()
        .flat_map(|request| &request.extents)
        .flat_map(|extent| [extent.start.source, extent.end.source])
        .max()
        .unwrap_or(PositionSource::Exact);
    let provenance = placer.provenance(source, args);
    let options = Options {
        head,
        end,
        read_through: !args.no_read_through,
    };
    let problem = Problem::new(tape, options, &requests);
    let alternatives = Alternatives::new(&problem, map.as_ref());
    Ok(Placed {
        problem,
        coalesce_blocks: args.coalesce.unwrap_or_else(|| two_sections(batch)),
        owners,
        map,
        alternatives,
        profile,
        source,
        provenance,
        unload,
    })
}

/// Time from a rewound tape until the cartridge can be taken.
fn unload(profile: &Profile) -> Result<Micros, CliError> {
    let seconds = profile.handling.unmount_s.as_ref().map(|known| known.value);
    seconds.map(Micros::from_secs_f64).ok_or_else(|| {
        CliError::input(format!(
            "--end unloaded: profile {} does not tell how long an unload takes",
            profile.name
        ))
        .hint("--end rewound")
    })
}

/// The paper's threshold in blocks of another size.
fn two_sections(batch: &Batch) -> u64 {
    const SEGMENT_BYTES: u64 = 32_768;
    let bytes = TWO_SECTIONS_SEGMENTS * SEGMENT_BYTES;
    batch
        .block_size
        .map_or(TWO_SECTIONS_SEGMENTS, |block_bytes| {
            bytes.div_ceil(block_bytes)
        })
}

/// The map the user gave, if any, with the key points it may hold.
fn read_cartridge_map(
    batch: &Batch,
    args: &PlacementArgs,
    profile: &Profile,
) -> Result<(Option<BlockMap>, Option<KeyPoints>), CliError> {
    let Some(path) = &args.map else {
        return Ok((None, None));
    };
    let name = path.display();
    let bytes = crate::batch::read_bytes(path)?;
    match read_map(&bytes[..]).map_err(|e| CliError::input(format!("{name}: {e}")))? {
        MapFile::KeyPoints(key_points) => {
            if profile.nominal_sections().is_none() {
                let drive = &profile.name;
                return Err(CliError::input(format!(
                    "{name}: key points, but {drive} is not modelled by them"
                )));
            }
            Ok((Some(key_points.block_map()), Some(key_points)))
        }
        MapFile::EndOfWrap(table) => {
            let geometry = profile.geometry()?;
            // Only a partition without a complete wrap needs the nominal length of one.
            let wrap_blocks = batch
                .block_size
                .and_then(|bytes| profile.wrap_blocks(bytes).ok());
            let map = BlockMap::from_end_of_wrap(&geometry, &table, wrap_blocks)
                .map_err(|e| CliError::input(format!("{name}: {e}")))?;
            Ok((Some(map), None))
        }
        MapFile::Probed(places) => {
            let map = probed_map(batch, args, profile, &places).map_err(|e| e.of(name));
            Ok((map?, None))
        }
    }
}

/// Nominal geometry corrected by what the drive reported for a few blocks; `None` as
/// [`nominal_map`].
fn probed_map(
    batch: &Batch,
    args: &PlacementArgs,
    profile: &Profile,
    places: &[ProbedPlace],
) -> Result<Option<BlockMap>, CliError> {
    let Some(believed) = nominal_map(batch, args, profile)? else {
        return Ok(None);
    };
    let geometry = profile.geometry()?;
    let mut learned = LearnedMap::new(believed, &geometry);
    for (row, place) in places.iter().enumerate() {
        if place.wrap >= geometry.wraps {
            return Err(CliError::input(format!(
                "place {} (wrap {}): the cartridge has wraps 0 to {} only",
                row + 1,
                place.wrap,
                geometry.wraps - 1
            )));
        }
        let at = Position {
            partition: place.partition,
            wrap: place.wrap,
            lpos: place.lpos,
            source: PositionSource::Recorded,
            error_lpos: 0,
        };
        learned.observe(place.block, false, &at);
    }
    Ok(Some(learned.block_map()))
}

/// The nominal map, or `None` where every extent has its recorded positions.
fn nominal_map(
    batch: &Batch,
    args: &PlacementArgs,
    profile: &Profile,
) -> Result<Option<BlockMap>, CliError> {
    let layout = match args.layout {
        Some(PartitionLayout::Single) => NominalLayout::Single,
        None if !batch.is_ltfs => NominalLayout::Single,
        Some(PartitionLayout::Ltfs) | None => profile.ltfs_layout().ok_or_else(|| {
            CliError::input(format!(
                "profile {}: its partitions are not known",
                profile.name
            ))
            .hint("give the drive's table of wrap ends with --map, or --layout single")
        })?,
    };
    let extents = || batch.requests.iter().flat_map(|request| &request.extents);
    if extents().all(|extent| extent.start.is_some() && extent.end.is_some()) {
        return Ok(None);
    }
    let Some(block_bytes) = batch.block_size else {
        return Err(CliError::input(
            "where the blocks lie cannot be told without the size of a block",
        )
        .hint("add --block-size BYTES, or --map with the drive's table of wrap ends and a column size_bytes"));
    };
    Ok(Some(profile.nominal_map(layout, block_bytes)?))
}

struct Placer<'a> {
    batch: &'a Batch,
    map: Option<&'a BlockMap>,
    tape: &'a Tape,
    profile: &'a Profile,
}

impl Placer<'_> {
    fn placed(&self, extent: &Extent) -> Result<PlacedExtent, CliError> {
        let partition = self.partition(extent.partition)?;
        let (first_block, last_block) = (extent.start_block, extent.end_block());
        let bytes = self.batch.bytes(extent).ok_or_else(|| {
            CliError::input("how much is read cannot be told without the size of a block")
                .hint("add --block-size BYTES or a column size_bytes")
        })?;
        let recorded = |place: Option<WrapLpos>| {
            place
                .map(|place| self.recorded(partition, place))
                .transpose()
        };
        let mapped = |after: bool| {
            let map = self
                .map
                .ok_or_else(|| CliError::input("has no recorded position and there is no map"))?;
            let found = match after {
                true => map.position_after(partition, last_block),
                false => map.position(partition, first_block),
            };
            let hint = match map.source() {
                PositionSource::Nominal => {
                    "is this the right --profile, --block-size, --layout? A table of wrap ends (--map) settles it"
                }
                _ => "is this the map of the right cartridge?",
            };
            found.map_err(|e| CliError::input(e).hint(hint))
        };
        Ok(PlacedExtent {
            first_block,
            last_block,
            bytes,
            start: recorded(extent.start)?.map_or_else(|| mapped(false), Ok)?,
            end: recorded(extent.end)?.map_or_else(|| mapped(true), Ok)?,
        })
    }

    /// The partition that is said, or the only one there is.
    fn partition(&self, said: Option<u8>) -> Result<u8, CliError> {
        let has_several = || {
            let spans = self.map?.spans();
            Some(spans.first()?.partition != spans.last()?.partition)
        };
        match said {
            Some(partition) => Ok(partition),
            None if has_several() != Some(true) => Ok(0),
            None => Err(CliError::input(
                "in which partition its blocks are is not said, and the tape has several",
            )
            .hint("add a column partition; for --head and --end give PARTITION:BLOCK")),
        }
    }

    fn recorded(&self, partition: u8, place: WrapLpos) -> Result<Position, CliError> {
        let geometry = &self.tape.geometry;
        if place.wrap >= geometry.wraps {
            let (name, last) = (&self.profile.name, geometry.wraps - 1);
            return Err(CliError::input(format!(
                "wrap {} is none of {name}'s wraps 0 to {last}",
                place.wrap
            )));
        }
        // Drives report positions a little outside the range in which data lies.
        let slack = geometry.wrap_lpos() / 20;
        if place.lpos > geometry.lpos_max.saturating_add(slack) {
            let most = geometry.lpos_max;
            return Err(CliError::input(format!(
                "LPOS {} is beyond the end of the tape, {most}",
                place.lpos
            )));
        }
        Ok(Position {
            partition,
            wrap: place.wrap,
            lpos: place.lpos,
            source: PositionSource::Recorded,
            error_lpos: 0,
        })
    }

    fn position(&self, place: Place) -> Result<Position, CliError> {
        match place {
            Place::BeginningOfTape => Ok(Position::beginning_of_tape(self.tape.geometry.lpos_min)),
            Place::Physical(place) => self.recorded(0, place),
            Place::Block { partition, block } => {
                let hint = "give wrap=W,lpos=L instead";
                let map = self.map.ok_or_else(|| {
                    CliError::input("a block of the head cannot be placed without a map").hint(hint)
                })?;
                map.position(self.partition(partition)?, block)
                    .map_err(CliError::input)
            }
        }
    }

    fn provenance(&self, source: PositionSource, args: &PlacementArgs) -> String {
        if self.batch.extents() == 0 {
            return "none needed: there is nothing to read".to_owned();
        }
        let Some(map) = self.map else {
            return "recorded when the segments were written".to_owned();
        };
        match source {
            PositionSource::Nominal if self.tape.geometry.layout == Layout::Helical => {
                format!(
                    "by block number: on {} logical order is the order on the tape",
                    self.profile.title
                )
            }
            PositionSource::Nominal => format!(
                "nominal geometry of {}, data in wraps {}: NOT measured on this cartridge, taken as +-{} %",
                self.profile.title,
                wraps_of_data(map),
                map.share_error() * 100.0
            ),
            PositionSource::EndOfWrapTable
            | PositionSource::Probed
            | PositionSource::KeyPoints
            | PositionSource::Timed => {
                let file = args
                    .map
                    .as_ref()
                    .map_or(String::new(), |path| path.display().to_string());
                format!(
                    "{source} of this cartridge ({file}), {} wraps",
                    map.spans().chunk_by(|a, b| a.wrap == b.wrap).count()
                )
            }
            PositionSource::Recorded | PositionSource::Exact => {
                "recorded when the segments were written".to_owned()
            }
        }
    }
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
