//! The same as JSON: docs/reference/simulation-json.md is the contract.

use super::grid::{Cell, Found, Guess};
use super::report::remarks;
use crate::commands::simulate::answer::Outcome;
use crate::commands::simulate::document::interval;
use serde_json::{Value, json};

pub fn document(found: &Found) -> Value {
    let target = &found.target;
    // They are the same in all combinations.
    let scenario = found.cells().next().map(|cell| &cell.scenario);
    json!({
        "tapewise_capacity": 1,
        "case": scenario.map(|scenario| &scenario.name),
        "seed": scenario.map(|scenario| scenario.seed),
        "requests_per_replication": scenario.map(|scenario| scenario.requests),
        "target": {
            "metric": target.metric.to_string(),
            "limit_s": target.limit_s,
            "per_hour": target.per_hour,
        },
        "combinations": found.cells().map(|cell| combination(found, cell)).collect::<Vec<_>>(),
        "answer": found.answer().map(named),
        "missed_because": remarks(found),
    })
}

fn named(cell: &Cell) -> Value {
    json!({ "drives": cell.drives, "robots": cell.robots, "window_s": cell.window_s })
}

fn combination(found: &Found, cell: &Cell) -> Value {
    let formula = match &cell.formula {
        Guess::Expected(expected) => json!(expected),
        Guess::Unstable { why, .. } => json!({ "unstable": why }),
        Guess::None(why) => json!({ "none": why }),
    };
    let simulated = match &cell.simulated {
        None => Value::Null,
        Some(Outcome::Unstable(why)) => json!({ "unstable": why }),
        Some(Outcome::Steady(simulated)) => {
            let library = &simulated.results.libraries[0];
            json!({
                "replications": simulated.results.replications,
                "warm_up_cut": simulated.results.mean_cut,
                "unsettled": simulated.results.unsettled,
                "mean_s": interval(&simulated.results.mean_s),
                "target_s": cell.metric(found.target.metric).as_ref().map(interval),
                "drives_held": interval(&library.drives),
                "robots_at_work": interval(&library.robots),
            })
        }
    };
    let mut value = named(cell);
    if let Some(object) = value.as_object_mut() {
        object.insert("formula".to_owned(), formula);
        object.insert("simulated".to_owned(), simulated);
        let meets = cell.meets(&found.target).map(|meets| meets.word());
        object.insert("target".to_owned(), json!(meets));
    }
    value
}
