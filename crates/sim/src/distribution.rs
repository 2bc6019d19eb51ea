//! Distributions of times and sizes, as scenarios state them, sampled by inverse transforms.
//!
//! A distribution is a number (always the same), or a table: `{ mean = 11, cv = 0.5 }` (a
//! coefficient of variation of 0 is a constant, 1 exponential, less an Erlang mixture, more a
//! hyperexponential of two phases with balanced means: H. C. Tijms, Stochastic Models, appendix B),
//! `{ least = 3, most = 7 }` (uniform), or `{ values = [...] }` (each as likely). `shift` is added to
//! each value (`mean` stays that of the whole): `{ shift = 20, mean = 43, cv = 0.7 }` is a shifted Erlang of Gniewek et al. 1999.

use serde::Deserialize;
use serde::de::{self, MapAccess, Visitor};
use std::fmt;
use tapewise_model::{Micros, Random};

/// A distribution of numbers that are not negative; their unit is that of its key.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Raw")]
pub struct Distribution {
    shift: f64,
    shape: Shape,
    /// The time that is always drawn, in seconds: a simulation asks for it a million times a second.
    always: Option<Micros>,
}

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Constant(f64),
    Exponential {
        mean: f64,
    },
    /// Below a coefficient of variation of [`NEARLY_CONSTANT`]: cut off at zero, which is more than
    /// ten standard deviations away.
    Normal {
        mean: f64,
        deviation: f64,
    },
    /// `phases - 1` phases with probability `short`, else `phases`.
    Erlang {
        phases: u32,
        short: f64,
        phase_mean: f64,
    },
    Hyperexponential {
        first: f64,
        means: [f64; 2],
    },
    Uniform {
        least: f64,
        most: f64,
    },
    Values(Vec<f64>),
}

/// An Erlang distribution of less variation would have more than a hundred phases.
const NEARLY_CONSTANT: f64 = 0.1;

/// Variation beyond which two phases would be a rarity and a giant.
const MOST_VARIATION: f64 = 100.0;

impl Distribution {
    /// Always the same.
    pub fn constant(value: f64) -> Distribution {
        Distribution::new(0.0, Shape::Constant(value))
    }

    fn new(shift: f64, shape: Shape) -> Distribution {
        let always = match shape {
            Shape::Constant(value) => Some(Micros::from_secs_f64(shift + value)),
            _ => None,
        };
        Distribution {
            shift,
            shape,
            always,
        }
    }

    /// That mean and coefficient of variation.
    pub fn with_variation(mean: f64, cv: f64) -> Distribution {
        let shape = match cv * cv {
            square if square <= 0.0 => Shape::Constant(mean),
            1.0 => Shape::Exponential { mean },
            square if square > 1.0 => {
                let first = 0.5 * (1.0 + ((square - 1.0) / (square + 1.0)).sqrt());
                let means = [mean / (2.0 * first), mean / (2.0 * (1.0 - first))];
                Shape::Hyperexponential { first, means }
            }
            _ if cv < NEARLY_CONSTANT => Shape::Normal {
                mean,
                deviation: mean * cv,
            },
            square => {
                let k = (1.0 / square).ceil();
                let root = (k * (1.0 + square) - k * k * square).max(0.0).sqrt();
                let short = ((k * square - root) / (1.0 + square)).clamp(0.0, 1.0);
                Shape::Erlang {
                    phases: k as u32,
                    short,
                    phase_mean: mean / (k - short),
                }
            }
        };
        Distribution::new(0.0, shape)
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.shift
            + match &self.shape {
                Shape::Constant(value) => *value,
                Shape::Exponential { mean } | Shape::Normal { mean, .. } => *mean,
                Shape::Erlang {
                    phases,
                    short,
                    phase_mean,
                } => (f64::from(*phases) - short) * phase_mean,
                Shape::Hyperexponential { first, means } => {
                    first * means[0] + (1.0 - first) * means[1]
                }
                Shape::Uniform { least, most } => (least + most) / 2.0,
                Shape::Values(values) => values.iter().sum::<f64>() / values.len() as f64,
            }
    }

