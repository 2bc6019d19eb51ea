//! A hypothesis that wanders through all that agree with what was timed (Metropolis et al. 1953).
//!
//! Nothing is ever settled: a step that fits the times worse is taken with the probability that it deserves, and every
//! sweep asks all locates again. While a chain is *hot*, times count as less exact than they are, so that it walks from
//! one explanation to another; then it cools.

use super::belief::{KeyPointBelief, TimedLocate};
use super::hypothesis::Hypothesis;
use crate::random::Random;
use std::ops::Range;

/// Degrees of freedom of how tracks and sections differ: a long bad place is rare, not impossible.
const FREEDOM: f64 = 4.0;

/// Share of locates that take another time for reasons of their own (retries), and how far off they are.
const STRAYS: f64 = 0.02;
const STRAY_SD_S: f64 = 15.0;

/// Standard deviation of what is believed of the constant of a case before the drive was timed.
const CASE_SD_S: f64 = 10.0;

/// How many deviations the belief in a spread counts for, beside those of the cartridge at hand.
const BELIEF_WEIGHT: f64 = 16.0;

/// Steps tried at the beginning of each track, and runs of tracks moved, in a sweep.
const STEPS: usize = 3;
const RUNS: usize = 16;

/// The locates, and all their ends in the order of segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Timed {
    locates: Vec<(f64, f64, f64)>,
    /// Segment, locate.
    ends: Vec<(f64, u32)>,
}

impl Timed {
    pub fn len(&self) -> usize {
        self.locates.len()
    }

    pub fn push(&mut self, locate: TimedLocate) {
        let (from, to) = (locate.from as f64, locate.to as f64);
        let nth = self.locates.len() as u32;
        self.locates.push((from, to, locate.time.as_secs_f64()));
        for end in [from, to] {
            let at = self.ends.partition_point(|other| other.0 <= end);
            self.ends.insert(at, (end, nth));
        }
    }

    /// Locates with an end in this range, each once.
    fn touching(&self, range: Range<f64>) -> impl Iterator<Item = usize> + '_ {
        let place = |segment: f64| self.ends.partition_point(|end| end.0 < segment);
        let ends = &self.ends[place(range.start)..place(range.end).max(place(range.start))];
        ends.iter().filter_map(move |&(segment, nth)| {
            let (_, to, _) = self.locates[nth as usize];
            // One with both ends in the range counts at its destination.
            (segment == to || !range.contains(&to)).then_some(nth as usize)
        })
    }
}

/// A hypothesis on its way.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub guess: Hypothesis,
    random: Random,
    /// Where sections begin along the tape in the mean of all tracks, from where forward tracks begin.
    marks: Vec<f64>,
    pub track_sd: f64,
    pub mark_sd: f64,
    /// Standard error of a locate in seconds.
    pub noise_s: f64,
    /// What the chain is hot by, in seconds.
    heat_s: f64,
    /// Logarithm of the likelihood of each locate.
    likelihood: Vec<f64>,
}

impl Chain {
    pub fn new(belief: &KeyPointBelief, guess: Hypothesis, random: Random) -> Chain {
        Chain {
            guess,
            random,
            marks: belief.nominal(0).collect(),
            track_sd: belief.spread.track_sd_segments,
            mark_sd: belief.spread.dip_sd_segments,
            noise_s: belief.noise_s(),
            heat_s: 0.0,
            likelihood: Vec::new(),
        }
    }

    /// Goes on from where another chain is.
    pub fn follow(&mut self, other: &Chain) {
        let random = self.random.clone();
        *self = Chain {
            random,
            ..other.clone()
        };
    }

    /// One sweep over all that is unknown, at this heat.
    pub fn sweep(&mut self, belief: &KeyPointBelief, timed: &Timed, end: Option<u64>, heat_s: f64) {
        self.heat_s = heat_s;
        self.constants(belief, timed);
        self.likelihood = (0..timed.len()).map(|nth| self.fits(timed, nth)).collect();
        let tracks = self.guess.tracks();
        let last = if end.is_some() { tracks - 1 } else { tracks };
        for track in 1..=last {
            for _ in 0..STEPS {
                let step = self.step(self.track_sd);
                self.move_starts(timed, track..track + 1, step);
            }
        }
        for run in 0..RUNS {
            let first = 1 + self.random.below(last as u64) as usize;
            // Every other run goes to the end: then one track only is longer.
            let most = last + 1 - first;
            let count = match run % 2 {
                0 => most,
                _ => 1 + self.random.below(most as u64) as usize,
            };
            let step = self.step(belief.sections.section_segments.into());
            self.move_starts(timed, first..first + count, step);
        }
        for track in 0..tracks {
            for section in 1..self.guess.sections {
                let step = self.step(self.mark_sd);
                self.move_section(timed, track, section, step);
            }
        }
        self.spreads(belief);
    }

