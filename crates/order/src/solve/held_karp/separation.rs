//! Which cuts does a fractional tour violate?
//!
//! With every city left once and entered once, as much flows into a set of cities as out of it. So
//! a set that is left by less than one arc is a cut of less than two in the undirected graph whose
//! edges weigh what flows either way, and minimum cuts find it. Edges that no such cut needs are
//! contracted first (Padberg & Rinaldi 1990); on what is left every phase of Stoer & Wagner (1997)
//! gives a cut.

/// An arc with its share in a fractional tour.
pub(crate) type Share = (u32, u32, f64);

/// How far below its due a cut must be to count as violated.
const VIOLATION: f64 = 1e-4;

/// Sets of cities that a fractional tour leaves less than once, each at most half of all cities.
///
/// `arcs` are the arcs with positive shares; `cities` their number. Empty when there is none.
pub(crate) fn violated_sets(cities: usize, arcs: &[Share]) -> Vec<Vec<u32>> {
    let mut graph = Graph::new(cities, arcs);
    let mut found = graph.components();
    if found.len() > 1 {
        // The largest is what the others leave over.
        let largest = (0..found.len()).max_by_key(|&at| found[at].len());
        found.swap_remove(largest.unwrap_or(0));
    } else {
        found = graph.minimum_cuts();
    }
    let mut sets: Vec<Vec<u32>> = found
        .into_iter()
        .map(|set| smaller_side(cities, set))
        .collect();
    sets.sort();
    sets.dedup();
    sets
}

fn smaller_side(cities: usize, mut set: Vec<u32>) -> Vec<u32> {
    set.sort_unstable();
    if set.len() * 2 <= cities {
        return set;
    }
    let mut inside = set.iter().peekable();
    (0..cities as u32)
        .filter(|city| inside.next_if_eq(&city).is_none())
        .collect()
}

/// The undirected graph, its nodes merged as contraction goes on.
struct Graph {
    /// Neighbours with weights; empty for a node that has been merged into another.
    edges: Vec<Vec<(u32, f64)>>,
    /// The cities merged into each node.
    members: Vec<Vec<u32>>,
    degree: Vec<f64>,
}

impl Graph {
    fn new(cities: usize, arcs: &[Share]) -> Graph {
        let mut edges: Vec<Vec<(u32, f64)>> = vec![Vec::new(); cities];
        for &(tail, head, share) in arcs {
            add(&mut edges[tail as usize], head, share);
            add(&mut edges[head as usize], tail, share);
        }
        let degree = edges.iter().map(|near| weight(near)).collect();
        Graph {
            edges,
            members: (0..cities as u32).map(|city| vec![city]).collect(),
            degree,
        }
    }

    /// The cities of each connected part.
    fn components(&self) -> Vec<Vec<u32>> {
        let mut seen = vec![false; self.edges.len()];
        let mut parts = Vec::new();
        for start in 0..self.edges.len() {
            if seen[start] {
                continue;
            }
            seen[start] = true;
            let mut part = vec![start as u32];
            let mut next = 0;
            while next < part.len() {
                for &(near, _) in &self.edges[part[next] as usize] {
                    if !std::mem::replace(&mut seen[near as usize], true) {
                        part.push(near);
                    }
                }
                next += 1;
            }
            parts.push(part);
        }
        parts
    }

    /// Every set that contraction or a phase of the minimum cut shows to be left less than once.
    fn minimum_cuts(&mut self) -> Vec<Vec<u32>> {
        let mut found = Vec::new();
        self.contract(&mut found);
        let mut alive: Vec<u32> = (0..self.edges.len() as u32)
            .filter(|&node| !self.members[node as usize].is_empty())
            .collect();
        let mut weights = vec![0.0; self.edges.len()];
        while alive.len() > 1 {
            let (before, last, cut) = self.phase(&alive, &mut weights);
            if cut < 2.0 - VIOLATION {
                found.push(self.members[last as usize].clone());
            }
            self.merge(before, last);
            alive.retain(|&node| node != last);
        }
        found
    }

    /// Merges nodes that no smaller cut separates, but for the node by itself.
    fn contract(&mut self, found: &mut Vec<Vec<u32>>) {
        let mut waiting: Vec<u32> = (0..self.edges.len() as u32).collect();
        while let Some(node) = waiting.pop() {
            let at = node as usize;
            if self.members[at].is_empty() || self.members[at].len() == self.members.len() {
                continue;
            }
            let heavy = self.edges[at]
                .iter()
                .find(|&&(near, weight)| {
                    2.0 * weight >= self.degree[at].min(self.degree[near as usize]) - 1e-9
                })
                .map(|&(near, _)| near);
            let Some(near) = heavy else { continue };
            self.merge(node, near);
            let whole = self.edges[at].is_empty();
            if !whole && self.degree[at] < 2.0 - VIOLATION {
                found.push(self.members[at].clone());
            }
            waiting.extend(self.edges[at].iter().map(|&(near, _)| near));
            waiting.push(node);
        }
    }

