//! `tapewise serve`: files staged over HTTP from an emulated library, also when the service is killed on the way.

use crate::archive::{catalogue, desk, empty_cache, make_files_of};
use crate::program::Desk;
use crate::watched::agree;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;
use tapewise_archive::catalogue::{Catalogue, Requests, Volumes, Writes};
use tapewise_archive::sums::{Kind, Sum};
use tapewise_house::root;
use tapewise_house::tgt::{lacks, skip};

/// A service that runs, and is killed at the end of the test.
pub struct Running {
    child: Child,
    address: String,
    token: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    fn start(desk: &Desk) -> Running {
        Running::start_with(desk, "", &[])
    }

    /// The same with more arguments, and with variables of the environment.
    pub fn start_with(desk: &Desk, args: &str, variables: &[(&str, &str)]) -> Running {
        let args = format!("serve --archive A --listen 127.0.0.1:0 {args}");
        let mut child = desk.start(&args, variables);
        let out = child.stdout.take().expect("a pipe");
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).expect("a line");
        let address = line.trim().trim_start_matches("http://");
        Running {
            child,
            address: address.trim_end_matches('/').to_owned(),
            token: desk.read("A/serve.token").trim().to_owned(),
        }
    }

    /// The status and the body of an answer.
    pub fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Vec<u8>) {
        self.ask_with(method, path, &[], body)
    }

    fn ask_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, Vec<u8>) {
        let headers = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"));
        let headers: String = headers.collect();
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\n\
             {headers}Connection: close\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
        let (head, body) = answer.split_at(end.expect("a head") + 4);
        let head = String::from_utf8_lossy(head).into_owned();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        (status.expect("a status"), body.to_vec())
    }

    fn json(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(method, path, &body.to_string());
        assert!(status < 300, "{}", String::from_utf8_lossy(&answer));
        serde_json::from_slice(&answer).expect("JSON")
    }

    /// Stages files; the request's id.
    fn stage<'a>(&self, names: impl Iterator<Item = &'a String>) -> String {
        self.stage_with(names, &[])
    }

    pub fn stage_with<'a>(
        &self,
        names: impl Iterator<Item = &'a String>,
        headers: &[(&str, &str)],
    ) -> String {
        let files: Vec<Value> = names
            .map(|name| json!({"path": format!("/{name}")}))
            .collect();
        let body = json!({ "files": files }).to_string();
        let (status, staged) = self.ask_with("POST", "/tape/v1/stage", headers, &body);
        assert_eq!(status, 201);
        let staged: Value = serde_json::from_slice(&staged).expect("JSON");
        staged["requestId"].as_str().expect("an id").to_owned()
    }

    /// Files of a stage that have a state.
    fn with_state(&self, id: &str, state: &str) -> usize {
        let path = format!("/tape/v1/stage/{id}");
        let polled = self.json("GET", &path, &json!({}));
        let files = polled["files"].as_array().expect("files");
        files.iter().filter(|file| file["state"] == state).count()
    }

    /// Waits until `count` files of a stage are there.
    fn wait_for(&self, id: &str, count: usize) {
        while self.with_state(id, "COMPLETED") < count {
            assert_eq!(self.with_state(id, "FAILED"), 0);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Reads all files and compares every byte.
    fn assert_serves(&self, files: &BTreeMap<String, Vec<u8>>) {
        for (name, contents) in files {
            let (status, read) = self.ask("GET", &format!("/files/{name}"), "");
            assert_eq!(status, 200, "{name}");
            assert!(&read == contents, "{name}");
        }
    }
}

/// Files on tape, and not in the cache.
fn on_tape(desk: &Desk, count: u64) -> BTreeMap<String, Vec<u8>> {
    let mut files = make_files_of(desk, "reel", count + 1, 6_000);
    desk.done("store --archive A reel --quiet");
    empty_cache(desk);
    files.retain(|_, contents| !contents.is_empty());
    files
}

#[test]
fn files_are_staged_from_tape_over_http_and_read() {
    let desk = desk();
    let files = on_tape(&desk, 20);
    let log = desk.path().join("A/events.jsonl");
    let skip = std::fs::read_to_string(&log).expect("a log");
    let service = Running::start(&desk);
    let token = std::fs::metadata(desk.path().join("A/serve.token")).expect("a file");
    assert_eq!(token.permissions().mode() & 0o777, 0o600);
    let id = service.stage(files.keys());
    service.wait_for(&id, files.len());
    service.assert_serves(&files);
    let metrics = || {
        let (status, metrics) = service.ask("GET", "/metrics", "");
        assert_eq!(status, 200);
        String::from_utf8(metrics).expect("text")
    };
    let delivered = format!(
        "tapewise_recalls_total{{outcome=\"delivered\"}} {}",
        files.len()
    );
    let bytes: usize = files.values().map(Vec::len).sum();
    let bytes = format!("tapewise_recalled_bytes_total {bytes}");
    let lines = [delivered.as_str(), bytes.as_str()];
    agree(metrics, &lines, &log, skip.lines().count());
}

#[test]
fn a_service_that_is_killed_goes_on_with_what_was_asked_for() {
    let desk = desk();
    let files = on_tape(&desk, 60);
    let service = Running::start(&desk);
    let id = service.stage(files.keys());
    service.wait_for(&id, 1);
    drop(service);
    let service = Running::start(&desk);
    service.wait_for(&id, files.len());
    service.assert_serves(&files);
    drop(service);
    let catalogue = catalogue(&desk);
    assert!(catalogue.unanswered().expect("a catalogue").is_empty());
    let findings = catalogue.integrity().expect("a catalogue");
    assert_eq!(findings, Vec::<String>::new());
}

#[test]
fn what_is_stored_beside_a_service_goes_to_tape_unless_it_only_recalls() {
    let desk = desk();
    let on_tape = on_tape(&desk, 3);
    let catalogue = catalogue(&desk);
    let waits = || {
        let next = catalogue.next_migrations(i64::MAX, 1).expect("a catalogue");
        !next.is_empty()
    };
    let service = Running::start_with(&desk, "--only-recall", &[]);
    let stored = make_files_of(&desk, "late", 5, 6_000);
    desk.done("store --archive A late --later --quiet");
    let id = service.stage(on_tape.keys());
    service.wait_for(&id, on_tape.len());
    assert!(waits());
    drop(service);
    let service = Running::start(&desk);
    let writes = || !catalogue.open_writes().expect("a catalogue").is_empty();
    while waits() || writes() {
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(service);
    let volumes = catalogue.volumes().expect("a catalogue");
    let labels: Vec<&str> = volumes
        .iter()
        .map(|(_, volume)| &volume.label[..])
        .collect();
    let verify = format!("catalog verify --archive A {} --json", labels.join(" "));
    let verified = desk.done(&verify).json();
    let verified = verified["volumes"].as_array().expect("volumes");
    let right: u64 = verified
        .iter()
        .filter_map(|one| one["right"].as_u64())
        .sum();
    // One of the files on tape is empty.
    assert_eq!(
        right as usize,
        on_tape.len() + 1 + stored.len(),
        "{verified:?}"
    );
}

#[test]
fn what_cannot_be_served_is_refused_before_anything_listens() {
    let desk = desk();
    let word = ["not an address to listen at", "127.0.0.1:8080"];
    desk.refused("serve --archive A --listen nowhere", &word);
    let word = ["not an address of a web server"];
    desk.refused("serve --archive A --url tape.example.org", &word);
    desk.put("open.token", "0123456789abcdef\n");
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(desk.path().join("open.token"), open).expect("set");
    let refused = desk.run("serve --archive A --token-file open.token");
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("chmod 600"), "{}", refused.err);
    desk.put("A/serve.toml", "[limits]\nfiles = 0\n");
    desk.refused("serve --archive A", &["A/serve.toml", "`limits.files`"]);
    desk.put("A/serve.toml", "audit_file = \"nowhere/audit\"\n");
    desk.refused(
        "serve --archive A",
        &["the audit trail", "nowhere/audit", "hint: "],
    );
    let all = std::fs::Permissions::from_mode(0o666);
    std::fs::set_permissions(desk.path().join("A/serve.toml"), all).expect("set");
    let refused = desk.run("serve --archive A");
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("chmod go-w"), "{}", refused.err);
}

