//! A running batch carried out on paper, on a tape that may lie otherwise than believed.

use crate::order::Order;
use crate::orders::cta::{WINDOW_BYTES, WINDOW_FILES, cta_sltf};
use crate::problem::{Options, Problem};
use crate::replan::insert::Replanner;
use crate::replan::recall::Recall;
use crate::request::Request;
use crate::tape::Tape;
use std::collections::BTreeMap;
use std::sync::Arc;
use tapewise_model::{Micros, Position};

/// A request that comes while others are read.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// When, from the beginning of the run.
    pub time: Micros,
    /// Its number.
    pub id: u64,
    /// What is asked for, placed as believed.
    pub request: Request,
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rehearsal {
    /// From the beginning to the end of the last read, and on to where the head is to be left.
    pub total: Micros,
    /// Between reads.
    pub locate: Micros,
    /// Waiting with nothing to read.
    pub idle: Micros,
    /// Times the rest was ordered anew.
    pub replans: u32,
}

/// The tape as it truly lies, with the drive that reads it.
///
/// All requests that will ever come are known to it by their numbers; they share no blocks.
#[derive(Clone, Debug)]
pub struct TrueTape {
    problem: Problem,
    visit_of: BTreeMap<u64, u32>,
}

impl TrueTape {
    /// Requests by number, at their true places.
    pub fn new(
        tape: impl Into<Arc<Tape>>,
        options: Options,
        requests: &[(u64, Request)],
    ) -> TrueTape {
        let (ids, requests): (Vec<u64>, Vec<Request>) = requests.iter().cloned().unzip();
        let problem = Problem::new(tape, options, &requests);
        let mut visit_of = BTreeMap::new();
        for (visit, what) in problem.visits().iter().enumerate() {
            debug_assert_eq!(what.requests.len(), 1, "rehearsed requests share no blocks");
            for &request in &what.requests {
                visit_of.insert(ids[request as usize], visit as u32);
            }
        }
        TrueTape { problem, visit_of }
    }

    /// The batch at its true places.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

/// The drive at work.
struct Drive<'a> {
    truth: &'a TrueTape,
    /// The visit read last, or where a locate without a read went.
    last: Option<u32>,
    head: Position,
    done: Rehearsal,
}

impl<'a> Drive<'a> {
    fn new(truth: &'a TrueTape) -> Drive<'a> {
        Drive {
            truth,
            last: None,
            head: truth.problem.options().head,
            done: Rehearsal::default(),
        }
    }

    /// Locates to a place and reads nothing.
    fn probe(&mut self, to: Position) {
        let time = self.truth.problem.tape().model.locate(&self.head, &to);
        self.done.locate += time;
        self.done.total += time;
        self.head = to;
        self.last = None;
    }

    /// Goes to a request and reads it; says where it began and ended.
    fn read(&mut self, id: u64) -> (Position, Position) {
        let problem = &self.truth.problem;
        let visit = self.truth.visit_of[&id];
        let what = &problem.visits()[visit as usize];
        let start = what.extents[0].start;
        let way = match self.last {
            Some(last) => problem.motion(Some(last as usize), visit as usize).0,
            None => problem.tape().model.locate(&self.head, &start),
        };
        self.done.locate += way + what.inner_locate;
        self.done.total += way + what.inner_locate + what.read;
        self.last = Some(visit);
        self.head = what.extents[what.extents.len() - 1].end;
        (start, self.head)
    }

    fn wait_until(&mut self, time: Micros) {
        let idle = (time - self.done.total).max(Micros::ZERO);
        self.done.idle += idle;
        self.done.total += idle;
    }

    fn finish(mut self) -> Rehearsal {
        if let Some(last) = self.last {
            let way = self.truth.problem.end_cost(last as usize);
            self.done.locate += way;
            self.done.total += way;
        }
        self.done
    }
}

/// Carries out a recall; `locate` says truly where a block lies that is probed, (partition, block).
pub fn rehearse(
    truth: &TrueTape,
    mut recall: Recall,
    arrivals: &[Arrival],
    replanner: &Replanner,
    locate: &dyn Fn(u8, u64) -> Position,
) -> Rehearsal {
    let mut drive = Drive::new(truth);
    let mut arrivals = arrivals.iter().peekable();
    while let Some((partition, block)) = recall.next_probe() {
        let at = locate(partition, block);
        drive.probe(at);
        recall.probed(block, at);
    }
    loop {
        while let Some(come) = arrivals.next_if(|arrival| arrival.time <= drive.done.total) {
            // A repeated number is refused, and the run goes on without it.
            let _ = recall.arrive(come.id, come.request.clone());
        }
        match recall.start(replanner) {
            Some(ids) => {
                for id in ids {
                    let (start, end) = drive.read(id);
                    let known = recall.complete(id, start, end);
                    debug_assert!(known.is_ok(), "{known:?}");
                }
            }
            None => match arrivals.peek() {
                Some(next) => drive.wait_until(next.time),
                None => break,
            },
        }
    }
    drive.done.replans = recall.replans();
    drive.finish()
}

/// The same requests as CTA would read them: windows, each planned from the beginning of tape over
/// all that is held, with what has arrived by then.
pub fn rehearse_cta(
    truth: &TrueTape,
    requests: &[(u64, Request)],
    arrivals: &[Arrival],
) -> Rehearsal {
    let mut drive = Drive::new(truth);
    let problem = truth.problem();
    let mut held: BTreeMap<u64, Request> = requests.iter().cloned().collect();
    let mut arrivals = arrivals.iter().peekable();
    loop {
        while let Some(come) = arrivals.next_if(|arrival| arrival.time <= drive.done.total) {
            held.insert(come.id, come.request.clone());
        }
        if held.is_empty() {
            let Some(next) = arrivals.peek() else { break };
            drive.wait_until(next.time);
            continue;
        }
        let (ids, window): (Vec<u64>, Vec<Request>) = held
            .iter()
            .take(WINDOW_FILES)
            .map(|(&id, request)| (id, request.clone()))
            .unzip();
        let window = Problem::new(problem.shared_tape(), *problem.options(), &window);
        let order: Order = cta_sltf(&window, false);
        let mut bytes = 0u64;
        for index in order.requests(&window) {
            let id = ids[index as usize];
            let request = held.remove(&id);
            let extents = request.iter().flat_map(|request| &request.extents);
            let each = extents.map(|extent| extent.bytes);
            bytes = each.fold(bytes, u64::saturating_add);
            drive.read(id);
            if bytes >= WINDOW_BYTES {
                break;
            }
        }
        drive.done.replans += 1;
    }
    drive.finish()
}
