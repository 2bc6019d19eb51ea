//! Verbs killed at random instants.

use super::{cache, catalogue, desk, empty_cache, make_files, recall_and_compare};
use crate::program::Desk;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};
use tapewise_archive::catalogue::{Catalogue, CopyState, Files, Requests};
use tapewise_archive::deliver::InnerPath;
use tapewise_archive::store::{Source, StoreTerms, store};
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

/// Stores files as if that had been two days ago.
fn store_two_days_ago(desk: &Desk, files: &BTreeMap<String, Vec<u8>>) {
    let source = |name: &String| Source {
        from: desk.path().join(name),
        path: InnerPath::new(name).expect("a path"),
        bytes: files[name].len() as u64,
    };
    let sources: Vec<Source> = files.keys().map(source).collect();
    let how = StoreTerms {
        terms: Default::default(),
        copies: 1,
        replace: false,
        also: Vec::new(),
    };
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now_ns = since.expect("a clock behind 1970").as_nanos() as i64;
    let two_days_ns = 2 * 86_400_000_000_000;
    store(&cache(desk), &sources, &how, now_ns - two_days_ns).expect("stored");
}

/// Old files belong onto the cartridges of `deep` from now on.
fn set_tiers(desk: &Desk, settings: &str, [quick, deep]: [&str; 2]) {
    let tier = |name: &str, volumes: &str, days: u32| {
        format!("[[tier]]\nname = \"{name}\"\nvolumes = \"{volumes}\"\nafter_days = {days}\n")
    };
    let tiers = tier("quick", quick, 0) + &tier("deep", deep, 1);
    desk.put("A/archive.toml", format!("{settings}{tiers}"));
}

#[test]
fn a_move_from_tier_to_tier_killed_at_random_instants_loses_no_file() {
    const INSTANTS: u64 = 30;
    let desk = desk();
    let files = make_files(&desk, "reel", 60);
    store_two_days_ago(&desk, &files);
    desk.done("store --archive A --quiet");
    // Of 180 KB a portion holds a third, the rest comes from tape.
    let settings = desk.read("A/archive.toml");
    let settings = settings
        .replace("cache_high_bytes = 100000000", "cache_high_bytes = 80000")
        .replace("cache_low_bytes = ", "cache_low_bytes = 60000 # ");
    assert!(settings.contains("cache_high_bytes = 80000"), "{settings}");
    let mut tiers = ["TW000[12]*", "TW000[34]*"];
    set_tiers(&desk, &settings, tiers);
    empty_cache(&desk);
    let mut random = Random::new(30, 1);
    let mut usual = Duration::from_millis(300);
    let mut killed = 0;
    while killed < INSTANTS {
        let instant = usual.mul_f64(random.unit());
        let (_, ended) = desk.killed_after(instant, "catalog migrate --archive A --quiet");
        usual = usual.mul_f64(if ended { 0.85 } else { 1.1 });
        if ended {
            // All is where it belongs, and goes back.
            tiers.reverse();
            set_tiers(&desk, &settings, tiers);
        }
        killed += u64::from(!ended);
        let catalogue = catalogue(&desk);
        assert_eq!(
            catalogue.integrity().expect("a catalogue"),
            Vec::<String>::new(),
            "kill {killed}"
        );
        for name in files.keys() {
            let file = catalogue.live_file(name.as_bytes()).expect("a catalogue");
            let entry = catalogue.file(file.expect("a live file")).expect("a file");
            let is_whole =
                |copy: &tapewise_archive::catalogue::Copy| copy.state == CopyState::Whole;
            assert!(
                entry.cached.is_some() || entry.copies.iter().any(is_whole),
                "kill {killed}: {name} is lost"
            );
        }
    }
    desk.done("catalog migrate --archive A --quiet");
    desk.done("catalog check --archive A");
    let due = desk.done("catalog migrate --archive A --dry-run");
    assert_eq!(due.text(), "nothing is due\n");
    empty_cache(&desk);
    recall_and_compare(&desk, &files, "out");
}
