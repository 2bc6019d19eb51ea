//! What the rules for owners bring and cost: thirty users beside one who asks for very much, at two libraries, and people
//! beside a night's batch.

use super::cases::{self, Case};
use super::{Failure, factor, figures, with};
use rayon::prelude::*;
use tapewise_model::{Random, profile};
use tapewise_sim::Scenario;
use tapewise_sim::library::{Answer, Run, Site};
use tapewise_sim::mounts::{MountPolicy, MountSettings};
use tapewise_sim::scenario::{Arrivals, Listed};

const USERS: u32 = 30;
/// Files on 60 cartridges, 30 on each.
const FILES: u32 = 1_800;
const CARTRIDGES: u32 = 60;
/// Files that the greedy user asks for at the beginning.
const MANY: usize = 1_500;
/// From one request of the thirty to the next, on average.
const GAP_S: f64 = 50.0;

/// The policies that the thirty are measured under.
const POLICIES: [(&str, &str); 4] = [
    ("`ahead`", ""),
    ("the same, `most_per_mount = 4`", "most_per_mount = 4"),
    (
        "the same, `drives_per_user = 4`",
        "most_per_mount = 4\ndrives_per_user = 4",
    ),
    (
        "the same, `drives_per_user = 2`",
        "most_per_mount = 4\ndrives_per_user = 2",
    ),
];

/// Prints all tables of which the name has this part: `thirty`, `site` and `night`.
pub fn tables(part: &str, seeds: std::ops::RangeInclusive<u64>) -> Result<(), Failure> {
    if "thirty".contains(part) {
        thirty(seeds)?;
    }
    if "site".contains(part) {
        site()?;
    }
    if "night".contains(part) {
        night()?;
    }
    Ok(())
}

/// How many of the thirty wait at most twice as long as without the greedy user.
fn thirty(seeds: std::ops::RangeInclusive<u64>) -> Result<(), Failure> {
    println!(
        "\n| policy | files each | within twice | worst, times | their mean, s | greedy user's mean, s | drive-hours |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for each in [4, 12] {
        for (words, text) in POLICIES {
            let policy = MountSettings::from_toml(text)?;
            let of_seed = |seed| {
                let alone = beside(&policy, each, seed, false)?;
                Ok((alone, beside(&policy, each, seed, true)?))
            };
            let runs = seeds.clone().into_par_iter().map(of_seed);
            let runs = runs.collect::<Result<Vec<(Run, Run)>, Failure>>()?;
            let times = runs.iter().flat_map(|(alone, beside)| {
                let means = (1..=USERS).map(|user| mean_s(beside, user) / mean_s(alone, user));
                means.collect::<Vec<f64>>()
            });
            let times: Vec<f64> = times.collect();
            let count = runs.len() as f64;
            let mean = |of: &dyn Fn(&Run) -> f64| {
                runs.iter().map(|(_, beside)| of(beside)).sum::<f64>() / count
            };
            let theirs = |run: &Run| mean_of(run, |answer| answer.owner > 0);
            println!(
                "| {words} | {each} | {} of {} | {:.1} | {:.0} | {:.0} | {:.1} |",
                times.iter().filter(|times| **times <= 2.0).count(),
                times.len(),
                times.iter().copied().fold(0.0, f64::max),
                mean(&theirs),
                mean(&|run| mean_s(run, 0)),
                mean(&|run| figures::work_s(run) / 3600.0),
            );
        }
    }
    Ok(())
}

