//! `--progress json`: standard error for a program, one object a line, and the end last.

use crate::archive;
use crate::program::{Desk, Ran};
use crate::recall_ltfs::real_volume;
use crate::simulate::LIBRARY;
use serde_json::Value;

/// Every line of standard error, each of which must be an object of the format; the last one is the end.
fn objects(ran: &Ran) -> Vec<Value> {
    let lines = ran.err.lines();
    let objects: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    for object in &objects {
        assert_eq!(object["format"], "tapewise-progress", "{object}");
        assert_eq!(object["version"], 1, "{object}");
    }
    let ends = objects.iter().filter(|object| object["event"] == "end");
    assert_eq!(ends.count(), 1, "{}", ran.err);
    let end = objects.last().expect("an object");
    assert_eq!(end["event"], "end");
    assert_eq!(end["exit_code"], ran.code);
    objects
}

fn last_progress(objects: &[Value]) -> &Value {
    let mut progress = objects
        .iter()
        .filter(|object| object["event"] == "progress");
    progress.next_back().expect("progress")
}

#[test]
fn a_recall_tells_a_program_files_bytes_place_and_time_left() {
    let desk = real_volume(&[]);
    let ran = desk.run("recall --ltfs emulated:lib --to out --all-files --json --progress json");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let objects = objects(&ran);
    let messages = objects.iter().filter(|object| object["event"] == "message");
    assert!(messages.count() > 2);
    let last = last_progress(&objects);
    let delivered = ran.json()["delivered"].as_array().map_or(0, Vec::len);
    assert!(delivered > 10);
    assert_eq!(
        (&last["done"], &last["of"]),
        (&delivered.into(), &delivered.into())
    );
    assert_eq!(last["bytes"], last["of_bytes"]);
    assert_eq!(last["share"], 1.0);
    assert_eq!(last["left_s"], 0.0);
    assert_eq!(last["left_from"], "prediction");
    assert!(last["bytes_per_s"].as_f64().expect("a rate") > 0.0);
    assert!(last["doing"].is_string(), "{last}");
    assert_eq!(objects.last().expect("an end")["outcome"], "done");
}

#[test]
fn an_archive_tells_what_its_drives_do_on_every_way() {
    let desk = archive::desk();
    desk.put("clip", "bytes of a clip ".repeat(4000));
    let words = "--archive A --progress json";
    let stored = desk.run(&format!("store {words} clip"));
    let seen = objects(&stored);
    let cached = seen.iter().find(|object| object["doing"] == "cache");
    assert_eq!(cached.expect("progress of the cache")["of"], 1);
    let bytes = last_progress(&seen)["bytes"].as_u64().expect("bytes");
    assert!(bytes >= 64_000, "{bytes}");
    archive::empty_cache(&desk);
    for (verb, unit) in [
        ("catalog verify TW0001", Value::Null),
        ("recall --to out --all-files", "file".into()),
    ] {
        let ran = desk.run(&format!("{verb} {words}"));
        let seen = objects(&ran);
        assert_eq!(last_progress(&seen)["unit"], unit, "{}", ran.err);
    }
}

#[test]
fn a_simulation_counts_its_replications_over_all_cases() {
    let desk = Desk::new();
    let cases =
        "[[case]]\nname = \"calm\"\n[[case]]\nname = \"brisk\"\narrivals = { per_hour = 120 }\n";
    desk.put("cases.toml", LIBRARY.to_owned() + cases);
    let ran = desk.run("simulate cases.toml --json --progress json");
    assert_eq!(ran.json()["format"], "tapewise-simulation");
    let seen = objects(&ran);
    let last = last_progress(&seen);
    assert_eq!(
        (&last["unit"], &last["doing"]),
        (&"replication".into(), &"brisk".into())
    );
    assert_eq!(last["share"], 1.0);
    assert_eq!(last["left_from"], "pace");
}

#[test]
fn the_last_object_says_what_was_wrong_and_what_to_do() {
    let desk = Desk::new();
    desk.put("small.toml", LIBRARY);
    let ran = desk.run("simulate small.toml --case none --progress json");
    let seen = objects(&ran);
    let end = seen.last().expect("an end");
    assert_eq!((ran.code, &end["outcome"]), (2, &"bad-input".into()));
    assert!(
        end["message"]
            .as_str()
            .is_some_and(|text| text.contains("no case `none`"))
    );
    assert!(end["hint"].is_string(), "{end}");
    assert_eq!(seen.len(), 1, "{}", ran.err);
}

#[test]
fn without_a_terminal_there_is_no_line_and_the_words_are_as_ever() {
    let desk = Desk::new();
    desk.put("small.toml", LIBRARY);
    let usual = desk.done("simulate small.toml");
    for form in ["line", "none"] {
        let ran = desk.done(&format!("simulate small.toml --progress {form}"));
        assert_eq!(
            (ran.err, ran.out),
            (usual.err.clone(), usual.out.clone()),
            "{form}"
        );
    }
    desk.refused("simulate small.toml --progress loud", &["loud", "json"]);
}

#[test]
fn an_interrupt_says_that_nothing_is_kept_and_how_to_go_on() {
    let desk = Desk::new();
    desk.put("small.toml", LIBRARY);
    let args = "simulate small.toml --replications 900000 --progress json -o whole.json";
    let line = format!("$TAPEWISE {args} & sleep 1; kill -INT $!; wait $!");
    let ran = desk.shell(&line);
    let end = objects(&ran).pop().expect("an end");
    assert_eq!((ran.code, &end["outcome"]), (130, &"interrupted".into()));
    let hint = end["hint"].as_str().expect("a hint");
    assert!(
        hint.contains("nothing is kept") && hint.contains("--shard"),
        "{hint}"
    );
    assert_eq!(desk.names(), ["small.toml"]);
}

#[test]
fn a_long_search_counts_its_seconds_to_the_limit() {
    let desk = Desk::new();
    // Places without a pattern, and far more than the search can finish in its budget.
    let mut place = 1_u64;
    let mut next = || {
        place = place.wrapping_mul(6_364_136_223_846_793_005) + 1;
        (place >> 33) % 2_000_000 * 10
    };
    let rows = (0..3000).map(|i| format!("{i},{},40\n", next()));
    let csv = format!("id,start_block,block_count\n{}", rows.collect::<String>());
    desk.put("r.csv", &csv);
    let order = "order r.csv --profile lto8 --block-size 512KiB --time-budget 2s -o list";
    let ran = desk.run(&format!("{order} --progress json"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let objects = objects(&ran);
    let last = last_progress(&objects);
    assert_eq!(
        (&last["doing"], &last["unit"]),
        (&"search".into(), &"second".into())
    );
    let share = last["share"].as_f64().unwrap_or_default();
    assert!(share > 0.0, "{last}");
    assert_eq!(last["of"], 2);
    // Without the request, nothing is drawn where there is no terminal.
    assert!(!desk.run(order).err.contains("second"));
}
