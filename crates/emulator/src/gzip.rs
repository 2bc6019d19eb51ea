//! By how much gzip would compress a block: what a drive's own compression is known to follow.
//!
//! Johnson & Miller (1998, section 5.6) found the compression ratio of the drives they measured to
//! be a straight line in the ratio that gzip reaches on the same data, so that ratio is what the
//! emulated drives look at. It is measured with deflate on samples, since a drive sees every block.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write;

/// One window of deflate.
const SAMPLE: usize = 32 * 1024;
/// One sample stands for so many bytes.
const EVERY: usize = 256 * 1024;

/// Measures by how much gzip would compress what passes. It keeps the last sample that it compressed,
/// because tests and benchmarks write the same block again and again.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    sample: Vec<u8>,
    packed: usize,
}

impl Gauge {
    /// Uncompressed over compressed size, as deflate does it on a sample of 32 KiB in every 256 KiB;
    /// never below 1, since a drive stores what does not compress as it is.
    pub fn ratio(&mut self, block: &[u8]) -> f64 {
        let (mut plain, mut packed) = (0, 0);
        for stretch in block.chunks(EVERY) {
            let sample = &stretch[..stretch.len().min(SAMPLE)];
            plain += sample.len();
            packed += self.packed(sample);
        }
        (plain as f64 / packed.max(1) as f64).max(1.0)
    }

    fn packed(&mut self, sample: &[u8]) -> usize {
        if self.sample == sample {
            return self.packed;
        }
        if is_noise(sample) {
            return sample.len();
        }
        self.sample.clear();
        self.sample.extend_from_slice(sample);
        self.packed = deflated(sample);
        self.packed
    }
}

/// Whether deflate can make nothing smaller of a sample: its bytes are as frequent as those of noise are, and
/// nothing of four bytes or more comes twice but by chance. Several times as fast as trying, and as sure:
/// what has less than half a per cent to gain by its frequencies loses more than that to deflate's tables.
fn is_noise(sample: &[u8]) -> bool {
    const LEAST: usize = 8192;
    if sample.len() < LEAST {
        return false;
    }
    // Four counts of each byte: one would wait for itself where the same byte comes again soon.
    let mut counts = [[0u32; 256]; 4];
    let (fours, _) = sample.as_chunks::<4>();
    for four in fours {
        for (count, &byte) in counts.iter_mut().zip(four) {
            count[usize::from(byte)] += 1;
        }
    }
    // Chi-squared with 255 degrees of freedom: 255 on average, beyond 400 by chance never.
    let expected = fours.len() as f64 * 4.0 / 256.0;
    let off = (0..256)
        .map(|byte| counts.iter().map(|count| count[byte]).sum::<u32>())
        .map(|count| (f64::from(count) - expected).powi(2))
        .sum::<f64>()
        / expected;
    if off > 400.0 {
        return false;
    }
    // The last word of each hash, of every fourth place: a repetition of seven bytes has one of them. So few that they
    // stay in the fastest cache. At first one that has another hash.
    let mut last = [0; 1 << 12];
    last[0] = 1;
    let slot = |word: u32| (word.wrapping_mul(0x9e37_79b1) >> 20) as usize;
    let mut repeats = 0;
    for eight in sample.windows(8).step_by(4) {
        let Some(&eight) = eight.first_chunk() else {
            break;
        };
        let eight = u64::from_le_bytes(eight);
        for shift in [0, 8, 16, 24] {
            let word = (eight >> shift) as u32;
            repeats += u32::from(last[slot(word)] == word);
        }
        last[slot(eight as u32)] = eight as u32;
    }
    repeats < 8
}

/// The size after compression. Only the size is kept: the sink cannot fail, and a count of what
/// passed is what it is for.
fn deflated(sample: &[u8]) -> usize {
    let mut encoder = DeflateEncoder::new(Count(0), Compression::default());
    match encoder.write_all(sample).and_then(|()| encoder.finish()) {
        Ok(Count(bytes)) => bytes,
        Err(_) => sample.len(),
    }
}

struct Count(usize);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tapewise_model::Random;

    #[test]
    fn noise_does_not_compress_and_repetition_does() {
        let ratio = |block: &[u8]| Gauge::default().ratio(block);
        let mut random = Random::new(1, 0);
        let noise: Vec<u8> = (0..300_000).map(|_| random.below(256) as u8).collect();
        assert_eq!(ratio(&noise), 1.0);
        // What is taken for noise without trying is what deflate makes nothing of.
        let mut half = noise[..SAMPLE].to_vec();
        half.copy_within(..SAMPLE / 2, SAMPLE / 2);
        for (sample, noisy) in [
            (&noise[..SAMPLE], true),
            (&half, false),
            (&[7; SAMPLE], false),
        ] {
            assert_eq!(is_noise(sample), noisy);
            assert_eq!(deflated(sample) >= sample.len(), noisy);
        }
        assert!(ratio(&[7; 300_000]) > 100.0);
        let hex: Vec<u8> = noise
            .iter()
            .map(|byte| b"0123456789abcdef"[usize::from(byte & 15)])
            .collect();
        assert!((1.6..2.0).contains(&ratio(&hex)), "{}", ratio(&hex));
    }
}
