//! The moves: chains of arcs taken out and put in by turns.
//!
//! A chain takes out an arc `a -> b` of the tour, puts in another one to `b`, which leaves its tail
//! with two arcs; takes out the old one of those, whose head now lacks one, puts in another one to
//! that head, and so on. At any length the chain is closed by an arc from `a` to the last head.
//! As no run of cities is turned, a chain leaves one tour only where it exchanges an odd number of
//! arcs. Two arcs exchanged leave two cycles, which two more may join again: the double bridge.
//!
//! Every closed chain that gains can begin with an arc from which on it has gained at every step
//! (Lin & Kernighan 1973), so no other chain is followed. Judged by reduced costs hardly an arc of a
//! good tour is worth beginning with, and few are worth going on with, so all of them are tried.

use crate::solve::effort::Meter;
use crate::solve::search::candidates::Candidates;
use crate::solve::search::tour::{Exchange, Tour};

/// The most arcs that a chain exchanges.
const MOST_ARCS: usize = 5;

/// Whose head each tail gets when a chain of so many arcs is closed.
pub(crate) const CLOSED: [&[u8]; MOST_ARCS + 1] = [
    &[],
    &[],
    &[1, 0],
    &[2, 0, 1],
    &[3, 0, 1, 2],
    &[4, 0, 1, 2, 3],
];

/// Whose head each tail gets by two exchanges of two arcs.
pub(crate) const DOUBLE_BRIDGE: &[u8] = &[1, 0, 3, 2];

/// The longest of the two cycles for which a double bridge is looked for, in cities.
const BRIDGED_CITIES: usize = 300;

/// A tour under improvement.
pub(crate) struct Chains<'a> {
    pub(crate) tour: Tour<'a>,
    candidates: &'a Candidates,
    /// The tails of the arcs taken out.
    tails: [u32; MOST_ARCS],
    /// Cities whose leaving arc is new, to begin chains with.
    fresh: Vec<u32>,
    is_fresh: Vec<bool>,
    /// Arcs looked at since the meter was told.
    work: u64,
}

impl<'a> Chains<'a> {
    /// All arcs of the tour are yet to be tried.
    pub(crate) fn new(tour: Tour<'a>, candidates: &'a Candidates) -> Chains<'a> {
        Chains {
            candidates,
            tails: [0; MOST_ARCS],
            fresh: (0..tour.len() as u32).rev().collect(),
            is_fresh: vec![true; tour.len()],
            tour,
            work: 0,
        }
    }

    /// Exchanges arcs, whatever it costs.
    pub(crate) fn exchange(&mut self, exchange: Exchange) {
        self.tour.apply(exchange);
        for &tail in exchange.tails {
            if !std::mem::replace(&mut self.is_fresh[tail as usize], true) {
                self.fresh.push(tail);
            }
        }
    }

    /// Exchanges arcs as long as any chain gains, or until the work is done.
    pub(crate) fn settle(&mut self, meter: &Meter) {
        while let Some(tail) = self.fresh.pop() {
            self.is_fresh[tail as usize] = false;
            while meter.spend(std::mem::take(&mut self.work)) && self.gain_from(tail) {}
        }
    }

    /// Finds a chain that gains by taking out the arc from `tail`, and exchanges its arcs.
    fn gain_from(&mut self, tail: u32) -> bool {
        self.work += 1;
        self.tails[0] = tail;
        self.go_on(1, self.tour.next(tail), self.tour.leaving(tail))
    }

    /// Goes on with a chain that has taken out `arcs` arcs, the last to `head`, and gained so far.
    fn go_on(&mut self, arcs: usize, head: u32, gain: i64) -> bool {
        let candidates = self.candidates;
        for candidate in candidates.to(head) {
            if candidate.reduced >= gain {
                break;
            }
            self.work += 1;
            if self.tails[..arcs].contains(&candidate.tail) {
                continue;
            }
            self.tails[arcs] = candidate.tail;
            let gain = gain - candidate.reduced + self.tour.leaving(candidate.tail);
            let head = self.tour.next(candidate.tail);
            let arcs = arcs + 1;
            if self.close(arcs, head, gain) || arcs < MOST_ARCS && self.go_on(arcs, head, gain) {
                return true;
            }
        }
        false
    }

    /// Closes a chain if that gains and leaves one tour.
    fn close(&mut self, arcs: usize, head: u32, gain: i64) -> bool {
        if arcs == 4 {
            return false;
        }
        let gain = gain - self.tour.reduced(self.tails[0], head);
        if gain <= 0 {
            return false;
        }
        if arcs == 2 {
            return self.bridge(gain);
        }
        let tails = self.tails;
        let exchange = Exchange {
            tails: &tails[..arcs],
            to: CLOSED[arcs],
        };
        let whole = self.tour.stays_whole(exchange);
        if whole {
            self.exchange(exchange);
        }
        whole
    }

    /// Joins the two cycles that a chain of two arcs leaves, if that costs less than it gained.
    fn bridge(&mut self, gain: i64) -> bool {
        let candidates = self.candidates;
        let [one, two, ..] = self.tails;
        let n = self.tour.len();
        // One cycle runs from behind `one` to `two`, the other from behind `two` to `one`.
        let between = (self.tour.place(two) + n - self.tour.place(one)) % n;
        let (before, length) = if between <= n - between {
            (one, between)
        } else {
            (two, n - between)
        };
        if length > BRIDGED_CITIES {
            return false;
        }
        let begin = (self.tour.place(before) + 1) % n;
        for step in 1..length {
            let head = self.tour.at((begin + step) % n);
            let inner = self.tour.at((begin + step - 1) % n);
            let open = gain + self.tour.leaving(inner);
            self.work += 1;
            for candidate in candidates.to(head) {
                if candidate.reduced >= open {
                    break;
                }
                self.work += 1;
                let outer = candidate.tail;
                let is_inside = (self.tour.place(outer) + n - begin) % n < length;
                if is_inside || outer == before {
                    continue;
                }
                let open = open - candidate.reduced + self.tour.leaving(outer);
                if open > self.tour.reduced(inner, self.tour.next(outer)) {
                    self.exchange(Exchange {
                        tails: &[one, two, inner, outer],
                        to: DOUBLE_BRIDGE,
                    });
                    return true;
                }
            }
        }
        false
    }
}
