//! How fast a drive streams: rate, compression, delays between requests.

use crate::micros::Micros;

/// Seconds for each MB at gzip ratio C, `a + b / C` (Johnson & Miller 1998, section 5.6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompressedRate {
    /// The part that compression cannot shorten, in seconds a MB.
    pub a: f64,
    /// The part that shrinks with compression, in seconds a MB.
    pub b: f64,
}

impl CompressedRate {
    /// The rate in MB/s for data that gzip compresses `gzip_ratio` to 1.
    pub fn mb_per_s(&self, gzip_ratio: f64) -> f64 {
        1.0 / (self.a + self.b / gzip_ratio)
    }

    /// The rate that no data exceeds, in MB/s.
    pub fn limit_mb_per_s(&self) -> f64 {
        1.0 / self.a
    }
}

/// Capacity with compression on over off at gzip ratio C, `a + b C` (section 5.6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveCompression {
    /// At gzip ratio 0.
    pub a: f64,
    /// For each unit of gzip ratio.
    pub b: f64,
}

impl DriveCompression {
    /// The drive's own compression ratio for data that gzip compresses `gzip_ratio` to 1.
    pub fn ratio(&self, gzip_ratio: f64) -> f64 {
        self.a + self.b * gzip_ratio
    }
}

/// What the drive's buffer hides (Johnson & Miller 1998, section 5.5).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Buffer {
    /// Delay between two reads that costs nothing, where measured.
    pub delay_tolerance: Option<Micros>,
    /// Size in MB, where known.
    pub size_mb: Option<f64>,
    /// Time to engage the tape again, where measured.
    pub restart: Option<Micros>,
}

/// What a profile knows of streaming.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// Native rate in decimal MB/s.
    pub rate_mb_s: f64,
    /// Reversal at the end of a wrap, zero where unknown.
    pub turnaround: Micros,
    /// Reading compressed data, where measured.
    pub compressed_read: Option<CompressedRate>,
    /// Writing compressed data, where measured.
    pub compressed_write: Option<CompressedRate>,
    /// Capacity gained by compression, where measured.
    pub compression: Option<DriveCompression>,
    /// The buffer.
    pub buffer: Buffer,
}

impl Transfer {
    /// The time to stream this many bytes at the native rate.
    pub fn time(&self, bytes: u64) -> Micros {
        Micros::from_secs_f64(bytes as f64 / (self.rate_mb_s * 1e6))
    }

    /// The rate in MB/s when `block_bytes` are read and the host then waits `delay` before asking
    /// again: nothing is lost up to the tolerance, and what goes beyond it is added to each block.
    pub fn rate_with_delay(&self, block_bytes: u64, delay: Micros) -> f64 {
        let tolerated = self.buffer.delay_tolerance.unwrap_or(Micros::ZERO);
        let late = (delay - tolerated).max(Micros::ZERO);
        block_bytes as f64 / 1e6 / (self.time(block_bytes) + late).as_secs_f64()
    }

    /// The time lost when `read_bytes` are read at a stretch and the host then pauses long enough
    /// for the drive to let go of the tape: the restart, where the read exceeds the buffer (Ampex:
    /// 7 s above 64 MB after 32 s).
    pub fn restart_penalty(&self, read_bytes: u64) -> Micros {
        match (self.buffer.size_mb, self.buffer.restart) {
            (Some(size_mb), Some(restart)) if read_bytes as f64 > size_mb * 1e6 => restart,
            _ => Micros::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dlt4000() -> Transfer {
        Transfer {
            rate_mb_s: 1.3,
            turnaround: Micros::ZERO,
            compressed_read: Some(CompressedRate { a: 0.367, b: 0.404 }),
            compressed_write: Some(CompressedRate { a: 0.192, b: 0.572 }),
            compression: Some(DriveCompression { a: 0.56, b: 0.577 }),
            buffer: Buffer {
                delay_tolerance: Some(Micros(10_000)),
                size_mb: Some(64.0),
                restart: Some(Micros(7_000_000)),
            },
        }
    }

    #[test]
    fn incompressible_data_streams_at_the_native_rate_of_the_regression() {
        let read = dlt4000().compressed_read.unwrap();
        assert!((read.mb_per_s(1.0) - 1.297).abs() < 1e-3);
        assert!((read.limit_mb_per_s() - 2.725).abs() < 1e-3);
    }

    #[test]
    fn a_delay_within_the_tolerance_costs_nothing() {
        let transfer = dlt4000();
        let full = transfer.rate_with_delay(32_768, Micros::ZERO);
        assert_eq!(full, transfer.rate_with_delay(32_768, Micros(10_000)));
        assert!(transfer.rate_with_delay(32_768, Micros(20_000)) < full);
    }

    #[test]
    fn only_reads_beyond_the_buffer_pay_for_a_restart() {
        assert_eq!(dlt4000().restart_penalty(63_000_000), Micros::ZERO);
        assert_eq!(dlt4000().restart_penalty(70_000_000), Micros(7_000_000));
    }
}
