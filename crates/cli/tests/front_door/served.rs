//! `emulate --iscsi`: the program serves a library, and uses it over iSCSI like anybody else.

use crate::archive::{empty_cache, make_files_of, recall_and_compare};
use crate::program::{Desk, TAPEWISE};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A library that is being served, with the addresses of its units.
pub struct Served {
    child: Child,
    pub units: Vec<String>,
}

impl Served {
    pub fn start(desk: &Desk, args: &str, units: usize) -> Served {
        let mut child = Command::new(TAPEWISE)
            .args(args.split_whitespace())
            .current_dir(desk.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let units = lines
            .take(units)
            .map(|line| {
                line.expect("an address")
                    .split(' ')
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect();
        Served { child, units }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether libiscsi can be loaded here; without it the test says loudly that it did nothing.
fn has_libiscsi() -> bool {
    let listed = Command::new("sh")
        .args(["-c", "ldconfig -p || /sbin/ldconfig -p"])
        .output();
    let found = listed
        .is_ok_and(|listed| String::from_utf8_lossy(&listed.stdout).contains("libiscsi.so.7"));
    if !found {
        eprintln!(
            "SKIPPED: the program over iSCSI to its own target: there is no libiscsi.so.7 here"
        );
    }
    found
}

#[test]
fn files_go_to_a_served_library_and_come_back() {
    if !has_libiscsi() {
        return;
    }
    let desk = Desk::new();
    let served = Served::start(
        &desk,
        "emulate lib --robot ibm3584 --drives 2 --slots 8 --cartridges 4 --scale 100000 --iscsi 127.0.0.1:0 \
         --commands commands.jsonl",
        3,
    );
    let [robot, one, two] = &served.units[..] else {
        panic!("a robot and two drives: {:?}", served.units);
    };
    let inventory = desk.done(&format!("library inventory {robot} --json"));
    assert_eq!(inventory.json()["drives"].as_array().map(Vec::len), Some(2));
    let status = desk.done(&format!("drive status {one}"));
    assert!(status.text().contains("ULT3580-TD8"), "{}", status.text());
    desk.done(&format!(
        "catalog init A --drive {one} --drive {two} --changer {robot} --profile lto8 --block-size 8192 --segment-size \
         32768 --cache-gb 0.1"
    ));
    let files = make_files_of(&desk, "reel", 12, 20_000);
    desk.done("store --archive A reel");
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
    let commands = desk.read("commands.jsonl");
    for command in ["MOVE MEDIUM", "WRITE", "READ", "LOCATE"] {
        assert!(
            commands.contains(&format!("\"command\":\"{command}\"")),
            "{command}"
        );
    }
    let seen = desk.done("emulate status lib --json").json();
    assert_eq!(seen["drives"].as_array().map(Vec::len), Some(2));
    drop(served);
    assert_eq!(
        desk.run("emulate status lib").code,
        5,
        "nobody serves it any more"
    );
}

#[test]
fn an_address_that_others_can_reach_is_warned_of_and_a_short_secret_refused() {
    let desk = Desk::new();
    desk.put("secret", "short\n");
    let refused =
        desk.run("emulate lib --iscsi 127.0.0.1:0 --chap-user me --chap-secret-file secret");
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("shorter than 12 bytes"),
        "{}",
        refused.err
    );
    let nowhere = desk.run("emulate lib2 --iscsi nonsense");
    assert_eq!(nowhere.code, 2, "{}", nowhere.err);
}
