//! Policies do what they say.

use tapewise_model::{Micros, profile};
use tapewise_sim::Scenario;
use tapewise_sim::library::{Action, Cause, Part, Run, Site};
use tapewise_sim::scenario::Arrivals;

/// One drive, one robot, times of whole seconds, and the requests listed.
fn scenario(list: &[(u32, u32, f64, u8)], policy: &str, drive: &str) -> Scenario {
    let list: Vec<String> = list
        .iter()
        .map(|(at, cartridge, place, priority)| {
            format!(
                "{{ at_s = {at}, cartridge = {cartridge}, place = {place}, priority = {priority} }}"
            )
        })
        .collect();
    let text = format!(
        r#"
        name = "small"
        requests = {requests}
        arrivals = {{ pattern = "trace", list = [{list}] }}
        policy = {{ {policy} }}
        [[library]]
        name = "library"
        robot = {{ get_s = 5, put_s = 6 }}
        cartridge = [{{ count = 10 }}]
        drive = [{{ count = 1, load_s = 10, unload_s = 8, search_s = {{ near = 1, far = 101 }}, rewind_s = {{ near = 0, far = 50 }}{drive} }}]
        "#,
        requests = list.len(),
        list = list.join(", "),
    );
    Scenario::from_toml(&text).expect("a scenario")
}

fn run(scenario: &Scenario) -> Run {
    let site = Site::new(scenario, profile::find).expect("a site");
    site.run(0).expect("a run")
}

fn seconds(run: &Run) -> Vec<i64> {
    run.answers
        .iter()
        .map(|answer| answer.response.0 / 1_000_000)
        .collect()
}

#[test]
fn a_retrieval_is_get_load_and_search_and_the_next_waits_for_the_whole_exchange() {
    let run = run(&scenario(&[(0, 0, 0.5, 0), (1, 1, 0.0, 0)], "", ""));
    // 5 + 10 + (1 + 50); then rewind 25, unload 8, put 6, and get 5, load 10, search 1.
    assert_eq!(seconds(&run), [66, 66 - 1 + 25 + 8 + 6 + 5 + 10 + 1]);
    let second = &run.answers[1];
    assert_eq!(second.parts[Part::DriveWait], Micros(104_000_000));
    assert_eq!(run.cause(1), Cause::DrivesBusy);
}

/// Both cartridges have one request. The older one's lies near the end of the tape: its search and rewind take 134 s,
/// those of the other one 2 s.
#[test]
fn a_policy_that_prices_mounts_knows_where_the_reads_of_each_lie() {
    let list = [(0, 0, 0.5, 0), (1, 1, 0.9, 0), (2, 2, 0.01, 0)];
    let soonest = |policy: &str| {
        let run = run(&scenario(&list, &format!("mount = \"{policy}\""), ""));
        (1..3).min_by_key(|&number| run.answers[number].arrived + run.answers[number].response)
    };
    assert_eq!(soonest("oldest"), Some(1));
    assert_eq!(soonest("index"), Some(2));
}

/// Of cartridge 1 the first read is near and the second at the end of the tape: both take 152 s of searches and rewind,
/// the first alone 3 s. Cartridge 2 takes 31 s.
#[test]
fn a_mount_is_priced_with_the_reads_that_it_answers() {
    let list = [
        (0, 0, 0.5, 0),
        (1, 1, 0.01, 0),
        (1, 1, 1.0, 0),
        (1, 2, 0.2, 0),
    ];
    let soonest = |limit: &str| {
        let run = run(&scenario(&list, &format!("mount = \"index\"{limit}"), ""));
        (1..4).min_by_key(|&number| run.answers[number].response)
    };
    assert_eq!(soonest(""), Some(3));
    assert_eq!(soonest(", most_per_mount = 1"), Some(1));
}

#[test]
fn where_the_cartridge_stays_its_exchange_stands_before_the_answer() {
    let run = run(&scenario(
        &[(0, 0, 0.5, 0), (200, 1, 0.0, 0)],
        "dismount = \"when-needed\"",
        "",
    ));
    assert_eq!(seconds(&run), [66, 25 + 8 + 6 + 5 + 10 + 1]);
    let parts = &run.answers[1].parts;
    assert_eq!(parts[Part::Unload], Micros(8_000_000));
    assert_eq!(parts[Part::Put], Micros(6_000_000));
    assert_eq!(parts[Part::Rewind], Micros(25_000_000));
    assert_eq!(parts[Part::DriveWait], Micros::ZERO);
}

