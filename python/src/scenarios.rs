//! Scenarios: a library under load, simulated; and how large it has to be.

use crate::arguments::input_error;
use crate::attention::{attended, guarded, on_threads};
use crate::errors::SimulationError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use tapewise::model::profile::find;
use tapewise_sim::capacity::{Choices, Target};
use tapewise_sim::library::{Part, Site};
use tapewise_sim::scenario::{Setting, builtin};
use tapewise_sim::{
    Logged, Outcome, Scenario, ScenarioError, Shard, Simulation, Study, capacity, document,
};

/// The names of the scenarios that come with tapewise.
#[pyfunction]
pub fn scenario_names() -> Vec<&'static str> {
    builtin::BUILTIN.iter().map(|(name, _)| *name).collect()
}

/// The text of a scenario that comes with tapewise.
#[pyfunction]
pub fn scenario_text(name: &str) -> PyResult<&'static str> {
    let found = builtin::BUILTIN.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| {
        let there = scenario_names().join(", ");
        input_error(format!(
            "there is no scenario \"{name}\"; there are: {there}"
        ))
    })
}

/// The names of a text's cases.
#[pyfunction]
pub fn scenario_cases(py: Python<'_>, text: &str) -> PyResult<Vec<String>> {
    let cases = guarded(py, || Scenario::cases(text))?.map_err(input_error)?;
    Ok(cases.into_iter().map(|case| case.name).collect())
}

/// The attributes of a `Scenario`.
#[derive(FromPyObject)]
pub struct ScenarioArguments {
    text: String,
    case: Option<String>,
    settings: Vec<String>,
    seed: Option<u64>,
    replications: Option<u64>,
}

impl ScenarioArguments {
    fn scenario(self, py: Python<'_>) -> PyResult<Scenario> {
        guarded(py, || self.read())?.map_err(input_error)
    }

    fn read(self) -> Result<Scenario, String> {
        let settings = self.settings.iter().map(|text| text.parse::<Setting>());
        let settings = settings.collect::<Result<Vec<_>, _>>();
        let settings = settings.map_err(|error| error.to_string())?;
        let wanted: Vec<String> = self.case.into_iter().collect();
        let text = Scenario::text_with(&self.text, &settings, &wanted);
        let cases = Scenario::cases(&text.map_err(|error| error.to_string())?);
        let mut cases = cases.map_err(|error| error.to_string())?;
        cases.retain(|scenario| wanted.is_empty() || wanted.contains(&scenario.name));
        match <[Scenario; 1]>::try_from(cases) {
            Ok([mut scenario]) => {
                scenario.seed = self.seed.unwrap_or(scenario.seed);
                if let Some(replications) = self.replications {
                    (scenario.replications, scenario.precision) = (replications, None);
                }
                scenario.check().map_err(|error| error.to_string())?;
                Ok(scenario)
            }
            Err(cases) if cases.is_empty() => {
                Err(format!("the scenario has no case {}", wanted.join("")))
            }
            Err(cases) => {
                let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
                Err(format!(
                    "the scenario has several cases, {names:?}; choose one: Scenario.find(NAME, case=...)"
                ))
            }
        }
    }
}

/// What a scenario says of itself; an error if it is none.
#[pyfunction]
pub fn scenario_facts<'py>(
    py: Python<'py>,
    scenario: ScenarioArguments,
) -> PyResult<Bound<'py, PyDict>> {
    let scenario = scenario.scenario(py)?;
    let dict = PyDict::new(py);
    dict.set_item("name", &scenario.name)?;
    dict.set_item("about", &scenario.about)?;
    dict.set_item("seed", scenario.seed)?;
    dict.set_item("requests", scenario.requests)?;
    let replications = scenario
        .precision
        .is_none()
        .then_some(scenario.replications);
    dict.set_item("replications", replications)?;
    Ok(dict)
}

