//! A closed tour over all cities, with its cost.

use super::cities::{Cities, City};
use crate::order::Order;

/// A tour and what its arcs cost together, in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tour {
    /// The cities in the order in which they are come to, the last one last: of a batch that is
    /// the one where the tour closes.
    pub(crate) cities: Vec<City>,
    /// The cost of all arcs; of a batch the time between reads.
    pub(crate) cost: i64,
}

impl Tour {
    /// The tour through the cities in this order.
    pub(crate) fn new(cities: &Cities, sequence: Vec<City>) -> Tour {
        let mut tour = Tour {
            cities: sequence,
            cost: 0,
        };
        let arcs = tour.arcs();
        tour.cost = arcs
            .map(|(tail, head)| cities.cost(tail.index(), head.index()))
            .sum();
        tour
    }

    /// The tour of an order.
    pub(crate) fn of_order(cities: &Cities, order: &Order) -> Tour {
        let visits = order.visits().iter().map(|&visit| City::of_visit(visit));
        Tour::new(cities, visits.chain([cities.closing()]).collect())
    }

    /// The tour along the successors of cities; `None` where they run in several cycles.
    pub(crate) fn from_successors(cities: &Cities, successor: &[City]) -> Option<Tour> {
        let closing = cities.closing();
        let mut sequence = Vec::with_capacity(cities.len());
        let mut at = closing;
        while sequence.len() < cities.len() {
            at = successor[at.index()];
            sequence.push(at);
            if at == closing {
                break;
            }
        }
        let whole = sequence.len() == cities.len() && at == closing;
        whole.then(|| Tour::new(cities, sequence))
    }

    /// Its arcs, from the last city on and back to it.
    pub(crate) fn arcs(&self) -> impl Iterator<Item = (City, City)> + '_ {
        let tails = self.cities.last().into_iter().chain(&self.cities).copied();
        tails.zip(self.cities.iter().copied())
    }

    /// The order, of a batch's tour: every city but the last is a visit.
    pub(crate) fn into_order(mut self) -> Order {
        self.cities.pop();
        Order::of(self.cities.into_iter().map(|city| city.0).collect())
    }
}
