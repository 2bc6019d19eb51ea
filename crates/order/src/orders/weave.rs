//! WEAVE: a fixed pattern of sections around the head (Hillyer & Silberschatz 1996, section 4).

use crate::order::Order;
use crate::orders::kind::OrderKind;
use crate::orders::sections::Sections;
use crate::problem::Problem;

/// As the list of algorithms knows it.
pub(crate) const KIND: OrderKind = OrderKind {
    name: "weave",
    title: "WEAVE",
    version: 1,
    solve: |problem, _| Some(weave(problem).into()),
};

/// The wraps a step of the pattern looks at.
#[derive(Clone, Copy)]
pub(crate) enum Wraps {
    /// The wrap of the last section read.
    Same,
    /// Any wrap of the same direction.
    CoDirectional,
    /// Any wrap of the other direction.
    AntiDirectional,
}

/// Reads section after section, each time the first in the weave pattern with requests.
///
/// As printed, the pattern misses a few sections (from section 1, for one, an anti-directional
/// section 1); they follow it here, nearest first. Of several wraps the lowest is read.
pub fn weave(problem: &Problem) -> Order {
    let mut unread = Sections::new(problem);
    let mut sequence = Vec::with_capacity(problem.len());
    let (wrap, section) = Sections::place(problem.tape(), problem.head());
    let mut at = (wrap, i32::from(section));
    while !unread.is_empty() {
        let (wrap, section) = next_section(&unread, at);
        sequence.extend(unread.take(wrap, section));
        at = (wrap, section);
    }
    Order::of(sequence)
}

fn next_section(unread: &Sections, (wrap, section): (u16, i32)) -> (u16, i32) {
    let direction = wrap & 1;
    let find = |(wraps, section): (Wraps, i32)| {
        let found = match wraps {
            Wraps::Same => unread.has(wrap, section).then_some(wrap),
            Wraps::CoDirectional => unread.lowest_wrap(section, direction),
            Wraps::AntiDirectional => unread.lowest_wrap(section, 1 - direction),
        };
        found.map(|wrap| (wrap, section))
    };
    // Forward is the way the wrap is read.
    let sign = if direction == 0 { 1 } else { -1 };
    let sections = unread.sections();
    let missed = (0..sections).flat_map(|away| {
        [section + away, section - away]
            .into_iter()
            .flat_map(|s| [(Wraps::CoDirectional, s), (Wraps::AntiDirectional, s)])
    });
    pattern(section, sign, sections)
        .chain(missed)
        .find_map(find)
        .expect("some section has unread visits, and `missed` names every section")
}

/// The weave pattern from a section: which wraps, and which section of them.
pub(crate) fn pattern(
    section: i32,
    sign: i32,
    sections: i32,
) -> impl Iterator<Item = (Wraps, i32)> {
    use Wraps::{AntiDirectional, CoDirectional, Same};
    let forward = move |n: i32| section + sign * n;
    let reverse = move |n: i32| section - sign * n;
    let flip = move |section: i32| flip(section, sections);
    let opening = [
        (Same, section),
        (Same, forward(1)),
        (Same, forward(2)),
        (CoDirectional, forward(2)),
        (AntiDirectional, reverse(1)),
        (CoDirectional, forward(1)),
        (AntiDirectional, reverse(2)),
    ];
    let iteration = (0..sections).flat_map(move |i| {
        [
            (AntiDirectional, flip(forward(i))),
            (Same, forward(i + 3)),
            (CoDirectional, forward(i + 3)),
            (Same, flip(reverse(i))),
            (CoDirectional, flip(reverse(i))),
            (AntiDirectional, reverse(i + 3)),
        ]
    });
    opening.into_iter().chain(iteration)
}

/// Swaps the two sections at each end of the tape: 0..13 becomes 1, 0, 2..11, 13, 12.
fn flip(section: i32, sections: i32) -> i32 {
    match section {
        0 => 1,
        1 => 0,
        s if s == sections - 1 => sections - 2,
        s if s == sections - 2 => sections - 1,
        s => s,
    }
}
