//! How good the best schedule of a known trace could be: bounds that no schedule beats.
//!
//! The bound is a Lagrangian relaxation of the limit on drives. Each moment gets a price for keeping a
//! drive, from zero up. With prices instead of the limit, cartridges no longer hinder each other, so
//! the best schedule of each cartridge is found alone (the `single` module). The sum over cartridges, less what all drives
//! are worth at these prices, is a bound for any prices: weak duality. A subgradient method only looks for
//! prices that give a high bound, so nothing about it has to be proven. Everything that counts is computed in
//! integers. A second bound stands beside it: what each cartridge takes if it has a drive for itself.
//! docs/method/next-mount.md has the problem and the proof.
//!
//! ```
//! use tapewise_model::Micros;
//! use tapewise_sim::bounds::{Cartridge, Effort, Trace, Work};
//!
//! let read = |arrived| Work { arrived: Micros(arrived), work: Micros(30_000_000) };
//! let cartridge = |number| Cartridge {
//!     number,
//!     before: Micros(20_000_000),
//!     after: Micros(40_000_000),
//!     reads: vec![read(0)],
//! };
//! // Two cartridges, one drive: the second cartridge waits for the first to be put back.
//! let trace = Trace { drives: 1, cartridges: vec![cartridge(0), cartridge(1)] };
//! // 50 s for the first; 50 s and 40 s more and 50 s for the second.
//! let best = Micros(190_000_000);
//! let least = trace.least_responses(&Effort { known: Some(best), ..Effort::default() });
//! // Alone, each would take 50 s.
//! assert!(least > Micros(120_000_000) && least <= best);
//! ```

mod cartridge;
mod prices;
mod single;

pub use cartridge::{Cartridge, Work};

use cartridge::UNIT;
use prices::Prices;
use rayon::prelude::*;
use single::Single;
use tapewise_model::Micros;

/// A library's drives and everything that is ever asked of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Drives; each is taken to be able to read everything.
    pub drives: u32,
    /// Cartridges that are asked for.
    pub cartridges: Vec<Cartridge>,
}

/// How hard to look for prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Times are rounded down to multiples of this.
    pub tick: Micros,
    /// Prices change at multiples of this many ticks.
    pub bin: usize,
    /// Prices are tried this many times.
    pub rounds: u32,
    /// Responses, summed, of a schedule that is known: the steps are chosen by it. Any guess gives a
    /// bound; a good one gives a better bound.
    pub known: Option<Micros>,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            tick: Micros(1_000_000),
            bin: 60,
            rounds: 100,
            known: None,
        }
    }
}

/// The first step, as a share of what closes the gap to the known schedule at once.
const STEP: f64 = 0.1;

/// Rounds without a better bound before steps are halved.
const PATIENCE: u32 = 2;

/// The price of a drive's work beside that of a response, for the bound on work.
const WORK_PRICE: i64 = 3;

/// Prices end this long after the last arrival: later, drives cost nothing.
const AFTER_LAST: Micros = Micros(3_600_000_000);

impl Trace {
    /// Requests.
    pub fn requests(&self) -> usize {
        self.cartridges.iter().map(|one| one.reads.len()).sum()
    }

    /// A bound on all responses, summed: no schedule has less.
    pub fn least_responses(&self, effort: &Effort) -> Micros {
        self.least_cost(0, effort)
    }

    /// A bound on the time for which drives work, summed, for schedules whose responses sum up to no
    /// more than `responses`. Waiting in a drive for a request is no work.
    ///
    /// If responses plus `price` times work is at least `L`, then work is at least (`L` - responses) /
    /// `price`, for any price; it is computed at one. With no limit on responses the bound is one mount of each
    /// cartridge and every read.
    pub fn least_work(&self, responses: Micros, effort: &Effort) -> Micros {
        let once = self.once();
        let known = Some(responses + Micros(once.0 * WORK_PRICE));
        let least = self.least_cost(WORK_PRICE, &Effort { known, ..*effort });
        once.max(Micros((least - responses).0 / WORK_PRICE))
    }

    /// The work of drives if each cartridge is mounted once: no schedule has less, however long it takes.
    pub fn once(&self) -> Micros {
        let of = |one: &Cartridge| {
            let reads: Micros = one.reads.iter().map(|read| read.work).sum();
            one.before + one.after + reads
        };
        let used = self.cartridges.iter().filter(|one| !one.reads.is_empty());
        used.map(of).sum()
    }

