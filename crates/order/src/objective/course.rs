//! An order with its times, and what it would come to if two neighbouring runs changed places.
//!
//! With the times at which visits end, and sums of the weights that are late from the first visit
//! on, the change is known in constant time: each of the two runs, and all that follows, is read
//! earlier or later as a whole. A run that is read `s` later costs at least `s` times the weight
//! that is late in it by now, because lateness is convex; exactly that where all is due now, or
//! where no deadline is passed on the way. So the visits themselves are looked at only for moves
//! that this bound lets hope.

use super::batch::Batch;
use super::goal::{Goal, Score, Sums};

/// Two runs next to each other: places `a..b` and `b..c`. Place 0 is the head's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Swap {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) c: usize,
}

/// By how much later the runs `a..b`, `b..c` and all that follows are read after a swap.
#[derive(Clone, Copy, Debug)]
struct Shifts {
    first: i64,
    second: i64,
    rest: i64,
}

/// An order, being changed.
#[derive(Clone)]
pub(super) struct Course<'a> {
    batch: &'a Batch<'a>,
    /// The cities in order, with the one where the tour closes at both ends.
    stops: Vec<u32>,
    place: Vec<u32>,
    /// When the visit at each place ends; behind the last, when the head is where it is to be left.
    done: Vec<i64>,
    /// Weights that a delay makes later, and that haste makes less late, of all places before.
    rise: Vec<i64>,
    fall: Vec<i64>,
    /// How much later, or sooner, all from a place on can be read before a deadline is passed.
    later: Vec<i64>,
    sooner: Vec<i64>,
    sums: Sums,
}

impl Batch<'_> {
    /// What an order comes to.
    pub(super) fn sums(&self, sequence: &[u32]) -> Sums {
        Course::new(self, sequence).sums()
    }

    pub(super) fn score(&self, goal: &Goal, sequence: &[u32]) -> Score {
        goal.score(&self.sums(sequence))
    }
}

