//! The records as curves see them: places in lengths of the tape, times in seconds.

use crate::sample::{Ground, Sample};
use tapewise_model::Geometry;

/// One record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    /// Where the head was and where it went, 0 at the beginning of tape and 1 at its end.
    pub from: f64,
    pub to: f64,
    pub wraps: [u16; 2],
    /// The destination is read away from the beginning of tape.
    pub forward: bool,
    /// The reading direction turns.
    pub turns: bool,
    /// The pair of bands, where they differ.
    pub pair: Option<usize>,
    /// Distance ahead on the same wrap.
    pub onward: Option<f64>,
    pub time_s: f64,
}

impl Move {
    /// The distance along the tape.
    pub fn direct(&self) -> f64 {
        (self.to - self.from).abs()
    }

    /// Wraps that the head steps over.
    pub fn stepped(&self) -> u16 {
        self.wraps[0].abs_diff(self.wraps[1])
    }
}

/// All records, and what is known of the tape.
#[derive(Clone, Debug)]
pub(super) struct Moves {
    pub all: Vec<Move>,
    pub geometry: Geometry,
    /// Seconds to read the length of the tape, as expected beforehand.
    pub read_s: f64,
}

impl Moves {
    pub fn new(samples: &[Sample], ground: &Ground) -> Moves {
        let geometry = ground.geometry.clone();
        let length = f64::from(geometry.wrap_lpos());
        let place = |lpos: u32| (f64::from(lpos) - f64::from(geometry.lpos_min)) / length;
        let all = samples.iter().map(|sample| {
            let (from, to) = (place(sample.from.lpos), place(sample.to.lpos));
            let wraps = [sample.from.wrap, sample.to.wrap];
            let forward = wraps[1] & 1 == 0;
            let onward = if forward { to - from } else { from - to };
            let bands = wraps.map(|wrap| geometry.band(wrap));
            Move {
                from,
                to,
                wraps,
                forward,
                turns: (wraps[0] ^ wraps[1]) & 1 == 1,
                pair: geometry.band_pair(bands[0], bands[1]),
                onward: (wraps[0] == wraps[1] && onward >= 0.0).then_some(onward),
                time_s: sample.time.as_secs_f64(),
            }
        });
        let all: Vec<Move> = all.collect();
        let read_s = ground.read_per_lpos_s.map(|pace| pace * length);
        Moves {
            read_s: read_s.unwrap_or_else(|| 2.5 * median(&all)),
            all,
            geometry,
        }
    }

    /// At most this many records, evenly taken.
    pub fn thinned(&self, most: usize) -> Moves {
        let step = self.all.len().div_ceil(most).max(1);
        Moves {
            all: self.all.iter().copied().step_by(step).collect(),
            ..self.clone()
        }
    }

    /// The time that half of the records are below.
    pub fn median_s(&self) -> f64 {
        median(&self.all)
    }
}

fn median(moves: &[Move]) -> f64 {
    let mut times: Vec<f64> = moves.iter().map(|each| each.time_s).collect();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}
