//! `recall --archive` where drives have no robot: a person gets the pull list and puts cartridges in.

use crate::program::{Desk, TAPEWISE};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use tapewise_archive::catalogue::{Requests, SqliteCatalogue};
use tapewise_model::Random;

/// An archive on three volumes whose library has lost its robot, with nothing in its cache.
pub fn desk() -> (Desk, BTreeMap<String, Vec<u8>>) {
    let desk = Desk::new();
    desk.done("emulate lib --robot ibm3584 --drives 1 --slots 6 --cartridges 4 --scale 100000");
    desk.done(
        "catalog init A --drive emulated:lib#drive0 --changer emulated:lib#changer --profile lto8 \
         --block-size 8192 --segment-size 32768 --cache-gb 0.1",
    );
    let settings = desk.read("A/archive.toml");
    desk.put(
        "A/archive.toml",
        format!("{settings}volume_bytes = 100000\n"),
    );
    std::fs::create_dir(desk.path().join("reel")).expect("a directory");
    let mut files = BTreeMap::new();
    for number in 0..40 {
        let mut random = Random::new(8, number);
        let bytes = 1_000 + random.below(9_000);
        let contents: Vec<u8> = (0..bytes).map(|_| random.below(256) as u8).collect();
        let name = format!("reel/{number}.bin");
        desk.put(&name, &contents);
        files.insert(name, contents);
    }
    desk.done("store --archive A reel");
    crate::archive::empty_cache(&desk);
    let without = |name: &str, begin: &str| {
        let text = desk.read(name);
        let lines = text.lines().filter(|line| !line.starts_with(begin));
        desk.put(name, lines.collect::<Vec<_>>().join("\n"));
    };
    without("lib/library.toml", "robot");
    without("A/archive.toml", "changers");
    std::fs::remove_file(desk.path().join("lib/places.toml")).expect("places");
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    desk.put("list.txt", names.join("\n"));
    (desk, files)
}

/// The volumes of a pull list, in its order.
fn volumes(list: &str) -> Vec<String> {
    let of = |line: &str| {
        Some(
            line.strip_prefix("insert ")?
                .split_whitespace()
                .next()?
                .to_owned(),
        )
    };
    list.lines().filter_map(of).collect()
}

const RECALL: &str = "recall --archive A --to out --files-from list.txt";

#[test]
fn a_person_puts_in_what_the_list_says_and_a_wrong_cartridge_comes_out_again() {
    let (desk, files) = desk();
    let list = desk.done(&format!("{RECALL} --pull-list"));
    let expected = volumes(list.text());
    assert!(expected.len() >= 3, "{}", list.text());
    for words in ["into emulated:lib#drive0: ", " files, ", " kB, about ", "m"] {
        assert!(list.lines()[0].contains(words), "{}", list.text());
    }
    let args: Vec<&str> = RECALL.split_whitespace().collect();
    let mut child = Command::new(TAPEWISE)
        .args(args)
        .current_dir(desk.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // Held open and never used: the drive tells that the cartridge is in.
    let stdin = child.stdin.take();
    let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut said = String::new();
    let mut asked = Vec::new();
    for line in stderr.lines() {
        let line = line.expect("text");
        if line.contains("(the drive is watched") {
            let volume = volumes(&line).remove(0);
            // The first time by mistake the last one of the list.
            let given = if asked.is_empty() {
                expected.last().expect("a volume")
            } else {
                &volume
            };
            desk.put("lib/insert-0", given);
            asked.push(volume.clone());
        }
        said.push_str(&line);
        said.push('\n');
    }
    let ran = child.wait_with_output().expect("the program ends");
    drop(stdin);
    assert!(ran.status.success(), "{said}");
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(told.contains("delivered  40 files"), "{told}");
    assert_eq!(asked[0], asked[1], "asked again: {said}");
    assert_eq!(asked[1..], expected, "{said}");
    assert_eq!(
        volumes(&said)[..expected.len()],
        expected,
        "said before anything moved"
    );
    let wrong = format!("the label on tape says {}", expected[expected.len() - 1]);
    assert!(said.contains(&wrong), "{said}");
    for (name, contents) in &files {
        let back = std::fs::read(desk.path().join("out").join(name)).expect("delivered");
        assert!(&back == contents, "{name}");
    }
}

#[test]
fn where_nobody_is_there_what_is_missing_is_said_and_the_queue_keeps_it_only_if_it_shall() {
    let (desk, _) = desk();
    let ran = desk.run(RECALL);
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.err.contains("nobody is there to do it"), "{}", ran.err);
    assert!(ran.text().contains("withdrawn  40 files"), "{}", ran.text());
    let (_, after) = ran.err.split_once("still to be put in:").expect("the rest");
    let all = volumes(
        desk.done("recall --archive A --files-from list.txt --pull-list")
            .text(),
    );
    assert_eq!(volumes(after), all);
    let queued = || desk.done("recall queue --archive A --json").json()["requests"].clone();
    assert_eq!(queued().as_array().map(Vec::len), Some(0));
    let kept = desk.run(&format!("{RECALL} --keep-queued"));
    assert_eq!(kept.code, 5, "{}", kept.err);
    assert!(
        kept.text().contains("queued     40 files"),
        "{}",
        kept.text()
    );
    assert_eq!(queued().as_array().map(Vec::len), Some(40));
    let first = queued()[0].clone();
    assert_eq!(first["state"], "queued");
    let listed = desk.done("recall queue --archive A");
    let path = first["path"].as_str().expect("a path");
    assert!(listed.text().contains(path), "{}", listed.text());
    let narrow = desk.shell("COLUMNS=20 $TAPEWISE recall queue --archive A");
    assert!(narrow.text().contains(path), "{}", narrow.text());
    let one = desk.done(&format!("recall cancel --archive A {}", first["request"]));
    assert_eq!(one.text(), "cancelled  1 recall\n");
    desk.refused(
        &format!("recall cancel --archive A {}", first["request"]),
        &["no recall with the number"],
    );
    let rest = desk.done("recall cancel --archive A --to out");
    assert_eq!(rest.text(), "cancelled  39 recalls\n");
    assert_eq!(
        desk.done("recall queue --archive A").text(),
        "no recall waits\n"
    );
    let quiet = desk.run(&format!("{RECALL} --quiet"));
    let (before, _) = quiet.err.split_once("still to be put in:").expect("why");
    assert!(before.contains("(the drive is watched"), "{before}");
    assert!(!before.contains(", about "), "{before}");
}

