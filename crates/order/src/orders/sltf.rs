//! SLTF: shortest locate time first (Hillyer & Silberschatz 1996, section 4).

use crate::order::Order;
use crate::orders::nearest::Nearest;
use crate::problem::Problem;

/// From the head always on to the nearest unread visit.
///
/// Each step looks only at visits that can be nearest: on a DLT4000 the first unread of each of
/// its k non-empty sections, on LTO two for each band, direction and half of the tape; so the
/// whole takes O(n log n + n k), with a k that shrinks as sections are emptied.
pub fn sltf(problem: &Problem) -> Order {
    let mut unread = Nearest::new(problem);
    let mut sequence = Vec::with_capacity(problem.len());
    let mut at = None;
    while let Some(next) = unread.nearest(at) {
        unread.remove(next);
        sequence.push(next);
        at = Some(next);
    }
    Order::new(sequence)
}
