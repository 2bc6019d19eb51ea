//! Our own API: requests of all and of one, expected times, priorities, hold and cancel, drives, the last day.

use crate::access::users;
use crate::desk::{Desk, NOW_S, NS, archive, desk};
use serde_json::json;
use tapewise_archive::catalogue::{Claim, Holder, OutOfUse, Outage, Resource, Wanted};
use tapewise_archive::record::{Volume, VolumeFormat, VolumeState};
use tapewise_formats::event::{Action, Event, Spot};
use tapewise_model::Micros;
use tapewise_serve::{Limits, ServeSettings};
use tower::ServiceExt as _;

#[test]
fn everybody_sees_the_own_requests_and_operators_those_of_all() {
    let (text, secrets) = users(&[("alice", ""), ("boss", "may = \"operate\"")]);
    let settings = ServeSettings::of(&text).expect("settings");
    let mut desk = Desk::with(archive(), &settings);
    let of_holder = desk.stage(&["/d/3", "/nobody"]);
    desk.by(&secrets[0]);
    let of_alice = desk.stage(&["/d/1", "/d/2"]);
    let own = desk.ask("GET", "/api/v1/requests", "").json();
    let mut own = own["requests"].as_array().expect("requests").clone();
    let expected = own[0]["expected"].take();
    assert_eq!(expected["position"], 3, "behind one of somebody else");
    let alices = json!({"id": of_alice, "user": "alice", "created_at_s": NOW_S, "held": false,
        "held_by": null, "expected": null, "files": {"SUBMITTED": 2}, "failed": []});
    assert_eq!(own, [alices]);
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
fn each_user_and_activity_has_a_share_of_the_drives_and_is_told_what_a_limit_holds_back() {
    let directory = archive();
    let place = directory.path().join("A");
    let settings = std::fs::read_to_string(place.join("archive.toml")).expect("settings");
    let settings = format!("policy_file = \"policy.toml\"\n{settings}");
    std::fs::write(place.join("archive.toml"), settings).expect("written");
    let policy = "drives_per_user = 1\nactivity_shares = { production = 3 }\n";
    std::fs::write(place.join("policy.toml"), policy).expect("written");
    let (text, secrets) = users(&[("alice", ""), ("boss", "may = \"operate\"")]);
    let mut desk = Desk::with(directory, &ServeSettings::of(&text).expect("settings"));
    desk.by(&secrets[0]);
    let stage = |path: &str, metadata: &str| {
        let body =
            format!(r#"{{"files": [{{"path": "{path}", "targetedMetadata": {metadata}}}]}}"#);
        let answer = desk.post("stage", body);
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.json()["requestId"]
            .as_str()
            .expect("an id")
            .to_owned()
    };
    stage(
        "/d/1",
        r#"{"default": {"activity": "production"}, "ELSEWHERE": {"activity": "x"}}"#,
    );
    let ours = r#"{"default": {"activity": "x"}, "EXAMPLE <SITE>": {"activity": "analysis"}}"#;
    let waits = stage("/d/2", ours);
    let too_long = format!(r#"{{"default": {{"activity": "{}"}}}}"#, "x".repeat(201));
    desk.post(
        "stage",
        format!(r#"{{"files": [{{"path": "/d/3", "targetedMetadata": {too_long}}}]}}"#),
    )
    .refused(400, "activity");
    let first = desk.catalogue.unanswered().expect("requests")[0].id;
    desk.catalogue.start(&[first], NOW_S * NS).expect("started");

    let one = desk
        .ask("GET", &format!("/api/v1/requests/{waits}"), "")
        .json();
    let why = "1 drive works for this user, and no more may";
    assert_eq!(one["held_by"], why);
    let page = desk.ask("GET", &format!("/request/{waits}"), "").body;
    assert!(page.contains(why), "{page}");
    desk.by(&secrets[1]);
    let queue = desk.ask("GET", "/api/v1/queue", "").json();
    let shares = json!([
        {"user": "alice", "activity": "analysis", "drives": 0, "due": 0.25, "recalls": 1,
            "held": [{"recalls": 1, "why": why}]},
        {"user": "alice", "activity": "production", "drives": 1, "due": 0.75, "recalls": 0, "held": []},
    ]);
    assert_eq!(queue["shares"], shares);
    assert_eq!(queue["mounts"][0]["activity"], "analysis");
    let page = desk.ask("GET", "/", "").body;
    for words in ["Shares of the drives", "alice in production", why] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

#[test]
fn events_are_not_gathered_by_a_proxy() {
    let desk = desk(Limits::default());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    let asked = desk.router.clone().oneshot(desk.get("/api/v1/events"));
    let answer = runtime
        .expect("a runtime")
        .block_on(asked)
        .expect("an answer");
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    assert_eq!(answer.headers()["x-accel-buffering"], "no");
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
    // The list of mounts leads there, also when nothing waits.
    let at_rest = desk.ask("GET", "/cartridge/T00001L8", "").body;
    assert!(at_rest.contains("Nothing waits for it"), "{at_rest}");
    let id = desk.stage(&["/d/1", "/d/a b", "/<nobody>"]);
    let request = desk.ask("GET", &format!("/request/{id}"), "").body;
    for words in [
        "3 files: 2 waiting, 1 failed",
        "href=\"cartridge/T00001L8\"",
        "/d/a b",
        "&#60;nobody&#62;",
        "the archive has no such file",
    ] {
        assert!(request.contains(words), "{words}: {request}");
    }
    let cartridge = desk.ask("GET", "/cartridge/T00001L8", "").body;
    for words in ["In no drive", "2 in the queue", "d/a b", "not recorded"] {
        assert!(cartridge.contains(words), "{words}: {cartridge}");
    }
    desk.ask("GET", "/cartridge/%3Cx%3E", "")
        .refused(404, "The archive has no cartridge");
    let headers = [("authorization", &*desk.token), ("accept", "text/html,*/*")];
    let nothing = desk.send("GET", "/cartridge/%3Cx%3E", &headers, "");
    assert_eq!(nothing.status, 404);
    assert_eq!(nothing.headers["content-type"], "text/html; charset=utf-8");
    for words in [
        "<h1>No such cartridge",
        "&#60;x&#62;",
        "<base href=\"../\"><script",
    ] {
        assert!(nothing.body.contains(words), "{words}: {}", nothing.body);
    }
    let stranger = desk.send(
        "GET",
        &format!("/request/{id}"),
        &[("accept", "text/html")],
        "",
    );
    let login = (303, &"../login".parse().expect("a value"));
    assert_eq!((stranger.status, &stranger.headers["location"]), login);
}

/// The position of each file of a request, and the times between which it is expected.
fn expected(desk: &Desk, id: &str) -> Vec<Option<(u64, i64, i64)>> {
    let request = desk
        .ask("GET", &format!("/api/v1/requests/{id}"), "")
        .json();
    let files = request["files"].as_array().expect("files").iter();
    let expected = files.map(|file| {
        let number = |key: &str| file["expected"][key].as_i64();
        let position = file["expected"]["position"].as_u64()?;
        Some((position, number("soonest_at_s")?, number("latest_at_s")?))
    });
    expected.collect()
}

#[test]
fn each_file_that_waits_has_a_place_in_the_queue_and_times_as_the_plan_has_them() {
    let desk = Desk::with(archive(), &ServeSettings::default());
    let id = desk.stage(&["/d/1", "/d/2", "/nobody"]);
    let others = desk.stage(&["/d/3"]);
    let queue = desk.ask("GET", "/api/v1/queue", "").json();
    let mount = &queue["mounts"][0];
    assert_eq!(queue["mounts"].as_array().expect("mounts").len(), 1);
    assert_eq!(
        (&mount["label"], &mount["recalls"]),
        (&json!("T00001L8"), &json!(3))
    );
    assert_eq!(queue["planned_at_s"], NOW_S);
    let drive_s = mount["drive_s"].as_f64().expect("seconds");

    let [first, second, nobody] = expected(&desk, &id)[..] else {
        panic!("three files")
    };
    assert_eq!(nobody, None);
    let third = expected(&desk, &others)[0];
    let mut turns: Vec<_> = [first, second, third].into_iter().flatten().collect();
    turns.sort_unstable();
    let positions: Vec<u64> = turns.iter().map(|turn| turn.0).collect();
    assert_eq!(positions, [1, 2, 3]);
    for (_, soonest_at_s, latest_at_s) in &turns {
        assert!(NOW_S < *soonest_at_s && soonest_at_s < latest_at_s);
        // The robot's way and a fifth more than predicted.
        assert!((*latest_at_s as f64) < NOW_S as f64 + (drive_s + 10.0) * 1.2);
    }
    let list = desk.ask("GET", "/api/v1/requests", "").json();
    let list = list["requests"].as_array().expect("requests");
    let whole = list
        .iter()
        .find(|one| one["id"] == id.as_str())
        .expect("it");
    let last = [first, second].into_iter().flatten().max().expect("a turn");
    assert_eq!(whole["expected"]["position"], last.0);
    let page = desk.ask("GET", &format!("/request/{id}"), "").body;
    for words in [
        "All of it is likely to be there in",
        "Likely in",
        "Hold it back",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(desk.ask("GET", "/", "").body.contains("likely there in"));
}

#[test]
fn what_waits_for_a_cartridge_out_of_use_has_no_time_and_every_page_says_why() {
    let desk = Desk::with(archive(), &ServeSettings::default());
    let why = "volume T00001L8 is disabled: the leader pin is loose";
    let disabled = OutOfUse {
        resource: Resource::Volume,
        name: "T00001L8".to_owned(),
        outage: Outage::Disabled,
        why: "the leader pin is loose".to_owned(),
        since_ns: 1,
    };
    desk.catalogue.take_out_of_use(&disabled).expect("noted");
    let id = desk.stage(&["/d/1", "/d/2"]);
    let queue = desk.ask("GET", "/api/v1/queue", "").json();
    assert_eq!(queue["mounts"], json!([]));
    assert_eq!(queue["cartridges"][0]["out_of_use"], why);
    assert_eq!(expected(&desk, &id), [None, None]);
    let one = desk.ask("GET", &format!("/api/v1/requests/{id}"), "");
    assert_eq!(one.json()["held_by"], why);
    let status = desk.ask("GET", "/api/v1/status", "").json();
    assert_eq!(
        (&status["doing"], &status["why"]),
        (&json!("waiting"), &json!(why))
    );
    for page in ["/", &format!("/request/{id}"), "/cartridge/T00001L8"] {
        let page = desk.ask("GET", page, "").body;
        assert!(page.contains("the leader pin is loose"), "{page}");
        assert!(!page.contains("likely"), "{page}");
    }
    assert!(
        desk.catalogue
            .put_into_use(Resource::Volume, "T00001L8")
            .expect("an answer")
    );
}

#[test]
fn what_nobody_begins_has_no_time_and_it_is_said_why() {
    let desk = Desk::with(archive(), &ServeSettings::default());
    let why = "no mover works for this archive: start `tapewise mover`";
    desk.work.is_unattended(Some(why.to_owned()));
    let status = || desk.ask("GET", "/api/v1/status", "").json();
    assert_eq!(status()["doing"], "idle", "nothing waits");
    let id = desk.stage(&["/d/1", "/d/2"]);
    let now = status();
    let told = (&now["doing"], &now["why"]);
    assert_eq!(told, (&json!("waiting"), &json!(why)));
    let queue = desk.ask("GET", "/api/v1/queue", "").json();
    let told = (&queue["mounts"], &queue["unknown"]);
    assert_eq!(told, (&json!([]), &json!(why)));
    assert_eq!(expected(&desk, &id), [None, None]);
    let one = desk.ask("GET", &format!("/api/v1/requests/{id}"), "");
    assert_eq!(one.json()["held_by"], why);
    for page in ["/", &format!("/request/{id}")] {
        let page = desk.ask("GET", page, "").body;
        assert!(page.contains("no mover works"), "{page}");
        assert!(!page.contains("likely to be there"), "{page}");
        assert!(!page.contains("in a moment"), "{page}");
    }
    let metrics = || desk.ask("GET", "/metrics", "").body;
    assert!(metrics().contains("\ntapewise_recall_waiting 1\n"));
    let ready = desk.send("GET", "/health/ready", &[], "");
    assert!(ready.body.contains("cannot be read now"), "{}", ready.body);
    desk.work.is_unattended(None);
    assert_eq!(status()["doing"], "idle");
    assert!(expected(&desk, &id).iter().all(Option::is_some));
    assert!(metrics().contains("\ntapewise_recall_waiting 0\n"));
}

#[test]
fn what_a_mover_writes_is_no_idleness_and_what_a_dead_one_left_open_is_no_writing() {
    let desk = Desk::with(archive(), &ServeSettings::default());
    let doing = || desk.ask("GET", "/api/v1/status", "").json()["doing"].clone();
    let volume = Volume {
        label: "T00002L8".to_owned(),
        uuid: "two".to_owned(),
        format: VolumeFormat::Tapewise,
        state: VolumeState::Filling,
        block_bytes: 1000,
        next_block: 2,
        written_bytes: 0,
    };
    let catalogue = &desk.catalogue;
    let volume = catalogue.add_volume(&volume, 1).expect("a volume");
    let written = [(desk.file("d/1"), 2)];
    catalogue.begin_write(volume, &written, 1).expect("begun");
    assert_eq!(doing(), "idle", "nobody has the cartridge");
    let holder = Holder {
        host: "ada".to_owned(),
        process: 4711,
        run: "a".to_owned(),
    };
    let wanted = Wanted {
        drive: "D1",
        volume: Some(volume),
        holder: &holder,
        for_ns: 60 * NS,
    };
    let claimed = catalogue.claim(&wanted, NOW_S * NS).expect("an answer");
    assert!(matches!(claimed, Claim::Got(_)), "{claimed:?}");
    assert_eq!(doing(), "writing");
    let page = desk.ask("GET", "/", "").body;
    assert!(page.contains("Drives are writing"), "{page}");
}

#[test]
fn what_finds_no_room_in_the_cache_has_no_time_and_it_is_said_why() {
    let directory = archive();
    // Room for one file.
    let path = directory.path().join("A/archive.toml");
    let settings = std::fs::read_to_string(&path).expect("settings");
    let settings = settings
        .replace("cache_high_bytes = ", "cache_high_bytes = 150 # ")
        .replace("cache_low_bytes = ", "cache_low_bytes = 150 # ");
    std::fs::write(&path, settings).expect("written");
    let desk = Desk::with(directory, &ServeSettings::default());
    let id = desk.stage(&["/d/1", "/d/2"]);
    let times = expected(&desk, &id);
    assert_eq!(times.iter().filter(|one| one.is_some()).count(), 1);
    let mounts = desk.ask("GET", "/api/v1/queue", "").json();
    assert_eq!(mounts["mounts"][0]["recalls"], 1);
    let why = "the cache of 150 B will be full until files are released";
    let one = desk
        .ask("GET", &format!("/api/v1/requests/{id}"), "")
        .json();
    let held_by = one["held_by"].as_str().expect("a reason");
    assert!(held_by.starts_with(why), "{held_by}");
    for page in ["/", &format!("/request/{id}")] {
        let page = desk.ask("GET", page, "").body;
        assert!(page.contains(why), "{page}");
        assert!(!page.contains("likely there"), "{page}");
    }
    let page = desk.ask("GET", &format!("/request/{id}"), "").body;
    assert_eq!(page.matches(", and room in the cache").count(), 1, "{page}");
    let status = desk.ask("GET", "/api/v1/status", "").json();
    assert_eq!(status["doing"], "idle", "one of them has room");
}

#[test]
fn an_operator_holds_a_request_back_and_lets_it_go_on() {
    let (text, secrets) = users(&[("alice", "")]);
    let settings = ServeSettings::of(&text).expect("settings");
    let mut desk = Desk::with(archive(), &settings);
    let id = desk.stage(&["/d/1", "/d/2"]);
    let one = format!("/api/v1/requests/{id}");
    let hold = format!("{one}/hold");
    assert_eq!(desk.ask("POST", &hold, "").status, 200);
    assert_eq!(desk.ask("GET", &one, "").json()["held"], true);
    let status = desk.ask("GET", "/api/v1/status", "").json();
    assert_eq!((&status["queued"], &status["held"]), (&json!(0), &json!(2)));
    // Clients of the tape API see that it waits, and it has no time.
    assert_eq!(desk.poll(&id), ["/d/1 SUBMITTED", "/d/2 SUBMITTED"]);
    assert_eq!(expected(&desk, &id), [None, None]);
    for (page, words) in [
        ("/", "All that waits is held back."),
        (&*format!("/request/{id}"), "It is held back"),
    ] {
        let page = desk.ask("GET", page, "").body;
        assert!(page.contains(words), "{page}");
    }
    let metrics = desk.ask("GET", "/metrics", "").body;
    assert!(metrics.contains("tapewise_recalls_open{state=\"held\"} 2"));

    // The page's button does the same as the API.
    let form = format!("/request/{id}");
    let encoded = id.replace('-', "%2D");
    let answer = desk.ask("POST", &form, "do=release");
    assert_eq!(
        (answer.status, &answer.headers["location"]),
        (303, &encoded.parse().expect("a value"))
    );
    assert_eq!(desk.catalogue.open_recalls().expect("open").queued, 2);
    desk.ask("POST", &form, "do=else").refused(400, "the page");
    let nobodys = "/api/v1/requests/x/release";
    desk.ask("POST", nobodys, "")
        .refused(404, "no stage request");
    desk.by(&secrets[0]);
    desk.ask("POST", &hold, "").refused(403, "Only operators");
    desk.ask("POST", &form, "do=hold")
        .refused(403, "Only operators");
    desk.ask("GET", &one, "").refused(404, "no stage request");
}
