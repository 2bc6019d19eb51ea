//! SCAN: the elevator by section (Hillyer & Silberschatz 1996, section 4, Figure 2).

use crate::order::Order;
use crate::orders::kind::OrderKind;
use crate::orders::sections::Sections;
use crate::problem::Problem;

/// As the list of algorithms knows it.
pub(crate) const KIND: OrderKind = OrderKind {
    name: "scan",
    title: "SCAN by section",
    version: 1,
    solve: |problem, _| Some(scan(problem).into()),
};

/// Shuttles up the tape reading one section of a forward wrap at each place, and down the tape
/// reading one of a reverse wrap, until nothing is left.
///
/// Of several wraps with requests in a section the lowest is read; the paper leaves that open.
pub fn scan(problem: &Problem) -> Order {
    let mut unread = Sections::new(problem);
    let mut sequence = Vec::with_capacity(problem.len());
    while !unread.is_empty() {
        let up = (0..unread.sections()).map(|section| (section, 0));
        let down = (0..unread.sections()).rev().map(|section| (section, 1));
        for (section, direction) in up.chain(down) {
            if let Some(wrap) = unread.lowest_wrap(section, direction) {
                sequence.extend(unread.take(wrap, section));
            }
        }
    }
    Order::of(sequence)
}
