//! Mounts and long seeks: from the beginning of tape, across, between any two places, and the first
//! one after a mount.

use super::bench::{Bench, read, seek, to_beginning};
use super::subject::Subject;
use crate::error::RunError;
use tapewise_model::{BlockMap, Random};

/// Gives the cartridge out, rewound, and takes it in again.
pub(super) fn mount(bench: &mut Bench<'_, '_>, samples: u32) -> Result<(), RunError> {
    for _ in 0..samples {
        if !bench.goes_on() {
            break;
        }
        bench.sample(None, to_beginning, |recorder| {
            recorder.unmount()?;
            recorder.mount().map(|_| ())
        })?;
    }
    Ok(())
}

/// From the beginning of tape to a block and back.
pub(super) fn from_beginning(bench: &mut Bench<'_, '_>, samples: u32) -> Result<(), RunError> {
    let partition = bench.subject.partition;
    let targets = targets_from_beginning(bench.subject, samples, &mut bench.random());
    for block in targets {
        if !bench.goes_on() {
            break;
        }
        bench.sample(None, to_beginning, |recorder| {
            seek(recorder, partition, block)?;
            recorder.rewind().map(|_| ())
        })?;
    }
    Ok(())
}

/// Tracks whose seeks from the beginning of tape are measured closely: as Johnson & Miller drew
/// them, the first few. Where a later track begins is less sure without a map of the cartridge.
pub(super) const CLOSE_WRAPS: u16 = 8;

/// Helical: blocks spread evenly over the tape. Serpentine: half of them anywhere, half evenly along
/// the first forward tracks: an even step meets every stretch between landing points as often.
fn targets_from_beginning(subject: &Subject, samples: u32, random: &mut Random) -> Vec<u64> {
    let wraps = subject.full_wraps().min(CLOSE_WRAPS);
    if !subject.is_serpentine() || wraps < 3 {
        return spread(0, subject.blocks, samples, random);
    }
    let close = samples / 2;
    let mut targets = spread(0, subject.blocks, samples - close, random);
    let forward: Vec<u16> = (2..wraps).step_by(2).collect();
    for at in 0..close {
        let wrap = forward[at as usize % forward.len()];
        let Some((first, end)) = subject.wrap(wrap) else {
            continue;
        };
        let share = (f64::from(at) + 0.5) / f64::from(close);
        targets.push(first + ((end - first) as f64 * share) as u64);
    }
    random.shuffle(&mut targets);
    targets
}

/// One block of each of `samples` equal parts of a run of blocks, in random order.
pub(super) fn spread(first: u64, end: u64, samples: u32, random: &mut Random) -> Vec<u64> {
    let blocks = (end - first) as f64;
    let mut places: Vec<u64> = (0..samples)
        .map(|at| first + (blocks * (f64::from(at) + random.unit()) / f64::from(samples)) as u64)
        .collect();
    random.shuffle(&mut places);
    places
}

/// To the neighbouring track of the other direction, at the same place along the tape, at even steps:
/// times jump from landing point to landing point, and an even step meets all of a stretch between
/// two as often.
pub(super) fn opposite(bench: &mut Bench<'_, '_>, samples: u32) -> Result<(), RunError> {
    let partition = bench.subject.partition;
    let wraps = bench.subject.full_wraps();
    let Some(map) = bench.subject.map.as_ref().filter(|_| wraps >= 3) else {
        return Ok(());
    };
    for at in 0..samples {
        if !bench.goes_on() {
            break;
        }
        let share = 0.15 + 0.7 * (f64::from(at) + 0.5) / f64::from(samples);
        // Where later tracks begin is less sure.
        let wrap = 1 + (at % u32::from(wraps.min(CLOSE_WRAPS) - 2)) as u16;
        let (Some(from), Some(to)) = (along(map, wrap, share), along(map, wrap + 1, share)) else {
            continue;
        };
        bench.sample(
            None,
            |recorder| seek(recorder, partition, from),
            |recorder| seek(recorder, partition, to),
        )?;
    }
    Ok(())
}

/// The block of a wrap nearest to a place along the tape, as a share of the tape's length.
pub(super) fn along(map: &BlockMap, wrap: u16, share: f64) -> Option<u64> {
    let spans = || map.spans().iter().filter(|span| span.wrap == wrap);
    let low = spans()
        .map(|span| span.lpos_first.min(span.lpos_end))
        .min()?;
    let high = spans()
        .map(|span| span.lpos_first.max(span.lpos_end))
        .max()?;
    let lpos = f64::from(low) + share * f64::from(high - low);
    spans().find_map(|span| {
        let (first, end) = (f64::from(span.lpos_first), f64::from(span.lpos_end));
        let into = (lpos - first) / (end - first);
        let blocks = (span.end_block - span.first_block) as f64;
        (0.0..=1.0)
            .contains(&into)
            .then(|| span.first_block + (into * (blocks - 1.0).max(0.0)) as u64)
    })
}

