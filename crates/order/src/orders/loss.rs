//! LOSS: greedy by regret (Hillyer & Silberschatz 1996, section 4).
//!
//! A city's loss is what its second best arc costs more than its best, out or in, whichever is
//! more. The city with the highest loss gets its best arc; arcs that it rules out are deleted; so
//! on until one path is left. Arcs that would close a cycle are deleted as well.
//!
//! The dense form considers all arcs, found again by a scan when a city's few best are used up.
//! The sparse form is the one that the paper leaves as future work: few arcs to near cities only,
//! repeated on the contracted paths until one is left. Where the model says that reading on within a
//! section is quickest, what lies in one section is one city from the start, and near cities are those
//! that the weave pattern names first.

use crate::order::Order;
use crate::orders::coalesce::{coalesced, expand};
use crate::orders::kind::OrderKind;
use crate::orders::nearest::Nearest;
use crate::orders::tournament::{OUT, Tournament};
use crate::orders::woven::Woven;
use crate::problem::Problem;
use tapewise_model::Micros;

/// As the list of algorithms knows it.
pub(crate) const KIND: OrderKind = OrderKind {
    name: "loss",
    title: "LOSS",
    version: 1,
    solve: |problem, _| Some(loss(problem).into()),
};

/// The same over coalesced requests.
pub(crate) const COALESCED: OrderKind = OrderKind {
    name: "loss-coalesced",
    title: "LOSS, coalesced",
    version: 1,
    solve: |problem, inputs| Some(coalesced(problem, inputs.coalesce_blocks, loss).into()),
};

/// The same over few arcs, repeated.
pub(crate) const SPARSE: OrderKind = OrderKind {
    name: "loss-sparse",
    title: "LOSS, sparse",
    version: 2,
    solve: |problem, _| Some(sparse_loss(problem).into()),
};

/// Visits up to which all times are tabled: 2 MB that stay in a core's cache, so that a scan costs
/// next to nothing.
const TABLED: usize = 512;

/// Arcs kept for each city in the dense form where times are tabled, and where a scan computes them
/// again: few enough that keeping them sorted costs less than the scans they save.
const KEPT_ARCS: [usize; 2] = [4, 8];

/// Visits up to which the sparse form hands over to the dense one, and where visits are sections.
const SMALL: usize = 256;
const FEW_SECTIONS: usize = 512;

/// LOSS over all arcs; O(n²) locate times, O(n) memory beyond 512 visits.
pub fn loss(problem: &Problem) -> Order {
    if problem.is_empty() {
        return Order::of(Vec::new());
    }
    let mut search = Search::dense(problem);
    search.run();
    let mut sequence = Vec::with_capacity(problem.len());
    let mut at = problem.len();
    while let Some(next) = search.successor[at] {
        sequence.push(next);
        at = next as usize;
    }
    Order::of(sequence)
}

/// LOSS over a few arcs of each city, repeated on the contracted paths; no locate times but to
/// near visits.
pub fn sparse_loss(problem: &Problem) -> Order {
    if problem.len() <= SMALL {
        return loss(problem);
    }
    let neighbours = problem.tape().model.neighbours();
    let has_sections = neighbours.least_elsewhere().is_some();
    if !has_sections {
        return in_rounds(problem, false);
    }
    let section = |visit: &u32| neighbours.group(&problem.starts()[*visit as usize]);
    let all: Vec<u32> = (0..problem.len() as u32).collect();
    let chains = all.chunk_by(|one, other| section(one) == section(other));
    let chains: Vec<Vec<u32>> = chains.map(<[u32]>::to_vec).collect();
    expand(&in_rounds(&problem.contracted(&chains), true), &chains)
}

