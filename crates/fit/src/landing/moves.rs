//! The records as the search sees them: distances in lengths of the tape, times in seconds.

use crate::sample::{Ground, Sample};
use tapewise_model::Geometry;

/// One record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    /// Where the head was and where it went, 0 at the beginning of tape and 1 at its end.
    pub from: f64,
    pub to: f64,
    /// The destination is read away from the beginning of tape.
    pub forward: bool,
    pub same_wrap: bool,
    /// The reading direction turns.
    pub turns: bool,
    /// The pair of bands, where they differ.
    pub pair: Option<usize>,
    /// Distance ahead on the same wrap.
    pub onward: Option<f64>,
    pub time_s: f64,
}

impl Move {
    /// The destination in reading order: 0 at the beginning of its wrap.
    pub fn in_reading_order(&self) -> f64 {
        if self.forward { self.to } else { 1.0 - self.to }
    }
}

/// All records, and what is known of the tape.
#[derive(Clone, Debug)]
pub(super) struct Moves {
    pub all: Vec<Move>,
    pub geometry: Geometry,
    /// Seconds to read the length of the tape, as expected beforehand.
    pub read_s: Option<f64>,
}

impl Moves {
    pub fn new(samples: &[Sample], ground: &Ground) -> Moves {
        let geometry = ground.geometry.clone();
        let length = f64::from(geometry.wrap_lpos());
        let place = |lpos: u32| (f64::from(lpos) - f64::from(geometry.lpos_min)) / length;
        let all = samples.iter().map(|sample| {
            let (from, to) = (place(sample.from.lpos), place(sample.to.lpos));
            let forward = sample.to.wrap & 1 == 0;
            let same_wrap = sample.from.wrap == sample.to.wrap;
            let onward = if forward { to - from } else { from - to };
            let bands = [sample.from.wrap, sample.to.wrap].map(|wrap| geometry.band(wrap));
            Move {
                from,
                to,
                forward,
                same_wrap,
                turns: (sample.from.wrap ^ sample.to.wrap) & 1 == 1,
                pair: pair(bands, geometry.bands),
                onward: (same_wrap && onward >= 0.0).then_some(onward),
                time_s: sample.time.as_secs_f64(),
            }
        });
        Moves {
            all: all.collect(),
            read_s: ground.read_per_lpos_s.map(|pace| pace * length),
            geometry,
        }
    }

    /// At most so many records, evenly taken.
    pub fn thinned(&self, most: usize) -> Moves {
        let step = self.all.len().div_ceil(most).max(1);
        Moves {
            all: self.all.iter().copied().step_by(step).collect(),
            ..self.clone()
        }
    }

    /// Pairs of bands.
    pub fn pairs(&self) -> usize {
        let bands = usize::from(self.geometry.bands);
        bands * bands.saturating_sub(1) / 2
    }
}

/// The number of a pair of bands, in the order 0-1, 0-2, ..., 1-2, ...
fn pair([a, b]: [u16; 2], bands: u16) -> Option<usize> {
    let (low, high) = (usize::from(a.min(b)), usize::from(a.max(b)));
    let before: usize = (0..low).map(|band| usize::from(bands) - 1 - band).sum();
    (low != high).then(|| before + high - low - 1)
}
