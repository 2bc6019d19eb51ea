//! The cases as they are simulated: one set of values, one sequence of arrivals for each rate.

use super::{Facts, Published};
use crate::PaperError;
use rayon::prelude::*;
use std::fmt;
use tapewise_model::profile;
use tapewise_sim::library::{Run, Site};
use tapewise_sim::queue::nested::RobotArrivals;
use tapewise_sim::queue::retrieval::{Prediction, Times, predict};
use tapewise_sim::scenario::Arrivals;
use tapewise_sim::scenario::builtin::GNIEWEK_1999;
use tapewise_sim::{Scenario, Shard, Study};

/// The case in the scenario file whose software is that of before the change.
pub const BEFORE: &str = "150-4 before";

/// Room for the paper's rates within one seed.
const SEEDS: u64 = 1_000;

/// The paper's cases with all runs of each.
pub struct Bench<'a> {
    pub facts: &'a Facts,
    /// In the paper's order.
    pub cases: Vec<Case<'a>>,
    scenarios: Vec<Scenario>,
    seed: u64,
    runs: u64,
}

/// A case: what the paper says of it, and what our runs of it came to.
pub struct Case<'a> {
    pub theirs: &'a Published,
    pub runs: Runs,
}

/// Many runs of one scenario.
pub struct Runs {
    pub name: String,
    pub per_hour: f64,
    pub drives: u32,
    pub study: Study,
    pub site: Site,
}

impl<'a> Bench<'a> {
    pub fn new(facts: &'a Facts, seed: u64, runs: u64) -> Result<Bench<'a>, PaperError> {
        let mut bench = Bench {
            facts,
            cases: Vec::new(),
            scenarios: Scenario::cases(GNIEWEK_1999)?,
            seed,
            runs,
        };
        for scenario in &bench.scenarios {
            if let Some(theirs) = facts.cases.get(&scenario.name) {
                let runs = bench.study(scenario.clone(), runs)?;
                bench.cases.push(Case { theirs, runs });
            }
        }
        if bench.cases.len() != facts.cases.len() {
            let (here, there) = (bench.cases.len(), facts.cases.len());
            return Err(PaperError::from(format!(
                "scenarios/gniewek-1999.toml has {here} of the {there} cases of claims.toml"
            )));
        }
        Ok(bench)
    }

    /// The seed that those of the rates are made of.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How many runs are made of each of the paper's cases.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// How many are made of each of many others, whose means are all that is asked for.
    pub fn fewer(&self) -> u64 {
        self.runs / 4
    }

    /// A case by its name.
    pub fn case(&self, name: &str) -> Result<&Case<'a>, PaperError> {
        let found = self.cases.iter().find(|case| case.runs.name == name);
        found.ok_or_else(|| PaperError::from(format!("claims.toml has no case {name}")))
    }

    /// A case as the scenario file states it.
    pub fn scenario(&self, name: &str) -> Result<Scenario, PaperError> {
        let found = self.scenarios.iter().find(|case| case.name == name);
        let missing =
            || PaperError::from(format!("scenarios/gniewek-1999.toml has no case {name}"));
        found.cloned().ok_or_else(missing)
    }

    /// Runs a scenario. Those of one rate see the same requests at the same times, those of
    /// different rates do not: "an independent randomly generated interarrival time distribution is
    /// used for each".
    pub fn study(&self, scenario: Scenario, runs: u64) -> Result<Runs, PaperError> {
        Runs::new(scenario, self.seed, runs)
    }

    /// What the queueing formulas say of so many drives, with the paper's Table 4.
    pub fn predict(
        &self,
        per_hour: f64,
        drives: u32,
        view: RobotArrivals,
    ) -> Result<Prediction, PaperError> {
        let service = &self.facts.service_s;
        let times = Times {
            drive_unload_s: service.drive_unload,
            robot_put_s: service.robot_put,
            robot_get_s: service.robot_get,
            drive_load_s: service.drive_load,
            search_read_s: service.search_read,
            rewind_s: service.rewind,
            ..Times::GNIEWEK_1999
        };
        predict(&times, per_hour / 3600.0, drives, view).map_err(PaperError::from)
    }
}

