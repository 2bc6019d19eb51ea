//! A batch of requests made ready for ordering: what is visited, and what each move costs.

use crate::request::{Request, Segment};
use crate::stream::{Gate, StreamClock};
use crate::visit::{Visit, visits};
use tapewise_model::profile::ProfileError;
use tapewise_model::{
    Geometry, KeyPoints, LocateModel, Micros, Point, Position, Profile, Transfer,
};

/// The drive and cartridge that a batch is read on.
#[derive(Clone, Debug)]
pub struct Tape {
    /// Shape of the cartridge.
    pub geometry: Geometry,
    /// Time from place to place.
    pub model: LocateModel,
    /// Streaming.
    pub transfer: Transfer,
    /// Bytes on a wrap that is full.
    pub wrap_bytes: f64,
}

impl Tape {
    /// The tape that passes the head from one place to another, in LPOS units: streaming, it runs
    /// to the end of each wrap and on.
    pub fn distance_lpos(&self, from: &Position, to: &Position, streaming: bool) -> u64 {
        match streaming {
            true => (self.geometry).streamed_lpos((from.wrap, from.lpos), (to.wrap, to.lpos)),
            false => u64::from(from.lpos.abs_diff(to.lpos)),
        }
    }

    /// The drive of a profile with a cartridge of these key points, or the nominal one.
    ///
    /// # Errors
    /// [`ProfileError::Unknown`] where the profile knows too little.
    pub fn new(profile: &Profile, key_points: Option<&KeyPoints>) -> Result<Tape, ProfileError> {
        let nominal = profile.geometry()?;
        Ok(Tape {
            geometry: key_points.map_or(nominal.clone(), |points| points.geometry(&nominal)),
            model: profile.locate_model(key_points)?,
            transfer: profile.transfer()?,
            wrap_bytes: profile.wrap_blocks(1)?,
        })
    }

    /// The section of a point: the cartridge's own where its key points are known, else equal parts.
    pub fn section(&self, point: &Point) -> u16 {
        self.model
            .section(point)
            .unwrap_or_else(|| self.geometry.section(point.lpos as u32))
    }
}

/// Where the head is left after the last read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// Wherever the last read ends.
    Anywhere,
    /// At the beginning of tape: the rewind is part of the total.
    Rewound,
    /// At a given place.
    At(Position),
}

/// What else an ordering depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Where the head is now.
    pub head: Position,
    /// Where it is to be left.
    pub end: End,
    /// Whether a gap may be streamed over instead of located past, where that is faster.
    pub read_through: bool,
}

/// How the head gets from one place to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// The next block follows the last one: nothing to do.
    Contiguous,
    /// Streaming over the gap is no slower than a locate.
    ReadThrough,
    /// A locate command.
    Locate,
}

/// A batch of requests on one tape, ready for ordering.
///
/// Visits are numbered in logical order (partition, then first block), so that sorting is counting
/// and every tie is broken the same way: the lower number first.
#[derive(Clone, Debug)]
pub struct Problem {
    tape: Tape,
    options: Options,
    visits: Vec<Visit>,
    requests: usize,
    starts: Vec<Point>,
    ends: Vec<Point>,
    entries: Vec<Gate>,
    exits: Vec<Gate>,
    head: Point,
    head_gate: Gate,
    end_costs: Vec<Micros>,
    /// Added to every move to a visit: zero, but in what-if problems.
    arrival_costs: Vec<Micros>,
}

impl Problem {
    /// Makes a batch ready. Requests without segments (empty files) take no part.
    ///
    /// Requests of one segment that share blocks, duplicates among them, become one visit; so do
    /// requests of several segments that are exactly alike.
    pub fn new(tape: Tape, options: Options, requests: &[Request]) -> Problem {
        let visits = visits(requests);
        Problem::of_visits(tape, options, visits, requests.len())
    }

