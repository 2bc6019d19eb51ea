//! The ways of writing and reading a file that Table 1 compares, and the blocks they write.

use super::Facts;
use tapewise_model::Random;

/// Bytes on tape that a stored byte stands for.
pub const SCALE: usize = 16;

/// The paper's file: a gigabyte.
pub const FILE_BYTES: u64 = 1_000_000_000;

/// Different blocks, written over and over.
const BLOCKS: usize = 16;

/// One way of writing and reading a file.
#[derive(Clone, Copy)]
pub struct Way {
    /// Bytes of a block on tape.
    pub block_bytes: usize,
    /// Blocks between filemarks.
    pub interval: u64,
    /// Bytes of the file on tape.
    pub file_bytes: u64,
    /// Whether the drive makes the data smaller.
    pub compressible: bool,
}

impl Way {
    /// A gigabyte in the paper's large blocks, without filemarks in it, that does not compress.
    pub fn plain(facts: &Facts) -> Way {
        Way {
            block_bytes: facts.hpss.block_kb * 1024,
            interval: u64::MAX,
            file_bytes: FILE_BYTES,
            compressible: false,
        }
    }

    /// Blocks as they are stored. Two thirds of a compressible one are zeros: three to one for any compressor, as the paper
    /// has it of its cartridges, 300 GB on one of 100.
    pub fn blocks(self, seed: u64) -> Vec<Vec<u8>> {
        let mut random = Random::new(seed, 0);
        let stored = self.block_bytes / SCALE;
        let noise = if self.compressible {
            stored / 3
        } else {
            stored
        };
        let block = |_| {
            let mut block = vec![0; stored];
            block[..noise].fill_with(|| random.below(256) as u8);
            block
        };
        (0..BLOCKS).map(block).collect()
    }
}
