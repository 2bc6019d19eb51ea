//! Patching: from a cheapest assignment, which may be several cycles, to one order.
//!
//! Two cycles become one by exchanging the successors of a city in each (after Karp 1979); the
//! cheapest exchange goes first. On a tape cycles that pass the same place in the same direction
//! are joined at almost no cost, so little is lost. An exchange is looked for where one of its two
//! arcs is a candidate, one of little reduced cost; only what no candidate joins looks at all
//! cities.

use crate::order::Order;
use crate::problem::Problem;
use crate::solve::assignment::Assignment;
use crate::solve::cities::Cities;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The largest batch in which all pairs of cities are looked at: from there on candidates alone are as
/// good, and below by up to 3 % worse.
const ALL_PAIRS_VISITS: usize = 400;

/// The order that an assignment's cycles are joined to.
pub fn patch(problem: &Problem, assignment: &Assignment) -> Order {
    let mut patching = Patching::new(problem, assignment);
    if problem.len() > ALL_PAIRS_VISITS {
        patching.join_by_candidates(assignment);
    }
    patching.join_the_rest();
    patching.into_order()
}

/// Cycles in the course of being joined.
struct Patching<'a> {
    cities: Cities<'a>,
    successor: Vec<u32>,
    predecessor: Vec<u32>,
    /// By city: another one of its cycle; one in each cycle stands for it.
    leader: Vec<u32>,
    cycles: usize,
}

/// An exchange of the successors of two cities; what it adds comes first, for sorting.
type Exchange = (i64, u32, u32);

impl<'a> Patching<'a> {
    fn new(problem: &'a Problem, assignment: &Assignment) -> Patching<'a> {
        // The end leads back to the head, so that the path from head to end is a cycle too.
        let successor = assignment.successor.clone();
        let mut predecessor = vec![0; successor.len()];
        for (city, &next) in successor.iter().enumerate() {
            predecessor[next as usize] = city as u32;
        }
        let mut leader = vec![u32::MAX; successor.len()];
        let mut cycles = 0;
        for start in 0..successor.len() {
            let mut at = start;
            cycles += usize::from(leader[start] == u32::MAX);
            while leader[at] == u32::MAX {
                leader[at] = start as u32;
                at = successor[at] as usize;
            }
        }
        Patching {
            cities: Cities::sparse(problem),
            successor,
            predecessor,
            leader,
            cycles,
        }
    }

    fn cycle(&mut self, city: u32) -> u32 {
        let mut at = city as usize;
        while self.leader[at] as usize != at {
            self.leader[at] = self.leader[self.leader[at] as usize];
            at = self.leader[at] as usize;
        }
        at as u32
    }

    /// What it costs that `one` and `other` exchange their successors.
    fn exchange(&self, one: u32, other: u32) -> Exchange {
        let (one, other) = (one as usize, other as usize);
        let after_one = self.successor[one] as usize;
        let after_other = self.successor[other] as usize;
        let cost = |tail, head| self.cities.cost(tail, head);
        let added = cost(one, after_other) + cost(other, after_one)
            - cost(one, after_one)
            - cost(other, after_other);
        (added, one as u32, other as u32)
    }

    fn join(&mut self, one: u32, other: u32) {
        let (first, second) = (self.cycle(one), self.cycle(other));
        self.leader[second as usize] = first;
        self.cycles -= 1;
        self.successor.swap(one as usize, other as usize);
        for city in [one, other] {
            self.predecessor[self.successor[city as usize] as usize] = city;
        }
    }

    /// Joins by the cheapest exchanges first, of those that make a candidate arc.
    fn join_by_candidates(&mut self, assignment: &Assignment) {
        let mut exchanges = BinaryHeap::new();
        for one in 0..self.successor.len() as u32 {
            for &head in assignment.candidates(one) {
                if self.cycle(head) != self.cycle(one) {
                    let other = self.predecessor[head as usize];
                    exchanges.push(Reverse(self.exchange(one, other)));
                }
            }
        }
        while self.cycles > 1
            && let Some(Reverse((added, one, other))) = exchanges.pop()
        {
            if self.cycle(one) == self.cycle(other) {
                continue;
            }
            // Either may have got another successor since.
            let now = self.exchange(one, other);
            match now.0 <= added {
                true => self.join(one, other),
                false => exchanges.push(Reverse(now)),
            }
        }
    }

    /// Joins what is left, the smallest cycle first, each where it costs least among all cities.
    fn join_the_rest(&mut self) {
        while self.cycles > 1 {
            let small = self.smallest_cycle();
            let mine = self.cycle(small[0]);
            let cities = 0..self.successor.len() as u32;
            let others: Vec<u32> = cities.filter(|&city| self.cycle(city) != mine).collect();
            let pairs = small
                .iter()
                .flat_map(|&one| others.iter().map(move |&other| (one, other)));
            let cheapest = pairs.map(|(one, other)| self.exchange(one, other)).min();
            if let Some((_, one, other)) = cheapest {
                self.join(one, other);
            }
        }
    }

    fn smallest_cycle(&mut self) -> Vec<u32> {
        let mut size = vec![0u32; self.successor.len()];
        for city in 0..self.successor.len() as u32 {
            size[self.cycle(city) as usize] += 1;
        }
        let leaders = (0..size.len()).filter(|&city| size[city] > 0);
        let start = leaders.min_by_key(|&city| size[city]).unwrap_or(0) as u32;
        let mut cycle = vec![start];
        let mut at = self.successor[start as usize];
        while at != start {
            cycle.push(at);
            at = self.successor[at as usize];
        }
        cycle
    }

    fn into_order(self) -> Order {
        let end = self.successor.len() as u32 - 1;
        let next = |&at: &u32| Some(self.successor[at as usize]);
        let path = std::iter::successors(next(&end), next);
        Order::new(path.take_while(|&at| at != end).collect())
    }
}
