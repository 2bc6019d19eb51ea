//! What only writing tells: the rate by size of block, and what the drive's own compression gains
//! (Johnson & Miller 1998, sections 5.2 and 5.6); the rate by kind of data and by size of file
//! (Cholia & Meyer 2001).
//!
//! All steps write from the beginning of tape, so what was there is gone. `measure` does them before
//! the cartridge is filled for the steps that read, an acceptance after it has read.

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

/// All sizes in turn, and again, until there are so many samples.
pub(super) fn by_block_size(bench: &mut Bench<'_, '_>, samples: u32) -> Result<(), RunError> {
    let subject = bench.subject;
    let sizes = block_sizes(subject).into_iter().cycle();
    for recorded in sizes.take(samples as usize) {
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

/// Kinds of the corpus that go through the data path, and their names: 1, about 2, and above 6 to one by gzip.
pub(super) const DATA_PATHS: [(u32, &str); 3] =
    [(0, "incompressible"), (2, "mixed"), (6, "compressible")];

/// The three kinds of data in turn, with compression on; the `parameter` is gzip's ratio as in [`compression`].
/// Every round has data of its own, so that what differs from round to round counts as noise.
pub(super) fn data_paths(bench: &mut Bench<'_, '_>, samples: u32) -> Result<(), RunError> {
    let subject = bench.subject;
    let block_bytes = corpus_block_bytes(subject);
    let stretch = subject.blocks_of_s(STRETCH_S, block_bytes as u64);
    for sample in 0..samples as usize {
        if !bench.has_time() {
            break;
        }
        let (kind, _) = DATA_PATHS[sample % DATA_PATHS.len()];
        let round = (sample / DATA_PATHS.len()) as u64;
        let seed = bench.seed().wrapping_add(round);
        let Data { blocks, gzip_ratio } = corpus::data(kind, block_bytes, seed)?;
        bench.sample(
            Some((gzip_ratio * PER_UNIT).round() as i64),
            |recorder| begin(recorder, true),
            |recorder| write_and_read(recorder, &blocks, stretch, stretch),
        )?;
    }
    Ok(())
}

/// The sizes of file tried, in MB on the tape: each eight times the one before, up to a minute of writing.
pub(super) fn file_sizes_mb(subject: &Subject) -> Vec<u64> {
    let sizes = (0..5).map(|power| 1_u64 << (3 * power));
    let longest = subject.blocks_of_s(MARKED_STRETCH_S, 1);
    let longest_mb = longest.saturating_mul(subject.byte_scale) / 1_000_000;
    let block_mb = subject.byte_scale / 1_000_000;
    sizes
        .filter(|&mb| mb == 1 || mb <= longest_mb)
        .filter(|&mb| mb > block_mb)
        .collect()
}

/// Length of the blocks of files on the tape, that of Cholia & Meyer.
const FILE_BLOCK_BYTES: u64 = 256 * 1024;

/// Files of a sample at most: a filemark that is waited for takes seconds.
const MOST_FILES: u64 = 8;

/// Files of each size in turn, each with its filemark, written without compression and read again; the `parameter` is
/// the size in MB.
pub(super) fn by_file_size(bench: &mut Bench<'_, '_>, samples: u32) -> Result<(), RunError> {
    let subject = bench.subject;
    let host = (FILE_BLOCK_BYTES / subject.byte_scale).max(1);
    let stretch = subject.blocks_of_s(STRETCH_S, host);
    let sizes = file_sizes_mb(subject).into_iter().cycle();
    for mb in sizes.take(samples as usize) {
        if !bench.has_time() {
            break;
        }
        let data = noise(host as usize, 1, bench.seed());
        let blocks = (mb * 1_000_000 / host.saturating_mul(subject.byte_scale)).max(1);
        let files = (stretch / blocks).clamp(1, MOST_FILES);
        bench.sample(
            Some(mb as i64),
            |recorder| begin(recorder, false),
            |recorder| write_and_read_files(recorder, &data[0], files, blocks),
        )?;
    }
    Ok(())
}

/// Writes files of so many blocks, each with a filemark that is waited for; goes back and reads them.
fn write_and_read_files(
    recorder: &mut Recorder<'_>,
    data: &[u8],
    files: u64,
    blocks: u64,
) -> Result<(), RunError> {
    for _ in 0..files {
        recorder.write_blocks(blocks, &|_| data)?;
        recorder.write_filemark()?;
    }
    recorder.forget_head();
    recorder.rewind()?;
    for _ in 0..files {
        read(recorder, blocks + 1)?;
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
