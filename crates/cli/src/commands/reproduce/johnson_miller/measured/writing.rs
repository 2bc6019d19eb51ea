//! What only writing tells: the rate by size of block, and what the drive's compression gains
//! (sections 5.2 and 5.6).

use super::super::super::emulated::{Emulated, Loaded};
use super::super::Drive;
use super::SCALE;
use crate::error::CliError;
use flate2::Compression as Level;
use flate2::write::GzEncoder;
use std::io::Write;
use tapewise_emulator::Variation;
use tapewise_formats::event::Action;
use tapewise_model::Random;
use tapewise_run::measure::summary::Line;
use tapewise_run::{Recorder, RunError};

/// The rate of reading blocks of one size.
#[derive(Clone, Copy, Debug)]
pub struct BySize {
    pub kb: usize,
    pub mb_s: f64,
}

/// One kind of data on a drive that compresses.
#[derive(Clone, Copy, Debug)]
pub struct Compressed {
    /// What gzip makes of it, one to this.
    pub gzip_ratio: f64,
    /// What fits on the tape, over what fits with compression off.
    pub drive_ratio: f64,
    pub write_mb_s: f64,
    pub read_mb_s: f64,
}

/// The regressions of section 5.6 over kinds of data.
#[derive(Clone, Debug)]
pub struct Compression {
    pub data: Vec<Compressed>,
    /// The drive's ratio against gzip's.
    pub ratio: Line,
    /// Seconds for each MB against one over gzip's ratio.
    pub read_s_per_mb: Line,
    pub write_s_per_mb: Line,
}

/// Sizes of block in KB.
const SIZES_KB: [usize; 10] = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048];

/// MB read of each size, after a tenth as much that only gets the tape running.
const STRETCH_MB: f64 = 60.0;

/// A rate that is as good as the best.
const FULL: f64 = 0.98;

/// The rate of reading by size of block, each size written before.
pub fn by_size(recorder: &mut Recorder<'_>) -> Result<Vec<BySize>, RunError> {
    SIZES_KB
        .into_iter()
        .map(|kb| one_size(recorder, kb))
        .collect()
}

/// The smallest block that is read at the full rate, in KB.
pub fn smallest_full_kb(rates: &[BySize]) -> Option<f64> {
    let best = rates.iter().map(|rate| rate.mb_s).fold(0.0, f64::max);
    let smallest = rates.iter().find(|rate| rate.mb_s >= FULL * best)?;
    Some(smallest.kb as f64)
}

fn one_size(recorder: &mut Recorder<'_>, kb: usize) -> Result<BySize, RunError> {
    let block_mb = (kb as u64 * SCALE) as f64 / 1e6;
    let blocks = (STRETCH_MB / block_mb).ceil() as u64;
    // A stored byte stands for a KB.
    let block = noise(kb, 1);
    recorder.compress(false)?;
    recorder.rewind()?;
    recorder.write_blocks(blocks + blocks / 10, &|_| block.as_slice())?;
    recorder.rewind()?;
    read(recorder, blocks / 10)?;
    let mb_s = read(recorder, blocks)?;
    Ok(BySize {
        kb,
        mb_s: mb_s * SCALE as f64,
    })
}

/// Reads so many blocks: stored MB a second.
fn read(recorder: &mut Recorder<'_>, blocks: u64) -> Result<f64, RunError> {
    let run = recorder.read(Action::Read, blocks, &mut |_, _| Ok(()))?;
    Ok(run.bytes as f64 / 1e6 / run.took.as_secs_f64())
}

/// Parts of a block that do not compress: from all of it to very little.
const NOISE_SHARES: [f64; 7] = [1.0, 0.7, 0.5, 0.4, 0.3, 0.22, 0.16];

/// Stored bytes of a block: enough for gzip to show what it can.
const BLOCK_BYTES: usize = 16 * 1024;

/// Blocks read back for the rate.
const READ_BLOCKS: u64 = 200;

/// Fills cartridges with data that gzip compresses more and more.
pub fn compression(drive: &Drive, seed: u64) -> Result<Compression, CliError> {
    let loaded = Loaded {
        kind: &drive.profile.name,
        seed,
        scale: SCALE,
    };
    let mut emulated = Emulated::alone(loaded, Variation::default())?;
    let mut blocks = Vec::new();
    for share in NOISE_SHARES {
        let block = block(share, seed);
        blocks.push((gzip_ratio(&block)?, block));
    }
    let data = emulated.unrecorded(|recorder| {
        recorder.compress(false)?;
        let plain = fill(recorder, &blocks[0].1)?;
        recorder.compress(true)?;
        blocks
            .iter()
            .map(|(gzip_ratio, block)| {
                let filled = fill(recorder, block)?;
                Ok(Compressed {
                    gzip_ratio: *gzip_ratio,
                    drive_ratio: filled.blocks as f64 / plain.blocks as f64,
                    write_mb_s: filled.write_mb_s,
                    read_mb_s: filled.read_mb_s,
                })
            })
            .collect::<Result<Vec<Compressed>, RunError>>()
    })?;
    let line = |place: fn(&Compressed) -> (f64, f64)| {
        let places: Vec<(f64, f64)> = data.iter().map(place).collect();
        let none = || CliError::failed(format!("{}: no line of compression", drive.name));
        Line::through(&places).ok_or_else(none)
    };
    Ok(Compression {
        ratio: line(|data| (data.gzip_ratio, data.drive_ratio))?,
        read_s_per_mb: line(|data| (1.0 / data.gzip_ratio, 1.0 / data.read_mb_s))?,
        write_s_per_mb: line(|data| (1.0 / data.gzip_ratio, 1.0 / data.write_mb_s))?,
        data,
    })
}

struct Filled {
    blocks: u64,
    write_mb_s: f64,
    read_mb_s: f64,
}

/// Writes the block until the tape is full, and reads some of it back.
fn fill(recorder: &mut Recorder<'_>, block: &[u8]) -> Result<Filled, RunError> {
    let scale = SCALE as f64;
    recorder.rewind()?;
    let written = recorder.write_blocks(u64::MAX, &|_| block)?;
    recorder.rewind()?;
    read(recorder, READ_BLOCKS / 10)?;
    Ok(Filled {
        blocks: written.blocks,
        write_mb_s: written.bytes as f64 / 1e6 / written.took.as_secs_f64() * scale,
        read_mb_s: read(recorder, READ_BLOCKS)? * scale,
    })
}

fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed, 1 << 45);
    (0..bytes).map(|_| random.below(256) as u8).collect()
}

/// A block of which so much is noise; the rest repeats one byte.
fn block(noise_share: f64, seed: u64) -> Vec<u8> {
    let mut block = noise(BLOCK_BYTES, seed);
    let noisy = (BLOCK_BYTES as f64 * noise_share) as usize;
    block[noisy..].fill(0);
    block
}

fn gzip_ratio(block: &[u8]) -> Result<f64, CliError> {
    let mut gzip = GzEncoder::new(Vec::new(), Level::default());
    gzip.write_all(block).map_err(CliError::failed)?;
    let compressed = gzip.finish().map_err(CliError::failed)?;
    Ok(block.len() as f64 / compressed.len() as f64)
}
