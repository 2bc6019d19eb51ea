//! A short fixed set of lives of several hosts, and what happens without the guards that keep them apart.

use std::ops::RangeInclusive;
use tapewise_world::{Broken, Counts, Guards, live_together, troubles};

/// Lives of these seeds: what they counted, and which of them ended badly.
fn lived(seeds: RangeInclusive<u64>, guards: Guards) -> (Counts, Vec<(u64, Broken)>) {
    let mut all = Counts::default();
    let mut broken = Vec::new();
    for seed in seeds {
        let (counts, result) = live_together(seed, guards, &troubles(seed));
        all.add(&counts);
        broken.extend(result.err().map(|why| (seed, why)));
    }
    (all, broken)
}

fn counted(counts: &Counts, what: &'static str) -> u64 {
    let found = counts
        .injected
        .iter()
        .filter(|((_, name), _)| *name == what);
    found.map(|(_, count)| count).sum()
}

#[test]
fn hosts_that_lose_sight_of_each_other_lose_nothing() {
    let (counts, broken) = lived(1..=6, Guards::ALL);
    assert_eq!(
        broken,
        [],
        "`make simulate-faults LIVES=together SEED=…` shrinks it"
    );
    // A world in which nothing happens would show nothing.
    for what in [
        "taken from an older lease",
        "refused another late command",
        "host stopped before it",
        "host cut off from the catalogue before it",
        "on its way for long",
    ] {
        assert!(counted(&counts, what) > 0, "{what}: {counts:#?}");
    }
    assert_eq!(counted(&counts, "accepted a late write"), 0);
    assert!(counts.delivered > 100 && counts.mounts > 50, "{counts:#?}");
}

#[test]
fn without_the_fence_late_writes_arrive_and_files_are_lost() {
    let guards = Guards {
        fence: false,
        ..Guards::ALL
    };
    // About every tenth life shows it; which ones changes with whatever a mover does.
    let is_lost = |seed: &u64| {
        let (counts, result) = live_together(*seed, guards, &troubles(*seed));
        let is_loss = |broken: Broken| broken.why.contains("a copy that is not there");
        counted(&counts, "accepted a late write") > 0 && result.is_err_and(is_loss)
    };
    assert_ne!((1..=100).find(is_lost), None);
}

#[test]
fn lives_of_several_hosts_that_once_ended_badly_do_not_again() {
    for seed in [26, 61] {
        let (_, result) = live_together(seed, Guards::ALL, &troubles(seed));
        assert_eq!(result, Ok(()), "seed {seed}");
    }
}

#[test]
fn a_seed_gives_the_same_life_of_several_hosts_again() {
    let troubles = troubles(2);
    let live = || live_together(2, Guards::ALL, &troubles);
    assert_eq!(live(), live());
}
