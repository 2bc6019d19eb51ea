//! `tapewise capacity`: what it takes to meet a target.

mod counts;
mod policies;
mod price;
mod report;
mod table;

use crate::error::CliError;
use crate::html;
use crate::json;
use crate::output;
use crate::plot;
use crate::progress::{Meter, State};
use crate::scenario::{self, Profiles, ScenarioArgs};
use counts::Counts;
pub use policies::policy as mount_policy;
use price::Price;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tapewise_plot::capacity_pictures;
use tapewise_sim::capacity::{Capacity as Found, CapacityError, Choices, Target, capacity, time_s};
use tapewise_sim::mounts::MountPolicy;
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
    /// The target: `mean`, `median` or p5, p10, p25, p75, p90, p95, p99, a time, and the rate if it is not the
    /// scenario's: `p95 < 60 s at 200/h`.
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
    /// Answer under each of these mount policies, on the same arrivals, and compare the drives they need with
    /// those of the first [default: the scenario's]. They stand for the `policy` of --policy-file too, whose
    /// shares and limits remain.
    #[arg(long, value_name = "POLICIES", value_delimiter = ',', value_parser = policies::policy)]
    policy: Vec<MountPolicy>,
    /// Prices: of a drive and a robot for a year, and of an hour in which a drive is held, in any one currency.
    #[arg(long, value_name = "drive=P,robot=P,hour=P", value_parser = Price::parse)]
    price: Option<Price>,
    /// Print every combination, also those far from the answer.
    #[arg(long, conflicts_with = "json")]
    all: bool,
    /// Write every combination into this CSV file, `-` for standard output. Then the answer needs -o FILE.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    csv: Option<PathBuf>,
    /// Draw into this directory: the target's metric against drives.
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// Write everything as one page for a browser.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Where the result goes [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON instead of tables (`tapewise help simulation-json`).
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub fn run(args: &Capacity) -> Result<ExitCode, CliError> {
    args.scenario.refuse_clashes([
        ("--csv", &args.csv),
        ("--html", &args.html),
        ("--output", &args.output),
    ])?;
    if args.csv.as_deref() == Some(Path::new("-")) && args.output.is_none() {
        let what = "--csv -: the answer needs -o FILE, as the table goes to standard output";
        return Err(CliError::input(what));
    }
    refuse_set_twice(args)?;
    let scenario = scenario(args)?;
    let profiles = Profiles::of(&scenario)?;
    let choices = Choices {
        drives: args.drives.0.clone(),
        robots: (args.robots.as_ref()).map_or_else(Vec::new, |counts| counts.0.clone()),
        windows_s: args.window.clone(),
    };
    let answer = |policy: MountPolicy| {
        let mut scenario = scenario.clone();
        scenario.policy.mount = policy;
        args.scenario.on_threads(|| {
            let meter = Meter::new();
            let find = |name: &str| profiles.find(name);
            capacity(&scenario, args.target, &choices, find, &mut |one, made| {
                // How many combinations are still to be simulated depends on how these come out.
                let doing = format!("{}, {}", policy.name(), one.name());
                meter.show(State::counted("replication", made.made as u64, None).doing(doing));
            })
            .map_err(not_found)
        })
    };
    if args.policy.len() > 1 {
        return policies::compare(args, &answer);
    }
    let policy = args.policy.first().copied();
    let found = answer(policy.unwrap_or(scenario.policy.mount))?;
    if let Some(directory) = &args.plot {
        plot::write(directory, &capacity_pictures(&found, args.all)?)?;
    }
    if let Some(path) = &args.html {
        // If everything is unstable there is nothing to draw, and the table says so.
        let pictures = capacity_pictures(&found, args.all).unwrap_or_default();
        let page = report::page(&found, args.price.as_ref(), args.all, pictures);
        html::write(path, &page)?;
    }
    if let Some(path) = &args.csv {
        let csv = table::csv(&found, args.price.as_ref());
        output::write(Some(path), |out| {
            out.write_all(csv.as_bytes()).map_err(CliError::failed)
        })?;
    }
    let text = if args.json {
        json::text("capacity", &priced(&found, args.price.as_ref()))?
    } else {
        report::text(&found, args.price.as_ref(), args.all)
    };
    output::write(args.output.as_deref(), |out| {
        out.write_all(text.as_bytes()).map_err(CliError::failed)
    })?;
    Ok(exit(&found))
}

fn exit(found: &Found) -> ExitCode {
    match found.answer() {
        Some(_) => ExitCode::SUCCESS,
        None => ExitCode::from(1),
    }
}

/// The document, with what each combination costs in a year if there are prices.
fn priced(found: &Found, price: Option<&Price>) -> serde_json::Value {
    let mut document = document::capacity(found);
    let Some(price) = price else {
        return document;
    };
    let rows = document["combinations"]
        .as_array_mut()
        .into_iter()
        .flatten();
    for (row, one) in rows.zip(found.combinations()) {
        row["cost_a_year"] = price.of_a_year(one).into();
    }
    document
}

/// What capacity varies is not set as well, except in a twin: its logs are compared with it as it is set.
fn refuse_set_twice(args: &Capacity) -> Result<(), CliError> {
    if !args.scenario.from_log.is_empty() {
        return Ok(());
    }
    args.scenario.refuse_set_twice([
        ("--drives", true, "library.drive.count"),
        ("--robots", args.robots.is_some(), "library.robot.count"),
        ("--window", !args.window.is_empty(), "policy.window_s"),
        ("--policy", !args.policy.is_empty(), "policy.mount"),
        (
            "--target",
            args.target.per_hour.is_some(),
            "arrivals.per_hour",
        ),
    ])
}

/// The one scenario that is sized.
fn scenario(args: &Capacity) -> Result<Scenario, CliError> {
    let mut cases = args.scenario.cases()?;
    if cases.len() != 1 {
        let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        let hint = format!("--case, with one of: {}", names.join(", "));
        let what = format!(
            "{}: {} cases; choose one",
            args.scenario.name(),
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
