//! The key points of a cartridge from what locates took: any locates, those of ordinary recalls as well.
//!
//! A locate's time follows from where its two ends lie, and jumps where an end passes a key point. So one time has
//! many explanations, and whoever commits to one of them early is lost if it was the wrong one. Here a dozen
//! hypotheses of the whole cartridge are carried along ([`chain`]), each asked anew by *all* locates whenever something
//! is learned; those that explain them much worse than the best are dropped. What is unknown beside the key points is
//! learned with them: the seven constants of the drive, its noise, how much tracks differ, and where along the tape
//! sections begin in the mean of all tracks.
//!
//! The hypotheses also say what to ask next: the locate on whose time they disagree most for each second it takes.

mod belief;
mod chain;
mod hypothesis;
mod probe;

pub use belief::{KeyPointBelief, TimedLocate};

use crate::key_points::{KeyPoints, Spread};
use crate::locate::KeyPointCoefficients;
use crate::random::Random;
use chain::{Chain, Timed};
use hypothesis::Hypothesis;
use std::ops::RangeInclusive;

/// Hypotheses carried along, and those of them that begin anew whenever something is learned.
const CHAINS: usize = 8;
const ANEW: usize = 3;

/// How hot they begin, in seconds: a locate to or from an unknown track is off by as much. Those that have learned
/// before begin cooler.
const HOT_S: f64 = 8.0;
const WARM_S: f64 = 2.0;

/// In how many sweeps those that begin anew cool: fewer, the more locates each sweep asks.
const SWEPT: usize = 60_000;
const COOLING: RangeInclusive<usize> = 80..=600;

/// Sweeps in which the others cool, and of cold ones, of which every [`KEPT_EACH`]th is kept.
const COLD: usize = 24;
const KEPT_EACH: usize = 6;

/// Streams of random numbers.
const STREAM: u64 = 0x6b65_7970;

/// A hypothesis that explains everything worse than the best by this, in logarithms of the likelihood, is dropped: more
/// than chance makes of a thousand unknowns.
const HOPELESS: f64 = 60.0;

/// The key points of a cartridge as far as its locates tell.
#[derive(Clone, Debug)]
pub struct LearnedKeyPoints {
    belief: KeyPointBelief,
    end: Option<u64>,
    timed: Timed,
    chains: Vec<Chain>,
    /// What the chains came by once they were cold.
    samples: Vec<Hypothesis>,
    random: Random,
}

impl LearnedKeyPoints {
    /// What is believed, before the first locate. `end` is one past the last segment of a full tape, if known.
    pub fn new(belief: KeyPointBelief, end: Option<u64>, seed: u64) -> LearnedKeyPoints {
        let mut random = Random::new(seed, STREAM);
        let samples = (0..CHAINS)
            .map(|_| Hypothesis::drawn(&belief, end, &mut random))
            .collect();
        LearnedKeyPoints {
            belief,
            end,
            timed: Timed::default(),
            chains: Vec::new(),
            samples,
            random,
        }
    }

    /// Takes in a locate; [`LearnedKeyPoints::learn`] uses it. One beyond the known end of the tape teaches nothing.
    pub fn observe(&mut self, locate: TimedLocate) {
        let beyond = |segment: u64| self.end.is_some_and(|end| segment >= end);
        if !beyond(locate.from) && !beyond(locate.to) {
            self.timed.push(locate);
        }
    }

    /// Locates taken in.
    pub fn locates(&self) -> usize {
        self.timed.len()
    }