#[test]
fn a_user_with_a_new_token_is_let_in_when_the_settings_are_read_again() {
    let desk = desk();
    let mut service = Running::start(&desk);
    let made = desk.done("serve --archive A --new-token alice");
    service.token = made.text().trim().to_owned();
    let (_, lines) = made.err.split_once("\n\n").expect("lines for serve.toml");
    let info = |service: &Running| {
        service
            .ask("POST", "/tape/v1/archiveinfo", "{\"paths\": []}")
            .0
    };
    let reload = |text: &str| {
        desk.put("A/serve.toml", text);
        let pid = service.child.id().to_string();
        let sent = Command::new("kill").args(["-HUP", &pid]).status();
        assert!(sent.is_ok_and(|sent| sent.success()));
    };
    assert_eq!(info(&service), 401);
    // Somebody has to say which directories.
    reload(lines);
    assert_eq!(info(&service), 401);
    reload(&lines.replace("DIRECTORY", "/"));
    while info(&service) != 200 {
        std::thread::sleep(Duration::from_millis(20));
    }
    // What is wrong changes nothing, and without its lines the user is out.
    reload("usr = 1");
    assert_eq!(info(&service), 200);
    reload("");
    while info(&service) != 401 {
        std::thread::sleep(Duration::from_millis(20));
    }
}