/// A chain through the tape: the end of one seek is the beginning of the next, so no time goes by
/// that measures nothing.
pub(super) fn between(bench: &mut Bench<'_, '_>, samples: u32) -> Result<(), RunError> {
    let partition = bench.subject.partition;
    let targets = spread(0, bench.subject.blocks, samples, &mut bench.random());
    for block in targets {
        if !bench.goes_on() {
            break;
        }
        bench.sample(
            None,
            |_| Ok(()),
            |recorder| seek(recorder, partition, block),
        )?;
    }
    Ok(())
}

/// Gives the cartridge out where it stands, takes it in again, and seeks. A drive that must rewind
/// to unmount does that within the unmount.
pub(super) fn midtape(bench: &mut Bench<'_, '_>, samples: u32) -> Result<(), RunError> {
    let partition = bench.subject.partition;
    let mut random = bench.random();
    let blocks = bench.subject.blocks;
    let left_at = spread(0, blocks, samples, &mut random);
    let first = spread(0, blocks, samples, &mut random);
    for (left_at, first) in left_at.into_iter().zip(first) {
        if !bench.goes_on() {
            break;
        }
        bench.sample(
            None,
            |recorder| seek(recorder, partition, left_at),
            |recorder| {
                recorder.unmount()?;
                recorder.mount()?;
                seek(recorder, partition, first)
            },
        )?;
    }
    Ok(())
}

/// Places all over the tape in logical order: the drive says with each where it is.
pub(super) fn positions(bench: &mut Bench<'_, '_>, samples: u32) -> Result<(), RunError> {
    let partition = bench.subject.partition;
    let mut targets = spread(0, bench.subject.blocks, samples, &mut bench.random());
    targets.sort_unstable();
    for block in targets {
        if !bench.goes_on() {
            break;
        }
        bench.sample(
            None,
            |_| Ok(()),
            |recorder| recorder.locate(partition, block).map(|_| ()),
        )?;
    }
    Ok(())
}

/// Seeks from one place to targets close to each other on another wrap: their times fall where the
/// drive begins to land at the next place it knows.
pub(super) fn landing(bench: &mut Bench<'_, '_>, samples: u32) -> Result<(), RunError> {
    let partition = bench.subject.partition;
    let wraps = bench.subject.full_wraps();
    let wrap = (wraps / 2) & !1;
    let ends = bench.subject.map.as_ref().and_then(|map| {
        let from = along(map, wrap.checked_sub(2)?, 0.05)?;
        // An LTO drive has a landing point in every twelfth of a wrap or so: several are to be seen.
        Some((from, along(map, wrap, 0.1)?, along(map, wrap, 0.9)?))
    });
    let Some((from, first, end)) = ends else {
        return Ok(());
    };
    for at in 0..samples {
        if !bench.goes_on() {
            break;
        }
        let block = first + (end - first) * u64::from(at) / u64::from(samples);
        bench.sample(
            None,
            |recorder| seek(recorder, partition, from),
            |recorder| seek(recorder, partition, block),
        )?;
    }
    Ok(())
}

/// Reads at a stretch, at places all over the tape.
pub(super) fn stream(bench: &mut Bench<'_, '_>, samples: u32) -> Result<(), RunError> {
    let partition = bench.subject.partition;
    let subject = bench.subject;
    // Half of a tape that is shorter than a stretch and its run-up.
    let blocks = subject
        .blocks_of_mb(stream_mb(subject))
        .min(subject.blocks / 2);
    let last = subject.blocks.saturating_sub(blocks);
    for block in spread(0, last.max(1), samples, &mut bench.random()) {
        if !bench.goes_on() {
            break;
        }
        bench.sample(
            Some(subject.recorded_block_bytes() as i64),
            |recorder| {
                recorder.locate(partition, block)?;
                // The tape is running and the buffer empty when the clock begins.
                read(recorder, (blocks / 10).max(1)).map(|_| ())
            },
            |recorder| read(recorder, blocks - blocks / 10).map(|_| ()),
        )?;
    }
    Ok(())
}

/// Megabytes of a stretch: what the drive reads in 20 s.
pub(super) fn stream_mb(subject: &Subject) -> f64 {
    let rate = subject.profile.transfer.rate_mb_s.as_ref();
    20.0 * rate.map_or(1.0, |rate| rate.value)
}