#[test]
fn what_is_stored_where_no_robot_is_stays_in_the_cache_and_why_is_said() {
    let (desk, _) = desk();
    desk.put("more.bin", "more");
    let ran = desk.run("store --archive A more.bin");
    assert_eq!(ran.code, 7, "{}", ran.err);
    for words in [
        "within reach of a robot",
        "hint: ",
        "`changers` in archive.toml",
    ] {
        assert!(ran.err.contains(words), "{words:?} not in {}", ran.err);
    }
}

#[test]
fn options_that_an_archive_does_not_heed_are_refused() {
    let desk = Desk::new();
    for options in [
        "--profile lto8",
        "--batch-window 1s --pull-list",
        "--batch-window 1s --dry-run",
    ] {
        let recall = format!("recall --archive A --to out {options}");
        desk.refused(&recall, &["cannot be used with"]);
    }
}

#[test]
fn what_is_skipped_stays_in_the_queue_and_the_rest_is_read() {
    let (desk, _) = desk();
    let list = desk.done(&format!("{RECALL} --pull-list --json")).json();
    let cartridges = list["cartridges"].as_array().expect("cartridges").clone();
    let kept = &cartridges[cartridges.len() - 1];
    desk.put("lib/insert-0", kept["volume"].as_str().expect("a label"));
    // The last one is in the drive already; the others are not to be had.
    let ran = desk.run_with("s\n".repeat(cartridges.len() - 1), RECALL);
    assert_eq!(ran.code, 7, "{}", ran.err);
    let words = format!("delivered  {} files", kept["files"]);
    assert!(ran.text().contains(&words), "{}\n{}", ran.text(), ran.err);
    assert!(ran.err.contains("not put in"), "{}", ran.err);
}

#[test]
fn a_dry_run_of_an_archive_asks_for_nothing() {
    let (desk, _) = desk();
    let list = desk.done(&format!("{RECALL} --dry-run"));
    assert!(!volumes(list.text()).is_empty());
    assert!(!desk.names().contains(&"out".to_owned()));
    let catalogue = SqliteCatalogue::open(&desk.path().join("A/catalogue.db"));
    let waiting = catalogue.expect("a catalogue").unanswered();
    assert!(waiting.expect("a catalogue").is_empty());
}

#[test]
fn a_dry_run_says_why_each_cartridge_is_read_when_it_is_and_when_each_file_is_likely_to_be_there() {
    let (desk, files) = desk();
    let list = desk.done(&format!("{RECALL} --pull-list"));
    let dry = desk.done(&format!("{RECALL} --dry-run"));
    let more = dry
        .text()
        .strip_prefix(list.text())
        .expect("the list first");
    assert!(
        more.contains(", because it serves the most waiting requests for its drive time: "),
        "{more}"
    );
    for name in files.keys() {
        let line = more.lines().find(|line| line.ends_with(name.as_str()));
        assert!(
            line.is_some_and(|line| line.contains(" to ")),
            "{name} is not in:\n{more}"
        );
    }
}
