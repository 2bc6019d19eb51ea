//! `tapewise simulate`: a library under load, with how sure each number is.

pub mod report;

use crate::error::CliError;
use crate::html;
use crate::json;
use crate::output::{self, say};
use crate::plot;
use crate::progress::{Meter, State};
use crate::quantity;
use crate::scenario::{self, Profiles, ScenarioArgs};
use clap::ArgGroup;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tapewise_plot::simulation_pictures;
use tapewise_sim::{
    Logged, Made, Outcome, Scenario, Shard, ShardFile, Simulation, Study, document, responses_csv,
    simulate,
};

/// Simulate a library under load: response times and their causes.
///
/// A scenario file describes the load and the library: cartridges, drives, robots, software, policy. The
/// result has mean, variance and percentiles of the response time and of its parts, how busy drives and
/// robots are, the queues, and the slowest responses with their causes. Each number has its 95 % interval
/// over independent replications, and a queueing formula stands beside it if one applies. If requests
/// arrive faster than the library can serve them, the result is reported as unstable. The same seed gives
/// the same bytes on any number of threads.
#[derive(clap::Args, Debug)]
#[command(group(ArgGroup::new("one").args(["trace", "events", "plot", "html"]).multiple(true)))]
pub struct Simulate {
    #[command(flatten)]
    scenario: ScenarioArgs,
    /// Write every response of one replication, split into its parts, as CSV.
    #[arg(long, value_name = "FILE", conflicts_with = "shard")]
    trace: Option<PathBuf>,
    /// Write what drives and robots did in one replication as an event log, for `audit`.
    #[arg(long, value_name = "FILE", conflicts_with = "shard")]
    events: Option<PathBuf>,
    /// Write everything as one page for a browser.
    #[arg(long, value_name = "FILE", conflicts_with = "shard")]
    html: Option<PathBuf>,
    /// The replication to show: in --trace, in --events, and in the timeline of --plot and --html.
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
    /// Print JSON instead of tables (`tapewise help simulation-json`).
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
    args.scenario.refuse_clashes([
        ("--trace", &args.trace),
        ("--events", &args.events),
        ("--html", &args.html),
        ("--output", &args.output),
    ])?;
    let merged = args.merge.iter().map(PathBuf::as_path);
    output::refuse_clashes([("--output", args.output.as_deref())], merged)?;
    let cases = args.scenario.cases()?;
    if let Some(shard) = args.shard {
        let text = args.scenario.on_threads(|| part(&cases, shard))?;
        write(args, &text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let answers = args.scenario.on_threads(|| {
        if args.merge.is_empty() {
            all(&cases)
        } else {
            merge(&cases, &args.merge)
        }
    })?;
    let asked = [&args.trace, &args.events, &args.plot, &args.html];
    if asked.into_iter().any(Option::is_some) {
        aside(args, &cases, &answers)?;
    }
    if !args.json {
        alone(&answers)?;
    }
    let text = if args.json {
        json::text("simulation", &document::simulations(&answers))?
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

/// Simulates every case.
fn all(cases: &[Scenario]) -> Result<Vec<Simulation>, CliError> {
    let mut answers = Vec::new();
    let meter = Meter::new();
    for (number, case) in cases.iter().enumerate() {
        let profiles = Profiles::of(case)?;
        let show = |made: u64, of: u64| {
            let part = (made as f64 / of.max(1) as f64).min(1.0);
            meter.show(State {
                share: Some((number as f64 + part) / cases.len() as f64),
                ..State::counted("replication", made, Some(of)).doing(&case.name)
            });
        };
        let watch = &mut |made: Made| show(made.made as u64, made.of);
        let outcome = simulate(case, |name| profiles.find(name), watch);
        let outcome = outcome.map_err(scenario::not_simulated)?;
        if let Some(simulated) = outcome.steady() {
            let made = simulated.study.summaries.len() as u64;
            show(made, made);
        }
        answers.push(Simulation {
            scenario: case.clone(),
            outcome,
        });
    }
    Ok(answers)
}

/// Makes a part of every case's replications; the text of its file.
fn part(cases: &[Scenario], shard: Shard) -> Result<String, CliError> {
    let mut studies = Vec::new();
    for case in cases {
        if let Ok(site) = scenario::ready(case)? {
            studies.push(site.study(shard).map_err(scenario::not_made)?);
        }
    }
    ShardFile::new(studies).to_json().map_err(CliError::failed)
}

/// Puts the parts in these files together.
fn merge(cases: &[Scenario], paths: &[PathBuf]) -> Result<Vec<Simulation>, CliError> {
    let bad = |path: &Path, why: &dyn std::fmt::Display| {
        CliError::input(format!("{}: {why}", path.display()))
    };
    let mut files = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(path).map_err(|error| bad(path, &error))?;
        let file = ShardFile::parse(&text).map_err(|error| bad(path, &error))?;
        files.push((path, file));
    }
    let mut answers = Vec::new();
    for case in cases {
        let outcome = match scenario::ready(case)? {
            Err(overload) => Outcome::Unstable(overload.into()),
            Ok(site) => {
                let parts = files.iter().map(|(path, file)| {
                    let study = file.study(&site).map_err(|error| {
                        bad(path, &error).hint(
                            "give the scenario, --set, --seed and --replications as for --shard",
                        )
                    });
                    study.cloned()
                });
                let parts = parts.collect::<Result<_, CliError>>()?;
                let study = Study::merge(parts).map_err(scenario::not_made)?;
                Outcome::new(&site, study).map_err(scenario::not_simulated)?
            }
        };
        answers.push(Simulation {
            scenario: case.clone(),
            outcome,
        });
    }
    Ok(answers)
}

/// What is looked at in one replication: the trace, the event log, the pictures.
fn aside(args: &Simulate, cases: &[Scenario], answers: &[Simulation]) -> Result<(), CliError> {
    let mut runs = Vec::new();
    for case in cases {
        // What cannot be stable is said in its row.
        if let Ok(site) = scenario::ready(case)? {
            runs.push(Logged::new(&site, args.replication).map_err(CliError::failed)?);
        }
    }
    if let Some(path) = &args.trace {
        output::write(Some(path), |out| {
            out.write_all(responses_csv(&runs).as_bytes())
                .map_err(CliError::failed)
        })?;
    }
    if let Some(path) = &args.events {
        let mut left_out = 0;
        output::write(Some(path), |mut out| {
            for logged in &runs {
                left_out += logged.write_events(&mut out).map_err(CliError::failed)?;
            }
            Ok(())
        })?;
        if left_out > 0 {
            say(format_args!(
                "tapewise: {left_out} cleaning cycles and repairs are not in {}: an event log has no word for them\n",
                path.display()
            ));
        }
    }
    if args.plot.is_none() && args.html.is_none() {
        return Ok(());
    }
    let pictures = simulation_pictures(answers, &runs).map_err(CliError::failed)?;
    if let Some(directory) = &args.plot {
        plot::write(directory, &pictures)?;
    }
    if let Some(path) = &args.html {
        html::write(path, &report::page(answers, pictures))?;
    }
    Ok(())
}

/// A single case that is unstable is an error and no table.
fn alone(answers: &[Simulation]) -> Result<(), CliError> {
    match answers {
        [
            Simulation {
                outcome: Outcome::Unstable(why),
                ..
            },
        ] => Err(CliError::failed(why)),
        _ => Ok(()),
    }
}

/// Unstable is a failure where nothing else could be said.
fn verdict(answers: &[Simulation]) -> Result<ExitCode, CliError> {
    alone(answers)?;
    if answers.iter().any(|answer| answer.steady().is_some()) {
        Ok(ExitCode::SUCCESS)
    } else {
        Err(CliError::failed("every case is unstable"))
    }
}
