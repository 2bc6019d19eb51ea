//! How hard to look for an order, as it is given on the command line.

use crate::{interrupt, progress, quantity};
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use tapewise::Effort;
use tapewise_model::Micros;

/// Seconds that a proof may take unless said otherwise.
const PROOF_S: f64 = 60.0;

/// Seconds that an order may take unless said otherwise.
const ORDER_S: f64 = 1.0;

/// How hard to look.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct SearchArgs {
    /// Stop looking for a better order after this long, such as 5 (seconds), 90s or 5m [default: 1s,
    /// with --prove 60s]. The same input gives the same order unless the time cuts the search short;
    /// tapewise tells you when it does.
    #[arg(long, value_name = "TIME", value_parser = quantity::seconds)]
    time_budget: Option<f64>,
    /// Search until no order can be shorter or the time is up, and report which. Ctrl-C ends the search
    /// and gives the best order so far.
    #[arg(long)]
    pub prove: bool,
    /// Seed of the random search.
    #[arg(long, default_value_t = 1, value_parser = quantity::count::<u64>)]
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

    /// The first option that was given another value than it has by itself.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--time-budget", self.time_budget.is_some()),
            ("--prove", self.prove),
            ("--seed", self.seed != 1),
        ];
        let mut given = given.into_iter().filter(|(_, given)| *given);
        given.next().map(|(option, _)| option)
    }

    /// Whether the search may take so long that a person wants to end it.
    pub fn may_be_long(&self) -> bool {
        self.prove || self.time_budget.is_some()
    }

    /// Seconds that may be spent.
    pub fn budget_s(&self) -> f64 {
        let usual = if self.prove { PROOF_S } else { ORDER_S };
        self.time_budget.unwrap_or(usual)
    }

    /// Searches, and shows for how long if that takes more than a moment.
    pub fn watched<T>(&self, search: impl FnOnce() -> T) -> T {
        let what = if self.prove { "prove" } else { "search" };
        // A budget longer than any clock is no limit.
        let limit = Duration::try_from_secs_f64(self.budget_s()).ok();
        progress::during(what, limit.filter(|_| self.may_be_long()), search)
    }

    /// The same as the library takes it, with the clock of this machine.
    pub fn effort(&self) -> Effort<'static> {
        Effort {
            seed: self.seed,
            prove: self.prove,
            work: None,
            budget: Some(Micros::from_secs_f64(self.budget_s())),
            clock: &clock,
            is_stopped: &interrupt::is_search_stopped,
        }
    }
}

/// Time since the first call.
fn clock() -> Micros {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    Micros(BEGIN.elapsed().as_micros() as i64)
}
