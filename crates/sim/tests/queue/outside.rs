//! Formulas beside what SimPy and Ciw found (`bench/simulation.py`).

use serde_json::Value;
use tapewise_sim::queue::Load;
use tapewise_sim::queue::exponential::Exponential;
use tapewise_sim::queue::nested::{Nested, RobotArrivals};

fn cases(name: &str) -> Vec<Value> {
    let text = tapewise_house::text("simulation/outside.json");
    let document: Value = serde_json::from_str(&text).unwrap();
    let cases = document["cases"].as_array().unwrap().iter();
    cases.filter(|case| case["case"] == name).cloned().collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// Their intervals are at 95 %; half as wide again, six of them hold together 98 times in a hundred.
fn assert_inside(case: &Value, metric: &str, found: f64) {
    let (estimate, half_width) = (&case[metric]["estimate"], &case[metric]["half_width"]);
    assert!(
        (found - number(estimate)).abs() < 1.5 * number(half_width),
        "{}: {metric} is {estimate} ± {half_width}, ours {found}",
        case["simulator"]
    );
}

#[test]
fn simpy_and_ciw_find_the_waits_and_responses_of_four_exponential_servers() {
    let cases = cases("mm4");
    assert_eq!(cases.len(), 2);
    for case in &cases {
        let given = |name: &str| number(&case["parameters"][name]);
        let servers = given("servers") as u32;
        let load = Load::new(given("arrivals_per_s"), given("service_s"), servers).unwrap();
        let solved = Exponential::new(load);
        assert_inside(case, "mean_wait_s", solved.mean_wait_s());
        assert_inside(case, "mean_response_s", solved.mean_response_s());
        let p95_s = solved.response_quantile_s(0.95).unwrap();
        assert_inside(case, "p95_response_s", p95_s);
    }
}

/// An approximation, beside a case that it was not made on: get and put are visits of their own.
#[test]
fn simpys_library_waits_as_the_view_from_the_drives_says() {
    for case in cases("library") {
        let given = |name: &str| number(&case["parameters"][name]);
        let search_s = (given("search_least_s") + given("search_most_s")) / 2.0;
        let way_s = given("search_most_s") - given("search_least_s") + given("rewind_most_s");
        let loads_s = given("drive_load_s") + given("drive_unload_s");
        let steady = Nested {
            arrivals_per_s: given("arrivals_per_s"),
            drives: given("drives") as u32,
            drive_s: loads_s + search_s + given("rewind_most_s") / 2.0,
            drive_variance_s2: way_s * way_s / 12.0,
            robots: given("robots") as u32,
            visits: 2,
            robot_s: given("robot_get_s"),
            robot_scv: 0.0,
            robot_arrivals: RobotArrivals::FromDrives,
        }
        .solve()
        .unwrap();
        let unhindered_s = given("robot_get_s") + given("drive_load_s") + search_s;
        let response_s = steady.drive_wait_s + steady.robot_wait_s + unhindered_s;
        let theirs_s = number(&case["mean_response_s"]["estimate"]);
        assert!(
            (response_s / theirs_s - 1.0).abs() < 0.03,
            "{response_s} {theirs_s}"
        );
        let theirs_s = number(&case["mean_wait_s"]["estimate"]);
        assert!(
            (steady.drive_wait_s / theirs_s - 1.0).abs() < 0.1,
            "{steady:?} {theirs_s}"
        );
    }
}
