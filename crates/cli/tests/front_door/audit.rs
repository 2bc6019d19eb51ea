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
