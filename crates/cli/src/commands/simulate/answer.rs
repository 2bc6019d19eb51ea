//! The answer to a scenario: simulated with intervals, by formula beside it, or unstable.

use crate::error::CliError;
use crate::output::say;
use crate::scenario;
use std::io::IsTerminal;
use tapewise_sim::library::{Expected, Part, Site};
use tapewise_sim::statistics::Interval;
use tapewise_sim::{LEVEL, Results, Scenario, Shard, Steady, Study, StudyError, Summary};

/// A scenario and what came of it.
#[derive(Debug)]
pub struct Answer {
    pub scenario: Scenario,
    pub outcome: Outcome,
}

/// What came of a scenario.
#[derive(Debug)]
pub enum Outcome {
    /// Estimates.
    Steady(Box<Simulated>),
    /// None, and why.
    Unstable(String),
}

/// Estimates of a scenario.
#[derive(Debug)]
pub struct Simulated {
    pub study: Study,
    pub results: Results,
    /// Answers an hour.
    pub per_hour: Interval,
    /// Requests between arrival and answer, in the mean over time.
    pub inside: Interval,
    /// Requests that wait for a drive, in the mean over time.
    pub waiting: Interval,
    /// What formulas say, or why none does.
    pub formula: Result<Formula, String>,
}

/// What formulas say.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Formula {
    pub mean_s: f64,
    pub median_s: f64,
    pub p90_s: f64,
    pub p95_s: f64,
    pub p99_s: f64,
    /// Share of the time in which a drive is held, waits for robots included.
    pub drives: f64,
    /// The same without them.
    pub drives_at_work: f64,
    pub robots: f64,
}

impl Answer {
    pub fn steady(&self) -> Option<&Simulated> {
        match &self.outcome {
            Outcome::Steady(simulated) => Some(simulated),
            Outcome::Unstable(_) => None,
        }
    }
}

impl Formula {
    /// # Errors
    /// In words, where no formula applies.
    pub fn of(site: &Site) -> Result<Formula, String> {
        let expected = site.expected().map_err(|why| why.to_string())?;
        Formula::new(&expected).map_err(|why| why.to_string())
    }

    fn new(expected: &Expected) -> Result<Formula, tapewise_sim::queue::QueueError> {
        Ok(Formula {
            mean_s: expected.mean_s,
            median_s: expected.quantile_s(0.5)?,
            p90_s: expected.quantile_s(0.9)?,
            p95_s: expected.quantile_s(0.95)?,
            p99_s: expected.quantile_s(0.99)?,
            drives: expected.steady.drive_utilisation,
            drives_at_work: expected.drives_at_work,
            robots: expected.robots_at_work,
        })
    }
}

/// Simulates every case.
///
/// # Errors
/// Bad input; replications that cannot be made or say nothing.
pub fn all(cases: &[Scenario]) -> Result<Vec<Answer>, CliError> {
    let mut answers = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let before = match cases.len() {
            1 => String::new(),
            of => format!("case {} of {of}, {}: ", number + 1, case.name),
        };
        let outcome = match scenario::ready(case)? {
            Ok(site) => outcome(&site, study(&site, &before)?)?,
            Err(unstable) => Outcome::Unstable(unstable.to_string()),
        };
        answers.push(Answer {
            scenario: case.clone(),
            outcome,
        });
    }
    Ok(answers)
}

/// What a study comes to.
///
/// # Errors
/// Too few replications for an interval.
pub fn outcome(site: &Site, study: Study) -> Result<Outcome, CliError> {
    let scenario = site.scenario();
    let results = Results::new(scenario, &study).map_err(CliError::input)?;
    if let Steady::Growing {
        second_quarter_s,
        last_quarter_s,
    } = results.steady
    {
        let busy = results.libraries.iter().map(|library| {
            let (drives, robots) = (library.drives.estimate, library.robots.estimate);
            format!("{:.0} % and {:.0} %", drives * 100.0, robots * 100.0)
        });
        return Ok(Outcome::Unstable(format!(
            "scenario {}: unstable: responses grow from {second_quarter_s:.0} s in the second quarter of \
             each replication to {last_quarter_s:.0} s in the last, drives and robots busy {} of the time; \
             fewer requests, more drives or robots, or more requests a mount",
            scenario.name,
            busy.collect::<Vec<_>>().join(", ")
        )));
    }
    let interval = |of: &dyn Fn(&Summary) -> f64| {
        let values: Vec<f64> = study.summaries.iter().map(of).collect();
        Interval::of_mean(&values, LEVEL).map_err(CliError::input)
    };
    // By Little's law: what is inside is the rate of answers times how long each stays.
    let per_s = |s: &Summary| (s.requests + s.cut) as f64 / s.duration.as_secs_f64().max(1e-6);
    Ok(Outcome::Steady(Box::new(Simulated {
        per_hour: interval(&|s| per_s(s) * 3600.0)?,
        inside: interval(&|s| per_s(s) * s.mean_s())?,
        waiting: interval(&|s| per_s(s) * s.part_s(Part::DriveWait))?,
        formula: Formula::of(site),
        results,
        study,
    })))
}

/// Most portions that the replications are made in.
const PORTIONS: u64 = 20;

/// Makes all replications of a scenario, and says on a terminal how far it has come.
///
/// # Errors
/// As [`refused`].
pub fn study(site: &Site, before: &str) -> Result<Study, CliError> {
    let scenario = site.scenario();
    let of = match scenario.precision {
        // How many there will be is found on the way.
        Some(_) => 1,
        None => {
            let at_once = 2 * rayon::current_num_threads() as u64;
            (scenario.replications / at_once).clamp(1, PORTIONS)
        }
    };
    let mut made = 0;
    let mut parts = Vec::new();
    for index in 0..of {
        bar(format_args!(
            "{before}{made} of {} replications of {} requests",
            scenario.replications, scenario.requests
        ));
        let part = site.study(Shard { index, of });
        let part = part.inspect_err(|_| clear()).map_err(refused)?;
        made += part.summaries.len();
        parts.push(part);
    }
    clear();
    // The parts of a study are the study, byte for byte.
    match of {
        1 => parts
            .pop()
            .ok_or_else(|| CliError::failed("no replication")),
        _ => Study::merge(parts).map_err(refused),
    }
}

fn bar(line: std::fmt::Arguments) {
    if std::io::stderr().is_terminal() {
        say(format_args!("\r\x1b[K{line}"));
    }
}

fn clear() {
    bar(format_args!(""));
}

/// Why a study was not made: what was asked for, or what came of it.
pub fn refused(error: StudyError) -> CliError {
    match &error {
        StudyError::NoSuchShard { .. }
        | StudyError::Undivided { .. }
        | StudyError::Apart { .. } => CliError::input(error),
        StudyError::Stalled(_) | StudyError::Statistics(_) => CliError::failed(error),
    }
}
