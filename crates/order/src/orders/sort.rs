//! SORT: by partition and block number (Hillyer & Silberschatz 1996, section 4; CERN's LINEAR).

use crate::order::Order;
use crate::problem::Problem;

/// Logical order; visits are numbered in it.
pub fn sort(problem: &Problem) -> Order {
    Order::of((0..problem.len() as u32).collect())
}
