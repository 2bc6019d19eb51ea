//! Drift: all times of a drive that grow or shrink over a log, evenly or all at once.
//!
//! A drive that wears, or has been given other firmware, takes a few per cent more or less for the same moves. A fit that
//! does not know that averages over months, and is wrong today. So how much longer than expected moves took is followed
//! over the log; where that changes, times are fitted as they would be at the end of it.

use crate::robust::{GIVEN_UP, standard_error};
use crate::sample::Sample;
use tapewise_model::Micros;

/// How the times of all moves changed over the log, in the order of its records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// How much longer moves take at the end than at the beginning, as a share.
    pub share: f64,
    /// The standard error of that share.
    pub std_error: f64,
    /// The first record, counted from 0, after times changed all at once; none where they changed evenly.
    pub from_record: Option<usize>,
}

/// Parts of the log whose times are compared.
const PARTS: usize = 20;
/// Parts on either side of a change.
const LEAST_PARTS: usize = 2;
/// A drift is told if it is more than this share, and this many of its standard errors.
const LEAST_SHARE: f64 = 0.01;
const LEAST_ERRORS: f64 = 5.0;

impl Drift {
    /// What the time of a record is in parts of what it would be at the end of the log of `count` records.
    pub fn factor(&self, record: usize, count: usize) -> f64 {
        let passed = match self.from_record {
            Some(from) => f64::from(u8::from(record >= from)),
            None => record as f64 / (count.max(2) - 1) as f64,
        };
        (1.0 + self.share * passed) / (1.0 + self.share)
    }
}

/// The records with their times as at the end of the log.
pub(crate) fn still(samples: &[Sample], drift: Option<Drift>) -> Vec<Sample> {
    let count = samples.len();
    let factor = |record: usize| drift.map_or(1.0, |drift| drift.factor(record, count));
    let still = samples.iter().enumerate().map(|(record, sample)| {
        let time = Micros::from_secs_f64(sample.time.as_secs_f64() / factor(record));
        Sample { time, ..*sample }
    });
    still.collect()
}

/// The drift of a log of which these times were expected, with what was known of its drift before.
pub(crate) fn over(samples: &[Sample], predicted_s: &[f64], known: Option<Drift>) -> Option<Drift> {
    let count = samples.len();
    let factor = |record: usize| known.map_or(1.0, |drift| drift.factor(record, count));
    let expected: Vec<f64> = (0..count)
        .map(|record| predicted_s[record] / factor(record))
        .collect();
    let off = |record: usize| samples[record].time.as_secs_f64() - predicted_s[record];
    let errors: Vec<f64> = (0..count).map(off).collect();
    let far = GIVEN_UP * standard_error(&errors);
    // By record: what it adds to the products of time and expected time, and to the squares of that.
    let sums = |record: usize| {
        let weight = (1.0 - (errors[record] / far).powi(2)).max(0.0).powi(2);
        let time = samples[record].time.as_secs_f64();
        [
            weight * time * expected[record],
            weight * expected[record].powi(2),
        ]
    };
    let ratio = |records: std::ops::Range<usize>| {
        let [times, squares] = records
            .map(sums)
            .fold([0.0; 2], |all, each| [all[0] + each[0], all[1] + each[1]]);
        if squares > 0.0 { times / squares } else { 1.0 }
    };
    let ratios: Vec<f64> = (0..PARTS)
        .map(|part| ratio(part * count / PARTS..(part + 1) * count / PARTS))
        .collect();
    let even = evenly(&ratios);
    let (at_once, part) = at_once(&ratios);
    let found = if at_once.1 < even.1 { at_once } else { even };
    let [share, std_error] = found.0;
    if share.abs() < LEAST_SHARE
        || share.abs() < LEAST_ERRORS * std_error
        || found.1 > unchanged(&ratios)
    {
        return None;
    }
    let from_record = (at_once.1 < even.1).then(|| {
        // Between the middles of the parts beside it, where both sides are met best.
        let near = (part - 1) * count / PARTS..=((part + 1) * count / PARTS).min(count - 1);
        let prefix = |end: usize| {
            (0..end)
                .map(sums)
                .fold([0.0; 2], |all, each| [all[0] + each[0], all[1] + each[1]])
        };
        let (begin, whole) = (prefix(*near.start()), prefix(count));
        let mut before = begin;
        let explained = near.map(|record| {
            let here = before;
            let sum = sums(record);
            before = [before[0] + sum[0], before[1] + sum[1]];
            let after = [whole[0] - here[0], whole[1] - here[1]];
            (
                here[0] * here[0] / here[1].max(1e-9) + after[0] * after[0] / after[1].max(1e-9),
                record,
            )
        });
        explained
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(0, |(_, record)| record)
    });
    Some(Drift {
        share,
        std_error,
        from_record,
    })
}

/// A change with its standard error, and what it costs to believe in it: the less the better.
type Change = ([f64; 2], f64);

fn price(squares: f64, numbers: f64) -> f64 {
    let count = PARTS as f64;
    count * (squares / count).max(1e-12).ln() + numbers * count.ln()
}

fn mean(ratios: &[f64]) -> f64 {
    ratios.iter().sum::<f64>() / ratios.len().max(1) as f64
}

fn squares(ratios: &[f64], expected: impl Fn(usize) -> f64) -> f64 {
    ratios
        .iter()
        .enumerate()
        .map(|(part, ratio)| (ratio - expected(part)).powi(2))
        .sum()
}

fn unchanged(ratios: &[f64]) -> f64 {
    let mean = mean(ratios);
    price(squares(ratios, |_| mean), 1.0)
}

/// A straight line over the parts.
fn evenly(ratios: &[f64]) -> Change {
    let count = ratios.len() as f64;
    let along = |part: usize| (part as f64 + 0.5) / count - 0.5;
    let spread: f64 = (0..ratios.len()).map(|part| along(part).powi(2)).sum();
    let slope = ratios
        .iter()
        .enumerate()
        .map(|(part, ratio)| along(part) * ratio)
        .sum::<f64>()
        / spread;
    let mean = mean(ratios);
    let left = squares(ratios, |part| mean + slope * along(part));
    let begin = mean - slope / 2.0;
    let std_error = (left / (count - 2.0) / spread).sqrt();
    ([slope / begin, std_error / begin], price(left, 2.0))
}

/// Two levels, and the part with which the second one begins.
fn at_once(ratios: &[f64]) -> (Change, usize) {
    let count = ratios.len() as f64;
    let levels = |part: usize| [mean(&ratios[..part]), mean(&ratios[part..])];
    let left = |part: usize| {
        let levels = levels(part);
        squares(ratios, |at| levels[usize::from(at >= part)])
    };
    let parts = LEAST_PARTS..=ratios.len() - LEAST_PARTS;
    let part = parts
        .min_by(|&a, &b| left(a).total_cmp(&left(b)))
        .unwrap_or(LEAST_PARTS);
    let [before, after] = levels(part);
    let rates = 1.0 / part as f64 + 1.0 / (count - part as f64);
    let std_error = (left(part) / (count - 3.0) * rates).sqrt();
    (
        (
            [after / before - 1.0, std_error / before],
            price(left(part), 3.0),
        ),
        part,
    )
}
