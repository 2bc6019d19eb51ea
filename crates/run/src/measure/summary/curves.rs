//! What figures of a summary are drawn through: places across and up, in the units named.

use super::{Compression, Crossover, DelayTolerance, Line};

/// Places across and up.
pub type Curve = Vec<(f64, f64)>;

/// Places on a drawn line.
const STEPS: u32 = 60;

impl Crossover {
    /// Seconds to seek and read a block, by distance in MB.
    pub fn seeks(&self) -> Curve {
        self.compared.iter().map(|at| (at.0, at.2)).collect()
    }

    /// Seconds to read on, by distance in MB.
    pub fn reads(&self) -> Curve {
        self.compared.iter().map(|at| (at.0, at.1)).collect()
    }
}

impl DelayTolerance {
    /// The rate of reading in MB/s, by the delay between reads in ms.
    pub fn rates(&self, block_mb: f64) -> Curve {
        let measured = self.measured.iter();
        measured
            .map(|&(ms, period_ms, _)| (ms, block_mb / period_ms * 1e3))
            .collect()
    }
}

impl Compression {
    /// Rates read and written in MB/s, by the ratio of gzip.
    pub fn rates(&self) -> [Curve; 2] {
        let read = self
            .data
            .iter()
            .map(|data| (data.gzip_ratio, data.read_mb_s));
        let written = self
            .data
            .iter()
            .map(|data| (data.gzip_ratio, data.write_mb_s));
        [read.collect(), written.collect()]
    }

    /// The fitted rates read and written in MB/s, `1 / (a + b / C)`, by the ratio C of gzip.
    pub fn fitted_rates(&self) -> [Curve; 2] {
        let most = self
            .data
            .iter()
            .map(|data| data.gzip_ratio)
            .fold(1.0, f64::max);
        let along = |line: &Line| {
            let ratios =
                (0..=STEPS).map(|step| 1.0 + (most - 1.0) * f64::from(step) / f64::from(STEPS));
            ratios
                .map(|ratio| (ratio, 1.0 / line.at(1.0 / ratio)))
                .collect()
        };
        [along(&self.read_s_per_mb), along(&self.write_s_per_mb)]
    }
}
