//! The shortest order for the times at hand: from an assignment to a proof, as far as effort leads.

use super::assignment::Assignment;
use super::cities::{Cities, MATRIX_MAX_VISITS};
use super::effort::{Effort, Meter};
use super::held_karp::certificate::Certificate;
use super::held_karp::prove::prove;
use super::held_karp::relaxation::Relaxation;
use super::held_karp::start::Start;
use super::patch::patch;
use super::search::candidates::Candidates;
use super::search::search;
use super::solution::Solution;
use super::tour::Tour;
use crate::order::Order;
use crate::orders::opt::opt;
use crate::problem::Problem;
use tapewise_model::Micros;

/// Largest batch that is solved by trying all sets of visits.
const EXACT_VISITS: usize = 12;

/// Visits up to which the bound is tightened and the order proven without being asked to: above,
/// a search that long gains more.
const PROVEN_VISITS: usize = 500;

/// Work of the first search, for each visit: it looks at few arcs, none of which is stored, and is
/// over before a matrix could be filled.
const EARLY_WORK: u64 = 100;

/// Times as long that a look at an arc takes without a matrix.
const DEARER_ARC: u64 = 3;

/// Work of the search before the bound is tightened, for each pair of visits.
const FIRST_WORK: u64 = 60;

/// The most of it, a tenth of a second, or half a second where a proof is asked for.
const MOST_FIRST_WORK: u64 = 8_000_000;
const MOST_WORK_BEFORE_PROOF: u64 = 35_000_000;

/// Work that tightening the bound of a thousand visits takes.
const BOUND_WORK: u64 = 30_000_000;

/// The shortest order that the effort finds, with a bound for any order.
///
/// The assignment gives a bound and, patched, an order. Where the two do not meet, the order is
/// searched on; up to [`MATRIX_MAX_VISITS`] visits the bound is raised by cuts, and branch and bound
/// closes what is left between them.
pub(crate) fn shortest(problem: &Problem, effort: &Effort, seed: u64) -> Solution {
    let (read, inner_locate) = problem.fixed_time();
    if problem.len() <= EXACT_VISITS
        && let Some(order) = opt(problem)
    {
        return Solution {
            bound: Some(order.total_time(problem)),
            order,
            cut_short: false,
        };
    }
    let assignment = Assignment::within(problem, effort.out_of_time);
    let meter = Meter::new(effort, effort.work);
    let mut attempt = Attempt {
        effort,
        seed,
        bound: assignment.bound().0,
        order: patch(problem, &assignment),
        locate: Micros::ZERO,
        problem,
    };
    attempt.take(attempt.order.clone());
    if !attempt.is_proven() && !meter.is_out_of_time() {
        let cities = Cities::sparse(problem);
        let candidates = Candidates::sparse(&cities, &assignment);
        let early = meter.part(EARLY_WORK * problem.len() as u64);
        attempt.search(&cities, &candidates, &early);
        if problem.len() > MATRIX_MAX_VISITS {
            attempt.search(&cities, &candidates, &meter.part(meter.left() / DEARER_ARC));
        } else if !attempt.is_proven() && !meter.is_spent() {
            attempt.by_matrix(&assignment, &meter);
        }
    }
    Solution {
        bound: Some(Micros(attempt.bound) + read + inner_locate),
        cut_short: !attempt.is_proven() && meter.is_out_of_time(),
        order: attempt.order,
    }
}

/// The best order so far and the best bound, which only ever close in on one another.
struct Attempt<'a> {
    problem: &'a Problem,
    effort: &'a Effort<'a>,
    seed: u64,
    order: Order,
    /// Time between the reads of the order.
    locate: Micros,
    /// Time between reads that no order falls below, in microseconds.
    bound: i64,
}

impl Attempt<'_> {
    fn take(&mut self, order: Order) {
        let locate = order.locate_time(self.problem);
        if self.locate == Micros::ZERO || locate < self.locate {
            (self.order, self.locate) = (order, locate);
        }
    }

    fn is_proven(&self) -> bool {
        self.bound >= self.locate.0
    }

    fn search(&mut self, cities: &Cities, candidates: &Candidates, meter: &Meter) {
        self.take(search(cities, &self.order, candidates, self.seed, meter));
    }

    /// With the cost of every arc at hand: search, tighten the bound, prove.
    fn by_matrix(&mut self, assignment: &Assignment, meter: &Meter) {
        let cities = Cities::dense(self.problem);
        let (rows, columns) = (&assignment.rows, &assignment.columns);
        let candidates = Candidates::dense(&cities, rows, columns, 8, 4);
        let visits = self.problem.len() as u64;
        let proves = self.effort.prove || self.problem.len() <= PROVEN_VISITS;
        let by_size = visits * visits * FIRST_WORK;
        let first = match (self.effort.prove, proves) {
            (true, _) => by_size.min(MOST_WORK_BEFORE_PROOF),
            (false, true) => by_size.min(MOST_FIRST_WORK),
            (false, false) => meter.left().saturating_sub(BOUND_WORK),
        };
        self.search(&cities, &candidates, &meter.part(first));
        if meter.is_spent() || self.is_proven() {
            return;
        }
        let tour = Tour::of_order(&cities, &self.order);
        let plain = Certificate::new(&cities, columns.clone(), Vec::new(), Vec::new());
        let start = Start::new(&cities, &assignment.successor, &plain, &tour);
        let mut relaxation = Relaxation::new(&cities, &start, tour.cost);
        let tight = relaxation.bound(tour.cost, meter);
        self.bound = self.bound.max(tight.bound()).min(self.locate.0);
        if !proves {
            return;
        }
        let share = if self.effort.prove {
            meter.left()
        } else {
            meter.left() / 2
        };
        let proof = prove(&cities, &tight, tour, &meter.part(share));
        self.bound = self.bound.max(proof.bound);
        self.take(proof.tour.into_order());
        if !self.is_proven() && !self.effort.prove {
            self.search(&cities, &candidates, meter);
        }
    }
}
