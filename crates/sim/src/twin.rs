//! A twin of one's own site: a scenario made from the site's logs.
//!
//! Requests come as they came, with their bursts; drives, robots and their times are as they were measured. What the
//! logs do not tell gets a default, and is listed. Before anything else is asked of a twin it is
//! [checked](Twin::check) against the responses that the logs show.

mod log;
mod measured;
mod one_run;
mod priced;
mod text;
mod users;

pub use log::Log;
pub use priced::{AsItWas, Priced};
pub use users::{CheckedUser, UserAnswered};

use crate::library::{Run, Site, Stalled};
use crate::mounts::MountPolicy;
use crate::scenario::{SHORT_KEYS, Scenario, ScenarioError};
use crate::statistics::{Interval, StatisticsError};
use log::{Arrival, names};
use measured::Measured;
use one_run::{RESOLVED_S, one_run};
use priced::numbers;
use std::fmt;
use tapewise_formats::asked_csv::Asked;
use tapewise_model::profile::{Profile, ProfileError};

/// A scenario made from logs.
#[derive(Clone, Debug, PartialEq)]
pub struct Twin {
    /// The scenario, as TOML.
    pub text: String,
    /// What the logs did not tell, and what was taken instead.
    pub assumed: Vec<Assumed>,
    /// The responses that the logs show, in seconds.
    pub responses_s: Vec<f64>,
    /// Those of each user, in an activity, in the order of the scenario's names.
    pub users: Vec<UserAnswered>,
    /// What the logs show of mounts, drives and waiting.
    pub as_it_was: AsItWas,
}

/// What logs did not tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumed {
    /// What was taken instead, in words.
    pub what: String,
    /// The key of the scenario that changes it, if a single one does.
    pub key: Option<&'static str>,
}

impl Assumed {
    fn of_key(key: &'static str, what: impl Into<String>) -> Assumed {
        Assumed {
            what: what.into(),
            key: Some(key),
        }
    }
}

impl fmt::Display for Assumed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        let Some(key) = self.key else {
            return Ok(());
        };
        let short = SHORT_KEYS.iter().find(|(_, long)| *long == key);
        write!(f, "; set {}", short.map_or(key, |(short, _)| short))
    }
}

/// Why there is no twin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TwinError {
    /// Nothing was asked.
    #[error(
        "the logs show no request: give a table with arrived_s and cartridge, or a log of reads"
    )]
    NoRequest,
    /// Lines of CTA's log without a year, and no table.
    #[error(
        "the log of CTA does not tell the year of its lines, and no table tells when files were asked for"
    )]
    Undated,
    /// Several libraries are no single site, and several cases of a simulation neither.
    #[error(
        "the table has requests of the {what} {names}: a twin is of one of them; leave only the rows of that one"
    )]
    Several {
        /// Libraries or cases.
        what: &'static str,
        /// Their names.
        names: String,
    },
    /// More cannot be simulated.
    #[error("the logs show {0} requests, more than 5000000: give a part of them")]
    TooMany(usize),
}

/// Why a twin could not be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The scenario cannot be run.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A replication had no end.
    #[error(transparent)]
    Stalled(#[from] Stalled),
    /// Too few replications say nothing.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
}

/// The logs beside runs of their twin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Check {
    /// Mean, median and 95th percentile of all responses.
    pub all: Vec<Checked>,
    /// The mean of each user, in an activity; nothing where the logs tell no users apart.
    pub users: Vec<CheckedUser>,
}

/// A number of the logs beside the twin's.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// What it is: `mean`, `median`, `p95`.
    pub name: &'static str,
    /// As the logs show it, in seconds.
    pub log_s: f64,
    /// Where a run of the twin has it, in seconds.
    pub twin_s: Interval,
}

impl Checked {
    /// How far off the twin is, as a share of what the logs show.
    pub fn off(&self) -> f64 {
        self.twin_s.estimate / self.log_s - 1.0
    }
}

impl Twin {
    /// Makes a twin of the site that wrote these logs.
    ///
    /// # Errors
    /// [`TwinError`].
    pub fn new(logs: &[Log]) -> Result<Twin, TwinError> {
        let measured = Measured::of(logs);
        let mut assumed = Vec::new();
        let asked = logs.iter().flat_map(|log| match log {
            Log::Asked(asked) => &asked[..],
            _ => &[],
        });
        let asked: Vec<&Asked> = asked.collect();
        let libraries = names(asked.iter().filter_map(|one| one.library.as_deref()));
        let cases = names(asked.iter().filter_map(|one| one.case.as_deref()));
        for (what, several) in [("libraries", libraries), ("cases", cases)] {
            if several.len() > 1 {
                let names = several.into_keys().collect::<Vec<&str>>().join(", ");
                return Err(TwinError::Several { what, names });
            }
        }
        let mut arrivals: Vec<Arrival> = asked.iter().map(|one| Arrival::of(one)).collect();
        if arrivals.is_empty() {
            if measured.undated {
                return Err(TwinError::Undated);
            }
            arrivals = measured.arrivals();
            assumed.push(Assumed {
                what: "when files were asked for: when the mount that read them began, one session of a log after the other, so the twin cannot be checked".to_owned(),
                key: None,
            });
        }
        if arrivals.is_empty() {
            return Err(TwinError::NoRequest);
        }
        if arrivals.len() > 5_000_000 {
            return Err(TwinError::TooMany(arrivals.len()));
        }
        arrivals.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        let drives = names(asked.iter().filter_map(|one| one.drive.as_deref())).len();
        let text = text::scenario(&arrivals, &measured, drives, &mut assumed);
        let responses_s: Vec<f64> = asked.iter().filter_map(|one| one.response_s).collect();
        Ok(Twin {
            text,
            assumed,
            users: users::answered(&arrivals),
            as_it_was: measured.as_it_was(&responses_s),
            responses_s,
        })
    }

    /// The logs' responses beside those of `replications` runs of the twin, which have the same arrivals and draw all
    /// times anew. Nothing where the logs show no responses.
    ///
    /// # Errors
    /// [`CheckError`].
    pub fn check(&self, site: &Site, replications: u64) -> Result<Check, CheckError> {
        if self.responses_s.is_empty() {
            return Ok(Check::default());
        }
        let (mut runs, mut means_s) = (Vec::new(), Vec::new());
        for replication in 0..replications {
            let answers = site.run(replication)?.answers;
            let responses = answers.iter().map(|answer| answer.response.as_secs_f64());
            runs.push(numbers(responses.collect()));
            means_s.push(users::means_s(&answers, self.users.len()));
        }
        let log = numbers(self.responses_s.clone());
        let one = |(at, name)| {
            let values: Vec<f64> = runs.iter().map(|run| run[at]).collect();
            Ok(Checked {
                name,
                log_s: log[at],
                twin_s: one_run(&values, RESOLVED_S)?,
            })
        };
        let all = ["mean", "median", "p95"].into_iter().enumerate().map(one);
        Ok(Check {
            all: all.collect::<Result<_, StatisticsError>>()?,
            users: users::checked(&self.users, &means_s)?,
        })
    }

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
        let site = Site::new(&scenario, find)?;
        let runs = (0..replications).map(|replication| site.run(replication));
        let runs = runs.collect::<Result<Vec<Run>, Stalled>>()?;
        Ok(Priced::new(policy, &runs)?)
    }
}
