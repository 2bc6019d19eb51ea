//! The single moves behind the means: what pictures show.

use super::super::step::Step;
use super::Samples;
use tapewise_formats::event::{Action, Event, Spot};
use tapewise_model::Micros;

/// A move over the tape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// Where it began, as far as known.
    pub from: Option<Spot>,
    /// Where it led; nothing for an unmount.
    pub to: Option<Spot>,
    /// What it took, with the read of a block behind a locate.
    pub seconds: f64,
}

/// A robot's ways to a slot and back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    /// The slot's element address.
    pub slot: u16,
    /// Slot to drive, seconds.
    pub fetch_s: f64,
    /// Drive to slot, seconds.
    pub return_s: f64,
}

/// All moves of a log by what they were for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moves {
    /// Seeks from the beginning of tape.
    pub from_beginning: Vec<Move>,
    /// Seeks between any places, those of a walk among them.
    pub between: Vec<Move>,
    /// Unmounts away from the beginning of tape.
    pub unmounts: Vec<Move>,
    /// The first seek after each of them and a mount, from where the tape was left.
    pub first: Vec<Move>,
    /// Rewinds of all steps that do not write.
    pub rewinds: Vec<Move>,
    /// A robot's ways.
    pub ways: Vec<Way>,
}

impl Moves {
    pub(super) fn of(log: &Samples<'_, '_>) -> Moves {
        let all = |action: Action| {
            let events = log.of_step(Step::Midtape).flatten();
            events.filter(move |event| event.action == action)
        };
        let first = log.of_step(Step::Midtape).flat_map(|events| {
            let unmount = events.iter().find(|event| event.action == Action::Unmount);
            let from = unmount.and_then(|unmount| unmount.from);
            seeks(events).map(move |seek| Move { from, ..seek })
        });
        Moves {
            from_beginning: log.seeks(Step::SeekBot).collect(),
            between: log
                .seeks(Step::SeekMid)
                .chain(log.seeks(Step::Walk))
                .collect(),
            unmounts: all(Action::Unmount).map(|event| moved(event)).collect(),
            first: first.collect(),
            rewinds: log.rewinds.iter().map(|event| moved(event)).collect(),
            ways: log.of_step(Step::Robot).filter_map(way).collect(),
        }
    }
}

/// Every locate of a sample with the block read behind it.
pub(super) fn seeks<'a>(events: &'a [&Event]) -> impl Iterator<Item = Move> + 'a {
    events.iter().enumerate().filter_map(|(at, event)| {
        let to = event.to.filter(|_| event.action == Action::Locate)?;
        let read = events.get(at + 1);
        let read = read.filter(|next| next.action == Action::Read);
        let read = read.map_or(Micros::ZERO, |read| read.took_us);
        Some(Move {
            from: event.from,
            to: Some(to),
            seconds: (event.took_us + read).as_secs_f64(),
        })
    })
}

fn moved(event: &Event) -> Move {
    Move {
        from: event.from,
        to: event.to,
        seconds: event.took_us.as_secs_f64(),
    }
}

fn way(events: &[&Event]) -> Option<Way> {
    let find = |action: Action| events.iter().find(|event| event.action == action);
    let (fetch, back) = (find(Action::Fetch)?, find(Action::Return)?);
    Some(Way {
        slot: fetch.slot?,
        fetch_s: fetch.took_us.as_secs_f64(),
        return_s: back.took_us.as_secs_f64(),
    })
}
