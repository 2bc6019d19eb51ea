//! `audit`: how far the model can be trusted.

use crate::program::Desk;

const PLACES: u64 = 10;

/// Ten far moves, each with a short one after it, and how long they took.
pub fn log(far_s: f64, short_s: f64) -> String {
    let mut log = "volume,action,from_block,to_block,bytes,duration_s\n".to_owned();
    let mut at = 0;
    for place in 0..PLACES {
        let first = (place * 7 + 3) % PLACES * 1_400_000 + 50_000;
        for (begin, way_s) in [(first, far_s), (first + 2_000, short_s)] {
            log += &format!("A,locate,{at},{begin},,{way_s:.3}\n");
            at = begin + 100;
            log += &format!("A,read,{begin},{at},52428800,1\n");
        }
    }
    log
}

#[test]
fn a_sum_that_is_right_by_chance_does_not_vouch_for_a_model_that_knows_no_move() {
    let desk = Desk::new();
    desk.put("first.csv", log(50.0, 10.0));
    let audit = "audit --profile lto8";
    let first = desk.done(&format!("{audit} first.csv --json")).json();
    assert_eq!(first["priced"]["moves"], 2 * PLACES);
    let model_us = first["priced"]["model_locating_us"]
        .as_f64()
        .expect("a time");
    // The same sum, and every far move quick and every short one slow.
    let mean_s = model_us / 1e6 / PLACES as f64;
    desk.put("swapped.csv", log(2.0, mean_s - 2.0));
    let swapped = desk.done(&format!("{audit} swapped.csv"));
    let trust = swapped
        .lines()
        .into_iter()
        .find(|line| line.starts_with("trust"));
    let trust = trust.expect("a line");
    assert!(trust.contains("1.00 times"), "{trust}");
    assert!(
        trust.contains("Do not trust what it says of other orders"),
        "{trust}"
    );
    let json = desk.done(&format!("{audit} swapped.csv --json")).json();
    assert_eq!(json["priced"]["trust"], "none");
}

#[test]
fn maps_of_a_directory_are_taken_by_volume() {
    let desk = Desk::new();
    desk.put("log.csv", log(50.0, 10.0));
    std::fs::create_dir(desk.path().join("maps")).expect("a directory");
    desk.refused("audit --profile lto8 --maps maps log.csv", &["has no maps"]);
    desk.put("maps/A.csv", "this is no map\n");
    let ran = desk.done("audit --profile lto8 --maps maps log.csv");
    assert!(
        ran.text().contains("left out") && ran.text().contains("maps/A.csv"),
        "{}",
        ran.text()
    );
}

#[test]
fn hours_are_divided_by_day_and_counted_from_a_day_on() {
    let desk = Desk::new();
    let mut log = "time,volume,action,from_block,to_block,bytes,duration_s\n".to_owned();
    for (day, seconds) in [(1, 100), (2, 30), (4, 50)] {
        log += &format!("2026-11-0{day}T23:59:00Z,A,mount,,,,0\n");
        log += &format!("2026-11-0{day}T23:59:00Z,A,locate,0,50000,,{seconds}\n");
        log += &format!("2026-11-0{day}T23:59:59Z,A,read,50000,50100,52428800,1\n");
    }
    desk.put("log.csv", log);
    let days = |more: &str| {
        let ran = desk.done(&format!("audit --profile lto8 log.csv --json {more}"));
        let ran = ran.json();
        let days = ran["days"].as_array().expect("days").iter();
        let days: Vec<(String, i64)> = days
            .map(|one| {
                let day = one["day"].as_str().expect("a day").to_owned();
                (
                    day,
                    one["hours"]["locate_us"].as_i64().expect("a time") / 1_000_000,
                )
            })
            .collect();
        (days, ran)
    };
    let day = |day: &str, seconds| (day.to_owned(), seconds);
    let all = [
        day("2026-11-01", 100),
        day("2026-11-02", 30),
        day("2026-11-04", 50),
    ];
    assert_eq!(days("").0, all);
    let (since, document) = days("--since 2026-11-02");
    assert_eq!(since, all[1..]);
    assert_eq!(document["priced"]["reads"], 2);
    let table = desk.done("audit --profile lto8 log.csv --since 2026-11-02");
    assert!(table.text().contains("day (UTC)"), "{}", table.text());
    assert!(
        table.err.contains("3 events before --since"),
        "{}",
        table.err
    );
    // The same command each month may name a tape that was not read this month.
    desk.put("B.csv", "block,wrap,lpos\n0,0,100\n");
    let quiet = desk.done("audit --profile lto8 log.csv --since 2026-11-02 --map B=B.csv");
    let unused = "no log has the volume B after --since";
    assert!(quiet.err.contains(unused), "{}", quiet.err);
    assert_eq!(quiet.text(), table.text());
    desk.put("undated.csv", self::log(50.0, 10.0));
    desk.refused(
        "audit --profile lto8 undated.csv --since 2026-11-02",
        &["--since needs dates"],
    );
    desk.refused(
        "audit --profile lto8 log.csv --since yesterday",
        &["2026-11-01"],
    );
    desk.refused(
        "audit --profile lto8 log.csv --year 2026",
        &["--year is for the log of CTA"],
    );
}