/// The rounds of the sparse form; the last, of few cities, is dense.
fn in_rounds(problem: &Problem, has_sections: bool) -> Order {
    let small = if has_sections { FEW_SECTIONS } else { SMALL };
    if problem.len() <= small {
        return loss(problem);
    }
    let mut search = Search::sparse(problem, has_sections);
    search.run();
    let chains = search.chains();
    if chains.len() == problem.len() {
        return loss(problem);
    }
    expand(
        &in_rounds(&problem.contracted(&chains), has_sections),
        &chains,
    )
}

type Arc = (Micros, u32);

/// One side of the bipartite choice: cities with their best remaining arcs.
struct Side {
    /// Best arcs of each city, shortest first; those ruled out stay in their places.
    arcs: Vec<Vec<Arc>>,
    /// Whether the list leaves arcs out, so that a scan can find more.
    truncated: Vec<bool>,
    watches: Watches,
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
            watches: Watches::new(cities, others),
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
        self.watches.set(city, [NOBODY; 2]);
    }
}

/// Which two cities of the other side each city's loss was computed from, and for each of those the
/// cities here that watch it: linked lists through two links a city, so that nothing is allocated.
struct Watches {
    best: Vec<[u32; 2]>,
    /// By city of the other side its first watching link; link `2 c + r` is city c's for its arc r.
    first: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
}

impl Watches {
    fn new(cities: usize, others: usize) -> Watches {
        Watches {
            best: vec![[NOBODY; 2]; cities],
            first: vec![NOBODY; others],
            next: vec![NOBODY; 2 * cities],
            previous: vec![NOBODY; 2 * cities],
        }
    }

    /// A city that watches `other`.
    fn watcher(&self, other: u32) -> Option<u32> {
        let link = self.first[other as usize];
        (link != NOBODY).then_some(link / 2)
    }

    /// Makes a city watch these two instead of those it watched.
    fn set(&mut self, city: u32, best: [u32; 2]) {
        let old = std::mem::replace(&mut self.best[city as usize], best);
        for (link, (old, new)) in (2 * city..).zip(old.into_iter().zip(best)) {
            if old == new {
                continue;
            }
            if old != NOBODY {
                self.unlink(link, old);
            }
            if new != NOBODY {
                self.link(link, new);
            }
        }
    }

    fn unlink(&mut self, link: u32, other: u32) {
        let (before, behind) = (self.previous[link as usize], self.next[link as usize]);
        match before {
            NOBODY => self.first[other as usize] = behind,
            _ => self.next[before as usize] = behind,
        }
        if behind != NOBODY {
            self.previous[behind as usize] = before;
        }
    }

    fn link(&mut self, link: u32, other: u32) {
        let behind = std::mem::replace(&mut self.first[other as usize], link);
        self.next[link as usize] = behind;
        self.previous[link as usize] = NOBODY;
        if behind != NOBODY {
            self.previous[behind as usize] = link;
        }
    }
}

/// No list is full yet: every arc belongs to it.
const NO_LIMIT: Micros = Micros(i64::MAX);

/// Puts an arc into a city's list of at most `most`, shortest first, if it is among its best, and
/// gives the time above which no other arc is.
#[inline(always)]
fn keep(arcs: &mut Vec<Arc>, most: usize, arc: Arc) -> Micros {
    if arcs.len() < most {
        arcs.push(arc);
    } else if arc >= arcs[most - 1] {
        return arcs[most - 1].0;
    }
    let mut place = arcs.len() - 1;
    while place > 0 && arcs[place - 1] > arc {
        arcs[place] = arcs[place - 1];
        place -= 1;
    }
    arcs[place] = arc;
    if arcs.len() == most {
        arcs[most - 1].0
    } else {
        NO_LIMIT
    }
}

