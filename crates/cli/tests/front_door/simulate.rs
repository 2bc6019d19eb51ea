//! `simulate`: what it says is what the scenario makes, and the same whoever makes it.

use crate::evidence::assert_is_well_formed;
use crate::program::Desk;
use serde_json::Value;

pub const LIBRARY: &str = r#"
name = "small"
about = "a library of three drives"
requests = 400
replications = 6

[arrivals]
pattern = "poisson"
per_hour = 100

[policy]
most_per_mount = 1
affinity = false

[[library]]
name = "L1"
robot = { get_s = 5, put_s = 5 }
cartridge = [{ count = 500, media = "m" }]

[[library.drive]]
count = 3
reads = ["m"]
load_s = { mean = 10, cv = 0.2 }
unload_s = 6
search_s = { near = 5, far = 21 }
rewind_s = { near = 1, far = 25 }
"#;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.put("small.toml", LIBRARY);
    let cases =
        "[[case]]\nname = \"calm\"\n[[case]]\nname = \"busy\"\narrivals = { per_hour = 900 }\n";
    desk.put("cases.toml", LIBRARY.to_owned() + cases);
    desk
}

fn estimate(value: &Value) -> f64 {
    value["estimate"].as_f64().expect("an estimate")
}

#[test]
fn a_scenario_is_answered_with_intervals_parts_use_and_causes() {
    let said = desk().run("simulate small.toml");
    assert_eq!(said.code, 0, "{}", said.err);
    for words in [
        "small: a library of three drives",
        "6 replications of 400 requests, seed 1",
        "answers an hour",
        "formula     mean ",
        "Response, s (95 % interval over replications)",
        "Parts of the mean response, s",
        "Share of the time in use",
        "Slowest responses",
    ] {
        assert!(said.text().contains(words), "{words}: {}", said.text());
    }
}

#[test]
fn the_parts_of_the_mean_response_sum_to_it_and_littles_law_holds() {
    let said = desk().run("simulate small.toml --json").json();
    assert_eq!(said["format"], "tapewise-simulation");
    let case = &said["cases"][0];
    let mean_s = estimate(&case["mean_s"]);
    let parts = case["parts"].as_object().expect("parts");
    let sum_s: f64 = parts.values().map(estimate).sum();
    assert!((sum_s - mean_s).abs() < 1e-6, "{sum_s} and {mean_s}");
    let inside = estimate(&case["answers_per_hour"]) / 3600.0 * mean_s;
    // The mean of products over replications is not quite the product of the means.
    assert!((estimate(&case["requests_inside"]) / inside - 1.0).abs() < 0.05);
    let formula_s = case["formula"]["mean_s"].as_f64().expect("a formula");
    assert!(
        (formula_s / mean_s - 1.0).abs() < 0.1,
        "{formula_s} and {mean_s}"
    );
}

#[test]
fn one_thread_and_two_give_the_same_bytes_and_another_seed_does_not() {
    let desk = desk();
    let one = desk.done("simulate small.toml --json --threads 1").out;
    assert_eq!(one, desk.done("simulate small.toml --json --threads 2").out);
    assert_ne!(one, desk.done("simulate small.toml --json --seed 2").out);
}

#[test]
fn parts_made_apart_are_the_whole_byte_for_byte() {
    let desk = desk();
    let whole = desk.done("simulate cases.toml --json").out;
    for part in 0..3 {
        desk.done(&format!(
            "simulate cases.toml --shard {part}/3 -o {part}.json"
        ));
    }
    let merged = desk.done("simulate cases.toml --json --merge 2.json 0.json 1.json");
    assert_eq!(merged.out, whole);
    let missing = desk.run("simulate cases.toml --merge 0.json 2.json");
    assert_eq!(missing.code, 2);
    assert!(
        missing.err.contains("replication 2 is missing"),
        "{}",
        missing.err
    );
    let other = desk.run("simulate cases.toml --seed 9 --merge 0.json 1.json 2.json");
    assert_eq!(other.code, 2);
    assert!(other.err.contains("not of this scenario"), "{}", other.err);
}

