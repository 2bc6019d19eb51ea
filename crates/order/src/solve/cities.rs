//! A batch as a travelling salesman sees it: cities, and the cost of going from one to the next.
//!
//! The visits are cities; the last city is where the tour closes: as a tail it is the head before
//! the first visit, as a head it is where the head is to be left after the last one. So a path
//! over all visits is a tour over all cities.

use crate::problem::Problem;
use tapewise_model::Micros;

/// The largest batch that a matrix of all arcs is made for: 32 MB.
pub(crate) const MATRIX_MAX_VISITS: usize = 2_048;

/// A city by its number: that of its visit, or one more than the last for the city where the tour closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct City(pub(crate) u32);

impl City {
    /// The city of a visit.
    pub(crate) fn of_visit(visit: u32) -> City {
        City(visit)
    }

    /// Its place in a list of all cities.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Cities with the cost of every arc between them, in microseconds.
#[derive(Clone, Debug)]
pub(crate) struct Cities<'a> {
    len: usize,
    costs: Costs<'a>,
}

#[derive(Clone, Debug)]
enum Costs<'a> {
    /// Computed when asked for.
    Batch(&'a Problem),
    /// Row by row.
    Matrix(Vec<i64>),
}

impl<'a> Cities<'a> {
    /// The cities of a batch, costs computed when asked for: no memory.
    pub(crate) fn sparse(problem: &'a Problem) -> Cities<'a> {
        Cities {
            len: problem.len() + 1,
            costs: Costs::Batch(problem),
        }
    }

    /// The cities of a batch with all costs in a matrix, for searches that ask for most of them
    /// many times; above [`MATRIX_MAX_VISITS`] the same as [`Cities::sparse`].
    pub(crate) fn dense(problem: &'a Problem) -> Cities<'a> {
        let n = problem.len();
        if n > MATRIX_MAX_VISITS {
            return Cities::sparse(problem);
        }
        let cities = n + 1;
        let mut matrix = Vec::with_capacity(cities * cities);
        let mut times = vec![Micros::ZERO; n];
        for tail in 0..cities {
            problem.arcs((tail < n).then_some(tail), &mut times);
            matrix.extend(times.iter().map(|time| time.0));
            matrix.push(if tail < n {
                problem.end_cost(tail).0
            } else {
                Micros::FAR.0
            });
            matrix[tail * cities + tail] = Micros::FAR.0;
        }
        Cities::with_costs(cities, matrix)
    }

    /// Cities with these costs, row by row.
    pub(crate) fn with_costs(len: usize, matrix: Vec<i64>) -> Cities<'a> {
        debug_assert_eq!(matrix.len(), len * len);
        Cities {
            len,
            costs: Costs::Matrix(matrix),
        }
    }

    /// Number of cities: of a batch the visits, and the one where the tour closes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The city where a batch's tour closes.
    pub(crate) fn closing(&self) -> City {
        City((self.len - 1) as u32)
    }

    /// The visits that cost least after each city, the cheapest first.
    pub(crate) fn near(&self, most: usize) -> Vec<Vec<u32>> {
        let visits = self.len() as u32 - 1;
        let after = |tail: u32| {
            let key = |&head: &u32| (self.cost(tail as usize, head as usize), head);
            let mut near: Vec<u32> = (0..visits).filter(|&head| head != tail).collect();
            if near.len() > most {
                near.select_nth_unstable_by_key(most, key);
                near.truncate(most);
            }
            near.sort_unstable_by_key(key);
            near
        };
        (0..=visits).map(after).collect()
    }

    /// The costs of all arcs from a city, in the order of the heads, where they are at hand.
    pub(crate) fn row(&self, tail: usize) -> Option<&[i64]> {
        match &self.costs {
            Costs::Matrix(matrix) => Some(&matrix[tail * self.len..][..self.len]),
            Costs::Batch(_) => None,
        }
    }

    /// The cost of one arc; [`Micros::FAR`] from a city to itself.
    #[inline(always)]
    pub(crate) fn cost(&self, tail: usize, head: usize) -> i64 {
        let problem = match &self.costs {
            Costs::Matrix(matrix) => return matrix[tail * self.len + head],
            Costs::Batch(problem) => problem,
        };
        let end = problem.len();
        match (tail == end, head == end) {
            _ if tail == head => Micros::FAR.0,
            (true, _) => problem.first_arc(head).0,
            (_, true) => problem.end_cost(tail).0,
            _ => problem.arc(tail, head).0,
        }
    }
}