    /// The least value that can be drawn.
    pub fn least(&self) -> f64 {
        self.shift
            + match &self.shape {
                Shape::Constant(value) => *value,
                Shape::Uniform { least, .. } => *least,
                Shape::Values(values) => values.iter().copied().fold(f64::INFINITY, f64::min),
                Shape::Exponential { .. }
                | Shape::Normal { .. }
                | Shape::Erlang { .. }
                | Shape::Hyperexponential { .. } => 0.0,
            }
    }

    /// A value.
    #[inline]
    pub fn sample(&self, random: &mut Random) -> f64 {
        let exponential = |mean: f64, random: &mut Random| -mean * random.unit().ln();
        self.shift
            + match &self.shape {
                Shape::Constant(value) => *value,
                Shape::Exponential { mean } => exponential(*mean, random),
                Shape::Normal { mean, deviation } => (mean + deviation * random.normal()).max(0.0),
                Shape::Erlang {
                    phases,
                    short,
                    phase_mean,
                } => {
                    let fewer = u32::from(random.unit() < *short);
                    (fewer..*phases)
                        .map(|_| exponential(*phase_mean, random))
                        .sum()
                }
                Shape::Hyperexponential { first, means } => {
                    let phase = usize::from(random.unit() >= *first);
                    exponential(means[phase], random)
                }
                Shape::Uniform { least, most } => least + (most - least) * random.unit(),
                Shape::Values(values) => values[random.below(values.len() as u64) as usize],
            }
    }

    /// A value in seconds, as a time.
    #[inline]
    pub fn time(&self, random: &mut Random) -> Micros {
        match self.always {
            Some(time) => time,
            None => Micros::from_secs_f64(self.sample(random)),
        }
    }
}

/// What a way takes: drawn from a distribution, or longer the farther it is.
///
/// `{ near = 5, far = 21 }` is a straight line from the nearest place to the farthest: a search from
/// the beginning of tape, or the way of a robot to its slots.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Raw")]
pub enum Way {
    /// Whatever the distance.
    Any(Distribution),
    /// A straight line in the distance.
    Line {
        /// At no distance.
        near: f64,
        /// At the greatest distance.
        far: f64,
    },
    /// Along a serpentine tape that is loaded in its middle.
    FromMiddle(FromMiddle),
}

/// A serpentine tape that is loaded in its middle: which place it is among all that is written says little of how far
/// it is.
///
/// Wraps go from the middle to an end and back, first on one half of the tape, then on the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FromMiddle {
    /// Seconds of any search, however short its way.
    pub start_s: f64,
    /// Speed of the tape in a search, in metres a second.
    pub speed_m_s: f64,
    /// Length of the tape in metres.
    pub tape_m: f64,
    /// Wraps, each half a tape long; an even number.
    pub wraps: u32,
}

impl FromMiddle {
    /// How far a place is from the middle, in metres, negative on the second half of the tape; the place is given as a
    /// share of all that is written.
    pub fn metres(&self, place: f64) -> f64 {
        let written = place * f64::from(self.wraps);
        let wrap = written.floor().min(f64::from(self.wraps - 1));
        let done = written - wrap;
        let is_outward = wrap % 2.0 == 0.0;
        let share = if is_outward { done } else { 1.0 - done };
        let is_second_half = wrap >= f64::from(self.wraps / 2);
        let side = if is_second_half { -1.0 } else { 1.0 };
        side * share * self.tape_m / 2.0
    }

    fn seconds(&self, from: f64, to: f64) -> f64 {
        self.start_s + (self.metres(to) - self.metres(from)).abs() / self.speed_m_s
    }

    /// From the middle to places that are equally likely.
    fn mean(&self) -> f64 {
        self.start_s + self.tape_m / 4.0 / self.speed_m_s
    }
}

