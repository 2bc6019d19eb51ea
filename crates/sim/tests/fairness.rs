//! No request waits for longer than docs/method/next-mount.md derives, whatever the others ask for.

use tapewise_model::profile;
use tapewise_sim::Scenario;
use tapewise_sim::library::{Answer, Run, Site};

const OVERDUE_S: i64 = 1800;
const MOST_PER_MOUNT: i64 = 8;
/// Robot and load; rewind, unload and robot; the longest search and read.
const BEFORE_S: i64 = 10 + 15;
const AFTER_S: i64 = 10 + 15 + 10;
const READ_S: i64 = 10 + 90;

fn run(policy: &str, drives: i64, seed: u64) -> Run {
    let text = format!(
        r#"
        name = "crowded"
        seed = {seed}
        requests = 1500
        arrivals = {{ pattern = "bursts", per_hour = {}, a_day = 40, size = 60, burst_per_hour = 20000 }}
        request = {{ cartridges = {{ pick = "clustered", run = 2 }}, size_mb = {{ values = [10, 10, 10, 10, 9000] }} }}
        policy = {{ mount = "{policy}", dismount = "when-needed", most_per_mount = {MOST_PER_MOUNT}, rules = {{ overdue_s = {OVERDUE_S} }} }}
        [[library]]
        name = "library"
        robot = {{ count = {drives}, get_s = 10, put_s = 10 }}
        cartridge = [{{ count = 60 }}]
        drive = [{{ count = {drives}, load_s = 15, unload_s = 15, search_s = 10, rewind_s = 10, rate_mb_s = 100 }}]
        "#,
        20 * drives
    );
    let scenario = Scenario::from_toml(&text).expect("a scenario");
    let site = Site::new(&scenario, profile::find).expect("a site");
    site.run(0).expect("a run")
}

/// By how much the response is above what is promised, in microseconds.
fn beyond(answers: &[Answer], number: usize, drives: i64) -> i64 {
    let one = &answers[number];
    let overdue = one.arrived.0 + OVERDUE_S * 1_000_000;
    let still_waits = |other: &&Answer| other.arrived.0 + other.response.0 > overdue;
    let older = answers[..number].iter().filter(still_waits).count() as i64;
    let mount_s = 2 * AFTER_S + BEFORE_S + MOST_PER_MOUNT * READ_S;
    let promised_s = OVERDUE_S + 3 * mount_s + older * mount_s / drives;
    one.response.0 - promised_s * 1_000_000
}

#[test]
fn no_request_waits_for_longer_than_promised() {
    let (mut cuts, mut overdue) = (0, 0);
    for seed in 1..=8 {
        let drives = 1 + seed as i64 % 3;
        let run = run("ahead", drives, seed);
        cuts += run.usage[0].cuts;
        for number in 0..run.answers.len() {
            let beyond = beyond(&run.answers, number, drives);
            assert!(
                beyond <= 0,
                "seed {seed}, request {number}: {beyond} us too late"
            );
            overdue += u64::from(run.answers[number].response.0 > OVERDUE_S * 1_000_000);
        }
    }
    assert!(
        cuts > 0 && overdue > 0,
        "nothing was put to the test: {cuts} cuts, {overdue} overdue"
    );
}

#[test]
fn most_requests_first_would_break_the_promise() {
    let broken = (1..=8).any(|seed| {
        let drives = 1 + seed as i64 % 3;
        let run = run("most-requests", drives, seed);
        (0..run.answers.len()).any(|number| beyond(&run.answers, number, drives) > 0)
    });
    assert!(broken);
}
