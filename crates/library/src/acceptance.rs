//! What the log of a stress says, quantity by quantity, for a report of acceptance.
//!
//! Each round of a part is a session with a clock of its own.

use std::collections::HashMap;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_model::Micros;
use tapewise_run::measure::summary::{Better, Measure, TIME};

/// The quantities of a part, from its sessions in order. Times that failed are left out.
pub fn measures(part: &str, sessions: &[&[Event]]) -> Vec<Measure> {
    let done = || {
        let events = sessions.iter().flat_map(|session| session.iter());
        events.filter(|event| event.outcome == Outcome::Done)
    };
    let seconds = |action: Action| -> Vec<f64> {
        let events = done().filter(|event| event.action == action);
        events.map(|event| event.took_us.as_secs_f64()).collect()
    };
    // One cycle's wait at the robot makes the next one's: only the means of sessions are independent.
    let from_to = |first: Action, last: Action| -> Vec<f64> {
        let sessions = sessions.iter();
        let means = sessions.filter_map(|session| mean(&pairs(session, first, last)));
        means.collect()
    };
    let rates: Vec<f64> = sessions.iter().filter_map(|one| per_hour(one)).collect();
    let rate = ("1/h", Better::Higher);
    [
        Measure::of(part, "mounts an hour", rate, &rates),
        Measure::of(
            part,
            "mount, robot and drive",
            TIME,
            &from_to(Action::Fetch, Action::Mount),
        ),
        Measure::of(
            part,
            "dismount, drive and robot",
            TIME,
            &from_to(Action::Unmount, Action::Return),
        ),
        Measure::of(part, "robot, slot to drive", TIME, &seconds(Action::Fetch)),
        Measure::of(part, "drive, load", TIME, &seconds(Action::Mount)),
        Measure::of(part, "drive, unload", TIME, &seconds(Action::Unmount)),
        Measure::of(part, "robot, drive to slot", TIME, &seconds(Action::Return)),
    ]
    .into_iter()
    .flatten()
    .map(|measure| Measure {
        what: format!("{}, {part}", measure.what),
        ..measure
    })
    .collect()
}

/// How long a session lasted.
pub fn took(session: &[Event]) -> Micros {
    session.iter().map(end).fold(Micros::ZERO, Micros::max)
}

/// Seconds from when a cartridge's first action begins until its last one ends, waiting between them included.
fn pairs(session: &[Event], first: Action, last: Action) -> Vec<f64> {
    let mut began: HashMap<&str, Micros> = HashMap::new();
    let mut pairs = Vec::new();
    for event in session
        .iter()
        .filter(|event| event.outcome == Outcome::Done)
    {
        let Some(cartridge) = event.cartridge.as_deref() else {
            continue;
        };
        if event.action == first {
            began.insert(cartridge, event.at_us);
        } else if event.action == last
            && let Some(began) = began.remove(cartridge)
        {
            pairs.push((end(event) - began).as_secs_f64());
        }
    }
    pairs
}

/// Mounts an hour in a session: from when the first cartridge is back until the last one is fetched, while all cycles are
/// on their way. None in one that is too short.
fn per_hour(session: &[Event]) -> Option<f64> {
    let of = |action: Action| session.iter().filter(move |event| event.action == action);
    let from = of(Action::Return).map(end).min()?;
    let until = of(Action::Fetch).map(|event| event.at_us).max()?;
    let mounts = of(Action::Mount).filter(|event| event.outcome == Outcome::Done);
    let mounts = mounts.filter(|event| from < end(event) && end(event) <= until);
    (from < until).then(|| mounts.count() as f64 * 3600.0 / (until - from).as_secs_f64())
}

fn end(event: &Event) -> Micros {
    event.at_us + event.took_us
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cycle of 60 s: 10 s to the drive, 20 s to load, 20 s to unload, 10 s back.
    fn cycle(label: &str, began_s: i64) -> Vec<Event> {
        let steps = [
            (Action::Fetch, 0, 10),
            (Action::Mount, 10, 20),
            (Action::Unmount, 30, 20),
            (Action::Return, 50, 10),
        ];
        let event = |(action, at, took): (Action, i64, i64)| Event {
            cartridge: Some(label.to_owned()),
            ..Event::new(
                action,
                Micros((began_s + at) * 1_000_000),
                Micros(took * 1_000_000),
            )
        };
        steps.map(event).to_vec()
    }

    #[test]
    fn cycles_of_a_minute_are_sixty_mounts_an_hour_stopped_or_not() {
        let cycles = |count: i64| -> Vec<Event> {
            (0..count)
                .flat_map(|at| cycle(&format!("A{}", at % 3), at * 60))
                .collect()
        };
        let (whole, half) = (cycles(20), cycles(10));
        for sessions in [
            vec![whole.as_slice()],
            vec![half.as_slice(), half.as_slice()],
        ] {
            let rounds = sessions.len();
            let found = measures("stress-1", &sessions);
            let of = |what: &str| {
                let found = found.iter().find(|one| one.what.starts_with(what));
                found.expect("a quantity")
            };
            assert_eq!(
                (of("mounts an hour").mean, of("mounts an hour").n),
                (60.0, rounds)
            );
            assert_eq!(
                (of("mount, robot").mean, of("mount, robot").n),
                (30.0, rounds)
            );
            assert_eq!(of("dismount").mean, 30.0);
            assert_eq!(of("robot, slot").mean, 10.0);
        }
    }
}
