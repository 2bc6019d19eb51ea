//! Verbs killed at random instants.

use super::{catalogue, desk, empty_cache, make_files};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;
use tapewise_archive::catalogue::{Catalogue, Files, Requests};
use tapewise_model::Random;

/// Names of files below a directory, those on their way left out.
fn delivered(directory: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            let inner = path
                .strip_prefix(directory)
                .expect("below")
                .display()
                .to_string();
            match path.is_dir() {
                true => left.push(path),
                false if inner.contains(".tapewise-") => {}
                false => {
                    names.insert(inner);
                }
            }
        }
    }
    names
}

/// Kills at this many instants of each verb; the whole test kills 200 times.
const KILLS: u64 = 100;

#[test]
fn killed_at_random_instants_nothing_acknowledged_is_lost_and_nothing_delivered_twice() {
    let desk = desk();
    let mut random = Random::new(200, 1);
    let mut promised: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    // Instants lie within this; it follows how long a run takes, so that some six of seven are killed.
    let mut usual = Duration::from_millis(100);
    let mut killed = 0;
    for round in 0..KILLS {
        let directory = format!("d{round}");
        let files = make_files(&desk, &directory, 4);
        let instant = usual.mul_f64(random.unit());
        let (said, ended) = desk.killed_after(instant, &format!("store --archive A {directory}"));
        usual = usual.mul_f64(if ended { 0.85 } else { 1.03 });
        killed += u64::from(!ended);
        let catalogue = catalogue(&desk);
        if said.contains("acknowledged") {
            promised.extend(files);
        }
        assert_eq!(
            catalogue.integrity().expect("a catalogue"),
            Vec::<String>::new(),
            "round {round}"
        );
        for name in promised.keys() {
            let live = catalogue.live_file(name.as_bytes()).expect("a catalogue");
            assert!(
                live.is_some(),
                "round {round}: {name} was acknowledged and is lost"
            );
        }
    }
    assert!(
        !promised.is_empty() && killed > KILLS / 2,
        "{killed} killed"
    );
    desk.done("store --archive A");
    empty_cache(&desk);

    let names: Vec<&str> = promised.keys().map(String::as_str).collect();
    let mut inodes: BTreeMap<String, u64> = BTreeMap::new();
    let to = desk.path().join("out");
    for round in 0..KILLS {
        let some: Vec<&str> = (0..6)
            .map(|_| names[random.below(names.len() as u64) as usize])
            .collect();
        desk.put("list.txt", some.join("\n"));
        let instant = usual.mul_f64(random.unit());
        let recall = "recall --archive A --to out --files-from list.txt";
        let (_, ended) = desk.killed_after(instant, recall);
        usual = usual.mul_f64(if ended { 0.85 } else { 1.03 });
        assert_eq!(
            catalogue(&desk).integrity().expect("a catalogue"),
            Vec::<String>::new(),
            "round {round}"
        );
        for name in delivered(&to) {
            let path = to.join(&name);
            let inode = std::fs::metadata(&path).expect("delivered").ino();
            let before = *inodes.entry(name.clone()).or_insert(inode);
            assert_eq!(before, inode, "round {round}: {name} was delivered twice");
            assert!(
                std::fs::read(&path).expect("delivered") == promised[&name],
                "round {round}: {name}"
            );
        }
    }
    desk.put("list.txt", names.join("\n"));
    desk.done("recall --archive A --to out --files-from list.txt");
    assert_eq!(delivered(&to), promised.keys().cloned().collect());
    for (name, contents) in &promised {
        assert!(
            &std::fs::read(to.join(name)).expect("delivered") == contents,
            "{name}"
        );
    }
    let catalogue = catalogue(&desk);
    assert!(catalogue.unanswered().expect("a catalogue").is_empty());
}
