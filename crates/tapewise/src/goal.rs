//! What an order is to be good for: objective, priorities, deadlines, limits.

use crate::batch::Batch;
use crate::effort::Effort;
use crate::found::{Found, Origin};
use crate::place::Placed;
use tapewise_formats::deadline::Deadline;
use tapewise_model::Micros;
use tapewise_order::{Limits, Objective, Outcome, Wishes, order_for};

/// What the order is to be good for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// What is to be least.
    pub objective: Objective,
    /// The most tape that may be moved: metres, or LPOS if the profile does not tell the length of
    /// the tape.
    pub max_distance: Option<f64>,
    /// Whether to give up to a ten-thousandth of the objective for less tape moved.
    pub spare_tape: bool,
    /// When reading begins, in microseconds since 1970: for deadlines that are points in time.
    pub now_unix_us: i64,
}

impl Default for Goal {
    /// The least time until everything is read.
    fn default() -> Goal {
        Goal {
            objective: Objective::Total,
            max_distance: None,
            spare_tape: false,
            now_unix_us: 0,
        }
    }
}

impl Goal {
    /// Whether the order of least total reaches the goal.
    pub fn is_least_total(&self) -> bool {
        self.objective == Objective::Total && self.max_distance.is_none() && !self.spare_tape
    }
}

/// Why a goal cannot be pursued, or was not reached.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GoalError {
    /// The objective needs deadlines.
    #[error("no request has a deadline")]
    NoDeadlines,
    /// No order was found that moves so little tape. The requests may be fine.
    #[error(
        "no order was found that moves at most {most:.0} {unit} of tape; the least found is {least:.0} {unit}"
    )]
    TooMuchTape {
        /// Tape that may be moved.
        most: f64,
        /// The least that an order was found to move, rounded up.
        least: f64,
        /// Metres (`m`) or `LPOS`.
        unit: &'static str,
    },
}

/// A goal as it applies to a placed batch: weights, deadlines and limits in the problem's units.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Aim {
    /// What is to be least.
    pub objective: Objective,
    /// Whether any request is due at some time.
    pub has_deadlines: bool,
    /// Weights and deadlines of the problem's requests.
    pub wishes: Wishes,
    /// The most tape that may be moved.
    pub distance_lpos: Option<u64>,
    /// Whether that was given in LPOS, because the length of the tape is not known.
    pub is_in_lpos: bool,
    /// Whether a little time is given for less tape.
    pub spare_tape: bool,
}

impl Batch {
    /// Whether any deadline is a point in time, so that a clock decides about the order.
    pub fn has_points_in_time(&self) -> bool {
        let at = |deadline: &Option<Deadline>| matches!(deadline, Some(Deadline::At(_)));
        self.requests.iter().any(|request| at(&request.deadline))
    }
}

impl Placed {
    /// What a goal means for this batch.
    ///
    /// # Errors
    /// [`GoalError::NoDeadlines`].
    pub fn aim(&self, goal: &Goal) -> Result<Aim, GoalError> {
        let wishes = self.wishes(goal.now_unix_us);
        let has_deadlines = wishes.deadline.iter().any(Option::is_some);
        if goal.objective == Objective::Deadline && !has_deadlines && !wishes.deadline.is_empty() {
            return Err(GoalError::NoDeadlines);
        }
        let metres_per_lpos = self.problem.tape().geometry.metres_per_lpos;
        let lpos = |distance: f64| (distance / metres_per_lpos.unwrap_or(1.0)) as u64;
        Ok(Aim {
            objective: goal.objective,
            has_deadlines,
            wishes,
            distance_lpos: goal.max_distance.map(lpos),
            is_in_lpos: goal.max_distance.is_some() && metres_per_lpos.is_none(),
            spare_tape: goal.spare_tape,
        })
    }

    /// Weight and deadline of each request of the problem.
    fn wishes(&self, now_unix_us: i64) -> Wishes {
        let of = |&(owner, _): &(usize, usize)| &self.batch.requests[owner];
        let requests = || self.owners.iter().map(of);
        let priority: Vec<i64> = requests().map(|request| request.priority).collect();
        let due = |deadline: &Deadline| Micros::from_secs_f64(deadline.seconds_from(now_unix_us));
        let deadline: Vec<Option<Micros>> = requests()
            .map(|request| request.deadline.as_ref().map(due))
            .collect();
        Wishes::new(&priority, &deadline)
    }
}

impl Aim {
    /// The order for an objective, searched from the one of least total, with what it comes to.
    pub(crate) fn pursue(
        &self,
        placed: &Placed,
        objective: Objective,
        best: &Found,
        effort: &Effort,
    ) -> (Found, Outcome) {
        let clock = effort.start();
        let out_of_time = || clock.is_out();
        let usual = tapewise_order::Effort::usual();
        let work = tapewise_order::Effort {
            work: effort.work.unwrap_or(usual.work),
            out_of_time: &out_of_time,
            ..usual
        };
        let starts = [best.plan.order.clone()];
        let least_total = best.total() - placed.unload();
        let limits = Limits {
            distance_lpos: self.distance_lpos,
            spare_tape: self.spare_tape,
            ..Limits::of(objective, least_total)
        };
        let wanted = (objective, &self.wishes);
        let (problem, seed) = (&placed.problem, effort.seed);
        let outcome = order_for(problem, wanted, &limits, &starts, &work, seed);
        let found = placed.priced(Origin::Objective(objective), outcome.order.clone());
        let is_shortest = objective == Objective::Total && best.bound == Some(found.total());
        let found = Found {
            bound: best.bound,
            optimal: outcome.exact || is_shortest,
            cut_short: best.cut_short || (clock.ran_out() && !outcome.exact),
            computed: best.computed + clock.elapsed(),
            seed,
            ..found
        };
        (found, outcome)
    }

    /// Refuses an order that moves more tape than was allowed.
    pub(crate) fn refuse_excess(
        &self,
        placed: &Placed,
        outcome: &Outcome,
    ) -> Result<(), GoalError> {
        let moved = outcome.figures.distance_lpos;
        let Some(most) = self.distance_lpos.filter(|most| moved > *most) else {
            return Ok(());
        };
        let per_lpos = placed.problem.tape().geometry.metres_per_lpos;
        let shown = |lpos: u64| lpos as f64 * per_lpos.unwrap_or(1.0);
        Err(GoalError::TooMuchTape {
            most: shown(most),
            least: shown(moved).ceil(),
            unit: if per_lpos.is_some() { "m" } else { "LPOS" },
        })
    }
}
