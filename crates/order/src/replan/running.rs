//! A batch being read: which requests wait, which are being read, and how the others ended.
//!
//! Every request that arrived is in exactly one of three places: waiting, in flight, or ended, and
//! ends once. An event that does not fit, such as cancelling what is being read, is refused and
//! changes nothing.

use crate::order::Order;
use crate::problem::{Options, Problem};
use crate::replan::insert::{Replanned, Replanner};
use crate::request::Request;
use crate::tape::Tape;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use tapewise_model::Position;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was read.
    Done,
    /// It was cancelled before it was begun.
    Cancelled,
    /// It could not be read.
    Failed,
}

/// Where a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not begun.
    Waiting,
    /// Tried once without success; tried again when nothing else waits.
    HeldBack,
    /// Being read, or handed to the drive to be read next.
    InFlight,
    /// Over.
    Ended(Outcome),
}

/// What happens with a request that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// It has failed.
    Never,
    /// It is tried once more, after all others; failing again, it has failed.
    Later,
}

/// Why an event was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// No such request has arrived.
    #[error("there is no request {id}")]
    Unknown {
        /// Its number.
        id: u64,
    },
    /// A request of that number has arrived before.
    #[error("request {id} has arrived before and is {state:?}")]
    Repeated {
        /// Its number.
        id: u64,
        /// Where the earlier one stands.
        state: State,
    },
    /// The request is not where the event needs it.
    #[error("request {id} is {state:?}")]
    Unfit {
        /// Its number.
        id: u64,
        /// Where it stands.
        state: State,
    },
}

#[derive(Clone, Debug)]
struct Waiting {
    request: Request,
    held_back: bool,
}

/// A batch being read.
///
/// Requests are known by numbers that the caller chooses. Requests that share blocks are read
/// together and come out of [`Running::start`] together.
#[derive(Clone, Debug)]
pub struct Running {
    tape: Arc<Tape>,
    options: Options,
    waiting: BTreeMap<u64, Waiting>,
    /// What is read together, in the order planned: waiting requests only.
    order: VecDeque<Vec<u64>>,
    in_flight: BTreeMap<u64, Waiting>,
    /// Where the head stands when all that is in flight has been read.
    next_head: Position,
    ended: BTreeMap<u64, Outcome>,
}

impl Running {
    /// An empty batch; `options.head` is where the head is.
    pub fn new(tape: impl Into<Arc<Tape>>, options: Options) -> Running {
        Running {
            tape: tape.into(),
            options,
            waiting: BTreeMap::new(),
            order: VecDeque::new(),
            in_flight: BTreeMap::new(),
            next_head: options.head,
            ended: BTreeMap::new(),
        }
    }

    /// A request arrives. It is read in its turn after the next [`Running::replan`], and behind all
    /// that is planned until then. One without extents is done at once.
    ///
    /// # Errors
    /// [`EventError::Repeated`] where the number was used before.
    pub fn arrive(&mut self, id: u64, request: Request) -> Result<(), EventError> {
        if let Some(state) = self.state(id) {
            return Err(EventError::Repeated { id, state });
        }
        if request.extents.is_empty() {
            self.ended.insert(id, Outcome::Done);
            return Ok(());
        }
        let held_back = false;
        self.waiting.insert(id, Waiting { request, held_back });
        Ok(())
    }

    /// Takes a waiting request out.
    ///
    /// # Errors
    /// [`EventError`] where it is in flight, which is kept, or over, or never arrived.
    pub fn cancel(&mut self, id: u64) -> Result<(), EventError> {
        if self.waiting.remove(&id).is_none() {
            return Err(self.unfit(id));
        }
        self.unplan(id);
        self.ended.insert(id, Outcome::Cancelled);
        Ok(())
    }

