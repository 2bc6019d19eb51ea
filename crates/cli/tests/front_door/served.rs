//! `emulate --iscsi`: the program serves a library, and uses it over iSCSI like anybody else.

use crate::archive::{empty_cache, make_files_of, recall_and_compare};
use crate::program::{Desk, TAPEWISE};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

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

/// How many files a process has open, and how many threads it has.
fn held(process: u32) -> (usize, usize) {
    let count = |what| {
        let entries = std::fs::read_dir(format!("/proc/{process}/{what}"));
        entries.expect("a running process").count()
    };
    (count("fd"), count("task"))
}

#[test]
fn initiators_that_misbehave_leave_no_file_and_no_thread_behind() {
    const PATIENCE: Duration = Duration::from_secs(120);
    let desk = Desk::new();
    let served = Served::start(
        &desk,
        "emulate lib --robot ibm3584 --drives 1 --slots 8 --cartridges 2 --scale 100000 --iscsi 127.0.0.1:0",
        2,
    );
    let process = served.child.id();
    let portal = served.units[0].trim_start_matches("iscsi://");
    let portal = portal.split('/').next().expect("a portal");
    let before = held(process);
    // No PDU at all, a login that ends within its header, one that promises 16 MiB, and nothing.
    let mut promising = [0; 48];
    promising[..8].copy_from_slice(&[0x43, 0x87, 0, 0, 0, 0xff, 0xff, 0xff]);
    let openings: [&[u8]; 4] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[0x43, 0x87, 0, 0, 0],
        &promising,
        b"",
    ];
    let flood: Vec<TcpStream> = openings
        .iter()
        .cycle()
        .take(400)
        .map(|opening| {
            let mut stream = TcpStream::connect(portal).expect("a connection");
            // Beyond the most connections that there may be, the target has closed it already.
            let _ = stream.write_all(opening);
            stream
        })
        .collect();
    let (_, threads) = held(process);
    assert!(threads > before.1, "nobody was let in");
    drop(flood);
    let start = Instant::now();
    // What the start of the program had open is closed by and by.
    let is_left = |now: (usize, usize)| now.0 > before.0 || now.1 > before.1;
    while is_left(held(process)) {
        let now = held(process);
        assert!(start.elapsed() < PATIENCE, "before {before:?}, now {now:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    if has_libiscsi() {
        let listed = desk.done(&format!("library inventory {}", served.units[0]));
        assert!(listed.text().contains("TW0001"), "{}", listed.text());
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
