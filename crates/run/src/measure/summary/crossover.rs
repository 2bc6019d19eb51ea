//! From which distance on a locate is sooner than reading on.

use super::super::short::{LONG, times};
use super::super::subject::Subject;
use super::stat::Line;
use tapewise_formats::event::Event;

/// Short seeks against reading on.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossover {
    /// Below so many MB, reading on is no slower.
    pub mb: f64,
    /// Seconds of a locate against the distance in MB.
    pub locate: Line,
    /// Seconds of reading on against the distance in MB.
    pub read: Line,
    /// All comparisons: MB, seconds of reading on, seconds of the locate. By distance.
    pub compared: Vec<(f64, f64, f64)>,
}

/// Times that differ by less than this share are the same: up to the change of speed a drive carries
/// out a locate by reading on.
const SAME: f64 = 0.02;

impl Crossover {
    /// Where the line of locates meets that of reading on. `None` where they do not meet.
    pub(super) fn of<'a, 'e: 'a>(
        samples: impl Iterator<Item = &'a [&'e Event]>,
        subject: &Subject,
    ) -> Option<Crossover> {
        let block_mb = subject.recorded_block_bytes() as f64 / 1e6;
        let compared = samples.filter_map(|events| {
            let (read, located) = times(events.iter().copied())?;
            let gap = events.first()?.parameter? as f64;
            Some((gap * block_mb, read.as_secs_f64(), located.as_secs_f64()))
        });
        let mut compared: Vec<(f64, f64, f64)> = compared.collect();
        compared.sort_by(|a, b| a.0.total_cmp(&b.0));
        let wrap = subject.wrap(0).filter(|_| subject.is_serpentine());
        let from = wrap.map_or(0.0, |(first, end)| {
            (end - first) as f64 * LONG * block_mb * 0.99
        });
        let lines = |time: &dyn Fn(&(f64, f64, f64)) -> f64| {
            let chosen = compared
                .iter()
                .filter(|(mb, read, located)| *mb >= from && (read - located).abs() > SAME * read);
            Line::through(&chosen.map(|one| (one.0, time(one))).collect::<Vec<_>>())
        };
        let (read, locate) = (lines(&|one| one.1)?, lines(&|one| one.2)?);
        let mb = (locate.intercept - read.intercept) / (read.slope - locate.slope);
        (read.slope > locate.slope && mb > 0.0).then_some(Crossover {
            mb,
            locate,
            read,
            compared,
        })
    }
}
