//! The library beside what SimPy and Ciw found (`bench/simulation.py`), by our own statistics.

use serde_json::Value;
use tapewise_sim::Scenario;
use tapewise_sim::library::Site;
use tapewise_sim::statistics::{Histogram, Interval, Moments};

const WARM_UP: usize = 2_000;

fn cases(name: &str) -> Vec<Value> {
    let document: Value =
        serde_json::from_str(&tapewise_house::text("simulation/outside.json")).expect("JSON");
    let cases = document["cases"].as_array().expect("cases").iter();
    cases.filter(|case| case["case"] == name).cloned().collect()
}

/// A scenario of one library whose robot, drives and places are as given.
fn site(per_hour: f64, robot: &str, drive: &str) -> Site {
    let text = format!(
        r#"
        name = "outside"
        requests = 22000
        arrivals = {{ pattern = "poisson", per_hour = {per_hour} }}
        request = {{ cartridges = {{ pick = "in-turn" }} }}
        policy = {{ most_per_mount = 1, affinity = false, dismount = "at-once" }}
        [[library]]
        name = "library"
        robot = {{ {robot} }}
        drive = [{{ {drive} }}]
        cartridge = [{{ count = 5000 }}]
        "#
    );
    let scenario = Scenario::from_toml(&text).expect("a scenario");
    Site::new(&scenario, tapewise_model::profile::find).expect("a site")
}

/// Means and 95th percentiles of the responses of twenty replications, in seconds.
fn responses(site: &Site) -> (Interval, Interval) {
    let (means, tails): (Vec<f64>, Vec<f64>) = (0..20)
        .map(|replication| {
            let run = site.run(replication).expect("a run");
            let (mut moments, mut histogram) = (Moments::default(), Histogram::default());
            for answer in &run.answers[WARM_UP..] {
                moments.push(answer.response).expect("a time");
                histogram.push(answer.response).expect("a time");
            }
            let p95 = histogram.quantile(0.95).expect("a share").expect("times");
            (moments.mean_s().expect("times"), p95.as_secs_f64())
        })
        .unzip();
    let interval = |values: &[f64]| Interval::of_mean(values, 0.95).expect("an interval");
    (interval(&means), interval(&tails))
}

/// Twice the half-width of the difference: one time in ten thousand by chance.
fn assert_same(case: &Value, metric: &str, ours: Interval) {
    let number = |what: &str| case[metric][what].as_f64().expect("a number");
    let (theirs, half_width) = (number("estimate"), number("half_width"));
    let margin = 2.0 * ours.half_width.hypot(half_width);
    assert!(
        (ours.estimate - theirs).abs() < margin,
        "{} finds {metric} {theirs} ± {half_width}, we find {ours:?}",
        case["simulator"]
    );
    assert!(margin < 0.15 * theirs, "too wide to say anything: {margin}");
}

#[test]
fn four_exponential_servers_respond_as_in_simpy_and_in_ciw() {
    let robot = "get_s = 0, put_s = 0";
    let drive =
        "count = 4, load_s = 0, unload_s = 0, search_s = { mean = 4, cv = 1 }, rewind_s = 0";
    let (mean, p95) = responses(&site(2880.0, robot, drive));
    let cases = cases("mm4");
    assert_eq!(cases.len(), 2);
    for case in &cases {
        assert_same(case, "mean_response_s", mean);
        assert_same(case, "p95_response_s", p95);
    }
}

#[test]
fn drives_held_while_they_wait_for_the_robot_respond_as_in_simpy() {
    let robot = "get_s = 5, put_s = 5";
    let drive = "count = 4, load_s = 11, unload_s = 6, search_s = { near = 1, far = 25 }, \
                 rewind_s = { near = 0, far = 26 }";
    let (mean, p95) = responses(&site(150.0, robot, drive));
    let cases = cases("library");
    assert_eq!(cases.len(), 1);
    assert_same(&cases[0], "mean_response_s", mean);
    assert_same(&cases[0], "p95_response_s", p95);
}
