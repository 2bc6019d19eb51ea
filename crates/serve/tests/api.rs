//! The API as its clients use it, without a socket and without a drive: what a mover does is done by hand here.

use axum::body::Body;
use axum::http::{HeaderMap, Request, header};
use serde_json::{Value, json};
use std::sync::Arc;
use tapewise_archive::catalogue::{Answer, CacheKey, Catalogue, Cause, Failure, FileId, Recorded};
use tapewise_archive::open::Archive;
use tapewise_archive::record::{File, Owner, Segment, Volume, VolumeFormat, VolumeState};
use tapewise_archive::settings::ArchiveSettings;
use tapewise_serve::{Limits, Service, Site, Token, Work, router};
use tower::ServiceExt as _;

const NOW_S: i64 = 1_700_000_000;
const NS: i64 = 1_000_000_000;

/// An archive with five files of 100 bytes on tape and an empty one, and its service.
struct Desk {
    directory: tempfile::TempDir,
    catalogue: Arc<dyn Catalogue>,
    token: String,
    router: axum::Router,
}

struct Answered {
    status: u16,
    headers: HeaderMap,
    body: String,
}

impl Answered {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// An error as RFC 7807 wants it, with these words.
    fn refused(&self, status: u16, words: &str) {
        assert_eq!(self.status, status, "{}", self.body);
        assert_eq!(
            self.headers[header::CONTENT_TYPE],
            "application/problem+json"
        );
        let problem = self.json();
        assert_eq!(problem["status"], status);
        assert!(problem["title"].is_string());
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.contains(words), "{words:?} not in {detail:?}");
    }
}

fn desk(limits: Limits) -> Desk {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = ArchiveSettings {
        drives: vec!["/dev/sg0".to_owned()],
        changers: vec!["/dev/sg1".to_owned()],
        profile: "lto8".to_owned(),
        copies: 1,
        cache_high_bytes: 1 << 30,
        cache_low_bytes: 1 << 29,
        block_bytes: 8192,
        segment_bytes: 1 << 20,
        part_bytes: 1 << 30,
        volume_bytes: None,
        zstd_level: None,
        batch_window_s: None,
        catalogue: None,
        mounts: Default::default(),
        tiers: Vec::new(),
    };
    let archive = Archive::create(&directory.path().join("A"), &settings).expect("an archive");
    let volume = Volume {
        label: "T00001L8".to_owned(),
        uuid: "one".to_owned(),
        format: VolumeFormat::Tar,
        state: VolumeState::Full,
        block_bytes: 1000,
        next_block: 2,
        written_bytes: 0,
    };
    let recorded = |(block, path): (u64, &str)| {
        let bytes = if path == "d/empty" { 0 } else { 100 };
        Recorded {
            file: File {
                path: path.as_bytes().to_vec(),
                bytes,
                modified_ns: 3,
                mode: 0o644,
                sums: Vec::new(),
            },
            owner: Owner::default(),
            zstd_bytes: None,
            segments: vec![Segment {
                partition: 0,
                first_block: block,
                last_block: block,
                byte_offset: 0,
                bytes,
                file_offset: 0,
                start: None,
                end: None,
            }],
        }
    };
    let paths = ["d/1", "d/2", "d/3", "d/a b", "d/5", "d/empty"];
    let files: Vec<Recorded> = (10..).zip(paths).map(recorded).collect();
    let added = archive.catalogue.add_recorded(&volume, &files, 5);
    added.expect("added");
    Desk::open(directory, limits)
}

