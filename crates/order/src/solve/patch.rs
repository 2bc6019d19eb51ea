//! Patching: from a cheapest assignment, which may be several cycles, to one order.
//!
//! Two cycles become one by exchanging the successors of a city in each; the cheapest exchange is
//! taken, the smallest cycle first (after Karp 1979). On a tape cycles that pass the same place in
//! the same direction are joined at almost no cost, so little is lost.

use crate::order::Order;
use crate::solve::assignment::{ArcMatrix, Assignment};

/// The order that an assignment's cycles are joined to.
pub fn patch(matrix: &ArcMatrix, assignment: &Assignment) -> Order {
    // The end leads back to the head, so that the path from head to end is a cycle too.
    let mut successor = assignment.successor.clone();
    let mut cycles = cycles(&successor);
    while cycles.len() > 1 {
        let smallest = (0..cycles.len())
            .min_by_key(|&at| cycles[at].len())
            .unwrap_or(0);
        let small = cycles.swap_remove(smallest);
        let (other, inner, outer) = cheapest_exchange(matrix, &successor, &small, &cycles);
        successor.swap(inner, outer);
        cycles[other].extend(small);
    }
    let end = matrix.cities() - 1;
    let first = successor[end];
    let path = std::iter::successors(Some(first), |&at| Some(successor[at]));
    Order::new(
        path.take_while(|&at| at != end)
            .map(|at| at as u32)
            .collect(),
    )
}

/// The cities of each cycle.
fn cycles(successor: &[usize]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; successor.len()];
    let mut cycles = Vec::new();
    for start in 0..successor.len() {
        if seen[start] {
            continue;
        }
        let mut cycle = Vec::new();
        let mut at = start;
        while !std::mem::replace(&mut seen[at], true) {
            cycle.push(at);
            at = successor[at];
        }
        cycles.push(cycle);
    }
    cycles
}

/// The cheapest exchange of successors between a city of `small` and one of another cycle: which
/// cycle, and the two cities.
fn cheapest_exchange(
    matrix: &ArcMatrix,
    successor: &[usize],
    small: &[usize],
    cycles: &[Vec<usize>],
) -> (usize, usize, usize) {
    let mut best = (i64::MAX, (0, 0, 0));
    for &inner in small {
        let after_inner = successor[inner];
        let inner_cost = matrix.cost(inner, after_inner);
        for (at, cycle) in cycles.iter().enumerate() {
            for &outer in cycle {
                let after_outer = successor[outer];
                let change = matrix.cost(inner, after_outer) + matrix.cost(outer, after_inner)
                    - inner_cost
                    - matrix.cost(outer, after_outer);
                if change < best.0 {
                    best = (change, (at, inner, outer));
                }
            }
        }
    }
    best.1
}