impl<'a> Course<'a> {
    pub(super) fn new(batch: &'a Batch<'a>, sequence: &[u32]) -> Course<'a> {
        let closing = batch.len() as u32;
        let ends = [closing];
        let stops: Vec<u32> = ends.iter().chain(sequence).chain(&ends).copied().collect();
        let mut course = Course {
            batch,
            place: vec![0; stops.len()],
            done: vec![0; stops.len()],
            rise: vec![0; stops.len() + 1],
            fall: vec![0; stops.len() + 1],
            later: vec![i64::MAX; stops.len() + 1],
            sooner: vec![i64::MAX; stops.len() + 1],
            sums: Sums::default(),
            stops,
        };
        course.time_all();
        course
    }

    /// Times and sums from nothing: what every change must agree with.
    fn time_all(&mut self) {
        self.sums = Sums {
            distance: self.batch.within_lpos,
            ..Sums::default()
        };
        if self.batch.len() == 0 {
            return;
        }
        self.time_from(1, self.stops.len());
        self.weigh_from(1);
        for at in 1..self.stops.len() {
            let dues = &self.batch.dues;
            self.sums.lateness += dues.lateness(self.stops[at], self.done[at]);
            self.sums.distance += self.moved_lpos(at - 1, at);
        }
        self.sums.total = self.done[self.stops.len() - 1];
    }

    /// Sets places and times from place `begin` to before `end`.
    fn time_from(&mut self, begin: usize, end: usize) {
        for at in begin..end {
            let city = self.stops[at];
            if at + 1 < self.stops.len() {
                self.place[city as usize] = at as u32;
            }
            let service = self.batch.service[city as usize];
            self.done[at] = self.done[at - 1] + self.link(at - 1, at) + service;
        }
    }

    fn weigh_from(&mut self, begin: usize) {
        for at in begin..self.stops.len() {
            let (rise, fall) = self.batch.dues.slopes(self.stops[at], self.done[at]);
            self.rise[at + 1] = self.rise[at] + rise;
            self.fall[at + 1] = self.fall[at] + fall;
        }
        if self.batch.dues.all_now {
            return;
        }
        for at in (1..self.stops.len()).rev() {
            let (later, sooner) = self.batch.dues.rooms(self.stops[at], self.done[at]);
            self.later[at] = self.later[at + 1].min(later);
            self.sooner[at] = self.sooner[at + 1].min(sooner);
        }
    }

    /// The visits in order.
    pub(super) fn sequence(&self) -> &[u32] {
        &self.stops[1..self.stops.len() - 1]
    }

    /// What the order comes to.
    pub(super) fn sums(&self) -> Sums {
        self.sums
    }

    /// The city at a place.
    pub(super) fn stop(&self, at: usize) -> u32 {
        self.stops[at]
    }

    /// The place of a city; of the closing one, the head's.
    pub(super) fn place(&self, city: u32) -> usize {
        self.place[city as usize] as usize
    }

    /// The place behind the last visit.
    pub(super) fn end(&self) -> usize {
        self.stops.len() - 1
    }

    /// The cost of an arc.
    #[inline(always)]
    pub(super) fn cost(&self, tail: u32, head: u32) -> i64 {
        self.batch.cities.cost(tail as usize, head as usize)
    }

    /// The cost of going from the city at a place to the one at another.
    #[inline(always)]
    pub(super) fn link(&self, from: usize, to: usize) -> i64 {
        self.cost(self.stops[from], self.stops[to])
    }

    fn moved_lpos(&self, from: usize, to: usize) -> i64 {
        self.batch.moved_lpos(self.stops[from], self.stops[to])
    }

    /// When the head comes to a place.
    #[inline(always)]
    fn arrival(&self, at: usize) -> i64 {
        self.done[at] - self.batch.service[self.stops[at] as usize]
    }

    #[inline(always)]
    fn shifts(&self, Swap { a, b, c }: Swap) -> Shifts {
        let second = self.done[a - 1] + self.link(a - 1, b) - self.arrival(b);
        let first = self.done[c - 1] + second + self.link(c - 1, a) - self.arrival(a);
        let rest = self.done[b - 1] + first + self.link(b - 1, c) - self.arrival(c);
        Shifts {
            first,
            second,
            rest,
        }
    }

    /// The runs of a swap with their shifts.
    fn runs(&self, swap: Swap, shifts: Shifts) -> [(usize, usize, i64); 3] {
        [
            (swap.a, swap.b, shifts.first),
            (swap.b, swap.c, shifts.second),
            (swap.c, self.stops.len(), shifts.rest),
        ]
    }

    /// No more than what a swap adds to the lateness; exactly that where all is due now.
    #[inline(always)]
    fn least_added(&self, swap: Swap, shifts: Shifts) -> i128 {
        let added = self.runs(swap, shifts).map(|(begin, end, shift)| {
            let slopes = if shift > 0 { &self.rise } else { &self.fall };
            i128::from(shift) * i128::from(slopes[end] - slopes[begin])
        });
        added.iter().sum()
    }

    /// What a swap adds to the lateness.
    fn added(&self, swap: Swap, shifts: Shifts) -> i128 {
        if self.batch.dues.all_now {
            return self.least_added(swap, shifts);
        }
        let runs = self.runs(swap, shifts);
        runs.iter().map(|&run| self.added_to(run)).sum()
    }

    fn added_to(&self, (begin, end, shift): (usize, usize, i64)) -> i128 {
        if -self.sooner[begin] <= shift && shift <= self.later[begin] {
            let slopes = if shift > 0 { &self.rise } else { &self.fall };
            return i128::from(shift) * i128::from(slopes[end] - slopes[begin]);
        }
        let dues = &self.batch.dues;
        let added = (begin..end).map(|at| {
            let (city, done) = (self.stops[at], self.done[at]);
            dues.lateness(city, done + shift) - dues.lateness(city, done)
        });
        added.sum()
    }

    /// Tape that a swap moves more.
    fn added_lpos(&self, Swap { a, b, c }: Swap) -> i64 {
        self.moved_lpos(a - 1, b) + self.moved_lpos(c - 1, a) + self.moved_lpos(b - 1, c)
            - self.moved_lpos(a - 1, a)
            - self.moved_lpos(b - 1, b)
            - self.moved_lpos(c - 1, c)
    }

    /// What the order would come to after a swap that serves a goal; `None` where it does not.
    #[inline]
    pub(super) fn better(&self, swap: Swap, goal: &Goal) -> Option<Sums> {
        let shifts = self.shifts(swap);
        let hoped = Sums {
            lateness: self.sums.lateness + self.least_added(swap, shifts),
            total: self.sums.total + shifts.rest,
            distance: 0,
        };
        let distance = || self.sums.distance + self.added_lpos(swap);
        if !goal.better(&self.sums, &hoped, distance) {
            return None;
        }
        let then = Sums {
            lateness: self.sums.lateness + self.added(swap, shifts),
            distance: distance(),
            ..hoped
        };
        goal.better(&self.sums, &then, distance).then_some(then)
    }

    /// Swaps two runs.
    pub(super) fn swap(&mut self, swap: Swap) {
        let Swap { a, b, c } = swap;
        let shifts = self.shifts(swap);
        self.sums = Sums {
            lateness: self.sums.lateness + self.added(swap, shifts),
            total: self.sums.total + shifts.rest,
            distance: self.sums.distance + self.added_lpos(swap),
        };
        self.stops[a..c].rotate_left(b - a);
        self.time_from(a, c);
        for done in &mut self.done[c..] {
            *done += shifts.rest;
        }
        self.weigh_from(a);
        debug_assert!(self.agrees_with_recomputation());
    }

    fn agrees_with_recomputation(&self) -> bool {
        let fresh = Course::new(self.batch, self.sequence());
        fresh.sums == self.sums && fresh.done == self.done && fresh.place == self.place
    }

    /// Becomes a copy of another course of the same batch, without allocating.
    pub(super) fn copy_from(&mut self, other: &Course<'a>) {
        self.stops.copy_from_slice(&other.stops);
        self.place.copy_from_slice(&other.place);
        self.done.copy_from_slice(&other.done);
        self.rise.copy_from_slice(&other.rise);
        self.fall.copy_from_slice(&other.fall);
        self.later.copy_from_slice(&other.later);
        self.sooner.copy_from_slice(&other.sooner);
        self.sums = other.sums;
    }
}
