//! One cartridge alone, at given prices of drives: no schedule of it costs less than what is computed here.
//!
//! Requests of one cartridge are not told apart: the sum of completions is the same whichever is
//! answered first. So the `l`-th answer comes no sooner than the `l`-th arrival allows, and a schedule is a
//! division of the answers into mounts, each with the time of its first read. Every read is split into
//! the least work of all of them, which is the same for each, and the rest. A mount is charged for the
//! first part; the rest is charged to each request where it is cheapest. The proof is in docs/method/next-mount.md.

use super::cartridge::{Cartridge, UNIT};
use super::prices::Prices;

/// A cartridge in ticks.
pub(super) struct Single {
    /// Arrivals in their order.
    arrived: Vec<i64>,
    before: i64,
    after: i64,
    /// What every read takes at least.
    work: i64,
    /// What each takes beyond that, with its arrival.
    rests: Vec<(i64, i64)>,
    /// By number of reads: the most that the rests of so many take together.
    most_rest: Vec<i64>,
    /// The part of a response's weight that mounts are chosen by; the rests are placed by the other.
    weight: i64,
    /// What it costs at least whatever drives cost: completions as if it had a drive for itself.
    alone: i64,
    /// What completions have beyond whole ticks, in microseconds.
    pub exact_us: i64,
}

/// What is chosen for the answers from one on.
#[derive(Clone, Copy)]
struct Mount {
    /// The tick at which its first read begins.
    start: i64,
    /// How many answers it gives.
    answers: usize,
}

/// The highest and lowest price in the bins from a mount's first read to some later time.
struct Span {
    next_bin: usize,
    highest: i64,
    lowest: i64,
}

impl Span {
    fn reach(&mut self, prices: &Prices, tick: i64) {
        let last = prices.bin_of(tick).min(prices.bins());
        while self.next_bin <= last {
            let price = prices.at(self.next_bin);
            self.highest = self.highest.max(price);
            self.lowest = self.lowest.min(price);
            self.next_bin += 1;
        }
    }
}

impl Single {
    pub(super) fn new(cartridge: &Cartridge, tick: i64) -> Single {
        let mut arrived: Vec<i64> = (cartridge.reads.iter())
            .map(|read| read.arrived.0 / tick)
            .collect();
        arrived.sort_unstable();
        let works = || cartridge.reads.iter().map(|read| read.work.0);
        let work = works().min().unwrap_or(0) / tick;
        let rest = |us: i64| us / tick - work;
        let mut sorted: Vec<i64> = works().map(rest).collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let most_rest: Vec<i64> = (sorted.iter())
            .scan(0, |sum, rest| {
                *sum += rest;
                Some(*sum)
            })
            .collect();
        let rests = (cartridge.reads.iter())
            .map(|read| (read.arrived.0 / tick, rest(read.work.0)))
            .collect();
        let count = arrived.len() as i64;
        let (before, after) = (cartridge.before.0 / tick, cartridge.after.0 / tick);
        let all_rest = most_rest.last().copied().unwrap_or(0);
        let mounted = (before + after + 2 * work).max(1) * count;
        let exact_us: i64 = works().map(|us| us - work * tick).sum();
        let alone_us = i128::from(cartridge.alone().0 - exact_us);
        Single {
            alone: (alone_us * i128::from(UNIT) / i128::from(tick)) as i64,
            weight: UNIT * mounted / (mounted + 2 * all_rest),
            exact_us,
            arrived,
            before,
            after,
            work,
            rests,
            most_rest,
        }
    }

    /// The least cost in integer prices; adds what the choice uses of drives to `used`.
    pub(super) fn solve(&self, prices: &Prices, work_price: i64, used: &mut [i64]) -> i64 {
        let count = self.arrived.len();
        // From an answer on, if nothing but arrivals and reads took time.
        let mut free = vec![0; count + 1];
        for answer in (0..count).rev() {
            let response = self.weight * (self.arrived[answer] + self.work);
            free[answer] = free[answer + 1] + response + work_price * self.work;
        }
        let mut least = vec![0; count + 1];
        let mut mounts = Vec::with_capacity(count);
        for answer in (0..count).rev() {
            let (cost, mount) = self.mount(answer, prices, work_price, &free, &least);
            least[answer] = cost;
            mounts.push(mount);
        }
        mounts.reverse();
        let mut answer = 0;
        while let Some(mount) = mounts.get(answer) {
            let mut done = mount.start;
            for &arrived in &self.arrived[answer..answer + mount.answers] {
                done = done.max(arrived) + self.work;
            }
            prices.count(used, mount.start - self.before, done + self.after);
            answer += mount.answers;
        }
        let rests = self.rests.iter().map(|&(arrived, rest)| {
            let (cost, at) = self.rest(arrived, rest, prices);
            prices.count(used, at, at + rest);
            cost + work_price * rest
        });
        (least[0] + rests.sum::<i64>()).max(self.alone)
    }

