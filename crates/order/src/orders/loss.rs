//! LOSS: greedy by regret (Hillyer & Silberschatz 1996, section 4).
//!
//! A city's loss is what its second best arc costs more than its best, out or in, whichever is
//! more. The city with the highest loss gets its best arc; arcs that it rules out are deleted; so
//! on until one path is left. Arcs that would close a cycle are deleted as well.
//!
//! The dense form considers all arcs, found again by a scan when a city's few best are used up.
//! The sparse form is the one that the paper leaves as future work: few arcs to near cities only,
//! repeated on the contracted paths until one is left.

use crate::order::Order;
use crate::orders::coalesce::expand;
use crate::orders::nearest::Nearest;
use crate::problem::Problem;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tapewise_model::Micros;

/// Arcs kept for each city in the dense form: enough that few scans are needed (n = 2048: 12 % of
/// the cities), few enough that keeping them sorted costs less than the locate times.
const KEPT_ARCS: usize = 8;

/// Visits up to which the sparse form hands over to the dense one.
const SMALL: usize = 256;

/// LOSS over all arcs; O(n²) locate times, O(n) memory.
pub fn loss(problem: &Problem) -> Order {
    if problem.is_empty() {
        return Order::new(Vec::new());
    }
    let mut search = Search::dense(problem);
    search.run();
    let mut sequence = Vec::with_capacity(problem.len());
    let mut at = problem.len();
    while let Some(next) = search.successor[at] {
        sequence.push(next);
        at = next as usize;
    }
    Order::new(sequence)
}

/// LOSS over a few arcs of each city, repeated on the contracted paths; no locate times but to
/// near visits.
pub fn sparse_loss(problem: &Problem) -> Order {
    if problem.len() <= SMALL {
        return loss(problem);
    }
    let mut search = Search::sparse(problem);
    search.run();
    let chains = search.chains();
    if chains.len() == problem.len() {
        return loss(problem);
    }
    expand(&sparse_loss(&problem.contracted(&chains)), &chains)
}

type Arc = (Micros, u32);

/// One side of the bipartite choice: cities with their best remaining arcs.
#[derive(Default)]
struct Side {
    /// Best arcs of each city, shortest first; `cursor` skips those ruled out.
    arcs: Vec<Vec<Arc>>,
    /// Whether the list leaves arcs out, so that a scan can find more.
    truncated: Vec<bool>,
    /// The two arcs that the city's loss was computed from.
    best: Vec<[u32; 2]>,
    /// Counts recomputations, so that old heap entries are known.
    stamp: Vec<u32>,
    /// For each city of the other side the cities here whose loss depends on it.
    watchers: Vec<Vec<u32>>,
    /// Cities without an arc yet.
    open: Vec<u32>,
    /// Where each city stands in `open`.
    place: Vec<u32>,
}

const NOBODY: u32 = u32::MAX;

impl Side {
    fn new(cities: usize, others: usize) -> Side {
        Side {
            arcs: vec![Vec::new(); cities],
            truncated: vec![false; cities],
            best: vec![[NOBODY; 2]; cities],
            stamp: vec![0; cities],
            watchers: vec![Vec::new(); others],
            open: (0..cities as u32).collect(),
            place: (0..cities as u32).collect(),
        }
    }

    fn is_open(&self, city: u32) -> bool {
        self.place[city as usize] != NOBODY
    }

    fn close(&mut self, city: u32) {
        let place = std::mem::replace(&mut self.place[city as usize], NOBODY);
        self.open.swap_remove(place as usize);
        if let Some(&moved) = self.open.get(place as usize) {
            self.place[moved as usize] = place;
        }
        self.stamp[city as usize] += 1;
    }
}

/// No list is full yet: every arc belongs to it.
const NO_LIMIT: Micros = Micros(i64::MAX);

