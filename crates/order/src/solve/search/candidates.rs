//! Candidates: the few arcs that a good order may come to a city by.
//!
//! Arcs are judged by *reduced* cost: the cost less the dual prices of both ends in a cheapest
//! assignment. A tour takes one arc from every city and one to every city, so reduced and plain
//! costs of tours differ by a constant, and a gain is the same in both. But the arcs of a good tour
//! have reduced costs of nearly zero, which says where something is to be gained and where not.

use crate::solve::assignment::Assignment;
use crate::solve::cities::Cities;

/// An arc to a city.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    /// Reduced cost, in microseconds.
    pub(crate) reduced: i64,
    /// The city it comes from.
    pub(crate) tail: u32,
}

/// A candidate with the city that it goes to.
type Listed = (u32, Candidate);

/// The arcs that a search puts in, and the prices that it judges all arcs by.
#[derive(Clone, Debug)]
pub(crate) struct Candidates {
    rows: Vec<i64>,
    columns: Vec<i64>,
    /// Where the arcs to each city begin in `arcs`, and where the last ones end.
    first: Vec<u32>,
    /// Head by head, the cheapest first.
    arcs: Vec<Candidate>,
}

impl Candidates {
    /// Candidates from a list of arcs (tail, head), in any order; those that come twice count once.
    ///
    /// `rows` and `columns` are the prices of the cities as tails and as heads: dual prices of a
    /// cheapest assignment, or any others, such as zeros; the better the prices, the faster and
    /// the better the search.
    pub(crate) fn new(
        cities: &Cities,
        rows: Vec<i64>,
        columns: Vec<i64>,
        arcs: impl IntoIterator<Item = (u32, u32)>,
    ) -> Candidates {
        let listed: Vec<Listed> = arcs
            .into_iter()
            .filter(|(tail, head)| tail != head)
            .map(|(tail, head)| {
                let (from, to) = (tail as usize, head as usize);
                let reduced = cities.cost(from, to) - rows[from] - columns[to];
                (head, Candidate { reduced, tail })
            })
            .collect();
        Candidates::listed(rows, columns, &listed)
    }

    /// Sorts a list of arcs by head (by counting, as there are many), then by reduced cost.
    fn listed(rows: Vec<i64>, columns: Vec<i64>, listed: &[Listed]) -> Candidates {
        let mut first = vec![0u32; columns.len() + 1];
        for (head, _) in listed {
            first[*head as usize + 1] += 1;
        }
        for head in 1..first.len() {
            first[head] += first[head - 1];
        }
        let mut next = first.clone();
        let nobody = Candidate {
            reduced: 0,
            tail: 0,
        };
        let mut sorted = vec![nobody; listed.len()];
        for &(head, arc) in listed {
            let at = &mut next[head as usize];
            sorted[*at as usize] = arc;
            *at += 1;
        }
        let mut arcs = Vec::with_capacity(listed.len());
        for head in 0..columns.len() {
            let (begin, end) = (first[head] as usize, first[head + 1] as usize);
            let mine = &mut sorted[begin..end];
            mine.sort_unstable();
            first[head] = arcs.len() as u32;
            arcs.extend(mine.chunk_by(|one, other| one == other).map(|same| same[0]));
        }
        first[columns.len()] = arcs.len() as u32;
        Candidates {
            rows,
            columns,
            first,
            arcs,
        }
    }

    /// The arcs that an assignment found cheap, with its prices.
    pub(crate) fn sparse(cities: &Cities, assignment: &Assignment) -> Candidates {
        // An empty assignment has no candidates.
        let tails = (0..cities.len() as u32).filter(|_| cities.len() > 1);
        let arcs = tails.flat_map(|tail| {
            let heads = assignment.candidates(tail).iter();
            heads.map(move |&head| (tail, head))
        });
        let (rows, columns) = (assignment.rows.clone(), assignment.columns.clone());
        Candidates::new(cities, rows, columns, arcs)
    }

    /// The cheapest `heads` arcs from each city and the cheapest `tails` arcs to each, chosen from
    /// all arcs.
    pub(crate) fn dense(
        cities: &Cities,
        rows: &[i64],
        columns: &[i64],
        heads: usize,
        tails: usize,
    ) -> Candidates {
        let n = cities.len();
        let (mut near, missing) = near_arcs(cities, rows, columns, heads, tails);
        let mut listed = Vec::with_capacity(n * (heads + tails));
        let mut few = Vec::new();
        for run in near.chunk_by(|one, other| one.1.tail == other.1.tail) {
            few.clear();
            few.extend_from_slice(run);
            keep_least(&mut few, heads, |&(head, arc)| (arc.reduced, head));
            listed.append(&mut few);
        }
        near.extend(missing);
        let to_each = Candidates::listed(rows.to_vec(), columns.to_vec(), &near);
        for head in 0..n as u32 {
            let cheapest = to_each.to(head).iter().take(tails);
            listed.extend(cheapest.map(|&arc| (head, arc)));
        }
        Candidates::listed(rows.to_vec(), columns.to_vec(), &listed)
    }

