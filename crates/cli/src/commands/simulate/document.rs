//! The same as JSON: docs/reference/simulation-json.md is the contract.

use super::answer::{Answer, Outcome, Simulated};
use super::trace::column;
use serde_json::{Map, Value, json};
use tapewise_sim::LibraryUse;
use tapewise_sim::library::{Part, Parts, Slow};
use tapewise_sim::statistics::Interval;

pub fn document(answers: &[Answer]) -> Value {
    let cases: Vec<Value> = answers.iter().map(case).collect();
    json!({ "tapewise_simulation": 1, "cases": cases })
}

fn case(answer: &Answer) -> Value {
    let scenario = &answer.scenario;
    let mut value = json!({
        "case": scenario.name,
        "seed": scenario.seed,
        "requests_per_replication": scenario.requests,
    });
    let rest = match &answer.outcome {
        Outcome::Steady(simulated) => steady(simulated),
        Outcome::Unstable(why) => json!({ "stable": false, "why": why }),
    };
    if let (Some(value), Value::Object(rest)) = (value.as_object_mut(), rest) {
        value.extend(rest);
    }
    value
}

/// An estimate with the ends of its interval.
pub fn interval(interval: &Interval) -> Value {
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
        "no_formula": simulated.formula.as_ref().err(),
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
