//! FIFO: as listed (Hillyer & Silberschatz 1996, section 4).

use crate::order::Order;
use crate::orders::kind::OrderKind;
use crate::problem::Problem;

/// As the list of algorithms knows it.
pub(crate) const KIND: OrderKind = OrderKind {
    name: "fifo",
    title: "as listed",
    version: 1,
    solve: |problem, _| Some(fifo(problem).into()),
};

/// The order of the caller's list. Requests that share blocks are read with the first of them.
pub fn fifo(problem: &Problem) -> Order {
    let mut sequence: Vec<u32> = (0..problem.len() as u32).collect();
    sequence.sort_by_key(|&visit| {
        problem.visits()[visit as usize]
            .requests
            .iter()
            .min()
            .copied()
    });
    Order::of(sequence)
}
