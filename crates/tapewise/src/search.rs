//! How hard to look for an order, and what came of it.

use crate::goal::{Goal, GoalError};
use crate::place::Placed;
use std::cell::Cell;
use std::fmt;
use tapewise_model::Micros;
use tapewise_order::{
    Algorithm, Alternatives, Inputs, OPT_MAX_VISITS, Objective, Order, Plan, Solution, emulated_rao,
};

/// How hard to look for an order: the work of [`tapewise_order::Effort`], bounded by time on a clock
/// of the caller's.
///
/// The same seed and the same work give the same order on every machine. Only a search that the clock
/// cuts short may give another one next time; [`Found::cut_short`] says so.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Whether to go on until no order can be shorter, or the time is out.
    pub prove: bool,
    /// Time that each search may take on the clock; `None` is as long as the work lasts.
    pub budget: Option<Micros>,
    /// The time since some fixed moment. A clock that stands still bounds nothing.
    pub clock: &'a (dyn Fn() -> Micros + Sync),
}

impl Effort<'_> {
    /// The usual work, no clock, no proof.
    pub fn usual() -> Effort<'static> {
        Effort {
            seed: 1,
            prove: false,
            budget: None,
            clock: &|| Micros::ZERO,
        }
    }
}

impl<'a> Effort<'a> {
    /// The same without a proof: for orders that only stand beside the one asked for.
    pub fn without_proof(self) -> Effort<'a> {
        Effort {
            prove: false,
            ..self
        }
    }

    /// A clock that starts now.
    pub(crate) fn start(&self) -> Stopwatch<'a> {
        Stopwatch {
            clock: self.clock,
            begin: (self.clock)(),
            budget: self.budget,
            ran_out: Cell::new(false),
        }
    }
}

impl fmt::Debug for Effort<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Effort")
            .field("seed", &self.seed)
            .field("prove", &self.prove)
            .field("budget", &self.budget)
            .finish_non_exhaustive()
    }
}

/// Tells when the time is out, and remembers that it did.
pub(crate) struct Stopwatch<'a> {
    clock: &'a (dyn Fn() -> Micros + Sync),
    begin: Micros,
    budget: Option<Micros>,
    ran_out: Cell<bool>,
}

impl Stopwatch<'_> {
    /// Whether the time is out.
    pub(crate) fn is_out(&self) -> bool {
        let out = self.budget.is_some_and(|budget| self.elapsed() >= budget);
        self.ran_out.set(self.ran_out.get() || out);
        out
    }

    /// Whether anybody was told that it is.
    pub(crate) fn ran_out(&self) -> bool {
        self.ran_out.get()
    }

    /// Time since it was started.
    pub(crate) fn elapsed(&self) -> Micros {
        (self.clock)() - self.begin
    }
}

/// How an order comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// By an algorithm.
    Algorithm(Algorithm),
    /// By our search for an objective, within limits.
    Objective(Objective),
    /// Recommended by the drive (RAO).
    Drive,
    /// Emulated, because no drive was asked.
    StandIn,
}

impl Origin {
    /// Our default.
    pub const BEST: Origin = Origin::Algorithm(Algorithm::Best);

    /// The name in tables, as people say it.
    pub fn title(self) -> &'static str {
        match self {
            Origin::Algorithm(algorithm) => algorithm.title(),
            Origin::Objective(Objective::Total) => "tapewise, less tape",
            Origin::Objective(Objective::Mean) => "tapewise, mean",
            Origin::Objective(Objective::Deadline) => "tapewise, deadline",
            Origin::Drive => "drive's own RAO",
            Origin::StandIn => "emulated RAO (a stand-in)",
        }
    }

    /// The name and version in plans: `best/2`.
    pub fn versioned(self) -> String {
        match self {
            Origin::Algorithm(algorithm) => {
                format!("{}/{}", algorithm.name(), algorithm.version())
            }
            // The search for an objective begins with the default order and is part of it.
            Origin::Objective(_) => Origin::BEST.versioned(),
            Origin::Drive => "drive/1".to_owned(),
            Origin::StandIn => "emulated-drive/1".to_owned(),
        }
    }

    /// What the order is good for.
    pub fn objective(self) -> Objective {
        match self {
            Origin::Objective(objective) => objective,
            _ => Objective::Total,
        }
    }
}

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

/// One order with what it takes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// How it came about.
    pub origin: Origin,
    /// What the drive does, step by step, with the totals.
    pub plan: Plan,
    /// Its total if map and model are as far off as they may be.
    pub worst: Micros,
    /// A total that no order falls below, if one is known.
    pub bound: Option<Micros>,
    /// Whether no order is better for its objective, with these times.
    pub optimal: bool,
    /// Whether time ran out while it was looked for.
    pub cut_short: bool,
    /// Time to find it, on the caller's clock.
    pub computed: Micros,
    /// Seed of what was drawn.
    pub seed: u64,
    /// The usual order, from which the search began, if the goal is more than the total.
    pub began_from: Option<Box<Found>>,
}

impl Found {
    /// Until everything is read and the head is where it is to be left.
    pub fn total(&self) -> Micros {
        self.plan.totals.total
    }

    /// Whether it reads in the order of blocks.
    pub fn is_sorted(&self) -> bool {
        self.plan.order.visits().is_sorted()
    }
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
                work: if effort.prove { u64::MAX } else { usual.work },
                prove: effort.prove,
                out_of_time: &out_of_time,
            },
        };
        algorithm.solve(&self.problem, &inputs)
    }
}
