//! The answer to a scenario: simulated with intervals, by formula beside it, or that there is none.

use crate::library::{Expected, NoFormula, Part, Site};
use crate::results::{Results, Steady};
use crate::scenario::{Overload, Scenario, ScenarioError};
use crate::statistics::{Interval, StatisticsError};
use crate::study::{LEVEL, Shard, Study, StudyError, Summary};
use serde::Serialize;
use tapewise_model::Profile;
use tapewise_model::profile::ProfileError;

/// A scenario and what came of it.
#[derive(Debug)]
pub struct Simulation {
    /// The scenario.
    pub scenario: Scenario,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a scenario.
#[derive(Debug)]
pub enum Outcome {
    /// Estimates.
    Steady(Box<Simulated>),
    /// None, and why.
    Unstable(Unstable),
}

/// Why a scenario has no estimates: its queue grows for ever, or for as long as was looked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Unstable {
    /// Drives or robots cannot bear the load in any order: this was not simulated.
    #[error(transparent)]
    Overload(#[from] Overload),
    /// Responses grow while it is simulated.
    #[error(
        "scenario {scenario}: unstable: a request finds {second_quarter:.0} others unanswered in the second \
         quarter of each replication and {last_quarter:.0} in the last, drives and robots busy {} of the time; {}",
        shares(busy),
        advice(busy)
    )]
    Growing {
        /// The scenario's name.
        scenario: String,
        /// Requests that those of the second quarter find unanswered, on average.
        second_quarter: f64,
        /// Requests that those of the last quarter find unanswered, on average.
        last_quarter: f64,
        /// Shares of the time in which drives and robots are busy, by library.
        busy: Vec<Busy>,
    },
}

/// How busy a library is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Busy {
    /// Share of the time in which a drive is held.
    pub drives: f64,
    /// Share of the time in which a robot moves.
    pub robots: f64,
}

/// Drives and robots that are busy for less of the time than this are not what requests wait for.
const NOT_BUSY: f64 = 0.8;

fn advice(busy: &[Busy]) -> &'static str {
    if (busy.iter()).all(|busy| busy.drives.max(busy.robots) < NOT_BUSY) {
        "they are not what requests wait for: look for a window that is longer than the replications, or a limit on \
         what a user is given, or simulate more requests"
    } else {
        "reduce the request rate, add drives or robots, or serve more requests per mount"
    }
}

fn shares(busy: &[Busy]) -> String {
    let each = busy.iter().map(|Busy { drives, robots }| {
        format!("{:.0} % and {:.0} %", drives * 100.0, robots * 100.0)
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Estimates of a scenario.
#[derive(Debug)]
pub struct Simulated {
    /// The replications.
    pub study: Study,
    /// What they say.
    pub results: Results,
    /// Answers an hour.
    pub per_hour: Interval,
    /// Requests between arrival and answer, in the mean over time.
    pub inside: Interval,
    /// Requests that wait for a drive, in the mean over time.
    pub waiting: Interval,
    /// What formulas say, or why none does.
    pub formula: Result<Formula, NoFormula>,
}

/// What formulas say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Formula {
    /// Mean response, in seconds.
    pub mean_s: f64,
    /// Median of the responses.
    pub median_s: f64,
    /// Their 90th percentile.
    pub p90_s: f64,
    /// Their 95th percentile.
    pub p95_s: f64,
    /// Their 99th percentile.
    pub p99_s: f64,
    /// Share of the time in which a drive is held, waits for robots included.
    pub drives: f64,
    /// The same without them.
    pub drives_at_work: f64,
    /// Share of the time in which a robot moves.
    pub robots: f64,
}

/// Why a scenario was not simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// It cannot be run.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Its replications cannot be made.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The replications that were asked for say nothing, as they are too few.
    #[error(transparent)]
    Results(StatisticsError),
}

/// How far a simulation has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// Replications that are made.
    pub made: usize,
    /// Replications of the whole, as far as that is known.
    pub of: u64,
    /// Requests of each.
    pub requests: u64,
}

