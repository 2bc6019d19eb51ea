//! What the log of a benchmark says: how soon requests were answered, and what the time went into.

use super::hall::number_of;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use tapewise_formats::bench_csv::Retrieval;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_model::Micros;
use tapewise_sim::statistics::{Bins, ShiftedErlang};

/// Why a log tells nothing about a pattern.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasuredError {
    /// The log belongs to another pattern.
    #[error("a read for {purpose} is not of this pattern")]
    OtherPattern {
        /// What the read was for.
        purpose: String,
    },
    /// There are no response times.
    #[error("no request was answered")]
    NothingAnswered,
    /// A scenario needs times of this step.
    #[error("no {action:?} was done: there is nothing to simulate with")]
    NeverDone {
        /// The step.
        action: Action,
    },
}

/// Width of the histogram's bins: the paper's.
const BIN: Micros = Micros(5_000_000);

/// The paper's percentiles (Figure 6: from 10 to 95).
const PERCENTILES: [usize; 12] = [5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99];

/// The steps of a retrieval in their order, and what they are called here.
const STEPS: [(Action, &str); 7] = [
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
    /// Arithmetic.
    pub mean: f64,
    /// Half of them do not exceed it.
    pub median: f64,
    /// Of the sample, in square seconds.
    pub variance: f64,
    /// The longest response.
    pub longest: f64,
    /// The paper's percentiles, with 5 and 99.
    pub percentiles: Vec<Percentile>,
}

/// The time that so many per cent of the responses do not exceed.
#[derive(Serialize)]
pub struct Percentile {
    /// Per cent of the responses.
    pub percent: usize,
    /// The time, in seconds.
    pub s: f64,
}

/// Responses above `to_s - 5` and up to `to_s`.
#[derive(Serialize)]
pub struct Bin {
    /// Upper edge, in seconds.
    pub to_s: f64,
    /// Responses in the bin.
    pub count: u64,
}

/// F, k and FM of the paper's Table 2.
#[derive(Serialize)]
pub struct Erlang {
    /// F: no response is shorter, in seconds.
    pub shift_s: f64,
    /// k.
    pub phases: u32,
    /// FM, in seconds.
    pub mean_s: f64,
    /// Root mean square of count less expected count.
    pub residual: f64,
}

/// A step of all retrievals.
#[derive(Serialize)]
pub struct StepTimes {
    /// What it is called.
    pub step: &'static str,
    /// How often it was done.
    pub count: usize,
    /// Mean time, in seconds.
    pub mean: f64,
    /// Standard deviation, in seconds.
    pub deviation: f64,
}

impl Measured {
    /// Reads the events of one run of this pattern.
    ///
    /// # Errors
    /// [`MeasuredError`] for events of another pattern, and where nothing was answered.
    pub fn new(
        pattern: &[Retrieval],
        events: &[Event],
        emulated: bool,
    ) -> Result<Measured, MeasuredError> {
        let mut responses = responses(pattern, events)?;
        if responses.is_empty() {
            return Err(MeasuredError::NothingAnswered);
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
}

/// From arrival to the end of the read, for all that were answered.
fn responses(pattern: &[Retrieval], events: &[Event]) -> Result<Vec<Micros>, MeasuredError> {
    let is_answer = |event: &&Event| event.action == Action::Read && event.outcome == Outcome::Done;
    let response = |event: &Event| {
        let number = event.purpose.as_deref().and_then(number_of);
        let place = number.and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
        let asked = place.and_then(|place| pattern.get(place));
        let response = asked.map(|asked| event.at_us + event.took_us - asked.at);
        response
            .filter(|response| *response >= Micros::ZERO)
            .ok_or_else(|| {
                let purpose = event.purpose.as_deref().unwrap_or("nothing");
                MeasuredError::OtherPattern {
                    purpose: purpose.to_owned(),
                }
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
pub(super) fn times_s(events: &[Event], action: Action) -> Vec<f64> {
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
