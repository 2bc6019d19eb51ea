//! `tapewise library bench report`: how soon requests were answered, and what the time went into.

use super::{open, read_pattern};
use crate::error::CliError;
use crate::{json, output};
use std::path::PathBuf;
use tapewise_formats::event_log::read_events;
use tapewise_library::bench::measured::{Measured, MeasuredError};
use tapewise_library::bench::scenario;
use tapewise_plot::Table;

/// Read the log of a benchmark: response times, their spread, and what they are made of.
///
/// Mean, median, variance and percentiles as in the paper's Table 5 and Figure 6, a histogram in bins
/// of 5 s with the shifted Erlang distribution that fits it best, mean times of the steps, and how busy
/// drives and robot were. This also works for a run that was interrupted.
#[derive(clap::Args, Debug)]
pub struct Report {
    /// The pattern that was carried out.
    #[arg(value_name = "PATTERN")]
    pattern: PathBuf,
    /// The event log of the run.
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// Write a scenario for `tapewise simulate`: these requests, and the times that steps took here.
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub fn run(args: &Report) -> Result<(), CliError> {
    let pattern = read_pattern(&args.pattern)?;
    let log = read_events(open(&args.log)?)
        .map_err(|error| CliError::input(error).of(args.log.display()))?;
    for notice in &log.notices {
        output::say(format_args!("{notice}\n"));
    }
    let [session] = &log.sessions[..] else {
        let what = format!("{}: the log of one run is wanted", args.log.display());
        return Err(CliError::input(what));
    };
    let is_emulated = session.header.as_ref().is_some_and(|one| one.emulated);
    let measured = Measured::new(&pattern, &session.events, is_emulated)?;
    if let Some(path) = &args.scenario {
        let text = scenario::text(&pattern, &session.events, &measured)?;
        output::write(Some(path), |out| {
            out.write_all(text.as_bytes()).map_err(CliError::failed)
        })?;
    }
    output::print(&shown(&measured, args.json)?)
}

/// As text or JSON.
pub fn shown(measured: &Measured, as_json: bool) -> Result<String, CliError> {
    if as_json {
        json::text("library-bench", measured)
    } else {
        Ok(text(measured))
    }
}

fn text(measured: &Measured) -> String {
    let title = format!(
        "{} of {} answered in {} by {} that took part; {}",
        measured.answered,
        crate::units::count(measured.requests, "request"),
        crate::units::time(measured.hours * 3600.0),
        crate::units::count(measured.drives, "drive"),
        crate::units::count(measured.failures, "failure")
    );
    let columns = [
        "seconds", "mean", "median", "variance", "90 %", "95 %", "longest",
    ];
    let mut table = Table::new(title, &columns);
    let spread = &measured.response_s;
    let percentile = |percent| {
        let mut all = spread.percentiles.iter();
        all.find(|one| one.percent == percent)
            .map_or(0.0, |one| one.s)
    };
    let numbers = [
        spread.mean,
        spread.median,
        spread.variance,
        percentile(90),
        percentile(95),
        spread.longest,
    ];
    let cells = numbers.map(|number| format!("{number:.1}"));
    table.row(["response".to_owned()].into_iter().chain(cells));
    table.note(format!(
        "the robot moved {:.0} % of the time; drives were taken {:.0} % of it",
        100.0 * measured.robot_busy,
        100.0 * measured.drives_busy
    ));
    if let Some(erlang) = &measured.erlang {
        table.note(format!(
            "shifted Erlang distribution: F {:.1} s, k {}, mean {:.1} s; off by {:.1} a bin",
            erlang.shift_s, erlang.phases, erlang.mean_s, erlang.residual
        ));
    }
    if measured.emulated {
        table.note("emulated: these times prove nothing about hardware");
    }
    let mut steps = Table::new("", &["step", "times", "mean s", "deviation s"]);
    for step in &measured.steps {
        steps.row([
            step.step.to_owned(),
            step.count.to_string(),
            format!("{:.2}", step.mean),
            format!("{:.2}", step.deviation),
        ]);
    }
    let mut bins = Table::new("", &["until s", "responses"]);
    for bin in measured.histogram.iter().skip_while(|bin| bin.count == 0) {
        bins.row([format!("{:.0}", bin.to_s), bin.count.to_string()]);
    }
    format!("{table}\n{steps}\n{bins}")
}

impl From<MeasuredError> for CliError {
    fn from(error: MeasuredError) -> CliError {
        match error {
            MeasuredError::OtherPattern { .. } => CliError::input(error),
            _ => CliError::failed(error),
        }
    }
}