    /// The logarithm of how well everything fits, but for what is the same in all chains.
    pub fn score(&self) -> f64 {
        let tracks = self.guess.tracks();
        let starts: f64 = (0..tracks).map(|track| self.length_fits(track)).sum();
        let sections = (0..tracks * self.guess.sections).map(|at| self.section_fits(at));
        starts + sections.sum::<f64>() + self.likelihood.iter().sum::<f64>()
    }

    /// A step to try, of any size up to about the spread.
    fn step(&mut self, sd: f64) -> f64 {
        let size = (1.5 * sd).max(2.0).powf(self.random.unit());
        size * self.random.normal()
    }

    /// The logarithm of the likelihood of a locate.
    fn fits(&self, timed: &Timed, nth: usize) -> f64 {
        let (from, to, time_s) = timed.locates[nth];
        let off = time_s - self.guess.time_s(from, to);
        let sd = self.noise_s.hypot(self.heat_s);
        (normal(off, sd) * (1.0 - STRAYS) + normal(off, STRAY_SD_S) * STRAYS).ln()
    }

    /// How well a track's length fits to what is believed.
    fn length_fits(&self, track: usize) -> f64 {
        let length = self.guess.starts[track + 1] - self.guess.starts[track];
        student(length - self.guess.turn, self.track_sd)
    }

    /// Where a section would begin by the mean of all tracks.
    fn expected(&self, track: usize, section: usize) -> f64 {
        let sections = self.guess.sections;
        match track % 2 {
            0 => self.marks[section],
            _ if section == 0 => 0.0,
            _ => self.guess.turn - self.marks[sections - section],
        }
    }

    /// How well the beginning of a section fits to that of the other tracks.
    fn section_fits(&self, at: usize) -> f64 {
        let sections = self.guess.sections;
        let (track, section) = (at / sections, at % sections);
        if section == 0 {
            return 0.0;
        }
        student(
            self.guess.into[at] - self.expected(track, section),
            self.mark_sd,
        )
    }

    /// Tries to move the beginnings of some tracks.
    fn move_starts(&mut self, timed: &Timed, tracks: Range<usize>, step: f64) {
        let (before, after) = (tracks.start - 1, tracks.end - 1);
        let lengths = |chain: &Chain| {
            let after = (after < chain.guess.tracks()).then(|| chain.length_fits(after));
            chain.length_fits(before) + after.unwrap_or(0.0)
        };
        let old = lengths(self);
        let starts = &self.guess.starts;
        let first = starts[before];
        let end = starts.get(after + 1).copied().unwrap_or(f64::INFINITY);
        self.shift(tracks.clone(), step);
        let is_possible = self.guess.is_in_order(tracks.start) && self.guess.is_in_order(after);
        let gain = lengths(self) - old;
        if !is_possible || !self.accepts(timed, first..end, gain) {
            self.shift(tracks, -step);
        }
    }

    fn shift(&mut self, tracks: Range<usize>, step: f64) {
        for start in &mut self.guess.starts[tracks] {
            *start += step;
        }
    }

    /// Tries to move the beginning of a section.
    fn move_section(&mut self, timed: &Timed, track: usize, section: usize, step: f64) {
        let sections = self.guess.sections;
        let at = track * sections + section;
        let start = self.guess.starts[track];
        let behind = |ahead: usize| {
            if section + ahead < sections {
                start + self.guess.into[at + ahead]
            } else {
                self.guess.starts[track + 1]
            }
        };
        let (new, low, high) = (
            self.guess.into[at] + step,
            self.guess.into[at - 1],
            behind(1) - start,
        );
        if new <= low + 1.0 || new >= high - 1.0 {
            return;
        }
        // Between the section before and the section after, the landing point of that one moves too.
        let range = start + low..behind(2);
        let old = self.section_fits(at);
        let was = std::mem::replace(&mut self.guess.into[at], new);
        let gain = self.section_fits(at) - old;
        if !self.accepts(timed, range, gain) {
            self.guess.into[at] = was;
        }
    }