#[test]
fn a_value_set_on_the_command_line_is_as_if_it_stood_in_the_file() {
    let desk = desk();
    desk.put("four.toml", LIBRARY.replace("count = 3", "count = 4"));
    let set = desk.done("simulate small.toml --set drives=4 --json").out;
    assert_eq!(set, desk.done("simulate four.toml --json").out);
    // A case that was not chosen may not have such a key.
    let nersc = tapewise_house::root().join("scenarios/nersc-2001.toml");
    desk.put("nersc.toml", std::fs::read(nersc).expect("a scenario"));
    desk.refused("simulate nersc.toml --set rate=60", &["mount stress"]);
    desk.done("capacity nersc.toml --case files --target p95<10min --set rate=20");
    let unknown = "--set library.drive.cuont: not a scenario: unknown field `cuont`";
    desk.refused(
        "simulate small.toml --set drives=4 --set library.drive.cuont=4",
        &[unknown],
    );
    let huge = "--set library.robot.get_s: not a scenario: `mean` is 1e300; at most";
    desk.refused(
        "simulate small.toml --set library.robot.get_s=1e300",
        &[huge],
    );
}

#[test]
fn as_many_replications_are_made_as_the_width_asks_for() {
    let said = desk().done("simulate small.toml --width 1% --json").json();
    let case = &said["cases"][0];
    assert!(
        case["replications"].as_u64() > Some(6),
        "{}",
        case["replications"]
    );
    let mean = &case["mean_s"];
    let high = mean["high"].as_f64().expect("an end");
    assert!(high / estimate(mean) - 1.0 <= 0.01, "{mean}");
}

#[test]
fn an_unstable_load_is_said_with_its_size_and_is_no_mean() {
    let desk = desk();
    let alone = desk.run("simulate cases.toml --case busy");
    assert_eq!((alone.code, alone.out.len()), (1, 0));
    assert!(
        alone.err.contains("unstable: drives of library L1"),
        "{}",
        alone.err
    );
    let rows = desk.run("simulate cases.toml");
    assert_eq!(rows.code, 0);
    let busy = rows
        .lines()
        .into_iter()
        .find(|line| line.trim_start().starts_with("busy "));
    assert!(busy.expect("a row").contains("unstable"), "{}", rows.text());
}

#[test]
fn the_trace_splits_every_response_into_parts_that_sum_to_it() {
    let desk = desk();
    desk.done("simulate small.toml --trace trace.csv --replication 3");
    let trace = desk.read("trace.csv");
    let mut lines = trace.lines();
    let heads: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let response = heads
        .iter()
        .position(|&head| head == "response_s")
        .expect("a column");
    let micros = |text: &str| text.replace('.', "").parse::<i64>().expect("a time");
    let mut rows = 0;
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), heads.len());
        let parts = &cells[response + 1..cells.len() - 1];
        let sum: i64 = parts.iter().map(|cell| micros(cell)).sum();
        assert_eq!(sum, micros(cells[response]), "{line}");
        rows += 1;
    }
    assert_eq!(rows, 400);
}

#[test]
fn the_event_log_is_one_that_audit_reads() {
    let desk = desk();
    desk.done("simulate small.toml --events events.jsonl");
    let events = desk.read("events.jsonl");
    // Each of 400 requests: fetch, mount, locate, read; the last may not have been put away.
    let of = |action: &str| events.matches(&format!("\"action\":\"{action}\"")).count();
    assert_eq!(
        [of("fetch"), of("mount"), of("locate"), of("read")],
        [400; 4]
    );
    let audited = desk.run("audit events.jsonl");
    assert_eq!(audited.code, 0, "{}", audited.err);
    assert!(audited.text().contains("locate"), "{}", audited.text());
}

#[test]
fn pictures_show_responses_percentiles_and_who_did_what() {
    let desk = desk();
    desk.done("simulate small.toml --plot pictures");
    for name in ["responses-small", "percentiles", "timeline-small"] {
        let svg = desk.read(&format!("pictures/{name}.svg"));
        assert_is_well_formed(&svg);
    }
    let timeline = desk.read("pictures/timeline-small.svg");
    for name in ["drive 0", "drive 2", "robot 0", "requests inside"] {
        assert!(timeline.contains(name), "{name}");
    }
    let responses = desk.read("pictures/responses-small.svg");
    for words in ["shifted Erlang", "drawn to the 99.5th percentile"] {
        assert!(responses.contains(words), "{words}");
    }
}

