//! What watches a service asks for metrics that the service has.

use crate::desk::{Desk, archive};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Command;
use tapewise_house::tgt::program;
use tapewise_serve::ServeSettings;

/// Words that begin as our metrics do.
fn metrics(text: &str) -> BTreeSet<&str> {
    let words = text.split(|character: char| !character.is_ascii_lowercase() && character != '_');
    let ours = words.filter(|word| word.starts_with("tapewise_"));
    let parts = ["_bucket", "_sum", "_count"];
    ours.map(|word| {
        let whole = parts.iter().find_map(|part| word.strip_suffix(part));
        whole.unwrap_or(word)
    })
    .collect()
}

#[test]
fn the_dashboard_and_the_alerts_know_every_metric_by_its_name() {
    let desk = Desk::with(archive(), &ServeSettings::default());
    let told = desk.ask("GET", "/metrics", "").body;
    let types = told.lines().filter(|line| line.starts_with("# TYPE "));
    let types: String = types.map(|line| format!("{line}\n")).collect();
    let there = metrics(&types);
    let folder = tapewise_house::root().join("contrib/grafana");
    let mut asked = BTreeSet::new();
    for file in ["tapewise-serve.json", "alerts.yml"] {
        let text = std::fs::read_to_string(folder.join(file)).expect(file);
        for name in metrics(&text) {
            assert!(there.contains(name), "{file}: {name}");
            asked.insert(name.to_owned());
        }
    }
    let on_dashboard: Vec<_> = there
        .iter()
        .filter(|name| !asked.contains(**name))
        .collect();
    assert!(on_dashboard.is_empty(), "nobody looks at {on_dashboard:?}");
    let dashboard = std::fs::read_to_string(folder.join("tapewise-serve.json"));
    let dashboard: serde_json::Value =
        serde_json::from_str(&dashboard.expect("a dashboard")).expect("JSON");
    assert_eq!(dashboard["uid"], "tapewise-serve");
    assert!(dashboard["id"].is_null());
}

#[test]
fn the_alerts_fire_when_they_should() {
    let Some(promtool) = program("promtool") else {
        let line = b"\nSKIPPED: the alerts: no promtool; Debian has it in the package prometheus\n";
        // Not eprintln!, which the harness swallows when a test passes.
        let _ = std::io::stderr().write_all(line);
        return;
    };
    let test = Command::new(promtool)
        .args(["test", "rules", "alerts_test.yml"])
        .current_dir(tapewise_house::root().join("contrib/grafana"))
        .output();
    let test = test.expect("promtool runs");
    let said = String::from_utf8_lossy(&test.stderr);
    assert!(test.status.success(), "{said}");
}
