//! Data of graded compressibility, the same on every machine.
//!
//! Records of words from a small vocabulary among words that occur once: the share of new words sets
//! what a compressor can gain. New and known words alternate every few bytes, so a drive that looks
//! back over a few hundred bytes only finds what gzip finds over 32 KiB.

use crate::error::RunError;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use tapewise_model::Random;

/// The share of new words of each kind of data, from none that compresses to hardly any that does
/// not: gzip ratios from 1 to above 6.
const NEW_WORDS: [f64; 7] = [1.0, 0.62, 0.42, 0.29, 0.19, 0.11, 0.03];

/// Kinds of data in the corpus.
pub(super) const KINDS: u32 = NEW_WORDS.len() as u32;

/// Length of a word in bytes.
const WORD: usize = 16;

/// Words of the vocabulary.
const VOCABULARY: u64 = 24;

/// Different blocks of each kind.
const BLOCKS: usize = 7;

/// One kind of data: blocks to write over and over.
pub(super) struct Data {
    pub blocks: Vec<Vec<u8>>,
    /// Uncompressed over compressed size, as gzip does it block by block.
    pub gzip_ratio: f64,
}

/// A kind of data, 0 the one that does not compress.
pub(super) fn data(kind: u32, block_bytes: usize, seed: u64) -> Result<Data, RunError> {
    let new_words = NEW_WORDS[kind as usize % NEW_WORDS.len()];
    let mut random = Random::new(seed, (1 << 33) + u64::from(kind));
    let vocabulary: Vec<[u8; WORD]> = (0..VOCABULARY).map(|_| word(&mut random)).collect();
    let blocks: Vec<Vec<u8>> = (0..BLOCKS)
        .map(|_| block(block_bytes, new_words, &vocabulary, &mut random))
        .collect();
    let packed = blocks.iter().map(|block| gzip_bytes(block));
    let packed: usize = packed.sum::<Result<usize, _>>().map_err(RunError::Sink)?;
    Ok(Data {
        gzip_ratio: (BLOCKS * block_bytes) as f64 / packed.max(1) as f64,
        blocks,
    })
}

fn word(random: &mut Random) -> [u8; WORD] {
    std::array::from_fn(|_| random.below(256) as u8)
}

fn block(bytes: usize, new_words: f64, known: &[[u8; WORD]], random: &mut Random) -> Vec<u8> {
    let mut block = Vec::with_capacity(bytes + WORD);
    while block.len() < bytes {
        let is_new = random.unit() < new_words;
        let next = if is_new {
            word(random)
        } else {
            known[random.below(VOCABULARY) as usize]
        };
        block.extend_from_slice(&next);
    }
    block.truncate(bytes);
    block
}

fn gzip_bytes(block: &[u8]) -> std::io::Result<usize> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(block)?;
    Ok(gzip.finish()?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratios(seed: u64, bytes: usize) -> Vec<f64> {
        let ratio = |kind| data(kind, bytes, seed).expect("a corpus").gzip_ratio;
        (0..KINDS).map(ratio).collect()
    }

    #[test]
    fn gzip_gains_nothing_on_the_first_kind_and_more_than_six_to_one_on_the_last() {
        for bytes in [16 * 1024, 256 * 1024] {
            let ratios = ratios(3, bytes);
            assert!((0.99..=1.0).contains(&ratios[0]), "{ratios:?}");
            assert!(ratios[ratios.len() - 1] > 6.0, "{ratios:?}");
            assert!(ratios.is_sorted(), "{ratios:?}");
        }
    }

    #[test]
    fn a_seed_always_gives_the_same_data() {
        let blocks = |seed| data(3, 4096, seed).expect("a corpus").blocks;
        assert_eq!(blocks(7), blocks(7));
        assert_ne!(blocks(7), blocks(8));
    }
}
