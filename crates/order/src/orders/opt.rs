//! OPT: the exact order of a small batch (Hillyer & Silberschatz 1996, section 4).
//!
//! The paper tries all permutations and stops at 12 requests. Dynamic programming over subsets
//! (Held & Karp 1962) needs `n² 2ⁿ` steps instead of `n!`.

use crate::order::Order;
use crate::orders::kind::OrderKind;
use crate::problem::Problem;
use crate::solve::solution::Solution;
use tapewise_model::Micros;

/// As the list of algorithms knows it.
pub(crate) const KIND: OrderKind = OrderKind {
    name: "opt",
    title: "OPT",
    version: 1,
    solve: |problem, _| opt(problem).map(Solution::from),
};

/// The largest batch that [`opt`] solves: 16 visits take 8 MB and some tens of milliseconds.
pub const OPT_MAX_VISITS: usize = 16;

/// The order with the least total time, or `None` above [`OPT_MAX_VISITS`] visits.
///
/// Of several optimal orders, always the same one.
pub fn opt(problem: &Problem) -> Option<Order> {
    let n = problem.len();
    if n == 0 {
        return Some(Order::of(Vec::new()));
    }
    if n > OPT_MAX_VISITS {
        return None;
    }
    // into[to * n + from]: the arcs into a visit lie side by side, as the inner loop reads them.
    let into: Vec<Micros> = (0..n * n)
        .map(|pair| match (pair % n, pair / n) {
            (from, to) if from == to => Micros::FAR,
            (from, to) => problem.arc(from, to),
        })
        .collect();
    // least[read * n + last]: least time to read the set `read` of visits, `last` of them last.
    let mut least = vec![Micros::FAR; (1 << n) * n];
    for visit in 0..n {
        least[(1 << visit) * n + visit] = problem.first_arc(visit);
    }
    for read in 1usize..1 << n {
        // What can follow a set is a larger number, so its row is finished.
        let (done, later) = least.split_at_mut((read + 1) * n);
        let so_far = &done[read * n..];
        for next in (0..n).filter(|next| read >> next & 1 == 0) {
            let arcs = &into[next * n..][..n];
            let through = so_far.iter().zip(arcs).map(|(time, arc)| *time + *arc);
            let set = (read | 1 << next) - read - 1;
            later[set * n + next] = through.fold(Micros::FAR, Micros::min);
        }
    }
    Some(walk_back(problem, &into, &least))
}

fn walk_back(problem: &Problem, into: &[Micros], least: &[Micros]) -> Order {
    let n = problem.len();
    let mut read = (1usize << n) - 1;
    let mut last = (0..n)
        .min_by_key(|&last| least[read * n + last] + problem.end_cost(last))
        .unwrap_or_default();
    let mut sequence = vec![last as u32];
    while read.count_ones() > 1 {
        let before = read & !(1 << last);
        last = (0..n)
            .filter(|&other| before >> other & 1 == 1)
            .min_by_key(|&other| least[before * n + other] + into[last * n + other])
            .unwrap_or_default();
        read = before;
        sequence.push(last as u32);
    }
    sequence.reverse();
    Order::of(sequence)
}
