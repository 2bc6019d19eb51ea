//! Reads what is wanted of a tape in our order, and learns the tape while it reads.
//!
//! What to read next follows from where things are believed to lie; every read tells where they do,
//! and what still waits is then ordered anew from where the head is ([`tapewise_order::replan`]). A
//! place that cannot be read is left, tried once more when all else has been read, and said. The
//! drive stays on the caller's thread; what was read is taken by another one ([`crate::stream`]).
//!
//! | module | what it knows |
//! |---|---|
//! | `mapped_tape` | where blocks lie and where the head is, and where that knowledge comes from |
//! | `receiver` | who takes the bytes, and why some cannot be had |
//! | `unpack` | from blocks to the bytes of files |

mod mapped_tape;
mod receiver;
mod unpack;

pub use mapped_tape::{Known, MapSource, MappedTape, NoMap};
pub use receiver::{Change, Lost, Receiver};

use crate::record::Segment;
use crate::stream::{Ring, read_ahead};
use std::borrow::Cow;
use std::cell::Cell;
use tapewise_formats::event::{PlanBegun, Spot};
use tapewise_model::{LearnedMap, Micros, Position, PositionSource};
use tapewise_order::replan::{self, Again, Policy, Recall, Replanner};
use tapewise_order::{
    Algorithm, Alternatives, End, Inputs, Options, Order, Plan, Problem, Request, Solution, sort,
};
use tapewise_run::{Recorder, Report, RunError, Sink, carry_on, steps};
use unpack::{State, Unpack};

/// Bytes that may be on their way between drive and receiver: a tenth of a second of an LTO drive,
/// so that a disk may pause as long.
const RING_BYTES: usize = 16 << 20;

/// Reads of a batch that the map learns from: placing anew what waits takes as long as there is much
/// of it, and a thousand places tell more than enough of a tape.
const MOST_LEARNED: usize = 1_000;

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Wants that have ended, lost ones among them.
    pub done: usize,
    /// All wants.
    pub of: usize,
    /// Bytes wanted of those that have ended.
    pub bytes: u64,
    /// Drive time that the rest takes, as predicted now.
    pub left: Micros,
}

/// How a read came out that went to its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// What could not be had.
    pub lost: Vec<(usize, Lost)>,
    /// What was left on the tape: see [`Change::Leave`].
    pub left: Vec<usize>,
    /// Times the rest was ordered anew.
    pub replans: u32,
    /// Places that the drive told, and that corrected the map.
    pub learned: usize,
}

/// A batch that is to be read from a tape.
pub struct TapeRead<'a> {
    wants: Cow<'a, [Vec<Segment>]>,
    cartridge: &'a MappedTape,
    recall: Recall,
    head: Position,
    ring: Ring,
    outcome: Outcome,
    done: usize,
    bytes: u64,
}

/// A want lies in a partition that the map does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("block {block} of partition {partition}: the cartridge's map has no such partition")]
pub struct NoSuchPartition {
    /// The partition.
    pub partition: u8,
    /// The block.
    pub block: u64,
}

