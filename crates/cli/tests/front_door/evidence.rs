//! The demo and the papers: what they print is so.

use crate::program::Desk;
use serde_json::Value;

/// A quick look whether a text is XML: every element closed, every attribute quoted.
fn assert_is_well_formed(svg: &str) {
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
fn the_demo_leaves_a_picture_and_a_list_that_orders_the_same() {
    let desk = Desk::new();
    let ran = desk.done("demo --into out");
    assert!(
        ran.text().contains("0 ms") || ran.text().contains(" ms"),
        "{}",
        ran.text()
    );
    assert_is_well_formed(&desk.read("out/head-path.svg"));

    let command = ran
        .lines()
        .into_iter()
        .find_map(|line| line.split_once("The same by hand:"));
    let command = command
        .expect("a command")
        .1
        .trim()
        .strip_prefix("tapewise ")
        .expect("our name");
    let again = desk.done(&format!("{command} --plot again.svg"));
    assert_eq!(again.lines().len(), 200);
    assert_eq!(desk.read("again.svg"), desk.read("out/head-path.svg"));

    // The same table, but for processor times: the likely time of each order.
    let rows = |text: &str| {
        let rows = text
            .lines()
            .filter_map(|line| Some(line.split_once(" km ")?.0.to_owned()));
        rows.collect::<Vec<String>>()
    };
    assert_eq!(rows(ran.text()).len(), 4, "{}", ran.text());
    assert_eq!(rows(ran.text()), rows(&again.err));

    let list = desk.read("out/requests.csv");
    assert_eq!(list.lines().count(), 201);
    desk.done("demo --into out");
    assert_eq!(desk.read("out/requests.csv"), list);
    desk.done("demo --into out --seed 2");
    assert_ne!(desk.read("out/requests.csv"), list);
    let ran = desk.run("demo --into out/requests.csv");
    assert_eq!(ran.code, 1, "{}", ran.err);
}

fn assert_claims_hold(paper: &str) {
    let document = Desk::new()
        .done(&format!("reproduce {paper} --json"))
        .json();
    let claims = document["claims"].as_array().expect("claims");
    assert!(!claims.is_empty());
    assert!(
        document["tables"]
            .as_array()
            .is_some_and(|tables| !tables.is_empty())
    );
    let verdict = |claim: &Value| claim["verdict"].as_str().expect("a verdict").to_owned();
    for claim in claims {
        let verdict = verdict(claim);
        assert!(
            ["holds", "pending", "shown"].contains(&verdict.as_str()),
            "{claim}"
        );
    }
    assert!(
        claims.iter().any(|claim| verdict(claim) == "holds"),
        "{claims:?}"
    );
}

#[test]
fn the_claims_of_johnson_and_miller_hold() {
    assert_claims_hold("johnson-miller");
}

#[test]
fn the_claims_of_cern_hold() {
    assert_claims_hold("cern");
}
