//! How much tape an order moves: additive over its arcs, like time.

use crate::problem::{End, Motion, Problem};
use tapewise_model::Position;

/// Tape moved from one city to the next, in LPOS units; the last city is the head as a tail, and
/// the place where it is to be left as a head.
pub(super) fn between_lpos(problem: &Problem, tail: usize, head: usize) -> i64 {
    let end = problem.len();
    if tail == end && head == end {
        return 0;
    }
    let tape = problem.tape();
    let options = problem.options();
    let from = match problem.visits().get(tail) {
        Some(visit) => visit.extents[visit.extents.len() - 1].end,
        None => options.head,
    };
    if head == end {
        let target = match options.end {
            End::Anywhere => return 0,
            End::Rewound => Position::beginning_of_tape(tape.geometry.lpos_min),
            End::At(position) => position,
        };
        return tape.distance_lpos(&from, &target, false) as i64;
    }
    let to = &problem.visits()[head].extents[0].start;
    let (time, motion) = problem.motion((tail < end).then_some(tail), head);
    moved_lpos(problem, &from, to, (time.0, motion))
}

/// Tape moved within the visits, which no order changes.
pub(super) fn within_lpos(problem: &Problem) -> i64 {
    let mut moved = 0;
    for (index, visit) in problem.visits().iter().enumerate() {
        for (at, extent) in visit.extents.iter().enumerate() {
            if at > 0 {
                let (time, motion) = problem.inner_motion(index, at);
                let from = &visit.extents[at - 1].end;
                moved += moved_lpos(problem, from, &extent.start, (time.0, motion));
            }
            let read = (&extent.start, &extent.end);
            moved += problem.tape().distance_lpos(read.0, read.1, true) as i64;
        }
    }
    moved
}

fn moved_lpos(problem: &Problem, from: &Position, to: &Position, how: (i64, Motion)) -> i64 {
    match how {
        (0, Motion::Contiguous) => 0,
        (_, motion) => {
            let streaming = motion != Motion::Locate;
            problem.tape().distance_lpos(from, to, streaming) as i64
        }
    }
}
