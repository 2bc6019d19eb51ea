//! `drive check --full` and `library accept`: whole, killed and taken up again, and beside a former report.

use crate::program::Desk;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

/// An emulated LTO-8 drive with a blank cartridge; `variation` is a line of its `[variation]`.
fn with_drive(desk: &Desk, name: &str, variation: &str) {
    desk.done(&format!("emulate {name} --drive lto8 --scale 20000"));
    let file = format!("{name}/library.toml");
    let spec = desk.read(&file);
    let varied = spec.replace("[variation]\n", &format!("[variation]\n{variation}\n"));
    desk.put(&file, varied);
}

fn full(drive: &str, more: &str) -> String {
    format!("drive check emulated:{drive} --full --hours 4 -o {drive}.json --write {more}")
}

fn report(desk: &Desk, name: &str) -> Value {
    serde_json::from_str(&desk.read(&format!("{name}.json"))).expect("JSON")
}

/// What was measured and how often.
fn counts(report: &Value) -> Vec<(String, u64)> {
    let measures = report["measures"].as_array().expect("measures");
    let count = |measure: &Value| {
        let what = measure["what"].as_str().expect("a name");
        (what.to_owned(), measure["n"].as_u64().expect("a count"))
    };
    measures.iter().map(count).collect()
}

/// Whether a part has the samples that were planned. After long pauses it ends by itself where the drive waits no more.
fn has_enough(part: &Value) -> bool {
    let ends_by_itself = part["name"] == "large-read" && part["samples"] != 0;
    ends_by_itself || part["samples"] == part["planned"]
}

#[test]
fn a_new_drive_is_accepted_within_its_budget() {
    let desk = Desk::new();
    with_drive(&desk, "lib", "");
    let ran = desk.done(&full("lib", "--html page.html"));
    // What will be measured is printed before it begins, and what will not.
    for words in ["part", "predicted: ", "block-size is left out"] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    for words in ["says nothing of hardware", "Measured, beside profile lto8"] {
        assert!(ran.text().contains(words), "{words}: {}", ran.text());
    }
    let report = report(&desk, "lib");
    assert_eq!(report["stage"], "done");
    let took = report["took_us"].as_f64().expect("a time") / 3.6e9;
    assert!(took < 4.1, "{took} h");
    let parts = report["parts"].as_array().expect("parts");
    for part in parts {
        assert_eq!(part["ended"], "done", "{part}");
        assert!(has_enough(part), "{part}");
    }
    let counts = counts(&report);
    for what in [
        "mount",
        "write, incompressible data",
        "read, mixed data",
        "write, compressible data",
        "write, files of 64 MB",
        "locate between any places, less predicted",
        "delay between reads that costs nothing",
    ] {
        assert!(
            counts.iter().any(|(name, _)| name == what),
            "{what}: {counts:?}"
        );
    }
    let page = desk.read("page.html");
    for words in [
        "<figure",
        "Beside the papers",
        "download=\"measured.csv\"",
        "LTO-1",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let status = desk
        .done("drive status --active emulated:lib --json")
        .json();
    let serial = status["serial_number"].as_str().expect("a serial number");
    assert!(!desk.read("lib.json").contains(serial), "{serial}");
    // Finished: the same command measures nothing, and shows it again.
    let again = desk.done(&full("lib", ""));
    assert_eq!(again.text(), ran.text());
    // Killed after its last sample, before the report had what the log has: it is noted then.
    let whole = desk.read("lib.json");
    let mut cut: Value = serde_json::from_str(&whole).expect("JSON");
    for part in cut["parts"].as_array_mut().expect("parts") {
        part["samples"] = 0.into();
    }
    cut["measures"] = serde_json::json!([]);
    cut["took_us"] = 0.into();
    desk.put("lib.json", cut.to_string());
    let again = desk.done(&full("lib", ""));
    assert_eq!(again.text(), ran.text());
    assert_eq!(desk.read("lib.json"), whole);
}

#[test]
fn a_cartridge_with_data_is_written_only_where_that_was_said() {
    let desk = Desk::new();
    with_drive(&desk, "lib", "");
    let blank = desk.run("drive check emulated:lib --full --hours 1 -o a.json");
    assert_eq!(blank.code, 2, "{}", blank.err);
    assert!(blank.err.contains("--write"), "{}", blank.err);
    assert_eq!(
        desk.names(),
        ["lib"],
        "nothing was measured, and nothing is left"
    );
    desk.done("measure emulated:lib -o log.jsonl --only mount --write --block-size 2000");
    let blocks = |desk: &Desk| {
        desk.done("drive status emulated:lib --active --json")
            .json()
    };
    let written = blocks(&desk)["cartridge"]["written_in_its_life_bytes"].clone();
    let refused = desk.run("drive check emulated:lib --full --hours 1 -o b.json --write");
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("--overwrite"), "{}", refused.err);
    let reads = desk.done("drive check emulated:lib --full --hours 1 -o c.json");
    assert!(
        reads.err.contains("data-path is left out: it writes"),
        "{}",
        reads.err
    );
    assert_eq!(
        blocks(&desk)["cartridge"]["written_in_its_life_bytes"],
        written
    );
    desk.refused(
        "drive check emulated:lib --full --hours 1 -o c.json --seed 2",
        &["--seed"],
    );
    desk.refused("drive check emulated:lib --full -o d.json", &["--hours"]);
    desk.refused("drive check emulated:lib -o d.json --write", &["--full"]);
    desk.refused(
        "drive check emulated:lib --full --hours 1 -o -",
        &["needs a file"],
    );
}

