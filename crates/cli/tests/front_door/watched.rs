//! What `serve` and `mover` tell of their work: metrics that agree with the event log, and a log for programs.

use crate::archive::{catalogue, desk, empty_cache, make_files_of};
use crate::program::TAPEWISE;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tapewise_archive::catalogue::{Files, NewRecall, Requests, Terms};

/// The metrics of drives, as the lines of an event log after the first `skip` give them.
fn of_log(log: &Path, skip: usize) -> BTreeMap<String, f64> {
    let text = std::fs::read_to_string(log).expect("an event log");
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    let mut loaded: BTreeMap<String, String> = BTreeMap::new();
    for line in text.lines().skip(skip) {
        let event: Value = serde_json::from_str(line).expect("JSON");
        let Some(action) = event["action"].as_str() else {
            continue;
        };
        let drive = event["device"].as_str().expect("a drive");
        let kind = match action {
            "fetch" | "return" | "mount" | "unmount" => "mount",
            "locate" | "rewind" | "read-through" => "position",
            "read" => "read",
            _ => continue,
        };
        let mut add = |name: &str, labels: &str, value: f64| {
            let name = format!("tapewise_{name}_total{{drive=\"{drive}\"{labels}}}");
            *sums.entry(name).or_default() += value;
        };
        let seconds = |value: &Value| value.as_f64().expect("microseconds") / 1e6;
        let labels = format!(",action=\"{kind}\"");
        add("drive_seconds", &labels, seconds(&event["took_us"]));
        if event["predicted_us"].is_number() {
            add(
                "predicted_seconds",
                &labels,
                seconds(&event["predicted_us"]),
            );
            add(
                "predicted_actual_seconds",
                &labels,
                seconds(&event["took_us"]),
            );
        }
        if event["plan"]["bound_us"].is_number() {
            add("plans", "", 1.0);
            add("plan_seconds", "", seconds(&event["plan"]["predicted_us"]));
            add(
                "plan_bound_seconds",
                "",
                seconds(&event["plan"]["bound_us"]),
            );
        }
        let cartridge = event["cartridge"].as_str().unwrap_or_default();
        let is_in = loaded.get(drive).is_some_and(|in_it| in_it == cartridge);
        match action {
            // More is read of the cartridge that is loaded.
            "mount" if is_in => {}
            "mount" => {
                add("drive_loads", "", 1.0);
                loaded.insert(drive.to_owned(), cartridge.to_owned());
            }
            "fetch" | "unmount" | "return" => {
                loaded.remove(drive);
            }
            _ => {}
        }
    }
    sums
}

/// Compares metrics with `lines` and with all that an event log gives of drives.
///
/// Drives go on while this looks (they take cartridges home), and what they did is in the log before it is
/// counted: it looks again until both say the same, and gives up after a minute.
pub fn agree(metrics: impl Fn() -> String, lines: &[&str], log: &Path, skip: usize) {
    let start = Instant::now();
    loop {
        let metrics = metrics();
        let expected = of_log(log, skip);
        assert!(expected.keys().any(|name| name.contains("plan_bound")));
        let differs = expected.into_iter().find_map(|(name, expected)| {
            let told = metrics.lines().find_map(|line| line.strip_prefix(&name));
            let told: Option<f64> = told.map(|told| told.trim().parse().expect("a number"));
            let is_same = told.is_some_and(|told| (told - expected).abs() < 1e-3);
            (!is_same).then(|| format!("{name} {told:?}, {expected}"))
        });
        let missing = lines.iter().find(|line| !metrics.contains(**line));
        let Some(differs) = differs.or(missing.map(|line| format!("no {line} in {metrics}")))
        else {
            return;
        };
        assert!(start.elapsed() < Duration::from_secs(60), "{differs}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What is served at an address without a token.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

struct Mover(Child);

impl Drop for Mover {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_mover_tells_prometheus_what_its_drives_did_and_programs_what_it_said() {
    let desk = desk();
    let files = make_files_of(&desk, "reel", 12, 6_000);
    desk.done("store --archive A reel --quiet");
    empty_cache(&desk);
    let log = desk.path().join("A/events.jsonl");
    let skip = std::fs::read_to_string(&log)
        .expect("a log")
        .lines()
        .count();
    let catalogue = catalogue(&desk);
    let recalls = files.iter().filter(|(_, contents)| !contents.is_empty());
    let recalls = recalls.map(|(name, _)| NewRecall {
        file: catalogue
            .live_file(name.as_bytes())
            .expect("a catalogue")
            .expect("a file"),
        terms: Terms::default(),
        destination: None,
    });
    let recalls: Vec<NewRecall> = recalls.collect();
    catalogue.submit(&recalls, 1).expect("queued");
    let child = Command::new(TAPEWISE)
        .args([
            "mover",
            "--archive",
            "A",
            "--metrics",
            "127.0.0.1:0",
            "--log-format",
            "json",
        ])
        .current_dir(desk.path())
        .env("TAPEWISE_CONFIG", "")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut mover = Mover(child);
    let mut lines = BufReader::new(mover.0.stderr.take().expect("a pipe")).lines();
    let mut said = Vec::new();
    let mut has_delivered = false;
    while !has_delivered {
        let line = lines.next().expect("it goes on").expect("a line");
        let line: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        for key in ["time", "level", "message"] {
            assert!(line[key].is_string(), "{line}");
        }
        let message = line["message"].as_str().unwrap_or_default();
        has_delivered = message.starts_with("delivered");
        said.push(line);
    }
    let begins = |words: &str| {
        let message = |line: &&Value| {
            line["message"]
                .as_str()
                .is_some_and(|said| said.starts_with(words))
        };
        said.iter().find(message).expect(words)
    };
    let mounted = begins("mount of ");
    assert!(
        mounted["epoch"].is_u64() && mounted["drive"].is_string(),
        "{mounted}"
    );
    let robot = begins("the robot takes ");
    assert_eq!(robot["volume"], mounted["volume"], "{robot}");
    let message = said[0]["message"].as_str().expect("words");
    let (_, address) = message.split_once("http://").expect("an address");
    let address = address.trim_end_matches("/metrics");
    let delivered = format!(
        "tapewise_recalls_total{{outcome=\"delivered\"}} {}\n",
        recalls.len()
    );
    agree(|| get(address, "/metrics"), &[&delivered], &log, skip);
    assert!(get(address, "/health/live").starts_with("HTTP/1.1 200"));
}