/// A library whose thirty users ask for `each` files, one after the other, with or without the greedy user.
fn beside(policy: &MountSettings, each: u32, seed: u64, is_greedy: bool) -> Result<Run, Failure> {
    let mut random = Random::new(seed, 2);
    let mut files: Vec<u32> = (0..FILES).collect();
    random.shuffle(&mut files);
    let mut places = Random::new(seed, 3);
    let places: Vec<f64> = (0..FILES).map(|_| places.unit()).collect();
    let ask = |at_s: f64, owner: u32, file: u32| Listed {
        at_s,
        library: 0,
        cartridge: file % CARTRIDGES,
        place: places[file as usize],
        size_mb: 3_000.0,
        priority: 0,
        owner,
    };
    let greedy = files.iter().rev().take(MANY).filter(|_| is_greedy);
    let mut list: Vec<Listed> = greedy.map(|&file| ask(0.0, 0, file)).collect();
    let mut at_s = 300.0;
    for number in 0..USERS * each {
        at_s -= GAP_S * (1.0 - random.unit()).ln();
        list.push(ask(at_s, 1 + number % USERS, files[number as usize]));
    }
    let text = format!(
        r#"
        name = "greedy-user"
        requests = {}
        warm_up = "keep"
        arrivals = {{ pattern = "poisson", per_hour = 1 }}
        policy = {{ order = "best", dismount = "when-needed" }}
        [[library]]
        name = "library"
        robot = {{ get_s = 10, put_s = 10 }}
        cartridge = [{{ count = {CARTRIDGES} }}]
        drive = [{{ count = 8, profile = "lto8" }}]
        "#,
        list.len()
    );
    let mut scenario = Scenario::from_toml(&text)?;
    scenario.arrivals = Arrivals::Trace { list };
    scenario.set_mounts(policy);
    Ok(Site::new(&scenario, profile::find)?.run(0)?)
}

fn mean_s(run: &Run, user: u32) -> f64 {
    mean_of(run, |answer| answer.owner == user)
}

fn responses_s(run: &Run, is_one: impl Fn(&Answer) -> bool) -> Vec<f64> {
    let answers = run.answers.iter().filter(|answer| is_one(answer));
    answers
        .map(|answer| answer.response.as_secs_f64())
        .collect()
}

fn mean_of(run: &Run, is_one: impl Fn(&Answer) -> bool) -> f64 {
    let all = responses_s(run, is_one);
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

/// The site of `greedy-user` at its own rates and at 1.3 times these.
fn site() -> Result<(), Failure> {
    println!("\n| rates | others' mean, s | greedy user's mean, s | drive-hours |");
    println!("|---|--:|--:|--:|");
    let text = include_str!("../../scenarios/greedy-user.toml");
    for rate in [1.0, 1.3] {
        let mut scenario = cases::scaled(&Scenario::from_toml(text)?, rate);
        scenario.requests = 6_000;
        let runs = (0..10_u64).into_par_iter().map(|replication| {
            let site = with(&scenario, MountPolicy::Ahead)?;
            Ok(site.run(replication)?)
        });
        let runs = runs.collect::<Result<Vec<Run>, Failure>>()?;
        let mean = |of: &dyn Fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        println!(
            "| {rate} | {:.0} | {:.0} | {:.1} |",
            mean(&|run| mean_of(run, |answer| answer.owner > 0)),
            mean(&|run| mean_s(run, 0)),
            mean(&|run| figures::work_s(run) / 3600.0),
        );
    }
    Ok(())
}

/// People beside the night's batch, which user 0 asks for.
fn night() -> Result<(), Failure> {
    println!(
        "\n| load | people: mean, s | p95, s | batch: mean, s | all: mean, s | drive-hours | mounts/h |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    let all = cases::all()?;
    let is_night = |case: &&Case| case.name.contains("night");
    let case = all.iter().find(is_night).ok_or("no night")?;
    for load in [0.85, 0.95] {
        let (factor, _) = factor(case, load)?;
        let runs = (0..4_u64).into_par_iter().map(|replication| {
            let site = with(&(case.at)(factor, replication), MountPolicy::Ahead)?;
            Ok(site.run(replication)?)
        });
        let runs = runs.collect::<Result<Vec<Run>, Failure>>()?;
        let mean = |of: &dyn Fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        let people = |answer: &Answer| answer.owner > 0;
        println!(
            "| {load} | {:.0} | {:.0} | {:.0} | {:.0} | {:.1} | {:.0} |",
            mean(&|run| mean_of(run, people)),
            mean(&|run| {
                let mut all = responses_s(run, people);
                all.sort_by(f64::total_cmp);
                all[(all.len() as f64 * 0.95).ceil() as usize - 1]
            }),
            mean(&|run| mean_s(run, 0)),
            mean(&|run| mean_of(run, |_| true)),
            mean(&|run| figures::work_s(run) / 3600.0),
            mean(&|run| run.usage[0].mounts as f64 * 3600.0 / run.duration.as_secs_f64()),
        );
    }
    Ok(())
}