const GFAL: [&str; 7] = [
    "gfal-bringonline",
    "gfal-xattr",
    "gfal-archivepoll",
    "gfal-ls",
    "gfal-sum",
    "gfal-copy",
    "gfal-evict",
];

/// What a command of gfal2 prints: it ends with 0 also when files fail.
fn gfal(service: &Running, command: &Path, args: &[&str]) -> String {
    let output = Command::new(command)
        .args(args)
        // Debian's own; whatever else is on the path does not know gfal2.
        .env("GFAL_PYTHONBIN", "/usr/bin/python3")
        .env("BEARER_TOKEN", &service.token)
        .output()
        .expect("gfal2 runs");
    let said = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&said).into_owned()
}

/// The client that FTS and Rucio are built on, as Debian has it.
#[test]
fn gfal2_stages_polls_reads_and_releases_files() {
    if let Some(why) = lacks(&GFAL) {
        return skip("gfal2 stages files", &why);
    }
    stage_poll_read_and_release(Path::new("/usr/bin"));
}

/// The same commands, written anew by others.
#[test]
fn xgfalclient_stages_polls_reads_and_releases_files() {
    let programs = root().join("target/peers/bin");
    if !GFAL.iter().all(|name| programs.join(name).is_file()) {
        let why = "xgfalclient is not installed; `make targets` installs it";
        return skip("xgfalclient stages files", why);
    }
    stage_poll_read_and_release(&programs);
}