    /// A bound on responses plus `price` times the time for which drives work.
    fn least_cost(&self, price: i64, effort: &Effort) -> Micros {
        let tick = effort.tick.0.max(1);
        let singles: Vec<Single> = (self.cartridges.par_iter())
            .filter(|cartridge| !cartridge.reads.is_empty())
            .map(|cartridge| Single::new(cartridge, tick))
            .collect();
        let reads = || self.cartridges.iter().flat_map(|one| &one.reads);
        let last = reads().map(|read| read.arrived).max();
        let ticks = (last.unwrap_or(Micros::ZERO) + AFTER_LAST).0 / tick;
        let mut prices = Prices::new(ticks as usize, effort.bin.max(1));
        let arrived: i128 = reads().map(|read| i128::from(read.arrived.0)).sum();
        // What rounding took from completions: no price depends on it.
        let exact: i128 = singles.iter().map(|one| i128::from(one.exact_us)).sum();
        let in_ticks = |us: i128| (us + arrived - exact) as f64 / tick as f64 * UNIT as f64;
        let known = effort.known.map(|known| in_ticks(known.0.into()));
        let bound =
            |cost: i128, prices: &Prices| cost - i128::from(prices.sum()) * i128::from(self.drives);
        let queue = self.queue(effort, prices.bins());
        let tries = [0, 1, 2].map(|halves| {
            let mut prices = Prices::new(ticks as usize, effort.bin.max(1));
            prices.set(queue.iter().map(|price| price * halves / 2).collect());
            (
                bound(round(&singles, &prices, price * UNIT).0, &prices),
                halves,
            )
        });
        let (mut best, halves) = tries.into_iter().max().unwrap_or((i128::MIN, 0));
        prices.set(queue.iter().map(|price| price * halves / 2).collect());
        let mut step = STEP;
        let mut since = 0;
        let mut kept = prices.all().to_vec();
        for _ in 0..effort.rounds.max(1) {
            let (cost, used) = round(&singles, &prices, price * UNIT);
            let bound = bound(cost, &prices);
            if bound > best {
                (best, kept, since) = (bound, prices.all().to_vec(), 0);
            } else if since < PATIENCE {
                since += 1;
            } else {
                // Back to the best prices, and on with smaller steps.
                prices.set(kept.clone());
                (step, since) = (step / 2.0, 0);
                continue;
            }
            // Without a schedule, the step aims at a bound that is a tenth better.
            let aim = known.unwrap_or(bound as f64 * 1.1 + 1.0);
            if !prices.follow(&used, self.drives, step * (aim - bound as f64).max(1.0)) {
                break;
            }
        }
        let completions = best * i128::from(tick) / i128::from(UNIT) + exact;
        Micros((completions - arrived).clamp(0, i64::MAX.into()) as i64)
    }
}

impl Trace {
    /// Prices to begin with: a second of a drive delays all that wait for that drive. How many wait is taken from a
    /// queue that drains steadily, in which every request is as much work as all are on average.
    fn queue(&self, effort: &Effort, bins: usize) -> Vec<i64> {
        let requests = self.requests().max(1) as i64;
        let each = (self.once().0 / requests).max(1);
        let bin_us = effort.tick.0.max(1) * effort.bin.max(1) as i64;
        let mut work = vec![0; bins];
        for read in self.cartridges.iter().flat_map(|one| &one.reads) {
            if let Some(work) = work.get_mut((read.arrived.0 / bin_us) as usize) {
                *work += each;
            }
        }
        let drives = i64::from(self.drives.max(1));
        let drained = |backlog: &mut i64, work: i64| {
            *backlog = (*backlog + work - drives * bin_us).max(0);
            Some(*backlog / each * UNIT / drives)
        };
        work.into_iter().scan(0, drained).collect()
    }
}

/// Every cartridge at its best at these prices: the cost, and the ticks of drives used in each bin.
fn round(singles: &[Single], prices: &Prices, work_price: i64) -> (i128, Vec<i64>) {
    let nothing = || (0_i128, vec![0_i64; prices.bins()]);
    let add = |(sum, mut used): (i128, Vec<i64>), one: &Single| {
        let cost = one.solve(prices, work_price, &mut used);
        (sum + i128::from(cost), used)
    };
    let join = |(a, mut used): (i128, Vec<i64>), (b, more): (i128, Vec<i64>)| {
        used.iter_mut()
            .zip(&more)
            .for_each(|(sum, more)| *sum += more);
        (a + b, used)
    };
    singles.par_iter().fold(nothing, add).reduce(nothing, join)
}
