//! What a study says: estimates with their intervals, and whether there is anything to estimate.

use crate::library::{Part, Slow};
use crate::scenario::{Arrivals, Scenario};
use crate::statistics::{Interval, StatisticsError};
use crate::study::{LEVEL, PERCENTILES, Study, Summary};
use serde::{Deserialize, Serialize};

/// What a study says of a scenario. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The scenario's name.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// Replications.
    pub replications: u64,
    /// Requests that count, of all replications.
    pub requests: u64,
    /// Requests cut off as warm-up, on average.
    pub mean_cut: f64,
    /// Replications whose warm-up did not end in their first half.
    pub unsettled: u64,
    /// Whether the responses are steady. If not, the estimates are none.
    pub steady: Steady,
    /// Mean response.
    pub mean_s: Interval,
    /// Variance of responses, in square seconds.
    pub variance_s2: Interval,
    /// Percentiles of responses.
    pub percentiles: Vec<Percentile>,
    /// The parts of the mean response; those that do not occur are left out.
    pub parts: Vec<PartMean>,
    /// The libraries, in the order of the scenario.
    pub libraries: Vec<LibraryUse>,
    /// The slowest responses with their causes.
    pub slowest: Vec<Slow>,
}

/// A percentile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// Percent of the responses that are no longer.
    pub percent: u8,
    /// Where it lies.
    pub s: Interval,
}

/// The mean of a part of the response.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartMean {
    /// Which part.
    pub part: Part,
    /// Its mean.
    pub s: Interval,
}

/// How busy a library was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LibraryUse {
    /// Its name.
    pub name: String,
    /// Share of the time in which a drive is in use, waiting for robots included.
    pub drives: Interval,
    /// The same without waiting for robots.
    pub drives_at_work: Interval,
    /// Share of the time in which a robot moves.
    pub robots: Interval,
    /// Mounts an hour.
    pub mounts_per_hour: Interval,
    /// Requests read in a mount.
    pub reads_per_mount: Interval,
    /// Cleaning cycles, of all replications.
    pub cleanings: u64,
    /// Failures, of all replications.
    pub failures: u64,
}

/// Whether responses are steady.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Steady {
    /// The queue does not grow from the second quarter to the last.
    Yes,
    /// It cannot be told by quarters: users who wait for answers, a trace, a few days of a daily
    /// pattern.
    NotAsked,
    /// The queue grows: more arrives than is served, or the replications are too short to tell.
    Growing {
        /// Requests that those of the second quarter find unanswered, on average.
        second_quarter: f64,
        /// Requests that those of the last quarter find unanswered, on average.
        last_quarter: f64,
    },
}

/// A queue that grows for ever is 7/3 as long in the last quarter as in the second.
const GROWTH: f64 = 1.5;

/// Days of a daily pattern from which on its quarters are compared.
const LEAST_DAYS: f64 = 8.0;

/// How sure it must be that the queue grows.
const GROWTH_LEVEL: f64 = 0.99;

impl Results {
    /// What a study says; `scenario` is what it was made of.
    ///
    /// # Errors
    /// [`StatisticsError::TooFew`] for fewer than two replications.
    pub fn new(scenario: &Scenario, study: &Study) -> Result<Results, StatisticsError> {
        let all = &study.summaries;
        let interval = |of: &dyn Fn(&Summary) -> f64| {
            let values: Vec<f64> = all.iter().map(of).collect();
            Interval::of_mean(&values, LEVEL)
        };
        let mean_s = interval(&Summary::mean_s)?;
        let mut percentiles = Vec::new();
        for (place, percent) in PERCENTILES.into_iter().enumerate() {
            let each = all
                .iter()
                .map(|summary| summary.percentiles[place].as_secs_f64());
            let pooled = study.histogram.quantile(f64::from(percent) / 100.0)?;
            let pooled_s = pooled.map_or(0.0, |time| time.as_secs_f64());
            let s = Interval::of_pooled(pooled_s, &each.collect::<Vec<_>>(), LEVEL)?;
            percentiles.push(Percentile { percent, s });
        }
        let mut parts = Vec::new();
        for part in Part::ALL {
            if all
                .iter()
                .any(|summary| summary.parts_us[part as usize] > 0)
            {
                let s = interval(&|summary| summary.part_s(part))?;
                parts.push(PartMean { part, s });
            }
        }
        let mut libraries = Vec::new();
        for (place, library) in scenario.libraries.iter().enumerate() {
            libraries.push(LibraryUse::new(&library.name, place, all)?);
        }
        Ok(Results {
            scenario: study.scenario.clone(),
            seed: study.seed,
            replications: study.replications,
            requests: all.iter().map(|summary| summary.requests).sum(),
            mean_cut: all.iter().map(|s| s.cut as f64).sum::<f64>() / all.len() as f64,
            unsettled: all.iter().filter(|summary| !summary.settled).count() as u64,
            steady: Steady::of(scenario, all)?,
            mean_s,
            // About the mean of all: each replication's own mean lies closer to its responses.
            variance_s2: interval(&|s| s.variance_s2() + (s.mean_s() - mean_s.estimate).powi(2))?,
            percentiles,
            parts,
            libraries,
            slowest: study.slowest(),
        })
    }
}

