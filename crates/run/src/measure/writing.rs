//! What only writing tells: the rate by size of block, and what the drive's own compression gains
//! (Johnson & Miller 1998, sections 5.2 and 5.6).
//!
//! Both steps write from the beginning of tape, so what was there is gone. They come before the
//! cartridge is filled for the steps that read.

use super::bench::{Bench, read};
use super::corpus::{self, Data};
use super::fill::noise;
use super::subject::Subject;
use crate::error::RunError;
use crate::recorder::Recorder;

/// The sizes of block tried, in bytes on the tape: 4 KiB to 1 MiB, each twice the one before.
pub(super) fn block_sizes(subject: &Subject) -> Vec<u64> {
    let sizes = (12..=20).map(|power| 1u64 << power);
    // Less than a byte of an emulated cartridge cannot be written.
    sizes.filter(|&bytes| bytes >= subject.byte_scale).collect()
}

/// Seconds of the native rate that are written and read of each size.
pub(super) const STRETCH_S: f64 = 20.0;

/// Parts of a stretch that are read before the clock counts: the tape is then running.
const RUN_UP: u64 = 10;

pub(super) fn by_block_size(bench: &mut Bench<'_, '_>) -> Result<(), RunError> {
    let subject = bench.subject;
    for recorded in block_sizes(subject) {
        if !bench.has_time() {
            break;
        }
        let host = (recorded / subject.byte_scale) as usize;
        let blocks = subject.blocks_of_s(STRETCH_S, host as u64);
        let data = noise(host, 1, bench.seed());
        bench.sample(
            Some(recorded as i64),
            |recorder| begin(recorder, false),
            |recorder| write_and_read(recorder, &data, blocks, blocks),
        )?;
    }
    Ok(())
}

/// The first sample has compression off and says what the cartridge holds then; the others go
/// through the corpus.
///
/// Where the drive tells how far along the tape it is, a stretch shows how long its data has become;
/// elsewhere the cartridge is filled from end to end each time.
pub(super) fn compression(bench: &mut Bench<'_, '_>, samples: u32) -> Result<(), RunError> {
    let subject = bench.subject;
    let block_bytes = corpus_block_bytes(subject);
    let stretch = subject.blocks_of_s(STRETCH_S, block_bytes as u64);
    let written = if subject.tells_place {
        subject.blocks_of_s(MARKED_STRETCH_S, block_bytes as u64)
    } else {
        u64::MAX
    };
    for sample in 0..samples {
        if !bench.has_time() {
            break;
        }
        let Data { blocks, gzip_ratio } =
            corpus::data(sample.saturating_sub(1), block_bytes, bench.seed())?;
        bench.sample(
            Some((gzip_ratio * PER_UNIT).round() as i64),
            |recorder| begin(recorder, sample > 0),
            |recorder| write_and_read(recorder, &blocks, written, stretch),
        )?;
    }
    Ok(())
}

/// Samples of the compression: one without it, and the corpus.
pub(super) const COMPRESSION_SAMPLES: u32 = 1 + corpus::KINDS;

/// The `parameter` of a sample is gzip's ratio, times this.
pub(super) const PER_UNIT: f64 = 1e4;

/// Seconds of the native rate that are written where the drive tells how much tape they took.
pub(super) const MARKED_STRETCH_S: f64 = 60.0;

/// Emulated bytes stand for many, but a block must show gzip what it holds.
const LEAST_CORPUS_BLOCK: u64 = 16 * 1024;

fn corpus_block_bytes(subject: &Subject) -> usize {
    subject.block_bytes.max(LEAST_CORPUS_BLOCK) as usize
}

fn begin(recorder: &mut Recorder<'_>, compresses: bool) -> Result<(), RunError> {
    recorder.compress(compresses)?;
    recorder.rewind().map(|_| ())
}

/// Writes until so many blocks or the whole tape are written, all of it on the tape; goes back and
/// reads a stretch of it, of which the last read counts.
fn write_and_read(
    recorder: &mut Recorder<'_>,
    data: &[Vec<u8>],
    written: u64,
    stretch: u64,
) -> Result<(), RunError> {
    let count = data.len() as u64;
    let run = recorder.write_blocks(written, &|at| &data[(at % count) as usize])?;
    match recorder.write_filemark() {
        // The tape is written to its very end: there is no room for the mark, and none is needed.
        Err(RunError::EndOfMedium) if run.is_full => {}
        other => drop(other?),
    }
    // Blocks are of another length here than in the rest of the log: a number tells no place.
    recorder.forget_head();
    recorder.rewind()?;
    let stretch = stretch.min(run.blocks);
    let run_up = stretch / RUN_UP;
    read(recorder, run_up)?;
    read(recorder, stretch - run_up).map(|_| ())
}