fn stage_poll_read_and_release(programs: &Path) {
    let desk = desk();
    let files = on_tape(&desk, 3);
    let service = Running::start(&desk);
    let url = |name: &str| format!("dav://{}/{name}", service.address);
    let of = |command: &str, args: &[&str]| gfal(&service, &programs.join(command), args);

    let one = url(files.keys().next().expect("a file"));
    let locality = of("gfal-xattr", &[&one, "user.status"]);
    assert!(locality.contains("NEARLINE"), "{locality}");
    assert!(!locality.contains("ONLINE_AND"), "{locality}");

    let missing = url("nothing");
    let wanted = files.keys().map(|name| url(name)).chain([missing.clone()]);
    let wanted: Vec<String> = wanted.collect();
    desk.put("wanted", wanted.join("\n"));
    let list = desk.path().join("wanted").display().to_string();
    let staged = of(
        "gfal-bringonline",
        &["--polling-timeout", "60", "--from-file", &list],
    );
    for name in files.keys() {
        let ready = format!("{} READY", url(name));
        assert!(staged.contains(&ready), "{staged}");
    }
    let failed = format!("{missing} => FAILED");
    assert!(staged.contains(&failed), "{staged}");
    service.assert_serves(&files);

    let locality = of("gfal-xattr", &[&one, "user.status"]);
    assert!(locality.contains("ONLINE_AND_NEARLINE"), "{locality}");
    let archived = of("gfal-archivepoll", &[&one]);
    assert!(archived.contains("READY"), "{archived}");
    // The same URL is looked at and read, and has the sum by which sites of the grid compare copies.
    let (name, contents) = files.iter().next().expect("a file");
    let (directory, inner) = name.split_once('/').expect("in a directory");
    let listed = of("gfal-ls", &["-l", &url(directory)]);
    let lists = |line: &str| line.contains(inner) && line.contains(&contents.len().to_string());
    assert!(listed.lines().any(lists), "{listed}");
    let sum = Sum::of(Kind::Adler32, contents).hex();
    let told = of("gfal-sum", &[&one, "ADLER32"]);
    assert!(told.contains(&sum), "{told}, not {sum}");
    let back = desk.path().join("back");
    let to = format!("file://{}", back.display());
    let copied = of("gfal-copy", &[&one, &to]);
    assert!(
        std::fs::read(&back).is_ok_and(|read| read == *contents),
        "{copied}"
    );
    let released = of("gfal-evict", &[&one]);
    assert_eq!(released, "");
}

/// Rucio's own protocol for storage that speaks WebDAV: it looks at the directory of the site first, and at what is on tape.
#[test]
fn rucio_looks_at_a_file_and_fetches_it() {
    const SCRIPT: &str = "\
import sys
from rucio.rse.protocols.webdav import Default
host, port, token, name, to = sys.argv[1:]
where = {'scheme': 'http', 'hostname': host, 'port': int(port), 'prefix': '/reel/'}
tape = Default({'auth_token': token, **where}, {'deterministic': False, 'sign_url': None})
tape.connect()
print(tape.exists('nothing'), tape.exists(name), tape.stat(tape.path2pfn(name))['filesize'])
if to:
    tape.get(name, to)
";
    let python = root().join("target/peers/bin/python");
    let run = |args: &[&str]| Command::new(&python).arg("-c").args(args).output();
    if !run(&["import rucio"]).is_ok_and(|ran| ran.status.success()) {
        let why = "Rucio's client is not installed; `make targets` installs it";
        return skip("Rucio fetches a file", why);
    }
    let desk = desk();
    let files = on_tape(&desk, 1);
    let (name, contents) = files.iter().next().expect("a file");
    let service = Running::start(&desk);
    let (host, port) = service.address.split_once(':').expect("a port");
    let inner = name.strip_prefix("reel/").expect("in the directory");
    let asks = |to: &str| {
        let ran = run(&[SCRIPT, host, port, &service.token, inner, to]).expect("Python runs");
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        (said, String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    let seen = format!("False True {}\n", contents.len());
    let (said, why) = asks("");
    assert_eq!(said, seen, "{why}");
    service.wait_for(&service.stage(files.keys()), 1);
    let back = desk.path().join("back");
    let (said, why) = asks(&back.display().to_string());
    assert_eq!(said, seen, "{why}");
    let read = std::fs::read(&back);
    assert!(read.is_ok_and(|read| read == *contents), "{why}");
}