    /// Whether a change is taken: `gain` is what it gains without the locates, and only those with an end in the range
    /// are touched by it.
    fn accepts(&mut self, timed: &Timed, range: Range<f64>, gain: f64) -> bool {
        let fits: Vec<(usize, f64)> = timed
            .touching(range)
            .map(|nth| (nth, self.fits(timed, nth)))
            .collect();
        let gained: f64 = fits
            .iter()
            .map(|&(nth, new)| new - self.likelihood[nth])
            .sum();
        let is_taken = (gain + gained).exp() > self.random.unit();
        if is_taken {
            for (nth, new) in fits {
                self.likelihood[nth] = new;
            }
        }
        is_taken
    }

    /// Draws the seven constants, and puts the noise to what the times show.
    fn constants(&mut self, belief: &KeyPointBelief, timed: &Timed) {
        let sd = self.noise_s.hypot(self.heat_s);
        let mut sums = [(0.0, 0.0); 7];
        let (mut squares, mut count) = (BELIEF_WEIGHT * belief.noise_s().powi(2), BELIEF_WEIGHT);
        for &(from, to, time_s) in &timed.locates {
            let (case, motion_s) = self.guess.motion(from, to);
            let left = time_s - motion_s;
            let off = left - self.guess.case_s[case];
            let straying = STRAYS * normal(off, STRAY_SD_S);
            let keeping = (1.0 - STRAYS) * normal(off, sd);
            let weight = keeping / (keeping + straying);
            let sum = &mut sums[case];
            *sum = (sum.0 + weight * left, sum.1 + weight);
            squares += weight * off * off;
            count += weight;
        }
        let prior = (sd / CASE_SD_S).powi(2);
        for (case, (sum, weight)) in sums.into_iter().enumerate() {
            let believed = belief.coefficients.case_s[case];
            let mean = (sum + prior * believed) / (weight + prior);
            self.guess.case_s[case] = mean + sd / (weight + prior).sqrt() * self.random.normal();
        }
        if self.heat_s == 0.0 {
            self.noise_s = (squares / count).sqrt();
        }
    }

    /// Puts the marks to the mean of all tracks, and the spreads to what they show.
    fn spreads(&mut self, belief: &KeyPointBelief) {
        let sections = self.guess.sections;
        let tracks = self.guess.tracks();
        for mark in 1..sections {
            let nominal = belief.nominal(0).nth(mark).unwrap_or(0.0);
            let along = (0..tracks).map(|track| match track % 2 {
                0 => self.guess.into[track * sections + mark],
                _ => self.guess.turn - self.guess.into[track * sections + sections - mark],
            });
            self.marks[mark] = (along.sum::<f64>() + nominal) / (tracks + 1) as f64;
        }
        let lengths = self.guess.starts.windows(2);
        let lengths = lengths.map(|pair| pair[1] - pair[0] - self.guess.turn);
        self.track_sd = spread(lengths, self.track_sd, belief.spread.track_sd_segments);
        let marked = (0..tracks * sections).filter(|at| at % sections > 0);
        let off =
            marked.map(|at| self.guess.into[at] - self.expected(at / sections, at % sections));
        self.mark_sd = spread(off, self.mark_sd, belief.spread.dip_sd_segments);
    }
}

/// The scale of deviations with heavy tails: one step from the scale that it was, the belief counting for some.
fn spread(deviations: impl Iterator<Item = f64>, was: f64, believed: f64) -> f64 {
    let (mut sum, mut count) = (BELIEF_WEIGHT * believed * believed, BELIEF_WEIGHT);
    for off in deviations {
        let weight = (FREEDOM + 1.0) / (FREEDOM + (off / was).powi(2));
        sum += weight * off * off;
        count += 1.0;
    }
    (sum / count).sqrt().max(1.0)
}

/// The density of a normal deviation, but for a factor.
fn normal(off: f64, sd: f64) -> f64 {
    (-0.5 * (off / sd).powi(2)).exp() / sd
}

/// The logarithm of the density of a deviation with heavy tails, but for a constant.
fn student(off: f64, sd: f64) -> f64 {
    -0.5 * (FREEDOM + 1.0) * ((off / sd).powi(2) / FREEDOM).ln_1p() - sd.ln()
}