/// Simulates a scenario: the document that `simulate --json` prints, times that a share of the responses does not
/// exceed, and what each replication came to.
#[pyfunction]
pub fn simulate<'py>(
    py: Python<'py>,
    scenario: ScenarioArguments,
    threads: Option<NonZeroUsize>,
) -> PyResult<Bound<'py, PyDict>> {
    let scenario = scenario.scenario(py)?;
    let threads = threads.map(NonZeroUsize::get);
    let simulated = attended(py, move |stop| {
        on_threads(threads, || simulated(scenario, stop))?
    })?;
    let simulation = simulated.map_err(SimulationError::new_err)?;
    let dict = PyDict::new(py);
    let answers = [simulation];
    dict.set_item("document", document::simulations(&answers).to_string())?;
    let [simulation] = answers;
    let study = simulation.steady().map(|simulated| &simulated.study);
    let quantile_s = |permille: u32| {
        let quantile = study?.histogram.quantile(f64::from(permille) / 1000.0);
        quantile.ok()?.map(|time| time.as_secs_f64())
    };
    dict.set_item(
        "quantiles_s",
        (1..1000).map_while(quantile_s).collect::<Vec<_>>(),
    )?;
    let each = study.map_or(&[][..], |study| &study.summaries);
    let rows = PyDict::new(py);
    let at = |place: usize| -> Vec<f64> {
        each.iter()
            .map(|one| one.percentiles[place].as_secs_f64())
            .collect()
    };
    rows.set_item(
        "replication",
        each.iter().map(|one| one.replication).collect::<Vec<_>>(),
    )?;
    rows.set_item(
        "requests",
        each.iter().map(|one| one.requests).collect::<Vec<_>>(),
    )?;
    rows.set_item(
        "warm_up_cut",
        each.iter().map(|one| one.cut).collect::<Vec<_>>(),
    )?;
    rows.set_item(
        "mean_s",
        each.iter().map(|one| one.mean_s()).collect::<Vec<_>>(),
    )?;
    for (place, percent) in tapewise_sim::PERCENTILES.into_iter().enumerate() {
        rows.set_item(format!("p{percent}_s"), at(place))?;
    }
    dict.set_item("each", rows)?;
    Ok(dict)
}

fn simulated(scenario: Scenario, stop: &AtomicBool) -> Result<Simulation, String> {
    let outcome = match Site::new(&scenario, find) {
        Err(ScenarioError::Unstable(overload)) => Outcome::Unstable(overload.into()),
        Err(error) => return Err(error.to_string()),
        Ok(site) => {
            let study = study(&site, stop)?;
            Outcome::new(&site, study).map_err(|error| error.to_string())?
        }
    };
    Ok(Simulation { scenario, outcome })
}

/// All replications, in portions between which the flag is looked at.
fn study(site: &Site, stop: &AtomicBool) -> Result<Study, String> {
    let words = |error: tapewise_sim::StudyError| error.to_string();
    let scenario = site.scenario();
    if scenario.precision.is_some() {
        // How many there will be is found on the way.
        return site.study(Shard::WHOLE).map_err(words);
    }
    // Replications are made in pairs.
    let at_once = 2 * rayon::current_num_threads() as u64;
    let mut study = Study::none(site);
    while study.replications < scenario.replications && !stop.load(Ordering::Relaxed) {
        let next = scenario.replications.min(study.replications + at_once);
        study.extend(site, next).map_err(words)?;
    }
    Ok(study)
}

