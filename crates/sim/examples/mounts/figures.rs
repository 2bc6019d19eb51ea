//! What a policy did over all replications, as a row of the table.

use super::Failure;
use std::collections::BTreeMap;
use tapewise_model::Micros;
use tapewise_sim::bounds::{Effort, Trace};
use tapewise_sim::library::{Part, Run, Site};
use tapewise_sim::statistics::Interval;

/// The first lines of a table.
pub const HEAD: &str = "| policy | mean, s | against most-requests | against cta | median | p95 | p99 | longest | \
    largest slowdown | mounts/h | drive-hours | robots, % | tape moves, h |\n\
    |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

/// The first line of the file of all tables: a bound has a mean and drive-hours only, and how far ours is above it.
pub const CSV_HEAD: &str = "aimed_load,scenario,load,requests_per_hour,policy,mean_s,mean_half_width_s,\
    against_most_requests_percent,most_requests_half_width,against_cta_percent,cta_half_width,median_s,p95_s,p99_s,\
    longest_s,largest_slowdown,mounts_per_hour,drive_hours,robots_percent,tape_moves_hours,ours_over_bound\n";

/// What each request takes by itself: by library and cartridge, in the order of arrival.
pub type Alone = BTreeMap<(u16, u32), Vec<f64>>;

/// Parts of a drive's time that are no work.
const NO_WORK: [Part; 3] = [Part::RobotWait, Part::Failure, Part::Cleaning];

/// Parts in which tape moves.
const MOVES: [Part; 3] = [Part::Search, Part::Read, Part::Rewind];

/// What one policy did in one scenario, over all replications.
#[derive(Default)]
pub struct Figures {
    pub means_s: Vec<f64>,
    responses_s: Vec<f64>,
    slowdown: f64,
    mounts: f64,
    hours: f64,
    work_h: f64,
    moves_h: f64,
    robots: f64,
}

/// The time in which drives worked, in seconds.
pub fn work_s(run: &Run) -> f64 {
    let work = run.usage.iter().map(|usage| {
        let idle = NO_WORK.iter().map(|&part| usage.drive_time[part]);
        (usage.drive_time.total() - idle.sum()).as_secs_f64()
    });
    work.sum()
}

/// The share of all drives' time in which they worked.
pub fn busy_share(run: &Run) -> f64 {
    let drives: u64 = run.usage.iter().map(|usage| usage.drives).sum();
    work_s(run) / (drives as f64 * run.duration.as_secs_f64())
}

/// Requests an hour, as they arrived.
pub fn per_hour(run: &Run) -> f64 {
    let last = run
        .answers
        .last()
        .map_or(0.0, |answer| answer.arrived.as_secs_f64());
    run.answers.len() as f64 * 3600.0 / last
}

/// What each request would take in an empty library, at least.
pub fn alone(site: &Site, replication: u64) -> Option<Alone> {
    let traces = site.known(replication)?;
    let mut alone = Alone::new();
    for (library, trace) in traces.iter().enumerate() {
        for cartridge in &trace.cartridges {
            let reads = cartridge.reads.iter();
            let times = reads.map(|read| (cartridge.before + read.work).as_secs_f64());
            alone.insert((library as u16, cartridge.number), times.collect());
        }
    }
    Some(alone)
}

impl Figures {
    pub fn add(&mut self, run: &Run, alone: Option<&Alone>) {
        let responses = run.answers.iter().map(|answer| answer.response);
        let responses: Vec<f64> = responses.map(Micros::as_secs_f64).collect();
        self.means_s
            .push(responses.iter().sum::<f64>() / responses.len() as f64);
        self.responses_s.extend(responses);
        let mut seen: BTreeMap<(u16, u32), usize> = BTreeMap::new();
        for answer in run.answers.iter().filter(|answer| answer.drive.is_some()) {
            let key = (answer.library, answer.cartridge);
            let count = seen.entry(key).or_default();
            let least = alone.and_then(|alone| alone.get(&key)?.get(*count));
            *count += 1;
            if let Some(least) = least {
                self.slowdown = self
                    .slowdown
                    .max(answer.response.as_secs_f64() / least.max(1.0));
            }
        }
        self.hours += run.duration.as_secs_f64() / 3600.0;
        self.work_h += work_s(run) / 3600.0;
        for usage in &run.usage {
            let moves = MOVES
                .iter()
                .map(|&part| usage.drive_time[part].as_secs_f64());
            self.moves_h += moves.sum::<f64>() / 3600.0;
            self.mounts += usage.mounts as f64;
            self.robots += usage.robot_share(run.duration) / run.usage.len() as f64;
        }
    }

    fn quantile(&self, share: f64) -> f64 {
        let rank = (self.responses_s.len() as f64 * share).ceil() as usize;
        self.responses_s[rank.max(1) - 1]
    }

