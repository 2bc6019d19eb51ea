//! SORT: by partition and block number (Hillyer & Silberschatz 1996, section 4; CERN's LINEAR).

use crate::order::Order;
use crate::orders::kind::OrderKind;
use crate::problem::Problem;

/// As the list of algorithms knows it.
pub(crate) const KIND: OrderKind = OrderKind {
    name: "sort",
    title: "sorted by block",
    version: 1,
    solve: |problem, _| Some(sort(problem).into()),
};

/// Logical order; visits are numbered in it.
pub fn sort(problem: &Problem) -> Order {
    Order::of((0..problem.len() as u32).collect())
}
