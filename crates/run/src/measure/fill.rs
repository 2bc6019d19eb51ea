//! Fills a cartridge with data that does not compress, so that there is something to measure.

use super::subject::Subject;
use crate::error::RunError;
use crate::recorder::Recorder;
use tapewise_model::{Micros, Random};

/// How far a fill has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Blocks written.
    pub blocks: u64,
    /// Drive time it took.
    pub took: Micros,
}

/// Blocks written as one event.
const BATCH: u64 = 4_096;

/// Different blocks there are: a drive that looked for repetitions would have to look far back.
const PATTERNS: usize = 61;

/// Writes blocks of this length from the beginning of the tape until it is full or holds
/// `most_blocks`, with the drive's compression off. Everything that was on the tape is gone then.
///
/// # Errors
/// [`RunError`].
pub fn fill(
    recorder: &mut Recorder<'_>,
    block_bytes: usize,
    most_blocks: u64,
    seed: u64,
    progress: &mut dyn FnMut(Filled),
) -> Result<Filled, RunError> {
    let patterns = noise(block_bytes, PATTERNS, seed);
    recorder.compress(false)?;
    recorder.rewind()?;
    let mut filled = Filled {
        blocks: 0,
        took: Micros::ZERO,
    };
    while filled.blocks < most_blocks {
        let batch = BATCH.min(most_blocks - filled.blocks);
        let first = filled.blocks;
        let run = recorder.write_blocks(batch, &|at| {
            &patterns[((first + at) % PATTERNS as u64) as usize]
        })?;
        filled.blocks += run.blocks;
        filled.took += run.took;
        progress(filled);
        if run.blocks < batch || run.is_full {
            break;
        }
    }
    recorder.rewind()?;
    Ok(filled)
}

/// Blocks of random bytes.
pub(super) fn noise(bytes: usize, blocks: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed, 1 << 32);
    (0..blocks)
        .map(|_| (0..bytes).map(|_| random.below(256) as u8).collect())
        .collect()
}

impl Subject {
    /// The longest block with which a cartridge of this kind holds enough blocks to be measured, in
    /// bytes of the host: on an emulated cartridge a byte stands for many. `None` where the profile
    /// does not say how much it holds.
    pub fn longest_block(profile: &tapewise_model::Profile, byte_scale: u64) -> Option<u64> {
        /// Ten times the fewest that places are told apart with.
        const ENOUGH: f64 = 10_000.0;
        let gb = profile.cartridge.capacity_gb.as_ref()?.value;
        let bytes = gb * 1e9 / ENOUGH / byte_scale.max(1) as f64;
        Some((bytes as u64).max(1))
    }

    /// Blocks that a full cartridge of this kind holds, and a little more.
    pub fn most_blocks(profile: &tapewise_model::Profile, recorded_block_bytes: u64) -> u64 {
        let gb = profile.cartridge.capacity_gb.as_ref().map(|gb| gb.value);
        match gb {
            Some(gb) => (gb * 1.1e9 / recorded_block_bytes.max(1) as f64) as u64 + 1,
            None => u64::MAX,
        }
    }
}