struct Search<'a> {
    problem: &'a Problem,
    /// Cities that an arc may leave: the visits, and behind them the head.
    tails: Side,
    /// Cities that an arc may enter: the visits.
    heads: Side,
    /// All times, by tail and then by head, where the batch is small.
    table: Option<Vec<Micros>>,
    /// Arcs that a scan keeps.
    kept: usize,
    successor: Vec<Option<u32>>,
    /// First city of the path that ends in this one.
    path_start: Vec<u32>,
    /// Last city of the path that starts in this one.
    path_end: Vec<u32>,
    /// Of tails and heads: player `2 c` is tail c, `2 c + 1` is head c.
    losses: Tournament,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem) -> Search<'a> {
        let cities = problem.len() + 1;
        Search {
            problem,
            tails: Side::new(cities, problem.len()),
            heads: Side::new(problem.len(), cities),
            table: None,
            kept: 0,
            successor: vec![None; cities],
            path_start: (0..cities as u32).collect(),
            path_end: (0..cities as u32).collect(),
            losses: Tournament::new(2 * cities),
        }
    }

    fn dense(problem: &'a Problem) -> Search<'a> {
        let mut search = Search::new(problem);
        let n = problem.len();
        let is_tabled = n <= TABLED;
        let kept = KEPT_ARCS[usize::from(!is_tabled)];
        let mut times = vec![Micros::ZERO; if is_tabled { n * (n + 1) } else { n }];
        let mut limits = vec![NO_LIMIT; n];
        let (tails, heads) = (&mut search.tails, &mut search.heads);
        for list in tails.arcs.iter_mut().chain(&mut heads.arcs) {
            list.reserve_exact(kept);
        }
        for tail in 0..=n {
            let row = if is_tabled { tail * n } else { 0 };
            let times = &mut times[row..row + n];
            problem.arcs((tail < n).then_some(tail), times);
            let (outward, mut limit) = (&mut tails.arcs[tail], NO_LIMIT);
            // Nearly every arc is too long for both of its cities: two comparisons, and on.
            for (head, (&time, head_limit)) in times.iter().zip(&mut limits).enumerate() {
                if (time > limit && time > *head_limit) || head == tail {
                    continue;
                }
                if time <= limit {
                    limit = keep(outward, kept, (time, head as u32));
                }
                if time <= *head_limit {
                    *head_limit = keep(&mut heads.arcs[head], kept, (time, tail as u32));
                }
            }
        }
        // A visit has an arc to and from each of the others, and one from the head.
        tails.truncated.fill(n.saturating_sub(1) > kept);
        tails.truncated[n] = n > kept;
        heads.truncated.fill(n > kept);
        (search.kept, search.table) = (kept, is_tabled.then_some(times));
        search
    }

    fn sparse(problem: &'a Problem, has_sections: bool) -> Search<'a> {
        let mut search = Search::new(problem);
        let mut nearest = (!has_sections).then(|| Nearest::new(problem));
        let woven = has_sections.then(|| Woven::new(problem));
        let most = problem.len().ilog2() as usize + 1;
        for tail in 0..problem.len() as u32 {
            let near = nearest.as_mut().map(|nearest| nearest.near(tail, most));
            let woven = || woven.as_ref().map(|woven| woven.near(tail, most));
            let arcs = near.or_else(woven).unwrap_or_default();
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
            let loss = self.loss_of(tail, true);
            self.losses.enter(2 * tail as usize, loss);
        }
        for head in self.heads.open.clone() {
            let loss = self.loss_of(head, false);
            self.losses.enter(2 * head as usize + 1, loss);
        }
        self.losses.play();
        while let Some(player) = self.losses.winner() {
            let city = player / 2;
            if player & 1 == 0 {
                self.join(city, self.tails.watches.best[city as usize][0])
            } else {
                self.join(self.heads.watches.best[city as usize][0], city)
            }
        }
    }

    /// Makes the arc from `tail` to `head` part of the path, and recomputes the losses it changes.
    fn join(&mut self, tail: u32, head: u32) {
        self.successor[tail as usize] = Some(head);
        self.tails.close(tail);
        self.heads.close(head);
        self.losses.set(2 * tail as usize, OUT);
        self.losses.set(2 * head as usize + 1, OUT);
        let (start, end) = (self.path_start[tail as usize], self.path_end[head as usize]);
        self.path_end[start as usize] = end;
        self.path_start[end as usize] = start;
        while let Some(watcher) = self.tails.watches.watcher(head) {
            self.refresh(watcher, true);
        }
        while let Some(watcher) = self.heads.watches.watcher(tail) {
            self.refresh(watcher, false);
        }
        // The arc that would now close the path to a cycle is ruled out.
        if self.tails.watches.best[end as usize].contains(&start) {
            self.refresh(end, true);
        }
        if (start as usize) < self.problem.len()
            && self.heads.watches.best[start as usize].contains(&end)
        {
            self.refresh(start, false);
        }
    }

    /// Recomputes the loss of a city that watches one that is no longer to be had.
    fn refresh(&mut self, city: u32, outward: bool) {
        let loss = self.loss_of(city, outward);
        self.losses
            .set(2 * city as usize + usize::from(!outward), loss);
    }

    /// The loss of an open city, which from now on watches the ends of its best two arcs.
    fn loss_of(&mut self, city: u32, outward: bool) -> Micros {
        let mut best = self.best_two(city, outward);
        let side = if outward { &self.tails } else { &self.heads };
        if best[1].is_none() && side.truncated[city as usize] {
            self.scan(city, outward);
            best = self.best_two(city, outward);
        }
        let side = if outward {
            &mut self.tails
        } else {
            &mut self.heads
        };
        let others = best.map(|arc| arc.map_or(NOBODY, |(_, other)| other));
        side.watches.set(city, others);
        // A visit with one way in must take it; a path need not go on from its last visit.
        match best {
            [None, _] => OUT,
            [Some((first, _)), Some((second, _))] => second - first,
            [Some(_), None] if outward => Micros::ZERO,
            [Some(_), None] => Micros::FAR,
        }
    }

    /// The first two arcs of a city's list that are still to be had: to a city that is open, and
    /// not the other end of its own path.
    fn best_two(&self, city: u32, outward: bool) -> [Option<Arc>; 2] {
        let (side, others, own_path) = if outward {
            (&self.tails, &self.heads, self.path_start[city as usize])
        } else {
            (&self.heads, &self.tails, self.path_end[city as usize])
        };
        let mut allowed = side.arcs[city as usize]
            .iter()
            .filter(|&&(_, other)| others.is_open(other) && other != own_path);
        [allowed.next().copied(), allowed.next().copied()]
    }

    /// Fills a city's list with its best arcs to and from all cities that are still open.
    fn scan(&mut self, city: u32, outward: bool) {
        let own_path = if outward {
            self.path_start[city as usize]
        } else {
            self.path_end[city as usize]
        };
        let mut arcs = if outward {
            std::mem::take(&mut self.tails.arcs[city as usize])
        } else {
            std::mem::take(&mut self.heads.arcs[city as usize])
        };
        arcs.clear();
        let others = if outward {
            &self.heads.open
        } else {
            &self.tails.open
        };
        let (mut limit, mut allowed) = (NO_LIMIT, 0);
        for &other in others.iter().filter(|&&other| other != own_path) {
            let time = if outward {
                self.time(city, other)
            } else {
                self.time(other, city)
            };
            allowed += 1;
            if time <= limit {
                limit = keep(&mut arcs, self.kept, (time, other));
            }
        }
        let side = if outward {
            &mut self.tails
        } else {
            &mut self.heads
        };
        side.truncated[city as usize] = allowed > self.kept;
        side.arcs[city as usize] = arcs;
    }

    #[inline(always)]
    fn time(&self, tail: u32, head: u32) -> Micros {
        let (n, tail, head) = (self.problem.len(), tail as usize, head as usize);
        match &self.table {
            Some(table) => table[tail * n + head],
            None if tail == n => self.problem.first_arc(head),
            None => self.problem.arc(tail, head),
        }
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
