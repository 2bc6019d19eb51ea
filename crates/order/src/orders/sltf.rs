//! SLTF: shortest locate time first (Hillyer & Silberschatz 1996, section 4).

use crate::order::Order;
use crate::orders::coalesce::coalesced;
use crate::orders::kind::OrderKind;
use crate::orders::nearest::Nearest;
use crate::problem::Problem;
use tapewise_model::Micros;

/// As the list of algorithms knows it.
pub(crate) const KIND: OrderKind = OrderKind {
    name: "sltf",
    title: "SLTF",
    version: 1,
    solve: |problem, _| Some(sltf(problem).into()),
};

/// The same over coalesced requests.
pub(crate) const COALESCED: OrderKind = OrderKind {
    name: "sltf-coalesced",
    title: "SLTF, coalesced",
    version: 1,
    solve: |problem, inputs| Some(coalesced(problem, inputs.coalesce_blocks, sltf).into()),
};

/// Visits up to which pricing every unread one is quicker than keeping them by section.
const FEW: usize = 1024;

/// From the head always on to the nearest unread visit, of equally near ones the first.
pub fn sltf(problem: &Problem) -> Order {
    match problem.len() {
        0..=FEW => of_all_unread(problem),
        _ => sltf_by_sections(problem),
    }
}

/// Each step looks at all that is unread: O(n²) locate times.
fn of_all_unread(problem: &Problem) -> Order {
    let mut unread: Vec<u32> = (0..problem.len() as u32).collect();
    let mut sequence = Vec::with_capacity(problem.len());
    let mut at = None;
    while !unread.is_empty() {
        let (mut place, mut nearest) = (0, (Micros(i64::MAX), u32::MAX));
        for (index, &visit) in unread.iter().enumerate() {
            let time = match at {
                Some(at) => problem.arc(at, visit as usize),
                None => problem.first_arc(visit as usize),
            };
            if (time, visit) < nearest {
                (place, nearest) = (index, (time, visit));
            }
        }
        let next = unread.swap_remove(place);
        sequence.push(next);
        at = Some(next as usize);
    }
    Order::of(sequence)
}

/// SLTF for any number of visits: each step looks only at those that can be nearest. They are,
/// on a DLT4000, the first unread of each of its k non-empty sections, on LTO two for each band,
/// direction and half of the tape; so the whole takes O(n log n + n k), with a k that shrinks as
/// sections are emptied.
pub fn sltf_by_sections(problem: &Problem) -> Order {
    let mut unread = Nearest::new(problem);
    let mut sequence = Vec::with_capacity(problem.len());
    let mut at = None;
    while let Some(next) = unread.nearest(at) {
        unread.remove(next);
        sequence.push(next);
        at = Some(next);
    }
    Order::of(sequence)
}
