//! What it takes to meet a target of response times: how many drives and robots, and which batch window.
//!
//! Every combination is computed by formula, where one applies, and those around the fewest drives that meet the
//! target are simulated.

mod remark;
mod target;

pub use remark::{Obstacle, Remark};
pub use target::{Metric, Target, TargetError, time_s};

use crate::library::{NoFormula, Site};
use crate::queue::QueueError;
use crate::scenario::{Scenario, ScenarioError, WarmUp};
use crate::simulate::{Made, Outcome, Simulated, SimulationError, simulate};
use crate::statistics::Interval;
use rayon::prelude::*;
use tapewise_model::Profile;
use tapewise_model::profile::ProfileError;
use tapewise_model::units::count;

/// What may be varied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choices {
    /// Numbers of drives, from the least.
    pub drives: Vec<u32>,
    /// Numbers of robots; if there are none, the scenario's.
    pub robots: Vec<u32>,
    /// Batch windows in seconds; if there are none, the scenario's.
    pub windows_s: Vec<f64>,
}

/// What it takes to meet a target.
#[derive(Debug)]
pub struct Capacity {
    /// The target.
    pub target: Target,
    /// In each row the numbers of drives, from the least; else alike.
    pub rows: Vec<Vec<Combination>>,
}

/// A number of drives, a number of robots and a window.
#[derive(Debug)]
pub struct Combination {
    /// The scenario with these.
    pub scenario: Scenario,
    /// Drives.
    pub drives: u32,
    /// Robots.
    pub robots: u32,
    /// Batch window, in seconds.
    pub window_s: f64,
    /// What formulas say.
    pub formula: Forecast,
    /// What came of its simulation, if it was simulated.
    pub simulated: Option<Outcome>,
}

/// What formulas say.
#[derive(Clone, Debug, PartialEq)]
pub enum Forecast {
    /// The load can be borne.
    Expected(Expected),
    /// More arrives than can be served.
    Unstable {
        /// By drives or robots.
        what: &'static str,
        /// The same in words.
        why: String,
    },
    /// No formula applies.
    None(NoFormula),
}

/// What formulas expect.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Expected {
    /// Share of the time in which a drive is held.
    pub drives_held: f64,
    /// Share of the time in which a robot moves.
    pub robots_at_work: f64,
    /// Mean response.
    pub mean_s: f64,
    /// The target's metric.
    pub target_s: f64,
}

/// How a combination stands to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meets {
    /// The whole interval is below.
    Yes,
    /// The target is within the interval: more replications would tell. Or the interval is below, but by formula the
    /// load is unstable, and replications have not settled: longer ones would tell.
    Unsure,
    /// It does not.
    No,
}

/// Why a capacity cannot be found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CapacityError {
    /// The target has a rate, and the scenario's arrivals have none, or several.
    #[error("these arrivals have no single rate to set with `at`")]
    NoRate,
    /// Drives of one kind are counted.
    #[error("scenario {scenario}: drives of several kinds")]
    SeveralKinds {
        /// The scenario's name.
        scenario: String,
    },
    /// One library is sized.
    #[error("scenario {scenario}: several libraries; size one at a time")]
    SeveralLibraries {
        /// The scenario's name.
        scenario: String,
    },
    /// A combination cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// A formula has no such percentile.
    #[error(transparent)]
    Formula(#[from] QueueError),
}

impl From<ScenarioError> for CapacityError {
    fn from(error: ScenarioError) -> CapacityError {
        SimulationError::from(error).into()
    }
}

/// Finds what it takes to meet a target: in each row, simulates until the fewest drives that meet it and their
/// neighbours are known. That more drives never do worse is taken as given.
///
/// `find` knows the profiles by name, and `watch` is told which combination is simulated, and how far that has come.
///
/// ```
/// use tapewise_model::profile;
/// use tapewise_sim::Scenario;
/// use tapewise_sim::capacity::{Choices, capacity};
///
/// let scenario = Scenario::from_toml(r#"
///     name = "small"
///     requests = 300
///     replications = 4
///     arrivals = { pattern = "poisson", per_hour = 30 }
///     [[library]]
///     name = "small"
///     robot = { get_s = 10, put_s = 10 }
///     drive = [{ count = 2, profile = "lto9" }]
///     cartridge = [{ count = 100 }]
/// "#)?;
/// let choices = Choices { drives: (1..=8).collect(), ..Choices::default() };
/// let found = capacity(&scenario, "mean < 5 min".parse()?, &choices, profile::find, &mut |_, _| ())?;
/// assert!(found.answer().is_some_and(|answer| answer.drives > 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CapacityError`]. That nothing meets the target is an answer.
pub fn capacity(
    scenario: &Scenario,
    target: Target,
    choices: &Choices,
    find: impl Fn(&str) -> Result<Profile, ProfileError> + Sync,
    watch: &mut dyn FnMut(&Combination, Made),
) -> Result<Capacity, CapacityError> {
    let mut found = Capacity::by_formula(scenario, target, choices, &find)?;
    let mut simulated = |one: &mut Combination| one.simulate(&find, watch);
    for row in &mut found.rows {
        let least = least(row, &target, &mut simulated)?;
        for neighbour in [least.checked_sub(1), Some(least), Some(least + 1)] {
            if let Some(one) = neighbour.and_then(|number| row.get_mut(number)) {
                simulated(one)?;
            }
        }
    }
    Ok(found)
}