    /// The arcs to a city, the cheapest first.
    #[inline(always)]
    pub(crate) fn to(&self, head: u32) -> &[Candidate] {
        let head = head as usize;
        &self.arcs[self.first[head] as usize..self.first[head + 1] as usize]
    }

    /// The reduced cost of any arc.
    #[inline(always)]
    pub(crate) fn reduced(&self, cities: &Cities, tail: u32, head: u32) -> i64 {
        let (tail, head) = (tail as usize, head as usize);
        cities.cost(tail, head) - self.rows[tail] - self.columns[head]
    }
}

/// Rows that tell how dear the arcs are that matter.
const SAMPLED_ROWS: usize = 40;

/// Tail by tail, arcs that hold the `heads` cheapest from each city; and those that the `tails`
/// cheapest to each city may lack among them.
///
/// A sample tells below which reduced cost most cities have that many; one pass over all arcs finds
/// those, and only cities that have too few are looked at again.
fn near_arcs(
    cities: &Cities,
    rows: &[i64],
    columns: &[i64],
    heads: usize,
    tails: usize,
) -> (Vec<Listed>, Vec<Listed>) {
    let n = cities.len();
    let limit = usual_rank(cities, rows, columns, heads);
    let mut near: Vec<Listed> = Vec::with_capacity(n * heads * 2);
    let mut below_limit = vec![0; n];
    let mut all = Vec::new();
    for (tail, row) in rows.iter().enumerate() {
        let begin = near.len();
        let mut give = |(head, (cost, column)): (usize, (i64, &i64))| {
            let reduced = cost - row - column;
            if reduced < limit {
                let tail = tail as u32;
                near.push((head as u32, Candidate { reduced, tail }));
            }
        };
        match cities.row(tail) {
            Some(costs) => costs
                .iter()
                .copied()
                .zip(columns)
                .enumerate()
                .for_each(&mut give),
            None => {
                let costs = (0..n).map(|head| cities.cost(tail, head));
                costs.zip(columns).enumerate().for_each(&mut give)
            }
        }
        for (head, _) in &near[begin..] {
            below_limit[*head as usize] += 1;
        }
        if near.len() - begin < heads {
            near.truncate(begin);
            all.clear();
            all.extend((0..n).filter(|&head| head != tail).map(|head| {
                let reduced = cities.cost(tail, head) - row - columns[head];
                let tail = tail as u32;
                (head as u32, Candidate { reduced, tail })
            }));
            keep_least(&mut all, heads, |&(head, arc)| (arc.reduced, head));
            near.append(&mut all);
        }
    }
    let mut missing = Vec::new();
    for head in (0..n).filter(|&head| below_limit[head] < tails) {
        all.clear();
        all.extend((0..n).filter(|&tail| tail != head).map(|tail| {
            let reduced = cities.cost(tail, head) - rows[tail] - columns[head];
            let tail = tail as u32;
            (head as u32, Candidate { reduced, tail })
        }));
        keep_least(&mut all, tails, |&(_, arc)| arc);
        missing.append(&mut all);
    }
    (near, missing)
}

/// The reduced cost up to which half of some cities have somewhat more than `count` arcs.
fn usual_rank(cities: &Cities, rows: &[i64], columns: &[i64], count: usize) -> i64 {
    let n = cities.len();
    let rank = (count * 3 / 2).min(n.saturating_sub(2));
    let sampled = (0..n).step_by(n.div_ceil(SAMPLED_ROWS).max(1));
    let mut ranks: Vec<i64> = sampled
        .map(|tail| {
            let heads = (0..n).filter(|&head| head != tail);
            let mut all: Vec<i64> = heads
                .map(|head| cities.cost(tail, head) - rows[tail] - columns[head])
                .collect();
            if all.is_empty() {
                0
            } else {
                *all.select_nth_unstable(rank).1
            }
        })
        .collect();
    ranks.sort_unstable();
    ranks.get(ranks.len() / 2).map_or(0, |&rank| rank + 1)
}

/// The least of some arcs, in no order.
fn keep_least<K: Ord>(arcs: &mut Vec<Listed>, count: usize, key: impl Fn(&Listed) -> K) {
    if count < arcs.len() {
        arcs.select_nth_unstable_by_key(count, key);
        arcs.truncate(count);
    }
}