    /// The best mount for the answers from `first` on.
    fn mount(
        &self,
        first: usize,
        prices: &Prices,
        work_price: i64,
        free: &[i64],
        least: &[i64],
    ) -> (i64, Mount) {
        let soonest = self.arrived[first] + self.before;
        let mut best = i64::MAX;
        let mut mount = Mount {
            start: soonest,
            answers: 1,
        };
        let fixed = work_price * (self.before + self.after + self.work);
        // From the last tick on nothing costs anything, so waiting longer gains nothing.
        for start in soonest..=(prices.end() + self.before).max(soonest) {
            let later = self.weight * (start + self.work) + fixed + free[first + 1];
            if later >= best {
                break;
            }
            let (cost, answers) = self.filled(first, start, prices, work_price, free, least, best);
            if cost < best {
                best = cost;
                mount = Mount { start, answers };
            }
        }
        (best, mount)
    }

    /// The best number of answers of a mount that begins to read at `start`.
    #[expect(
        clippy::too_many_arguments,
        reason = "the innermost loop of the bound, cut out of `mount`"
    )]
    fn filled(
        &self,
        first: usize,
        start: i64,
        prices: &Prices,
        work_price: i64,
        free: &[i64],
        least: &[i64],
        limit: i64,
    ) -> (i64, usize) {
        let fetched = prices.before(start) - prices.before(start - self.before);
        let before = prices.before(start);
        let mut fixed = work_price * (self.before + self.after) + fetched;
        let mut span = Span {
            // A start a moment before this tick is priced with this tick.
            next_bin: prices.bin_of(start - 1),
            highest: 0,
            lowest: i64::MAX,
        };
        let (mut best, mut answers) = (limit, 0);
        let (mut done, mut held) = (start, 0);
        for (answer, &arrived) in self.arrived.iter().enumerate().skip(first) {
            held += (arrived - done).max(0);
            done = done.max(arrived) + self.work;
            fixed += self.weight * done + work_price * self.work;
            let rest = self.most_rest[answer - first];
            let mut kept = prices.before(done + self.after) - before;
            if rest > 0 {
                // Rests read in between are paid for by themselves, wherever they lie. The last term is
                // for starts between two ticks.
                span.reach(prices, done + self.after + rest);
                let lent = rest * (span.highest - span.lowest) + rest.min(held) * span.highest;
                kept = (kept - lent - 2 * span.highest).max(0);
            }
            let cost = fixed + kept + least[answer + 1];
            if cost < best {
                (best, answers) = (cost, answer - first + 1);
            }
            let all_rest = self.most_rest[self.most_rest.len() - 1];
            let lent = match all_rest {
                0 => 0,
                rest => 2 * (rest + 1) * prices.highest(),
            };
            let paid = (prices.before(done) - before - lent).max(0);
            if fixed + paid + free[answer + 1] >= best {
                break;
            }
        }
        (best, answers)
    }

    /// Where the rest of a read costs least, after the part that is charged to its mount.
    fn rest(&self, arrived: i64, rest: i64, prices: &Prices) -> (i64, i64) {
        let weight = UNIT - self.weight;
        let soonest = arrived + self.work;
        if rest == 0 {
            return (weight * soonest, soonest);
        }
        let (mut best, mut place) = (i64::MAX, soonest);
        for at in soonest..=prices.end().max(soonest) {
            if weight * at >= best {
                break;
            }
            let cost = weight * at + prices.before(at + rest) - prices.before(at);
            if cost < best {
                (best, place) = (cost, at);
            }
        }
        (best, place)
    }
}