impl Capacity {
    /// Computes every combination by formula.
    fn by_formula<F>(
        scenario: &Scenario,
        target: Target,
        choices: &Choices,
        find: &F,
    ) -> Result<Capacity, CapacityError>
    where
        F: Fn(&str) -> Result<Profile, ProfileError> + Sync,
    {
        let mut base = scenario.clone();
        if !target.set_rate(&mut base) {
            return Err(CapacityError::NoRate);
        }
        let name = base.name.clone();
        let library = match &base.libraries[..] {
            [library] if library.drives.len() == 1 => library,
            [_] => return Err(CapacityError::SeveralKinds { scenario: name }),
            _ => return Err(CapacityError::SeveralLibraries { scenario: name }),
        };
        let mut choices = choices.clone();
        if choices.robots.is_empty() {
            choices.robots.push(library.robot.count);
        }
        if choices.windows_s.is_empty() {
            choices.windows_s.push(base.policy.window_s);
        }
        let mut rows = Vec::new();
        for &robots in &choices.robots {
            for &window_s in &choices.windows_s {
                let row = choices.drives.par_iter().map(|&drives| {
                    let scenario = with(&base, drives, robots, window_s)?;
                    Ok(Combination {
                        formula: forecast(&scenario, target.metric, find)?,
                        scenario,
                        drives,
                        robots,
                        window_s,
                        simulated: None,
                    })
                });
                rows.push(row.collect::<Result<_, CapacityError>>()?);
            }
        }
        Ok(Capacity { target, rows })
    }

    /// Every combination.
    pub fn combinations(&self) -> impl Iterator<Item = &Combination> {
        self.rows.iter().flatten()
    }

    /// The combination that meets the target with fewest drives, then robots, then window.
    pub fn answer(&self) -> Option<&Combination> {
        let met = self
            .combinations()
            .filter(|one| one.meets(&self.target) == Some(Meets::Yes));
        met.min_by(|a, b| {
            let fewest = (a.drives, a.robots).cmp(&(b.drives, b.robots));
            fewest.then(a.window_s.total_cmp(&b.window_s))
        })
    }
}

impl Meets {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Meets::Yes => "met",
            Meets::Unsure => "unsure",
            Meets::No => "missed",
        }
    }
}

impl Combination {
    fn simulate(
        &mut self,
        find: impl Fn(&str) -> Result<Profile, ProfileError>,
        watch: &mut dyn FnMut(&Combination, Made),
    ) -> Result<(), SimulationError> {
        if self.simulated.is_none() {
            let outcome = simulate(&self.scenario, find, &mut |made| watch(self, made))?;
            self.simulated = Some(outcome);
        }
        Ok(())
    }

    /// The target's metric, where it was simulated and is stable.
    pub fn metric(&self, metric: Metric) -> Option<Interval> {
        let results = &self.steady()?.results;
        match metric {
            Metric::Mean => Some(results.mean_s),
            Metric::Percentile(percent) => results.percentile(percent),
        }
    }

    /// The estimates, where it was simulated and is stable.
    pub fn steady(&self) -> Option<&Simulated> {
        self.simulated.as_ref().and_then(Outcome::steady)
    }

    /// What formulas expect, if one applies and the load can be borne.
    pub fn expected(&self) -> Option<&Expected> {
        match &self.formula {
            Forecast::Expected(expected) => Some(expected),
            Forecast::Unstable { .. } | Forecast::None(_) => None,
        }
    }

    /// `None` where it was not simulated.
    pub fn meets(&self, target: &Target) -> Option<Meets> {
        self.simulated.as_ref()?;
        Some(match self.metric(target.metric) {
            Some(s) if s.high() <= target.limit_s && !self.may_grow() => Meets::Yes,
            Some(s) if s.low() <= target.limit_s => Meets::Unsure,
            _ => Meets::No,
        })
    }

    /// Whether its queue may only look steady: by formula it grows, and more than a quarter of the replications have not
    /// settled. Of a queue that grows hardly any do; of one that does not, chance leaves a few.
    ///
    /// A formula alone does not tell: it does not know that requests for one cartridge share its mount.
    pub fn may_grow(&self) -> bool {
        let is_settled = |made: &Simulated| {
            4 * made.results.unsettled <= made.results.replications
                && self.scenario.warm_up != WarmUp::Keep
        };
        matches!(self.formula, Forecast::Unstable { .. }) && !self.steady().is_some_and(is_settled)
    }

