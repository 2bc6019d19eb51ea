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