    /// Hands out what is read next, one request or several that share blocks, and counts it as in
    /// flight; `None` when nothing waits.
    ///
    /// May be called while something is in flight, to hand the drive its next command early.
    pub fn start(&mut self) -> Option<Vec<u64>> {
        let planned = self.order.pop_front();
        let ids = planned.or_else(|| {
            // Arrived since the last plan; and last, what failed once.
            let mut waiting = self.waiting.iter();
            let fresh = waiting.find(|(_, waiting)| !waiting.held_back);
            fresh
                .or(self.waiting.first_key_value())
                .map(|(&id, _)| vec![id])
        })?;
        for &id in &ids {
            if let Some(begun) = self.waiting.remove(&id) {
                self.in_flight.insert(id, begun);
            }
        }
        let ends = ids
            .iter()
            .filter_map(|id| self.in_flight[id].request.extents.last());
        if let Some(last) = ends.max_by_key(|extent| extent.last_block) {
            self.next_head = last.end;
        }
        Some(ids)
    }

    /// A request in flight has been read; `head` is where the drive says it stands.
    ///
    /// # Errors
    /// [`EventError`] where it is not in flight.
    pub fn complete(&mut self, id: u64, head: Position) -> Result<(), EventError> {
        self.land(id, head)?;
        self.ended.insert(id, Outcome::Done);
        Ok(())
    }

    /// A request in flight could not be read; `head` is where the drive says it stands. Says
    /// whether it will be tried again.
    ///
    /// # Errors
    /// [`EventError`] where it is not in flight.
    pub fn fail(&mut self, id: u64, again: Again, head: Position) -> Result<bool, EventError> {
        let landed = self.land(id, head)?;
        if again == Again::Never || landed.held_back {
            self.ended.insert(id, Outcome::Failed);
            return Ok(false);
        }
        let request = landed.request;
        let held_back = true;
        self.waiting.insert(id, Waiting { request, held_back });
        Ok(true)
    }

    /// Orders anew what waits, from where the head will be when all in flight has been read.
    ///
    /// Never longer than the old order with what has arrived inserted. What failed once is left out
    /// until nothing else waits.
    pub fn replan(&mut self, replanner: &Replanner) -> Replanned {
        let (problem, ids) = self.open();
        let planned = self.planned_visits(&problem, &ids);
        let replanned = replanner.replan(&problem, planned);
        self.take(&replanned.order, &problem, &ids);
        replanned
    }

    /// Takes another order for the problem that [`Running::open`] gives.
    pub fn follow(&mut self, order: &Order) {
        let (problem, ids) = self.open();
        self.take(order, &problem, &ids);
    }

    /// Places all that waits anew: `place(old, block, after)` gives the place where a block begins,
    /// or where the head stands after it. Says how far the beginnings moved in the mean, in wraps.
    pub fn place_anew(&mut self, place: impl Fn(&Position, u64, bool) -> Position) -> f64 {
        let wrap_lpos = f64::from(self.tape.geometry.wrap_lpos().max(1));
        let (mut moved_wraps, mut extents) = (0.0, 0.0);
        let waiting = self.waiting.values_mut();
        for extent in waiting.flat_map(|waiting| &mut waiting.request.extents) {
            let before = extent.start;
            extent.start = place(&before, extent.first_block, false);
            extent.end = place(&extent.end, extent.last_block, true);
            let along = f64::from(extent.start.lpos.abs_diff(before.lpos)) / wrap_lpos;
            moved_wraps += along.max(f64::from(extent.start.wrap.abs_diff(before.wrap)));
            extents += 1.0;
        }
        if extents == 0.0 {
            0.0
        } else {
            moved_wraps / extents
        }
    }

    /// The head was moved with nothing in flight.
    pub fn head_is(&mut self, head: Position) {
        self.next_head = head;
    }

