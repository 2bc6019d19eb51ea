//! From a placed batch to an order.

use crate::effort::Effort;
use crate::found::{Found, Origin};
use crate::goal::{Goal, GoalError};
use crate::place::Placed;
use tapewise_model::Micros;
use tapewise_order::{
    Algorithm, Alternatives, Inputs, OPT_MAX_VISITS, Order, Solution, emulated_rao,
};

/// Why there is no order.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// OPT is exact for small batches only.
    #[error("it is exact for up to {most} visits, these are {visits}")]
    TooManyVisits {
        /// Visits of the batch.
        visits: usize,
        /// Visits that the algorithm can order.
        most: usize,
    },
    /// The algorithm needs wraps and bands.
    #[error("it is for LTO, {title} is not")]
    NotForThisTape {
        /// What the profile describes.
        title: String,
    },
    /// The goal cannot be pursued, or was not reached.
    #[error(transparent)]
    Goal(#[from] GoalError),
}

impl Placed {
    /// Finds the order for a goal: the one of least total as a rule, which is never longer than
    /// sorting.
    ///
    /// # Errors
    /// [`SearchError::Goal`], if the goal needs deadlines and there are none, or allows less tape
    /// than any order found moves.
    pub fn search(&self, goal: &Goal, effort: &Effort) -> Result<Found, SearchError> {
        let best = self.order(Algorithm::Best, effort)?;
        if goal.is_least_total() {
            return Ok(best);
        }
        let aim = self.aim(goal)?;
        let (found, outcome) = aim.pursue(self, aim.objective, &best, effort);
        aim.refuse_excess(self, &outcome)?;
        Ok(Found {
            began_from: Some(Box::new(best)),
            ..found
        })
    }

    /// Orders the batch by an algorithm of choice, to stand beside the order that
    /// [`Placed::search`] finds.
    ///
    /// # Errors
    /// [`SearchError`], if the algorithm does not apply to this batch or tape.
    pub fn order(&self, algorithm: Algorithm, effort: &Effort) -> Result<Found, SearchError> {
        let begin = (effort.clock)();
        let solution = self.solve(&self.alternatives, algorithm, effort);
        let computed = (effort.clock)() - begin;
        let solution = solution.ok_or_else(|| match algorithm {
            Algorithm::Opt => SearchError::TooManyVisits {
                visits: self.problem.len(),
                most: OPT_MAX_VISITS,
            },
            _ => SearchError::NotForThisTape {
                title: self.profile.title.clone(),
            },
        })?;
        Ok(Found {
            bound: solution.bound.map(|bound| bound + self.unload()),
            optimal: solution.is_optimal(&self.problem),
            cut_short: solution.cut_short,
            computed,
            seed: effort.seed,
            ..self.priced(Origin::Algorithm(algorithm), solution.order)
        })
    }

    /// An order of somebody else's with what it takes; nothing else is known about it.
    pub fn priced(&self, origin: Origin, order: Order) -> Found {
        let worst = self.alternatives.worst_total(&self.problem, &order) + self.unload();
        Found {
            origin,
            plan: self.carry_out(order),
            worst,
            bound: None,
            optimal: false,
            cut_short: false,
            computed: Micros::ZERO,
            seed: 0,
            began_from: None,
        }
    }

    /// The order that a drive with RAO might recommend; `None` if the profile does not say that the
    /// drive recommends any.
    pub fn stand_in(&self, effort: &Effort) -> Option<Found> {
        self.profile.features.rao.as_ref().filter(|rao| rao.value)?;
        let begin = (effort.clock)();
        let order = emulated_rao(&self.problem);
        let computed = (effort.clock)() - begin;
        Some(Found {
            computed,
            ..self.priced(Origin::StandIn, order)
        })
    }

    /// Orders the batch with these maps as likely as its own; `None` if the algorithm does not apply.
    pub(crate) fn solve(
        &self,
        alternatives: &Alternatives,
        algorithm: Algorithm,
        effort: &Effort,
    ) -> Option<Solution> {
        let clock = effort.start();
        let out_of_time = || clock.is_out();
        let usual = tapewise_order::Effort::usual();
        let inputs = Inputs {
            seed: effort.seed,
            coalesce_blocks: self.coalesce_blocks,
            alternatives,
            effort: tapewise_order::Effort {
                work: effort
                    .work
                    .unwrap_or(if effort.prove { u64::MAX } else { usual.work }),
                prove: effort.prove,
                out_of_time: &out_of_time,
            },
        };
        algorithm.solve(&self.problem, &inputs)
    }
}
