//! The audit trail: what stands in it, and that nothing is done which cannot be written there.

use crate::desk::{Desk, archive, files, paths};
use serde_json::{Value, json};
use tapewise_serve::ServeSettings;

fn audited() -> Desk {
    let settings = ServeSettings::of("audit_file = \"audit\"").expect("settings");
    Desk::with(archive(), &settings)
}

fn lines(desk: &Desk) -> Vec<Value> {
    let text = std::fs::read_to_string(desk.directory.path().join("audit"));
    let text = text.expect("a trail");
    assert!(text.ends_with('\n'));
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn the_trail_says_who_asked_for_what_and_what_came_of_it() {
    let desk = audited();
    let id = desk.stage(&["/d/1", "/d/2"]);
    desk.poll(&id);
    desk.ask("GET", "/metrics", "");
    desk.post(&format!("stage/{id}/cancel"), paths(&["/d/2"]));
    desk.ask("GET", "/files/d/1", "");
    desk.send("GET", "/metrics", &[("authorization", "Bearer x")], "");
    desk.send("POST", "/login", &[], "token=secret-as-typed");
    desk.post("stage", "{");
    let line = |user: Value, method: &str, path: &str, status: u16| {
        json!({"at": "2023-11-14T22:13:20Z", "from": null, "user": user, "method": method, "path": path,
            "status": status})
    };
    let mut stage = line(json!("http"), "POST", "/tape/v1/stage", 201);
    stage["files"] = json!(["/d/1", "/d/2"]);
    stage["made"] = json!(format!("http://tape.example.org:8080/tape/v1/stage/{id}"));
    let cancel = format!("/tape/v1/stage/{id}/cancel");
    let mut cancel = line(json!("http"), "POST", &cancel, 200);
    cancel["files"] = json!(["/d/2"]);
    let expected = [
        stage,
        cancel,
        line(json!("http"), "GET", "/files/d/1", 409),
        line(Value::Null, "GET", "/metrics", 401),
        line(Value::Null, "POST", "/login", 401),
        line(json!("http"), "POST", "/tape/v1/stage", 400),
    ];
    assert_eq!(lines(&desk), expected);
}

#[test]
fn the_trail_says_what_operators_change() {
    let desk = audited();
    let id = desk.stage(&["/d/1"]);
    let request = format!("/api/v1/requests/{id}");
    let priority = r#"{"priority": 7}"#;
    desk.ask("POST", &format!("{request}/priority"), priority);
    desk.ask("POST", &format!("{request}/hold"), "");
    desk.ask("POST", &format!("/request/{id}"), "do=release");
    let recalls = r#"{"recalls": [17]}"#;
    desk.ask("POST", "/api/v1/failed/dismiss", recalls);
    desk.ask("POST", "/failed", "recall=17&do=retry");
    let lines = lines(&desk);
    let bodies: Vec<&Value> = lines.iter().map(|line| &line["body"]).collect();
    let none = Value::Null;
    let (priority, recalls) = (json!(priority), json!(recalls));
    let forms = [json!("do=release"), json!("recall=17&do=retry")];
    let expected = [&none, &priority, &none, &forms[0], &recalls, &forms[1]];
    assert_eq!(bodies, expected);
}

#[test]
fn a_trail_that_was_moved_away_begins_anew() {
    let desk = audited();
    desk.stage(&["/d/1"]);
    let path = desk.directory.path().join("audit");
    std::fs::rename(&path, desk.directory.path().join("audit.1")).expect("moved");
    desk.stage(&["/d/2"]);
    let lines = lines(&desk);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["files"], json!(["/d/2"]));
}

#[test]
fn nothing_is_done_that_the_trail_cannot_take() {
    let desk = audited();
    std::fs::create_dir(desk.directory.path().join("audit")).expect("in the way");
    desk.post("stage", files(&["/d/1"]))
        .refused(503, "audit trail");
    assert_eq!(desk.open_recalls(), 0);
    let ready = desk.send("GET", "/health/ready", &[], "");
    let status = json!({"status": "the audit trail cannot be written"});
    assert_eq!((ready.status, ready.json()), (503, status));
    let said = desk.service.look_after(i64::MAX).expect_err("in the way");
    assert!(
        said.contains("audit cannot be written: Is a directory"),
        "{said}"
    );
    let metrics = desk.ask("GET", "/metrics", "").body;
    let line = "tapewise_audit_failures_total 1";
    assert!(metrics.lines().any(|found| found == line), "{metrics}");
}
