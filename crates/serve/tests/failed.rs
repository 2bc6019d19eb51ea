//! The list of recalls that failed, through the API and the page.

use crate::access::users;
use crate::desk::{Desk, NOW_S, NS, archive};
use serde_json::json;
use tapewise_archive::catalogue::{Answer, Cause, Failure, RequestId};
use tapewise_serve::ServeSettings;

/// Stages files, and lets their recalls fail; their numbers.
fn fail(desk: &Desk, paths: &[&str]) -> Vec<RequestId> {
    desk.stage(paths);
    let open = desk.catalogue.unanswered().expect("requests");
    let requests = open.iter().map(|open| open.id);
    let requests: Vec<RequestId> = requests.collect();
    let failure = Failure::new(Cause::Unreadable, "block <7> cannot be read");
    for &request in &requests {
        let answer = Answer::Failed(failure.clone());
        let answered = desk.catalogue.answer(request, &answer, (NOW_S + 5) * NS);
        answered.expect("answered");
    }
    requests
}

#[test]
fn operators_empty_the_list_of_recalls_that_failed() {
    let (text, secrets) = users(&[("alice", ""), ("eye", "may = \"watch\"")]);
    let mut desk = Desk::with(archive(), &ServeSettings::of(&text).expect("settings"));
    let failed = fail(&desk, &["/d/1", "/d/2"]);
    let list = desk.ask("GET", "/api/v1/failed", "").json();
    assert_eq!(
        (&list["all"], list["failed"].as_array().map(Vec::len)),
        (&json!(2), Some(2))
    );
    let latest = json!({"recall": failed[1].0, "attempts": 1, "user": "http", "path": "d/2", "to": null, "cause": "unreadable",
        "error": "block <7> cannot be read", "asked_at_s": NOW_S, "failed_at_s": NOW_S + 5});
    assert_eq!(list["failed"][0], latest);
    assert_eq!(
        desk.ask("GET", "/api/v1/status", "").json()["listed_failures"],
        2
    );
    assert!(
        desk.ask("GET", "/metrics", "")
            .body
            .contains("\ntapewise_recalls_failed 2\n")
    );
    assert!(desk.ask("GET", "/", "").body.contains("2 recalls failed"));

    let of = |request: RequestId| json!({"recalls": [request.0, 999]}).to_string();
    let retried = desk.ask("POST", "/api/v1/failed/retry", of(failed[0]));
    assert_eq!(retried.json(), json!({"left": 1}));
    assert_eq!(desk.open_recalls(), 1);
    let dismissed = desk.ask("POST", "/api/v1/failed/dismiss", of(failed[1]));
    assert_eq!(dismissed.json(), json!({"left": 1}));
    assert_eq!(desk.ask("GET", "/api/v1/failed", "").json()["all"], 0);
    assert_eq!(desk.open_recalls(), 1);
    // It is known, and no longer on the list.
    let again = desk.ask("POST", "/api/v1/failed/retry", of(failed[0]));
    assert_eq!(again.json(), json!({"left": 0}));
    for what in ["retry", "dismiss"] {
        let unknown = json!({"recalls": [998, 999]}).to_string();
        desk.ask("POST", &format!("/api/v1/failed/{what}"), unknown)
            .refused(404, "998, 999");
    }
    desk.ask("POST", "/api/v1/failed/retry", "{}")
        .refused(400, "recalls");

    desk.by(&secrets[1]);
    assert_eq!(desk.ask("GET", "/api/v1/failed", "").status, 200);
    desk.ask("POST", "/api/v1/failed/retry", of(failed[0]))
        .refused(403, "Only operators");
    desk.by(&secrets[0]);
    desk.ask("GET", "/api/v1/failed", "").refused(403, "");
}

#[test]
fn a_file_that_failed_twice_is_one_line_with_its_attempts() {
    let desk = Desk::with(archive(), &ServeSettings::default());
    fail(&desk, &["/d/1"]);
    let failed = fail(&desk, &["/d/1"]);
    let list = desk.ask("GET", "/api/v1/failed", "").json();
    assert_eq!(list["all"], 1);
    let [line] = &list["failed"].as_array().expect("a list")[..] else {
        panic!("{list}");
    };
    let told = (&line["recall"], &line["attempts"]);
    assert_eq!(told, (&json!(failed[0].0), &json!(2)));
    let page = desk.ask("GET", "/failed", "").body;
    assert_eq!(page.matches("type=\"checkbox\"").count(), 1, "{page}");
    let asked = json!({"recalls": [failed[0].0]}).to_string();
    desk.ask("POST", "/api/v1/failed/dismiss", asked);
    assert_eq!(desk.ask("GET", "/api/v1/failed", "").json()["all"], 0);
}

#[test]
fn the_page_of_failures_has_a_form_for_operators() {
    let (text, secrets) = users(&[("eye", "may = \"watch\"")]);
    let mut desk = Desk::with(archive(), &ServeSettings::of(&text).expect("settings"));
    assert!(desk.ask("GET", "/failed", "").body.contains("<p>None."));
    let failed = fail(&desk, &["/d/1", "/d/a b", "/d/3"]);
    let page = desk.ask("GET", "/failed", "").body;
    for words in [
        "d/a b",
        "block &#60;7&#62; cannot be read",
        "type=\"checkbox\"",
        "the cache",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let form = format!("recall={}&recall={}&do=dismiss", failed[0].0, failed[1].0);
    let answer = desk.ask("POST", "/failed", form);
    assert_eq!(
        (answer.status, &answer.headers["location"]),
        (303, &"failed".parse().expect("a value"))
    );
    let left = desk.catalogue.failures(9).expect("a list");
    assert_eq!(left.len(), 1);
    assert_eq!(
        desk.ask(
            "POST",
            "/failed",
            format!("recall={}&do=retry", failed[2].0)
        )
        .status,
        303
    );
    assert_eq!(desk.open_recalls(), 1);
    for wrong in ["recall=x&do=retry", "recall=1", "do=all"] {
        desk.ask("POST", "/failed", wrong).refused(400, "the page");
    }
    desk.by(&secrets[0]);
    assert!(!desk.ask("GET", "/failed", "").body.contains("checkbox"));
    desk.ask("POST", "/failed", "do=retry")
        .refused(403, "Only operators");
    // Who is not logged in gets the page for it.
    let stranger = desk.send("GET", "/failed", &[("accept", "text/html")], "");
    assert_eq!(stranger.status, 303);
}
