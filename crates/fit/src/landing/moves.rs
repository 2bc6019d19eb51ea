//! The records as the search sees them: distances in lengths of the tape, times in seconds.

use crate::robust::standard_error;
use crate::sample::{Ground, Sample};
use tapewise_model::Geometry;

/// Noise counts as growing with time where that of the longest third of moves is more than so many
/// times that of the shortest.
const NOISE_GROWS: f64 = 1.3;

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
    /// How irregular such moves are, in parts of what an ordinary one is.
    pub noise: f64,
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
                pair: geometry.band_pair(bands[0], bands[1]),
                onward: (same_wrap && onward >= 0.0).then_some(onward),
                time_s: sample.time.as_secs_f64(),
                noise: 1.0,
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

    /// The same with noise that may grow with the expected time, by what is off in `errors_s`; none
    /// where it does not grow so much that it matters.
    pub fn with_noise(&self, expected_s: &[f64], errors_s: &[f64]) -> Option<Moves> {
        let mut order: Vec<usize> = (0..expected_s.len()).collect();
        order.sort_by(|&a, &b| expected_s[a].total_cmp(&expected_s[b]));
        let third = order.len() / 3;
        let [short, long] = [&order[..third], &order[order.len() - third..]].map(|part| {
            let errors: Vec<f64> = part.iter().map(|&at| errors_s[at]).collect();
            let middle = part.get(third / 2).map_or(0.0, |&at| expected_s[at]);
            (middle, standard_error(&errors))
        });
        if long.1 < NOISE_GROWS * short.1 || long.0 <= short.0 {
            return None;
        }
        let growth = (long.1 - short.1) / (long.0 - short.0);
        let law = |time_s: f64| (short.1 + growth * (time_s - short.0)).max(0.25 * short.1);
        let ordinary = law(expected_s[order[order.len() / 2]]);
        let all = self.all.iter().zip(expected_s).map(|(each, &time_s)| Move {
            noise: law(time_s) / ordinary,
            ..*each
        });
        Some(Moves {
            all: all.collect(),
            ..self.clone()
        })
    }
}
