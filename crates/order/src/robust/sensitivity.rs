//! What each second of model error and each tenth of a per cent of map error costs for a batch.
//!
//! The order stays as planned; what changes is where the requests lie or how long locates take.
//! Beside the change of its total stands that of sorting, because an order is worth what it gains.

use crate::order::Order;
use crate::orders::sort::sort;
use crate::problem::Problem;
use crate::robust::alternatives::moved;
use tapewise_model::{BlockMap, LearnedMap, Micros, Random};

/// By how much totals change when something is wrong by one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The order's total, in the mean.
    pub order: Micros,
    /// The total of sorting, in the mean.
    pub sorted: Micros,
    /// Standard deviation of the order's total.
    pub spread: Micros,
}

impl Change {
    /// How much the advantage over sorting grows; less than nothing when it shrinks.
    pub fn advantage(&self) -> Micros {
        self.sorted - self.order
    }
}

/// How much a batch's total depends on what may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sensitivity {
    /// The order's total as predicted.
    pub order: Micros,
    /// The total of sorting as predicted.
    pub sorted: Micros,
    /// Every locate takes a second longer than the model says.
    pub locates_longer_by_1_s: Change,
    /// Every locate is off by chance, each for itself, by a standard deviation of a second.
    pub locates_scattered_by_1_s: Change,
    /// All wraps hold 0.1 % more or less than the map says: the mean of both.
    pub map_off_by_a_thousandth: Change,
    /// Each wrap holds by chance more or less than the map says, with a standard deviation of 0.1 %.
    pub wraps_scattered_by_a_thousandth: Change,
}

const SHARE: f64 = 0.001;

/// Tapes drawn for wraps that differ by chance.
const DRAWN: u64 = 16;

impl Sensitivity {
    /// The sensitivity of a batch in some order; recorded positions do not move, and without a map
    /// none does.
    pub fn new(problem: &Problem, order: &Order, map: Option<&BlockMap>) -> Sensitivity {
        let sorted = sort(problem);
        let both = [order, &sorted];
        let totals = both.map(|order| order.total_time(problem));
        let locates = both.map(|order| order.locates(problem) as f64);
        let second = |count: f64| Micros::from_secs_f64(count);
        let tapes = |tapes: Vec<Problem>| {
            let of = |order: &Order| tapes.iter().map(|tape| order.total_time(tape)).collect();
            change(totals, both.map(of))
        };
        let scaled = |map: &BlockMap| {
            let maps = [1.0 - SHARE, 1.0 + SHARE].map(|factor| map.scaled(factor));
            let place = |map: &BlockMap| {
                moved(problem, |old, block, after| {
                    map.nearest_position(old.partition, block, after)
                })
            };
            maps.iter().map(place).collect()
        };
        let drawn = |map: &BlockMap| {
            let place = |stream: u64| {
                let drawn = scattered(problem, map, &mut Random::new(0, stream));
                moved(problem, |old, block, after| {
                    drawn.position(old.partition, block, after)
                })
            };
            (0..DRAWN).map(place).collect()
        };
        Sensitivity {
            order: totals[0],
            sorted: totals[1],
            locates_longer_by_1_s: Change {
                order: second(locates[0]),
                sorted: second(locates[1]),
                spread: Micros::ZERO,
            },
            locates_scattered_by_1_s: Change {
                spread: second(locates[0].sqrt()),
                ..Change::default()
            },
            map_off_by_a_thousandth: tapes(map.map_or_else(Vec::new, scaled)),
            wraps_scattered_by_a_thousandth: tapes(map.map_or_else(Vec::new, drawn)),
        }
    }
}

/// A tape each of whose wraps differs from the map by chance.
fn scattered(problem: &Problem, map: &BlockMap, random: &mut Random) -> LearnedMap {
    let map = map.clone().with_errors(map.source(), SHARE, 0);
    LearnedMap::new(map, &problem.tape().geometry).drawn(random)
}

/// How totals on other tapes differ from those predicted: of the order first, then of sorting.
fn change(predicted: [Micros; 2], totals: [Vec<Micros>; 2]) -> Change {
    let count = totals[0].len().max(1) as f64;
    let mean = |which: usize| {
        let changes = totals[which].iter().map(|total| *total - predicted[which]);
        changes.sum::<Micros>().as_secs_f64() / count
    };
    let order = mean(0);
    let squares = totals[0].iter().map(|total| {
        let change = (*total - predicted[0]).as_secs_f64();
        (change - order).powi(2)
    });
    Change {
        order: Micros::from_secs_f64(order),
        sorted: Micros::from_secs_f64(mean(1)),
        spread: Micros::from_secs_f64((squares.sum::<f64>() / count).sqrt()),
    }
}