#[test]
fn a_cartridge_that_stays_answers_the_next_request_by_a_search_alone() {
    let policy = "dismount = \"when-needed\"";
    let run = run(&scenario(&[(0, 0, 0.5, 0), (200, 0, 0.6, 0)], policy, ""));
    assert_eq!(seconds(&run)[1], 11);
    assert_eq!(run.usage[0].mounts, 1);
}

#[test]
fn a_window_gathers_requests_into_one_mount_in_order_of_place() {
    let list = [(0, 0, 0.9, 0), (10, 0, 0.1, 0), (20, 0, 0.5, 0)];
    let run = run(&scenario(&list, "window_s = 60", ""));
    assert_eq!(run.usage[0].mounts, 1);
    assert_eq!(run.answers[0].parts[Part::Window], Micros(60_000_000));
    assert_eq!(run.answers[2].parts[Part::Window], Micros(40_000_000));
    let answered = |i: usize| run.answers[i].arrived + run.answers[i].response;
    assert!(answered(1) < answered(2) && answered(2) < answered(0));
    assert!(run.answers[0].parts[Part::Behind] > Micros::ZERO);
}

#[test]
fn enough_requests_end_a_window() {
    let list = [(0, 0, 0.9, 0), (10, 0, 0.1, 0), (500, 0, 0.5, 0)];
    let run = run(&scenario(&list, "window_s = 300, window_requests = 2", ""));
    assert_eq!(run.answers[0].parts[Part::Window], Micros(10_000_000));
    assert_eq!(run.answers[1].parts[Part::Window], Micros::ZERO);
}

#[test]
fn each_mount_policy_chooses_its_own_cartridge_next() {
    // While 0 is served: one request for 1, then two for 2, then an urgent one for 3.
    let list = [
        (0, 0, 0.9, 0),
        (1, 1, 0.0, 0),
        (2, 2, 0.0, 0),
        (3, 2, 0.1, 0),
        (4, 3, 0.0, 9),
    ];
    let fetched = |policy: &str| {
        let site = Site::new(&scenario(&list, policy, ""), profile::find).expect("a site");
        let (_, log) = site.run_logged(0).expect("a run");
        let fetched = log.iter().filter(|record| record.action == Action::Fetch);
        fetched
            .filter_map(|record| record.cartridge)
            .collect::<Vec<u32>>()
    };
    assert_eq!(fetched("mount = \"fifo\""), [0, 1, 2, 3]);
    assert_eq!(fetched("mount = \"oldest\""), [0, 1, 2, 3]);
    assert_eq!(fetched("mount = \"most-requests\""), [0, 2, 1, 3]);
    assert_eq!(fetched("mount = \"priority\""), [0, 3, 1, 2]);
}

#[test]
fn one_request_a_mount_is_one_request_a_mount() {
    let list = [(0, 0, 0.1, 0), (1, 0, 0.2, 0), (2, 0, 0.3, 0)];
    assert_eq!(run(&scenario(&list, "", "")).usage[0].mounts, 1);
    assert_eq!(
        run(&scenario(&list, "most_per_mount = 1", "")).usage[0].mounts,
        3
    );
    assert_eq!(
        run(&scenario(&list, "affinity = false", "")).usage[0].mounts,
        2
    );
}

/// Who chooses before the cartridge is unloaded reads on of the same one. What others ask for goes first once it is
/// overdue, and then the cartridge is fetched again.
#[test]
fn a_cartridge_that_is_chosen_again_stays_in_its_drive() {
    let fetched = |mount: &str, at, more: &str| {
        let mut list = vec![(0, 0, 0.5, 0); 2];
        list.extend([(2, 0, 0.5, 0); 4]);
        list.push((at, 1, 0.1, 0));
        list.sort_by_key(|one| one.0);
        let policy = format!("mount = \"{mount}\", most_per_mount = 2, {more}");
        let site = Site::new(&scenario(&list, &policy, ""), profile::find).expect("a site");
        let (run, log) = site.run_logged(0).expect("a run");
        assert!(run.answers.iter().all(|answer| answer.drive.is_some()));
        let fetched = log.iter().filter(|record| record.action == Action::Fetch);
        fetched
            .filter_map(|record| record.cartridge)
            .collect::<Vec<u32>>()
    };
    let lazily = "dismount = \"when-needed\"";
    assert_eq!(fetched("ahead", 1000, lazily), [0, 1]);
    assert_eq!(fetched("oldest", 1000, lazily), [0, 0, 0, 1]);
    assert_eq!(
        fetched("ahead", 1000, "dismount = \"at-once\""),
        [0, 0, 0, 1]
    );
    let soon = format!("{lazily}, rules = {{ overdue_s = 1 }}");
    assert_eq!(fetched("ahead", 1, &soon), [0, 1, 0]);
}