    /// What waits as an ordering problem, from where the head will be, and the numbers of its
    /// requests. What failed once takes part when nothing else waits.
    pub fn open(&self) -> (Problem, Vec<u64>) {
        let fresh = self.waiting.values().any(|waiting| !waiting.held_back);
        let open = self.waiting.iter();
        let open = open.filter(|(_, waiting)| !fresh || !waiting.held_back);
        let (ids, requests): (Vec<u64>, Vec<Request>) = open
            .map(|(&id, waiting)| (id, waiting.request.clone()))
            .unzip();
        let options = Options {
            head: self.next_head,
            ..self.options
        };
        (
            Problem::new(Arc::clone(&self.tape), options, &requests),
            ids,
        )
    }

    /// Where a request stands; `None` if it never arrived.
    pub fn state(&self, id: u64) -> Option<State> {
        if self.in_flight.contains_key(&id) {
            return Some(State::InFlight);
        }
        match self.waiting.get(&id) {
            Some(waiting) if waiting.held_back => Some(State::HeldBack),
            Some(_) => Some(State::Waiting),
            None => self.ended.get(&id).map(|&outcome| State::Ended(outcome)),
        }
    }

    /// Number of requests that wait, those held back among them.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The requests in flight.
    pub fn in_flight(&self) -> impl Iterator<Item = u64> + '_ {
        self.in_flight.keys().copied()
    }

    /// How the requests ended that are over.
    pub fn ended(&self) -> impl Iterator<Item = (u64, Outcome)> + '_ {
        self.ended.iter().map(|(&id, &outcome)| (id, outcome))
    }

    /// What is planned to be read next, with what is read together.
    pub fn planned(&self) -> impl Iterator<Item = &[u64]> {
        self.order.iter().map(Vec::as_slice)
    }

    /// A waiting or running request.
    pub fn request(&self, id: u64) -> Option<&Request> {
        let known = self.waiting.get(&id).or_else(|| self.in_flight.get(&id));
        known.map(|known| &known.request)
    }

    /// The drive and cartridge.
    pub fn tape(&self) -> &Tape {
        &self.tape
    }

    /// The planned order of what [`Running::open`] gives; what no plan holds yet comes last.
    pub fn order_of(&self, problem: &Problem, ids: &[u64]) -> Order {
        let mut sequence = self.planned_visits(problem, ids);
        let mut missing = vec![true; problem.len()];
        for &visit in &sequence {
            missing[visit as usize] = false;
        }
        sequence.extend((0..problem.len() as u32).filter(|&visit| missing[visit as usize]));
        Order::of(sequence)
    }

    /// The visits of a problem in the order planned, without those that no plan holds yet.
    fn planned_visits(&self, problem: &Problem, ids: &[u64]) -> Vec<u32> {
        let mut visit_of = vec![0u32; ids.len()];
        for (visit, what) in problem.visits().iter().enumerate() {
            for &request in &what.requests {
                visit_of[request as usize] = visit as u32;
            }
        }
        let mut taken = vec![false; problem.len()];
        let planned = self.order.iter().flatten();
        planned
            .filter_map(|id| Some(visit_of[ids.binary_search(id).ok()?]))
            .filter(|&visit| !std::mem::replace(&mut taken[visit as usize], true))
            .collect()
    }

    fn take(&mut self, order: &Order, problem: &Problem, ids: &[u64]) {
        let together = |&visit: &u32| {
            let requests = &problem.visits()[visit as usize].requests;
            requests.iter().map(|&index| ids[index as usize]).collect()
        };
        self.order = order.visits().iter().map(together).collect();
    }

    /// Takes a request out of the flight.
    fn land(&mut self, id: u64, head: Position) -> Result<Waiting, EventError> {
        let landed = self.in_flight.remove(&id).ok_or_else(|| self.unfit(id))?;
        if self.in_flight.is_empty() {
            self.next_head = head;
        }
        Ok(landed)
    }

    fn unplan(&mut self, id: u64) {
        for together in &mut self.order {
            together.retain(|&other| other != id);
        }
        self.order.retain(|together| !together.is_empty());
    }

    fn unfit(&self, id: u64) -> EventError {
        match self.state(id) {
            Some(state) => EventError::Unfit { id, state },
            None => EventError::Unknown { id },
        }
    }
}
