//! What the measurement suite's summary has, as series of a figure.

use super::figure::Figure;
use tapewise_run::measure::summary::{Compressed, Compression, Line, Summary};

impl Figure {
    /// Short seeks and reading on by distance in MB, in seconds.
    pub fn short_seeks(self, summary: &Summary) -> Figure {
        let compared = summary.crossover.iter();
        let compared = || compared.clone().flat_map(|crossover| &crossover.compared);
        self.dots("seek and read a block", compared().map(|at| (at.0, at.2)))
            .line("read on", compared().map(|at| (at.0, at.1)))
    }

    /// The rate of reading in MB/s by the delay between reads in ms.
    pub fn delays(self, summary: &Summary, block_mb: f64) -> Figure {
        let measured = summary.delay.iter().flat_map(|delay| &delay.measured);
        let rates = measured.map(|&(ms, period_ms, _)| (ms, block_mb / period_ms * 1e3));
        self.guide("", rates.clone()).dots("measured", rates)
    }

    /// Rates in MB/s by the ratio of gzip, and the lines through them.
    pub fn compressed_rates(self, compression: &Compression) -> Figure {
        let points = |of: fn(&Compressed) -> f64| {
            let data = compression.data.iter();
            data.map(move |data| (data.gzip_ratio, of(data)))
        };
        let most = compression.data.iter().map(|data| data.gzip_ratio);
        let most = most.fold(1.0, f64::max);
        let fitted = |line: &Line| {
            let line = *line;
            let ratios = (0..=60).map(move |part| 1.0 + (most - 1.0) * f64::from(part) / 60.0);
            ratios.map(move |ratio| (ratio, 1.0 / line.at(1.0 / ratio)))
        };
        self.guide(
            "1 / (a + b / C), fitted",
            fitted(&compression.read_s_per_mb),
        )
        .guide("", fitted(&compression.write_s_per_mb))
        .dots("read", points(|data| data.read_mb_s))
        .dots("written", points(|data| data.write_mb_s))
    }

    /// A grey line at this place across, from the bottom to `top`.
    pub fn upright(self, name: &str, across: f64, top: f64) -> Figure {
        self.guide(name, [(across, 0.0), (across, top)])
    }
}
