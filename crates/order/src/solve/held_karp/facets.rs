//! Cuts on single arcs, for what subtour cuts leave fractional.
//!
//! On tape the relaxation often ends with shares of a half around pairs of visits that lie on one
//! wrap: each is a cheap way to the other, so both ways are taken by half. Two families of valid
//! inequalities cut just that off:
//!
//! - *Odd trails*: two arcs exclude one another when they leave the same city, enter the same
//!   city, or join the same two cities both ways. Of an odd ring of arcs, each excluding the next,
//!   a tour takes less than half (odd CAT, Balas 1989).
//! - *Lifted cycles* of three cities (D-3, Grötschel & Padberg 1985).

use super::separation::Share;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// At most `limit` of some arcs, counted with their weights.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ArcCut {
    /// Tail, head and weight, sorted.
    pub(crate) arcs: Vec<(u32, u32, i64)>,
    /// What the weights of a tour's arcs sum to at most.
    pub(crate) limit: i64,
}

/// How much must be gained for a cut to count as violated.
const VIOLATION: f64 = 0.01;

/// Times that an arc may be in the cuts of one round: cuts that overlap say much the same.
const OVERLAP: u32 = 2;

/// Ways are counted in whole parts of this.
const SCALE: f64 = 1e9;

/// The way around an odd ring is shorter than this where the ring is violated.
const LONGEST_RING: u64 = ((1.0 - 2.0 * VIOLATION) * SCALE) as u64;

/// The arcs of a fractional tour, by tail.
struct Shares {
    /// Where the arcs of each tail start.
    starts: Vec<u32>,
    /// Sorted.
    arcs: Vec<Share>,
}

impl Shares {
    fn new(arcs: &[Share]) -> Shares {
        let mut arcs = arcs.to_vec();
        arcs.sort_unstable_by_key(|&(tail, head, _)| (tail, head));
        let cities = arcs.iter().map(|&(tail, head, _)| tail.max(head) + 1);
        let cities = cities.max().unwrap_or(0);
        let starts = (0..=cities).map(|city| arcs.partition_point(|arc| arc.0 < city) as u32);
        Shares {
            starts: starts.collect(),
            arcs,
        }
    }

    fn out_of(&self, tail: u32) -> &[Share] {
        let tail = tail as usize;
        match self.starts.get(tail..tail + 2) {
            Some(ends) => &self.arcs[ends[0] as usize..ends[1] as usize],
            None => &[],
        }
    }

    fn share(&self, tail: u32, head: u32) -> f64 {
        let arc = self.out_of(tail).iter().find(|arc| arc.1 == head);
        arc.map_or(0.0, |arc| arc.2)
    }
}

/// Cuts that a fractional tour without violated subtour cuts violates, the most violated first,
/// without most of those that overlap.
pub(crate) fn violated_arc_cuts(arcs: &[Share]) -> Vec<ArcCut> {
    let shares = Shares::new(arcs);
    let is_fractional = |arc: &&Share| (1e-6..=1.0 - 1e-6).contains(&arc.2);
    let fractional: Vec<Share> = shares.arcs.iter().filter(is_fractional).copied().collect();
    let mut cuts = odd_trails(&fractional);
    cuts.extend(lifted_cycles(&shares));
    let mut ranked: Vec<(i64, ArcCut)> = cuts
        .into_iter()
        .map(|cut| ((-cut.excess(&shares) * 1e6) as i64, cut))
        .collect();
    ranked.sort_by(|a, b| (a.0, a.1.arcs.len(), &a.1.arcs).cmp(&(b.0, b.1.arcs.len(), &b.1.arcs)));
    let mut used: HashMap<(u32, u32), u32> = HashMap::new();
    let cuts = ranked.into_iter().map(|(_, cut)| cut);
    cuts.filter(|cut| {
        let taken = || {
            let arcs = cut.arcs.iter().map(|&(tail, head, _)| (tail, head));
            arcs.filter(|&(tail, head)| shares.share(tail, head) > 0.0)
        };
        let fresh = taken().all(|arc| used.get(&arc).is_none_or(|&times| times < OVERLAP));
        if fresh {
            taken().for_each(|arc| *used.entry(arc).or_default() += 1);
        }
        fresh
    })
    .collect()
}

impl ArcCut {
    /// How much more than its limit a fractional tour takes.
    fn excess(&self, shares: &Shares) -> f64 {
        let arcs = self.arcs.iter();
        let taken = arcs.map(|&(tail, head, weight)| shares.share(tail, head) * weight as f64);
        taken.sum::<f64>() - self.limit as f64
    }
}