/// One replication in full: every request, what drives and robots did, and the same as an event log.
#[pyfunction]
pub fn replay<'py>(
    py: Python<'py>,
    scenario: ScenarioArguments,
    replication: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let scenario = scenario.scenario(py)?;
    let logged = attended(py, move |_| {
        let words = |error: &dyn std::fmt::Display| error.to_string();
        let site = Site::new(&scenario, find).map_err(|error| words(&error))?;
        let logged = Logged::new(&site, replication).map_err(|error| words(&error))?;
        let mut log = Vec::new();
        logged
            .write_events(&mut log)
            .map_err(|error| words(&error))?;
        Ok((logged, log))
    })?;
    let (logged, log) = logged.map_err(|error: String| SimulationError::new_err(error))?;
    let dict = PyDict::new(py);
    dict.set_item("requests", requests(py, &logged)?)?;
    dict.set_item("actions", actions(py, &logged)?)?;
    dict.set_item("event_log", pyo3::types::PyBytes::new(py, &log))?;
    Ok(dict)
}

fn library_name(logged: &Logged, number: u16) -> &str {
    &logged.scenario.libraries[usize::from(number)].name
}

/// One row for each request, in order of arrival.
fn requests<'py>(py: Python<'py>, logged: &Logged) -> PyResult<Bound<'py, PyDict>> {
    let answers = &logged.run.answers;
    let dict = PyDict::new(py);
    macro_rules! columns {
        ($($name:literal: $value:expr,)*) => {
            $(dict.set_item($name, answers.iter().map($value).collect::<Vec<_>>())?;)*
        };
    }
    columns! {
        "request": |one| one.number,
        "library": |one| library_name(logged, one.library),
        "cartridge": |one| one.cartridge,
        "drive": |one| one.drive,
        "priority": |one| u64::from(one.priority),
        "arrived_s": |one| one.arrived.as_secs_f64(),
        "response_s": |one| one.response.as_secs_f64(),
    }
    for part in Part::ALL {
        let name = format!("{}_s", part.name().replace(' ', "_"));
        let values: Vec<f64> = answers
            .iter()
            .map(|one| one.parts[part].as_secs_f64())
            .collect();
        dict.set_item(name, values)?;
    }
    let causes: Vec<String> = (0..answers.len())
        .map(|number| logged.run.cause(number).to_string())
        .collect();
    dict.set_item("cause", causes)?;
    Ok(dict)
}

/// One row for each thing that a drive or robot did.
fn actions<'py>(py: Python<'py>, logged: &Logged) -> PyResult<Bound<'py, PyDict>> {
    let mut log = logged.log.clone();
    log.sort_by_key(|record| record.at);
    let dict = PyDict::new(py);
    macro_rules! columns {
        ($($name:literal: $value:expr,)*) => {
            $(dict.set_item($name, log.iter().map($value).collect::<Vec<_>>())?;)*
        };
    }
    columns! {
        "action": |one| format!("{:?}", one.action).to_lowercase(),
        "library": |one| library_name(logged, one.library),
        "drive": |one| one.robot.is_none().then_some(one.drive),
        "robot": |one| one.robot,
        "cartridge": |one| one.cartridge,
        "begin_s": |one| one.at.as_secs_f64(),
        "duration_s": |one| one.took.as_secs_f64(),
        "read_bytes": |one| one.bytes,
    }
    Ok(dict)
}

/// Finds how many drives and robots, and which batch window, meet a target: the document that `capacity --json`
/// prints.
#[pyfunction]
pub fn size_library(
    py: Python<'_>,
    scenario: ScenarioArguments,
    target: &str,
    drives: Vec<u32>,
    robots: Vec<u32>,
    windows_s: Vec<f64>,
    threads: Option<NonZeroUsize>,
) -> PyResult<String> {
    let scenario = scenario.scenario(py)?;
    let target: Target = target.parse().map_err(input_error)?;
    let choices = Choices {
        drives,
        robots,
        windows_s,
    };
    let threads = threads.map(NonZeroUsize::get);
    let found = attended(py, move |_| {
        on_threads(threads, || {
            let found = capacity::capacity(&scenario, target, &choices, find, &mut |_, _| ());
            let found = found.map_err(|error| error.to_string())?;
            Ok(document::capacity(&found).to_string())
        })?
    })?;
    found.map_err(|error: String| SimulationError::new_err(error))
}
