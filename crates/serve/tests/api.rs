//! The API as its clients use it.

use crate::desk::{Desk, NOW_S, desk, files, paths};
use axum::http::header;
use serde_json::json;
use std::collections::HashSet;
use tapewise_archive::catalogue::{Answer, Cause, Failure, OutOfUse, Outage, Resource};
use tapewise_serve::Limits;

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
        ("GET", "/tape/v2/stage"),
    ] {
        for (token, words) in [
            ("", "Authorization: Bearer"),
            ("Basic x", "Authorization: Bearer"),
            ("Bearer wrong", "tokens that this service knows"),
        ] {
            let headers = [("authorization", token)];
            let answer = desk.send(method, path, &headers, files(&["/d/1"]));
            answer.refused(401, words);
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
fn whoever_gives_room_back_wakes_the_drives_side() {
    let desk = desk(Limits::default());
    let id = desk.stage(&["/d/1", "/d/2"]);
    let has_rung = || desk.work.wait(std::time::Duration::ZERO);
    assert!(has_rung() && !has_rung());
    let more = desk.stage(&["/d/3"]);
    for (method, path) in [
        ("POST", "release/gfal2-placeholder-id".to_owned()),
        ("POST", format!("release/{id}")),
        ("POST", format!("stage/{id}/cancel")),
        ("DELETE", format!("stage/{id}")),
        ("DELETE", format!("/api/v1/requests/{more}")),
    ] {
        has_rung();
        let path = match path.strip_prefix('/') {
            Some(_) => path,
            None => format!("/tape/v1/{path}"),
        };
        assert_eq!(desk.ask(method, &path, paths(&["/d/1"])).status, 200);
        assert!(has_rung(), "{method} {path}");
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
        ..Limits::default()
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
    let lifetime = r#"{"files": [{"path": "/d/1", "diskLifetime": "2 days"}]}"#;
    desk.post("stage", lifetime).refused(400, "ISO 8601");
    for misspelt in [
        r#"{"files": [{"path": "/d/1", "disklifetime": "P1D"}]}"#,
        r#"{"files": [{"path": "/d/1"}], "lifetime": "P1D"}"#,
        r#"{"path": ["/d/1"]}"#,
    ] {
        desk.post("stage", misspelt).refused(400, "; the keys are ");
    }
    desk.post("archiveinfo", r#"{"path": ["/d/1"]}"#)
        .refused(400, "has the key `path`; the keys are `paths`");
    let wrong = desk.post("stage", r#"{"files": ["/d/1"]}"#);
    wrong.refused(400, "`files[0]` is text, and must be an object");
    assert!(!wrong.body.contains("struct"), "{}", wrong.body);
    assert_eq!(desk.open_recalls(), 0);
    // What is for other sites, or unknown to this one, is passed over, as the specification wants it.
    let more = r#"{"files": [{"path": "/d/1", "targetedMetadata": {"x": {"y": 1}, "default": {"z": 1}}}]}"#;
    assert_eq!(desk.post("stage", more).status, 201);
    desk.ask("PUT", "/tape/v1/stage", "").refused(405, "method");
    desk.ask("GET", "/tape/v2/stage", "")
        .refused(404, "well-known");
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
    let asked = ["/d/1", "/d/2", "/d/2", "/d/3", "/d/empty", "/nobody", "/d"];
    let answer = desk.post("archiveinfo", paths(&asked));
    let expected = json!([
        {"path": "/d/1", "locality": "DISK_AND_TAPE"},
        {"path": "/d/2", "locality": "TAPE"},
        {"path": "/d/3", "locality": "LOST"},
        {"path": "/d/empty", "locality": "NONE"},
        {"path": "/nobody", "error": "the archive has no such file"},
        {"path": "/d", "error": "this is a directory: ask for the files in it"},
    ]);
    assert_eq!((answer.status, answer.json()), (200, expected));
    let locality = |outage| {
        let broken = OutOfUse {
            resource: Resource::Volume,
            name: "T00001L8".to_owned(),
            outage,
            why: "snapped".to_owned(),
            since_ns: 1,
        };
        desk.catalogue.take_out_of_use(&broken).expect("noted");
        let asked = ["/d/1", "/d/2", "/d/3", "/d/empty"];
        let answer = desk.post("archiveinfo", paths(&asked)).json();
        [0, 1, 2, 3].map(|at| answer[at]["locality"].as_str().map(str::to_owned))
    };
    let all = |one| ["DISK_AND_TAPE", one, "LOST", "NONE"].map(|one: &str| Some(one.to_owned()));
    assert_eq!(locality(Outage::Disabled), all("TAPE"), "it waits");
    assert_eq!(locality(Outage::Broken), all("UNAVAILABLE"));
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
fn a_service_that_cannot_enter_requests_is_not_ready_until_it_can() {
    let desk = desk(Limits::default());
    let path = desk.directory.path().join("A/catalogue.db");
    let change = |sql: &str| {
        let database = rusqlite::Connection::open(&path).expect("a database");
        database.execute_batch(sql).expect("changed");
    };
    // As on a full disk: it can be read, and nothing entered.
    change("CREATE TRIGGER full BEFORE INSERT ON stage BEGIN SELECT RAISE(FAIL, 'full'); END");
    let ready = || desk.send("GET", "/health/ready", &[], "");
    assert_eq!(ready().status, 200, "nobody has noticed yet");
    assert_eq!(desk.post("stage", files(&["/d/1"])).status, 503);
    let status = json!({"status": "the catalogue cannot be used"});
    assert_eq!((ready().status, ready().json()), (503, status));
    let said = desk.service.look_after(i64::MAX).expect_err("still full");
    assert!(said.contains("requests are refused"), "{said}");
    assert_eq!(ready().status, 503);
    change("DROP TRIGGER full");
    let said = desk.service.look_after(i64::MAX).expect_err("for the log");
    assert!(said.contains("full"), "{said}");
    assert_eq!(ready().status, 200);
    desk.service.look_after(i64::MAX).expect("once");

    // Where only polls come, it is noticed too.
    change("CREATE TABLE moved_to (place TEXT NOT NULL, move_id TEXT NOT NULL)");
    change("INSERT INTO moved_to VALUES ('elsewhere', 'one')");
    let said = desk.service.look_after(i64::MAX).expect_err("moved");
    assert!(said.contains("was moved to elsewhere"), "{said}");
    assert_eq!(ready().status, 503);
    assert!(
        desk.catalogue
            .stages(None, 9, 9)
            .expect("stages")
            .is_empty()
    );
}

#[test]
fn the_page_is_for_who_has_the_token_and_takes_no_name_for_markup() {
    let desk = desk(Limits::default());
    let people = [("accept", "text/html,*/*")];
    let stranger = desk.send("GET", "/", &people, "");
    assert_eq!(
        (stranger.status, stranger.headers["location"].as_bytes()),
        (303, &b"./login"[..])
    );
    for method in ["GET", "PROPFIND"] {
        let program = desk.send(method, "/", &[("accept", "*/*")], "");
        program.refused(401, "Authorization");
    }
    let wrong = desk.send("POST", "/login", &[], "token=wrong");
    assert_eq!(wrong.status, 401);
    assert!(wrong.body.contains("not one of the tokens"));
    let long = desk.send("POST", "/login", &[], "x".repeat(70_000));
    long.refused(413, "at most 65536 bytes");
    let token = desk.token.trim_start_matches("Bearer ");
    let right = desk.send("POST", "/login", &[], format!("token={token}"));
    let cookie = right.headers[header::SET_COOKIE].to_str().expect("text");
    let (pair, rest) = cookie.split_once("; ").expect("a pair");
    assert!(rest.starts_with("HttpOnly; SameSite=Strict"), "{cookie}");
    let behind_a_proxy = [("origin", "https://tape.example.org")];
    let encrypted = desk.send("POST", "/login", &behind_a_proxy, format!("token={token}"));
    let cookie = encrypted.headers[header::SET_COOKIE].to_str();
    assert!(cookie.expect("text").ends_with("; Secure"));
    assert!(!rest.contains("Secure"), "{rest}");
    desk.stage(&["/d/1", "/<script>alert(1)</script>"]);
    let page = desk.send("GET", "/", &[("cookie", pair)], "");
    assert_eq!(page.status, 200);
    for words in ["T00001L8", "1 waiting, 1 failed", "EXAMPLE &#60;SITE&#62;"] {
        assert!(page.body.contains(words), "{words} not in {}", page.body);
    }
    let scripts: Vec<&str> = page.body.split("<script").skip(1).collect();
    assert_eq!(scripts.len(), 1, "{}", page.body);
    assert!(scripts[0].starts_with(" src=\"live.js\""));
    let policy = page.headers[header::CONTENT_SECURITY_POLICY].to_str();
    assert!(policy.expect("text").starts_with("default-src 'none'"));
    // So is the page that plans tapes, whose scripts its own policy names.
    assert!(page.body.contains("<a href=\"plan\">"), "{}", page.body);
    assert_eq!(desk.send("GET", "/plan", &people, "").status, 303);
    let planner = desk.send("GET", "/plan", &[("cookie", pair)], "");
    assert_eq!(planner.body, "<!doctype html><title>plan</title>");
    let policy = &planner.headers[header::CONTENT_SECURITY_POLICY];
    assert_eq!(policy, "frame-ancestors 'none'");
    assert_eq!(planner.headers[header::CACHE_CONTROL], "no-store");
}

/// A database takes no zero byte: PostgreSQL would refuse all that is asked for with it.
#[test]
fn a_zero_byte_in_a_text_is_refused_with_its_place() {
    let desk = desk(Limits::default());
    let metadata = r#"{"files": [{"path": "/d/1", "targetedMetadata": {"default": {"activity": "a\u0000"}}}]}"#;
    for (call, body, place) in [
        (
            "stage",
            r#"{"files": [{"path": "/d/1"}, {"path": "/d/\u0000"}]}"#,
            "`files[1].path`",
        ),
        ("stage", metadata, "`activity`"),
        ("archiveinfo", r#"{"paths": ["/d/1\u0000"]}"#, "`paths[0]`"),
    ] {
        let refused = desk.ask("POST", &format!("/tape/v1/{call}"), body);
        assert_eq!(refused.status, 400, "{}", refused.body);
        let said = format!("{place} holds a zero byte");
        assert!(refused.body.contains(&said), "{}", refused.body);
    }
}

#[test]
fn a_compressed_body_is_refused_before_it_is_read() {
    let desk = desk(Limits::default());
    let send = |coding: &str| {
        let headers = [
            ("authorization", &*desk.token),
            ("content-encoding", coding),
        ];
        desk.send("POST", "/tape/v1/stage", &headers, files(&["/d/1"]))
    };
    send("gzip").refused(415, "without Content-Encoding");
    assert_eq!(desk.open_recalls(), 0);
    assert_eq!(send("identity").status, 201);
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
    let cartridge = json!({"label": "T00001L8", "recalls": 2, "bytes": 200, "oldest_at_s": NOW_S, "out_of_use": null});
    assert_eq!(queue["cartridges"], json!([cartridge]));
}

#[test]
fn everything_that_the_description_names_is_served_and_needs_the_token_where_it_says_so() {
    let desk = desk(Limits::default());
    let described = desk.send("GET", "/openapi.json", &[], "").json();
    let paths = described["paths"].as_object().expect("paths");
    assert!(paths.len() >= 13, "{paths:?}");
    let mut names = HashSet::new();
    let body = &described["components"]["schemas"]["StageBody"];
    assert_eq!(
        body["additionalProperties"], false,
        "another key is refused"
    );
    // Programs that make clients take no choice of objects within another one.
    let schemas = described["components"]["schemas"].as_object();
    for (name, schema) in schemas.expect("schemas") {
        assert!(schema.get("allOf").is_none(), "{name}");
    }
    let file = &paths["/files/{path}"]["get"]["responses"]["200"]["content"];
    let schema = &file["application/octet-stream"]["schema"];
    let kind = (&schema["type"], &schema["format"]);
    assert_eq!(kind, (&json!("string"), &json!("binary")));
    for open in [
        "/.well-known/wlcg-tape-rest-api",
        "/health/live",
        "/health/ready",
    ] {
        let answer = &paths[open]["get"]["responses"]["200"]["content"];
        assert!(answer["application/json"]["schema"].is_object(), "{open}");
    }
    for named in ["/tape/v1/stage/{id}", "/api/v1/requests/{id}"] {
        assert!(
            paths[named]["get"]["responses"]["400"].is_object(),
            "{named}"
        );
    }
    for (path, methods) in paths {
        let own = path.split('/').nth(1).filter(|own| *own != "files");
        if let Some(own) = own {
            let below = desk.ask("GET", &format!("/{own}/no/such"), "");
            below.refused(404, "Nothing is served here");
        }
        for (method, operation) in methods.as_object().expect("methods") {
            let name = operation["operationId"].as_str().expect("a name");
            assert!(names.insert(name), "{name} is the name of two operations");
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
            let refusals = answers
                .iter()
                .filter(|(status, _)| status.starts_with(['4', '5']));
            for (status, refusal) in
                refusals.filter(|(_, refusal)| refusal.get("content").is_some() && !is_open)
            {
                let content = refusal["content"].as_object().expect("content");
                let kinds: Vec<&String> = content.keys().collect();
                assert_eq!(
                    kinds,
                    ["application/problem+json"],
                    "{method} {path} {status}"
                );
            }
            assert_eq!(answers.contains_key("429"), !is_open, "{method} {path}");
            assert!(answers.keys().any(|status| status.starts_with('2')));
        }
    }
}