#[test]
fn cases_with_names_that_are_one_as_names_of_files_have_pictures_of_their_own() {
    let desk = Desk::new();
    let cases = "[[case]]\nname = \"a b\"\n[[case]]\nname = \"a-b\"\n";
    desk.put("cases.toml", LIBRARY.to_owned() + cases);
    desk.done("simulate cases.toml --replications 2 --plot pictures");
    for (name, case) in [("a-b", "a b"), ("a-b-2", "a-b")] {
        let responses = desk.read(&format!("pictures/responses-{name}.svg"));
        assert!(
            responses.contains(&format!("Responses of {case}: ")),
            "{name}"
        );
        let timeline = desk.read(&format!("pictures/timeline-{name}.svg"));
        assert!(timeline.contains(&format!("{case}, L1, ")), "{name}");
    }
}

#[test]
fn what_is_wrong_with_a_scenario_is_said_with_its_key() {
    let desk = Desk::new();
    let refused = |text: &str, words: &[&str]| {
        desk.put("bad.toml", text);
        let said = desk.run("simulate bad.toml");
        assert_eq!((said.code, said.out.len()), (2, 0), "{}", said.err);
        for word in words {
            assert!(said.err.contains(word), "{word}: {}", said.err);
        }
    };
    let with = |from: &str, to: &str| LIBRARY.replace(from, to);
    refused("", &["bad.toml", "empty"]);
    refused("not toml", &["bad.toml", "not a scenario"]);
    refused(
        &with("unload_s", "unlaod_s"),
        &["unknown field", "unlaod_s"],
    );
    refused(&with("unload_s = 6", "unload_s = -6"), &["unload_s", "-6"]);
    refused(
        &with("count = 500", "count = 500, filled = 1.5"),
        &["filled", "1.5"],
    );
    refused(
        &with("reads = [\"m\"]", "reads = [\"n\"]"),
        &["no drive reads `m`"],
    );
    refused(
        &with("count = 3", "count = 3\nprofile = \"lto99\""),
        &["lto99", "library L1"],
    );
    let missing = desk.run("simulate none.toml");
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("none.toml"), "{}", missing.err);
    let case = desk.run("simulate bad.toml --case x");
    assert_eq!(case.code, 2);
    desk.put("good.toml", LIBRARY);
    for options in [
        "--shard 2/2 -o x",
        "--shard 0/2",
        "--replication 3",
        "--replication 3 --shard 0/2 -o x",
        "--width 0%",
        "--threads 0",
        "--case x",
    ] {
        let said = desk.run(&format!("simulate good.toml {options}"));
        assert_eq!(said.code, 2, "{options}: {}", said.err);
    }
}

/// A site whose policy is the one that twins are given.
const SITE: &str = r#"
name = "known"
requests = 1500
replications = 2
warm_up = "keep"
arrivals = { pattern = "poisson", per_hour = 150 }
request = { cartridges = { pick = "clustered", run = 2 }, size_mb = 2000 }
policy = { mount = "oldest", order = "sort", dismount = "when-needed" }

[[library]]
name = "L1"
robot = { get_s = { least = 4, most = 8 }, put_s = 5 }
cartridge = [{ count = 200 }]
drive = [{ count = 4, load_s = 12, unload_s = 9, search_s = { mean = 30, cv = 0.3 }, rewind_s = 20, rate_mb_s = 400 }]
"#;