    /// A line of the table and one of the file.
    pub fn row(&mut self, name: &str, most: &[f64], cta: &[f64]) -> Result<[String; 2], Failure> {
        self.responses_s.sort_by(f64::total_cmp);
        let mean = Interval::of_mean(&self.means_s, 0.95)?;
        let replications = self.means_s.len() as f64;
        let against = [change(&self.means_s, most)?, change(&self.means_s, cta)?];
        let [text, numbers] = [percent, comma].map(|form| against.map(form));
        let quantiles_s =
            [0.5, 0.95, 0.99, 1.0].map(|share| format!("{:.0}", self.quantile(share)));
        let rest = [
            format!("{:.0}", self.slowdown),
            format!("{:.0}", self.mounts / self.hours),
            format!("{:.1}", self.work_h / replications),
            format!("{:.0}", self.robots / replications * 100.0),
            format!("{:.1}", self.moves_h / replications),
        ];
        let Interval {
            estimate,
            half_width,
            ..
        } = mean;
        let all = |between: &str| [&quantiles_s[..], &rest[..]].concat().join(between);
        Ok([
            format!(
                "| `{name}` | {estimate:.0} ± {half_width:.0} | {} | {} |\n",
                text.join(" | "),
                all(" | ")
            ),
            format!(
                "{name},{estimate:.1},{half_width:.1},{},{},\n",
                numbers.join(","),
                all(",")
            ),
        ])
    }
}

/// The change of the mean, paired by replication, as every policy had the same requests; none beside itself.
fn change(means_s: &[f64], base: &[f64]) -> Result<Option<Interval>, Failure> {
    let pairs = means_s.iter().zip(base);
    let ratios: Vec<f64> = pairs
        .map(|(mean, base)| (mean / base - 1.0) * 100.0)
        .collect();
    if ratios.iter().any(|ratio| !ratio.is_finite()) || ratios.iter().all(|ratio| *ratio == 0.0) {
        return Ok(None);
    }
    Ok(Some(Interval::of_mean(&ratios, 0.95)?))
}

fn percent(change: Option<Interval>) -> String {
    let text = |change: Interval| format!("{:+.1} ± {:.1} %", change.estimate, change.half_width);
    change.map(text).unwrap_or_default()
}

fn comma(change: Option<Interval>) -> String {
    let text = |change: Interval| format!("{:.1},{:.1}", change.estimate, change.half_width);
    change.map_or(",".to_owned(), text)
}

/// What no schedule of one replication beats.
pub struct Bounds {
    /// The mean response.
    pub mean_s: Option<f64>,
    /// Drive-hours of schedules whose mean is not above that of ours, and of any.
    pub work_h: [f64; 2],
}

impl Bounds {
    pub fn new(site: &Site, replication: u64, ours_s: f64) -> Bounds {
        let Some(traces) = site.known(replication) else {
            return Bounds {
                mean_s: None,
                work_h: [0.0; 2],
            };
        };
        let requests = site.scenario().requests as f64;
        let (mut sum_s, mut work_h) = (0.0, [0.0; 2]);
        for (library, trace) in traces.iter().enumerate() {
            let count = trace.requests() as f64;
            let besides = site.besides(library).as_secs_f64() * count;
            let known = Micros::from_secs_f64(ours_s * requests * count / requests);
            // Longer responses need no finer times.
            let tick_s = (ours_s / 100.0).clamp(2.0, 5.0);
            let effort = Effort {
                tick: Micros::from_secs_f64(tick_s),
                bin: 30,
                rounds: 20,
                known: Some(known),
            };
            sum_s += trace.least_responses(&effort).as_secs_f64() + besides;
            let left = stays(trace);
            // One library alone: with several, only all of them together keep to the mean.
            let limit = if traces.len() == 1 {
                known
            } else {
                Micros::FAR
            };
            work_h[0] += (trace.least_work(limit, &effort) - left).as_secs_f64() / 3600.0;
            work_h[1] += (trace.once() - left).as_secs_f64() / 3600.0;
        }
        Bounds {
            mean_s: Some(sum_s / requests),
            work_h: work_h.map(|hours| hours.max(0.0)),
        }
    }
}

/// Cartridges that are still in drives after the last answer need not have been unloaded.
fn stays(trace: &Trace) -> Micros {
    let mut after: Vec<Micros> = trace
        .cartridges
        .iter()
        .map(|cartridge| cartridge.after)
        .collect();
    after.sort_unstable_by(|a, b| b.cmp(a));
    after.into_iter().take(trace.drives as usize).sum()
}

/// The bound's line of the table and of the file, with how far ours is above it; nothing if there is none.
pub fn bound_row(bounds: &[Bounds], ours_s: &[f64]) -> Result<[String; 2], Failure> {
    let means: Option<Vec<f64>> = bounds.iter().map(|bounds| bounds.mean_s).collect();
    let Some(means) = means.filter(|means| !means.is_empty()) else {
        return Ok([String::new(), String::new()]);
    };
    let Interval {
        estimate,
        half_width,
        ..
    } = Interval::of_mean(&means, 0.95)?;
    let sum = |values: &[f64]| values.iter().take(means.len()).sum::<f64>();
    let times = sum(ours_s) / sum(&means);
    let count = bounds.len() as f64;
    let [same, any] = [0, 1].map(|which| {
        bounds
            .iter()
            .map(|bounds| bounds.work_h[which])
            .sum::<f64>()
            / count
    });
    Ok([
        format!(
            "| *no schedule is below* | {estimate:.0} ± {half_width:.0} | ours: {times:.1} times | | | | | | | | \
             {same:.1}; {any:.1} for any mean | | |\n"
        ),
        format!("bound,{estimate:.1},{half_width:.1},,,,,,,,,,,{same:.1},,,{times:.2}\n"),
    ])
}
