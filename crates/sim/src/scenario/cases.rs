//! Cases: one file, several scenarios that differ in a few values.

use super::{Scenario, ScenarioError};
use toml::{Table, Value};

/// Every case of a text laid over what they have in common.
pub(super) fn cases(text: &str) -> Result<Vec<Scenario>, ScenarioError> {
    let refuse = |place: &str, error: toml::de::Error| ScenarioError::Toml {
        place: place.to_owned(),
        message: error.to_string().trim().to_owned(),
    };
    let mut common: Table = toml::from_str(text).map_err(|error| refuse("", error))?;
    let Some(cases) = common.remove("case") else {
        // From the text, so that a message shows the line.
        let scenario: Scenario = toml::from_str(text).map_err(|error| refuse("", error))?;
        return Ok(vec![one_by_one(scenario)?]);
    };
    let cases: Vec<Table> = cases
        .try_into()
        .map_err(|error| refuse("[[case]]: ", error))?;
    let mut scenarios: Vec<Scenario> = Vec::new();
    for (number, case) in cases.into_iter().enumerate() {
        let place = match case.get("name") {
            Some(Value::String(name)) => format!("case {name}: "),
            _ => {
                return Err(ScenarioError::Toml {
                    place: format!("case {}: ", number + 1),
                    message: "it needs a `name` of its own".to_owned(),
                });
            }
        };
        let mut whole = Value::Table(common.clone());
        lay_over(&mut whole, Value::Table(case));
        let scenario: Scenario = whole.try_into().map_err(|error| refuse(&place, error))?;
        let scenario = one_by_one(scenario)?;
        if scenarios.iter().any(|other| other.name == scenario.name) {
            return Err(ScenarioError::Toml {
                place,
                message: "there is another case of this name".to_owned(),
            });
        }
        scenarios.push(scenario);
    }
    Ok(scenarios)
}

/// The same scenario with each of several like libraries on its own.
fn one_by_one(scenario: Scenario) -> Result<Scenario, ScenarioError> {
    scenario.check()?;
    let mut libraries = Vec::new();
    for library in &scenario.libraries {
        for number in 1..=library.count {
            let mut one = library.clone();
            if library.count > 1 {
                one.name = format!("{} {number}", library.name);
            }
            one.share /= f64::from(library.count);
            one.count = 1;
            libraries.push(one);
        }
    }
    let scenario = Scenario {
        libraries,
        ..scenario
    };
    scenario.check()?;
    Ok(scenario)
}

/// Keys that say which other keys a table has.
const KINDS: [&str; 2] = ["pattern", "pick"];

/// Tables of one kind are laid over key by key, and lists of tables one by one where the new one is
/// no longer and not empty; anything else is replaced.
fn lay_over(below: &mut Value, above: Value) {
    let kind = |value: &Value, key: &str| value.get(key).cloned();
    let another = |key: &&str| kind(&above, key).is_some_and(|new| kind(below, key) != Some(new));
    if KINDS.iter().any(another) {
        *below = above;
        return;
    }
    match (below, above) {
        (Value::Table(below), Value::Table(above)) => {
            for (key, value) in above {
                match below.get_mut(&key) {
                    Some(old) => lay_over(old, value),
                    None => {
                        below.insert(key, value);
                    }
                }
            }
        }
        (Value::Array(below), Value::Array(above))
            if (1..=below.len()).contains(&above.len())
                && below.iter().chain(&above).all(Value::is_table) =>
        {
            for (old, value) in below.iter_mut().zip(above) {
                lay_over(old, value);
            }
        }
        (below, above) => *below = above,
    }
}
