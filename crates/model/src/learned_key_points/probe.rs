//! What to ask next.

use super::LearnedKeyPoints;
use super::hypothesis::Hypothesis;
use crate::random::Random;

/// Hypotheses that are asked, and destinations that are thought of.
const ASKED: usize = 24;
const THOUGHT_OF: usize = 96;

/// Segments around the head within which every other destination lies, across the tracks: near ones cost little.
const NEAR_SECTIONS: f64 = 2.0;

impl LearnedKeyPoints {
    /// The segment to locate from before segment `head`: of some drawn at random below the end of the data, `below`,
    /// the one whose locate tells most for each second it takes.
    pub fn next_probe(&self, head: u64, below: u64, random: &mut Random) -> u64 {
        let last = (below as f64 - 2.0).max(1.0);
        let step = (self.samples.len() / ASKED).max(1);
        let asked: Vec<&Hypothesis> = self.samples.iter().step_by(step).collect();
        let noise_s = self.coefficients().residual_s.unwrap_or(1.0);
        let worth = |to: u64| {
            let times = asked
                .iter()
                .map(|guess| guess.time_s(head as f64, to as f64));
            let times: Vec<f64> = times.collect();
            let mean_s = times.iter().sum::<f64>() / times.len() as f64;
            told(&times, noise_s) / mean_s.max(1.0)
        };
        let drawn = (0..THOUGHT_OF).map(|nth| {
            let any = last * random.unit();
            let to = if nth % 2 == 0 {
                any
            } else {
                self.beside(head as f64, any, random)
            };
            to.clamp(1.0, last) as u64
        });
        let best = drawn.map(|to| (worth(to), to));
        best.max_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(head, |best| best.1)
    }

    /// A segment on the track of `any`, near the place along the tape where `head` lies.
    fn beside(&self, head: f64, any: f64, random: &mut Random) -> f64 {
        let length = self.samples[0].turn;
        let along = |segment: f64| {
            let (track, into) = ((segment / length).floor(), segment % length);
            (
                track,
                if track % 2.0 == 0.0 {
                    into
                } else {
                    length - into
                },
            )
        };
        let section = f64::from(self.belief.sections.section_segments);
        let place = along(head).1 + section * NEAR_SECTIONS * (2.0 * random.unit() - 1.0);
        let track = along(any).0;
        let place = place.clamp(0.0, length);
        length * track
            + if track % 2.0 == 0.0 {
                place
            } else {
                length - place
            }
    }
}

/// How much an answer would tell between hypotheses that expect these times: a lower bound of the information, in
/// nats, for equal normal errors (Kolchinsky and Tracey 2017).
fn told(times: &[f64], noise_s: f64) -> f64 {
    let count = times.len() as f64;
    let alike = |one: f64| {
        let near = times
            .iter()
            .map(|other| (-0.125 * ((one - other) / noise_s).powi(2)).exp());
        near.sum::<f64>() / count
    };
    -times.iter().map(|&time| alike(time).ln()).sum::<f64>() / count
}
