//! A twin gives back what its log shows, and says what the log does not tell.

use tapewise_formats::asked_csv::{Asked, read_asked};
use tapewise_formats::cta_log::{read_cta_log, read_cta_log_of};
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_formats::event_log::{EventLog, Header, Session, read_events};
use tapewise_model::{Micros, profile};
use tapewise_sim::library::{Part, Run, Site};
use tapewise_sim::mounts::{MountPolicy, Owner};
use tapewise_sim::scenario::Arrivals;
use tapewise_sim::twin::{Check, Log, Twin, TwinError};
use tapewise_sim::{Logged, Scenario, responses_csv, simulate};

/// A site whose policy is the one that twins are given, and whose times the log has to tell.
fn site(seed: u64, drive: &str) -> Site {
    let text = format!(
        r#"
        name = "known"
        seed = {seed}
        requests = 3000
        arrivals = {{ pattern = "bursts", per_hour = 60, a_day = 24, size = 30, burst_per_hour = 2000 }}
        request = {{ cartridges = {{ pick = "clustered", run = 2 }}, size_mb = {{ mean = 4000, cv = 1 }}, owners = 5 }}
        policy = {{ mount = "oldest", order = "sort", dismount = "when-needed" }}
        [[library]]
        name = "library"
        robot = {{ count = 2, get_s = {{ least = 6, most = 14 }}, put_s = {{ least = 6, most = 14 }} }}
        cartridge = [{{ count = 300 }}]
        drive = [{{ count = 4, {drive} }}]
        "#
    );
    let scenario = Scenario::from_toml(&text).expect("a scenario");
    Site::new(&scenario, profile::find).expect("a site")
}

const STATED: &str = "load_s = 15, unload_s = 15, search_s = { mean = 40, cv = 0.4 }, rewind_s = { mean = 40, cv = 0.4 }, rate_mb_s = 300";

/// The table and the event log of one replication.
fn logs(site: &Site) -> Vec<Log> {
    let logged = Logged::new(site, 0).expect("a run");
    let mut events = Vec::new();
    logged.write_events(&mut events).expect("written");
    let table = responses_csv(&[logged]);
    vec![
        Log::Asked(read_asked(table.as_bytes()).expect("a table")),
        Log::Events(read_events(&events[..]).expect("a log")),
    ]
}

fn of(twin: &Twin) -> Site {
    let scenario = Scenario::from_toml(&twin.text).expect("a scenario");
    Site::new(&scenario, profile::find).expect("a site")
}

#[test]
fn a_twin_of_a_known_site_gives_back_its_responses() {
    for drive in [STATED, "profile = \"lto9\""] {
        let mut held = 0;
        for seed in 1..=4 {
            let twin = Twin::new(&logs(&site(seed, drive))).expect("a twin");
            let checked = twin.check(&of(&twin), 10).expect("checked").all;
            let mean = &checked[0];
            assert!(mean.off().abs() < 0.1, "{drive}, seed {seed}: {checked:?}");
            held += checked
                .iter()
                .filter(|one| one.twin_s.contains(one.log_s))
                .count();
        }
        // Of twelve numbers 95 % intervals hold all but a few.
        assert!(held >= 9, "{drive}: {held} of 12");
    }
}

#[test]
fn a_twin_is_compared_by_the_numbers_that_its_own_table_has() {
    let twin = Twin::new(&logs(&site(2, STATED))).expect("a twin");
    let scenario = Scenario::from_toml(&twin.text).expect("a scenario");
    let simulated = simulate(&scenario, profile::find, &mut |_| {}).expect("simulated");
    let results = &simulated.steady().expect("steady").results;
    let checked = twin
        .check(&of(&twin), results.replications)
        .expect("checked");
    let estimates = checked.all.iter().map(|one| one.twin_s.estimate);
    let percentile = |percent| results.percentile(percent).expect("known").estimate;
    let of_table = [results.mean_s.estimate, percentile(50), percentile(95)];
    for (one, other) in estimates.zip(of_table) {
        // A run of the twin has percentiles of its own; the table has those of all runs together.
        assert!((one / other - 1.0).abs() < 0.005, "{one} {other}");
    }
}