impl Results {
    /// One of the [`PERCENTILES`] of the responses.
    pub fn percentile(&self, percent: u8) -> Option<Interval> {
        let mut all = self.percentiles.iter();
        all.find(|at| at.percent == percent).map(|at| at.s)
    }
}

impl LibraryUse {
    fn new(name: &str, place: usize, all: &[Summary]) -> Result<LibraryUse, StatisticsError> {
        let interval = |of: &dyn Fn(&Summary) -> f64| {
            let values: Vec<f64> = all.iter().map(of).collect();
            Interval::of_mean(&values, LEVEL)
        };
        let usage = |summary: &Summary| summary.usage[place].clone();
        let sum = |of: fn(&crate::library::Usage) -> u64| {
            all.iter().map(|summary| of(&summary.usage[place])).sum()
        };
        Ok(LibraryUse {
            name: name.to_owned(),
            drives: interval(&|s| usage(s).drive_share(s.duration))?,
            drives_at_work: interval(&|s| usage(s).drive_service_share(s.duration))?,
            robots: interval(&|s| usage(s).robot_share(s.duration))?,
            mounts_per_hour: interval(&|s| {
                usage(s).mounts as f64 * 3600.0 / s.duration.as_secs_f64().max(1e-6)
            })?,
            reads_per_mount: interval(&|s| {
                usage(s).reads as f64 / (usage(s).mounts.max(1)) as f64
            })?,
            cleanings: sum(|usage| usage.cleanings),
            failures: sum(|usage| usage.failures),
        })
    }
}

impl Steady {
    /// Looks for a queue that grows from the second quarter to the last, in all replications together.
    fn of(scenario: &Scenario, all: &[Summary]) -> Result<Steady, StatisticsError> {
        let days =
            all.iter().map(|s| s.duration.as_secs_f64()).sum::<f64>() / all.len() as f64 / 86_400.0;
        // Users who wait for answers cannot be more than there are; a trace ends with its last; and
        // one quarter of a day is not like another.
        let compares = match scenario.arrivals {
            Arrivals::Closed { .. } | Arrivals::Trace { .. } => false,
            Arrivals::Daily { .. } => days >= LEAST_DAYS,
            Arrivals::Poisson { .. } | Arrivals::Renewal { .. } | Arrivals::Bursts { .. } => true,
        };
        if !compares {
            return Ok(Steady::NotAsked);
        }
        let quarter = |summary: &Summary, number: usize| {
            let requests = (summary.requests + summary.cut) as f64 / 4.0;
            summary.found[number] as f64 / requests.max(1.0)
        };
        let grown: Vec<f64> = all.iter().map(|s| quarter(s, 3) - quarter(s, 1)).collect();
        let mean = |number| all.iter().map(|s| quarter(s, number)).sum::<f64>() / all.len() as f64;
        let (second_quarter, last_quarter) = (mean(1), mean(3));
        let surely = Interval::of_mean(&grown, GROWTH_LEVEL)?.low() > 0.0;
        Ok(if surely && last_quarter > GROWTH * second_quarter {
            Steady::Growing {
                second_quarter,
                last_quarter,
            }
        } else {
            Steady::Yes
        })
    }
}
