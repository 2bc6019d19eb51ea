//! A batch of requests made ready for ordering: what is visited, and what each move costs.

use crate::request::{PlacedExtent, Request};
use crate::stream::{Gate, StreamClock};
use crate::tape::Tape;
use crate::visit::{Visit, visits};
use std::sync::Arc;
use tapewise_model::{Micros, Point, Position};

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
    tape: Arc<Tape>,
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
    /// Makes a batch ready. Requests without extents (empty files) take no part.
    ///
    /// Requests of one extent that share blocks, duplicates among them, become one visit; so do
    /// requests of several extents that are exactly alike.
    pub fn new(tape: impl Into<Arc<Tape>>, options: Options, requests: &[Request]) -> Problem {
        let visits = visits(requests);
        Problem::of_visits(tape.into(), options, visits, requests.len())
    }

    pub(crate) fn of_visits(
        tape: Arc<Tape>,
        options: Options,
        visits: Vec<Visit>,
        requests: usize,
    ) -> Problem {
        let clock = StreamClock::new(&tape);
        let model = &tape.model;
        let first = |visit: &Visit| visit.extents[0];
        let last = |visit: &Visit| visit.extents[visit.extents.len() - 1];
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
                .extents
                .iter()
                .map(|extent| self.read_time(extent))
                .sum();
            let moves = 1..visit.extents.len();
            let inner_locate = moves.map(|extent| self.inner_motion(index, extent).0).sum();
            let visit = &mut self.visits[index];
            (visit.read, visit.inner_locate) = (read, inner_locate);
        }
    }

    /// Time to read an extent: its bytes, and the turns at the ends of wraps. A size that no tape
    /// holds counts as [`Micros::FAR`], so that sums stay sums.
    pub fn read_time(&self, extent: &PlacedExtent) -> Micros {
        let transfer = &self.tape.transfer;
        let turns = i64::from(extent.end.wrap.abs_diff(extent.start.wrap));
        transfer.time(extent.bytes).min(Micros::FAR) + Micros(transfer.turnaround.0 * turns)
    }

    /// How the head gets to a visit's extent (1 or higher) from the one before, in what time.
    pub fn inner_motion(&self, visit: usize, extent: usize) -> (Micros, Motion) {
        let extents = &self.visits[visit].extents;
        let (from, to) = (&extents[extent - 1], &extents[extent]);
        let clock = StreamClock::new(&self.tape);
        let (exit, entry) = (clock.exit(from), clock.entry(to));
        let model = &self.tape.model;
        let locate = model.time(&model.point(&from.end), &model.point(&to.start));
        self.cheaper(locate, &exit, &entry)
    }

    /// The same batch with every extent placed anew: `place(partition, block, after)` gives the
    /// place where a block begins, or where the head stands after it.
    pub fn replaced(&self, place: impl Fn(&Position, u64, bool) -> Position) -> Problem {
        let mut visits = self.visits.clone();
        for extent in visits.iter_mut().flat_map(|visit| &mut visit.extents) {
            extent.start = place(&extent.start, extent.first_block, false);
            extent.end = place(&extent.end, extent.last_block, true);
        }
        Problem::of_visits(self.shared_tape(), self.options, visits, self.requests)
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
                    extents: links().flat_map(|visit| &visit.extents).copied().collect(),
                    read: Micros::ZERO,
                    inner_locate: Micros::ZERO,
                }
            })
            .collect();
        Problem::of_visits(self.shared_tape(), self.options, visits, self.requests)
    }

    /// Number of visits.
    pub fn len(&self) -> usize {
        self.visits.len()
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.visits.is_empty()
    }

    /// Number of requests, those without extents included.
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

    /// The drive and cartridge, to share with other problems.
    pub fn shared_tape(&self) -> Arc<Tape> {
        Arc::clone(&self.tape)
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
