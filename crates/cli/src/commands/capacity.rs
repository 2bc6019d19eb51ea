//! `tapewise capacity`: what it takes to meet a target.

mod counts;
mod report;

use crate::bar::Bar;
use crate::error::CliError;
use crate::json;
use crate::output;
use crate::plot;
use crate::scenario::{self, Profiles, ScenarioArgs, progress};
use counts::Counts;
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_plot::capacity_pictures;
use tapewise_sim::capacity::{CapacityError, Choices, Target, capacity, time_s};
use tapewise_sim::{Scenario, document};

/// Find how many drives and robots, and which batch window, meet a target.
///
/// tapewise first computes every combination by formula, if one applies. Then it simulates the
/// combinations near the smallest one that meets the target, with 95 % intervals over replications. A
/// target is met if the whole interval is below it. The answer is the combination with the fewest
/// drives, then the fewest robots, then the shortest window. If no combination meets the target,
/// tapewise prints the reason.
#[derive(clap::Args, Debug)]
pub struct Capacity {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// What is to hold: `mean`, `median` or p5, p10, p25, p75, p90, p95, p99, a time, and the rate if
    /// it is not the scenario's: `p95 < 60 s at 200/h`.
    #[arg(long, value_name = "TARGET")]
    target: Target,
    /// Numbers of drives: `6`, `1..12`, `2,4,8`.
    #[arg(long, value_name = "COUNTS", default_value = "1..12", value_parser = Counts::parse)]
    drives: Counts,
    /// Numbers of robots [default: the scenario's].
    #[arg(long, value_name = "COUNTS", value_parser = Counts::parse)]
    robots: Option<Counts>,
    /// How long the first request for a cartridge waits for others: `0s,60s,5min` [default: the
    /// scenario's].
    #[arg(long, value_name = "TIMES", value_delimiter = ',', value_parser = time_s)]
    window: Vec<f64>,
    /// Draw into this directory: the target's metric against drives.
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Where the result goes [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON instead of tables (docs/reference/simulation-json.md).
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub fn run(args: &Capacity) -> Result<ExitCode, CliError> {
    let scenario = scenario(args)?;
    let profiles = Profiles::of(&scenario)?;
    let choices = Choices {
        drives: args.drives.0.clone(),
        robots: (args.robots.as_ref()).map_or_else(Vec::new, |counts| counts.0.clone()),
        windows_s: args.window.clone(),
    };
    let found = args.scenario.on_threads(|| {
        let bar = Bar::new();
        let find = |name: &str| profiles.find(name);
        capacity(&scenario, args.target, &choices, find, &mut |one, made| {
            bar.show(format_args!("{}: {}", one.name(), progress(made)));
        })
        .map_err(not_found)
    })?;
    if let Some(directory) = &args.plot {
        plot::write(directory, &capacity_pictures(&found)?)?;
    }
    let text = if args.json {
        json::text("capacity", &document::capacity(&found))?
    } else {
        report::text(&found)
    };
    output::write(args.output.as_deref(), |out| {
        out.write_all(text.as_bytes()).map_err(CliError::failed)
    })?;
    Ok(match found.answer() {
        Some(_) => ExitCode::SUCCESS,
        None => ExitCode::from(1),
    })
}

/// The one scenario that is sized.
fn scenario(args: &Capacity) -> Result<Scenario, CliError> {
    let mut cases = args.scenario.cases()?;
    if cases.len() != 1 {
        let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        let hint = format!("--case, with one of: {}", names.join(", "));
        let what = format!(
            "{}: {} cases; choose one",
            args.scenario.file.display(),
            cases.len()
        );
        return Err(CliError::input(what).hint(hint));
    }
    Ok(cases.remove(0))
}

fn not_found(error: CapacityError) -> CliError {
    match error {
        CapacityError::NoRate => {
            CliError::input(format!("--target: {error}")).hint("change the scenario, or use --set")
        }
        CapacityError::SeveralKinds { .. } => {
            CliError::input(format!("{error}; --drives counts those of one"))
        }
        CapacityError::SeveralLibraries { .. } => CliError::input(error),
        CapacityError::Simulation(error) => scenario::not_simulated(error),
        _ => CliError::failed(error),
    }
}
