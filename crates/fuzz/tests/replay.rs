//! Everything that the fuzzer kept, once more: no panic, no endless work.

use std::path::PathBuf;
use tapewise_fuzz::TARGETS;
use tapewise_model::Random;

fn corpora() -> PathBuf {
    tapewise_house::fixture("fuzz")
}

#[test]
fn every_target_takes_all_that_was_kept_for_it() {
    for target in TARGETS {
        let directory = corpora().join(target.name);
        let entries = std::fs::read_dir(&directory);
        let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        let mut files: Vec<PathBuf> = entries
            .map(|entry| entry.expect("an entry").path())
            .collect();
        files.sort();
        assert!(!files.is_empty(), "{} is empty", directory.display());
        for file in files {
            let bytes = std::fs::read(&file).expect("a file");
            let run = std::panic::catch_unwind(|| (target.run)(&bytes));
            assert!(run.is_ok(), "{}", file.display());
        }
    }
}

#[test]
fn every_corpus_is_that_of_a_target() {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    for entry in std::fs::read_dir(corpora()).expect("a directory") {
        let name = entry.expect("an entry").file_name();
        assert!(
            names.iter().any(|known| name == *known),
            "{}",
            name.display()
        );
    }
}

/// Without a fuzzer, sequences drawn by seed: `TAPEWISE_SEQUENCES=10000` draws as many.
#[test]
fn whatever_an_archive_does_to_its_catalogue_loses_nothing() {
    let wanted = std::env::var("TAPEWISE_SEQUENCES").ok();
    let count = wanted.and_then(|text| text.parse().ok()).unwrap_or(60);
    let target = tapewise_fuzz::find("catalogue_steps").expect("a target");
    for seed in 0..count {
        let mut random = Random::new(seed, 1);
        let steps: Vec<u8> = (0..160).map(|_| random.below(256) as u8).collect();
        let run = std::panic::catch_unwind(|| (target.run)(&steps));
        assert!(run.is_ok(), "seed {seed}");
    }
}