    pub(crate) fn of_visits(
        tape: Tape,
        options: Options,
        visits: Vec<Visit>,
        requests: usize,
    ) -> Problem {
        let clock = StreamClock::new(&tape);
        let model = &tape.model;
        let first = |visit: &Visit| visit.segments[0];
        let last = |visit: &Visit| visit.segments[visit.segments.len() - 1];
        let starts = visits
            .iter()
            .map(|visit| model.point(&first(visit).start))
            .collect();
        let ends: Vec<Point> = visits
            .iter()
            .map(|visit| model.point(&last(visit).end))
            .collect();
        let entries = visits.iter().map(|v| clock.entry(&first(v))).collect();
        let exits = visits.iter().map(|v| clock.exit(&last(v))).collect();
        let head = model.point(&options.head);
        let head_gate = clock.head(&options.head);
        let end_costs = ends
            .iter()
            .map(|point| match options.end {
                End::Anywhere => Micros::ZERO,
                End::Rewound => model.rewind(point),
                End::At(position) => model.time(point, &model.point(&position)),
            })
            .collect();
        let mut problem = Problem {
            starts,
            ends,
            entries,
            exits,
            head,
            head_gate,
            end_costs,
            arrival_costs: vec![Micros::ZERO; visits.len()],
            visits,
            requests,
            options,
            tape,
        };
        problem.time_visits();
        problem
    }

    fn time_visits(&mut self) {
        for index in 0..self.visits.len() {
            let visit = &self.visits[index];
            let read = visit
                .segments
                .iter()
                .map(|segment| self.read_time(segment))
                .sum();
            let moves = 1..visit.segments.len();
            let inner_locate = moves
                .map(|segment| self.inner_motion(index, segment).0)
                .sum();
            let visit = &mut self.visits[index];
            (visit.read, visit.inner_locate) = (read, inner_locate);
        }
    }

    /// Time to read a segment: its bytes, and the turns at the ends of wraps. A size that no tape
    /// holds counts as [`Micros::FAR`], so that sums stay sums.
    pub fn read_time(&self, segment: &Segment) -> Micros {
        let transfer = &self.tape.transfer;
        let turns = i64::from(segment.end.wrap.abs_diff(segment.start.wrap));
        transfer.time(segment.bytes).min(Micros::FAR) + Micros(transfer.turnaround.0 * turns)
    }

    /// How the head gets to a visit's segment (1 or higher) from the one before, in what time.
    pub fn inner_motion(&self, visit: usize, segment: usize) -> (Micros, Motion) {
        let segments = &self.visits[visit].segments;
        let (from, to) = (&segments[segment - 1], &segments[segment]);
        let clock = StreamClock::new(&self.tape);
        let (exit, entry) = (clock.exit(from), clock.entry(to));
        let model = &self.tape.model;
        let locate = model.time(&model.point(&from.end), &model.point(&to.start));
        self.cheaper(locate, &exit, &entry)
    }

    /// The same batch with every segment placed anew: `place(partition, block, after)` gives the
    /// place where a block begins, or where the head stands after it.
    pub fn replaced(&self, place: impl Fn(&Position, u64, bool) -> Position) -> Problem {
        let mut visits = self.visits.clone();
        for segment in visits.iter_mut().flat_map(|visit| &mut visit.segments) {
            segment.start = place(&segment.start, segment.first_block, false);
            segment.end = place(&segment.end, segment.last_block, true);
        }
        Problem::of_visits(self.tape.clone(), self.options, visits, self.requests)
    }

    /// The same batch with something added to every move to each visit: what a model that errs by
    /// destination would say (Hillyer & Silberschatz 1996, section 7). Contracting forgets it.
    pub fn with_arrival_costs(&self, cost: impl Fn(&Visit) -> Micros) -> Problem {
        let arrival_costs = self.visits.iter().map(cost).collect();
        Problem {
            arrival_costs,
            ..self.clone()
        }
    }

    /// The same batch with each chain of visits made one visit, read in the chain's order.
    ///
    /// `chains` must hold every visit once and be sorted by their first visits, so that the new
    /// visits stand in logical order too.
    pub fn contracted(&self, chains: &[Vec<u32>]) -> Problem {
        debug_assert!(chains.is_sorted_by_key(|chain| chain[0]));
        let visits = chains
            .iter()
            .map(|chain| {
                let links = || chain.iter().map(|&link| &self.visits[link as usize]);
                Visit {
                    requests: links().flat_map(|visit| &visit.requests).copied().collect(),
                    segments: links().flat_map(|visit| &visit.segments).copied().collect(),
                    read: Micros::ZERO,
                    inner_locate: Micros::ZERO,
                }
            })
            .collect();
        Problem::of_visits(self.tape.clone(), self.options, visits, self.requests)
    }

    /// Number of visits.
    pub fn len(&self) -> usize {
        self.visits.len()
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.visits.is_empty()
    }

    /// Number of requests, those without segments included.
    pub fn requests(&self) -> usize {
        self.requests
    }

    /// The visits, in logical order.
    pub fn visits(&self) -> &[Visit] {
        &self.visits
    }

