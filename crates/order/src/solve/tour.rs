//! A closed tour over all cities, with its cost.

use super::cities::Cities;
use crate::order::Order;

/// A tour and what its arcs cost together, in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tour {
    /// The cities in the order in which they are come to, the last one last: of a batch that is
    /// the one where the tour closes.
    pub(crate) cities: Vec<u32>,
    /// The cost of all arcs; of a batch the time between reads.
    pub(crate) cost: i64,
}

impl Tour {
    /// The tour through the cities in this order.
    pub(crate) fn new(cities: &Cities, sequence: Vec<u32>) -> Tour {
        let mut tour = Tour {
            cities: sequence,
            cost: 0,
        };
        let arcs = tour.arcs();
        tour.cost = arcs
            .map(|(tail, head)| cities.cost(tail as usize, head as usize))
            .sum();
        tour
    }

    /// The tour of an order.
    pub(crate) fn of_order(cities: &Cities, order: &Order) -> Tour {
        let closing = order.visits().len() as u32;
        Tour::new(cities, [order.visits(), &[closing]].concat())
    }

    /// The tour along the successors of cities; `None` where they run in several cycles.
    pub(crate) fn from_successors(cities: &Cities, successor: &[u32]) -> Option<Tour> {
        let closing = (cities.len() - 1) as u32;
        let mut sequence = Vec::with_capacity(cities.len());
        let mut at = closing;
        while sequence.len() < cities.len() {
            at = successor[at as usize];
            sequence.push(at);
            if at == closing {
                break;
            }
        }
        let whole = sequence.len() == cities.len() && at == closing;
        whole.then(|| Tour::new(cities, sequence))
    }

    /// Its arcs, from the last city on and back to it.
    pub(crate) fn arcs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let tails = self.cities.last().into_iter().chain(&self.cities).copied();
        tails.zip(self.cities.iter().copied())
    }

    /// The order, of a batch's tour.
    pub(crate) fn into_order(mut self) -> Order {
        self.cities.pop();
        Order::of(self.cities)
    }
}
