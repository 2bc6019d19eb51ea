//! Lives of several hosts, a few of them.

use tapewise_world::{Guards, live_together, troubles};

#[test]
fn hosts_that_lose_sight_of_each_other_lose_nothing() {
    let from = std::env::var("FROM").map_or(1, |from| from.parse().unwrap());
    let to = std::env::var("TO").map_or(1, |from| from.parse().unwrap());
    for seed in from..=to {
        let (counts, result) = live_together(seed, Guards::ALL, &troubles(seed));
        eprintln!("{seed} {result:?} {counts:#?}");
    }
}
