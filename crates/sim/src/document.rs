//! Results as JSON: docs/reference/simulation-json.md is the contract.

use crate::capacity::{Capacity, Combination, Forecast};
use crate::library::{Part, Parts, Slow};
use crate::logged::column;
use crate::results::LibraryUse;
use crate::simulate::{Outcome, Simulated, Simulation};
use crate::statistics::Interval;
use serde_json::{Map, Value, json};

/// Scenarios and what came of them.
pub fn simulations(simulations: &[Simulation]) -> Value {
    let cases: Vec<Value> = simulations.iter().map(case).collect();
    json!({ "cases": cases })
}

fn case(simulation: &Simulation) -> Value {
    let scenario = &simulation.scenario;
    let mut value = json!({
        "case": scenario.name,
        "seed": scenario.seed,
        "requests_per_replication": scenario.requests,
    });
    let rest = match &simulation.outcome {
        Outcome::Steady(simulated) => steady(simulated),
        Outcome::Unstable(why) => json!({ "stable": false, "why": why.to_string() }),
    };
    if let (Some(value), Value::Object(rest)) = (value.as_object_mut(), rest) {
        value.extend(rest);
    }
    value
}

/// An estimate with the ends of its interval.
fn interval(interval: &Interval) -> Value {
    json!({
        "estimate": interval.estimate,
        "low": interval.low(),
        "high": interval.high(),
    })
}

fn steady(simulated: &Simulated) -> Value {
    let results = &simulated.results;
    let percentiles = results.percentiles.iter();
    let percentiles: Map<String, Value> = percentiles
        .map(|at| (format!("p{}_s", at.percent), interval(&at.s)))
        .collect();
    let parts = results.parts.iter();
    let parts: Map<String, Value> = parts
        .map(|part| (format!("{}_s", column(part.part)), interval(&part.s)))
        .collect();
    json!({
        "stable": true,
        "replications": results.replications,
        "requests": results.requests,
        "warm_up_cut": results.mean_cut,
        "unsettled": results.unsettled,
        "mean_s": interval(&results.mean_s),
        "variance_s2": interval(&results.variance_s2),
        "percentiles": percentiles,
        "parts": parts,
        "answers_per_hour": interval(&simulated.per_hour),
        "requests_inside": interval(&simulated.inside),
        "requests_waiting_for_a_drive": interval(&simulated.waiting),
        "libraries": results.libraries.iter().map(library).collect::<Vec<_>>(),
        "formula": simulated.formula.as_ref().ok(),
        "no_formula": simulated.formula.as_ref().err().map(ToString::to_string),
        "slowest": results.slowest.iter().map(slow).collect::<Vec<_>>(),
    })
}

fn library(library: &LibraryUse) -> Value {
    json!({
        "name": library.name,
        "drives_held": interval(&library.drives),
        "drives_at_work": interval(&library.drives_at_work),
        "robots_at_work": interval(&library.robots),
        "mounts_per_hour": interval(&library.mounts_per_hour),
        "reads_per_mount": interval(&library.reads_per_mount),
        "cleanings": library.cleanings,
        "failures": library.failures,
    })
}

fn slow(slow: &Slow) -> Value {
    json!({
        "replication": slow.replication,
        "request": slow.number,
        "library": slow.library,
        "arrived_s": slow.arrived.as_secs_f64(),
        "response_s": slow.response.as_secs_f64(),
        "parts": split(&slow.parts),
        "cause": slow.cause.to_string(),
    })
}

fn split(parts: &Parts) -> Value {
    let there = Part::ALL.into_iter().filter(|&part| parts[part].0 > 0);
    let there: Map<String, Value> = there
        .map(|part| {
            (
                format!("{}_s", column(part)),
                parts[part].as_secs_f64().into(),
            )
        })
        .collect();
    Value::Object(there)
}

/// What it takes to meet a target.
pub fn capacity(found: &Capacity) -> Value {
    let target = &found.target;
    // They are the same in all combinations.
    let scenario = found.combinations().next().map(|one| &one.scenario);
    json!({
        "case": scenario.map(|scenario| &scenario.name),
        "seed": scenario.map(|scenario| scenario.seed),
        "requests_per_replication": scenario.map(|scenario| scenario.requests),
        "target": {
            "metric": target.metric.to_string(),
            "limit_s": target.limit_s,
            "per_hour": target.per_hour,
        },
        "combinations": found.combinations().map(|one| combination(found, one)).collect::<Vec<_>>(),
        "answer": found.answer().map(named),
        "missed_because": found.remarks().iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn named(one: &Combination) -> Value {
    json!({ "drives": one.drives, "robots": one.robots, "window_s": one.window_s })
}

fn combination(found: &Capacity, one: &Combination) -> Value {
    let formula = match &one.formula {
        Forecast::Expected(expected) => json!(expected),
        Forecast::Unstable { why, .. } => json!({ "unstable": why }),
        Forecast::None(why) => json!({ "none": why.to_string() }),
    };
    let simulated = match &one.simulated {
        None => Value::Null,
        Some(Outcome::Unstable(why)) => json!({ "unstable": why.to_string() }),
        Some(Outcome::Steady(simulated)) => {
            let library = &simulated.results.libraries[0];
            json!({
                "replications": simulated.results.replications,
                "warm_up_cut": simulated.results.mean_cut,
                "unsettled": simulated.results.unsettled,
                "mean_s": interval(&simulated.results.mean_s),
                "target_s": one.metric(found.target.metric).as_ref().map(interval),
                "drives_held": interval(&library.drives),
                "robots_at_work": interval(&library.robots),
            })
        }
    };
    let mut value = named(one);
    if let Some(object) = value.as_object_mut() {
        object.insert("formula".to_owned(), formula);
        object.insert("simulated".to_owned(), simulated);
        let meets = one.meets(&found.target).map(|meets| meets.word());
        object.insert("target".to_owned(), json!(meets));
    }
    value
}
