//! What mount policies would have made of the requests in a site's logs, beside what the site made of them.

use super::one_run::{RESOLVED_S, one_run};
use crate::library::{Part, Run};
use crate::mounts::MountPolicy;
use crate::statistics::{Interval, StatisticsError};
use crate::study::nearest_rank;

/// Parts of a drive's time that no log counts as work.
const NO_WORK: [Part; 3] = [Part::RobotWait, Part::Failure, Part::Cleaning];

/// What the logs show. What they do not tell is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AsItWas {
    /// Mounts that the logs name.
    pub mounts: Option<u64>,
    /// Hours in which drives worked or were served by a robot: robots' ways, loads, searches, reads, rewinds, unloads.
    pub drive_hours: Option<f64>,
    /// Mean response, in seconds.
    pub mean_s: Option<f64>,
    /// Its 95th percentile.
    pub p95_s: Option<f64>,
}

/// The same numbers under a policy: where one run of the twin has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Priced {
    /// The policy.
    pub policy: MountPolicy,
    /// Mounts.
    pub mounts: Interval,
    /// Hours of drives, without waits for robots.
    pub drive_hours: Interval,
    /// Mean response, in seconds.
    pub mean_s: Interval,
    /// Its 95th percentile.
    pub p95_s: Interval,
}

impl Priced {
    /// What comes of these runs.
    pub(super) fn new(policy: MountPolicy, runs: &[Run]) -> Result<Priced, StatisticsError> {
        let runs: Vec<[f64; 4]> = runs.iter().map(of_run).collect();
        let one = |at: usize, least: f64| {
            let values: Vec<f64> = runs.iter().map(|run| run[at]).collect();
            one_run(&values, least)
        };
        Ok(Priced {
            policy,
            mounts: one(0, 0.0)?,
            drive_hours: one(1, 0.0)?,
            mean_s: one(2, RESOLVED_S)?,
            p95_s: one(3, RESOLVED_S)?,
        })
    }
}

/// Mounts, hours, mean response and its 95th percentile of one run.
fn of_run(run: &Run) -> [f64; 4] {
    let mounts: u64 = run.usage.iter().map(|usage| usage.mounts).sum();
    let work_s = run.usage.iter().map(|usage| {
        let idle = NO_WORK.map(|part| usage.drive_time[part]).into_iter();
        (usage.drive_time.total() - idle.sum()).as_secs_f64()
    });
    let responses = run.answers.iter().map(|answer| answer.response);
    let responses = numbers(responses.map(|response| response.as_secs_f64()).collect());
    let hours = work_s.sum::<f64>() / 3600.0;
    [mounts as f64, hours, responses[MEAN], responses[P95]]
}

/// Places in [`numbers`].
pub(super) const MEAN: usize = 0;
pub(super) const P95: usize = 2;

/// Mean, median and 95th percentile.
pub(super) fn numbers(mut responses_s: Vec<f64>) -> [f64; 3] {
    responses_s.sort_by(f64::total_cmp);
    let count = responses_s.len();
    let percentile = |percent| responses_s[nearest_rank(count, percent)];
    let mean = responses_s.iter().sum::<f64>() / count as f64;
    [mean, percentile(50), percentile(95)]
}
