//! A run that failed, with as few events as still make it fail.

use crate::events::Event;
use crate::fate::Plan;
use crate::hosts::{Guards, Trouble, live_together, troubles};
use crate::run::{Broken, live};

/// The fewest events found with which a promise is broken, and how it is broken then. Delta debugging (Zeller and
/// Hildebrandt 2002): halves, quarters and so on are left out as long as the rest still fails; then what goes wrong
/// in each event, and the time before it.
pub fn shrink(seed: u64, events: &[Event], broken: Broken) -> (Vec<Event>, Broken) {
    let end = events.len().min(broken.at + 1);
    let mut found = (events[..end].to_vec(), broken);
    let mut chunk = found.0.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        while at < found.0.len() {
            let mut fewer = found.0.clone();
            fewer.drain(at..(at + chunk).min(fewer.len()));
            match live(seed, &fewer).1 {
                Err(broken) => found = (fewer, broken),
                Ok(()) => at += chunk,
            }
        }
        if chunk == 1 {
            break;
        }
        chunk = chunk.div_ceil(2);
    }
    for at in 0..found.0.len() {
        for simpler in [
            |event: Event| Event {
                plan: Plan::default(),
                ..event
            },
            |event: Event| Event { hours: 0, ..event },
        ] {
            let mut fewer = found.0.clone();
            fewer[at] = simpler(fewer[at]);
            if fewer[at] != found.0[at]
                && let Err(broken) = live(seed, &fewer).1
            {
                found = (fewer, broken);
            }
        }
    }
    found
}

/// The fewest troubles found with which several hosts break a promise, left out one by one.
pub fn shrink_troubles(seed: u64, guards: Guards, broken: Broken) -> (Vec<Trouble>, Broken) {
    let mut found = (troubles(seed), broken);
    let mut at = 0;
    while at < found.0.len() {
        let mut fewer = found.0.clone();
        fewer.remove(at);
        match live_together(seed, guards, &fewer).1 {
            Err(broken) => found = (fewer, broken),
            Ok(()) => at += 1,
        }
    }
    found
}
