//! What mount policies would have made of the requests in a site's logs, beside what the site made of them.

use super::{CheckError, MEAN, P95, Twin, numbers};
use crate::library::{Part, Run, Site};
use crate::mounts::MountPolicy;
use crate::scenario::Scenario;
use crate::statistics::Interval;
use crate::study::LEVEL;
use tapewise_model::profile::{Profile, ProfileError};

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

impl Twin {
    /// What comes of the twin's requests under a policy, all else as it is in the twin. Every policy gets the same
    /// requests and the same random numbers.
    ///
    /// # Errors
    /// [`CheckError`].
    pub fn price(
        &self,
        policy: MountPolicy,
        find: impl Fn(&str) -> Result<Profile, ProfileError>,
        replications: u64,
    ) -> Result<Priced, CheckError> {
        let mut scenario = Scenario::from_toml(&self.text)?;
        scenario.policy.mount = policy;
        scenario.check()?;
        let site = Site::new(&scenario, find)?;
        let runs = (0..replications).map(|replication| Ok(of_run(&site.run(replication)?)));
        let runs = runs.collect::<Result<Vec<[f64; 4]>, CheckError>>()?;
        let one = |at: usize| {
            let values: Vec<f64> = runs.iter().map(|run| run[at]).collect();
            Interval::of_another(&values, LEVEL)
        };
        Ok(Priced {
            policy,
            mounts: one(0)?,
            drive_hours: one(1)?,
            mean_s: one(2)?,
            p95_s: one(3)?,
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
