//! A library under load: the page's replications, one round after the other, are those of the command line.

use serde_json::{Value, json};
use tapewise::model::profile;
use tapewise_sim::{Scenario, Simulation, document, simulate};
use tapewise_web::desk::Desk;

const SCENARIO: &str = r#"
    name = "small"
    requests = 200
    replications = 5
    arrivals = { pattern = "poisson", per_hour = 30 }
    policy = { most_per_mount = 1 }
    [[library]]
    name = "one"
    robot = { get_s = 10, put_s = 10 }
    drive = [{ count = 2, profile = "lto9" }]
    cartridge = [{ count = 100 }]
"#;

fn ask(desk: &mut Desk, question: &Value) -> Value {
    let none = |_| -> tapewise_web::desk::Reader { Box::new(std::io::empty()) };
    let answer = desk.answer(question.to_string().as_bytes(), &none);
    serde_json::from_slice(&answer).expect("JSON")
}

fn response(desk: &mut Desk, replications: u64, change: &Value) -> Value {
    let mut setup = json!({"text": SCENARIO});
    if let (Some(setup), Some(change)) = (setup.as_object_mut(), change.as_object()) {
        setup.extend(change.clone());
    }
    let wish = json!({"percent": 95, "limit_s": 600.0});
    let question =
        json!({"ask": "response", "setup": setup, "replications": replications, "wish": wish});
    ask(desk, &question)
}

#[test]
fn replications_made_in_rounds_are_those_of_a_simulation() {
    let mut desk = Desk::default();
    for replications in [2, 3, 5] {
        let found = response(
            &mut desk,
            replications,
            &json!({"drives": 3, "robots": 2, "per_hour": 40.0}),
        );
        assert_eq!(
            found["simulation"]["replications"],
            json!(replications),
            "{found}"
        );
    }
    let found = response(
        &mut desk,
        5,
        &json!({"drives": 3, "robots": 2, "per_hour": 40.0}),
    );
    let text = SCENARIO
        .replace("count = 2", "count = 3")
        .replace("per_hour = 30", "per_hour = 40");
    let mut scenario = Scenario::from_toml(&text).expect("a scenario");
    scenario.libraries[0].robot.count = 2;
    let outcome = simulate(&scenario, profile::find, &mut |_| ()).expect("simulated");
    let simulation = Simulation { scenario, outcome };
    // Both as they are read from JSON, which may change the last digit of a number.
    let theirs = document::simulations(&[simulation])["cases"][0].to_string();
    let theirs: Value = serde_json::from_str(&theirs).expect("JSON");
    assert_eq!(found["simulation"], theirs);
    assert_eq!(found["meets"], "met");
}

#[test]
fn more_load_than_can_be_served_is_an_answer_and_a_setting_that_cannot_be_is_an_error() {
    let mut desk = Desk::default();
    let found = response(&mut desk, 2, &json!({"per_hour": 5000.0}));
    assert_eq!(found["simulation"]["stable"], json!(false), "{found}");
    assert_eq!(found["meets"], "missed");
    for change in [
        json!({"drives": 0}),
        json!({"per_hour": -1.0}),
        json!({"mount": "whichever"}),
        json!({"case": "another"}),
        json!({"text": "name = 1"}),
    ] {
        assert_eq!(response(&mut desk, 2, &change)["is"], "error", "{change}");
    }
}

#[test]
fn every_scenario_that_comes_with_tapewise_can_be_begun_with() {
    let mut desk = Desk::default();
    let found = ask(&mut desk, &json!({"ask": "scenarios"}));
    let scenarios = found["scenarios"].as_array().expect("a list");
    assert!(scenarios.len() >= 6, "{}", scenarios.len());
    for scenario in scenarios {
        let cases = ask(
            &mut desk,
            &json!({"ask": "cases", "text": scenario["text"]}),
        );
        let cases = cases["cases"].as_array().expect("a list");
        assert!(!cases.is_empty(), "{scenario}");
    }
}

#[test]
fn the_timeline_is_a_picture_of_the_slowest_response() {
    let mut desk = Desk::default();
    let question = json!({"ask": "timeline", "setup": {"text": SCENARIO}, "replication": 1});
    let picture = ask(&mut desk, &question);
    let svg = picture["svg"].as_str().expect("SVG");
    assert!(svg.starts_with("<svg ") && svg.contains("around the slowest response"));
}
