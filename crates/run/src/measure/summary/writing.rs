//! Rates by size of block, and what the drive's compression gains.

use super::super::subject::Subject;
use super::super::writing::PER_UNIT;
use super::stat::Line;
use std::collections::BTreeMap;
use tapewise_formats::event::{Action, Event, Spot};
use tapewise_model::Geometry;

/// The mean rates with blocks of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockRate {
    /// Length of a block on the tape.
    pub block_bytes: u64,
    /// MB/s written, until everything is on the tape.
    pub write_mb_s: f64,
    /// MB/s read.
    pub read_mb_s: f64,
}

/// A rate that is as good as the best.
const FULL: f64 = 0.98;

impl BlockRate {
    pub(super) fn all<'a, 'e: 'a>(
        samples: impl Iterator<Item = &'a [&'e Event]>,
        subject: &Subject,
    ) -> Vec<BlockRate> {
        let mut sizes: BTreeMap<u64, Vec<Written>> = BTreeMap::new();
        for events in samples {
            let parameter = events.first().and_then(|event| event.parameter);
            let bytes = parameter.and_then(|bytes| u64::try_from(bytes).ok());
            if let (Some(bytes), Some(written)) = (bytes, Written::of(events, subject)) {
                sizes.entry(bytes).or_default().push(written);
            }
        }
        let mean = |all: &[Written], rate: fn(&Written) -> f64| {
            all.iter().map(rate).sum::<f64>() / all.len() as f64
        };
        let rates = sizes.iter().map(|(&block_bytes, all)| BlockRate {
            block_bytes,
            write_mb_s: mean(all, |written| written.write_mb_s),
            read_mb_s: mean(all, |written| written.read_mb_s),
        });
        rates.collect()
    }

    /// The smallest block that is read at the full rate.
    pub fn smallest_full(rates: &[BlockRate]) -> Option<u64> {
        let best = rates.iter().map(|rate| rate.read_mb_s).fold(0.0, f64::max);
        let full = rates.iter().filter(|rate| rate.read_mb_s >= FULL * best);
        full.map(|rate| rate.block_bytes).min()
    }
}

/// One kind of data on a drive that compresses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compressed {
    /// What gzip makes of it, so many to one.
    pub gzip_ratio: f64,
    /// What fits on the tape, over what fits with compression off.
    pub drive_ratio: f64,
    /// MB/s written, in bytes before compression.
    pub write_mb_s: f64,
    /// MB/s read.
    pub read_mb_s: f64,
}

/// The regressions over kinds of data (Johnson & Miller 1998, section 5.6).
#[derive(Clone, Debug, PartialEq)]
pub struct Compression {
    /// The kinds of data, in the order in which they were written.
    pub data: Vec<Compressed>,
    /// The drive's ratio against gzip's: their `a + b C`.
    pub ratio: Line,
    /// Seconds for each MB read against one over gzip's ratio: their `1 / TH = a + b / C`.
    pub read_s_per_mb: Line,
    /// The same for writing.
    pub write_s_per_mb: Line,
}

impl Compression {
    pub(super) fn of<'a, 'e: 'a>(
        samples: impl Iterator<Item = &'a [&'e Event]>,
        subject: &Subject,
    ) -> Option<Compression> {
        let mut written = samples.filter_map(|events| {
            let gzip_ratio = events.first()?.parameter? as f64 / PER_UNIT;
            Some((gzip_ratio, Written::of(events, subject)?))
        });
        let (_, plain) = written.next()?;
        let data = written.map(|(gzip_ratio, data)| Compressed {
            gzip_ratio,
            drive_ratio: data.per_tape / plain.per_tape,
            write_mb_s: data.write_mb_s,
            read_mb_s: data.read_mb_s,
        });
        let data: Vec<Compressed> = data.collect();
        let line = |point: fn(&Compressed) -> (f64, f64)| {
            Line::through(&data.iter().map(point).collect::<Vec<_>>())
        };
        Some(Compression {
            ratio: line(|data| (data.gzip_ratio, data.drive_ratio))?,
            read_s_per_mb: line(|data| (1.0 / data.gzip_ratio, 1.0 / data.read_mb_s))?,
            write_s_per_mb: line(|data| (1.0 / data.gzip_ratio, 1.0 / data.write_mb_s))?,
            data,
        })
    }

    /// The rate of reading that no data exceeds, in MB/s: 1 / a.
    pub fn max_read_mb_s(&self) -> f64 {
        1.0 / self.read_s_per_mb.intercept
    }

    /// The rate of writing that no data exceeds, in MB/s: 1 / a.
    pub fn max_write_mb_s(&self) -> f64 {
        1.0 / self.write_s_per_mb.intercept
    }
}

/// What a sample says that wrote and read back.
pub(super) struct Written {
    pub write_mb_s: f64,
    pub read_mb_s: f64,
    /// Bytes for each LPOS unit where the drive told its place, else bytes on the whole tape.
    per_tape: f64,
}

impl Written {
    pub fn of(events: &[&Event], subject: &Subject) -> Option<Written> {
        let find = |action: Action| events.iter().rev().find(|event| event.action == action);
        let (write, flush) = (find(Action::Write)?, find(Action::WriteFilemarks)?);
        // The last read counts: the one before it gets the tape running.
        let read = find(Action::Read).filter(|read| read.bytes > 0)?;
        let mb = |event: &Event| event.bytes.saturating_mul(subject.byte_scale) as f64 / 1e6;
        let geometry = subject.profile.geometry().ok();
        let way = geometry.and_then(|geometry| way_lpos(&geometry, write.from?, flush.to?));
        Some(Written {
            write_mb_s: mb(write) / (write.took_us + flush.took_us).as_secs_f64(),
            read_mb_s: mb(read) / read.took_us.as_secs_f64(),
            per_tape: write.bytes as f64 / way.unwrap_or(1.0),
        })
    }
}

/// The tape between two places that the drive told.
fn way_lpos(geometry: &Geometry, from: Spot, to: Spot) -> Option<f64> {
    let place = |spot: Spot| Some((spot.wrap?, spot.lpos?));
    let way = geometry.streamed_lpos(place(from)?, place(to)?);
    (way > 0).then_some(way as f64)
}
