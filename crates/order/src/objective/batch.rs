//! All of a batch that an objective asks about.

use super::near::Near;
use super::travel;
use super::wanted::Objective;
use super::wishes::{Dues, Wishes};
use crate::problem::Problem;
use crate::solve::cities::Cities;

/// A batch with what its visits are due for.
pub(super) struct Batch<'a> {
    pub(super) problem: &'a Problem,
    pub(super) cities: Cities<'a>,
    /// Time that each city takes to read; none where the tour closes.
    pub(super) service: Vec<i64>,
    pub(super) dues: Dues,
    pub(super) near: Near,
    /// Tape moved within visits.
    pub(super) within_lpos: i64,
}

impl<'a> Batch<'a> {
    pub(super) fn new(problem: &'a Problem, objective: Objective, wishes: &Wishes) -> Batch<'a> {
        let cities = Cities::dense(problem);
        let read = problem
            .visits()
            .iter()
            .map(|visit| (visit.read + visit.inner_locate).0);
        Batch {
            near: Near::new(problem, &cities),
            problem,
            service: read.chain([0]).collect(),
            dues: Dues::new(problem, objective, wishes),
            within_lpos: travel::within_lpos(problem),
            cities,
        }
    }

    /// Number of visits; also the city where the tour closes.
    pub(super) fn len(&self) -> usize {
        self.service.len() - 1
    }

    /// Tape moved from one city to the next.
    pub(super) fn moved_lpos(&self, tail: u32, head: u32) -> i64 {
        travel::between_lpos(self.problem, tail as usize, head as usize)
    }
}
