//! The pictures of CERN's annex, of whatever drive was fitted.

use crate::chart::{Mark, Series, Words, chart};
use crate::colours::{BLUE, GREY, ORANGE, SKY, VERMILLION};
use crate::page::Colour;
use tapewise_fit::{Candidate, Comparison, Kind, Sample, Scored};
use tapewise_model::Geometry;

/// How near the beginning of tape a move must begin to count as from there, in parts of the tape.
const AT_START: u32 = 100;
/// Parts of the tape that means are taken over.
const PARTS: usize = 24;

/// A picture as SVG text, with the name of its file; `None` if no record has anything for it.
pub type Picture = (&'static str, Option<String>);

/// Expected against observed, both over distance, across mid-tape, and to reverse wraps.
pub fn fit_pictures(
    samples: &[Sample],
    geometry: &Geometry,
    comparison: &Comparison,
) -> [Picture; 4] {
    let shown = Shown {
        samples,
        geometry,
        comparison,
    };
    [
        (
            "expected-observed.svg",
            Some(shown.expected_against_observed()),
        ),
        ("over-distance.svg", Some(shown.over_distance())),
        ("mid-tape.svg", shown.mid_tape()),
        ("start-to-reverse.svg", shown.start_to_reverse()),
    ]
}

struct Shown<'a> {
    samples: &'a [Sample],
    geometry: &'a Geometry,
    comparison: &'a Comparison,
}

fn dots(name: &str, colour: Colour, places: Vec<[f64; 2]>) -> Series {
    Series {
        name: name.to_owned(),
        mark: Mark::Dots,
        colour,
        places,
    }
}

fn line(name: &str, colour: Colour, places: Vec<[f64; 2]>) -> Series {
    Series {
        mark: Mark::Line,
        ..dots(name, colour, places)
    }
}

impl Shown<'_> {
    /// The model for the profile and, beside it, CERN's regression where that is another.
    fn compared(&self) -> Vec<(&Scored, Colour)> {
        let choice = self.comparison.choice();
        let cern = self.comparison.of(Candidate::LtoRegression);
        let cern = cern.filter(|cern| cern.candidate != choice.candidate);
        let cern = cern.map(|cern| (cern, VERMILLION));
        cern.into_iter().chain([(choice, BLUE)]).collect()
    }

    fn distance(&self, sample: &Sample) -> f64 {
        let lpos = f64::from(sample.from.lpos.abs_diff(sample.to.lpos));
        lpos * self.geometry.metres_per_lpos.unwrap_or(1.0)
    }

    fn distance_words(&self) -> &'static str {
        match self.geometry.metres_per_lpos {
            Some(_) => "distance along the tape, m",
            None => "distance along the tape, LPOS",
        }
    }

    fn expected_against_observed(&self) -> String {
        let times = self.samples.iter().map(|sample| sample.time.as_secs_f64());
        let longest = times.clone().fold(0.0, f64::max);
        let mut series = vec![line(
            "as observed",
            GREY,
            vec![[0.0, 0.0], [longest, longest]],
        )];
        for (scored, colour) in self.compared() {
            let places = times.clone().zip(&scored.predicted_s);
            let places = places
                .map(|(observed, &expected)| [observed, expected])
                .collect();
            series.push(dots(scored.candidate.name(), colour, places));
        }
        let words = Words {
            title: "Expected against observed locate times, on held-out records",
            across: "observed, s",
            up: "expected, s",
        };
        chart(words, &series)
    }

    fn over_distance(&self) -> String {
        let length = f64::from(self.geometry.wrap_lpos());
        let part = |sample: &Sample| {
            let share = f64::from(sample.from.lpos.abs_diff(sample.to.lpos)) / length;
            ((share * PARTS as f64) as usize).min(PARTS - 1)
        };
        let mean = |value: &dyn Fn(usize) -> f64| {
            let mut sums = [[0.0; 3]; PARTS];
            for (at, sample) in self.samples.iter().enumerate() {
                let sum = &mut sums[part(sample)];
                sum[0] += 1.0;
                sum[1] += self.distance(sample);
                sum[2] += value(at);
            }
            let filled = sums.into_iter().filter(|sum| sum[0] > 0.0);
            filled
                .map(|[count, across, up]| [across / count, up / count])
                .collect::<Vec<_>>()
        };
        let observed = |at: usize| self.samples[at].time.as_secs_f64();
        let mut series = vec![line("observed", GREY, mean(&observed))];
        for (scored, colour) in self.compared() {
            let name = scored.candidate.name();
            series.push(line(name, colour, mean(&|at| scored.predicted_s[at])));
            // The same hue, lighter.
            let colour = if colour == BLUE { SKY } else { ORANGE };
            let error = |at: usize| (scored.predicted_s[at] - observed(at)).abs();
            series.push(line(&format!("{name}, off by"), colour, mean(&error)));
        }
        let words = Words {
            title: "Mean locate time over distance, observed and expected, and how far it is off",
            across: self.distance_words(),
            up: "mean time, s",
        };
        chart(words, &series)
    }

    fn mid_tape(&self) -> Option<String> {
        let crossing = |sample: &&Sample| Kind::MidCross.includes(sample, self.geometry);
        let place = |sample: &Sample| [self.distance(sample), sample.time.as_secs_f64()];
        let across: Vec<_> = self.samples.iter().filter(crossing).map(place).collect();
        let within = self
            .samples
            .iter()
            .filter(|sample| !crossing(sample))
            .map(place);
        let within: Vec<_> = within.collect();
        if across.is_empty() || within.is_empty() {
            return None;
        }
        let series = [
            dots("within a half", BLUE, within),
            dots("across mid-tape", VERMILLION, across),
        ];
        let words = Words {
            title: "Observed locate times within a half of the tape, and across its middle",
            across: self.distance_words(),
            up: "observed, s",
        };
        Some(chart(words, &series))
    }

    fn start_to_reverse(&self) -> Option<String> {
        let start = self.geometry.lpos_min + self.geometry.wrap_lpos() / AT_START;
        let chosen: Vec<(usize, &Sample)> = self
            .samples
            .iter()
            .enumerate()
            .filter(|(_, sample)| sample.from.lpos <= start && sample.to.wrap % 2 == 1)
            .collect();
        if chosen.is_empty() {
            return None;
        }
        let along = |sample: &Sample| {
            let lpos = f64::from(sample.to.lpos.saturating_sub(self.geometry.lpos_min));
            lpos * self.geometry.metres_per_lpos.unwrap_or(1.0)
        };
        let observed = chosen
            .iter()
            .map(|(_, sample)| [along(sample), sample.time.as_secs_f64()]);
        let mut series = vec![dots("observed", GREY, observed.collect())];
        for (scored, colour) in self.compared() {
            let places = chosen
                .iter()
                .map(|(at, sample)| [along(sample), scored.predicted_s[*at]]);
            series.push(dots(scored.candidate.name(), colour, places.collect()));
        }
        let words = Words {
            title: "From the beginning of tape to reverse wraps, on held-out records",
            across: match self.geometry.metres_per_lpos {
                Some(_) => "destination along the tape, m",
                None => "destination along the tape, LPOS",
            },
            up: "locate, s",
        };
        Some(chart(words, &series))
    }
}