#[test]
fn the_times_of_ctas_log_are_used_where_its_year_is_known() {
    let desk = Desk::new();
    let line = |stamp: &str, f_seq: u64, block: u64| {
        format!(
            "{stamp} h cta-taped: LVL=\"INFO\" MSG=\"File successfully read from tape\" tapeDrive=\"D\" \
             tapeVid=\"V\" mountId=\"7\" BlockId=\"{block}\" fSeq=\"{f_seq}\" positionTime=\"20\" \
             readWriteTime=\"10\" dataVolume=\"2000000000\"\n"
        )
    };
    // The second read ends an hour after the first: 30 s of it are its own, the rest is idle.
    let log = line("Aug 24 15:00:00.000000000", 1, 4_000) + &line("Aug 24 16:00:00", 9, 90_000);
    desk.put("cta.log", log);
    let timed = desk.done("audit --profile lto8 cta.log --year 2022 --json");
    let hours = &timed.json()["hours"];
    assert_eq!(hours["idle_us"], 3_570_000_000_i64);
    assert_eq!(timed.json()["days"][0]["day"], "2022-08-24");
    let untimed = desk.done("audit --profile lto8 cta.log --json");
    assert_eq!(untimed.json()["hours"]["idle_us"], 0);
    assert_eq!(untimed.json()["days"], serde_json::json!([]));
    let since = "audit --profile lto8 cta.log --since 2022-08-25";
    desk.refused(since, &["no year", "--year"]);
    let none = desk.done(&format!("{since} --year 2022 --json"));
    assert_eq!(none.json()["events"], 0);
}

/// One drive and one robot, and every action takes the same time whenever it is done, so what becomes of four requests
/// can be added up: A is asked for at 0 s, B at 1 s, C at 2 s, twice. A mount is answered after 10 + 20 + 30 + 20 s, its
/// next read 50 s later, and the drive is empty 40 + 15 + 10 s after the last one.
#[test]
fn mount_policies_are_priced_on_the_requests_of_a_log() {
    let desk = Desk::new();
    let requests = [("A", 0, 80), ("B", 1, 224), ("C", 2, 368), ("C", 2, 418)];
    let rows = requests.map(|(cartridge, at, took)| format!("{at},{cartridge},{took},6000,0.5\n"));
    let table = "arrived_s,cartridge,response_s,size_mb,place\n".to_owned() + &rows.concat();
    desk.put("requests.csv", table);
    let mut log = "{\"tapewise_events\":1,\"tool\":\"by hand\"}\n".to_owned();
    let mut at_s = 0;
    for (cartridge, reads) in [("A", 1), ("B", 1), ("C", 2)] {
        let read = [("locate", 30, "drive"), ("read", 20, "drive")];
        let before = [("fetch", 10, "robot"), ("mount", 20, "drive")];
        let after = [
            ("rewind", 40, "drive"),
            ("unmount", 15, "drive"),
            ("return", 10, "robot"),
        ];
        let steps = before.into_iter().chain(read.repeat(reads)).chain(after);
        for (action, took_s, device) in steps {
            let what = match action {
                "locate" => ",\"from\":{\"block\":0},\"to\":{\"block\":50000}",
                "read" => {
                    ",\"from\":{\"block\":50000},\"to\":{\"block\":50100},\"blocks\":100,\"bytes\":6000000000"
                }
                _ => "",
            };
            let at_us = at_s * 1_000_000;
            log += &format!(
                "{{\"action\":\"{action}\",\"at_us\":{at_us},\"took_us\":{took_s}000000,\
                 \"device\":\"{device}\",\"cartridge\":\"{cartridge}\"{what}}}\n"
            );
            at_s += took_s;
        }
    }
    desk.put("events.jsonl", log);
    let audit =
        "audit --profile lto8 events.jsonl --requests requests.csv --policy oldest,most-requests";
    let json = desk.done(&format!("{audit} --json")).json();
    let policies = &json["policies"];
    let was = &policies["as_it_was"];
    // Three mounts of 95 s and four reads of 50 s.
    let hours = was["drive_hours"].as_f64().expect("hours");
    assert!((hours - 485.0 / 3600.0).abs() < 1e-9, "{was}");
    assert_eq!((&was["mounts"], &was["mean_s"]), (&3.into(), &272.5.into()));
    // C is asked for twice, so it goes before B: 80, 223, 273 and 419 s.
    for (nth, policy, mean_s) in [(0, "oldest", 272.5), (1, "most-requests", 248.75)] {
        let priced = &policies["policies"][nth];
        assert_eq!(priced["policy"], policy);
        assert_eq!(priced["mean_s"][1], mean_s, "{priced}");
        // Half a per cent to either side, though nothing is drawn.
        let low = priced["mean_s"][0].as_f64().expect("an end");
        assert!((low / mean_s - 0.995).abs() < 1e-9, "{priced}");
        assert_eq!(priced["mounts"][1], 3.0, "{priced}");
        // Until the last answer.
        let hours = priced["drive_hours"][1].as_f64().expect("hours");
        assert!((hours - 420.0 / 3600.0).abs() < 1e-9, "{priced}");
    }
    let table = desk.done(audit);
    let table = table.text();
    for row in ["as it was", "oldest", "most-requests"] {
        assert!(table.contains(row), "{row} is not in:\n{table}");
    }
}

#[test]
fn a_log_by_two_names_and_a_map_that_means_nothing_are_refused() {
    let desk = Desk::new();
    desk.put("log.csv", log(50.0, 10.0));
    desk.put("A.csv", "this is no map\n");
    let audit = "audit --profile lto8 log.csv";
    desk.refused(
        &format!("{audit} ./log.csv"),
        &["given twice, also as log.csv"],
    );
    desk.refused(
        &format!("{audit} --map A=none.csv"),
        &["--map: ", "none.csv"],
    );
    desk.refused(&format!("{audit} --map A=A.csv"), &["--map: A.csv"]);
    desk.put("B.csv", "block,wrap,lpos\n0,0,100\n");
    desk.refused(
        &format!("{audit} --map B=B.csv"),
        &["no log has the volume B"],
    );
}
