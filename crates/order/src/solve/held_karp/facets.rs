//! Cuts on single arcs, for what subtour cuts leave fractional.
//!
//! On tape the relaxation often ends with shares of a half around pairs of visits that lie on one
//! wrap: each is a cheap way to the other, so both ways are taken by half. Two families of valid
//! inequalities cut just that off:
//!
//! - *Odd trails*: two arcs exclude one another when they leave the same city, enter the same
//!   city, or join the same two cities both ways. Of an odd ring of arcs, each excluding the next,
//!   a tour takes less than half (odd CAT, Balas 1989).
//! - *Lifted cycles* of three and four cities, both ways round (D-k, Grötschel & Padberg 1985).

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

/// The longest way around an odd ring that is violated.
const LONGEST_RING: f64 = 1.0 - 2.0 * VIOLATION;

/// Ways are counted in whole parts of this.
const SCALE: f64 = 1e9;

/// Cuts that a fractional tour without violated subtour cuts violates, the most violated first,
/// without most of those that overlap.
pub(crate) fn violated_arc_cuts(arcs: &[Share]) -> Vec<ArcCut> {
    let fractional: Vec<Share> = arcs
        .iter()
        .copied()
        .filter(|(_, _, share)| (1e-6..=1.0 - 1e-6).contains(share))
        .collect();
    let mut cuts = odd_trails(&fractional);
    cuts.extend(lifted_cycles(arcs, &fractional));
    let shares: HashMap<(u32, u32), f64> = arcs.iter().map(|&(t, h, x)| ((t, h), x)).collect();
    let mut ranked: Vec<(i64, ArcCut)> = cuts
        .into_iter()
        .map(|cut| ((-cut.excess(&shares) * 1e6) as i64, cut))
        .collect();
    ranked.sort_by(|a, b| (a.0, a.1.arcs.len(), &a.1.arcs).cmp(&(b.0, b.1.arcs.len(), &b.1.arcs)));
    let mut used: HashMap<(u32, u32), u32> = HashMap::new();
    let cuts = ranked.into_iter().map(|(_, cut)| cut);
    cuts.filter(|cut| {
        let taken = || {
            cut.arcs
                .iter()
                .map(|&(t, h, _)| (t, h))
                .filter(|arc| shares.contains_key(arc))
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
    fn excess(&self, shares: &HashMap<(u32, u32), f64>) -> f64 {
        let taken = self
            .arcs
            .iter()
            .map(|&(tail, head, weight)| shares.get(&(tail, head)).unwrap_or(&0.0) * weight as f64);
        taken.sum::<f64>() - self.limit as f64
    }
}

/// Odd rings of arcs, each excluding the next, that are taken by half or more; none is looked for
/// from an arc that a ring was found to hold.
fn odd_trails(arcs: &[Share]) -> Vec<ArcCut> {
    let excluded = exclusions(arcs);
    let mut held = vec![false; arcs.len()];
    let mut cuts = Vec::new();
    for start in 0..arcs.len() {
        if held[start] {
            continue;
        }
        let Some(ring) = shortest_odd_ring(start, arcs, &excluded) else {
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

/// For each arc the arcs that no tour takes together with it.
fn exclusions(arcs: &[Share]) -> Vec<Vec<usize>> {
    let mut by_tail: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut by_head: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, &(tail, head, _)) in arcs.iter().enumerate() {
        by_tail.entry(tail).or_default().push(at);
        by_head.entry(head).or_default().push(at);
    }
    (0..arcs.len())
        .map(|at| {
            let (tail, head, _) = arcs[at];
            let opposite = by_tail.get(&head).into_iter().flatten();
            let opposite = opposite.filter(|&&other| arcs[other].1 == tail);
            let mut others: Vec<usize> = by_tail[&tail]
                .iter()
                .chain(&by_head[&head])
                .chain(opposite)
                .copied()
                .filter(|&other| other != at)
                .collect();
            others.sort_unstable();
            others.dedup();
            others
        })
        .collect()
}

/// The ring through an arc that a tour can least take, where its arcs are violated together: over
/// an edge between arcs with shares a and b the way is 1 - a - b, and less than 1 around.
fn shortest_odd_ring(start: usize, arcs: &[Share], excluded: &[Vec<usize>]) -> Option<Vec<usize>> {
    // A node for each arc and parity, so that a ring comes back with the other parity.
    let mut reached: Vec<Option<usize>> = vec![None; 2 * arcs.len()];
    let mut heap = BinaryHeap::from([Reverse((0u64, 2 * start, 2 * start))]);
    // Most steps cost nothing; these need no heap.
    let mut free = Vec::new();
    while let Some((way, node, from)) = free.pop().or_else(|| Some(heap.pop()?.0)) {
        if reached[node].is_some() {
            continue;
        }
        reached[node] = Some(from);
        if node == 2 * start + 1 {
            return simple_ring(node, &reached);
        }
        let at = node / 2;
        for &other in &excluded[at] {
            let step = (1.0 - arcs[at].2 - arcs[other].2).max(0.0);
            let next = 2 * other + (1 - node % 2);
            let further = way + (step * SCALE) as u64;
            if reached[next].is_some() || further as f64 >= LONGEST_RING * SCALE {
                continue;
            }
            match further == way {
                true => free.push((way, next, node)),
                false => heap.push(Reverse((further, next, node))),
            }
        }
    }
    None
}

fn simple_ring(end: usize, reached: &[Option<usize>]) -> Option<Vec<usize>> {
    let mut ring = Vec::new();
    let mut node = end;
    loop {
        let from = reached[node]?;
        if from == node {
            break;
        }
        ring.push(node / 2);
        node = from;
    }
    let mut seen = ring.clone();
    seen.sort_unstable();
    seen.dedup();
    (seen.len() == ring.len()).then_some(ring)
}

/// Lifted cycles of three and four cities that are violated.
fn lifted_cycles(arcs: &[Share], fractional: &[Share]) -> Vec<ArcCut> {
    let shares: HashMap<(u32, u32), f64> = arcs.iter().map(|&(t, h, x)| ((t, h), x)).collect();
    let mut near: HashMap<u32, Vec<u32>> = HashMap::new();
    for &(tail, head, _) in fractional {
        near.entry(tail).or_default().push(head);
        near.entry(head).or_default().push(tail);
    }
    for others in near.values_mut() {
        others.sort_unstable();
        others.dedup();
    }
    let mut firsts: Vec<u32> = near.keys().copied().collect();
    firsts.sort_unstable();
    let mut cuts = Vec::new();
    for first in firsts {
        grow(&mut vec![first], &near, &shares, &mut cuts);
    }
    cuts
}

/// Longest sequence of cities that a lifted cycle is looked for in.
const LONGEST_CYCLE: usize = 3;

fn grow(
    cities: &mut Vec<u32>,
    near: &HashMap<u32, Vec<u32>>,
    shares: &HashMap<(u32, u32), f64>,
    cuts: &mut Vec<ArcCut>,
) {
    if cities.len() >= 3 {
        for forward in [true, false] {
            let cut = lifted_cycle(cities, forward);
            if cut.excess(shares) > VIOLATION {
                cuts.push(cut);
            }
        }
    }
    if cities.len() == LONGEST_CYCLE {
        return;
    }
    let mut next: Vec<u32> = cities
        .iter()
        .flat_map(|city| &near[city])
        .copied()
        .collect();
    next.sort_unstable();
    next.dedup();
    for city in next {
        if !cities.contains(&city) {
            cities.push(city);
            grow(cities, near, shares, cuts);
            cities.pop();
        }
    }
}

/// The lifted cycle inequality of a sequence of cities: with the cities numbered 1 to k, the arcs
/// of the cycle, twice the arcs from 1 to 3 and on, and once the arcs back among these, are at most
/// k - 1; or the same with every arc turned round.
fn lifted_cycle(cities: &[u32], forward: bool) -> ArcCut {
    let last = cities.len() - 1;
    let mut weights: Vec<((usize, usize), i64)> = Vec::new();
    for at in 0..=last {
        weights.push(((at, (at + 1) % cities.len()), 1));
    }
    for later in 2..=last {
        weights.push(((0, later), 2));
        for between in 2..later {
            weights.push(((later, between), 1));
        }
    }
    let mut arcs: Vec<(u32, u32, i64)> = weights
        .into_iter()
        .map(|((tail, head), weight)| match forward {
            true => (cities[tail], cities[head], weight),
            false => (cities[head], cities[tail], weight),
        })
        .collect();
    arcs.sort_unstable();
    ArcCut {
        arcs,
        limit: last as i64,
    }
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
        for cities in [&[2, 0, 4][..], &[1, 3, 0, 2], &[1, 3, 0, 2, 4]] {
            for forward in [true, false] {
                assert!(is_valid(&lifted_cycle(cities, forward), 6));
            }
        }
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
            arcs.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
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
