//! Short seeks against reading on: from which distance on is a locate sooner?
//!
//! The distance grows until the locate wins twice in a row, and then the range around the first win
//! is looked at closely, at places all over the tape: on serpentine tape times jump from landing point
//! to landing point. Read and locate go over the same stretch, to a block that was visited before,
//! as in an experiment that is repeated (Johnson & Miller 1998, section 5.4.3): an Ampex finds it
//! sooner.

use super::bench::{Bench, Sample, seek};
use super::subject::Subject;
use crate::error::RunError;
use tapewise_formats::event::{Action, Event};
use tapewise_model::{Micros, Random};

/// The shortest distance tried, in MB: shorter reads come from the drive's buffer.
const SHORTEST_MB: f64 = 0.25;

/// From one distance to the next.
const GROWTH: f64 = 1.6;

/// The longest distance, as a share of a wrap: its end would cost a turn.
const LONGEST: f64 = 0.65;

/// The range looked at closely, in distances of the first win: the one before it was 1 / [`GROWTH`].
const CLOSE: (f64, f64) = (0.5, 1.5);

/// A locate that saves less than this share of the time of reading on saves nothing.
pub(super) const NO_GAIN: f64 = 0.01;

pub(super) fn short_seeks(bench: &mut Bench<'_, '_>, samples: u32) -> Result<(), RunError> {
    let mut random = bench.random();
    let subject = bench.subject;
    let wrap = subject
        .wrap(0)
        .map_or(subject.blocks, |(first, end)| end - first);
    let longest = (wrap as f64 * LONGEST) as u64;
    let mut gap = subject.blocks_of_mb(SHORTEST_MB).max(2);
    let (mut taken, mut wins, mut first_win) = (0, 0, None);
    while gap <= longest && wins < 2 && bench.goes_on() {
        let locate_wins = locate_is_sooner(&compare(bench, &mut random, gap)?);
        wins = if locate_wins { wins + 1 } else { 0 };
        first_win = first_win
            .filter(|_| locate_wins)
            .or(locate_wins.then_some(gap));
        gap = ((gap as f64 * GROWTH) as u64).max(gap + 1);
        taken += 1;
    }
    let Some(win) = first_win else { return Ok(()) };
    let (low, high) = (
        win as f64 * CLOSE.0,
        (win as f64 * CLOSE.1).min(longest as f64),
    );
    for left in (1..=samples.saturating_sub(taken)).rev() {
        if !bench.goes_on() {
            break;
        }
        let share = (f64::from(left) - random.unit()) / f64::from(samples - taken);
        let gap = (low + (high - low) * share) as u64;
        compare(bench, &mut random, gap.max(2))?;
    }
    Ok(())
}

/// Reads over `gap` blocks at some place; goes back, locates over the same and reads the last.
fn compare(bench: &mut Bench<'_, '_>, random: &mut Random, gap: u64) -> Result<Sample, RunError> {
    let partition = bench.subject.partition;
    let start = start(bench.subject, random, gap);
    bench.sample(
        Some(gap as i64),
        |recorder| {
            seek(recorder, partition, start + gap)?;
            seek(recorder, partition, start)
        },
        |recorder| {
            recorder.read(Action::ReadThrough, gap, &mut |_, _| Ok(()))?;
            seek(recorder, partition, start)?;
            seek(recorder, partition, start + gap)
        },
    )
}

/// A block somewhere on the tape from which the gap stays on the wrap.
fn start(subject: &Subject, random: &mut Random, gap: u64) -> u64 {
    let wrap = random.below(u64::from(subject.full_wraps().max(1))) as u16;
    let (first, end) = subject.wrap(wrap).unwrap_or((0, subject.blocks));
    // Off the ends of the wrap, where the map may be a little off.
    let room = (end - first).saturating_sub(gap + 2) as f64;
    first + (room * (0.05 + 0.9 * random.unit())) as u64
}

/// Whether the locate of a sample, with the block read after it, took less than reading over the
/// same distance.
fn locate_is_sooner(sample: &Sample) -> bool {
    match times(sample.iter()) {
        Some((read, located)) => located.as_secs_f64() < (1.0 - NO_GAIN) * read.as_secs_f64(),
        None => false,
    }
}

/// What reading on took, and the locate over the same distance with the block read after it.
pub(super) fn times<'e>(sample: impl Iterator<Item = &'e Event>) -> Option<(Micros, Micros)> {
    let (mut over, mut located) = (None, Micros::ZERO);
    for event in sample {
        match event.action {
            Action::ReadThrough => over = Some(event.took_us),
            // The way back comes first, the locate that counts last.
            Action::Locate => located = event.took_us,
            Action::Read => located += event.took_us,
            _ => {}
        }
    }
    Some((over?, located))
}