impl Desk {
    fn open(directory: tempfile::TempDir, limits: Limits) -> Desk {
        let path = directory.path().join("token");
        let (token, _) = Token::of_file(&path).expect("a token");
        let archive = Archive::open(&directory.path().join("A")).expect("an archive");
        let catalogue = Arc::clone(&archive.catalogue);
        let site = Site {
            name: "EXAMPLE <SITE>".to_owned(),
            url: None,
            planner: Some(b"<!doctype html><title>plan</title>"),
        };
        let work = Arc::new(Work::default());
        let service = Service::new(archive, token, site, limits, || NOW_S * NS, work);
        let text = std::fs::read_to_string(path).expect("a token");
        Desk {
            token: format!("Bearer {}", text.trim()),
            directory,
            catalogue,
            router: router(Arc::new(service)),
        }
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answered {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.header(header::HOST, "tape.example.org:8080");
        let request = request.body(body.into()).expect("a request");
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime").block_on(async {
            let response = self.router.clone().oneshot(request).await;
            let (head, body) = response.expect("an answer").into_parts();
            let body = axum::body::to_bytes(body, 1 << 26).await.expect("a body");
            Answered {
                status: head.status.as_u16(),
                headers: head.headers,
                body: String::from_utf8(body.to_vec()).expect("text"),
            }
        })
    }

    fn ask(&self, method: &str, path: &str, body: impl Into<Body>) -> Answered {
        self.send(method, path, &[("authorization", &self.token)], body)
    }

    fn post(&self, path: &str, body: impl Into<Body>) -> Answered {
        self.ask("POST", &format!("/tape/v1/{path}"), body)
    }

    /// Stages files, and returns the request's id.
    fn stage(&self, paths: &[&str]) -> String {
        let answer = self.post("stage", files(paths));
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.json()["requestId"]
            .as_str()
            .expect("an id")
            .to_owned()
    }

    /// The files of a poll: `path STATE`, and the error after it.
    fn poll(&self, id: &str) -> Vec<String> {
        let answer = self.ask("GET", &format!("/tape/v1/stage/{id}"), "");
        assert_eq!(answer.status, 200, "{}", answer.body);
        let answer = answer.json();
        let files = answer["files"].as_array().expect("files").iter();
        let line = |file: &Value| {
            assert!(file.get("onDisk").is_none(), "either state or onDisk");
            let text = |key: &str| file[key].as_str().expect(key).to_owned();
            let error = file.get("error").map(|_| format!(": {}", text("error")));
            format!(
                "{} {}{}",
                text("path"),
                text("state"),
                error.unwrap_or_default()
            )
        };
        files.map(line).collect()
    }

    fn file(&self, path: &str) -> FileId {
        let file = self.catalogue.live_file(path.as_bytes());
        file.expect("a catalogue").expect("a file")
    }

    /// What a mover does: the file comes into the cache, and its recall is answered.
    fn deliver(&self, path: &str, contents: &[u8]) {
        let file = self.file(path);
        let open = self.catalogue.unanswered().expect("a catalogue");
        let request = open.iter().find(|open| open.file == file).expect("asked");
        let key = CacheKey(file.0 as u64);
        let cache = self.directory.path().join("A/cache");
        let place = cache.join(format!("{:02x}/{:016x}", key.0 & 0xff, key.0));
        std::fs::create_dir_all(place.parent().expect("a directory")).expect("made");
        std::fs::write(place, contents).expect("written");
        let at_ns = (NOW_S + 60) * NS;
        self.catalogue.start(&[request.id], at_ns).expect("started");
        let bytes = contents.len() as u64;
        let staged = self.catalogue.stage_cached(key, file, bytes, at_ns);
        staged.expect("in the cache");
        let answered = self.catalogue.answer(request.id, &Answer::Delivered, at_ns);
        answered.expect("answered");
    }

    fn pinned(&self) -> u64 {
        let holds = self.catalogue.cache_holds(NOW_S * NS);
        holds.expect("a catalogue").pinned_files
    }

    fn open_recalls(&self) -> usize {
        let all = self.catalogue.unanswered().expect("a catalogue");
        let counted = self.catalogue.open_recalls().expect("a catalogue");
        assert_eq!(counted.queued + counted.started, all.len() as u64);
        let oldest_ns = all.iter().map(|request| request.created_ns).min();
        assert_eq!(counted.oldest_ns, oldest_ns);
        all.len()
    }
}

fn files(paths: &[&str]) -> String {
    let files: Vec<Value> = paths.iter().map(|path| json!({ "path": path })).collect();
    json!({ "files": files }).to_string()
}

fn paths(paths: &[&str]) -> String {
    json!({ "paths": paths }).to_string()
}

