//! The drive's own order, recommended access order (RAO), and a stand-in where there is no drive.
//!
//! A drive takes a list of at most 2,730 user data segments and gives it back reordered; how it
//! orders is not public. Its answer, read elsewhere, becomes an [`Order`] here and is priced like
//! any other.

use crate::order::Order;
use crate::problem::Problem;
use std::fmt;
use tapewise_model::Micros;

/// The most user data segments that a drive orders at a time (IBM GA32-0928, 4.6.3.2).
pub const RAO_WINDOW: usize = 2_730;

/// Visits that the emulation looks at from each place.
const LOOK_AHEAD: usize = 4;

/// Why a sequence of requests is no order of the batch; requests are numbered as in the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceFault {
    /// A request that is not in the batch, or has nothing to read.
    Unknown(u32),
    /// A request that stands there twice.
    Twice(u32),
    /// A request that is not there.
    Missing(u32),
}

impl fmt::Display for SequenceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SequenceFault::Unknown(request) => {
                write!(f, "request {request} is not one of those to be ordered")
            }
            SequenceFault::Twice(request) => write!(f, "request {request} is there twice"),
            SequenceFault::Missing(request) => write!(f, "request {request} is missing"),
        }
    }
}

impl std::error::Error for SequenceFault {}

/// The order in which a drive recommends to read: its windows one after the other.
///
/// Requests that share blocks are read together, where the drive has the first of them.
///
/// # Errors
/// When the sequence does not hold every request that has something to read, once.
pub fn rao(problem: &Problem, requests: &[u32]) -> Result<Order, SequenceFault> {
    const NONE: u32 = u32::MAX;
    let mut visit_of = vec![NONE; problem.requests()];
    for (visit, what) in problem.visits().iter().enumerate() {
        for &request in &what.requests {
            visit_of[request as usize] = visit as u32;
        }
    }
    let mut read = vec![false; visit_of.len()];
    let mut placed = vec![false; problem.len()];
    let mut sequence = Vec::with_capacity(problem.len());
    for &request in requests {
        let visit = *visit_of.get(request as usize).unwrap_or(&NONE);
        if visit == NONE {
            return Err(SequenceFault::Unknown(request));
        }
        if std::mem::replace(&mut read[request as usize], true) {
            return Err(SequenceFault::Twice(request));
        }
        if !std::mem::replace(&mut placed[visit as usize], true) {
            sequence.push(visit);
        }
    }
    let missing = (0..read.len()).find(|&request| visit_of[request] != NONE && !read[request]);
    match missing {
        Some(request) => Err(SequenceFault::Missing(request as u32)),
        None => Ok(Order::of(sequence)),
    }
}

/// An *emulated* drive's order: no drive orders like this, it only stands where a drive's would.
///
/// Windows of [`RAO_WINDOW`] visits in logical order, each from the end of the one before; within
/// one, of the few nearest visits always on to that from which the next is nearest too. No claim
/// is made on it: a drive knows its own locate times and may order better or worse. Takes O(n w)
/// for windows of w visits.
pub fn emulated_rao(problem: &Problem) -> Order {
    let mut sequence = Vec::with_capacity(problem.len());
    let mut window = Vec::with_capacity(RAO_WINDOW);
    let mut near = Vec::with_capacity(RAO_WINDOW);
    let mut from = None;
    for first in (0..problem.len()).step_by(RAO_WINDOW) {
        window.extend(first..problem.len().min(first + RAO_WINDOW));
        while !window.is_empty() {
            let at = step(problem, from, &window, &mut near);
            let visit = window.remove(at);
            sequence.push(visit as u32);
            from = Some(visit);
        }
    }
    Order::of(sequence)
}

/// Which of a window's visits is gone to next; `near` is room to work in.
fn step(
    problem: &Problem,
    from: Option<usize>,
    window: &[usize],
    near: &mut Vec<(Micros, usize)>,
) -> usize {
    near.clear();
    near.extend(window.iter().enumerate().map(|(at, &visit)| {
        let time = match from {
            Some(from) => problem.arc(from, visit),
            None => problem.first_arc(visit),
        };
        (time, at)
    }));
    if near.len() > LOOK_AHEAD {
        near.select_nth_unstable(LOOK_AHEAD - 1);
        near.truncate(LOOK_AHEAD);
    }
    let with_next = near.iter().map(|&(time, at)| {
        let others = window.iter().filter(|&&other| other != window[at]);
        let next = others.map(|&other| problem.arc(window[at], other)).min();
        (time + next.unwrap_or(Micros::ZERO), at)
    });
    with_next.min().map_or(0, |(_, at)| at)
}