#[test]
fn a_twin_knows_who_asked_and_for_what_activity() {
    let table = "arrived_s,cartridge,owner,activity\n0,A,bo,production\n1,A,ann,\n2,B,bo,analysis\n3,B,,\n\
        4,B,bo,production\n";
    let asked = read_asked(table.as_bytes()).expect("a table");
    let twin = Twin::new(&[Log::Asked(asked)]).expect("a twin");
    let scenario = Scenario::from_toml(&twin.text).expect("a scenario");
    let Arrivals::Trace { list } = &scenario.arrivals else {
        panic!("a trace");
    };
    let owners = scenario.owners();
    let who = list.iter().map(|one| {
        let Owner { user, activity } = &owners[one.owner as usize];
        (user.as_str(), activity.as_str())
    });
    let expected = [
        ("bo", "production"),
        ("ann", ""),
        ("bo", "analysis"),
        ("", ""),
        ("bo", "production"),
    ];
    assert_eq!(who.collect::<Vec<_>>(), expected);
    assert_eq!(owners.len(), 4);
}

#[test]
fn a_twin_is_compared_with_its_log_user_by_user() {
    let logs = logs(&site(3, STATED));
    let Log::Asked(asked) = &logs[0] else {
        panic!("a table");
    };
    let mean = |owner: &str| {
        let responses = asked
            .iter()
            .filter(|one| one.owner.as_deref() == Some(owner));
        let responses: Vec<f64> = responses.filter_map(|one| one.response_s).collect();
        (
            responses.len(),
            responses.iter().sum::<f64>() / responses.len() as f64,
        )
    };
    let twin = Twin::new(&logs).expect("a twin");
    let users = twin.check(&of(&twin), 5).expect("checked").users;
    assert!(users.len() >= 5, "{users:?}");
    for user in &users {
        let (requests, mean_s) = mean(&user.owner.user);
        assert_eq!(user.requests, requests);
        assert!((user.log_s - mean_s).abs() < 1e-6, "{user:?}");
        assert!(
            (user.twin_s.estimate / mean_s - 1.0).abs() < 0.3,
            "{user:?}"
        );
    }
    // All numbers are those of the one user then.
    let nobody = asked
        .iter()
        .cloned()
        .map(|one| Asked { owner: None, ..one });
    let twin = Twin::new(&[Log::Asked(nobody.collect())]).expect("a twin");
    assert_eq!(twin.check(&of(&twin), 2).expect("checked").users, []);
}

#[test]
fn a_twin_is_told_apart_from_a_site_with_fewer_drives() {
    let twin = Twin::new(&logs(&site(5, STATED))).expect("a twin");
    let fewer = twin.text.replace("count = 4\n", "count = 3\n");
    assert_ne!(fewer, twin.text);
    let fewer = Twin {
        text: fewer,
        ..twin.clone()
    };
    let off = |twin: &Twin| twin.check(&of(twin), 5).expect("checked").all[0].off();
    assert!(
        off(&twin).abs() < 0.1 && off(&fewer) > 0.2,
        "{} {}",
        off(&twin),
        off(&fewer)
    );
}