#[test]
fn discovery_needs_no_token_and_everything_else_does() {
    let desk = desk(Limits::default());
    let found = desk.send("GET", "/.well-known/wlcg-tape-rest-api", &[], "");
    let found = found.json();
    assert_eq!(found["sitename"], "EXAMPLE <SITE>");
    let endpoint = &found["endpoints"][0];
    assert_eq!(endpoint["version"], "v1");
    assert_eq!(endpoint["uri"], "http://tape.example.org:8080/tape/v1");
    for (method, path) in [
        ("POST", "/tape/v1/stage"),
        ("GET", "/tape/v1/stage/x"),
        ("GET", "/metrics"),
        ("GET", "/files/d/1"),
        ("GET", "/nowhere"),
    ] {
        for token in ["", "Bearer wrong", "Basic x"] {
            let headers = [("authorization", token)];
            let answer = desk.send(method, path, &headers, files(&["/d/1"]));
            answer.refused(401, "Authorization: Bearer");
        }
    }
    assert_eq!(desk.open_recalls(), 0);
}

#[test]
fn a_file_is_staged_polled_read_and_released() {
    let desk = desk(Limits::default());
    let id = desk.stage(&["/d/1", "/d/2"]);
    assert_eq!(desk.poll(&id), ["/d/1 SUBMITTED", "/d/2 SUBMITTED"]);
    let unread = desk.ask("GET", "/files/d/1", "");
    unread.refused(409, "Stage it first");
    desk.deliver("d/1", &[7; 100]);
    assert_eq!(desk.poll(&id), ["/d/1 COMPLETED", "/d/2 SUBMITTED"]);
    let stage = format!("/tape/v1/stage/{id}");
    let open = desk.ask("GET", &stage, "").json();
    assert_eq!(
        (&open["createdAt"], &open["startedAt"]),
        (&json!(NOW_S), &json!(NOW_S + 60))
    );
    assert!(open.get("completedAt").is_none(), "d/2 is open");
    desk.deliver("d/2", &[7; 100]);
    let done = desk.ask("GET", &stage, "").json();
    assert_eq!(done["completedAt"], NOW_S + 60);
    let read = desk.ask("GET", "/files/d/1", "");
    assert_eq!((read.status, read.body.as_bytes()), (200, &[7; 100][..]));

    assert_eq!(desk.pinned(), 2);
    let release = format!("release/{id}");
    let foreign = desk.post(&release, paths(&["/d/1", "/d/3"]));
    foreign.refused(400, "/d/3");
    assert_eq!(desk.pinned(), 2, "nothing was changed");
    let released = desk.post(&release, paths(&["/d/1"]));
    assert_eq!((released.status, released.body.as_str()), (200, ""));
    assert_eq!(desk.pinned(), 1);
    let released = desk.post("release/gfal2-placeholder-id", paths(&["/d/2"]));
    assert_eq!((released.status, desk.pinned()), (200, 0));
}

#[test]
fn a_path_comes_back_once_and_as_it_was_spelled() {
    let desk = desk(Limits::default());
    let id = desk.stage(&["//d/./1", "/d/1", "/d/1", "/d/a%20b"]);
    let said = ["//d/./1 SUBMITTED", "/d/1 SUBMITTED", "/d/a%20b SUBMITTED"];
    assert_eq!(desk.poll(&id), said);
    assert_eq!(desk.open_recalls(), 2, "two spellings are one recall");
}

#[test]
fn bad_files_fail_one_by_one_and_what_is_on_disk_is_done() {
    let desk = desk(Limits::default());
    desk.stage(&["/d/1"]);
    desk.deliver("d/1", &[1; 100]);
    let id = desk.stage(&["/d/1", "/d", "/nobody", "/d/empty", "/../x", "/d/2"]);
    let said = [
        "/../x FAILED: the path climbs out with \"..\"",
        "/d FAILED: this is a directory: ask for the files in it",
        "/d/1 COMPLETED",
        "/d/2 SUBMITTED",
        "/d/empty FAILED: the file is empty: there is nothing to bring from tape",
        "/nobody FAILED: the archive has no such file",
    ];
    assert_eq!(desk.poll(&id), said);
}

