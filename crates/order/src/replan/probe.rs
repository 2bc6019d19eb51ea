//! Whether to find out first where some blocks lie, or to learn it from the reads themselves.
//!
//! A read teaches as much as a probe and does work besides, so a probe pays only by what it saves.
//! Ignorance makes a move longer than planned: an order is made of moves that look short, and where
//! the destination lies elsewhere they seldom are. With tapes drawn that are as likely as the map,
//!
//! ```text
//! surprise = sum over the first moves of (its time on the drawn tape - its time as then predicted)
//! probing pays where  mean(surprise) - mean(surprise after probing) > time of the probes
//! ```
//!
//! "As then predicted" takes in what the reads before have taught, if reads are learned from; then
//! only as many moves count as there are probes, twice, because from there on as much is known
//! either way. If the plan stays as it is, all moves count.

use crate::order::Order;
use crate::problem::Problem;
use crate::replan::recall::Policy;
use tapewise_model::{LearnedMap, Micros, Position, PositionSource, Random};

/// Blocks to probe for a batch, (partition, block): beginnings of wraps that run away from the
/// beginning of tape, spread evenly over the wraps that the batch reaches.
///
/// All lie near one end of the tape, so that going from one to the next costs little but the change
/// of wrap. Only the partition in which most requests lie is probed.
pub fn probe_blocks(problem: &Problem, map: &LearnedMap, count: usize) -> Vec<(u8, u64)> {
    let extents = problem.visits().iter().map(|visit| &visit.extents[0]);
    let mut extents: Vec<(u8, u64)> = extents.map(|s| (s.partition(), s.first_block)).collect();
    extents.sort_unstable();
    let Some(&(partition, _)) = extents.get(extents.len() / 2) else {
        return Vec::new();
    };
    let last = extents.iter().rev().find(|(of, _)| *of == partition);
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
    pub saved: Micros,
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
            Policy::Learn => order.visits().len().min(2 * blocks.len()),
            Policy::Fixed => order.visits().len(),
        };
        let moves = &order.visits()[..moves];
        let saved = (0..DRAWN).map(|stream| {
            let drawn = map.drawn(&mut Random::new(0, stream));
            let mut probed = map.clone();
            for &(partition, block) in blocks {
                if let Some(place) = drawn.position(partition, block, false) {
                    probed.observe(block, false, &place);
                }
            }
            surprise(problem, moves, map.clone(), &drawn, policy)
                - surprise(problem, moves, probed, &drawn, policy)
        });
        ProbeChoice {
            probes,
            saved: Micros(saved.sum::<Micros>().0 / DRAWN as i64),
        }
    }

    /// Whether probing first is expected to be quicker.
    pub fn is_probing(&self) -> bool {
        self.saved > self.probes
    }
}

/// How much longer some moves take on a true tape than a map predicts that learns on the way.
fn surprise(
    problem: &Problem,
    visits: &[u32],
    mut map: LearnedMap,
    truth: &LearnedMap,
    policy: Policy,
) -> Micros {
    let model = &problem.tape().model;
    let mut surprise = Micros::ZERO;
    let (mut at, mut believed_at) = (problem.options().head, problem.options().head);
    for &visit in visits {
        let extents = &problem.visits()[visit as usize].extents;
        let (first, last) = (&extents[0], &extents[extents.len() - 1]);
        let place = |map: &LearnedMap, old: &Position, block, after| match old.source {
            PositionSource::Exact | PositionSource::Recorded => *old,
            _ => map.position(old.partition, block, after).unwrap_or(*old),
        };
        let begin = place(truth, &first.start, first.first_block, false);
        let end = place(truth, &last.end, last.last_block, true);
        let believed = place(&map, &first.start, first.first_block, false);
        surprise += model.locate(&at, &begin) - model.locate(&believed_at, &believed);
        at = end;
        believed_at = match policy {
            Policy::Learn => {
                map.observe(first.first_block, false, &begin);
                map.observe(last.last_block, true, &end);
                end
            }
            Policy::Fixed => place(&map, &last.end, last.last_block, true),
        };
    }
    surprise
}
