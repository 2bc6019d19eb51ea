//! A recall that learns the tape while it reads, and plans on.
//!
//! Every read tells where on the tape its file began and ended. The learned map takes that in, what
//! still waits is placed anew, and when places moved by more than a little the rest is ordered
//! anew. A map that is wrong throughout by a share is put right by the first reads; one that is
//! wrong by chance from wrap to wrap gets better with every read between wraps still to be read.

use crate::order::Order;
use crate::orders::sort::sort;
use crate::problem::{Options, Problem};
use crate::replan::expected::{Expected, MOST_VISITS, mean_doubt_wraps};
use crate::replan::insert::Replanner;
use crate::replan::running::{Again, EventError, Running};
use crate::request::Request;
use crate::tape::Tape;
use std::collections::VecDeque;
use std::sync::Arc;
use tapewise_model::{LearnedMap, Position, PositionSource};

/// Whether what reads tell is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The map is used as it is after probing; the plan changes with the requests only.
    Fixed,
    /// Every read corrects the map.
    Learn,
}

/// Mean way in wraps that waiting requests must have moved for a new plan: on LTO-8 about 0.1 s.
const MOVED_A_LITTLE_WRAPS: f64 = 0.001;

/// Mean way in wraps from which on the whole is ordered anew.
const MOVED_MUCH_WRAPS: f64 = 0.02;

/// Mean standard deviation of places, in wraps, from which on expected times count: on LTO-8 0.4 s.
const MUCH_DOUBT_WRAPS: f64 = 0.004;

/// A batch being read from a tape that is not known exactly.
#[derive(Clone, Debug)]
pub struct Recall {
    running: Running,
    map: LearnedMap,
    policy: Policy,
    probes: VecDeque<(u8, u64)>,
    /// Whether the drive has told a place since those that wait were placed.
    has_seen: bool,
    /// Mean way that waiting requests have moved since the last plan, in wraps.
    moved_wraps: f64,
    requests_changed: bool,
    replans: u32,
}

impl Recall {
    /// A recall with a believed map.
    pub fn new(
        tape: impl Into<Arc<Tape>>,
        options: Options,
        map: LearnedMap,
        policy: Policy,
    ) -> Recall {
        Recall {
            running: Running::new(tape, options),
            map,
            policy,
            probes: VecDeque::new(),
            has_seen: false,
            moved_wraps: f64::INFINITY,
            requests_changed: true,
            replans: 0,
        }
    }

    /// The same, with some blocks, (partition, block), located before anything is read.
    pub fn probing(mut self, blocks: impl IntoIterator<Item = (u8, u64)>) -> Recall {
        self.probes = blocks.into_iter().collect();
        self
    }

    /// The block to be probed next.
    pub fn next_probe(&mut self) -> Option<(u8, u64)> {
        self.probes.pop_front()
    }

    /// A block was located, and the drive says that it stands there now.
    pub fn probed(&mut self, block: u64, at: Position) {
        self.map.observe(block, false, &at);
        self.has_seen = true;
        self.running.head_is(at);
    }

    /// A request arrives, with its extents at their believed places.
    ///
    /// # Errors
    /// As [`Running::arrive`].
    pub fn arrive(&mut self, id: u64, request: Request) -> Result<(), EventError> {
        self.running.arrive(id, request)?;
        self.requests_changed = true;
        Ok(())
    }

    /// Takes a waiting request out.
    ///
    /// # Errors
    /// As [`Running::cancel`].
    pub fn cancel(&mut self, id: u64) -> Result<(), EventError> {
        self.running.cancel(id)
    }

    /// A request in flight could not be read.
    ///
    /// # Errors
    /// As [`Running::fail`].
    pub fn fail(&mut self, id: u64, again: Again, head: Position) -> Result<bool, EventError> {
        self.running.fail(id, again, head)
    }

    /// A request in flight was read; the drive says that it began and ended there.
    ///
    /// # Errors
    /// As [`Running::complete`].
    pub fn complete(&mut self, id: u64, start: Position, end: Position) -> Result<(), EventError> {
        let request = self.running.request(id).cloned();
        self.running.complete(id, end)?;
        let extents = request.as_ref().map_or(&[][..], |r| &r.extents);
        if let (Policy::Learn, [first, .., last] | [first @ last]) = (self.policy, extents) {
            self.map.observe(first.first_block, false, &start);
            self.map.observe(last.last_block, true, &end);
            self.has_seen = true;
        }
        Ok(())
    }

    /// A request in flight was read together with others, or by a drive that does not say where it
    /// is: nothing is learned from it. `head` is where the head stands, as far as is known.
    ///
    /// # Errors
    /// As [`Running::complete`].
    pub fn complete_unseen(&mut self, id: u64, head: Position) -> Result<(), EventError> {
        self.running.complete(id, head)
    }

    /// Follows an order of somebody else's making as it stands, until requests arrive or what waits
    /// is seen to lie elsewhere.
    pub fn follow(&mut self, solve: impl FnOnce(&Problem) -> Order) {
        let (problem, _) = self.running.open();
        self.running.follow(&solve(&problem));
        self.requests_changed = false;
        self.moved_wraps = 0.0;
        self.replans += 1;
    }

    /// Plans on where there is reason to, and hands out what is read next.
    pub fn start(&mut self, replanner: &Replanner) -> Option<Vec<u64>> {
        let first = self.replans == 0;
        if first || self.requests_changed || self.has_seen {
            self.moved_wraps += self.place_anew();
            self.has_seen = false;
        }
        let whole = self.moved_wraps > MOVED_MUCH_WRAPS;
        if whole || self.requests_changed || self.moved_wraps > MOVED_A_LITTLE_WRAPS {
            self.plan_on(replanner, whole);
            self.replans += 1;
            self.moved_wraps = 0.0;
            self.requests_changed = false;
        }
        self.running.start()
    }

    /// Orders what waits anew: by expected times where much is in doubt, else by those predicted.
    fn plan_on(&mut self, replanner: &Replanner, whole: bool) {
        let (problem, ids) = self.running.open();
        let is_in_doubt = self.policy == Policy::Learn
            && problem.len() <= MOST_VISITS
            && mean_doubt_wraps(&problem, &self.map) > MUCH_DOUBT_WRAPS;
        if is_in_doubt {
            let mut orders = vec![self.running.order_of(&problem, &ids), sort(&problem)];
            if whole {
                orders.push((replanner.solve)(&problem));
            }
            if let Some(order) = Expected::new(&problem, &self.map).least(&orders) {
                self.running.follow(&order);
            }
        } else if whole {
            self.running.replan(&replanner.whole());
        } else {
            self.running.replan(replanner);
        }
    }

    /// The batch.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// The map as learned so far.
    pub fn map(&self) -> &LearnedMap {
        &self.map
    }

    /// Times the rest was ordered anew.
    pub fn replans(&self) -> u32 {
        self.replans
    }

    /// What waits, in the order planned.
    pub fn rest(&self) -> (Problem, Order) {
        let (problem, ids) = self.running.open();
        let order = self.running.order_of(&problem, &ids);
        (problem, order)
    }

    /// Places what waits by the learned map, recorded positions excepted; says by how much it moved
    /// in the mean, in wraps.
    fn place_anew(&mut self) -> f64 {
        let map = &self.map;
        self.running
            .place_anew(|old, block, after| match old.source {
                PositionSource::Exact | PositionSource::Recorded => *old,
                _ => map.position(old.partition, block, after).unwrap_or(*old),
            })
    }
}