#[test]
fn an_error_stands_only_where_a_file_has_failed_for_good() {
    let desk = desk(Limits::default());
    let id = desk.stage(&["/d/1", "/d/2"]);
    let open = desk.catalogue.unanswered().expect("a catalogue");
    let ids: Vec<_> = open.iter().map(|open| open.id).collect();
    desk.catalogue.start(&ids, 1).expect("started");
    assert_eq!(desk.poll(&id), ["/d/1 STARTED", "/d/2 STARTED"]);
    // A drive failed: that is not the file's end.
    desk.catalogue.requeue(&ids).expect("queued again");
    let failed = Answer::Failed(Failure::new(Cause::Unreadable, "medium error"));
    desk.catalogue.answer(ids[0], &failed, 2).expect("answered");
    let said = ["/d/1 FAILED: medium error", "/d/2 SUBMITTED"];
    assert_eq!(desk.poll(&id), said);
}

#[test]
fn cancel_is_all_or_nothing_and_delete_forgets() {
    let desk = desk(Limits::default());
    let id = desk.stage(&["/d/1", "/d/2"]);
    let cancel = format!("stage/{id}/cancel");
    desk.post(&cancel, paths(&["/d/1", "/d/5"]))
        .refused(400, "/d/5");
    assert_eq!(desk.poll(&id), ["/d/1 SUBMITTED", "/d/2 SUBMITTED"]);
    let cancelled = desk.post(&cancel, paths(&["d//1"]));
    assert_eq!((cancelled.status, cancelled.body.as_str()), (200, ""));
    assert_eq!(desk.poll(&id), ["/d/1 CANCELLED", "/d/2 SUBMITTED"]);
    let released = desk.post(&format!("release/{id}"), paths(&["/d/1"]));
    assert_eq!(released.status, 200, "after a cancel it does nothing");
    let stage = format!("/tape/v1/stage/{id}");
    let deleted = desk.ask("DELETE", &stage, "");
    assert_eq!((deleted.status, deleted.body.as_str()), (200, ""));
    assert_eq!(desk.open_recalls(), 0);
    for method in ["GET", "DELETE"] {
        let gone = desk.ask(method, &stage, "");
        gone.refused(404, "no stage request with this id");
    }
}

#[test]
fn every_address_is_served_with_a_slash_behind_it_too() {
    let desk = desk(Limits::default());
    let staged = desk.post("stage/", files(&["/d/1"]));
    assert_eq!(staged.status, 201);
    let id = staged.json()["requestId"]
        .as_str()
        .expect("an id")
        .to_owned();
    let location = format!("http://tape.example.org:8080/tape/v1/stage/{id}");
    assert_eq!(staged.headers[header::LOCATION], location.as_str());
    for (method, path) in [
        ("GET", format!("stage/{id}/")),
        ("POST", format!("stage/{id}/cancel/")),
        ("POST", format!("release/{id}/")),
        ("POST", "archiveinfo/".to_owned()),
        ("DELETE", format!("stage/{id}/")),
    ] {
        let answer = desk.ask(method, &format!("/tape/v1/{path}"), paths(&["/d/1"]));
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.body);
    }
}

#[test]
fn a_request_that_is_sent_again_with_its_key_is_carried_out_once() {
    let desk = desk(Limits::default());
    let send = |key: &str, paths: &[&str]| {
        let headers = [
            ("authorization", desk.token.as_str()),
            ("Idempotency-Key", key),
        ];
        desk.send("POST", "/tape/v1/stage", &headers, files(paths))
    };
    let (first, again) = (send("mine", &["/d/1"]), send("mine", &["/d/1"]));
    assert_eq!((first.status, again.status), (201, 201));
    assert_eq!(first.body, again.body);
    send("mine", &["/d/2"]).refused(422, "new key");
    assert_ne!(first.body, send("yours", &["/d/1"]).body);
    send("", &["/d/1"]).refused(400, "Idempotency-Key");
}

