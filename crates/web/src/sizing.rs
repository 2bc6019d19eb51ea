//! How many drives? A scenario with what the page's sliders say, its replications as they are made, and what happened
//! around its slowest response.

use crate::answer::{Answer, Case, Starting};
use serde::Deserialize;
use std::error::Error;
use tapewise::model::profile;
use tapewise_plot::simulation_pictures;
use tapewise_sim::capacity::Metric;
use tapewise_sim::library::Site;
use tapewise_sim::scenario::{Arrivals, MountPolicy, builtin};
use tapewise_sim::statistics::Interval;
use tapewise_sim::{
    Logged, Outcome, Scenario, ScenarioError, Simulation, Study, Unstable, document,
};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Studies that are kept: the page draws a curve of at most this many points.
const KEPT: usize = 64;

/// Most replications of a point.
const MOST_REPLICATIONS: u64 = 1000;

/// A scenario with what the sliders say; what is not given stays as the scenario states it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The scenario's TOML.
    pub text: String,
    /// Which of its cases, by name; the first without it.
    pub case: Option<String>,
    /// Drives of its one library.
    pub drives: Option<u32>,
    /// Robots of its one library.
    pub robots: Option<u32>,
    /// Requests an hour.
    pub per_hour: Option<f64>,
    /// How long the first request for a cartridge waits for others, in seconds.
    pub window_s: Option<f64>,
    /// Which cartridge a free drive gets, by the policy's name.
    pub mount: Option<String>,
    /// Seed of all random numbers.
    pub seed: Option<u64>,
}

/// What a target asks of the responses.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    /// A percentile of the responses, such as 95; without it, their mean.
    pub percent: Option<u8>,
    /// The time that it is to be below, in seconds.
    pub limit_s: Option<f64>,
}

/// Studies by setup, the latest last.
#[derive(Default)]
pub struct Sizing {
    studies: Vec<(Setup, Progress)>,
}

/// How far a setup has come.
enum Progress {
    /// No replications: more arrives than could be served.
    Overload(Unstable),
    /// Replications so far.
    Made { site: Box<Site>, study: Study },
}

impl Setup {
    /// The scenario.
    fn scenario(&self) -> Fallible<Scenario> {
        let cases = Scenario::cases(&self.text)?;
        let named = |case: &&Scenario| self.case.as_ref().is_none_or(|name| *name == case.name);
        let mut scenario = cases.iter().find(named).cloned().ok_or_else(|| {
            let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
            let case = self.case.as_deref().unwrap_or_default();
            format!("there is no case {case}; there are: {}", names.join(", "))
        })?;
        if self.drives.is_some() || self.robots.is_some() {
            let refuse = |what| format!("scenario {}: {what}; size one at a time", scenario.name);
            let [library] = &mut scenario.libraries[..] else {
                return Err(refuse("several libraries").into());
            };
            let [drives] = &mut library.drives[..] else {
                return Err(refuse("drives of several kinds").into());
            };
            drives.count = self.drives.unwrap_or(drives.count);
            library.robot.count = self.robots.unwrap_or(library.robot.count);
        }
        if let Some(rate) = self.per_hour {
            match &mut scenario.arrivals {
                Arrivals::Poisson { per_hour }
                | Arrivals::Renewal { per_hour, .. }
                | Arrivals::Daily { per_hour, .. } => *per_hour = rate,
                _ => return Err("these arrivals have no single rate".into()),
            }
        }
        if let Some(window_s) = self.window_s {
            scenario.policy.window_s = window_s;
            if window_s == 0.0 {
                // It ends a window, and there is none.
                scenario.policy.window_requests = None;
            }
        }
        if let Some(name) = &self.mount {
            let policy = MountPolicy::ALL.into_iter().find(|one| one.name() == name);
            scenario.policy.mount = policy.ok_or_else(|| format!("there is no policy {name}"))?;
        }
        scenario.seed = self.seed.unwrap_or(scenario.seed);
        // The page asks for one replication after the other.
        scenario.precision = None;
        scenario.check()?;
        Ok(scenario)
    }
}