#[test]
fn logs_make_a_scenario_that_is_compared_with_what_they_show_and_answers_as_any_other() {
    let desk = Desk::new();
    desk.put("site.toml", SITE);
    desk.done("simulate site.toml --trace asked.csv --events events.jsonl");
    let logs = "--from-log asked.csv --from-log events.jsonl";
    let said = desk.run(&format!("simulate {logs} --write-scenario twin.toml"));
    assert_eq!(said.code, 0, "{}", said.err);
    for words in [
        "the logs do not tell",
        "mean: ",
        " s in the logs, ",
        "within the ",
    ] {
        assert!(said.err.contains(words), "no {words:?} in:\n{}", said.err);
    }
    assert_eq!(desk.done("simulate twin.toml").text(), said.text());
    let fewer = desk.done(&format!(
        "simulate {logs} --set drives=3 --write-scenario fewer.toml"
    ));
    assert_ne!(fewer.text(), said.text());
    assert_eq!(desk.done("simulate fewer.toml").text(), fewer.text());
    desk.refused(
        "simulate twin.toml --write-scenario other.toml",
        &["--write-scenario writes what --from-log makes"],
    );
    let said = desk.run(&format!("capacity {logs} --target mean<1h --drives 3..4"));
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn what_is_no_log_is_refused_by_name() {
    let desk = Desk::new();
    desk.put("notes.txt", "nothing of use\n");
    let said = desk.run("simulate --from-log notes.txt");
    assert_eq!(said.code, 2, "{}", said.err);
    for words in ["notes.txt: ", "a table with arrived_s and cartridge"] {
        assert!(said.err.contains(words), "no {words:?} in:\n{}", said.err);
    }
    assert_eq!(desk.run("simulate").code, 2);
}

#[test]
fn a_log_of_cta_without_years_asks_for_one() {
    let desk = Desk::new();
    let line = "host cta-taped: MSG=\"File successfully read from tape\" tapeVid=\"V1\" tapeDrive=\"d1\" mountId=\"1\" \
        BlockId=\"20000\" fSeq=\"1\" dataVolume=\"4000000000\" positionTime=\"30\" readWriteTime=\"10\"\n";
    desk.put("cta.log", format!("Aug 24 15:14:13.0 {line}"));
    desk.put("asked.csv", "arrived_s,cartridge\n10,V1\n");
    let year = "--year gives the year of its first line";
    desk.refused("simulate --from-log cta.log", &[year]);
    desk.refused("audit cta.log --policy oldest", &[year]);
    desk.done("simulate --from-log cta.log --year 2026");
    desk.done("audit cta.log --policy oldest --year 2026");
    desk.done("simulate --from-log cta.log --from-log asked.csv");
    let none = "--year is for the log of CTA, and none was given";
    desk.refused("simulate --from-log asked.csv --year 2026", &[none]);
    desk.put("site.toml", SITE);
    desk.refused("simulate site.toml --year 2026", &["--year"]);
}

#[test]
fn a_twin_is_compared_as_it_was_set_and_each_table_counts_once() {
    let desk = Desk::new();
    desk.put("site.toml", SITE);
    desk.done("simulate site.toml --trace asked.csv --events events.jsonl");
    let compared = |set: &str| {
        let said = desk.run(&format!("simulate --from-log asked.csv {set}"));
        let mut lines = said.err.lines();
        let mean = lines.find(|line| line.contains("mean: "));
        mean.unwrap_or_default().to_owned()
    };
    let unset = compared("");
    assert!(unset.contains(" s in the logs"), "{unset}");
    for set in ["library.drive.search_s=90", "drives=9"] {
        let as_set = compared(&format!("--set {set}"));
        assert!(
            as_set.contains(" s in the logs") && as_set != unset,
            "{set}: {as_set}"
        );
    }
    let (events, seeded) = (
        "--from-log events.jsonl",
        "--from-log events.jsonl --seed 9",
    );
    assert_ne!(compared(events), compared(seeded));
    let said = desk
        .run("simulate --from-log asked.csv --set policy.mount=ahead")
        .err;
    assert!(
        said.contains("a search: 50 s; set library.drive.search_s")
            && !said.contains("the mount policy"),
        "{said}"
    );
    desk.refused(
        "simulate --from-log asked.csv --from-log ./asked.csv",
        &["given twice"],
    );
    for set in ["requests=1", "policy.window_s=1e30"] {
        desk.refused(
            &format!("simulate site.toml --set {set} --set warm_up=automatic"),
            &[],
        );
    }
}
