//! `tapewise capacity`: what it takes to meet a target.

mod document;
mod grid;
mod picture;
mod report;
mod target;

use crate::error::CliError;
use crate::output;
use crate::plot;
use crate::scenario::ScenarioArgs;
use grid::{Found, Grid};
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_sim::Scenario;
use tapewise_sim::scenario::Arrivals;
use target::{Counts, Target, Window};

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
    #[arg(long, value_name = "TARGET", value_parser = Target::parse)]
    target: Target,
    /// Numbers of drives: `6`, `1..12`, `2,4,8`.
    #[arg(long, value_name = "COUNTS", default_value = "1..12", value_parser = Counts::parse)]
    drives: Counts,
    /// Numbers of robots [default: the scenario's].
    #[arg(long, value_name = "COUNTS", value_parser = Counts::parse)]
    robots: Option<Counts>,
    /// How long the first request for a cartridge waits for others: `0s,60s,5min` [default: the
    /// scenario's].
    #[arg(long, value_name = "TIMES", value_delimiter = ',', value_parser = Window::parse)]
    window: Vec<Window>,
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
    let library = &scenario.libraries[0];
    let robots = args.robots.as_ref().map(|counts| counts.0.clone());
    let robots = robots.unwrap_or_else(|| vec![library.robot.count]);
    let mut windows: Vec<f64> = args.window.iter().map(|window| window.0).collect();
    if windows.is_empty() {
        windows.push(scenario.policy.window_s);
    }
    let found = args.scenario.on_threads(|| {
        Grid::new(&scenario, args.target, &args.drives.0, &robots, &windows)?.search()
    })?;
    if let Some(directory) = &args.plot {
        plot::write(directory, &picture::pictures(&found)?)?;
    }
    let text = if args.json {
        format!("{:#}\n", document::document(&found))
    } else {
        report::text(&found)
    };
    output::write(args.output.as_deref(), |out| {
        out.write_all(text.as_bytes()).map_err(CliError::failed)
    })?;
    Ok(verdict(&found))
}

/// The one scenario that is sized, at the target's rate.
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
    let mut scenario = cases.remove(0);
    if let Some(rate) = args.target.per_hour {
        match &mut scenario.arrivals {
            Arrivals::Poisson { per_hour }
            | Arrivals::Renewal { per_hour, .. }
            | Arrivals::Daily { per_hour, .. } => *per_hour = rate,
            Arrivals::Bursts { .. } | Arrivals::Closed { .. } | Arrivals::Trace { .. } => {
                let what = "--target: these arrivals have no single rate to set with `at`";
                return Err(CliError::input(what).hint("change the scenario, or use --set"));
            }
        }
    }
    let refuse = |what: &str| CliError::input(format!("scenario {}: {what}", scenario.name));
    match &scenario.libraries[..] {
        [library] if library.drives.len() == 1 => Ok(scenario),
        [_] => Err(refuse(
            "drives of several kinds; --drives counts those of one",
        )),
        _ => Err(refuse("several libraries; size one at a time")),
    }
}

fn verdict(found: &Found) -> ExitCode {
    match found.answer() {
        Some(_) => ExitCode::SUCCESS,
        None => ExitCode::from(1),
    }
}
