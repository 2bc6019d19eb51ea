//! READ: the whole tape, then rewind (Hillyer & Silberschatz 1996, section 4).

use crate::problem::Problem;
use tapewise_model::{BlockMap, Micros};

/// The time to stream over everything a map knows, turning at each wrap's end, and to rewind.
///
/// Whatever was asked for comes by on the way, in logical order, and no locate is needed.
pub fn read_whole_tape(problem: &Problem, map: &BlockMap) -> Micros {
    let tape = problem.tape();
    let geometry = &tape.geometry;
    let bytes_per_lpos = tape.wrap_bytes / f64::from(geometry.wrap_lpos());
    let along: u64 = map
        .spans()
        .iter()
        .map(|s| u64::from(s.lpos_end.abs_diff(s.lpos_first)))
        .sum();
    let read = tape
        .transfer
        .time((along as f64 * bytes_per_lpos).round() as u64);
    let wraps = map.spans().chunk_by(|a, b| a.wrap == b.wrap).count() as i64;
    let turns = Micros(tape.transfer.turnaround.0 * (wraps - 1).max(0));
    let end = map.spans().last().and_then(|span| {
        map.position_after(span.partition, span.end_block.saturating_sub(1))
            .ok()
    });
    let rewind = end.map_or(Micros::ZERO, |end| {
        tape.model.rewind(&tape.model.point(&end))
    });
    read + turns + rewind
}
