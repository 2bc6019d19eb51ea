//! `tapewise library bench report`: how soon requests were answered, and what the time went into.

use super::{open, read_pattern, scenario};
use crate::error::CliError;
use crate::output;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use tapewise_archive::pool::bench::number_of;
use tapewise_formats::bench_csv::Retrieval;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_formats::event_log::read_events;
use tapewise_model::Micros;
use tapewise_plot::Table;
use tapewise_sim::statistics::{Bins, ShiftedErlang};

/// Read the log of a benchmark: response times, their spread, and what they are made of.
///
/// Mean, median, variance and percentiles as in the paper's Table 5 and Figure 6, a histogram in bins
/// of 5 s with the shifted Erlang distribution that fits it best, mean times of the steps, and how busy
/// drives and robot were. Also for a run that was interrupted.
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
    /// As JSON.
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
    output::print(&measured.shown(args.json)?)
}

/// Width of the histogram's bins: the paper's.
const BIN: Micros = Micros(5_000_000);

/// The paper's percentiles (Figure 6: from 10 to 95).
const PERCENTILES: [usize; 12] = [5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99];

/// The steps of a retrieval in their order, and what they are called here.
pub const STEPS: [(Action, &str); 7] = [
    (Action::Fetch, "get"),
    (Action::Mount, "load"),
    (Action::Locate, "search"),
    (Action::Read, "read"),
    (Action::Rewind, "rewind"),
    (Action::Unmount, "unload"),
    (Action::Return, "put"),
];

/// What a run has measured. Times are in seconds.
#[derive(Serialize)]
pub struct Measured {
    /// Requests of the pattern.
    pub requests: usize,
    /// Those that were answered.
    pub answered: usize,
    /// Steps that failed.
    pub failures: usize,
    /// Drives that took part.
    pub drives: usize,
    /// Whether the times are an emulator's, which prove nothing about hardware.
    pub emulated: bool,
    /// From the log's beginning until the last cartridge was back, in hours.
    pub hours: f64,
    /// Share of that in which the robot moved.
    pub robot_busy: f64,
    /// Share of that in which a drive that took part had a request, its cartridge's way back included.
    pub drives_busy: f64,
    /// From arrival to the end of the read.
    pub response_s: Spread,
    /// Counts in bins of 5 s.
    pub histogram: Vec<Bin>,
    /// The shifted Erlang distribution with the least squares over the histogram; none where it has too
    /// few bins.
    pub erlang: Option<Erlang>,
    /// The steps.
    pub steps: Vec<StepTimes>,
}

/// How response times are spread.
#[derive(Serialize)]
pub struct Spread {
    pub mean: f64,
    pub median: f64,
    /// Of the sample, in square seconds.
    pub variance: f64,
    pub longest: f64,
    pub percentiles: Vec<Percentile>,
}

/// The time that so many per cent of the responses do not exceed.
#[derive(Serialize)]
pub struct Percentile {
    pub percent: usize,
    pub s: f64,
}

/// Responses above `to_s - 5` and up to `to_s`.
#[derive(Serialize)]
pub struct Bin {
    pub to_s: f64,
    pub count: u64,
}

/// F, k and FM of the paper's Table 2.
#[derive(Serialize)]
pub struct Erlang {
    pub shift_s: f64,
    pub phases: u32,
    pub mean_s: f64,
    /// Root mean square of count less expected count.
    pub residual: f64,
}

/// A step of all retrievals.
#[derive(Serialize)]
pub struct StepTimes {
    pub step: &'static str,
    pub count: usize,
    pub mean: f64,
    pub deviation: f64,
}

impl Measured {
    /// Reads the events of one run of this pattern.
    ///
    /// # Errors
    /// [`CliError`] for events of another pattern, and where nothing was answered.
    pub fn new(
        pattern: &[Retrieval],
        events: &[Event],
        emulated: bool,
    ) -> Result<Measured, CliError> {
        let mut responses = responses(pattern, events)?;
        if responses.is_empty() {
            return Err(CliError::failed("no request was answered"));
        }
        responses.sort_unstable();
        let ends = events.iter().map(|event| event.at_us + event.took_us);
        let span = ends.max().unwrap_or_default().as_secs_f64();
        let is_robots = |event: &&Event| matches!(event.action, Action::Fetch | Action::Return);
        let moved = events.iter().filter(is_robots).map(|event| event.took_us);
        let moved: Micros = moved.sum();
        let devices: BTreeSet<_> = events.iter().map(|event| &event.device).collect();
        let histogram = histogram(&responses);
        let is_failed = |event: &&Event| event.outcome != Outcome::Done;
        Ok(Measured {
            requests: pattern.len(),
            answered: responses.len(),
            failures: events.iter().filter(is_failed).count(),
            drives: devices.len(),
            emulated,
            hours: span / 3600.0,
            robot_busy: moved.as_secs_f64() / span,
            drives_busy: in_drives_s(events) / span / devices.len() as f64,
            response_s: Spread::of(&responses),
            erlang: erlang(&histogram),
            histogram,
            steps: steps(events),
        })
    }

    /// As text or JSON.
    pub fn shown(&self, as_json: bool) -> Result<String, CliError> {
        match as_json {
            true => serde_json::to_string_pretty(self)
                .map(|text| text + "\n")
                .map_err(CliError::failed),
            false => Ok(self.text()),
        }
    }

