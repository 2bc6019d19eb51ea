//! Percentiles of any number of times in bounded space.

use tapewise_model::Micros;

use super::moments::LONGEST;
use super::{StatisticsError, inside};

/// Bits of a time that are kept.
const BITS: u32 = 10;

/// Below this every microsecond has its own bin.
const EXACT: u64 = 1 << (BITS + 1);

/// How far a percentile can be from the time that was counted, as a share of it: half a bin,
/// 1/2048.
pub const RELATIVE_ERROR: f64 = 1.0 / (1u64 << (BITS + 1)) as f64;

/// Counts of times in bins whose width grows with them (log-linear, as in HdrHistogram).
///
/// The bins are the same for all, so that any two histograms join, in any order, to the same
/// counts: times below 2.048 ms in bins of 1 us, and then each octave in 1,024 equal bins. One of
/// 40 bits (12 days) takes 250 KB. Own code, because it is these few lines, and its bytes are a
/// contract that no upgrade of a library may change.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Histogram {
    count: u64,
    /// By bin, up to the last that was needed; it never ends with a zero.
    counts: Vec<u64>,
}

impl Histogram {
    /// Counts one time.
    ///
    /// # Errors
    /// [`StatisticsError::TimeOutOfRange`] below zero and beyond [`LONGEST`].
    pub fn push(&mut self, time: Micros) -> Result<(), StatisticsError> {
        let value = u64::try_from(time.0)
            .ok()
            .filter(|_| time <= LONGEST)
            .ok_or(StatisticsError::TimeOutOfRange { time })?;
        let bin = bin_of(value);
        if bin >= self.counts.len() {
            self.counts.resize(bin + 1, 0);
        }
        self.counts[bin] += 1;
        self.count += 1;
        Ok(())
    }

    /// Counts what another has counted.
    pub fn join(&mut self, other: &Histogram) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.count += other.count;
    }

    /// How many times were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The least counted time that a share `p` of all does not exceed, to within
    /// [`RELATIVE_ERROR`]; `None` when nothing was counted.
    ///
    /// # Errors
    /// [`StatisticsError::Parameter`] where `p` is not between 0 and 1.
    pub fn quantile(&self, p: f64) -> Result<Option<Micros>, StatisticsError> {
        inside("the share of a quantile", p)?;
        let rank = ((p * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut below = 0;
        let bin = self.counts.iter().position(|count| {
            below += count;
            below >= rank
        });
        Ok(bin.map(middle_of))
    }

    /// Share of all times that are longer than `time`, its bin counted as not longer; `None` when
    /// nothing was counted.
    pub fn share_above(&self, time: Micros) -> Option<f64> {
        let first = u64::try_from(time.0).map_or(0, |value| bin_of(value) + 1);
        let above: u64 = self.counts.iter().skip(first).sum();
        (self.count > 0).then(|| above as f64 / self.count as f64)
    }
}

/// The bin of a time in microseconds.
fn bin_of(value: u64) -> usize {
    let octave = (value | (EXACT - 1)).ilog2() - BITS;
    // In octave 0 the time itself; above, its leading bits behind those of the octaves below.
    ((u64::from(octave) << BITS) + (value >> octave)) as usize
}

/// The middle of a bin, rounded down.
fn middle_of(bin: usize) -> Micros {
    let bin = bin as u64;
    if bin < EXACT {
        return Micros(bin as i64);
    }
    let octave = (bin >> BITS) - 1;
    let first = (bin - (octave << BITS)) << octave;
    Micros((first + (1 << octave) / 2) as i64)
}
