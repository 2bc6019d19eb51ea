//! What an order comes to, for each objective.

use super::wishes::Wishes;
use crate::order::Order;
use crate::plan::Plan;
use crate::problem::Problem;
use tapewise_model::Micros;

/// What an order comes to. A request is read when the last byte of its visit is; a rewind at the
/// end does not count to it. Requests without extents take no part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Until everything is read and the head is where it is to be left.
    pub total: Micros,
    /// Weighted mean of the times at which requests are read, to the nearest microsecond.
    pub mean: Micros,
    /// When 95 of 100 requests are read (nearest rank, without weights).
    pub p95: Micros,
    /// Sum over requests of weight times the time read after the deadline.
    pub lateness: Micros,
    /// Number of requests read after their deadlines.
    pub late: usize,
    /// Tape moved, in LPOS units.
    pub distance_lpos: u64,
}

impl Figures {
    /// The figures of an order.
    pub fn of(problem: &Problem, wishes: &Wishes, order: &Order) -> Figures {
        let read = completions(problem, order);
        let (mut weights, mut weighted, mut lateness, mut late) = (0i128, 0i128, 0i128, 0);
        for &(request, time) in &read {
            let weight = i128::from(wishes.weight(request));
            weights += weight;
            weighted += weight * i128::from(time.0);
            if let Some(deadline) = wishes.deadline(request).filter(|due| *due < time) {
                late += 1;
                lateness += weight * (i128::from(time.0) - i128::from(deadline.0));
            }
        }
        let totals = Plan::new(problem, order.clone()).totals;
        let rank = (read.len() * 95).div_ceil(100);
        Figures {
            total: totals.total,
            mean: micros((weighted + weights / 2) / weights.max(1)),
            // Completions rise along the order.
            p95: rank.checked_sub(1).map_or(Micros::ZERO, |at| read[at].1),
            lateness: micros(lateness),
            late,
            distance_lpos: totals.distance_lpos,
        }
    }
}

/// When each request is read, in reading order.
pub fn completions(problem: &Problem, order: &Order) -> Vec<(u32, Micros)> {
    let (mut clock, mut before) = (Micros::ZERO, None);
    let mut read = Vec::with_capacity(problem.requests());
    for &index in order.visits() {
        let visit = &problem.visits()[index as usize];
        clock += problem.motion(before, index as usize).0 + visit.inner_locate + visit.read;
        read.extend(visit.requests.iter().map(|&request| (request, clock)));
        before = Some(index as usize);
    }
    read
}

fn micros(time: i128) -> Micros {
    Micros(time.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
}
