//! OPT: the exact order of a small batch (Hillyer & Silberschatz 1996, section 4).
//!
//! The paper tries all permutations and stops at 12 requests. Dynamic programming over subsets
//! (Held & Karp 1962) needs `n² 2ⁿ` steps instead of `n!`.

use crate::order::Order;
use crate::problem::Problem;
use tapewise_model::Micros;

/// The largest batch that [`opt`] solves: 16 visits take 8 MB and some tens of milliseconds.
pub const OPT_MAX_VISITS: usize = 16;

/// The order with the least total time, or `None` above [`OPT_MAX_VISITS`] visits.
///
/// Of several optimal orders, always the same one.
pub fn opt(problem: &Problem) -> Option<Order> {
    let n = problem.len();
    if n == 0 {
        return Some(Order::new(Vec::new()));
    }
    if n > OPT_MAX_VISITS {
        return None;
    }
    let arcs: Vec<Micros> = (0..n * n)
        .map(|pair| problem.arc(pair / n, pair % n))
        .collect();
    // least[read * n + last]: least time to read the set `read` of visits, `last` of them last.
    let mut least = vec![Micros::FAR; (1 << n) * n];
    for visit in 0..n {
        least[(1 << visit) * n + visit] = problem.first_arc(visit);
    }
    for read in 1usize..1 << n {
        for last in (0..n).filter(|last| read >> last & 1 == 1) {
            let so_far = least[read * n + last];
            for next in (0..n).filter(|next| read >> next & 1 == 0) {
                let slot = &mut least[(read | 1 << next) * n + next];
                *slot = (*slot).min(so_far + arcs[last * n + next]);
            }
        }
    }
    Some(walk_back(problem, &arcs, &least))
}

fn walk_back(problem: &Problem, arcs: &[Micros], least: &[Micros]) -> Order {
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
            .min_by_key(|&other| least[before * n + other] + arcs[other * n + last])
            .unwrap_or_default();
        read = before;
        sequence.push(last as u32);
    }
    sequence.reverse();
    Order::new(sequence)
}