    /// Lets all hypotheses explain all locates, and one begin anew: none is believed for having been there first.
    pub fn learn(&mut self) {
        if self.timed.len() == 0 {
            return;
        }
        let is_first = self.chains.is_empty();
        let fresh = if is_first { CHAINS } else { ANEW };
        self.chains.truncate(CHAINS - fresh);
        let old = self.chains.len();
        for _ in 0..fresh {
            let guess = Hypothesis::drawn(&self.belief, self.end, &mut self.random);
            let random = Random::new(self.random.below(u64::MAX), STREAM + 1);
            self.chains.push(Chain::new(&self.belief, guess, random));
        }
        let mut kept: Vec<(f64, Vec<Hypothesis>)> = Vec::new();
        for (nth, chain) in self.chains.iter_mut().enumerate() {
            let anew = (SWEPT / self.timed.len()).clamp(*COOLING.start(), *COOLING.end());
            let (hot_s, cooling) = if nth < old {
                (WARM_S, COLD)
            } else {
                (HOT_S, anew)
            };
            for sweep in 0..cooling {
                let heat_s = hot_s * (1.0 - sweep as f64 / cooling as f64).powi(2);
                chain.sweep(&self.belief, &self.timed, self.end, heat_s);
            }
            let (mut samples, mut score) = (Vec::new(), 0.0);
            for sweep in 1..=COLD {
                chain.sweep(&self.belief, &self.timed, self.end, 0.0);
                score += chain.score() / COLD as f64;
                if sweep % KEPT_EACH == 0 {
                    samples.push(chain.guess.clone());
                }
            }
            kept.push((score, samples));
        }
        let best = (0..kept.len()).max_by(|&a, &b| kept[a].0.total_cmp(&kept[b].0));
        let Some(best) = best else { return };
        let is_hopeless = |nth: usize| kept[nth].0 < kept[best].0 - HOPELESS;
        let leader = self.chains[best].clone();
        for nth in (0..kept.len()).filter(|&nth| is_hopeless(nth)) {
            self.chains[nth].follow(&leader);
        }
        // The best stays when the next one begins anew in the last place.
        self.chains.swap(0, best);
        let good = (0..kept.len()).filter(|&nth| !is_hopeless(nth));
        self.samples = good.flat_map(|nth| kept[nth].1.clone()).collect();
    }

    /// The key points as expected, with their error.
    pub fn key_points(&self) -> KeyPoints {
        let count = self.samples.len() as f64;
        let mean = |of: &dyn Fn(&Hypothesis) -> f64| {
            (self.samples.iter().map(of).sum::<f64>() / count).round() as u64
        };
        let (tracks, sections) = (self.belief.tracks(), self.belief.sections());
        let mut last = None;
        let mut starts = Vec::with_capacity(tracks);
        for track in 0..tracks {
            let mut row = Vec::with_capacity(sections);
            for section in 0..sections {
                let at =
                    mean(&|guess| guess.starts[track] + guess.into[track * sections + section]);
                // A mean over hypotheses may put one point on another.
                let at = last.map_or(0, |last: u64| at.max(last + 1));
                last = Some(at);
                row.push(at);
            }
            starts.push(row);
        }
        let end = self
            .end
            .unwrap_or_else(|| mean(&|guess| guess.starts[tracks]));
        let error = self.error_segments().round() as u32;
        KeyPoints::build(starts, end.max(last.unwrap_or(0) + 1)).with_error(error)
    }

    /// How far the key points are expected to be off, in segments: one standard deviation.
    pub fn error_segments(&self) -> f64 {
        let (tracks, sections) = (self.belief.tracks(), self.belief.sections());
        let count = self.samples.len() as f64;
        let variance = |at: usize| {
            let places = || {
                let place = |guess: &Hypothesis| guess.starts[at / sections] + guess.into[at];
                self.samples.iter().map(place)
            };
            let mean = places().sum::<f64>() / count;
            places().map(|place| (place - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0)
        };
        let points = tracks * sections;
        ((0..points).map(variance).sum::<f64>() / points as f64).sqrt()
    }

    /// The speeds, the constants as learned, and what a locate is off by.
    pub fn coefficients(&self) -> KeyPointCoefficients {
        let count = self.samples.len() as f64;
        let mut case_s = [0.0; 7];
        for (case, value) in case_s.iter_mut().enumerate() {
            *value = self
                .samples
                .iter()
                .map(|guess| guess.case_s[case])
                .sum::<f64>()
                / count;
        }
        let noise_s = self.chains.first().map(|chain| chain.noise_s);
        KeyPointCoefficients {
            case_s,
            residual_s: noise_s.or(self.belief.coefficients.residual_s),
            ..self.belief.coefficients
        }
    }

    /// What this cartridge and its drive let believe of the next one.
    pub fn belief(&self) -> KeyPointBelief {
        let learned = self.chains.first();
        KeyPointBelief {
            spread: learned.map_or(self.belief.spread, |chain| Spread {
                track_sd_segments: chain.track_sd,
                dip_sd_segments: chain.mark_sd,
            }),
            coefficients: self.coefficients(),
            ..self.belief.clone()
        }
    }
}