/// Odd rings of arcs, each excluding the next, that are taken by half or more; none is looked for
/// from an arc that a ring was found to hold.
fn odd_trails(arcs: &[Share]) -> Vec<ArcCut> {
    let mut rings = Rings::new(arcs);
    let mut held = vec![false; arcs.len()];
    let mut cuts = Vec::new();
    for start in 0..arcs.len() {
        if held[start] {
            continue;
        }
        let Some(ring) = rings.shortest_odd(start) else {
            // No violated ring holds it, so no other search need come by.
            rings.done[start] = true;
            continue;
        };
        ring.iter().for_each(|&at| held[at] = true);
        let mut members: Vec<_> = ring.iter().map(|&at| (arcs[at].0, arcs[at].1, 1)).collect();
        members.sort_unstable();
        cuts.push(ArcCut {
            arcs: members,
            limit: (ring.len() as i64 - 1) / 2,
        });
    }
    cuts
}

/// Which arcs exclude one another, and what a search for rings among them needs.
struct Rings {
    /// Where the exclusions of each arc start: the other arc, and how far the step to it is.
    starts: Vec<u32>,
    steps: Vec<(u32, u64)>,
    /// Arcs that are not to be looked at any more.
    done: Vec<bool>,
    /// By arc and parity: the search that reached it last, and where from.
    reached: Vec<(u32, u32)>,
    searches: u32,
    waiting: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// Most steps cost nothing; these need no heap.
    free: Vec<(u64, u32, u32)>,
}

impl Rings {
    fn new(arcs: &[Share]) -> Rings {
        let cities = arcs
            .iter()
            .map(|&(tail, head, _)| tail.max(head) as usize + 1);
        let cities = cities.max().unwrap_or(0);
        let mut by_tail: Vec<Vec<u32>> = vec![Vec::new(); cities];
        let mut by_head = by_tail.clone();
        for (at, &(tail, head, _)) in (0..).zip(arcs) {
            by_tail[tail as usize].push(at);
            by_head[head as usize].push(at);
        }
        let mut starts = vec![0];
        let mut steps: Vec<(u32, u64)> = Vec::new();
        for (at, &(tail, head, share)) in (0u32..).zip(arcs) {
            let opposite = by_tail[head as usize].iter();
            let opposite = opposite.filter(|&&other| arcs[other as usize].1 == tail);
            let same_end = by_tail[tail as usize].iter().chain(&by_head[head as usize]);
            let others = same_end.chain(opposite).filter(|&&other| other != at);
            steps.extend(others.map(|&other| {
                let way = (1.0 - share - arcs[other as usize].2).max(0.0);
                (other, (way * SCALE) as u64)
            }));
            starts.push(steps.len() as u32);
        }
        Rings {
            starts,
            steps,
            done: vec![false; arcs.len()],
            reached: vec![(0, 0); 2 * arcs.len()],
            searches: 0,
            waiting: BinaryHeap::new(),
            free: Vec::new(),
        }
    }

    /// The ring through an arc that a tour can least take, where its arcs are violated together:
    /// over an edge between arcs with shares a and b the way is 1 - a - b, and less than 1 around.
    fn shortest_odd(&mut self, start: usize) -> Option<Vec<usize>> {
        // A node for each arc and parity, so that a ring comes back with the other parity.
        let first = 2 * start as u32;
        self.searches += 1;
        self.waiting.clear();
        self.free.clear();
        self.free.push((0, first, first));
        loop {
            let next = self.free.pop();
            let (way, node, from) = next.or_else(|| Some(self.waiting.pop()?.0))?;
            if self.reached[node as usize].0 == self.searches {
                continue;
            }
            self.reached[node as usize] = (self.searches, from);
            if node == first + 1 {
                return self.simple_ring(node);
            }
            let at = node as usize / 2;
            let exclusions = self.starts[at] as usize..self.starts[at + 1] as usize;
            for &(other, step) in &self.steps[exclusions] {
                let next = 2 * other + (1 - node % 2);
                let further = way + step;
                if further >= LONGEST_RING
                    || self.done[other as usize]
                    || self.reached[next as usize].0 == self.searches
                {
                    continue;
                }
                match step {
                    0 => self.free.push((further, next, node)),
                    _ => self.waiting.push(Reverse((further, next, node))),
                }
            }
        }
    }

