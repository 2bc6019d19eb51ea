//! The demo and the papers: what they print is so.

use crate::program::{Desk, demo};
use serde_json::json;

/// A quick look whether a text is XML: every element closed, every attribute quoted.
pub fn assert_is_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut elements = 0;
    for piece in svg.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("an element ends");
        assert!(!text.contains('>'), "{text}");
        if tag.starts_with(['?', '!']) {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name.trim()));
            continue;
        }
        elements += 1;
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.split([' ', '\n', '/']).next().expect("a name");
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(
        open.is_empty() && elements > 10,
        "{open:?}, {elements} elements"
    );
    for entity in svg.split('&').skip(1) {
        let name = entity.split(';').next().unwrap_or_default();
        assert!(
            ["amp", "lt", "gt", "quot", "apos"].contains(&name) || name.starts_with('#'),
            "&{name}"
        );
    }
}

#[test]
fn the_demo_brings_back_every_byte_and_leaves_a_plan_that_can_be_made_again() {
    let (desk, said) = demo();
    // Three orders, two fits, and what was there after the crash.
    assert_eq!(said.matches("200/200").count(), 5, "{said}");
    assert!(said.contains("killed in the middle of clip 118"), "{said}");
    assert!(
        said.contains("200 delivered, none twice, none missing"),
        "{said}"
    );
    assert_is_well_formed(&desk.read("demo/head-path.svg"));

    let by_hand = said
        .lines()
        .find_map(|line| line.strip_prefix("The plan by hand: tapewise "))
        .expect("a command");
    let again = desk.done(&format!("{by_hand} --plot again.svg"));
    assert_eq!(again.lines().len(), 200);
    assert_eq!(desk.read("again.svg"), desk.read("demo/head-path.svg"));
    // The times predicted are those that `order` predicts.
    let predicted = |text: &str, name: &str| {
        let row = text.lines().find_map(|line| line.trim().strip_prefix(name));
        let cell = row.and_then(|rest| rest.split_whitespace().next());
        cell.unwrap_or_else(|| panic!("{name}: {text}")).to_owned()
    };
    for name in ["as listed", "sorted by block", "tapewise best"] {
        assert_eq!(predicted(said, name), predicted(&again.err, name));
    }

    // What the demo did can be done again by hand.
    let by_hand = said
        .lines()
        .find_map(|line| line.strip_prefix("The recall by hand: tapewise "))
        .expect("a command");
    let ran = desk.done(by_hand);
    assert!(ran.err.contains("200 files delivered"), "{}", ran.err);
    assert!(ran.err.contains("200 verified"), "{}", ran.err);

    // Ours takes less tape time than sorted, and the fitted times are nearer to the truth.
    let minutes = |text: &str| -> i64 {
        let (hours, minutes) = text.split_once('h').expect("hours");
        hours.parse::<i64>().expect("hours") * 60 + minutes.parse::<i64>().expect("minutes")
    };
    let cells = |name: &str| -> [i64; 2] {
        let row = said.lines().find_map(|line| line.trim().strip_prefix(name));
        let mut cells = row.expect(name).split_whitespace();
        [(); 2].map(|()| minutes(cells.next().expect("a cell")))
    };
    assert!(
        cells("tapewise best")[1] < cells("sorted by block")[1],
        "{said}"
    );
    let off = |[predicted, took]: [i64; 2]| (predicted - took).abs();
    assert!(
        off(cells("times as fitted")) < off(cells("times as published")),
        "{said}"
    );
}

#[test]
fn the_demo_s_recall_as_listed_reads_clip_after_clip_in_the_order_of_the_list() {
    let (desk, _) = demo();
    let list = desk.read("demo/requests.csv");
    let mut rows = list
        .lines()
        .map(|row| row.split(',').collect::<Vec<&str>>());
    let columns = rows.next().expect("a header");
    let column = columns.iter().position(|name| *name == "start_block");
    let column = column.expect("where each begins");
    let begins: Vec<u64> = rows
        .map(|row| row[column].parse().expect("a block"))
        .collect();
    assert_eq!(begins.len(), 200);
    // The log's first session is the recall as listed. A clip may take several reads.
    let log = desk.read("demo/events.jsonl");
    let events = log
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("an event"));
    let events = events.take_while(|event| event["tapewise_events"].is_null());
    let reads = events.filter(|event| event["action"] == "read");
    let reads = reads.filter_map(|event| event["from"]["block"].as_u64());
    let read: Vec<u64> = reads.filter(|block| begins.contains(block)).collect();
    assert_eq!(read, begins);
}

#[test]
fn the_demo_replaces_what_an_earlier_one_left_and_nothing_else() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path().join("mine")).expect("a directory");
    desk.put("mine/film.mov", "the only copy");
    let ran = desk.run("demo --into mine");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert_eq!(desk.read("mine/film.mov"), "the only copy");
    let ran = desk.run("demo --into mine/film.mov");
    assert_eq!(ran.code, 1, "{}", ran.err);
}

/// The claims of all papers are gated by `make reproduce`; here is what the program does with one of them.
#[test]
fn a_paper_is_reproduced_as_json_and_as_a_page_and_its_claims_hold_on_two_seeds() {
    let desk = Desk::new();
    let ran = desk.done("reproduce gniewek --seeds 1..2 --json --html page.html --plot figures");
    let document = &ran.json()["papers"][0];
    assert_eq!(document["seeds"], json!([1, 2]));
    assert!(
        document["tables"]
            .as_array()
            .is_some_and(|tables| !tables.is_empty())
    );
    let claims = document["claims"].as_array().expect("claims");
    for claim in claims {
        let wanted = match claim["kind"].as_str() {
            Some("report") => "shown",
            _ => "holds",
        };
        assert_eq!(claim["verdict"], wanted, "{claim}");
        assert_eq!(claim["failing_seeds"], json!([]), "{claim}");
    }
    assert!(
        claims.iter().any(|claim| claim["kind"] == "evidence"),
        "{claims:?}"
    );
    let page = desk.read("page.html");
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("experiment"),
        "{page}"
    );
    assert!(page.contains(desk.read("figures/figure-02.svg").trim_end()));
    assert_is_well_formed(&desk.read("figures/figure-02.svg"));
}

#[test]
fn seeds_that_are_none_are_refused() {
    let desk = Desk::new();
    desk.refused("reproduce gniewek --seeds 3..1", &["comes before"]);
    desk.refused("reproduce gniewek --seeds 1..3 --seed 2", &["--seed"]);
}
