//! RANDOM: as if nobody had ordered (CERN 2018).

use crate::order::Order;
use crate::orders::kind::OrderKind;
use crate::problem::Problem;
use tapewise_model::Random;

/// As the list of algorithms knows it.
pub(crate) const KIND: OrderKind = OrderKind {
    name: "random",
    title: "random",
    version: 1,
    solve: |problem, inputs| Some(random(problem, inputs.seed).into()),
};

/// A random order, every one equally likely; the same for the same seed.
pub fn random(problem: &Problem, seed: u64) -> Order {
    let mut sequence: Vec<u32> = (0..problem.len() as u32).collect();
    Random::new(seed, 0).shuffle(&mut sequence);
    Order::of(sequence)
}