/// The scenarios to begin with.
pub fn starting() -> Answer {
    let scenarios = builtin::BUILTIN.iter().map(|(name, text)| Starting {
        name: (*name).to_owned(),
        text: (*text).to_owned(),
    });
    let policies = MountPolicy::ALL.into_iter();
    Answer::Scenarios {
        scenarios: scenarios.collect(),
        policies: policies.map(|policy| policy.name().to_owned()).collect(),
    }
}

/// The cases of a scenario, with the values that sliders may change.
pub fn cases(text: &str) -> Fallible<Answer> {
    let of = |scenario: &Scenario| {
        let one = match &scenario.libraries[..] {
            [library] if library.drives.len() == 1 => Some(library),
            _ => None,
        };
        let per_hour = match &scenario.arrivals {
            Arrivals::Poisson { per_hour }
            | Arrivals::Renewal { per_hour, .. }
            | Arrivals::Daily { per_hour, .. } => Some(*per_hour),
            _ => None,
        };
        Case {
            name: scenario.name.clone(),
            about: scenario.about.clone(),
            drives: one.map(|library| library.drives[0].count),
            robots: one.map(|library| library.robot.count),
            per_hour,
            window_s: scenario.policy.window_s,
            mount: scenario.policy.mount.name().to_owned(),
            seed: scenario.seed,
            requests: scenario.requests,
            replications: scenario.replications,
        }
    };
    let cases = Scenario::cases(text)?;
    Ok(Answer::Cases {
        cases: cases.iter().map(of).collect(),
    })
}

impl Sizing {
    /// Makes replications of a setup until there are this many, and says what comes of them.
    pub fn response(&mut self, setup: Setup, replications: u64, wish: Wish) -> Fallible<Answer> {
        let wanted = replications.clamp(2, MOST_REPLICATIONS);
        self.begin(&setup)?;
        let (_, progress) = self.studies.last_mut().ok_or("nothing was begun")?;
        let outcome = match progress {
            Progress::Overload(why) => Outcome::Unstable(why.clone()),
            Progress::Made { site, study } => {
                study.extend(site, wanted)?;
                Outcome::new(site, study.clone())?
            }
        };
        let simulation = Simulation {
            scenario: setup.scenario()?,
            outcome,
        };
        let metric = wish.percent.map_or(Metric::Mean, Metric::Percentile);
        let results = simulation.steady().map(|steady| &steady.results);
        let s = results.and_then(|results| match metric {
            Metric::Mean => Some(results.mean_s),
            Metric::Percentile(percent) => results.percentile(percent),
        });
        Ok(Answer::Response {
            meets: wish.limit_s.map(|limit_s| meets(s, limit_s)),
            simulation: document::simulations(&[simulation])["cases"][0].take(),
        })
    }

    /// Puts the study of a setup last, and makes one if there is none.
    fn begin(&mut self, setup: &Setup) -> Fallible<()> {
        if let Some(at) = self.studies.iter().position(|(known, _)| known == setup) {
            let again = self.studies.remove(at);
            self.studies.push(again);
            return Ok(());
        }
        let progress = match Site::new(&setup.scenario()?, profile::find) {
            Err(ScenarioError::Unstable(overload)) => Progress::Overload(overload.into()),
            Err(error) => return Err(error.into()),
            Ok(site) => Progress::Made {
                study: Study::none(&site),
                site: Box::new(site),
            },
        };
        if self.studies.len() >= KEPT {
            self.studies.remove(0);
        }
        self.studies.push((setup.clone(), progress));
        Ok(())
    }
}

/// How an interval stands to a target, in the words of `tapewise capacity`.
fn meets(s: Option<Interval>, limit_s: f64) -> &'static str {
    match s {
        Some(s) if s.high() <= limit_s => "met",
        Some(s) if s.low() <= limit_s => "unsure",
        _ => "missed",
    }
}

/// What drives and robots did around the slowest response of a replication, as SVG.
pub fn timeline(setup: &Setup, replication: u64) -> Fallible<Answer> {
    let site = Site::new(&setup.scenario()?, profile::find)?;
    let logged = Logged::new(&site, replication)?;
    let drawn = simulation_pictures(&[], &[logged])?;
    let timeline = drawn.into_iter().last();
    let picture = timeline.ok_or("there is no response to draw")?;
    Ok(Answer::Picture { svg: picture.svg })
}