    /// "6 drives, 1 robot, no window".
    pub fn name(&self) -> String {
        let drives = count(self.drives as usize, "drive");
        format!("{drives}, {}", self.row_name())
    }

    /// The same without drives.
    pub fn row_name(&self) -> String {
        let robots = count(self.robots as usize, "robot");
        match self.window_s {
            0.0 => format!("{robots}, no window"),
            window_s => format!("{robots}, window {window_s} s"),
        }
    }
}

/// A scenario with another number of drives and robots, and another window.
fn with(
    base: &Scenario,
    drives: u32,
    robots: u32,
    window_s: f64,
) -> Result<Scenario, ScenarioError> {
    let mut scenario = base.clone();
    let library = &mut scenario.libraries[0];
    library.drives[0].count = drives;
    library.robot.count = robots;
    scenario.policy.window_s = window_s;
    if window_s == 0.0 {
        // It ends a window, and there is none.
        scenario.policy.window_requests = None;
    }
    scenario.check()?;
    Ok(scenario)
}

/// What formulas say of a scenario.
fn forecast(
    scenario: &Scenario,
    metric: Metric,
    find: impl Fn(&str) -> Result<Profile, ProfileError>,
) -> Result<Forecast, CapacityError> {
    let site = match Site::new(scenario, find) {
        Ok(site) => site,
        Err(ScenarioError::Unstable(overload)) => {
            return Ok(Forecast::Unstable {
                what: overload.what,
                why: overload.to_string(),
            });
        }
        Err(error) => return Err(error.into()),
    };
    let expected = match site.expected() {
        Ok(expected) => expected,
        Err(why @ NoFormula::Saturated { what, .. }) => {
            let why = why.to_string();
            return Ok(Forecast::Unstable { what, why });
        }
        Err(why) => return Ok(Forecast::None(why)),
    };
    let target_s = match metric {
        Metric::Mean => expected.mean_s,
        Metric::Percentile(percent) => expected.quantile_s(f64::from(percent) / 100.0)?,
    };
    Ok(Forecast::Expected(Expected {
        drives_held: expected.steady.drive_utilisation,
        robots_at_work: expected.robots_at_work,
        mean_s: expected.mean_s,
        target_s,
    }))
}

/// The first of a row that meets the target; the row's length where none does.
fn least(
    row: &mut [Combination],
    target: &Target,
    simulate: &mut impl FnMut(&mut Combination) -> Result<(), SimulationError>,
) -> Result<usize, SimulationError> {
    let forecasts: Vec<&Forecast> = row.iter().map(|one| &one.formula).collect();
    let (mut next, knows) = start(&forecasts, target);
    let (mut least, mut most) = (0, row.len());
    while least < most {
        simulate(&mut row[next])?;
        let met = row[next].meets(target) == Some(Meets::Yes);
        if met {
            most = next
        } else {
            least = next + 1
        }
        // A formula is near: one step. Without one, halves.
        next = match (knows, met) {
            (true, true) => next.saturating_sub(1),
            (true, false) => next + 1,
            (false, _) => (least + most) / 2,
        };
    }
    Ok(least)
}

/// Where a search begins, and whether formulas know that it is near the answer.
fn start(forecasts: &[&Forecast], target: &Target) -> (usize, bool) {
    let expected = forecasts.iter().position(|forecast| match forecast {
        Forecast::Expected(expected) => expected.target_s <= target.limit_s,
        Forecast::Unstable { .. } | Forecast::None(_) => false,
    });
    let is_none = |forecast: &&Forecast| matches!(forecast, Forecast::None(_));
    match expected {
        Some(near) => (near, true),
        None if forecasts.iter().any(is_none) => (forecasts.len() / 2, false),
        None => (forecasts.len().saturating_sub(1), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_begins_where_formulas_say_and_in_the_middle_where_they_do_not() {
        let target = "mean < 60 s".parse().expect("a target");
        let expected = |target_s| {
            Forecast::Expected(Expected {
                drives_held: 0.5,
                robots_at_work: 0.1,
                mean_s: target_s,
                target_s,
            })
        };
        let unstable = Forecast::Unstable {
            what: "drives",
            why: String::new(),
        };
        let none = Forecast::None(NoFormula::Unsuited { reason: "" });
        let (slow, quick) = (expected(70.0), expected(50.0));
        assert_eq!(
            start(&[&unstable, &slow, &quick, &quick], &target),
            (2, true)
        );
        // More drives than were asked about would do, or none do.
        assert_eq!(start(&[&unstable, &unstable, &slow], &target), (2, true));
        assert_eq!(start(&[&unstable; 3], &target), (2, true));
        assert_eq!(start(&[&none; 12], &target), (6, false));
        // That few drives are too few says nothing of how many are enough.
        assert_eq!(
            start(&[&unstable, &none, &none, &none, &none], &target),
            (2, false)
        );
    }
}