/// Puts an arc into a city's list, shortest first, if it is among its best, and gives the time above
/// which no other arc is.
fn keep(arcs: &mut Vec<Arc>, arc: Arc) -> Micros {
    if arcs.len() == KEPT_ARCS {
        if arc >= arcs[KEPT_ARCS - 1] {
            return arcs[KEPT_ARCS - 1].0;
        }
        arcs.pop();
    }
    let place = arcs.partition_point(|kept| *kept < arc);
    arcs.insert(place, arc);
    match arcs.len() == KEPT_ARCS {
        true => arcs[KEPT_ARCS - 1].0,
        false => NO_LIMIT,
    }
}

/// An entry of the heap: the highest loss first, then the lowest city, out before in.
type Entry = (Micros, Reverse<u32>, Reverse<bool>, u32);

struct Search<'a> {
    problem: &'a Problem,
    /// Cities that an arc may leave: the visits, and behind them the head.
    tails: Side,
    /// Cities that an arc may enter: the visits.
    heads: Side,
    successor: Vec<Option<u32>>,
    /// First city of the path that ends in this one.
    path_start: Vec<u32>,
    /// Last city of the path that starts in this one.
    path_end: Vec<u32>,
    heap: BinaryHeap<Entry>,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem) -> Search<'a> {
        let cities = problem.len() + 1;
        Search {
            problem,
            tails: Side::new(cities, problem.len()),
            heads: Side::new(problem.len(), cities),
            successor: vec![None; cities],
            path_start: (0..cities as u32).collect(),
            path_end: (0..cities as u32).collect(),
            heap: BinaryHeap::new(),
        }
    }

    fn dense(problem: &'a Problem) -> Search<'a> {
        let mut search = Search::new(problem);
        let n = problem.len();
        let mut times = vec![Micros::ZERO; n];
        let mut limits = vec![NO_LIMIT; n];
        let (tails, heads) = (&mut search.tails, &mut search.heads);
        for list in tails.arcs.iter_mut().chain(&mut heads.arcs) {
            list.reserve_exact(KEPT_ARCS);
        }
        for tail in 0..=n {
            problem.arcs((tail < n).then_some(tail), &mut times);
            let (outward, mut limit) = (&mut tails.arcs[tail], NO_LIMIT);
            // Nearly every arc is too long for both of its cities: two comparisons, and on.
            for (head, (&time, head_limit)) in times.iter().zip(&mut limits).enumerate() {
                if (time > limit && time > *head_limit) || head == tail {
                    continue;
                }
                if time <= limit {
                    limit = keep(outward, (time, head as u32));
                }
                if time <= *head_limit {
                    *head_limit = keep(&mut heads.arcs[head], (time, tail as u32));
                }
            }
        }
        // A visit has an arc to and from each of the others, and one from the head.
        tails.truncated.fill(n.saturating_sub(1) > KEPT_ARCS);
        tails.truncated[n] = n > KEPT_ARCS;
        heads.truncated.fill(n > KEPT_ARCS);
        search
    }

    fn sparse(problem: &'a Problem) -> Search<'a> {
        let mut search = Search::new(problem);
        let mut nearest = Nearest::new(problem);
        let most = problem.len().ilog2() as usize + 1;
        for tail in 0..problem.len() as u32 {
            let arcs = nearest.near(tail, most);
            for &(time, head) in &arcs {
                search.heads.arcs[head as usize].push((time, tail));
            }
            search.tails.arcs[tail as usize] = arcs;
        }
        search
            .heads
            .arcs
            .iter_mut()
            .for_each(|arcs| arcs.sort_unstable());
        // The head joins in the last, dense round.
        search.tails.close(problem.len() as u32);
        search
    }

    fn run(&mut self) {
        for tail in self.tails.open.clone() {
            self.refresh(tail, true);
        }
        for head in self.heads.open.clone() {
            self.refresh(head, false);
        }
        while let Some((_, Reverse(city), Reverse(inward), stamp)) = self.heap.pop() {
            let side = if inward { &self.heads } else { &self.tails };
            if side.stamp[city as usize] != stamp {
                continue;
            }
            let other = side.best[city as usize][0];
            if inward {
                self.join(other, city)
            } else {
                self.join(city, other)
            }
        }
    }

    /// Makes the arc from `tail` to `head` part of the path, and recomputes the losses it changes.
    fn join(&mut self, tail: u32, head: u32) {
        self.successor[tail as usize] = Some(head);
        self.tails.close(tail);
        self.heads.close(head);
        let (start, end) = (self.path_start[tail as usize], self.path_end[head as usize]);
        self.path_end[start as usize] = end;
        self.path_start[end as usize] = start;
        for watcher in std::mem::take(&mut self.tails.watchers[head as usize]) {
            if self.tails.best[watcher as usize].contains(&head) {
                self.refresh(watcher, true);
            }
        }
        for watcher in std::mem::take(&mut self.heads.watchers[tail as usize]) {
            if self.heads.best[watcher as usize].contains(&tail) {
                self.refresh(watcher, false);
            }
        }
        // The arc that would now close the path to a cycle is ruled out.
        self.refresh(end, true);
        if (start as usize) < self.problem.len() {
            self.refresh(start, false);
        }
    }

    /// Whether the arc is still to be had, seen from the tail (`outward`) or from the head.
    fn is_allowed(&self, city: u32, other: u32, outward: bool) -> bool {
        let (tail, head) = if outward {
            (city, other)
        } else {
            (other, city)
        };
        self.tails.is_open(tail)
            && self.heads.is_open(head)
            && self.path_start[tail as usize] != head
    }

    /// Recomputes a city's loss and puts it into the heap.
    fn refresh(&mut self, city: u32, outward: bool) {
        let side = if outward { &self.tails } else { &self.heads };
        if !side.is_open(city) {
            return;
        }
        let mut best = self.best_two(city, outward);
        if best[1].is_none() && side.truncated[city as usize] {
            self.scan(city, outward);
            best = self.best_two(city, outward);
        }
        let side = if outward {
            &mut self.tails
        } else {
            &mut self.heads
        };
        side.stamp[city as usize] += 1;
        side.best[city as usize] = best.map(|arc| arc.map_or(NOBODY, |(_, other)| other));
        let Some((first, _)) = best[0] else { return };
        // A visit with one way in must take it; a path need not go on from its last visit.
        let loss = match best[1] {
            Some((second, _)) => second - first,
            None if outward => Micros::ZERO,
            None => Micros::FAR,
        };
        for (_, other) in best.into_iter().flatten() {
            side.watchers[other as usize].push(city);
        }
        self.heap.push((
            loss,
            Reverse(city),
            Reverse(!outward),
            side.stamp[city as usize],
        ));
    }

    fn best_two(&self, city: u32, outward: bool) -> [Option<Arc>; 2] {
        let side = if outward { &self.tails } else { &self.heads };
        let mut allowed = side.arcs[city as usize]
            .iter()
            .copied()
            .filter(|&(_, other)| self.is_allowed(city, other, outward));
        [allowed.next(), allowed.next()]
    }

    /// Fills a city's list with its best arcs to and from all cities that are still open.
    fn scan(&mut self, city: u32, outward: bool) {
        let n = self.problem.len() as u32;
        let (side, others) = match outward {
            true => (&mut self.tails, &self.heads.open),
            false => (&mut self.heads, &self.tails.open),
        };
        let arcs = &mut side.arcs[city as usize];
        arcs.clear();
        let (mut limit, mut allowed) = (NO_LIMIT, 0);
        for &other in others {
            let (tail, head) = match outward {
                true => (city, other),
                false => (other, city),
            };
            if tail == head || self.path_start[tail as usize] == head {
                continue;
            }
            let time = match tail == n {
                true => self.problem.first_arc(head as usize),
                false => self.problem.arc(tail as usize, head as usize),
            };
            allowed += 1;
            if time <= limit {
                limit = keep(arcs, (time, other));
            }
        }
        side.truncated[city as usize] = allowed > KEPT_ARCS;
    }

    /// The paths found, sorted by their first visits.
    fn chains(&self) -> Vec<Vec<u32>> {
        let starts = (0..self.problem.len() as u32).filter(|&visit| self.heads.is_open(visit));
        starts
            .map(|start| {
                std::iter::successors(Some(start), |&at| self.successor[at as usize]).collect()
            })
            .collect()
    }
}