impl Way {
    /// The time in seconds for a distance, as a share of the greatest one.
    #[inline]
    pub fn time(&self, distance: f64, random: &mut Random) -> Micros {
        match self {
            Way::Any(distribution) => distribution.time(random),
            Way::Line { near, far } => Micros::from_secs_f64(near + (far - near) * distance),
            Way::FromMiddle(tape) => Micros::from_secs_f64(tape.seconds(0.0, distance)),
        }
    }

    /// The time in seconds to search from one place of a tape to another, both as shares of all that is written.
    #[inline]
    pub fn search(&self, from: f64, to: f64, random: &mut Random) -> Micros {
        match self {
            Way::FromMiddle(tape) => Micros::from_secs_f64(tape.seconds(from, to)),
            _ => self.time((to - from).abs(), random),
        }
    }

    /// The mean in seconds of a search from one place of a tape to another.
    pub fn search_mean(&self, from: f64, to: f64) -> f64 {
        match self {
            Way::FromMiddle(tape) => tape.seconds(from, to),
            _ => self.mean((to - from).abs()),
        }
    }

    /// The least time in seconds over any distance.
    pub fn least(&self) -> f64 {
        match self {
            Way::Any(distribution) => distribution.least(),
            Way::Line { near, far } => near.min(*far),
            Way::FromMiddle(tape) => tape.start_s,
        }
    }

    /// The mean in seconds over distances of this mean.
    pub fn mean(&self, mean_distance: f64) -> f64 {
        match self {
            Way::Any(distribution) => distribution.mean(),
            Way::Line { near, far } => near + (far - near) * mean_distance,
            Way::FromMiddle(tape) => tape.mean(),
        }
    }
}

/// A number or a table, as TOML has it.
struct Raw(Table);

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    mean: Option<f64>,
    cv: Option<f64>,
    least: Option<f64>,
    most: Option<f64>,
    values: Option<Vec<f64>>,
    shift: Option<f64>,
    near: Option<f64>,
    far: Option<f64>,
    start_s: Option<f64>,
    speed_m_s: Option<f64>,
    tape_m: Option<f64>,
    wraps: Option<u32>,
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_any(NumberOrTable)
    }
}

/// A visitor of its own: an untagged enum would swallow the reason why a table was refused.
struct NumberOrTable;