    /// The way back from where a ring closed; `None` where it passes an arc twice.
    fn simple_ring(&self, end: u32) -> Option<Vec<usize>> {
        let mut ring = Vec::new();
        let mut node = end;
        loop {
            let from = self.reached[node as usize].1;
            if from == node {
                break;
            }
            ring.push(node as usize / 2);
            node = from;
        }
        let mut seen = ring.clone();
        seen.sort_unstable();
        seen.dedup();
        (seen.len() == ring.len()).then_some(ring)
    }
}

/// Lifted cycles of three cities that are violated.
///
/// No more than one arc leaves the first city and one enters the last, so that only cities both
/// ways between which are taken in part come into question as first and last.
fn lifted_cycles(shares: &Shares) -> Vec<ArcCut> {
    let mut cuts = Vec::new();
    for &(first, last, there) in &shares.arcs {
        let back = shares.share(last, first);
        if back < VIOLATION {
            continue;
        }
        for &(_, between, onto) in shares.out_of(first) {
            let taken = onto + shares.share(between, last) + back + 2.0 * there;
            if between != last && taken > 2.0 + VIOLATION {
                cuts.push(lifted_cycle(first, between, last));
            }
        }
    }
    cuts
}

/// The lifted cycle inequality of three cities: the arcs of the cycle, and twice the arc from the
/// first city to the last, are at most two.
fn lifted_cycle(first: u32, between: u32, last: u32) -> ArcCut {
    let mut arcs = vec![
        (first, between, 1),
        (between, last, 1),
        (last, first, 1),
        (first, last, 2),
    ];
    arcs.sort_unstable();
    ArcCut { arcs, limit: 2 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_model::Random;

    /// Calls `look` with the successors of every tour over some cities.
    fn all_tours(cities: usize, look: &mut impl FnMut(&[usize])) {
        fn extend(path: &mut Vec<usize>, cities: usize, look: &mut impl FnMut(&[usize])) {
            if path.len() == cities {
                let mut successor = vec![0; cities];
                for at in 0..cities {
                    successor[path[at]] = path[(at + 1) % cities];
                }
                return look(&successor);
            }
            for city in 1..cities {
                if !path.contains(&city) {
                    path.push(city);
                    extend(path, cities, look);
                    path.pop();
                }
            }
        }
        extend(&mut vec![0], cities, look);
    }

    fn is_valid(cut: &ArcCut, cities: usize) -> bool {
        let mut valid = true;
        all_tours(cities, &mut |successor| {
            let taken = cut
                .arcs
                .iter()
                .filter(|&&(t, h, _)| successor[t as usize] == h as usize);
            valid &= taken.map(|arc| arc.2).sum::<i64>() <= cut.limit;
        });
        valid
    }

    #[test]
    fn no_tour_breaks_a_lifted_cycle() {
        assert!(is_valid(&lifted_cycle(2, 0, 4), 6));
    }

    #[test]
    fn no_tour_breaks_a_cut_and_the_fractional_tour_does() {
        let mut random = Random::new(3, 0);
        let mut found = 0;
        for _ in 0..400 {
            // Half of two tours is fractional and violates no subtour cut.
            let cities = 6 + random.below(2) as usize;
            let mut shares: HashMap<(u32, u32), f64> = HashMap::new();
            for _ in 0..2 {
                let mut path: Vec<u32> = (0..cities as u32).collect();
                random.shuffle(&mut path);
                // A cycle left out of one of them is what the cuts are about.
                let split = 3 * usize::from(random.below(2) == 0);
                for (from, to) in [(0, split), (split, cities)] {
                    for at in from..to {
                        let next = if at + 1 == to { from } else { at + 1 };
                        *shares.entry((path[at], path[next])).or_insert(0.0) += 0.5;
                    }
                }
            }
            let mut arcs: Vec<Share> = shares.iter().map(|(&(t, h), &x)| (t, h, x)).collect();
            arcs.sort_unstable_by_key(|&(tail, head, _)| (tail, head));
            for cut in violated_arc_cuts(&arcs) {
                assert!(is_valid(&cut, cities), "{cut:?}");
                let taken =
                    |&(t, h, w): &(u32, u32, i64)| shares.get(&(t, h)).unwrap_or(&0.0) * w as f64;
                assert!(cut.arcs.iter().map(taken).sum::<f64>() > cut.limit as f64);
                found += 1;
            }
        }
        assert!(found > 100, "{found} cuts");
    }
}
