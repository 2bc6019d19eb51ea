//! No request waits for longer than docs/method/next-mount.md derives, whatever the others ask for.

use tapewise_model::{Random, profile};
use tapewise_sim::Scenario;
use tapewise_sim::library::{Answer, Run, Site};
use tapewise_sim::mounts::{MountSettings, Owner};
use tapewise_sim::scenario::{Arrivals, Listed};

const OVERDUE_S: i64 = 1800;
const MOST_PER_MOUNT: i64 = 8;
/// Robot and load; rewind, unload and robot; the longest search and read.
const BEFORE_S: i64 = 10 + 15;
const AFTER_S: i64 = 10 + 15 + 10;
const READ_S: i64 = 10 + 90;

/// A crowded library: bursts of 60 among the requests of so many users, each of the bursts asked for by one of them.
fn run(policy: &str, drives: i64, owners: u32, seed: u64) -> Run {
    run_of(&crowded(policy, drives, owners, seed))
}

fn run_of(scenario: &Scenario) -> Run {
    let site = Site::new(scenario, profile::find).expect("a site");
    site.run(0).expect("a run")
}

fn crowded(policy: &str, drives: i64, owners: u32, seed: u64) -> Scenario {
    let text = format!(
        r#"
        name = "crowded"
        seed = {seed}
        requests = 1500
        arrivals = {{ pattern = "bursts", per_hour = {}, a_day = {}, size = {}, burst_per_hour = 20000 }}
        request = {{ owners = {owners}, cartridges = {{ pick = "clustered", run = 2 }}, size_mb = {{ values = [10, 10, 10, 10, 9000] }} }}
        policy = {{ mount = "{policy}", dismount = "when-needed", most_per_mount = {MOST_PER_MOUNT}, rules = {{ overdue_s = {OVERDUE_S} }} }}
        [[library]]
        name = "library"
        robot = {{ count = {drives}, get_s = 10, put_s = 10 }}
        cartridge = [{{ count = 60 }}]
        drive = [{{ count = {drives}, load_s = 15, unload_s = 15, search_s = 10, rewind_s = 10, rate_mb_s = 100 }}]
        "#,
        20 * drives,
        if owners > 1 { 12 } else { 40 },
        if owners > 1 { 600 } else { 60 },
    );
    Scenario::from_toml(&text).expect("a scenario")
}

/// How long a drive is occupied by one mount and by what was in it before, at most.
const MOUNT_S: i64 = 2 * AFTER_S + BEFORE_S + MOST_PER_MOUNT * READ_S;

/// The older requests that are unanswered when a request becomes overdue.
fn older(answers: &[Answer], number: usize) -> impl Iterator<Item = &Answer> {
    let overdue = answers[number].arrived.0 + OVERDUE_S * 1_000_000;
    let older = answers[..number].iter();
    older.filter(move |other| other.arrived.0 + other.response.0 > overdue)
}

/// By how much the response is above what is promised, in microseconds.
fn beyond(answers: &[Answer], number: usize, drives: i64) -> i64 {
    let older = older(answers, number).count() as i64;
    let promised_s = OVERDUE_S + 3 * MOUNT_S + older * MOUNT_S / drives;
    answers[number].response.0 - promised_s * 1_000_000
}

/// The same promise to whoever is not user 0, who asks for the bursts: what user 0 asks counts nothing, and this many
/// drives are left for what others asked before.
fn beyond_whatever_one_asks(answers: &[Answer], number: usize, left: i64) -> i64 {
    let owner = answers[number].owner;
    let of_others = older(answers, number).filter(|other| other.owner != 0);
    let (own, others): (Vec<&Answer>, Vec<&Answer>) =
        of_others.partition(|other| other.owner == owner);
    let waits = own.len() as i64 * MOUNT_S + others.len() as i64 * MOUNT_S / left;
    let promised_s = OVERDUE_S + 3 * MOUNT_S + waits;
    answers[number].response.0 - promised_s * 1_000_000
}

