//! From which distance on a locate is sooner than reading on.

use super::super::short::{NO_GAIN, times};
use super::super::subject::Subject;
use super::stat::Line;
use tapewise_formats::event::Event;

/// Short seeks against reading on.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossover {
    /// Below so many MB, reading on is no slower.
    pub mb: f64,
    /// All comparisons: MB, seconds of reading on, seconds of the locate. By distance.
    pub compared: Vec<(f64, f64, f64)>,
}

impl Crossover {
    /// Helical: where two straight lines meet. Serpentine, where locate times jump: what would have
    /// lost least.
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
        let mb = if subject.is_serpentine() {
            least_loss(&compared)
        } else {
            meeting(&compared)
        };
        Some(Crossover { mb: mb?, compared })
    }
}

/// Where the line of locates meets that of reading on: helical tape, both straight.
fn meeting(compared: &[(f64, f64, f64)]) -> Option<f64> {
    let line = |time: &dyn Fn(&(f64, f64, f64)) -> f64| {
        Line::through(
            &compared
                .iter()
                .map(|one| (one.0, time(one)))
                .collect::<Vec<_>>(),
        )
    };
    let (read, locate) = (line(&|one| one.1)?, line(&|one| one.2)?);
    let mb = (locate.intercept - read.intercept) / (read.slope - locate.slope);
    (read.slope > locate.slope && mb > 0.0).then_some(mb)
}

/// The distance such that reading on below it and locating above it would have lost least time over
/// all that was compared. `None` where the locate never won.
fn least_loss(compared: &[(f64, f64, f64)]) -> Option<f64> {
    // The best place to begin with locates: behind it the sum of gains is greatest.
    let (mut sum, mut best) = (0.0, (0.0, None));
    for (at, (_, read, located)) in compared.iter().enumerate().rev() {
        sum += read * (1.0 - NO_GAIN) - located;
        if sum > best.0 {
            best = (sum, Some(at));
        }
    }
    let first = best.1?;
    let below = first.checked_sub(1).map_or(0.0, |at| compared[at].0);
    Some((below + compared[first].0) / 2.0)
}