#[test]
fn a_policy_is_priced_as_a_site_that_has_it_shows_and_the_logs_own_numbers_are_theirs() {
    let ran = site(6, STATED);
    let twin = Twin::new(&logs(&ran)).expect("a twin");
    let run = ran.run(0).expect("a run");
    let was = twin.as_it_was;
    assert_eq!(was.mounts, Some(run.usage[0].mounts));
    let worked = |run: &Run| {
        let time = &run.usage[0].drive_time;
        (time.total() - time[Part::RobotWait]).as_secs_f64() / 3600.0
    };
    let hours = was.drive_hours.expect("hours");
    assert!((hours / worked(&run) - 1.0).abs() < 0.001, "{hours}");
    for policy in [MountPolicy::Oldest, MountPolicy::Ahead] {
        let priced = twin.price(policy, profile::find, 5).expect("priced");
        let mut scenario = ran.scenario().clone();
        scenario.policy.mount = policy;
        let really = Site::new(&scenario, profile::find).expect("a site");
        let really = really.run(0).expect("a run");
        for (twins, real) in [
            (priced.mounts.estimate, really.usage[0].mounts as f64),
            (priced.drive_hours.estimate, worked(&really)),
        ] {
            assert!(
                (twins / real - 1.0).abs() < 0.1,
                "{policy:?}: {twins}, {real}"
            );
        }
    }
}

/// An archive's log of two mounts. The second one begins so many seconds after the first. The log tells the robot's moves
/// under the names of the drives. A mount begins with a look at the label, and drives unload from where a read ended.
fn log_of_an_archive(later_s: i64) -> Log {
    let mut header = Header::new("test");
    header.profile = Some("lto8".to_owned());
    let mount = |(drive, began_s): (&str, i64)| {
        let mut at = Micros(began_s * 1_000_000);
        let steps = [
            (Action::Fetch, 10, None),
            (Action::Mount, 15, None),
            (Action::Rewind, 1, None),
            (Action::Read, 2, None),
            (Action::Locate, 30, Some("request 1")),
            (Action::Read, 20, Some("request 1")),
            (Action::Unmount, 64, None),
        ];
        let event = |(action, took_s, purpose): (Action, i64, Option<&str>)| {
            let took = Micros(took_s * 1_000_000);
            let event = Event {
                device: Some(drive.to_owned()),
                cartridge: Some(format!("of {drive}")),
                purpose: purpose.map(str::to_owned),
                bytes: if purpose.is_some() {
                    6_000_000_000
                } else {
                    1000
                },
                ..Event::new(action, at, took)
            };
            at += took;
            event
        };
        steps.map(event)
    };
    Log::Events(EventLog {
        sessions: vec![Session {
            header: Some(header),
            events: [("D1", 0), ("D2", later_s)]
                .into_iter()
                .flat_map(mount)
                .collect(),
        }],
        ..EventLog::default()
    })
}

#[test]
fn a_look_at_the_label_is_part_of_the_load_and_the_way_back_part_of_the_unload() {
    let twin = Twin::new(&[log_of_an_archive(10)]).expect("a twin");
    for line in [
        "robot = { count = 1, get_s = 10, ",
        "load_s = 18\n",
        "unload_s = 64\n",
        "profile = \"lto8\"\nrewind_s = 0\n",
        "rate_mb_s = 300\n",
    ] {
        assert!(twin.text.contains(line), "{line} is not in:\n{}", twin.text);
    }
    let run = of(&twin).run(0).expect("a run");
    assert_eq!(run.usage[0].drive_time[Part::Rewind], Micros::ZERO);
    // Moves at the same time need a robot each.
    let twin = Twin::new(&[log_of_an_archive(9)]).expect("a twin");
    assert!(twin.text.contains("robot = { count = 2, "), "{}", twin.text);
}

/// Each run of a program is a session, and the clock of each begins at zero.
#[test]
fn sessions_of_a_log_come_one_after_the_other() {
    let Log::Events(once) = log_of_an_archive(10) else {
        panic!("events");
    };
    let mut twice = once.clone();
    twice.sessions.extend(once.sessions.iter().cloned());
    let twin = |log| Twin::new(&[Log::Events(log)]).expect("a twin").text;
    let (once, twice) = (twin(once), twin(twice));
    assert!(twice.contains("robot = { count = 1, "), "{twice}");
    let at = |text: &str| {
        let scenario = Scenario::from_toml(text).expect("a scenario");
        let Arrivals::Trace { list } = scenario.arrivals else {
            panic!("a trace");
        };
        list.iter().map(|one| one.at_s).collect::<Vec<f64>>()
    };
    // The second mount ends 152 s after the session began.
    let again = at(&once).into_iter().map(|at_s| at_s + 152.0);
    let expected: Vec<f64> = at(&once).into_iter().chain(again).collect();
    assert_eq!(at(&twice), expected);
}