    fn text(&self) -> String {
        let title = format!(
            "{} of {} requests answered in {:.2} h by {} that took part; {} failures",
            self.answered,
            self.requests,
            self.hours,
            crate::units::count(self.drives, "drive"),
            self.failures
        );
        let columns = [
            "seconds", "mean", "median", "variance", "90 %", "95 %", "longest",
        ];
        let mut table = Table::new(title, &columns);
        let spread = &self.response_s;
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
            100.0 * self.robot_busy,
            100.0 * self.drives_busy
        ));
        if let Some(erlang) = &self.erlang {
            table.note(format!(
                "shifted Erlang distribution: F {:.1} s, k {}, mean {:.1} s; off by {:.1} a bin",
                erlang.shift_s, erlang.phases, erlang.mean_s, erlang.residual
            ));
        }
        if self.emulated {
            table.note("emulated: these times prove nothing about hardware");
        }
        let mut steps = Table::new("", &["step", "times", "mean s", "deviation s"]);
        for step in &self.steps {
            steps.row([
                step.step.to_owned(),
                step.count.to_string(),
                format!("{:.2}", step.mean),
                format!("{:.2}", step.deviation),
            ]);
        }
        let mut bins = Table::new("", &["until s", "responses"]);
        for bin in self.histogram.iter().skip_while(|bin| bin.count == 0) {
            bins.row([format!("{:.0}", bin.to_s), bin.count.to_string()]);
        }
        format!("{table}\n{steps}\n{bins}")
    }
}

/// From arrival to the end of the read, for all that were answered.
fn responses(pattern: &[Retrieval], events: &[Event]) -> Result<Vec<Micros>, CliError> {
    let is_answer = |event: &&Event| event.action == Action::Read && event.outcome == Outcome::Done;
    let response = |event: &Event| {
        let number = event.purpose.as_deref().and_then(number_of);
        let place = number.and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
        let asked = place.and_then(|place| pattern.get(place));
        let response = asked.map(|asked| event.at_us + event.took_us - asked.at);
        response
            .filter(|response| *response >= Micros::ZERO)
            .ok_or_else(|| {
                let of = event.purpose.as_deref().unwrap_or("nothing");
                CliError::input(format!("a read for {of} is not of this pattern"))
            })
    };
    events.iter().filter(is_answer).map(response).collect()
}

/// Seconds that requests were in drives or on their way, all drives together.
fn in_drives_s(events: &[Event]) -> f64 {
    let mut spans: BTreeMap<&str, (Micros, Micros)> = BTreeMap::new();
    for event in events {
        let (from, to) = (event.at_us, event.at_us + event.took_us);
        let purpose = event.purpose.as_deref().unwrap_or_default();
        let span = spans.entry(purpose).or_insert((from, to));
        *span = (span.0.min(from), span.1.max(to));
    }
    let lengths = spans.values().map(|(from, to)| (*to - *from).as_secs_f64());
    lengths.sum()
}

fn histogram(responses: &[Micros]) -> Vec<Bin> {
    let bin = |response: &Micros| ((response.0 - 1).max(0) / BIN.0) as usize;
    let bins = responses.iter().map(bin).max().map_or(0, |last| last + 1);
    let mut counts = vec![0; bins];
    for response in responses {
        counts[bin(response)] += 1;
    }
    let named = counts.into_iter().enumerate().map(|(bin, count)| Bin {
        to_s: (bin + 1) as f64 * BIN.as_secs_f64(),
        count,
    });
    named.collect()
}

fn erlang(histogram: &[Bin]) -> Option<Erlang> {
    let counts: Vec<u64> = histogram.iter().map(|bin| bin.count).collect();
    let bins = Bins {
        first_edge_s: BIN.as_secs_f64(),
        width_s: BIN.as_secs_f64(),
        counts: &counts,
    };
    // Too few bins have no fit; nothing else can be wrong with counts.
    let fitted = ShiftedErlang::fit_bins(&bins).ok()?;
    Some(Erlang {
        shift_s: fitted.distribution.shift_s,
        phases: fitted.distribution.phases,
        mean_s: fitted.distribution.mean_s,
        residual: fitted.residual,
    })
}

/// The times of a step that were done, in seconds.
pub fn times_s(events: &[Event], action: Action) -> Vec<f64> {
    let of = |event: &&Event| event.action == action && event.outcome == Outcome::Done;
    let times = events.iter().filter(of);
    times.map(|event| event.took_us.as_secs_f64()).collect()
}

fn steps(events: &[Event]) -> Vec<StepTimes> {
    let times = |(action, step)| {
        let times = times_s(events, action);
        let (mean, variance) = mean_and_variance(&times);
        StepTimes {
            step,
            count: times.len(),
            mean,
            deviation: variance.sqrt(),
        }
    };
    STEPS.into_iter().map(times).collect()
}

/// Of the sample; 0 for what has no spread.
fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count.max(1.0);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (count - 1.0).max(1.0))
}

impl Spread {
    /// Of sorted times, one at least.
    fn of(sorted: &[Micros]) -> Spread {
        let seconds: Vec<f64> = sorted.iter().map(|time| time.as_secs_f64()).collect();
        let (mean, variance) = mean_and_variance(&seconds);
        // The least time that so many are not above.
        let percentile = |percent: usize| {
            let rank = (seconds.len() * percent).div_ceil(100).max(1);
            seconds[rank - 1]
        };
        let percentiles = PERCENTILES.map(|percent| Percentile {
            percent,
            s: percentile(percent),
        });
        Spread {
            mean,
            median: percentile(50),
            variance,
            longest: percentile(100),
            percentiles: percentiles.into_iter().collect(),
        }
    }
}
