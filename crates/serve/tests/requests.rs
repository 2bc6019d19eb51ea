//! Our own API: requests of all and of one, priorities and cancel, drives, the last day.

use crate::access::users;
use crate::desk::{Desk, NOW_S, NS, archive};
use serde_json::json;
use tapewise_formats::event::{Action, Event, Spot};
use tapewise_model::Micros;
use tapewise_serve::ServeSettings;

#[test]
fn everybody_sees_the_own_requests_and_operators_those_of_all() {
    let (text, secrets) = users(&[("alice", ""), ("boss", "may = \"operate\"")]);
    let settings = ServeSettings::of(&text).expect("settings");
    let mut desk = Desk::with(archive(), &settings);
    let of_holder = desk.stage(&["/d/3", "/nobody"]);
    desk.by(&secrets[0]);
    let of_alice = desk.stage(&["/d/1", "/d/2"]);
    let own = desk.ask("GET", "/api/v1/requests", "").json();
    let alices = json!({"id": of_alice, "user": "alice", "created_at_s": NOW_S, "files": {"SUBMITTED": 2},
        "failed": []});
    assert_eq!(own["requests"], json!([alices]));
    let priority = format!("/api/v1/requests/{of_holder}/priority");
    let one = format!("/api/v1/requests/{of_holder}");
    let up = json!({"priority": 7}).to_string();
    desk.ask("POST", &priority, up.clone())
        .refused(403, "Only operators");
    desk.ask("DELETE", &one, "").refused(403, "Only operators");

    desk.by(&secrets[1]);
    let all = desk.ask("GET", "/api/v1/requests", "").json();
    let all = all["requests"].as_array().expect("requests");
    assert_eq!(all.len(), 2);
    let failed = all.iter().find(|asked| asked["id"] == of_holder.as_str());
    let failed = &failed.expect("the holder's")["failed"][0];
    assert_eq!(failed["path"], "/nobody");
    assert_eq!(desk.ask("POST", &priority, up.clone()).status, 200);
    let open = desk.catalogue.unanswered().expect("requests");
    let priorities: Vec<i64> = open.iter().map(|open| open.terms.priority).collect();
    assert_eq!(priorities, [7, 0, 0]);
    desk.ask("POST", &priority, "{}").refused(400, "priority");
    let nobodys = "/api/v1/requests/x/priority";
    desk.ask("POST", nobodys, up)
        .refused(404, "no stage request");
    assert_eq!(desk.ask("DELETE", &one, "").status, 200);
    assert_eq!(desk.open_recalls(), 2);
    desk.ask("DELETE", &one, "")
        .refused(404, "no stage request");
}

#[test]
fn drives_and_the_last_day_are_what_the_events_told() {
    let desk = Desk::with(archive(), &ServeSettings::default());
    let event = |action, took_s: i64| Event {
        device: Some("D<1>".to_owned()),
        cartridge: Some("T00001L8".to_owned()),
        ..Event::new(action, Micros::ZERO, Micros(took_s * 1_000_000))
    };
    let there = Spot {
        wrap: Some(3),
        lpos: Some(700),
        ..Spot::default()
    };
    let locate = Event {
        to: Some(there),
        ..event(Action::Locate, 50)
    };
    let read = Event {
        bytes: 7,
        ..event(Action::Read, 2)
    };
    for event in [event(Action::Mount, 20), locate, read] {
        desk.work.saw(&event, NOW_S * NS);
    }
    let drives = desk.ask("GET", "/api/v1/drives", "").json();
    let drive = json!({"drive": "D<1>", "cartridge": "T00001L8", "did": "read", "at_s": NOW_S, "wrap": 3,
        "lpos": 700, "error": null, "errors": 0});
    assert_eq!(drives["drives"], json!([drive]));
    let history = desk.ask("GET", "/api/v1/history", "").json();
    let mount = json!({"drive": "D<1>", "cartridge": "T00001L8", "began_at_s": NOW_S, "ended_at_s": null,
        "mounting_s": 20.0, "positioning_s": 50.0, "reading_s": 2.0, "locates": 1, "bytes": 7, "errors": 0});
    assert_eq!(history["mounts"], json!([mount]));
    let metrics = desk.ask("GET", "/metrics", "").body;
    for line in [
        "tapewise_drive_seconds_total{drive=\"D<1>\",action=\"position\"} 50",
        "tapewise_positioning_seconds_bucket{le=\"45\"} 0",
        "tapewise_positioning_seconds_bucket{le=\"60\"} 1",
        "tapewise_positioning_seconds_bucket{le=\"+Inf\"} 1",
        "tapewise_positioning_seconds_sum 50",
        "tapewise_positioning_seconds_count 1",
    ] {
        assert!(
            metrics.lines().any(|found| found == line),
            "{line}: {metrics}"
        );
    }
    let page = desk.ask("GET", "/", "").body;
    for words in ["D&#60;1&#62;", "wrap 3", "T00001L8"] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[test]
fn a_cartridge_and_a_request_have_pages_that_say_what_waits_for_what() {
    let desk = Desk::with(archive(), &ServeSettings::default());
    let id = desk.stage(&["/d/1", "/d/a b", "/<nobody>"]);
    let request = desk.ask("GET", &format!("/request/{id}"), "").body;
    for words in [
        "href=\"/cartridge/T00001L8\"",
        "/d/a b",
        "&#60;nobody&#62;",
        "the archive has no such file",
    ] {
        assert!(request.contains(words), "{words}: {request}");
    }
    let cartridge = desk.ask("GET", "/cartridge/T00001L8", "").body;
    for words in ["In the library", "2 in the queue", "d/a b", "not recorded"] {
        assert!(cartridge.contains(words), "{words}: {cartridge}");
    }
    desk.ask("GET", "/cartridge/%3Cx%3E", "")
        .refused(404, "No recall waits");
    let stranger = desk.send("GET", &format!("/request/{id}"), &[], "");
    assert_eq!(
        (stranger.status, &stranger.headers["location"]),
        (303, &"/login".parse().expect("a value"))
    );
}