/// Simulates a scenario: its seed, its number of replications, and nothing else decides what comes out.
///
/// `find` knows the profiles by name, and `watch` is told how far the simulation has come.
///
/// ```
/// use tapewise_model::profile;
/// use tapewise_sim::{Outcome, Scenario, simulate};
///
/// let scenario = Scenario::from_toml(r#"
///     name = "two drives"
///     requests = 200
///     arrivals = { pattern = "poisson", per_hour = 30 }
///     [[library]]
///     name = "small"
///     robot = { get_s = 10, put_s = 10 }
///     drive = [{ count = 2, profile = "lto9" }]
///     cartridge = [{ count = 100 }]
/// "#)?;
/// let scenario = Scenario { seed: 7, replications: 4, ..scenario };
/// match simulate(&scenario, profile::find, &mut |_| ())? {
///     Outcome::Steady(simulated) => println!("{:.0} s", simulated.results.mean_s.estimate),
///     Outcome::Unstable(why) => println!("{why}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`SimulationError`]. That a load cannot be borne is an [`Outcome`].
pub fn simulate(
    scenario: &Scenario,
    find: impl Fn(&str) -> Result<Profile, ProfileError>,
    watch: &mut dyn FnMut(Made),
) -> Result<Outcome, SimulationError> {
    match Site::new(scenario, find) {
        Ok(site) => Outcome::new(&site, site.study_in_portions(watch)?),
        Err(ScenarioError::Unstable(overload)) => Ok(Outcome::Unstable(overload.into())),
        Err(error) => Err(error.into()),
    }
}

impl Simulation {
    /// The estimates, where there are any.
    pub fn steady(&self) -> Option<&Simulated> {
        self.outcome.steady()
    }
}

impl Outcome {
    /// What a study comes to.
    ///
    /// # Errors
    /// [`SimulationError::Results`] for too few replications for an interval.
    pub fn new(site: &Site, study: Study) -> Result<Outcome, SimulationError> {
        let scenario = site.scenario();
        let results = Results::new(scenario, &study).map_err(SimulationError::Results)?;
        if let Steady::Growing {
            second_quarter,
            last_quarter,
        } = results.steady
        {
            let busy = results.libraries.iter().map(|library| Busy {
                drives: library.drives.estimate,
                robots: library.robots.estimate,
            });
            return Ok(Outcome::Unstable(Unstable::Growing {
                scenario: scenario.name.clone(),
                second_quarter,
                last_quarter,
                busy: busy.collect(),
            }));
        }
        let interval = |of: &dyn Fn(&Summary) -> f64| {
            let values: Vec<f64> = study.summaries.iter().map(of).collect();
            Interval::of_mean(&values, LEVEL).map_err(SimulationError::Results)
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

    /// The estimates, where there are any.
    pub fn steady(&self) -> Option<&Simulated> {
        match self {
            Outcome::Steady(simulated) => Some(simulated),
            Outcome::Unstable(_) => None,
        }
    }
}

impl Formula {
    /// What formulas say of a scenario.
    ///
    /// # Errors
    /// [`NoFormula`] where none applies.
    pub fn of(site: &Site) -> Result<Formula, NoFormula> {
        let expected: Expected = site.expected()?;
        let quantile_s = |p| expected.quantile_s(p).map_err(NoFormula::Queue);
        Ok(Formula {
            mean_s: expected.mean_s,
            median_s: quantile_s(0.5)?,
            p90_s: quantile_s(0.9)?,
            p95_s: quantile_s(0.95)?,
            p99_s: quantile_s(0.99)?,
            drives: expected.steady.drive_utilisation,
            drives_at_work: expected.drives_at_work,
            robots: expected.robots_at_work,
        })
    }
}

/// Most portions that the replications are made in.
const PORTIONS: u64 = 20;

impl Site {
    /// Makes all replications, and tells `watch` how far that has come: the same, byte for byte, as
    /// [`Site::study`] of the whole.
    fn study_in_portions(&self, watch: &mut dyn FnMut(Made)) -> Result<Study, StudyError> {
        let scenario = self.scenario();
        let of = match scenario.precision {
            // How many there will be is found on the way.
            Some(_) => 1,
            None => {
                let at_once = 2 * rayon::current_num_threads() as u64;
                (scenario.replications / at_once).clamp(1, PORTIONS)
            }
        };
        let mut made = 0;
        let mut portions = Vec::new();
        for index in 0..of {
            watch(Made {
                made,
                of: scenario.replications,
                requests: scenario.requests,
            });
            let portion = self.study(Shard { index, of })?;
            made += portion.summaries.len();
            portions.push(portion);
        }
        Study::merge(portions)
    }
}
