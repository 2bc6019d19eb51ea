//! A short fixed set of lives, and that the machine itself does what it says.

use tapewise_world::{life, live};

#[test]
fn nothing_is_lost_in_a_few_lives() {
    for seed in 1..=12 {
        let (counts, result) = live(seed, &life(seed, 30));
        assert_eq!(
            result,
            Ok(()),
            "seed {seed}; `make simulate-faults SEED={seed} EVENTS=30` shrinks it"
        );
        assert!(counts.drive_time.0 > 0);
    }
}

#[test]
fn lives_that_once_ended_badly_do_not_again() {
    for seed in [
        184, 301, 433, 506, 619, 852, 881, 888, 970, 1076, 1284, 1434, 1493, 2949, 3197, 3330,
        4044, 4352, 6503, 6619, 6671,
    ] {
        assert_eq!(live(seed, &life(seed, 40)).1, Ok(()), "seed {seed}");
    }
}

#[test]
fn a_seed_gives_the_same_life_again() {
    for seed in [3, 8] {
        let events = life(seed, 25);
        assert_eq!(live(seed, &events), live(seed, &events));
    }
}
