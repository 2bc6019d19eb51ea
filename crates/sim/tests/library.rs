//! Whatever the scenario: every request is answered once, drives and robots do one thing at a time,
//! a cartridge is in one place.

use proptest::prelude::*;
use tapewise_model::{Micros, profile};
use tapewise_sim::Scenario;
use tapewise_sim::library::{Action, Part, Record, Site};

fn scenarios() -> impl Strategy<Value = String> {
    let size = (1u32..5, 1u32..3, 1u32..30, 20u32..300, 1u32..4);
    let choice = prop::sample::select;
    let policy = (
        choice(vec!["fifo", "oldest", "most-requests", "priority", "ahead"]),
        choice(vec![
            "",
            "most_per_mount = 1",
            "most_per_mount = 3",
            "most_per_mount = 3\nrules = { drives_per_user = 1, overdue_s = 600 }",
        ]),
        any::<bool>(),
        choice(vec![
            "",
            "window_s = 120",
            "window_s = 600\nwindow_requests = 3",
        ]),
        choice(vec![
            "at-once",
            "when-needed",
            "after-idle\"\nidle_s = 60 #",
        ]),
        choice(vec!["after-answer", "at-dismount"]),
    );
    let arrivals = choice(vec![
        "pattern = \"poisson\", per_hour = 60",
        "pattern = \"renewal\", per_hour = 80, cv = 2",
        "pattern = \"bursts\", per_hour = 10, a_day = 40, size = 12, burst_per_hour = 400",
        "pattern = \"daily\", per_hour = 40, shape = [1, 5, 2]",
        "pattern = \"closed\", users = 7, think_s = { mean = 60, cv = 1 }",
    ]);
    let pick = choice(vec![
        "pick = \"uniform\"",
        "pick = \"in-turn\"",
        "pick = \"zipf\", exponent = 1.1",
        "pick = \"clustered\", run = 5",
    ]);
    let trouble = choice(vec![
        "",
        "cleaning = { every_mounts = 7, takes_s = 200 }",
        "failures = { after_hours = { mean = 2, cv = 1 }, repair_hours = { least = 0.1, most = 1 } }",
        "cleaning = { every_mounts = 3, takes_s = 90 }\nfailures = { after_hours = 1, repair_hours = 0.2 }",
    ]);
    let drive = choice(vec![
        "load_s = 15\nunload_s = 12\nsearch_s = { near = 3, far = 60 }\nrewind_s = { near = 2, far = 50 }\nrate_mb_s = 20",
        "profile = \"lto8\"",
    ]);
    let robot = choice(vec![
        "",
        ", settle_s = 2",
        ", waits_for_unload = true",
        ", gets_first = true",
    ]);
    (size, policy, arrivals, pick, trouble, drive, robot).prop_map(
        |((drives, robots, cartridges, requests, owners), policy, arrivals, pick, trouble, drive, robot)| {
            let (mount, most, affinity, window, dismount, rewind) = policy;
            let dismount = if dismount.ends_with('#') { dismount.to_owned() } else { format!("{dismount}\"") };
            format!(
                "name = \"random\"\nrequests = {requests}\narrivals = {{ {arrivals} }}\n\
                 [request]\nowners = {owners}\ncartridges = {{ {pick} }}\nsize_mb = {{ mean = 300, cv = 1 }}\n\
                 priorities = [{{ priority = 1, share = 3 }}, {{ priority = 9, share = 1 }}]\n\
                 [cache]\nsize_gb = 2\nanswer_s = 1\n\
                 [policy]\nmount = \"{mount}\"\n{most}\naffinity = {affinity}\n{window}\n\
                 dismount = \"{dismount}\nrewind = \"{rewind}\"\n\
                 [[library]]\nname = \"l\"\n\
                 robot = {{ count = {robots}, get_s = {{ near = 3, far = 9 }}, put_s = {{ mean = 6, cv = 0.5 }}{robot} }}\n\
                 software = {{ poll_s = 2, request_s = 0.1, answer_s = {{ least = 0, most = 1 }} }}\n\
                 cartridge = [{{ count = {cartridges}, filled = 0.7 }}]\n\
                 [[library.drive]]\ncount = {drives}\n{drive}\n{trouble}\n"
            )
        },
    )
}

/// Whether none of these begins before the one before it ended.
fn one_after_the_other(mut records: Vec<&Record>) -> bool {
    records.sort_by_key(|record| (record.at, record.took));
    records
        .windows(2)
        .all(|pair| pair[0].at + pair[0].took <= pair[1].at)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn everything_is_answered_once_and_nothing_is_in_two_places(text in scenarios(), replication in 0u64..4) {
        let scenario = Scenario::from_toml(&text).expect(&text);
        // Some of these are more than drives can bear, and said to be.
        let Ok(site) = Site::new(&scenario, profile::find) else { return Ok(()) };
        let (run, log) = site.run_logged(replication).expect(&text);
        prop_assert_eq!(&run, &site.run(replication).expect("the same without a log"));
        prop_assert_eq!(run.answers.len() as u64, scenario.requests);
        for (number, answer) in run.answers.iter().enumerate() {
            prop_assert_eq!(answer.number, number as u64);
            prop_assert_eq!(answer.parts.total(), answer.response);
            prop_assert!(Part::ALL.iter().all(|&part| answer.parts[part] >= Micros::ZERO));
        }
        for drive in 0..run.usage[0].drives as u16 {
            let of = log.iter().filter(|record| record.drive == drive).collect();
            prop_assert!(one_after_the_other(of), "drive {} of\n{}", drive, text);
        }
        for robot in 0..run.usage[0].robots as u16 {
            let of = log.iter().filter(|record| record.robot == Some(robot)).collect();
            prop_assert!(one_after_the_other(of), "robot {} of\n{}", robot, text);
        }
        for cartridge in 0..scenario.libraries[0].cartridges[0].count {
            let of = log.iter().filter(|record| record.cartridge == Some(cartridge));
            prop_assert!(one_after_the_other(of.collect()), "cartridge {} of\n{}", cartridge, text);
        }
        let read = run.answers.iter().filter(|answer| answer.drive.is_some()).count();
        prop_assert_eq!(run.usage[0].reads as usize, read);
        let fetched = log.iter().filter(|record| record.action == Action::Fetch).count();
        prop_assert!(fetched >= run.usage[0].mounts as usize);
        let idle = run.duration.0 * run.usage[0].drives as i64 - run.usage[0].drive_time.total().0;
        prop_assert!(idle >= 0);
    }
}
