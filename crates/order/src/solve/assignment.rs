//! The assignment bound: the cheapest way to give every visit a successor, cycles allowed.
//!
//! A path from the head over all visits gives every city (the visits and the head) one successor
//! (a visit, or the end), so the cheapest assignment is never dearer than the best order. Its dual
//! prices prove that without looking at any order: see [`Assignment::bound`]. The bound is loose
//! for small batches and becomes tight as they grow.
//!
//! Solved by shortest augmenting paths (Jonker & Volgenant 1987) on the full matrix, so for
//! batches of some hundred visits.

use crate::problem::Problem;
use tapewise_model::Micros;

/// The largest batch that a full matrix is made for: 8 MB.
pub const DENSE_ASSIGNMENT_MAX_VISITS: usize = 1_024;

const NOBODY: usize = usize::MAX;

/// A cheapest assignment with the dual prices that prove it.
///
/// Cities are numbered like visits, with the head behind the last as a row, and the end behind the
/// last as a column.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// For each city what comes after it: a visit, or the number of visits for the end.
    pub successor: Vec<usize>,
    rows: Vec<i64>,
    columns: Vec<i64>,
}

/// The cost of every arc, row by row.
#[derive(Clone, Debug)]
pub struct ArcMatrix {
    cities: usize,
    costs: Vec<i64>,
}

impl ArcMatrix {
    /// All arcs of a batch; `None` above [`DENSE_ASSIGNMENT_MAX_VISITS`].
    pub fn new(problem: &Problem) -> Option<ArcMatrix> {
        let n = problem.len();
        if n > DENSE_ASSIGNMENT_MAX_VISITS {
            return None;
        }
        let cities = n + 1;
        let mut costs = vec![Micros::FAR.0; cities * cities];
        let mut times = vec![Micros::ZERO; n];
        for tail in 0..cities {
            problem.arcs((tail < n).then_some(tail), &mut times);
            let row = &mut costs[tail * cities..][..cities];
            for (head, time) in times.iter().enumerate().filter(|&(head, _)| head != tail) {
                row[head] = time.0;
            }
            if tail < n {
                row[n] = problem.end_cost(tail).0;
            }
        }
        Some(ArcMatrix { cities, costs })
    }

    /// Number of cities: the visits, and the head or end.
    pub fn cities(&self) -> usize {
        self.cities
    }

    /// The cost of one arc.
    #[inline(always)]
    pub fn cost(&self, tail: usize, head: usize) -> i64 {
        self.costs[tail * self.cities + head]
    }

    fn row(&self, tail: usize) -> &[i64] {
        &self.costs[tail * self.cities..][..self.cities]
    }
}

impl Assignment {
    /// The cheapest assignment of a matrix.
    pub fn solve(matrix: &ArcMatrix) -> Assignment {
        let cities = matrix.cities;
        let mut search = Search {
            matrix,
            successor: vec![NOBODY; cities],
            predecessor: vec![NOBODY; cities],
            columns: vec![0; cities],
        };
        search.reduce_columns();
        for tail in 0..cities {
            if search.successor[tail] == NOBODY {
                search.augment(tail);
            }
        }
        let Search {
            successor, columns, ..
        } = search;
        let rows = (0..cities)
            .map(|tail| matrix.cost(tail, successor[tail]) - columns[successor[tail]])
            .collect();
        Assignment {
            successor,
            rows,
            columns,
        }
    }

    /// The sum of the dual prices: no order spends less time between reads.
    ///
    /// It proves itself wherever no arc is cheaper than the prices of its two ends together, which
    /// [`Assignment::is_proof`] checks.
    pub fn bound(&self) -> Micros {
        Micros(self.rows.iter().sum::<i64>() + self.columns.iter().sum::<i64>())
    }

    /// Whether the dual prices are feasible: every arc of the matrix costs at least the prices of
    /// its two ends.
    pub fn is_proof(&self, matrix: &ArcMatrix) -> bool {
        (0..matrix.cities).all(|tail| {
            let arcs = matrix.row(tail).iter().zip(&self.columns);
            arcs.into_iter()
                .all(|(cost, column)| *cost >= self.rows[tail] + column)
        })
    }
}

struct Search<'a> {
    matrix: &'a ArcMatrix,
    successor: Vec<usize>,
    predecessor: Vec<usize>,
    columns: Vec<i64>,
}

impl Search<'_> {
    /// Prices every column at its cheapest arc, and takes that arc where its row is still free.
    fn reduce_columns(&mut self) {
        let cities = self.matrix.cities;
        self.columns.copy_from_slice(self.matrix.row(0));
        let mut cheapest = vec![0; cities];
        for tail in 1..cities {
            for (head, &cost) in self.matrix.row(tail).iter().enumerate() {
                if cost < self.columns[head] {
                    self.columns[head] = cost;
                    cheapest[head] = tail;
                }
            }
        }
        for (head, tail) in cheapest.into_iter().enumerate() {
            if self.successor[tail] == NOBODY {
                self.successor[tail] = head;
                self.predecessor[head] = tail;
            }
        }
    }

    /// Gives a free row a column along a shortest alternating path, and prices the columns passed
    /// so that every arc taken stays cheapest.
    fn augment(&mut self, free: usize) {
        let cities = self.matrix.cities;
        let mut distance: Vec<i64> = self
            .matrix
            .row(free)
            .iter()
            .zip(&self.columns)
            .map(|(c, v)| c - v)
            .collect();
        let mut from = vec![free; cities];
        // Columns whose distance is final come first, then the others.
        let mut order: Vec<usize> = (0..cities).collect();
        let mut settled = 0;
        let (reached, shortest) = loop {
            let nearest = (settled..cities).min_by_key(|&at| distance[order[at]]);
            let nearest = nearest.expect("there are as many columns as rows, so one is free");
            order.swap(settled, nearest);
            let head = order[settled];
            let shortest = distance[head];
            let tail = self.predecessor[head];
            if tail == NOBODY {
                break (head, shortest);
            }
            settled += 1;
            let row = self.matrix.row(tail);
            let base = shortest - (row[head] - self.columns[head]);
            for &other in &order[settled..] {
                let through = base + row[other] - self.columns[other];
                if through < distance[other] {
                    distance[other] = through;
                    from[other] = tail;
                }
            }
        };
        for &head in &order[..settled] {
            self.columns[head] += distance[head] - shortest;
        }
        let mut head = reached;
        loop {
            let tail = from[head];
            self.predecessor[head] = tail;
            head = std::mem::replace(&mut self.successor[tail], head);
            if tail == free {
                return;
            }
        }
    }
}