    /// One maximum adjacency order: its last two nodes, and the weight of the cut that parts the
    /// last from all others.
    fn phase(&self, alive: &[u32], weights: &mut [f64]) -> (u32, u32, f64) {
        for &node in alive {
            weights[node as usize] = 0.0;
        }
        let mut left = alive.to_vec();
        let mut order = (alive[0], alive[0]);
        let mut cut = 0.0;
        while !left.is_empty() {
            let tightest = (0..left.len())
                .max_by(|&a, &b| {
                    weights[left[a] as usize]
                        .total_cmp(&weights[left[b] as usize])
                        .then(left[b].cmp(&left[a]))
                })
                .unwrap_or(0);
            let node = left.swap_remove(tightest);
            order = (order.1, node);
            cut = weights[node as usize];
            for &(near, weight) in &self.edges[node as usize] {
                weights[near as usize] += weight;
            }
        }
        (order.0, order.1, cut)
    }

    /// Makes `gone` part of `kept`.
    fn merge(&mut self, kept: u32, gone: u32) {
        let edges = std::mem::take(&mut self.edges[gone as usize]);
        for (near, weight) in edges {
            self.edges[near as usize].retain(|&(other, _)| other != gone);
            if near != kept {
                add(&mut self.edges[kept as usize], near, weight);
                add(&mut self.edges[near as usize], kept, weight);
            }
        }
        self.degree[kept as usize] = weight(&self.edges[kept as usize]);
        let members = std::mem::take(&mut self.members[gone as usize]);
        self.members[kept as usize].extend(members);
    }
}

fn add(edges: &mut Vec<(u32, f64)>, to: u32, weight: f64) {
    match edges.iter_mut().find(|edge| edge.0 == to) {
        Some(edge) => edge.1 += weight,
        None => edges.push((to, weight)),
    }
}

fn weight(edges: &[(u32, f64)]) -> f64 {
    edges.iter().map(|&(_, weight)| weight).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_model::Random;

    /// All sets, by trying every one.
    fn violated_by_trying(cities: usize, arcs: &[Share]) -> bool {
        (1u32..(1 << cities) - 1).any(|set| {
            let inside = |city: u32| set >> city & 1 == 1;
            let leaving = arcs
                .iter()
                .filter(|(tail, head, _)| inside(*tail) && !inside(*head));
            leaving.map(|(_, _, share)| share).sum::<f64>() < 1.0 - VIOLATION
        })
    }

    fn leaving(set: &[u32], arcs: &[Share]) -> f64 {
        let inside = |city: u32| set.binary_search(&city).is_ok();
        let arcs = arcs.iter().filter(|(t, h, _)| inside(*t) && !inside(*h));
        arcs.map(|(_, _, share)| share).sum()
    }

    /// A mixture of random assignments is a fractional assignment.
    fn mixture(cities: usize, random: &mut Random) -> Vec<Share> {
        let parts = 1 + random.below(4);
        let mut shares = vec![0.0; cities * cities];
        for _ in 0..parts {
            let mut heads: Vec<usize> = (0..cities).collect();
            loop {
                for at in (1..cities).rev() {
                    heads.swap(at, random.below(at as u64 + 1) as usize);
                }
                if heads.iter().enumerate().all(|(tail, &head)| tail != head) {
                    break;
                }
            }
            for (tail, &head) in heads.iter().enumerate() {
                shares[tail * cities + head] += 1.0 / parts as f64;
            }
        }
        let arcs = shares.iter().enumerate().filter(|(_, share)| **share > 0.0);
        arcs.map(|(at, &share)| ((at / cities) as u32, (at % cities) as u32, share))
            .collect()
    }

    #[test]
    fn finds_a_violated_set_exactly_where_there_is_one() {
        let mut random = Random::new(7, 0);
        let mut violated = 0;
        for _ in 0..3_000 {
            let cities = 3 + random.below(8) as usize;
            let arcs = mixture(cities, &mut random);
            let sets = violated_sets(cities, &arcs);
            assert_eq!(!sets.is_empty(), violated_by_trying(cities, &arcs));
            for set in &sets {
                assert!(set.len() * 2 <= cities && !set.is_empty());
                assert!(leaving(set, &arcs) < 1.0 - VIOLATION / 4.0);
            }
            violated += usize::from(!sets.is_empty());
        }
        assert!((500..2_500).contains(&violated), "{violated} of 3000");
    }
}
