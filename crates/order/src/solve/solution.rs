//! What a search for an order hands back.

use crate::order::Order;
use crate::problem::Problem;
use tapewise_model::Micros;

/// An order with what is known of how good it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// The order.
    pub order: Order,
    /// A total that no order falls below with these times, where one was computed.
    pub bound: Option<Micros>,
    /// Whether the clock cut the search short, so that another run may give another order.
    pub cut_short: bool,
}

impl Solution {
    /// Whether the order is proven to be the shortest with these times.
    pub fn is_optimal(&self, problem: &Problem) -> bool {
        self.bound == Some(self.order.total_time(problem))
    }
}

impl From<Order> for Solution {
    fn from(order: Order) -> Solution {
        Solution {
            order,
            bound: None,
            cut_short: false,
        }
    }
}