#[test]
fn requests_survive_a_restart() {
    let desk = desk(Limits::default());
    let id = desk.stage(&["/d/1", "/d/2"]);
    desk.deliver("d/1", &[1; 100]);
    let desk = Desk::open(desk.directory, Limits::default());
    assert_eq!(desk.poll(&id), ["/d/1 COMPLETED", "/d/2 SUBMITTED"]);
}

#[test]
fn what_is_too_much_is_refused_and_nothing_of_it_is_entered() {
    let desk = desk(Limits {
        body_bytes: 400,
        files: 3,
        open_files: 4,
    });
    desk.post("stage", "x".repeat(401))
        .refused(413, "400 bytes");
    let four = files(&["/d/1", "/d/2", "/d/3", "/d/5"]);
    desk.post("stage", four).refused(413, "more than the 3");
    desk.stage(&["/d/1", "/d/2", "/d/3"]);
    let full = desk.post("stage", files(&["/d/5", "/d/a b"]));
    full.refused(429, "3 files wait");
    assert!(full.headers.contains_key(header::RETRY_AFTER));
    assert_eq!(desk.open_recalls(), 3);
    // Here too much is no error: the answer is shorter.
    let info = desk.post("archiveinfo", paths(&["/d/1", "/d/2", "/d/3", "/d/5"]));
    assert_eq!(info.json().as_array().expect("a list").len(), 3);
}

#[test]
fn what_makes_no_sense_is_refused_with_an_example() {
    let desk = desk(Limits::default());
    for wrong in ["", "{", "[]", r#"{"files": 3}"#, r#"{"files": [{}]}"#] {
        desk.post("stage", wrong).refused(400, "diskLifetime");
    }
    desk.post("stage", r#"{"files": []}"#)
        .refused(400, "at least one file");
    let lifetime = r#"{"files": [{"path": "/d/1", "diskLifetime": "soon"}]}"#;
    desk.post("stage", lifetime).refused(400, "PT1H");
    // What is for other sites, or unknown, is passed over.
    let more =
        r#"{"files": [{"path": "/d/1", "targetedMetadata": {"x": {"y": 1}}, "z": 1}], "z": 1}"#;
    assert_eq!(desk.post("stage", more).status, 201);
    desk.ask("PUT", "/tape/v1/stage", "").refused(405, "method");
    desk.ask("GET", "/nowhere", "").refused(404, "well-known");
    desk.post("release/unknown", paths(&["/d/1"]))
        .refused(404, "no stage request");
}

#[test]
fn archiveinfo_tells_where_each_file_is() {
    let desk = desk(Limits::default());
    desk.stage(&["/d/1"]);
    desk.deliver("d/1", &[1; 100]);
    let lost = desk.file("d/3");
    desk.catalogue.mark_lost(lost, 1, 9).expect("marked");
    let asked = ["/d/1", "/d/2", "/d/2", "/d/3", "/d/empty", "/nobody"];
    let answer = desk.post("archiveinfo", paths(&asked));
    let expected = json!([
        {"path": "/d/1", "locality": "DISK_AND_TAPE"},
        {"path": "/d/2", "locality": "TAPE"},
        {"path": "/d/3", "locality": "LOST"},
        {"path": "/d/empty", "locality": "NONE"},
        {"path": "/nobody", "error": "the archive has no such file"},
    ]);
    assert_eq!((answer.status, answer.json()), (200, expected));
}

#[test]
fn health_is_open_and_metrics_agree_with_the_catalogue() {
    let desk = desk(Limits::default());
    for path in ["/health", "/health/live", "/health/ready"] {
        let answer = desk.send("GET", path, &[], "");
        assert_eq!(
            (answer.status, answer.json()),
            (200, json!({"status": "ok"}))
        );
    }
    desk.stage(&["/d/1", "/d/2"]);
    desk.deliver("d/1", &[1; 100]);
    let metrics = desk.ask("GET", "/metrics", "").body;
    for line in [
        "# TYPE tapewise_recalls_open gauge",
        "tapewise_recalls_open{state=\"queued\"} 1",
        "tapewise_cache_bytes{kept=\"pinned\"} 100",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}");
    }
    for line in metrics.lines().filter(|line| !line.starts_with('#')) {
        let (_, value) = line.rsplit_once(' ').expect("a name and a value");
        value.parse::<f64>().expect("a number");
    }
}

