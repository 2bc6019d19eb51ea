//! Search: from an order to the shortest that so much work finds.
//!
//! Chains of exchanges are followed until none gains. Then the tour is kicked somewhere, by a double
//! bridge between short runs, and chains repair it from there; what came out longer is taken back
//! (iterated local search; Martin, Otto & Felten 1991), though less strictly at first: the slack
//! shrinks to nothing in rounds, each twice as long as the one before. A kick, its repair and its
//! undoing touch few cities, so that there are tens of thousands a second, whatever the batch.

pub(crate) mod candidates;
mod chain;
mod tour;

#[cfg(test)]
mod tests;

use crate::order::Order;
use crate::solve::cities::{Cities, City};
use crate::solve::effort::Meter;
use candidates::Candidates;
use chain::{Chains, DOUBLE_BRIDGE};
use tapewise_model::Random;
use tour::{Exchange, Tour};

/// The fewest cities that a kick leaves anything to be done with.
const FEWEST_KICKED: usize = 5;

/// The longest of the runs that a kick moves, in cities.
const KICKED_RUN: usize = 20;

/// Places that a kick passes over at most, as nothing is to be gained there.
const WORTHLESS_PLACES: usize = 50;

/// Work of the first round, for each city.
const ROUND_WORK: u64 = 20_000;

/// The greatest slack, in mean reduced costs of the arcs.
const SLACK_ARCS: u64 = 3;

/// The shortest order found from `start`, never a longer one.
///
/// A unit of work is a look at an arc. The same seed and work give the same order, unless time runs
/// out.
pub(crate) fn search(
    cities: &Cities,
    start: &Order,
    candidates: &Candidates,
    seed: u64,
    meter: &Meter,
) -> Order {
    let City(closing) = cities.closing();
    let sequence = [&[closing], start.visits()].concat();
    let mut chains = Chains::new(Tour::new(cities, candidates, sequence), candidates);
    chains.settle(meter);
    chains.tour.commit();
    let mut best = chains.tour.sequence().to_vec();
    if best.len() >= FEWEST_KICKED {
        kick_and_repair(&mut chains, &mut best, seed, meter);
    }
    let place = best.iter().position(|&city| city == closing).unwrap_or(0);
    Order::of([&best[place + 1..], &best[..place]].concat())
}

/// Kicks and repairs as long as there is work left; `best` is the best tour.
fn kick_and_repair(chains: &mut Chains, best: &mut [u32], seed: u64, meter: &Meter) {
    let mut random = Random::new(seed, 0);
    let mut best_total = chains.tour.total();
    let mut cooling = Cooling::new(chains.tour.len(), best_total, meter.left());
    while !meter.is_spent() {
        let before = chains.tour.total();
        kick(chains, &mut random);
        chains.settle(meter);
        let slack = random.below(cooling.slack(meter.left()) + 1) as i64;
        if chains.tour.total() > before + slack {
            chains.tour.undo();
            continue;
        }
        chains.tour.commit();
        if chains.tour.total() < best_total {
            best_total = chains.tour.total();
            best.copy_from_slice(chains.tour.sequence());
        }
    }
}

/// Exchanges two short runs, with a third one between them: a double bridge. It begins where the
/// tour leaves a city by an arc of some reduced cost: elsewhere nothing is to be gained.
fn kick(chains: &mut Chains, random: &mut Random) {
    let n = chains.tour.len();
    let longest = KICKED_RUN.min((n - 1) / 3) as u64;
    let mut place = 0;
    for _ in 0..WORTHLESS_PLACES {
        place = random.below(n as u64) as usize;
        if chains.tour.leaving(chains.tour.at(place)) > 0 {
            break;
        }
    }
    let mut cut = || {
        let tail = chains.tour.at(place % n);
        place += 1 + random.below(longest) as usize;
        tail
    };
    let [one, two, three, four] = [cut(), cut(), cut(), cut()];
    chains.exchange(Exchange {
        tails: &[one, three, two, four],
        to: DOUBLE_BRIDGE,
    });
}

/// How much longer a tour may become by a kick, over time.
struct Cooling {
    greatest: u64,
    round: u64,
    /// Work left when the round is over.
    until: u64,
}

impl Cooling {
    fn new(cities: usize, excess: i64, work_left: u64) -> Cooling {
        let cities = cities as u64;
        let round = ROUND_WORK * cities;
        Cooling {
            greatest: SLACK_ARCS * excess.unsigned_abs() / cities,
            round,
            until: work_left.saturating_sub(round),
        }
    }

    fn slack(&mut self, work_left: u64) -> u64 {
        if work_left <= self.until {
            self.round *= 2;
            self.until = work_left.saturating_sub(self.round);
        }
        let share = u128::from(work_left - self.until.min(work_left));
        (u128::from(self.greatest) * share / u128::from(self.round)) as u64
    }
}
