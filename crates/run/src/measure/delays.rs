//! Delays between reads, and long pauses after large ones (Johnson & Miller 1998, section 5.5).

use super::bench::{Bench, read};
use super::subject::Subject;
use super::summary::RESTART_S;
use crate::error::RunError;
use crate::recorder::Recorder;
use std::time::Duration;
use tapewise_formats::event::Action;

/// The delays tried, as shares of the time that a block takes.
const SHARES: [f64; 10] = [0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0];

/// Blocks read before the clock counts.
const RUN_UP: u64 = 4;

/// Blocks read with each delay.
pub(super) const READS: u64 = 60;

/// Samples of the delays between reads.
pub(super) const DELAY_SAMPLES: u32 = SHARES.len() as u32;

pub(super) fn between_reads(bench: &mut Bench<'_, '_>) -> Result<(), RunError> {
    let partition = bench.subject.partition;
    let subject = bench.subject;
    let block_us = subject.reading(1).0 as f64;
    let start = middle_of_a_wrap(subject);
    for share in SHARES {
        if !bench.goes_on() {
            break;
        }
        let delay_us = (block_us * share).round() as u64;
        bench.sample(
            Some(delay_us as i64),
            // Every delay begins with the tape running and nothing in the buffer.
            |recorder| {
                recorder.locate(partition, start)?;
                read(recorder, RUN_UP).map(|_| ())
            },
            |recorder| {
                for _ in 0..READS {
                    read(recorder, 1)?;
                    recorder.pause(Duration::from_micros(delay_us))?;
                }
                Ok(())
            },
        )?;
    }
    Ok(())
}

/// Sizes of the large reads in MB: around the buffers of the drives there are.
const SIZES_MB: [f64; 5] = [16.0, 32.0, 56.0, 70.0, 100.0];

/// The pauses in seconds, longest first: where it costs nothing a shorter one will not.
const PAUSES_S: [u64; 5] = [100, 48, 32, 16, 4];

/// Samples of the large reads, for the prediction.
pub(super) const LARGE_SAMPLES: u32 = 10;

/// The longest pause first with all sizes, then shorter ones with the smallest read that had to
/// wait for the tape to start again.
pub(super) fn after_large_reads(bench: &mut Bench<'_, '_>) -> Result<(), RunError> {
    let mut waited = None;
    for mb in SIZES_MB {
        if !bench.goes_on() {
            return Ok(());
        }
        if large_read(bench, mb, PAUSES_S[0])? > RESTART_S {
            waited = waited.or(Some(mb));
        }
    }
    let Some(mb) = waited else { return Ok(()) };
    for &pause in &PAUSES_S[1..] {
        if !bench.goes_on() || large_read(bench, mb, pause)? <= RESTART_S {
            break;
        }
    }
    Ok(())
}

/// Reads so much, pauses, reads as much again: the seconds that the second took more.
fn large_read(bench: &mut Bench<'_, '_>, mb: f64, pause_s: u64) -> Result<f64, RunError> {
    let partition = bench.subject.partition;
    let subject = bench.subject;
    let start = middle_of_a_wrap(subject);
    // Both reads stay on the tape, however short it is.
    let room = subject.blocks.saturating_sub(start + RUN_UP) / 2;
    let blocks = subject.blocks_of_mb(mb).min(room).max(1);
    let sample = bench.sample(
        Some(pause_s as i64),
        |recorder| {
            recorder.locate(partition, start)?;
            read(recorder, RUN_UP).map(|_| ())
        },
        |recorder: &mut Recorder<'_>| {
            read(recorder, blocks)?;
            recorder.pause(Duration::from_secs(pause_s))?;
            read(recorder, blocks).map(|_| ())
        },
    )?;
    let reads = sample.iter().filter(|event| event.action == Action::Read);
    let times: Vec<f64> = reads.map(|event| event.took_us.as_secs_f64()).collect();
    Ok(match times[..] {
        [before, after] => after - before,
        _ => 0.0,
    })
}

/// A block from which a good stretch lies ahead on the same wrap.
fn middle_of_a_wrap(subject: &Subject) -> u64 {
    let wrap = subject.full_wraps() / 2;
    let (first, end) = subject.wrap(wrap).unwrap_or((0, subject.blocks));
    first + (end - first) / 20
}