#[test]
fn what_a_table_alone_does_not_tell_is_listed() {
    let table = "arrived_s,cartridge\n10,A1\n20,A2\n";
    let log = Log::Asked(read_asked(table.as_bytes()).expect("a table"));
    let twin = Twin::new(&[log]).expect("a twin");
    let all: Vec<String> = twin.assumed.iter().map(|one| one.to_string()).collect();
    let all = all.join("\n");
    for what in [
        "drives",
        "robots",
        "loading",
        "unloading",
        "a search",
        "a rewind",
        "the rate",
        "the size",
        "where on",
        "who asked",
        "mount policy",
    ] {
        assert!(all.contains(what), "{what} is not in:\n{all}");
    }
    assert!(of(&twin).run(0).is_ok());
    let check = twin.check(&of(&twin), 5).expect("nothing to check");
    assert_eq!(check, Check::default());
}

#[test]
fn a_log_of_ctas_tape_daemon_tells_volumes_sizes_and_rate_and_not_when_files_were_asked_for() {
    let line = |at: u32, vid: &str, seq: u32| {
        format!(
            "{{\"epoch_time\":{at},\"message\":\"File successfully read from tape\",\"tapeVid\":\"{vid}\",\"tapeDrive\":\"d-{vid}\",\
             \"mountId\":\"{vid}\",\"BlockId\":\"{}\",\"fSeq\":\"{seq}\",\"dataVolume\":\"4000000000\",\"positionTime\":\"30.5\",\
             \"readWriteTime\":\"10.0\"}}\n",
            seq * 20_000
        )
    };
    let text = [
        line(1000, "V1", 5),
        line(1050, "V1", 9),
        line(1300, "V2", 1),
    ]
    .concat();
    let twin = |text: String| {
        let log = Log::Cta(read_cta_log(text.as_bytes()).expect("a log"));
        Twin::new(&[log]).expect("a twin")
    };
    let mut lines: Vec<&str> = text.lines().collect();
    lines.reverse();
    let reversed = twin(lines.join("\n")).text;
    let twin = twin(text);
    assert!(twin.text.contains("drive]]\ncount = 2\n"), "{}", twin.text);
    // V2 was mounted 250 s after V1, in whatever order the lines stand.
    for text in [&twin.text, &reversed] {
        assert!(text.contains("{ at_s = 0.000000, cartridge = 0,"), "{text}");
        assert!(
            text.contains("{ at_s = 300.000000, cartridge = 1,"),
            "{text}"
        );
    }
    assert!(twin.text.contains("rate_mb_s = 400\n"), "{}", twin.text);
    assert!(twin.text.contains("search_s = 30.5\n"), "{}", twin.text);
    assert!(
        twin.assumed[0].what.contains("when files were asked for"),
        "{:?}",
        twin.assumed
    );
    assert_eq!(of(&twin).run(0).expect("a run").answers.len(), 3);
}

