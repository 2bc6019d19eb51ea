//! Whether to find out first where some blocks lie, or to learn it from the reads themselves.
//!
//! A read teaches as much as a probe and does work besides, so a probe pays only by what it saves:
//! the way that reads made in ignorance are longer than planned. Both are expected times:
//!
//! ```text
//! probing costs    the locates to the probed blocks, one after the other
//! ignorance costs  the mean over tapes as likely as the map of (price of the moves - as predicted)
//! ```
//!
//! where the moves are as many as there are probes if reads are learned from (from then on as much
//! is known either way), and all of them if the plan stays as it is.

use crate::order::Order;
use crate::problem::Problem;
use crate::replan::recall::Policy;
use crate::uncertainty::moved;
use tapewise_model::{LearnedMap, Micros, Position, Random};

/// Blocks to probe for a batch, (partition, block): beginnings of wraps that run away from the
/// beginning of tape, spread evenly over the wraps that the batch reaches.
///
/// All lie near one end of the tape, so that going from one to the next costs little but the change
/// of wrap. Only the partition in which most requests lie is probed.
pub fn probe_blocks(problem: &Problem, map: &LearnedMap, count: usize) -> Vec<(u8, u64)> {
    let segments = problem.visits().iter().map(|visit| &visit.segments[0]);
    let mut segments: Vec<(u8, u64)> = segments.map(|s| (s.partition(), s.first_block)).collect();
    segments.sort_unstable();
    let Some(&(partition, _)) = segments.get(segments.len() / 2) else {
        return Vec::new();
    };
    let last = segments.iter().rev().find(|(of, _)| *of == partition);
    let last = last.map_or(0, |&(_, block)| block);
    let spans = map.believed().spans().iter();
    let begins: Vec<u64> = spans
        .filter(|span| span.partition == partition && span.wrap % 2 == 0)
        .map(|span| span.first_block)
        .filter(|&block| 0 < block && block <= last)
        .collect();
    let count = count.min(begins.len());
    let nth = |nth: usize| begins[(begins.len() * nth).div_ceil(count) - 1];
    (1..=count).map(|at| (partition, nth(at))).collect()
}

/// Tapes drawn to see what ignorance costs.
const DRAWN: u64 = 12;

/// What speaks for probing first and what against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeChoice {
    /// What the probes take.
    pub probes: Micros,
    /// What they are expected to save.
    pub ignorance: Micros,
}

impl ProbeChoice {
    /// Weighs probing some blocks, (partition, block), before an order is read.
    pub fn new(
        problem: &Problem,
        order: &Order,
        map: &LearnedMap,
        blocks: &[(u8, u64)],
        policy: Policy,
    ) -> ProbeChoice {
        let model = &problem.tape().model;
        let (mut at, mut probes) = (problem.options().head, Micros::ZERO);
        for &(partition, block) in blocks {
            if let Some(place) = map.position(partition, block, false) {
                probes += model.locate(&at, &place);
                at = place;
            }
        }
        let moves = match policy {
            Policy::Learn => blocks.len().min(order.visits().len()),
            Policy::Fixed => order.visits().len(),
        };
        let moves = &order.visits()[..moves];
        let predicted = price(problem, moves);
        let extra = (0..DRAWN).map(|stream| {
            let drawn = map.drawn(&mut Random::new(0, stream));
            let place = |old: &Position, block, after| drawn.position(old.partition, block, after);
            price(&moved(problem, place), moves) - predicted
        });
        let ignorance = extra.sum::<Micros>().0 / DRAWN as i64;
        ProbeChoice {
            probes,
            ignorance: Micros(ignorance),
        }
    }

    /// Whether probing first is expected to be quicker.
    pub fn is_probing(&self) -> bool {
        self.ignorance > self.probes
    }
}

fn price(problem: &Problem, visits: &[u32]) -> Micros {
    let from = std::iter::once(None).chain(visits.iter().map(|&visit| Some(visit as usize)));
    from.zip(visits)
        .map(|(from, &to)| problem.motion(from, to as usize).0)
        .sum()
}
