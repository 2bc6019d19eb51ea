//! How hard to look for an order, and what came of it.

use crate::placement::Placed;
use std::time::Instant;
use tapewise_model::Micros;
use tapewise_order::{Algorithm, Effort, Inputs, Plan, Scenarios, Solution};

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

    /// Seconds that may be spent.
    pub fn budget_s(&self) -> f64 {
        let usual = if self.prove { PROOF_S } else { ORDER_S };
        self.time_budget.unwrap_or(usual)
    }

    /// Orders a batch over some maps; `None` where the algorithm does not apply.
    pub fn solve(
        &self,
        placed: &Placed,
        scenarios: &Scenarios,
        algorithm: Algorithm,
    ) -> Option<Solution> {
        let begin = Instant::now();
        let out_of_time = || begin.elapsed().as_secs_f64() >= self.budget_s();
        let usual = Effort::usual();
        let inputs = Inputs {
            seed: self.seed,
            coalesce_blocks: placed.coalesce_blocks,
            scenarios,
            effort: Effort {
                work: if self.prove { u64::MAX } else { usual.work },
                prove: self.prove,
                out_of_time: &out_of_time,
            },
        };
        algorithm.solve(&placed.problem, &inputs)
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err("seconds, more than 0".to_owned()),
    }
}

/// One order with what it takes.
pub struct Row {
    /// The order.
    pub algorithm: Algorithm,
    /// Its plan.
    pub plan: Plan,
    /// Its total when map and model are as far off as they may be.
    pub worst: Micros,
    /// A total that no order falls below, where this one's search computed it.
    pub bound: Option<Micros>,
    /// Whether time ran out while it was looked for.
    pub cut_short: bool,
    /// Time to find it.
    pub computed_s: f64,
}

/// Orders a batch; `None` where the algorithm does not apply.
pub fn compute(placed: &Placed, algorithm: Algorithm, search: &SearchArgs) -> Option<Row> {
    let begin = Instant::now();
    let solution = search.solve(placed, &placed.scenarios, algorithm)?;
    let computed_s = begin.elapsed().as_secs_f64();
    let worst = placed
        .scenarios
        .worst_total(&placed.problem, &solution.order);
    Some(Row {
        algorithm,
        plan: Plan::new(&placed.problem, solution.order),
        worst,
        bound: solution.bound,
        cut_short: solution.cut_short,
        computed_s,
    })
}