/// The times of plain lines have no year. Without it all files would have been asked for at once.
#[test]
fn a_plain_log_of_cta_needs_a_year_or_a_table() {
    let line = |time: &str, vid: &str| {
        format!(
            "Dec {time}.0 host cta-taped: MSG=\"File successfully read from tape\" tapeVid=\"{vid}\" tapeDrive=\"d1\" \
             mountId=\"{vid}\" BlockId=\"20000\" fSeq=\"1\" dataVolume=\"4000000000\" positionTime=\"30\" readWriteTime=\"10\"\n"
        )
    };
    let text = line("31 23:00:00", "V1") + &line("31 23:50:00", "V2");
    let log = |year| Log::Cta(read_cta_log_of(text.as_bytes(), year).expect("a log"));
    assert!(matches!(Twin::new(&[log(None)]), Err(TwinError::Undated)));
    let twin = Twin::new(&[log(Some(2026))]).expect("a twin");
    assert!(
        twin.text.contains("{ at_s = 3000.000000, "),
        "{}",
        twin.text
    );
    // An event log's clock has no date: neither log is decades before the other.
    let twin = Twin::new(&[log(Some(2026)), log_of_an_archive(10)]).expect("a twin");
    assert!(
        twin.text.contains("{ at_s = 3000.000000, "),
        "{}",
        twin.text
    );
    let table = Log::Asked(read_asked("arrived_s,cartridge\n10,V1\n".as_bytes()).expect("a table"));
    assert!(Twin::new(&[log(None), table]).is_ok());
}

/// What failed is done again: it is no second request, and its time is not the time of a load or a read.
#[test]
fn what_failed_is_neither_a_request_nor_a_measured_time() {
    let Log::Events(log) = log_of_an_archive(200) else {
        panic!("events");
    };
    let mut failed = log.clone();
    for of in [Action::Fetch, Action::Mount, Action::Locate, Action::Read] {
        let events = &mut failed.sessions[0].events;
        let last = events.iter().rposition(|event| event.action == of);
        let event = &events[last.expect("an event")];
        let failed = Event {
            outcome: Outcome::Failed,
            // Before the second mount, where nothing was done.
            at_us: Micros(170_000_000),
            took_us: Micros(9_000_000),
            bytes: 5,
            ..event.clone()
        };
        let first_of_second = events.len() / 2;
        events.insert(first_of_second, failed);
    }
    let twin = |log| Twin::new(&[Log::Events(log)]).expect("a twin");
    let (log, failed) = (twin(log), twin(failed));
    assert_eq!(log.text, failed.text);
    assert_eq!(log.as_it_was, failed.as_it_was);
}

#[test]
fn logs_without_a_request_and_tables_of_several_libraries_or_cases_are_refused() {
    assert!(matches!(Twin::new(&[]), Err(TwinError::NoRequest)));
    let table = "arrived_s,cartridge,library\n10,A1,east\n20,A2,west\n";
    let log = Log::Asked(read_asked(table.as_bytes()).expect("a table"));
    let error = Twin::new(&[log]).expect_err("two libraries").to_string();
    assert!(error.contains("east, west"), "{error}");
    // As `simulate --trace` writes them.
    let table = "case,arrived_s,cartridge\nnow,10,A1\nthen,20,A2\n";
    let log = Log::Asked(read_asked(table.as_bytes()).expect("a table"));
    let error = Twin::new(&[log]).expect_err("two cases").to_string();
    assert!(error.contains("the cases now, then"), "{error}");
}

/// Without anything that is drawn all runs are the same, and a log rounds its times.
#[test]
fn a_twin_that_draws_nothing_agrees_with_a_log_that_rounds() {
    let asked = |rounded: f64| {
        let table = "arrived_s,cartridge,response_s\n0,A,".to_owned() + &rounded.to_string();
        Log::Asked(read_asked(table.as_bytes()).expect("a table"))
    };
    let twin = Twin::new(&[asked(100.0)]).expect("a twin");
    let one = of(&twin);
    let exact_s = twin.check(&one, 5).expect("checked").all[0].twin_s.estimate;
    for (off_s, agrees) in [(0.9, true), (-0.9, true), (3.0, false)] {
        let twin = Twin::new(&[asked(exact_s + off_s)]).expect("a twin");
        let checked = &twin.check(&one, 5).expect("checked").all[0];
        assert_eq!(
            checked.twin_s.contains(checked.log_s),
            agrees,
            "{checked:?}"
        );
    }
}
