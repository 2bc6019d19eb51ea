//! `tapewise simulate`: a library under load, with how sure each number is.

pub mod answer;
pub mod document;
mod pictures;
pub mod report;
mod shards;
mod trace;

use crate::error::CliError;
use crate::output::{self, say};
use crate::plot;
use crate::quantity;
use crate::scenario::{self, ScenarioArgs};
use answer::{Answer, Outcome};
use clap::ArgGroup;
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_sim::{Scenario, Shard};

/// Simulate a library under load: response times and their causes.
///
/// A scenario file describes the load and the library: cartridges, drives, robots, software, policy. The
/// result has mean, variance and percentiles of the response time and of its parts, how busy drives and
/// robots are, the queues, and the slowest responses with their causes. Each number has its 95 % interval
/// over independent replications, and a queueing formula stands beside it if one applies. If requests
/// arrive faster than the library can serve them, the result is reported as unstable. The same seed gives
/// the same bytes on any number of threads.
#[derive(clap::Args, Debug)]
#[command(group(ArgGroup::new("one").args(["trace", "events", "plot"]).multiple(true)))]
pub struct Simulate {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Write every response of one replication, split into its parts, as CSV.
    #[arg(long, value_name = "FILE", conflicts_with = "shard")]
    trace: Option<PathBuf>,
    /// Write what drives and robots did in one replication as an event log, for `audit`.
    #[arg(long, value_name = "FILE", conflicts_with = "shard")]
    events: Option<PathBuf>,
    /// The replication that --trace, --events and the timeline of --plot are of.
    #[arg(long, value_name = "N", requires = "one", default_value_t = 0,
        value_parser = quantity::count_in::<u64>(0..=999_999))]
    replication: u64,
    /// Make only a part of the replications, from 0/n to (n-1)/n, and write what --merge reads.
    #[arg(long, value_name = "I/N", value_parser = shard, requires = "output", conflicts_with_all = ["merge", "width"])]
    shard: Option<Shard>,
    /// Put parts that were made with --shard together instead of simulating.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    merge: Vec<PathBuf>,
    /// Draw into this directory: the distribution of responses, percentiles, a timeline.
    #[arg(long, value_name = "DIR", conflicts_with = "shard")]
    plot: Option<PathBuf>,
    /// Where the result goes [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON instead of tables (docs/reference/simulation-json.md).
    #[arg(long, conflicts_with = "shard")]
    json: bool,
}

fn shard(text: &str) -> Result<Shard, String> {
    let parts = text.split_once('/');
    let numbers = parts.and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
    match numbers {
        Some((index, of)) if index < of => Ok(Shard { index, of }),
        _ => Err("expected I/N with I from 0 to N - 1, as 0/4".to_owned()),
    }
}

/// Runs the verb.
pub fn run(args: &Simulate) -> Result<ExitCode, CliError> {
    let cases = args.scenario.cases()?;
    if let Some(shard) = args.shard {
        let text = args.scenario.on_threads(|| shards::make(&cases, shard))?;
        write(args, &text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let answers = args.scenario.on_threads(|| {
        if args.merge.is_empty() {
            answer::all(&cases)
        } else {
            shards::merge(&cases, &args.merge)
        }
    })?;
    if args.trace.is_some() || args.events.is_some() || args.plot.is_some() {
        aside(args, &cases, &answers)?;
    }
    if !args.json {
        alone(&answers)?;
    }
    let text = if args.json {
        format!("{:#}\n", document::document(&answers))
    } else {
        report::text(&answers)
    };
    write(args, &text)?;
    verdict(&answers)
}

fn write(args: &Simulate, text: &str) -> Result<(), CliError> {
    output::write(args.output.as_deref(), |out| {
        out.write_all(text.as_bytes()).map_err(CliError::failed)
    })
}

/// What is looked at in one replication: the trace, the event log, the pictures.
fn aside(args: &Simulate, cases: &[Scenario], answers: &[Answer]) -> Result<(), CliError> {
    let mut runs = Vec::new();
    for case in cases {
        // What cannot be stable is said in its row.
        if let Ok(site) = scenario::ready(case)? {
            let (run, log) = site
                .run_logged(args.replication)
                .map_err(CliError::failed)?;
            runs.push(trace::Logged {
                scenario: case.clone(),
                run,
                log,
            });
        }
    }
    if let Some(path) = &args.trace {
        trace::write_responses(path, &runs)?;
    }
    if let Some(path) = &args.events {
        let left_out = trace::write_events(path, &runs)?;
        if left_out > 0 {
            say(format_args!(
                "tapewise: {left_out} cleaning cycles and repairs are not in {}: an event log has no word for them\n",
                path.display()
            ));
        }
    }
    if let Some(directory) = &args.plot {
        plot::write(directory, &pictures::all(answers, &runs)?)?;
    }
    Ok(())
}

/// A single case that is unstable is an error and no table.
fn alone(answers: &[Answer]) -> Result<(), CliError> {
    match answers {
        [
            Answer {
                outcome: Outcome::Unstable(why),
                ..
            },
        ] => Err(CliError::failed(why)),
        _ => Ok(()),
    }
}

/// Unstable is a failure where nothing else could be said.
fn verdict(answers: &[Answer]) -> Result<ExitCode, CliError> {
    alone(answers)?;
    if answers.iter().any(|answer| answer.steady().is_some()) {
        Ok(ExitCode::SUCCESS)
    } else {
        Err(CliError::failed("every case is unstable"))
    }
}
