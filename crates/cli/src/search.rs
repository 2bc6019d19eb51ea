//! How hard to look for an order, and what came of it.

use crate::placement::Placed;
use std::cell::Cell;
use std::time::Instant;
use tapewise_model::Micros;
use tapewise_order::{Algorithm, Alternatives, Effort, Inputs, Objective, Order, Plan, Solution};

/// Seconds that a proof may take unless said otherwise.
const PROOF_S: f64 = 60.0;

/// Seconds that an order may take unless said otherwise.
const ORDER_S: f64 = 1.0;

/// How hard to look.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct SearchArgs {
    /// Stop looking for a better order after this long [default: 1, with --prove 60]. The same input
    /// gives the same order again as long as this does not cut the search short; it is said when it
    /// does.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time_budget: Option<f64>,
    /// Go on until no order can be shorter, or the time is out, and say which.
    #[arg(long)]
    pub prove: bool,
    /// Seed of everything that is drawn.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl SearchArgs {
    /// The usual effort with some seed.
    pub fn with_seed(seed: u64) -> SearchArgs {
        SearchArgs {
            time_budget: None,
            prove: false,
            seed,
        }
    }

    /// The same without a proof: for orders that only stand beside the one asked for.
    pub fn without_proof(&self) -> SearchArgs {
        SearchArgs {
            prove: false,
            ..*self
        }
    }

    /// Seconds that may be spent.
    pub fn budget_s(&self) -> f64 {
        let usual = if self.prove { PROOF_S } else { ORDER_S };
        self.time_budget.unwrap_or(usual)
    }

    /// Orders a batch over some maps; `None` where the algorithm does not apply.
    pub fn solve(
        &self,
        placed: &Placed,
        alternatives: &Alternatives,
        algorithm: Algorithm,
    ) -> Option<Solution> {
        let clock = Clock::new(self.budget_s());
        let out_of_time = || clock.is_out();
        let usual = Effort::usual();
        let inputs = Inputs {
            seed: self.seed,
            coalesce_blocks: placed.coalesce_blocks,
            alternatives,
            effort: Effort {
                work: if self.prove { u64::MAX } else { usual.work },
                prove: self.prove,
                out_of_time: &out_of_time,
            },
        };
        algorithm.solve(&placed.problem, &inputs)
    }
}

/// Says when the time is out, and remembers that it did.
pub struct Clock {
    begin: Instant,
    budget_s: f64,
    ran_out: Cell<bool>,
}

impl Clock {
    /// A clock that starts now.
    pub fn new(budget_s: f64) -> Clock {
        Clock {
            begin: Instant::now(),
            budget_s,
            ran_out: Cell::new(false),
        }
    }

    /// Whether the time is out.
    pub fn is_out(&self) -> bool {
        let out = self.elapsed_s() >= self.budget_s;
        self.ran_out.set(self.ran_out.get() || out);
        out
    }

    /// Whether anybody was told that it is.
    pub fn ran_out(&self) -> bool {
        self.ran_out.get()
    }

    /// Seconds since it was started.
    pub fn elapsed_s(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err("seconds, more than 0".to_owned()),
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
    /// Emulated, where no drive is asked.
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

/// One order with what it takes.
pub struct Row {
    /// How it came about.
    pub origin: Origin,
    /// Its plan.
    pub plan: Plan,
    /// Its total when map and model are as far off as they may be.
    pub worst: Micros,
    /// A total that no order falls below, where one is known.
    pub bound: Option<Micros>,
    /// Whether no order is better for its objective, with these times.
    pub optimal: bool,
    /// Whether time ran out while it was looked for.
    pub cut_short: bool,
    /// Time to find it.
    pub computed_s: f64,
}

impl Row {
    /// An order about which nothing else is known.
    pub fn new(placed: &Placed, origin: Origin, order: Order, computed_s: f64) -> Row {
        let worst = placed.alternatives.worst_total(&placed.problem, &order) + placed.unload();
        Row {
            origin,
            plan: placed.plan(order),
            worst,
            bound: None,
            optimal: false,
            cut_short: false,
            computed_s,
        }
    }

    /// Until everything is read and the head is where it is to be left.
    pub fn total(&self) -> Micros {
        self.plan.totals.total
    }

    /// Whether it reads in the order of blocks.
    pub fn is_sorted(&self) -> bool {
        self.plan.order.visits().is_sorted()
    }
}

/// Orders a batch; `None` where the algorithm does not apply.
pub fn compute(placed: &Placed, algorithm: Algorithm, search: &SearchArgs) -> Option<Row> {
    let begin = Instant::now();
    let solution = search.solve(placed, &placed.alternatives, algorithm)?;
    let computed_s = begin.elapsed().as_secs_f64();
    let origin = Origin::Algorithm(algorithm);
    Some(Row {
        bound: solution.bound.map(|bound| bound + placed.unload()),
        optimal: solution.is_optimal(&placed.problem),
        cut_short: solution.cut_short,
        ..Row::new(placed, origin, solution.order, computed_s)
    })
}