    /// The drive and cartridge.
    pub fn tape(&self) -> &Tape {
        &self.tape
    }

    /// What else the ordering depends on.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Where the head comes in to each visit.
    pub fn starts(&self) -> &[Point] {
        &self.starts
    }

    /// Where the head goes out of each visit.
    pub fn ends(&self) -> &[Point] {
        &self.ends
    }

    /// Where the head is before the first visit.
    pub fn head(&self) -> &Point {
        &self.head
    }

    /// Time from the end of visit `from` to the start of visit `to`.
    #[inline(always)]
    pub fn arc(&self, from: usize, to: usize) -> Micros {
        let locate = self.tape.model.time(&self.ends[from], &self.starts[to]);
        self.cheaper(locate, &self.exits[from], &self.entries[to]).0 + self.arrival_costs[to]
    }

    /// Time from the head to the start of visit `to`.
    #[inline(always)]
    pub fn first_arc(&self, to: usize) -> Micros {
        let locate = self.tape.model.time(&self.head, &self.starts[to]);
        self.cheaper(locate, &self.head_gate, &self.entries[to]).0 + self.arrival_costs[to]
    }

    /// Time from `from` (the head when `None`) to each of the visits, in their order.
    pub fn arcs(&self, from: Option<usize>, times: &mut [Micros]) {
        let point = from.map_or(&self.head, |from| &self.ends[from]);
        self.tape.model.times(point, &self.starts, times);
        let exit = from.map_or(&self.head_gate, |from| &self.exits[from]);
        // Only visits that follow logically can be streamed to.
        let following = self
            .entries
            .partition_point(|entry| (entry.partition, entry.block) < (exit.partition, exit.block));
        for (time, entry) in times.iter_mut().zip(&self.entries).skip(following) {
            if !self.options.read_through && entry.block != exit.block {
                break;
            }
            *time = self.cheaper(*time, exit, entry).0;
        }
        for (time, cost) in times.iter_mut().zip(&self.arrival_costs) {
            *time += *cost;
        }
    }

    /// Time from the end of the last visit to where the head is to be left.
    pub fn end_cost(&self, last: usize) -> Micros {
        self.end_costs[last]
    }

    /// How the head gets from one visit (or from where it is) to the next, and in what time.
    pub fn motion(&self, from: Option<usize>, to: usize) -> (Micros, Motion) {
        let point = from.map_or(&self.head, |from| &self.ends[from]);
        let exit = from.map_or(&self.head_gate, |from| &self.exits[from]);
        let locate = self.tape.model.time(point, &self.starts[to]);
        let (time, motion) = self.cheaper(locate, exit, &self.entries[to]);
        (time + self.arrival_costs[to], motion)
    }

    #[inline(always)]
    fn cheaper(&self, locate: Micros, exit: &Gate, entry: &Gate) -> (Micros, Motion) {
        if exit.partition != entry.partition || entry.block < exit.block {
            return (locate, Motion::Locate);
        }
        if entry.block == exit.block {
            let turn = exit.turn(entry, self.tape.transfer.turnaround);
            return (turn.min(locate), Motion::Contiguous);
        }
        let stream = exit.stream(entry);
        if self.options.read_through && stream <= locate {
            (stream, Motion::ReadThrough)
        } else {
            (locate, Motion::Locate)
        }
    }

    /// Where each visit is come in to, by block and clock.
    pub(crate) fn entries(&self) -> &[Gate] {
        &self.entries
    }

    /// Where each visit is gone out of, by block and clock.
    pub(crate) fn exits(&self) -> &[Gate] {
        &self.exits
    }

    /// What is added to every move to a visit.
    pub(crate) fn arrival_cost(&self, visit: usize) -> Micros {
        self.arrival_costs[visit]
    }

    /// Whether a gap may be streamed over instead of located past.
    pub(crate) fn reads_through(&self) -> bool {
        self.options.read_through
    }

    /// The first visit that follows logically where `from` ends: the only one, with those behind
    /// it, that can be streamed to.
    pub(crate) fn following(&self, from: usize) -> usize {
        let exit = &self.exits[from];
        self.entries
            .partition_point(|entry| (entry.partition, entry.block) < (exit.partition, exit.block))
    }

    /// Time to read everything and to locate within visits, which no order changes.
    pub fn fixed_time(&self) -> (Micros, Micros) {
        let read = self.visits.iter().map(|visit| visit.read).sum();
        let inner = self.visits.iter().map(|visit| visit.inner_locate).sum();
        (read, inner)
    }
}