impl<'a> TapeRead<'a> {
    /// Everything that is wanted, each as runs of blocks in the order of their bytes; what has none
    /// is delivered without the tape. `learn` says whether the drive tells where its head is.
    ///
    /// # Errors
    /// [`NoSuchPartition`].
    pub fn new(
        cartridge: &'a MappedTape,
        head: Position,
        wants: &'a [Vec<Segment>],
        learn: bool,
    ) -> Result<TapeRead<'a>, NoSuchPartition> {
        let map = LearnedMap::new(cartridge.map.clone(), &cartridge.tape.geometry);
        let options = Options {
            head,
            end: End::Anywhere,
            read_through: true,
        };
        // Orders of others are carried out as they were made.
        let policy = if learn && cartridge.algorithm == Algorithm::Best {
            Policy::Learn
        } else {
            Policy::Fixed
        };
        let mut recall = Recall::new(cartridge.tape.clone(), options, map, policy);
        for (want, segments) in wants.iter().enumerate() {
            let request = request(segments, recall.map(), cartridge.byte_scale)?;
            let known = recall.arrive(want as u64, request);
            debug_assert!(known.is_ok(), "{known:?}");
        }
        let block_bytes = cartridge.block_bytes.max(1) as usize;
        Ok(TapeRead {
            wants: Cow::Borrowed(wants),
            cartridge,
            recall,
            head,
            ring: Ring::new(RING_BYTES / block_bytes, block_bytes),
            outcome: Outcome::default(),
            done: 0,
            bytes: 0,
        })
    }

    /// The same without a thread beside the drive's: see [`Ring::alone`].
    #[must_use]
    pub fn on_one_thread(self) -> TapeRead<'a> {
        TapeRead {
            ring: self.ring.alone(),
            ..self
        }
    }

    /// What would be done as things are believed now, with the wants of each visit in
    /// [`Problem::visits`].
    pub fn plan(&self) -> (Problem, Plan) {
        let mut planned = self.recall.clone();
        let (problem, ids) = planned.running().open();
        let solve = |problem: &Problem| solved(problem, self.cartridge).order;
        let first = planned.start(&Replanner::new(&solve));
        let order = order_begun(&planned, &problem, &ids, first.as_deref());
        let plan = Plan::new(&problem, order);
        (problem, plan)
    }

    /// Reads all of it. The cartridge cannot be taken out while it runs. `name` names a want for
    /// the event log.
    ///
    /// # Errors
    /// [`RunError`] where the run could not go on: what has been delivered stays.
    pub fn run(
        mut self,
        recorder: &mut Recorder<'_>,
        name: &dyn Fn(usize) -> String,
        receiver: &mut dyn Receiver,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Outcome, RunError> {
        self.deliver_empty(receiver)?;
        if self.done < self.wants.len() {
            recorder.drive().prevent_removal(true)?;
            recorder.expect_blocks(self.cartridge.block_bytes as usize);
            let result = self.read_all(recorder, name, receiver, progress);
            recorder.set_purpose(None, None);
            // What ended the run matters more than that the cartridge could not be released afterwards.
            let released = recorder.drive().prevent_removal(false);
            result.and(released.map_err(RunError::from))?;
        }
        self.outcome.replans = self.recall.replans();
        self.outcome.learned = self.recall.map().seen();
        Ok(self.outcome)
    }

    fn deliver_empty(&mut self, receiver: &mut dyn Receiver) -> Result<(), RunError> {
        for (want, segments) in self.wants.iter().enumerate() {
            if segments.is_empty() {
                receiver.begin(want).map_err(RunError::Sink)?;
                receiver.end(want).map_err(RunError::Sink)?;
                self.done += 1;
            }
        }
        Ok(())
    }

    fn read_all(
        &mut self,
        recorder: &mut Recorder<'_>,
        name: &dyn Fn(usize) -> String,
        receiver: &mut dyn Receiver,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), RunError> {
        // Pricing what is left takes as long as planning it: a hundred times in all is enough.
        let every = self.wants.len().div_ceil(100);
        let mut shown = None;
        let cartridge = self.cartridge;
        let solve = |problem: &Problem| solved(problem, cartridge).order;
        recorder.go_on()?;
        let mut next = self.begin(recorder);
        while let Some(ids) = next {
            let ids = self.still_wanted(ids, receiver)?;
            self.read_together(&ids, recorder, name, receiver)?;
            if shown.is_none_or(|shown| self.done >= shown + every) {
                shown = Some(self.done);
                progress(self.progress());
            }
            recorder.go_on()?;
            let is_left = self.take_change(receiver)?;
            if is_left {
                break;
            }
            next = self.recall.start(&Replanner::new(&solve));
        }
        Ok(())
    }

    /// Takes in what has changed since the last read; whether the rest is left on the tape.
    fn take_change(&mut self, receiver: &mut dyn Receiver) -> Result<bool, RunError> {
        let change = receiver.change(&|| self.left()).map_err(RunError::Sink)?;
        match change {
            Change::Nothing => {}
            Change::More(more) => more.into_iter().for_each(|segments| self.join(segments)),
            Change::Leave => {
                let left = self.left();
                self.outcome.left.extend(left);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What is still to be read.
    fn left(&self) -> Vec<usize> {
        use replan::State::{HeldBack, Waiting};
        let running = self.recall.running();
        let is_left =
            |&want: &usize| matches!(running.state(want as u64), Some(Waiting | HeldBack));
        (0..self.wants.len()).filter(is_left).collect()
    }

    /// One more is wanted. If the map does not have its partition, it is left: whoever asks for it next is told why.
    fn join(&mut self, segments: Vec<Segment>) {
        let want = self.wants.len();
        match request(&segments, self.recall.map(), self.cartridge.byte_scale) {
            Ok(request) => {
                let known = self.recall.arrive(want as u64, request);
                debug_assert!(known.is_ok(), "{known:?}");
            }
            Err(NoSuchPartition { .. }) => self.outcome.left.push(want),
        }
        self.wants.to_mut().push(segments);
    }

    /// Plans all of it, tells the log what the plan takes, and hands out what is read first.
    fn begin(&mut self, recorder: &mut Recorder<'_>) -> Option<Vec<u64>> {
        let cartridge = self.cartridge;
        let bound = Cell::new(None);
        let solve = |problem: &Problem| {
            let solution = solved(problem, cartridge);
            bound.set(solution.bound);
            solution.order
        };
        if cartridge.algorithm != Algorithm::Best {
            // A plan of ours is never longer than the one it began with; theirs stands as it is.
            self.recall.follow(solve);
        }
        let (problem, ids) = self.recall.running().open();
        let first = self.recall.start(&Replanner::new(&solve))?;
        let order = order_begun(&self.recall, &problem, &ids, Some(&first));
        recorder.begin_plan(PlanBegun {
            predicted_us: order.total_time(&problem),
            bound_us: bound.get(),
        });
        Some(first)
    }

    /// Those that are still wanted of what is read next. The tape does not move for the others.
    fn still_wanted(
        &mut self,
        ids: Vec<u64>,
        receiver: &mut dyn Receiver,
    ) -> Result<Vec<u64>, RunError> {
        let mut wanted = Vec::with_capacity(ids.len());
        for id in ids {
            if receiver.is_wanted(id as usize).map_err(RunError::Sink)? {
                wanted.push(id);
            } else {
                let known = self.recall.complete_unseen(id, self.head);
                debug_assert!(known.is_ok(), "{known:?}");
                self.ended(id);
            }
        }
        Ok(wanted)
    }

    fn progress(&self) -> Progress {
        let (problem, order) = self.recall.rest();
        Progress {
            done: self.done,
            of: self.wants.len(),
            bytes: self.bytes,
            left: order.total_time(&problem),
        }
    }

    /// Reads what is in flight together. If that fails, it reads the first one that is not whole alone, and then the
    /// rest together.
    fn read_together(
        &mut self,
        ids: &[u64],
        recorder: &mut Recorder<'_>,
        name: &dyn Fn(usize) -> String,
        receiver: &mut dyn Receiver,
    ) -> Result<(), RunError> {
        let mut together = ids.to_vec();
        while !together.is_empty() {
            let open = self.read_and_settle(&together, recorder, name, receiver)?;
            let Some((&first, behind)) = open.split_first() else {
                break;
            };
            self.read_and_settle(&[first], recorder, name, receiver)?;
            together = behind.to_vec();
        }
        Ok(())
    }

    /// Reads some wants, and settles what became of them. Of several, those are left that are not whole, in the order in
    /// which they lie on the tape.
    fn read_and_settle(
        &mut self,
        ids: &[u64],
        recorder: &mut Recorder<'_>,
        name: &dyn Fn(usize) -> String,
        receiver: &mut dyn Receiver,
    ) -> Result<Vec<u64>, RunError> {
        let (states, report) = self.read_visit(ids, recorder, name, receiver)?;
        let mut open = Vec::new();
        for (want, state) in states {
            let id = want as u64;
            match state {
                State::Ended => self.complete(id, ids.len() == 1, &report),
                State::Damaged(why) => self.give_up(id, Again::Never, why, receiver)?,
                State::Open if ids.len() > 1 => open.push(id),
                State::Open => {
                    let unread = report.unread.first();
                    let why = unread.map_or_else(String::new, |unread| unread.error.to_string());
                    self.give_up(id, Again::Later, Lost::Unreadable(why), receiver)?;
                }
            }
        }
        let running = self.recall.running();
        open.sort_by_key(|&id| {
            let extents = running.request(id).map(|request| &request.extents);
            extents.and_then(|extents| Some(extents.first()?.first_block))
        });
        Ok(open)
    }

    /// Goes to some wants that share their blocks and reads them.
    fn read_visit(
        &mut self,
        ids: &[u64],
        recorder: &mut Recorder<'_>,
        name: &dyn Fn(usize) -> String,
        receiver: &mut dyn Receiver,
    ) -> Result<(Vec<(usize, State)>, Report), RunError> {
        if let Some(head) = recorder.head().and_then(|spot| position(&spot)) {
            self.head = head;
        }
        let running = self.recall.running();
        let requests: Vec<Request> = ids
            .iter()
            .filter_map(|&id| running.request(id).cloned())
            .collect();
        let options = Options {
            head: self.head,
            end: End::Anywhere,
            read_through: true,
        };
        let problem = Problem::new(self.cartridge.tape.clone(), options, &requests);
        let plan = Plan::new(&problem, sort(&problem));
        let steps = steps(&plan, &problem);
        let named = |visit: u32| {
            let requests = problem.visits()[visit as usize].requests.iter();
            let names = requests.map(|&request| name(ids[request as usize] as usize));
            names.collect::<Vec<_>>().join(", ")
        };
        if let Some(last) = problem
            .visits()
            .last()
            .and_then(|visit| visit.extents.last())
        {
            self.head = last.end;
        }
        let together = ids.iter().map(|&id| id as usize);
        let mut unpack = Unpack::new(&self.wants, self.cartridge, receiver, together);
        let mut report = Report::default();
        let extents: Vec<_> = requests
            .iter()
            .flat_map(|request| &request.extents)
            .collect();
        let mut carry_on =
            |sink: &mut dyn Sink| carry_on(&steps, recorder, &named, sink, &mut report);
        // While one block is read there is nothing to do for anybody else, and hundreds of small files would start
        // a thread each.
        let (read, taken) = match extents[..] {
            [one] if one.first_block == one.last_block => (carry_on(&mut unpack), Ok(())),
            _ => read_ahead(&mut self.ring, &mut unpack, carry_on),
        };
        read?;
        taken.map_err(RunError::Sink)?;
        Ok((unpack.into_states(), report))
    }

    /// A want is whole; what was read alone tells where it lies.
    fn complete(&mut self, id: u64, alone: bool, report: &Report) {
        let ends = report.places.first().zip(report.places.last());
        let told = ends.and_then(|([start, _], [_, end])| Some((position(start)?, position(end)?)));
        let known = match told {
            Some((start, end)) if alone && self.teaches() => self.recall.complete(id, start, end),
            Some((_, end)) => self.recall.complete_unseen(id, end),
            None => self.recall.complete_unseen(id, self.head),
        };
        debug_assert!(known.is_ok(), "{known:?}");
        self.ended(id);
    }

    /// Whether the map is to learn from this read: from every one, or every so many of a large batch.
    fn teaches(&self) -> bool {
        self.done
            .is_multiple_of(self.wants.len().div_ceil(MOST_LEARNED))
    }

    fn give_up(
        &mut self,
        id: u64,
        again: Again,
        why: Lost,
        receiver: &mut dyn Receiver,
    ) -> Result<(), RunError> {
        let once_more = self.recall.fail(id, again, self.head);
        debug_assert!(once_more.is_ok(), "{once_more:?}");
        if once_more != Ok(true) {
            receiver.lost(id as usize, &why).map_err(RunError::Sink)?;
            self.outcome.lost.push((id as usize, why));
            self.ended(id);
        }
        Ok(())
    }

    fn ended(&mut self, id: u64) {
        self.done += 1;
        let segments = self.wants.get(id as usize).into_iter().flatten();
        let bytes = segments.map(|segment| segment.bytes);
        self.bytes = bytes.fold(self.bytes, u64::saturating_add);
    }
}

/// The order of what is left, by the map believed.
fn solved(problem: &Problem, cartridge: &MappedTape) -> Solution {
    let alternatives = Alternatives::new(problem, Some(&cartridge.map));
    let found = cartridge
        .algorithm
        .solve(problem, &Inputs::new(&alternatives));
    found.unwrap_or_else(|| sort(problem).into())
}

/// The order of what was open when a recall began, of which the `first` wants are being read.
fn order_begun(recall: &Recall, problem: &Problem, ids: &[u64], first: Option<&[u64]>) -> Order {
    let mut visit_of = vec![0; ids.len()];
    for (visit, what) in problem.visits().iter().enumerate() {
        for &request in &what.requests {
            visit_of[request as usize] = visit as u32;
        }
    }
    let together = recall.running().planned().filter_map(|ids| ids.first());
    let order = first.into_iter().filter_map(<[u64]>::first).chain(together);
    let visits = order.filter_map(|id| Some(visit_of[ids.binary_search(id).ok()?]));
    // Every want is planned once, so the fallback is never taken.
    Order::new(visits.collect()).unwrap_or_else(|_| sort(problem))
}

/// The runs of blocks at their believed places.
fn request(
    segments: &[Segment],
    map: &LearnedMap,
    byte_scale: u64,
) -> Result<Request, NoSuchPartition> {
    let place = |segment: &Segment, block, after| {
        let partition = segment.partition;
        let found = map.position(partition, block, after);
        found.ok_or(NoSuchPartition { partition, block })
    };
    let extents = segments.iter().map(|segment| {
        Ok(tapewise_order::PlacedExtent {
            first_block: segment.first_block,
            last_block: segment.last_block,
            bytes: segment.bytes.saturating_mul(byte_scale),
            start: place(segment, segment.first_block, false)?,
            end: place(segment, segment.last_block, true)?,
        })
    });
    Ok(Request {
        extents: extents.collect::<Result<_, _>>()?,
    })
}

/// Where the head is, if the drive told it.
pub fn position(spot: &Spot) -> Option<Position> {
    Some(Position {
        partition: spot.partition,
        wrap: spot.wrap?,
        lpos: spot.lpos?,
        source: PositionSource::Recorded,
        error_lpos: 0,
    })
}