#[test]
fn the_page_is_for_who_has_the_token_and_takes_no_name_for_markup() {
    let desk = desk(Limits::default());
    assert_eq!(desk.send("GET", "/", &[], "").status, 303);
    let wrong = desk.send("POST", "/login", &[], "token=wrong");
    assert_eq!(wrong.status, 401);
    assert!(wrong.body.contains("not the token"));
    let token = desk.token.trim_start_matches("Bearer ");
    let right = desk.send("POST", "/login", &[], format!("token={token}"));
    let cookie = right.headers[header::SET_COOKIE].to_str().expect("text");
    let (pair, rest) = cookie.split_once("; ").expect("a pair");
    assert!(rest.starts_with("HttpOnly; SameSite=Strict"), "{cookie}");
    desk.stage(&["/d/1", "/<script>alert(1)</script>"]);
    let page = desk.send("GET", "/", &[("cookie", pair)], "");
    assert_eq!(page.status, 200);
    for words in ["T00001L8", "1 waiting, 1 failed", "EXAMPLE &#60;SITE&#62;"] {
        assert!(page.body.contains(words), "{words} not in {}", page.body);
    }
    let scripts: Vec<&str> = page.body.split("<script").skip(1).collect();
    assert_eq!(scripts.len(), 1, "{}", page.body);
    assert!(scripts[0].starts_with(" src=\"/live.js\""));
    let policy = page.headers[header::CONTENT_SECURITY_POLICY].to_str();
    assert!(policy.expect("text").starts_with("default-src 'none'"));
    // So is the page that plans tapes, whose scripts its own policy names.
    assert!(page.body.contains("<a href=\"/plan\">"), "{}", page.body);
    assert_eq!(desk.send("GET", "/plan", &[], "").status, 303);
    let planner = desk.send("GET", "/plan", &[("cookie", pair)], "");
    assert_eq!(planner.body, "<!doctype html><title>plan</title>");
    let policy = &planner.headers[header::CONTENT_SECURITY_POLICY];
    assert_eq!(policy, "frame-ancestors 'none'");
    assert_eq!(planner.headers[header::CACHE_CONTROL], "no-store");
}

#[test]
fn programs_see_what_happens_and_which_cartridges_are_waited_for() {
    let desk = desk(Limits::default());
    desk.stage(&["/d/1", "/d/2", "/d/3"]);
    desk.deliver("d/1", &[1; 100]);
    let status = desk.ask("GET", "/api/v1/status", "").json();
    assert_eq!(status["doing"], "idle");
    assert_eq!(
        (&status["queued"], &status["started"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(status["oldest_at_s"], NOW_S);
    assert_eq!(status["pinned_bytes"], 100);
    let queue = desk.ask("GET", "/api/v1/queue", "").json();
    let cartridge = json!({"label": "T00001L8", "recalls": 2, "bytes": 200, "oldest_at_s": NOW_S});
    assert_eq!(queue["cartridges"], json!([cartridge]));
}

#[test]
fn everything_that_the_description_names_is_served_and_needs_the_token_where_it_says_so() {
    let desk = desk(Limits::default());
    let described = desk.send("GET", "/openapi.json", &[], "").json();
    let paths = described["paths"].as_object().expect("paths");
    assert!(paths.len() >= 13, "{paths:?}");
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().expect("methods") {
            let method = method.to_uppercase();
            let asked = path.replace("{id}", "x").replace("{path}", "d/1");
            let is_open = operation.get("security").is_some();
            let stranger = desk.send(&method, &asked, &[], "").status;
            assert_eq!(stranger == 401, !is_open, "{method} {path}");
            if path != "/api/v1/events" {
                let answer = desk.ask(&method, &asked, "");
                let unknown = answer.body.contains("No such address");
                assert!(
                    answer.status != 405 && !unknown,
                    "{method} {path}: {}",
                    answer.body
                );
            }
            let answers = operation["responses"].as_object().expect("answers");
            assert!(answers.keys().any(|status| status.starts_with('2')));
        }
    }
}