/// Killed over and over, it ends with the parts and counts of a run that nobody killed.
#[test]
fn a_killed_acceptance_goes_on_where_it_stopped() {
    let desk = Desk::new();
    with_drive(&desk, "whole", "");
    desk.done(&full("whole", ""));
    with_drive(&desk, "killed", "");
    let mut kills = 0;
    for at in 0..60 {
        let time = Duration::from_millis(60 + 25 * at);
        if desk.killed_after(time, &full("killed", "")).1 {
            break;
        }
        kills += 1;
    }
    assert!(kills > 0, "it ended before it was killed once");
    desk.done(&full("killed", ""));
    let [whole, killed] = ["whole", "killed"].map(|name| report(&desk, name));
    assert_eq!(killed["stage"], "done");
    // A fill that begins again and looking at the cartridge again take of the budget, so that there may be less time for
    // samples, and none for a part.
    let parts = |report: &Value| -> BTreeSet<String> {
        let all = ["parts", "left_out"].map(|of| report[of].as_array().expect("parts").clone());
        all.iter()
            .flatten()
            .map(|part| part["name"].to_string())
            .collect()
    };
    assert_eq!(parts(&killed), parts(&whole));
    let measured = counts(&whole);
    for (what, _) in counts(&killed) {
        assert!(measured.iter().any(|(name, _)| *name == what), "{what}");
    }
    for part in killed["parts"].as_array().expect("parts") {
        assert!(has_enough(part) || part["ended"] == "out-of-time", "{part}");
    }
}

/// Hours in which nothing fits, and those of fills that were killed, are not held against those that are given then.
#[test]
fn until_a_plan_is_made_more_hours_may_be_given() {
    let desk = Desk::new();
    with_drive(&desk, "lib", "");
    let run = |hours: &str| {
        format!("drive check emulated:lib --full --hours {hours} -o lib.json --write")
    };
    let short = desk.run(&run("0.1"));
    assert_eq!(short.code, 2, "{}", short.err);
    assert!(short.err.contains("give more --hours"), "{}", short.err);
    assert_eq!(report(&desk, "lib")["stage"], "filling");
    let log = desk.read("lib.events.jsonl");
    let long = r#"{"action":"rewind","at_us":0,"took_us":18000000000,"to":{"block":0}}"#;
    desk.put("lib.events.jsonl", format!("{log}{long}\n"));
    desk.done(&run("1"));
    let done = report(&desk, "lib");
    assert_eq!(done["stage"], "done");
    assert!(
        done["took_us"].as_f64().expect("a time") < 1.1 * 3.6e9,
        "{done}"
    );
    let late = desk.run(&run("2"));
    assert_eq!(late.code, 2, "{}", late.err);
    assert!(
        late.err.contains("begun with other --hours"),
        "{}",
        late.err
    );
}

/// One drive measured with several seeds is as before; the same drive with slower mechanics is not, and what got worse is
/// named.
#[test]
fn a_former_report_shows_what_got_worse_and_nothing_else() {
    let desk = Desk::new();
    with_drive(&desk, "before", "");
    desk.done(&full("before", ""));
    for seed in [1, 2, 3] {
        let name = format!("same{seed}");
        with_drive(&desk, &name, "");
        let ran = desk.done(&full(&name, &format!("--seed {seed} --before before.json")));
        assert!(ran.text().contains("as before in all"), "{}", ran.text());
    }
    with_drive(&desk, "slower", "perturbed = 7");
    let ran = desk.run(&full("slower", "--before before.json --html page.html"));
    assert_eq!(ran.code, 1, "{}", ran.err);
    let named = "worse than in the former report: ";
    assert!(ran.err.contains(named), "{}", ran.err);
    assert!(ran.err.contains("locate"), "{}", ran.err);
    assert!(ran.text().contains("WORSE"), "{}", ran.text());
    assert!(desk.read("page.html").contains("Beside the former report"));
    desk.put(
        "half.json",
        desk.read("before.json")
            .replace("\"stage\": \"done\"", "\"stage\": \"reading\""),
    );
    desk.refused(&full("slower", "--before half.json"), &["has not ended"]);
    desk.refused(&full("slower", "--before none.json"), &["no such file"]);
}

