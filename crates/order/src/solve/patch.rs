//! Patching: from a cheapest assignment, which may be several cycles, to one order.
//!
//! Two cycles become one by exchanging the successors of a city in each (after Karp 1979). The
//! smallest cycle goes first, by the cheapest exchange with any other: taking the cheapest exchange
//! of all instead leaves orders twice as far from the shortest. On a tape cycles that pass the same
//! place in the same direction are joined at almost no cost, so little is lost. An exchange is
//! looked for where one of its two arcs is a candidate, one of little reduced cost; only a cycle
//! that no candidate joins looks at all cities.

use crate::order::Order;
use crate::problem::Problem;
use crate::solve::assignment::Assignment;
use crate::solve::cities::Cities;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The largest batch in which all pairs of cities are looked at: it takes no longer than to choose.
const ALL_PAIRS_VISITS: usize = 100;

/// The order that an assignment's cycles are joined to.
pub fn patch(problem: &Problem, assignment: &Assignment) -> Order {
    let cities = Cities::sparse(problem);
    let tails = 0..cities.len() as u32;
    let tails = tails.filter(|_| problem.len() > ALL_PAIRS_VISITS);
    let arcs = |tail| {
        assignment
            .candidates(tail)
            .iter()
            .map(move |&to| (tail, to))
    };
    Patching::new(&cities, assignment).join(&Links::new(cities.len(), tails.flat_map(arcs)))
}

/// Candidate arcs by their tails and by their heads.
struct Links {
    heads: Listed,
    tails: Listed,
}

impl Links {
    fn new(cities: usize, arcs: impl Iterator<Item = (u32, u32)>) -> Links {
        let arcs: Vec<(u32, u32)> = arcs.collect();
        let back: Vec<(u32, u32)> = arcs.iter().map(|&(tail, head)| (head, tail)).collect();
        Links {
            heads: Listed::new(cities, &arcs),
            tails: Listed::new(cities, &back),
        }
    }
}

/// Some cities for each city.
struct Listed {
    first: Vec<u32>,
    cities: Vec<u32>,
}

impl Listed {
    fn new(cities: usize, pairs: &[(u32, u32)]) -> Listed {
        let mut first = vec![0; cities + 1];
        for &(of, _) in pairs {
            first[of as usize + 1] += 1;
        }
        for of in 0..cities {
            first[of + 1] += first[of];
        }
        let mut next = first.clone();
        let mut listed = vec![0; pairs.len()];
        for &(of, city) in pairs {
            let at = &mut next[of as usize];
            listed[*at as usize] = city;
            *at += 1;
        }
        Listed {
            first,
            cities: listed,
        }
    }

    fn of(&self, city: u32) -> &[u32] {
        let city = city as usize;
        &self.cities[self.first[city] as usize..self.first[city + 1] as usize]
    }
}

/// Cycles in the course of being joined.
struct Patching<'a> {
    cities: &'a Cities<'a>,
    successor: Vec<u32>,
    predecessor: Vec<u32>,
    /// By city: another one of its cycle; one in each cycle stands for it.
    leader: Vec<u32>,
    /// By the city that stands for a cycle: its cities.
    size: Vec<u32>,
}

/// An exchange of the successors of two cities; what it adds comes first, for sorting.
type Exchange = (i64, u32, u32);

impl<'a> Patching<'a> {
    fn new(cities: &'a Cities<'a>, assignment: &Assignment) -> Patching<'a> {
        // The end leads back to the head, so that the path from head to end is a cycle too.
        let successor = assignment.successor.clone();
        let mut predecessor = vec![0; successor.len()];
        for (city, &next) in successor.iter().enumerate() {
            predecessor[next as usize] = city as u32;
        }
        let mut leader = vec![u32::MAX; successor.len()];
        let mut size = vec![0; successor.len()];
        for (start, size) in size.iter_mut().enumerate() {
            let mut at = start;
            while leader[at] == u32::MAX {
                leader[at] = start as u32;
                *size += 1;
                at = successor[at] as usize;
            }
        }
        Patching {
            cities,
            successor,
            predecessor,
            leader,
            size,
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

    /// Joins all cycles, the smallest first.
    fn join(mut self, links: &Links) -> Order {
        let leaders = 0..self.successor.len() as u32;
        let sized = leaders.map(|leader| Reverse((self.size[leader as usize], leader)));
        let mut waiting: BinaryHeap<_> = sized.filter(|&Reverse((size, _))| size > 0).collect();
        let mut members = Vec::new();
        while let Some(Reverse((size, leader))) = waiting.pop() {
            if self.cycle(leader) != leader || self.size[leader as usize] != size {
                continue;
            }
            self.list_members(leader, &mut members);
            let cheapest = self
                .cheapest_by_links(&members, links)
                .or_else(|| self.cheapest_of_all(&members));
            let Some((_, one, other)) = cheapest else {
                break;
            };
            let joined = self.exchange_successors(one, other);
            waiting.push(Reverse((self.size[joined as usize], joined)));
        }
        self.into_order()
    }

    fn list_members(&self, start: u32, members: &mut Vec<u32>) {
        members.clear();
        let mut at = start;
        loop {
            members.push(at);
            at = self.successor[at as usize];
            if at == start {
                return;
            }
        }
    }

    /// The cheapest exchange with another cycle that puts in a candidate.
    fn cheapest_by_links(&mut self, members: &[u32], links: &Links) -> Option<Exchange> {
        let mine = self.cycle(members[0]);
        let mut cheapest: Option<Exchange> = None;
        let mut meet = |exchange: Exchange| {
            if cheapest.is_none_or(|cheapest| exchange < cheapest) {
                cheapest = Some(exchange);
            }
        };
        for &city in members {
            for &head in links.heads.of(city) {
                if self.cycle(head) != mine {
                    meet(self.exchange(city, self.predecessor[head as usize]));
                }
            }
            for &tail in links.tails.of(city) {
                if self.cycle(tail) != mine {
                    meet(self.exchange(tail, self.predecessor[city as usize]));
                }
            }
        }
        cheapest
    }

    /// The cheapest exchange with another cycle.
    fn cheapest_of_all(&mut self, members: &[u32]) -> Option<Exchange> {
        let mine = self.cycle(members[0]);
        let cities = 0..self.successor.len() as u32;
        let others: Vec<u32> = cities.filter(|&city| self.cycle(city) != mine).collect();
        let pairs = members
            .iter()
            .flat_map(|&one| others.iter().map(move |&other| (one, other)));
        pairs.map(|(one, other)| self.exchange(one, other)).min()
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

    /// Joins two cycles; gives the city that stands for the new one.
    fn exchange_successors(&mut self, one: u32, other: u32) -> u32 {
        let (mut into, mut from) = (self.cycle(one), self.cycle(other));
        if self.size[into as usize] < self.size[from as usize] {
            (into, from) = (from, into);
        }
        self.leader[from as usize] = into;
        self.size[into as usize] += self.size[from as usize];
        self.successor.swap(one as usize, other as usize);
        for city in [one, other] {
            self.predecessor[self.successor[city as usize] as usize] = city;
        }
        into
    }

    fn into_order(self) -> Order {
        let end = self.successor.len() as u32 - 1;
        let next = |&at: &u32| Some(self.successor[at as usize]);
        let path = std::iter::successors(next(&end), next);
        Order::of(path.take_while(|&at| at != end).collect())
    }
}