impl Case<'_> {
    /// Whether the measured mean is one that 95 of 100 of our runs may have.
    pub fn is_inside(&self) -> bool {
        Band::of(&self.runs.means()).contains(self.theirs.measured)
    }
}

impl Runs {
    fn new(mut scenario: Scenario, seed: u64, runs: u64) -> Result<Runs, PaperError> {
        let Arrivals::Poisson { per_hour } = scenario.arrivals else {
            let name = &scenario.name;
            return Err(PaperError::from(format!(
                "scenario {name}: arrivals are not Poisson"
            )));
        };
        scenario.replications = runs;
        scenario.seed = seed.wrapping_mul(SEEDS).wrapping_add(per_hour as u64);
        let site = Site::new(&scenario, profile::find)?;
        Ok(Runs {
            name: scenario.name,
            per_hour,
            drives: scenario
                .libraries
                .iter()
                .flat_map(|library| &library.drives)
                .map(|group| group.count)
                .sum(),
            study: site.study(Shard::WHOLE)?,
            site,
        })
    }

    /// The mean response of every run, in the order of their numbers.
    pub fn means(&self) -> Vec<f64> {
        self.study
            .summaries
            .iter()
            .map(|summary| summary.mean_s())
            .collect()
    }

    /// The variance of the responses of every run.
    pub fn variances(&self) -> Vec<f64> {
        self.study
            .summaries
            .iter()
            .map(|summary| summary.variance_s2())
            .collect()
    }

    /// One run, request by request.
    pub fn run(&self, number: u64) -> Result<Run, PaperError> {
        self.site.run(number).map_err(PaperError::from)
    }

    /// What `look` finds in each run, request by request.
    pub fn each<T: Send>(&self, look: impl Fn(&Run) -> T + Sync) -> Result<Vec<T>, PaperError> {
        self.first(self.study.replications, look)
    }

    /// The same of so many runs, the first ones.
    pub fn first<T: Send>(
        &self,
        runs: u64,
        look: impl Fn(&Run) -> T + Sync,
    ) -> Result<Vec<T>, PaperError> {
        let numbers = (0..runs.min(self.study.replications)).into_par_iter();
        numbers.map(|number| Ok(look(&self.run(number)?))).collect()
    }
}

/// What the runs of a case say of one run: its median, and what 95 of 100 lie between.
pub struct Band {
    low: f64,
    median: f64,
    high: f64,
}

impl Band {
    pub fn of(values: &[f64]) -> Band {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1) as f64;
        let at = |share: f64| sorted.get((last * share).round() as usize).copied();
        let [low, median, high] = [0.025, 0.5, 0.975].map(|share| at(share).unwrap_or(f64::NAN));
        Band { low, median, high }
    }

    pub fn median(&self) -> f64 {
        self.median
    }

    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether it holds some value that is printed as this whole number.
    pub fn contains_rounded(&self, value: f64) -> bool {
        self.low <= value + 0.5 && value - 0.5 <= self.high
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Band { low, median, high } = self;
        let digits = f.precision().unwrap_or(1);
        write!(f, "{median:.digits$} ({low:.digits$} to {high:.digits$})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_leaves_one_in_forty_out_at_either_end() {
        let values: Vec<f64> = (0..=400).rev().map(f64::from).collect();
        let band = Band::of(&values);
        assert_eq!(band.to_string(), "200.0 (10.0 to 390.0)");
        assert!(band.contains(10.0) && band.contains(390.0));
        assert!(!band.contains(9.9) && !band.contains(390.1));
        assert!(band.contains_rounded(9.6) && !band.contains_rounded(9.4));
    }
}