#[test]
fn cleaning_is_named_where_it_was_waited_for() {
    let list = [(0, 0, 0.0, 0), (10, 1, 0.0, 0)];
    let run = run(&scenario(
        &list,
        "",
        ", cleaning = { every_mounts = 1, takes_s = 300 }",
    ));
    assert_eq!(run.usage[0].cleanings, 1);
    assert_eq!(run.cause(1), Cause::Cleaning);
    assert!(run.answers[1].response > Micros(300_000_000));
}

#[test]
fn a_failure_keeps_the_cartridge_until_the_repair_and_is_named() {
    let trouble = ", failures = { after_hours = 0.01, repair_hours = 2 }";
    let run = run(&scenario(&[(0, 0, 0.0, 0), (25, 1, 0.0, 0)], "", trouble));
    // It fails after 36 s, one second into the second load; after two hours all begins anew.
    let parts = &run.answers[1].parts;
    assert_eq!(parts[Part::Failure], Micros(7_200_000_000));
    assert_eq!(run.answers[1].response, Micros(7_227_000_000));
    assert_eq!(run.cause(1), Cause::Failure);
    assert_eq!(run.usage[0].failures, 1);
}

#[test]
fn what_a_failure_cuts_short_is_no_action_and_a_wait_before_it_is_no_failure() {
    let trouble = ", failures = { after_hours = 0.01, repair_hours = 2 }";
    // Get 12 to 17, load to 27, search of 11 s that fails at 36, while another waits since 30.
    let list = [(12, 0, 0.1, 0), (30, 0, 0.1, 0)];
    let site = Site::new(&scenario(&list, "", trouble), profile::find).expect("a site");
    let (run, log) = site.run_logged(0).expect("a run");
    let second = |part| run.answers[1].parts[part];
    assert_eq!(second(Part::DriveWait), Micros(6_000_000));
    assert_eq!(second(Part::Failure), Micros(7_200_000_000));
    assert_eq!(run.answers[0].parts[Part::Failure], Micros(7_200_000_000));
    let took = |action| {
        let of = log.iter().filter(move |record| record.action == action);
        of.map(|record| record.took.0 / 1_000_000)
            .collect::<Vec<i64>>()
    };
    assert_eq!(took(Action::Mount), [10, 10]);
    assert_eq!(took(Action::Locate), [11, 1]);
    assert_eq!(took(Action::Repair), [7200]);
}

#[test]
fn drives_that_fail_sooner_than_they_can_read_are_an_error_and_no_endless_run() {
    let trouble = ", failures = { after_hours = 0.01, repair_hours = 2 }";
    let site = Site::new(&scenario(&[(0, 0, 0.5, 0)], "", trouble), profile::find);
    let error = site
        .expect("a site")
        .run(0)
        .expect_err("never answered")
        .to_string();
    assert!(error.contains("times since the last answer"), "{error}");
}

#[test]
fn what_is_read_again_comes_from_the_disk() {
    let list = [(0, 0, 0.5, 0), (500, 0, 0.5, 0), (501, 0, 0.6, 0)];
    let mut scenario = scenario(&list, "", ", rate_mb_s = 100");
    if let Arrivals::Trace { list } = &mut scenario.arrivals {
        list.iter_mut().for_each(|listed| listed.size_mb = 100.0);
    }
    scenario.cache = toml::from_str("size_gb = 1\nanswer_s = 2").expect("a cache");
    let run = run(&scenario);
    assert_eq!(seconds(&run)[1], 2);
    assert_eq!(run.answers[1].drive, None);
    assert!(run.answers[2].drive.is_some());
}

#[test]
fn a_robot_that_stands_by_is_kept_for_the_unload() {
    let earlier = [(0, 0, 0.0, 0), (17, 1, 0.0, 0)];
    let wait = |stands_by: bool| {
        let mut two = scenario(&earlier, "", "");
        two.libraries[0].drives[0].count = 2;
        two.libraries[0].robot.waits_for_unload = stands_by;
        run(&two).answers[1].parts[Part::RobotWait]
    };
    assert_eq!(wait(false), Micros::ZERO);
    assert_eq!(wait(true), Micros(13_000_000));
}