impl<'de> Visitor<'de> for NumberOrTable {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number, or a table of `mean` and `cv`, `least` and `most`, or `values`")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw(Table {
            mean: Some(value),
            cv: Some(0.0),
            ..Table::default()
        }))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Raw, E> {
        self.visit_f64(value as f64)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Raw, E> {
        self.visit_f64(value as f64)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Raw, A::Error> {
        Table::deserialize(de::value::MapAccessDeserializer::new(map)).map(Raw)
    }
}

/// Three years in seconds, or a hundred terabytes in MB; longer times are counted nowhere.
const MOST: f64 = 1e8;

impl Table {
    /// Refuses what cannot be a time or a size.
    fn check(&self) -> Result<(), String> {
        let named = [
            ("mean", self.mean),
            ("cv", self.cv),
            ("least", self.least),
            ("most", self.most),
            ("shift", self.shift),
            ("near", self.near),
            ("far", self.far),
            ("start_s", self.start_s),
            ("speed_m_s", self.speed_m_s),
            ("tape_m", self.tape_m),
        ];
        let listed = self.values.iter().flatten().map(|&v| ("values", Some(v)));
        for (key, value) in named.into_iter().chain(listed) {
            if value.is_some_and(|value| !value.is_finite() || value < 0.0) {
                let value = value.unwrap_or_default();
                return Err(format!("`{key}` is {value:?}; it must be 0 or more"));
            }
            // Variation has a limit of its own.
            if let Some(value) = value.filter(|value| *value > MOST && key != "cv") {
                return Err(format!("`{key}` is {value:?}; at most {MOST}"));
            }
        }
        Ok(())
    }
}

impl Table {
    /// Whether any key of a search along a tape is given.
    fn is_tape(&self) -> bool {
        self.start_s.is_some()
            || self.speed_m_s.is_some()
            || self.tape_m.is_some()
            || self.wraps.is_some()
    }

    fn middle(&self) -> Result<FromMiddle, String> {
        self.check()?;
        let Table {
            start_s: Some(start_s),
            speed_m_s: Some(speed_m_s),
            tape_m: Some(tape_m),
            wraps: Some(wraps),
            mean: None,
            cv: None,
            least: None,
            most: None,
            values: None,
            shift: None,
            near: None,
            far: None,
        } = *self
        else {
            return Err(
                "`start_s`, `speed_m_s`, `tape_m` and `wraps` go together, with nothing else"
                    .to_owned(),
            );
        };
        if speed_m_s == 0.0 {
            return Err("`speed_m_s` is 0; it must be more".to_owned());
        }
        if wraps < 2 || !wraps.is_multiple_of(2) {
            return Err(format!(
                "`wraps` is {wraps}; it must be an even number: each half of the tape has as many"
            ));
        }
        Ok(FromMiddle {
            start_s,
            speed_m_s,
            tape_m,
            wraps,
        })
    }
}

impl TryFrom<Raw> for Distribution {
    type Error = String;

    fn try_from(Raw(table): Raw) -> Result<Distribution, String> {
        table.check()?;
        if table.is_tape() {
            return Err("a search along a tape is no distribution".to_owned());
        }
        let shift = table.shift.unwrap_or(0.0);
        let distribution = match table {
            Table {
                mean: Some(mean),
                cv,
                least: None,
                most: None,
                values: None,
                near: None,
                far: None,
                ..
            } => {
                let cv = cv.ok_or(
                    "`mean` needs `cv`, its coefficient of variation: 0 is constant, 1 exponential",
                )?;
                if cv > MOST_VARIATION {
                    return Err(format!("`cv` is {cv}; at most {MOST_VARIATION}"));
                }
                if mean < shift {
                    return Err(format!(
                        "`mean` is {mean}, which is less than `shift`, {shift}"
                    ));
                }
                // The mean is that of the whole, the variation that of what comes after the shift.
                Distribution::with_variation(mean - shift, cv)
            }
            Table {
                mean: None,
                cv: None,
                least: Some(least),
                most: Some(most),
                values: None,
                near: None,
                far: None,
                ..
            } => {
                if least > most {
                    return Err(format!("`least` is {least}, more than `most`, {most}"));
                }
                Distribution::new(0.0, Shape::Uniform { least, most })
            }
            Table {
                mean: None,
                cv: None,
                least: None,
                most: None,
                values: Some(values),
                near: None,
                far: None,
                ..
            } if !values.is_empty() => Distribution::new(0.0, Shape::Values(values)),
            _ => {
                return Err(
                    "give `mean` and `cv`, or `least` and `most`, or `values` (at least one)"
                        .to_owned(),
                );
            }
        };
        Ok(Distribution::new(shift, distribution.shape))
    }
}

impl TryFrom<Raw> for Way {
    type Error = String;

    fn try_from(raw: Raw) -> Result<Way, String> {
        if raw.0.is_tape() {
            return raw.0.middle().map(Way::FromMiddle);
        }
        match raw.0 {
            Table {
                near: Some(near),
                far: Some(far),
                mean: None,
                cv: None,
                least: None,
                most: None,
                values: None,
                shift: None,
                ..
            } => {
                raw.0.check()?;
                Ok(Way::Line { near, far })
            }
            Table {
                near: None,
                far: None,
                ..
            } => Distribution::try_from(raw).map(Way::Any),
            _ => Err("`near` and `far` go together, with nothing else".to_owned()),
        }
    }
}
