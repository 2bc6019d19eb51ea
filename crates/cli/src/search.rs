//! How hard to look for an order, as it is given on the command line.

use std::sync::LazyLock;
use std::time::Instant;
use tapewise::Effort;
use tapewise_model::Micros;

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

    /// The same as the library takes it, with the clock of this machine.
    pub fn effort(&self) -> Effort<'static> {
        Effort {
            seed: self.seed,
            prove: self.prove,
            work: None,
            budget: Some(Micros::from_secs_f64(self.budget_s())),
            clock: &clock,
        }
    }
}

/// Time since the first call.
fn clock() -> Micros {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    Micros(BEGIN.elapsed().as_micros() as i64)
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err("seconds, more than 0".to_owned()),
    }
}
