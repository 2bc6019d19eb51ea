//! What it takes to meet a target: the answer is that of trying every number of drives.

use tapewise_model::profile;
use tapewise_sim::capacity::{CapacityError, Choices, Forecast, Meets, Obstacle, capacity};
use tapewise_sim::{Outcome, Scenario, document, simulate};

const SMALL: &str = r#"
name = "small"
requests = 200
replications = 4
arrivals = { pattern = "poisson", per_hour = 60 }
[[library]]
name = "small"
robot = { get_s = 5, put_s = 5 }
drive = [{ count = 2, load_s = 10, search_s = 30, rewind_s = 20, unload_s = 10 }]
cartridge = [{ count = 200 }]
"#;

fn scenario() -> Scenario {
    Scenario::from_toml(SMALL).expect("a scenario")
}

fn drives(most: u32) -> Choices {
    Choices {
        drives: (1..=most).collect(),
        ..Choices::default()
    }
}

#[test]
fn the_answer_is_the_fewest_drives_whose_interval_is_below_the_target() {
    let target = "mean < 90 s".parse().expect("a target");
    let found = capacity(
        &scenario(),
        target,
        &drives(6),
        profile::find,
        &mut |_, _| (),
    );
    let found = found.expect("a capacity");
    let fewest = (1..=6).find(|&drives| {
        let mut tried = scenario();
        tried.libraries[0].drives[0].count = drives;
        match simulate(&tried, profile::find, &mut |_| ()).expect("simulated") {
            Outcome::Steady(simulated) => simulated.results.mean_s.high() <= 90.0,
            Outcome::Unstable(_) => false,
        }
    });
    assert!(fewest.is_some_and(|fewest| fewest > 1));
    assert_eq!(found.answer().map(|answer| answer.drives), fewest);
    assert_eq!(found.combinations().count(), 6);
    assert!(found.remarks().is_empty());
    let document = document::capacity(&found);
    assert_eq!(document["answer"]["drives"].as_u64(), fewest.map(u64::from));
}

#[test]
fn a_target_that_work_alone_takes_too_long_for_names_what_takes_longest() {
    let target = "mean < 20 s".parse().expect("a target");
    let found = capacity(
        &scenario(),
        target,
        &drives(6),
        profile::find,
        &mut |_, _| (),
    );
    let found = found.expect("a capacity");
    assert!(found.answer().is_none());
    let remarks = found.remarks();
    let [remark] = &remarks[..] else {
        panic!("{remarks:?}");
    };
    let Obstacle::Work {
        left_s,
        mean_s,
        longest,
    } = &remark.obstacle
    else {
        panic!("{remark}");
    };
    assert!(20.0 < *left_s && left_s <= mean_s);
    assert!(longest.len() <= 3 && longest.is_sorted_by(|a, b| a.s.estimate >= b.s.estimate));
    let meets = found.combinations().filter_map(|one| one.meets(&target));
    let meets: Vec<Meets> = meets.collect();
    assert!(!meets.is_empty() && meets.iter().all(|meets| *meets == Meets::No));
}

#[test]
fn a_rate_needs_arrivals_that_have_one() {
    let (was, is) = (
        "pattern = \"poisson\", per_hour = 60",
        "pattern = \"closed\", users = 3, think_s = 60",
    );
    let closed = Scenario::from_toml(&SMALL.replace(was, is)).expect("a scenario");
    let target = "mean < 90 s at 100/h".parse().expect("a target");
    let found = capacity(&closed, target, &drives(2), profile::find, &mut |_, _| ());
    assert!(matches!(found, Err(CapacityError::NoRate)), "{found:?}");
}

/// A queue that grows looks short if few requests are simulated.
#[test]
fn a_load_that_is_unstable_by_formula_is_unsure_until_replications_settle() {
    let found = |requests: u32, cartridges: u32, per_hour: u32| {
        let text = SMALL
            .replace("requests = 200", &format!("requests = {requests}"))
            .replace("count = 200", &format!("count = {cartridges}"))
            .replace("per_hour = 60", &format!("per_hour = {per_hour}"));
        let scenario = Scenario::from_toml(&text).expect("a scenario");
        let target = "mean < 100 h".parse().expect("a target");
        capacity(&scenario, target, &drives(2), profile::find, &mut |_, _| ()).expect("found")
    };
    let short = found(200, 200, 100);
    let unsure = &short.rows[0][1];
    assert!(matches!(unsure.formula, Forecast::Unstable { .. }));
    assert_eq!(unsure.meets(&short.target), Some(Meets::Unsure));
    assert!(short.answer().is_none());
    let remarks = short.remarks();
    assert!(
        matches!(remarks[0].obstacle, Obstacle::NotSettled),
        "{remarks:?}"
    );
    // Requests for one cartridge share its mount, which no formula knows: this queue comes to rest.
    let settled = found(5000, 5, 90);
    assert!(matches!(
        settled.rows[0][1].formula,
        Forecast::Unstable { .. }
    ));
    assert!(settled.answer().is_some(), "{:?}", settled.remarks());
}

/// Chance leaves some replications unsettled of a queue that does not grow. If one of thirty were enough to be unsure, the
/// answer would be more drives than are needed.
#[test]
fn a_few_replications_that_have_not_settled_do_not_cost_a_drive() {
    let text = SMALL
        .replace("replications = 4", "replications = 30")
        .replace("count = 200", "count = 5")
        .replace("per_hour = 60", "per_hour = 90");
    let scenario = Scenario::from_toml(&text).expect("a scenario");
    let target = "mean < 200 s".parse().expect("a target");
    let found = capacity(&scenario, target, &drives(5), profile::find, &mut |_, _| ());
    let found = found.expect("a capacity");
    let answer = found.answer().expect("an answer");
    let unsettled = answer.steady().expect("steady").results.unsettled;
    assert!(matches!(answer.formula, Forecast::Unstable { .. }));
    assert!((1..15).contains(&unsettled), "{unsettled}");
    let fewer = &found.rows[0][answer.drives as usize - 2];
    assert_eq!(fewer.meets(&target), Some(Meets::No));
}