#[test]
fn no_request_waits_for_longer_than_promised() {
    let (mut cuts, mut overdue) = (0, 0);
    for seed in 1..=8 {
        let drives = 1 + seed as i64 % 3;
        let run = run("ahead", drives, 1, seed);
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
fn what_one_user_asks_cannot_make_another_wait_for_longer_than_promised() {
    let (mut overdue, mut crowded) = (0, 0);
    for seed in 1..=8 {
        let drives = 2 + seed as i64 % 3;
        let run = run("ahead", drives, 30, seed);
        for (number, answer) in run.answers.iter().enumerate() {
            if answer.owner == 0 {
                continue;
            }
            let beyond = beyond_whatever_one_asks(&run.answers, number, drives / 2);
            assert!(
                beyond <= 0,
                "seed {seed}, request {number}: {beyond} us too late"
            );
            overdue += u64::from(answer.response.0 > OVERDUE_S * 1_000_000);
            crowded += older(&run.answers, number)
                .filter(|other| other.owner == 0)
                .count();
        }
    }
    assert!(
        overdue > 0 && crowded > 10_000,
        "nothing was put to the test: {overdue} {crowded}"
    );
}

#[test]
fn that_promise_holds_among_activities_and_under_a_limit() {
    let mut overdue = 0;
    for seed in 1..=6 {
        let drives = 3 + seed as i64 % 3;
        let limits = [("", (drives + 1) / 2), ("drives_per_user = 1", 1)];
        for (limit, of_greedy) in limits {
            let mut scenario = crowded("ahead", drives, 30, seed);
            if let Arrivals::Bursts { per_hour, .. } = &mut scenario.arrivals {
                *per_hour *= 2.0;
            }
            scenario.what.names = (0..=30)
                .map(|user| Owner {
                    activity: ["bulk", "production", "analysis"]
                        [if user == 0 { 0 } else { 1 + user % 2 }]
                    .to_owned(),
                    user: user.to_string(),
                })
                .collect();
            let policy =
                format!("overdue_s = {OVERDUE_S}\nmost_per_mount = {MOST_PER_MOUNT}\n{limit}");
            let mounts = MountSettings::from_toml(&policy).expect("a policy");
            assert_eq!(scenario.set_mounts(&mounts), [""; 0]);
            // A third of the drives is due to an activity at least.
            let left = (drives - of_greedy).min((drives + 2) / 3);
            let answers = run_of(&scenario).answers;
            for number in (0..answers.len()).filter(|&number| answers[number].owner != 0) {
                let beyond = beyond_whatever_one_asks(&answers, number, left);
                assert!(
                    beyond <= 0,
                    "seed {seed}, {limit}, request {number}: {beyond} us too late"
                );
                overdue += u64::from(answers[number].response.0 > OVERDUE_S * 1_000_000);
            }
        }
    }
    assert!(overdue > 0, "nothing was put to the test");
}

/// The largest slowdown of whoever is not user 0, beside the one that is promised: by the most requests that all of
/// these have open at once, whatever user 0 asks.
fn slowdown_and_promise(policy: &str, seed: u64) -> (f64, f64) {
    const OVERDUE_S: i64 = 300;
    const MOST_PER_MOUNT: i64 = 2;
    let mut scenario = crowded("ahead", 3, 30, seed);
    let text = format!(
        "policy = \"{policy}\"\noverdue_s = {OVERDUE_S}\nmost_per_mount = {MOST_PER_MOUNT}"
    );
    scenario.set_mounts(&MountSettings::from_toml(&text).expect("a policy"));
    let answers = run_of(&scenario).answers;
    let others: Vec<&Answer> = answers.iter().filter(|answer| answer.owner != 0).collect();
    let open = |one: &Answer| {
        let is_open = |other: &&&Answer| {
            (other.arrived..=other.arrived + other.response).contains(&one.arrived)
        };
        others.iter().filter(is_open).count() as i64
    };
    let most_open = others.iter().map(|one| open(one)).max().expect("others");
    let mount_s = 2 * AFTER_S + BEFORE_S + MOST_PER_MOUNT * READ_S;
    let promised_s = OVERDUE_S + (most_open + 3) * mount_s;
    // Robot, load and search.
    let least_s = (BEFORE_S + 10) as f64;
    let slowdown = |one: &&Answer| one.response.as_secs_f64() / (least_s + one.size_mb / 100.0);
    let largest = others.iter().map(slowdown).fold(0.0, f64::max);
    (largest, promised_s as f64 / least_s)
}

#[test]
fn no_slowdown_is_larger_than_promised_whatever_one_user_asks() {
    for seed in 1..=4 {
        let (largest, promised) = slowdown_and_promise("ahead", seed);
        assert!(
            largest <= promised,
            "seed {seed}: {largest} times, {promised} promised"
        );
        let (oldest, _) = slowdown_and_promise("oldest", seed);
        assert!(
            oldest > promised,
            "seed {seed}: not put to the test by {oldest}"
        );
    }
}

#[test]
fn without_shares_one_user_would_break_that_promise() {
    let broken = (1..=8).any(|seed| {
        let drives = 2 + seed as i64 % 3;
        let run = run("oldest", drives, 30, seed);
        let mut others = (0..run.answers.len()).filter(|&number| run.answers[number].owner != 0);
        others.any(|number| beyond_whatever_one_asks(&run.answers, number, drives / 2) > 0)
    });
    assert!(broken);
}

#[test]
fn most_requests_first_would_break_the_promise() {
    let broken = (1..=8).any(|seed| {
        let drives = 1 + seed as i64 % 3;
        let run = run("most-requests", drives, 1, seed);
        (0..run.answers.len()).any(|number| beyond(&run.answers, number, drives) > 0)
    });
    assert!(broken);
}

#[test]
fn what_one_user_asks_of_a_cartridge_is_read_after_what_another_waits_for() {
    let ask = |at_s: f64, owner, cartridge, size_mb| Listed {
        at_s,
        library: 0,
        cartridge,
        place: 0.5,
        size_mb,
        priority: 0,
        owner,
    };
    let mut list: Vec<Listed> = (0..6).map(|_| ask(0.0, 0, 0, 100.0)).collect();
    // The other drive works for the first user for long, so this one is not due to the first user.
    list.push(ask(0.0, 0, 1, 9000.0));
    // The robot is on its way to the cartridge when the second user asks.
    list.push(ask(1.0, 1, 0, 100.0));
    let mut scenario = crowded("ahead", 2, 1, 1);
    scenario.requests = list.len() as u64;
    scenario.arrivals = Arrivals::Trace { list };
    let answers = run_of(&scenario).answers;
    // Robot and load, less the second that had passed; search; read.
    assert_eq!(answers[7].response.as_secs_f64(), 24.0 + 10.0 + 1.0);
    let mut of_first: Vec<f64> = answers[..6]
        .iter()
        .map(|answer| answer.response.as_secs_f64())
        .collect();
    of_first.sort_by(f64::total_cmp);
    assert_eq!(of_first, [47.0, 58.0, 69.0, 80.0, 91.0, 102.0]);
}

/// What a drive puts back when others go first has waited for the drive to be ready. That time is counted as it was
/// spent, before the request waits for a drive again: a debug assertion looks.
#[test]
fn what_goes_after_others_once_the_drive_is_ready_has_waited_for_that() {
    let text = r#"
        name = "polled"
        requests = 300
        arrivals = { pattern = "closed", users = 15, think_s = { mean = 100, cv = 1 } }
        request = { owners = 5, cartridges = { pick = "zipf", exponent = 1.1 } }
        policy = { mount = "ahead", dismount = "when-needed" }
        [[library]]
        name = "library"
        robot = { get_s = 5, put_s = 5 }
        software = { poll_s = 2 }
        cartridge = [{ count = 30 }]
        drive = [{ count = 2, load_s = 15, unload_s = 15, search_s = { least = 10, most = 60 }, rewind_s = 20 }]
    "#;
    let run = run_of(&Scenario::from_toml(text).expect("a scenario"));
    for answer in &run.answers {
        assert_eq!(answer.parts.total(), answer.response, "{answer:?}");
    }
}

/// One user asks for thousands of files at once, and thirty others for one now and then. With `burst`, or without.
fn greedy(policy: &str, spare: u32, seed: u64, burst: bool) -> Run {
    let mut random = Random::new(seed, 1);
    let mut list: Vec<Listed> = Vec::new();
    let mut ask = |at_s: f64, owner: u32, size_mb: f64, cartridges: u64| {
        list.push(Listed {
            at_s,
            library: 0,
            cartridge: random.below(cartridges) as u32,
            place: 0.5,
            size_mb,
            priority: 0,
            owner,
        });
    };
    for number in 0..300 {
        let owner = 1 + number % 30;
        ask(600.0 + 200.0 * f64::from(number), owner, 1000.0, 400);
    }
    if burst {
        (0..3000).for_each(|_| ask(0.0, 0, 10_000.0, 400));
    }
    list.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    let text = format!(
        r#"
        name = "greedy"
        requests = {}
        arrivals = {{ pattern = "poisson", per_hour = 1 }}
        policy = {{ mount = "{policy}", dismount = "when-needed", most_per_mount = {MOST_PER_MOUNT}, rules = {{ overdue_s = 36000, spare_drives = {spare} }} }}
        [[library]]
        name = "library"
        robot = {{ count = 6, get_s = 10, put_s = 10 }}
        cartridge = [{{ count = 400 }}]
        drive = [{{ count = 6, load_s = 15, unload_s = 15, search_s = 40, rewind_s = 20, rate_mb_s = 400 }}]
        "#,
        list.len()
    );
    let mut scenario = Scenario::from_toml(&text).expect("a scenario");
    scenario.arrivals = Arrivals::Trace { list };
    let site = Site::new(&scenario, profile::find).expect("a site");
    site.run(0).expect("a run")
}

/// The mean response of each of the thirty, in seconds.
fn of_each(run: &Run) -> Vec<f64> {
    let mean = |owner: u32| {
        let theirs = run.answers.iter().filter(|answer| answer.owner == owner);
        let responses: Vec<f64> = theirs.map(|answer| answer.response.as_secs_f64()).collect();
        responses.iter().sum::<f64>() / responses.len() as f64
    };
    (1..=30).map(mean).collect()
}

/// How many times as long as without the burst each of the thirty waits, at most.
fn times_as_long(policy: &str, spare: u32, seed: u64) -> f64 {
    let run = |burst| greedy(policy, spare, seed, burst);
    let (alone, beside) = (run(false), run(true));
    let times = of_each(&alone).into_iter().zip(of_each(&beside));
    times
        .map(|(alone, beside)| beside / alone)
        .fold(0.0, f64::max)
}

#[test]
fn beside_a_greedy_user_each_of_the_others_waits_at_most_twice_as_long_as_alone() {
    for seed in 1..=4 {
        let times = times_as_long("ahead", 2, seed);
        assert!(times <= 2.0, "seed {seed}: {times}");
    }
    let times = times_as_long("most-requests", 1, 1);
    assert!(times > 2.0, "nothing was put to the test: {times}");
}
