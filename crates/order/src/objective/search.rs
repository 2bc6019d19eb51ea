//! Local search: neighbouring runs change places as long as that is better, with kicks.
//!
//! Swapping two neighbouring runs (Or-3opt) is the only change of three arcs that keeps every run's
//! direction. Those are tried in which a visit is followed by a near one. Visits wait in a queue
//! until nothing near them has changed since they were last looked at.

use super::batch::Batch;
use super::course::{Course, Swap};
use super::goal::{Goal, Score, Sums};
use crate::solve::effort::Meter;
use std::collections::VecDeque;
use tapewise_model::Random;

/// Longest run whose every length is tried.
const RUN: usize = 16;

/// Longest run that a kick moves.
const KICKED_RUN: u64 = 30;

/// Arcs that a swap looks at.
const ARCS_PER_SWAP: usize = 3;

/// Places that are timed anew in the time in which one arc is looked at.
const PLACES_PER_ARC: usize = 3;

/// A search over the orders of a batch.
pub(super) struct Search<'a, 'b> {
    batch: &'a Batch<'a>,
    goal: &'b Goal,
    meter: &'b Meter<'b>,
    random: Random,
    queue: VecDeque<u32>,
    waiting: Vec<bool>,
    /// Whether to join two cities only by an arc that is shorter than one it replaces. Without it
    /// whole runs find their best place in the order; with it four times as many kicks are made.
    shorter_only: bool,
}

impl<'a, 'b> Search<'a, 'b> {
    pub(super) fn new(
        batch: &'a Batch<'a>,
        goal: &'b Goal,
        meter: &'b Meter<'b>,
        seed: u64,
    ) -> Search<'a, 'b> {
        Search {
            batch,
            goal,
            meter,
            random: Random::new(seed, 0),
            queue: VecDeque::with_capacity(batch.len() + 1),
            waiting: vec![false; batch.len() + 1],
            shorter_only: false,
        }
    }

    /// The order that no swap tried makes better, or as far as a third of the work that is left
    /// gets; never worse than the start.
    pub(super) fn descend(&mut self, start: &[u32]) -> Vec<u32> {
        if self.batch.len() < 2 {
            return start.to_vec();
        }
        let reserved = self.meter.left() - self.meter.left() / 3;
        let mut course = Course::new(self.batch, start);
        for at in 0..course.end() {
            self.wait(course.stop(at));
        }
        self.settle(&mut course, reserved);
        course.sequence().to_vec()
    }

    /// Shakes an order, a little each time, and keeps what is no worse, until the work is done.
    pub(super) fn kick(&mut self, start: &[u32]) -> Vec<u32> {
        let n = self.batch.len();
        if n < 3 {
            return start.to_vec();
        }
        self.shorter_only = true;
        let mut best = Course::new(self.batch, start);
        let mut course = best.clone();
        while !self.meter.is_spent() {
            let swap = self.random_swap();
            course.swap(swap);
            self.wait_around(&course, swap);
            self.settle(&mut course, 0);
            self.work(1 + n / PLACES_PER_ARC);
            if self.score(&course.sums()) <= self.score(&best.sums()) {
                best.copy_from(&course);
            } else {
                course.copy_from(&best);
            }
        }
        best.sequence().to_vec()
    }

    fn score(&self, sums: &Sums) -> Score {
        self.goal.score(sums)
    }

    fn random_swap(&mut self) -> Swap {
        let n = self.batch.len();
        let mut length = || 1 + self.random.below(KICKED_RUN.min(n as u64 / 2)) as usize;
        let (first, second) = (length(), length());
        let places = (n + 1 - first - second) as u64;
        let a = 1 + self.random.below(places) as usize;
        Swap {
            a,
            b: a + first,
            c: a + first + second,
        }
    }

    fn wait(&mut self, city: u32) {
        if !std::mem::replace(&mut self.waiting[city as usize], true) {
            self.queue.push_back(city);
        }
    }