const LIBRARY: &str =
    "--robot ibm3584 --drive lto1 --drives 3 --slots 20 --cartridges 10 --scale 1000000";

fn accept(library: &str, more: &str) -> String {
    let drives: Vec<String> = (0..3)
        .map(|at| format!("emulated:{library}#drive{at}"))
        .collect();
    let drives = drives.join(",");
    format!(
        "library accept emulated:{library} --drives {drives} --hours 6 -o {library}.json {more}"
    )
}

#[test]
fn a_library_is_accepted_killed_or_not_and_compared_with_a_former_report() {
    let desk = Desk::new();
    for name in ["whole", "killed"] {
        desk.done(&format!("emulate {name} {LIBRARY}"));
    }
    let ran = desk.done(&accept("whole", "--html page.html"));
    assert!(ran.err.contains("stress-3"), "{}", ran.err);
    assert!(
        ran.text().contains("mounts an hour, stress-2"),
        "{}",
        ran.text()
    );
    let page = desk.read("page.html");
    for words in ["<figure", "Beside the papers", "133"] {
        assert!(page.contains(words), "{words}");
    }
    for row in ["mounts an hour, two at once", "robot, slot to drive, s"] {
        let (_, here) = page.split_once(&format!("{row}</td>")).expect(row);
        assert!(
            !here.starts_with("<td class=\"n\">-<"),
            "{row} was measured"
        );
    }
    let whole = report(&desk, "whole");
    assert_eq!(whole["stage"], "done");
    assert_eq!(whole["failures"], serde_json::json!([]));
    for seed in [2, 3] {
        let name = format!("other{seed}");
        desk.done(&format!("emulate {name} {LIBRARY}"));
        let other = desk.done(&accept(
            &name,
            &format!("--seed {seed} --before whole.json"),
        ));
        let text = other.text();
        assert!(text.contains("as before in all"), "{text}");
    }
    for at in 0..40 {
        let time = Duration::from_millis(40 + 20 * at);
        if desk.killed_after(time, &accept("killed", "")).1 {
            break;
        }
    }
    desk.done(&accept("killed", ""));
    let killed = report(&desk, "killed");
    let names = |report: &Value| -> Vec<String> {
        counts(report).into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names(&killed), names(&whole));
    desk.refused(&accept("killed", "--before before.json"), &["no such file"]);
    desk.refused(
        "library accept emulated:whole --drives emulated:whole#drive0 -o x.json",
        &["--hours"],
    );
}

/// Who has stopped an acceptance that writes may come back with another cartridge in the drive.
#[test]
fn an_acceptance_that_writes_goes_on_with_no_other_cartridge() {
    let desk = Desk::new();
    let spec = "--robot ibm3584 --drive lto8 --drives 1 --slots 4 --cartridges 2 --scale 20000";
    desk.done(&format!("emulate lib {spec}"));
    let drive = "emulated:lib#drive0";
    desk.done("library mount emulated:lib TW0001 --drive TWD0000001");
    let run = format!("drive check {drive} --full --hours 1 -o lib.json --write");
    desk.done(&run);
    desk.done("library dismount emulated:lib TW0001");
    desk.done("library mount emulated:lib TW0002 --drive TWD0000001");
    let done = desk.read("lib.json");
    for stage in ["filling", "reading", "writing"] {
        let stopped = done.replace("\"stage\": \"done\"", &format!("\"stage\": \"{stage}\""));
        desk.put("lib.json", &stopped);
        let other = desk.run(&run);
        assert_eq!(other.code, 3, "{stage}: {}", other.err);
        assert!(other.err.contains("another cartridge"), "{}", other.err);
    }
    // A drive that does not tell who the cartridge is.
    let mut nameless: Value = serde_json::from_str(&desk.read("lib.json")).expect("JSON");
    nameless["medium"] = Value::Null;
    desk.put("lib.json", nameless.to_string());
    let other = desk.run(&run);
    assert_eq!(other.code, 3, "{}", other.err);
    assert!(other.err.contains("--overwrite"), "{}", other.err);
}
