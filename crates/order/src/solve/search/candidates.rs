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
        let mut listed: Vec<(u32, Candidate)> = arcs
            .into_iter()
            .filter(|(tail, head)| tail != head)
            .map(|(tail, head)| {
                let (from, to) = (tail as usize, head as usize);
                let reduced = cities.cost(from, to) - rows[from] - columns[to];
                (head, Candidate { reduced, tail })
            })
            .collect();
        listed.sort_unstable();
        listed.dedup();
        let first = (0..=cities.len() as u32)
            .map(|city| listed.partition_point(|&(head, _)| head < city) as u32)
            .collect();
        let arcs = listed.into_iter().map(|(_, arc)| arc).collect();
        Candidates {
            rows,
            columns,
            first,
            arcs,
        }
    }

    /// The arcs that an assignment found cheap, with its prices.
    pub(crate) fn sparse(cities: &Cities, assignment: &Assignment) -> Candidates {
        // An assignment of nothing has no candidates, not even none.
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
        let mut arcs: Vec<(u32, u32)> = Vec::with_capacity(n * (heads + tails));
        let mut from: Vec<(i64, u32)> = Vec::with_capacity(n);
        let mut to: Vec<Vec<(i64, u32)>> = vec![Vec::with_capacity(tails + 1); n];
        for (tail, row) in rows.iter().enumerate() {
            from.clear();
            for head in (0..n).filter(|&head| head != tail) {
                let reduced = cities.cost(tail, head) - row - columns[head];
                from.push((reduced, head as u32));
                let cheapest = &mut to[head];
                if cheapest.len() < tails || cheapest.last().is_some_and(|last| reduced < last.0) {
                    let at = cheapest.partition_point(|other| other.0 <= reduced);
                    cheapest.insert(at, (reduced, tail as u32));
                    cheapest.truncate(tails);
                }
            }
            if heads < from.len() {
                from.select_nth_unstable(heads);
            }
            arcs.extend(
                from.iter()
                    .take(heads)
                    .map(|&(_, head)| (tail as u32, head)),
            );
        }
        for (head, cheapest) in to.into_iter().enumerate() {
            arcs.extend(cheapest.into_iter().map(|(_, tail)| (tail, head as u32)));
        }
        Candidates::new(cities, rows.to_vec(), columns.to_vec(), arcs)
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