    /// The cities whose neighbours a swap has changed are to be looked at again.
    fn wait_around(&mut self, course: &Course, Swap { a, b, c }: Swap) {
        // After the swap the second run lies at `a`, the first behind it.
        let middle = a + (c - b);
        for at in [a - 1, a, middle - 1, middle, c - 1, c] {
            self.wait(course.stop(at));
        }
    }

    fn work(&self, arcs: usize) {
        self.meter.spend(arcs as u64);
    }

    /// Works the queue off; stops when no more than `reserved` work is left.
    fn settle(&mut self, course: &mut Course<'a>, reserved: u64) {
        while let Some(city) = self.queue.pop_front() {
            self.waiting[city as usize] = false;
            while self.meter.left() > reserved && !self.meter.is_out_of_time() {
                let Some(swap) = self.best_swap(course, city) else {
                    break;
                };
                course.swap(swap);
                self.work((course.end() - swap.a) / PLACES_PER_ARC);
                self.wait_around(course, swap);
            }
        }
    }

    /// The best of the swaps that put a near visit behind or before a city.
    fn best_swap(&mut self, course: &Course, city: u32) -> Option<Swap> {
        let batch = self.batch;
        let mut best: Option<(Score, Swap)> = None;
        let mut tried = 0;
        let mut attempt = |swap: Swap| {
            tried += 1;
            if let Some(sums) = course.better(swap, self.goal) {
                let found = (self.goal.score(&sums), swap);
                if best.is_none_or(|best| found.0 < best.0) {
                    best = Some(found);
                }
            }
        };
        let at = course.place(city);
        for &next in batch.near.after(city) {
            if self.shorter_only && course.cost(city, next) >= course.link(at, at + 1) {
                break;
            }
            swaps_that_join(batch, course, city, next, &mut attempt);
        }
        if at > 0 {
            for &tail in batch.near.before(city) {
                if self.shorter_only && course.cost(tail, city) >= course.link(at - 1, at) {
                    break;
                }
                swaps_that_join(batch, course, tail, city, &mut attempt);
            }
        }
        self.work(tried * ARCS_PER_SWAP);
        best.map(|(_, swap)| swap)
    }
}

/// Calls `attempt` with swaps after which `next` follows `tail`: those of short runs, and those of
/// long ones that join another visit to a near one, or reach the end.
fn swaps_that_join(
    batch: &Batch,
    course: &Course,
    tail: u32,
    next: u32,
    attempt: &mut impl FnMut(Swap),
) {
    let (i, j) = (course.place(tail), course.place(next));
    let end = course.end();
    let near = &batch.near;
    if j > i + 1 {
        // `next` moves forward with what follows it ...
        let a = i + 1;
        for c in j + 1..=end.min(j + RUN) {
            attempt(Swap { a, b: j, c });
        }
        let tails = near.before(course.stop(a)).iter();
        let far = tails.map(|&tail| course.place(tail) + 1);
        for c in far.chain([end]).filter(|&c| c > j + RUN && c <= end) {
            attempt(Swap { a, b: j, c });
        }
        // ... or `tail` moves back with what it follows.
        let (b, c) = (i + 1, j);
        for a in (i + 1).saturating_sub(RUN).max(1)..=i {
            attempt(Swap { a, b, c });
        }
        let heads = near.after(course.stop(j - 1)).iter();
        let far = heads.map(|&head| course.place(head));
        for a in far.chain([1]).filter(|&a| a + RUN < i + 1) {
            attempt(Swap { a, b, c });
        }
    } else if j < i {
        // The run from `next` to `tail` is cut in two, which change places.
        let (a, c) = (j, i + 1);
        let short = j + 1..=i.min(j + RUN);
        let last = (j + RUN + 1).max((i + 1).saturating_sub(RUN))..=i;
        for b in short.chain(last) {
            attempt(Swap { a, b, c });
        }
        let heads = near.after(course.stop(j - 1)).iter();
        let far = heads.map(|&head| course.place(head));
        for b in far.filter(|&b| b > j + RUN && b + RUN <= i) {
            attempt(Swap { a, b, c });
        }
    }
}
