//! What the drive's compression gains (Johnson & Miller 1998, section 5.6).

use super::super::subject::Subject;
use super::stat::Line;
use tapewise_formats::event::{Action, Event};

/// One kind of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compressed {
    /// What gzip compresses it to, one to this.
    pub gzip_ratio: f64,
    /// Capacity with compression over capacity without.
    pub drive_ratio: Option<f64>,
    /// MB/s written.
    pub write_mb_s: Option<f64>,
    /// MB/s read.
    pub read_mb_s: Option<f64>,
}

/// The drive's compression over a corpus.
#[derive(Clone, Debug, PartialEq)]
pub struct Compression {
    /// By kind of data.
    pub data: Vec<Compressed>,
    /// Drive's ratio against gzip's: `a + b C`.
    pub ratio: Option<Line>,
    /// Seconds for each MB read against 1 / C: `a + b / C`; the largest rate is `1 / a`.
    pub read_s_per_mb: Option<Line>,
    /// The same for writing.
    pub write_s_per_mb: Option<Line>,
}

impl Compression {
    pub(super) fn of<'a, 'e: 'a>(
        samples: impl Iterator<Item = &'a [&'e Event]>,
        subject: &Subject,
    ) -> Option<Compression> {
        let samples: Vec<Sampled> = samples
            .filter_map(|events| Sampled::of(events, subject))
            .collect();
        // The sample with compression off says what fits on the tape without.
        let plain = samples.iter().find(|sample| sample.gzip_ratio == 0.0)?;
        let data: Vec<Compressed> = samples
            .iter()
            .filter(|sample| sample.gzip_ratio > 0.0)
            .map(|sample| Compressed {
                gzip_ratio: sample.gzip_ratio,
                drive_ratio: Some(sample.mb / plain.mb).filter(|_| sample.filled && plain.filled),
                write_mb_s: sample.write_mb_s,
                read_mb_s: sample.read_mb_s,
            })
            .collect();
        let line = |point: &dyn Fn(&Compressed) -> Option<(f64, f64)>| {
            Line::through(&data.iter().filter_map(point).collect::<Vec<_>>())
        };
        let ratio = line(&|data| Some((data.gzip_ratio, data.drive_ratio?)));
        let read = line(&|data| Some((1.0 / data.gzip_ratio, 1.0 / data.read_mb_s?)));
        let write = line(&|data| Some((1.0 / data.gzip_ratio, 1.0 / data.write_mb_s?)));
        Some(Compression {
            ratio,
            read_s_per_mb: read,
            write_s_per_mb: write,
            data,
        })
    }
}

struct Sampled {
    gzip_ratio: f64,
    /// MB written until the tape was full, or the sample ended.
    mb: f64,
    filled: bool,
    write_mb_s: Option<f64>,
    read_mb_s: Option<f64>,
}

impl Sampled {
    fn of(events: &[&Event], subject: &Subject) -> Option<Sampled> {
        let mb = |event: &&&Event| event.bytes.saturating_mul(subject.byte_scale) as f64 / 1e6;
        let of = |action: Action| events.iter().filter(move |event| event.action == action);
        let rate = |action: Action| {
            let timed = of(action).rfind(|event| event.bytes > 0)?;
            Some(mb(&timed) / timed.took_us.as_secs_f64())
        };
        Some(Sampled {
            gzip_ratio: events.first()?.parameter? as f64 / 1e3,
            mb: of(Action::Write).map(|event| mb(&event)).sum(),
            filled: of(Action::WriteFilemarks).next().is_some(),
            write_mb_s: rate(Action::Write),
            read_mb_s: rate(Action::Read),
        })
    }
}
