//! Short seeks against reading on: from which distance on is a locate sooner?
//!
//! At each of a few places the distance grows until the locate wins twice in a row; then the range
//! in which the winner changed is halved a few times. Read and locate take turns, both ahead, so
//! that no way back is needed (Johnson & Miller 1998, section 5.4.3).

use super::bench::{Bench, Sample, read, seek};
use super::subject::Subject;
use crate::error::RunError;
use crate::recorder::Recorder;
use tapewise_formats::event::Action;
use tapewise_model::Micros;

/// The shortest distance tried, in MB: shorter reads come from the drive's buffer.
const SHORTEST_MB: f64 = 0.25;

/// From one distance to the next.
const GROWTH: f64 = 1.6;

/// Times the range in which the winner changes is halved.
const HALVINGS: u32 = 3;

/// Samples that one place takes, for the prediction.
pub(super) const SAMPLES_OF_A_PLACE: u32 = 15;

pub(super) fn short_seeks(bench: &mut Bench<'_, '_>, places: u32) -> Result<(), RunError> {
    let mut random = bench.random();
    for place in 0..places {
        let share = (f64::from(place) + random.unit()) / f64::from(places);
        one_place(bench, share)?;
    }
    Ok(())
}

/// Finds the change of winner around one place of the tape.
fn one_place(bench: &mut Bench<'_, '_>, share: f64) -> Result<(), RunError> {
    let longest = longest_gap(bench.subject);
    let mut gap = bench.subject.blocks_of_mb(SHORTEST_MB).max(2);
    let (mut reading_wins, mut locate_wins) = (gap, None);
    let mut wins = 0;
    while gap <= longest && wins < 2 && bench.has_time() {
        if locate_is_sooner(&compare(bench, share, gap)?) {
            wins += 1;
            locate_wins = locate_wins.or(Some(gap));
        } else {
            wins = 0;
            (reading_wins, locate_wins) = (gap, None);
        }
        gap = ((gap as f64 * GROWTH) as u64).max(gap + 1);
    }
    let Some(mut locate_wins) = locate_wins else {
        return Ok(());
    };
    for _ in 0..HALVINGS {
        let middle = reading_wins.midpoint(locate_wins);
        if middle == reading_wins || !bench.has_time() {
            break;
        }
        match locate_is_sooner(&compare(bench, share, middle)?) {
            true => locate_wins = middle,
            false => reading_wins = middle,
        }
    }
    Ok(())
}

/// Twice the distance and what lies before must fit on a wrap: its end would cost a turn.
fn longest_gap(subject: &Subject) -> u64 {
    let wrap = subject.wrap(0).map_or(0, |(first, end)| end - first);
    (wrap as f64 * 0.4) as u64
}

/// Reads over `gap` blocks, then locates over as many more: the last block of each is read.
fn compare(bench: &mut Bench<'_, '_>, share: f64, gap: u64) -> Result<Sample, RunError> {
    let start = start(bench.subject, share, gap);
    bench.sample(
        Some(gap as i64),
        |recorder| seek(recorder, start),
        |recorder| {
            recorder.read(Action::ReadThrough, gap, &mut |_, _| Ok(()))?;
            jump(recorder, gap)
        },
    )
}

fn jump(recorder: &mut Recorder<'_>, gap: u64) -> Result<(), RunError> {
    let here = recorder.head().and_then(|head| head.block);
    let here = here.ok_or(RunError::Lost)?;
    recorder.locate(0, here + gap - 1)?;
    read(recorder, 1).map(|_| ())
}

/// A block from which twice the gap stays on the wrap.
fn start(subject: &Subject, share: f64, gap: u64) -> u64 {
    let wraps = subject.full_wraps().max(1);
    let wrap = ((f64::from(wraps) * share) as u16).min(wraps - 1);
    let (first, end) = subject.wrap(wrap).unwrap_or((0, subject.blocks));
    let blocks = end - first;
    let room = blocks.saturating_sub(2 * gap + 2);
    // Off the beginning of the wrap, where the map may be a little off.
    first + (room as f64 * 0.3) as u64
}

/// Whether the locate of a sample, with the block read after it, took less than reading over the
/// same distance. A gain of a hundredth is none.
fn locate_is_sooner(sample: &Sample) -> bool {
    match times(sample) {
        Some((read, located)) => located.as_secs_f64() < 0.99 * read.as_secs_f64(),
        None => false,
    }
}

/// What reading on took, and the locate over the same distance with the block read after it.
pub(super) fn times(sample: &[tapewise_formats::event::Event]) -> Option<(Micros, Micros)> {
    let of = |action| {
        let found = sample.iter().find(|event| event.action == action);
        found.map(|event| event.took_us)
    };
    Some((
        of(Action::ReadThrough)?,
        of(Action::Locate)? + of(Action::Read)?,
    ))
}
