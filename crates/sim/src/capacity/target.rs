//! What is to hold, as a person writes it: `p95 < 60 s at 200/h`.

use crate::scenario::check::MOST_PER_HOUR;
use crate::scenario::{Arrivals, Scenario};
use crate::study::PERCENTILES;
use std::fmt;
use std::str::FromStr;

/// What is to be below which time, at which rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// What of the responses.
    pub metric: Metric,
    /// The time that it is to be below.
    pub limit_s: f64,
    /// Requests an hour; without it, the scenario's.
    pub per_hour: Option<f64>,
}

/// What of the responses is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Their mean.
    Mean,
    /// One of the [`PERCENTILES`].
    Percentile(u8),
}

/// Why a text is no target.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// It has no `<`.
    #[error("`{text}` is not of the form `p95 < 60 s at 200/h`")]
    Form {
        /// The text.
        text: String,
    },
    /// There is no such metric.
    #[error("no metric `{name}`; there are: mean, median, {}", percentiles())]
    Metric {
        /// What was asked for.
        name: String,
    },
    /// The limit is zero.
    #[error("{limit_s} s: a response takes longer than no time")]
    NoTime {
        /// The limit.
        limit_s: f64,
    },
    /// There is no such unit of time.
    #[error("{text}: no unit `{unit}`; give ms, s, min, h or d, such as 90s")]
    Unit {
        /// The time.
        text: String,
        /// Its unit.
        unit: String,
    },
    /// No number stands before the unit.
    #[error("`{text}` is not a time, such as 90 s or 5min")]
    Time {
        /// The time.
        text: String,
    },
    /// A time below zero, or none that can be.
    #[error("{text}: a time is 0 or more")]
    Negative {
        /// The time.
        text: String,
    },
    /// Not a rate.
    #[error("`{text}` is not a rate, as 200/h, at most {MOST_PER_HOUR} an hour")]
    Rate {
        /// The rate.
        text: String,
    },
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Metric::Mean => f.write_str("mean"),
            Metric::Percentile(50) => f.write_str("median"),
            Metric::Percentile(percent) => write!(f, "p{percent}"),
        }
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Target, TargetError> {
        let form = || TargetError::Form {
            text: text.to_owned(),
        };
        let (metric, rest) = text.split_once('<').ok_or_else(form)?;
        let (limit, rate) = match rest.split_once(" at ") {
            Some((limit, rate)) => (limit, Some(per_hour(rate)?)),
            None => (rest, None),
        };
        let limit_s = time_s(limit)?;
        if limit_s <= 0.0 {
            return Err(TargetError::NoTime { limit_s });
        }
        Ok(Target {
            metric: metric_of(metric.trim())?,
            limit_s,
            per_hour: rate,
        })
    }
}

impl Target {
    /// Gives a scenario the target's rate, if it has one. Returns whether the scenario has a single rate to set.
    pub(super) fn set_rate(&self, scenario: &mut Scenario) -> bool {
        let Some(rate) = self.per_hour else {
            return true;
        };
        match &mut scenario.arrivals {
            Arrivals::Poisson { per_hour }
            | Arrivals::Renewal { per_hour, .. }
            | Arrivals::Daily { per_hour, .. } => *per_hour = rate,
            Arrivals::Bursts { .. } | Arrivals::Closed { .. } | Arrivals::Trace { .. } => {
                return false;
            }
        }
        true
    }
}

fn percentiles() -> String {
    PERCENTILES.map(|percent| format!("p{percent}")).join(", ")
}

fn metric_of(name: &str) -> Result<Metric, TargetError> {
    let percent = name
        .strip_prefix('p')
        .and_then(|digits| digits.parse().ok());
    match (name, percent) {
        ("mean", _) => Ok(Metric::Mean),
        ("median", _) => Ok(Metric::Percentile(50)),
        (_, Some(percent)) if PERCENTILES.contains(&percent) => Ok(Metric::Percentile(percent)),
        _ => Err(TargetError::Metric {
            name: name.to_owned(),
        }),
    }
}

/// A time in seconds: `60`, `60 s`, `10m`, `5min`, `1.5 h`.
///
/// # Errors
/// [`TargetError`] for what is no time of 0 or more.
pub fn time_s(text: &str) -> Result<f64, TargetError> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let text = || text.to_owned();
    let unit_s = match unit.trim() {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        unit => {
            let unit = unit.to_owned();
            return Err(TargetError::Unit { text: text(), unit });
        }
    };
    let number: f64 = (number.trim().parse()).map_err(|_| TargetError::Time { text: text() })?;
    if number.is_finite() && number >= 0.0 {
        Ok(number * unit_s)
    } else {
        Err(TargetError::Negative { text: text() })
    }
}

/// A rate: `200/h`, `3/min`, `5000/d`.
fn per_hour(text: &str) -> Result<f64, TargetError> {
    let text = text.trim();
    let form = || TargetError::Rate {
        text: text.to_owned(),
    };
    let (number, unit) = text.split_once('/').ok_or_else(form)?;
    let an_hour = match unit.trim() {
        "h" => 1.0,
        "min" => 60.0,
        "s" => 3600.0,
        "d" => 1.0 / 24.0,
        _ => return Err(form()),
    };
    let number: f64 = number.trim().parse().map_err(|_| form())?;
    let rate = number * an_hour;
    if rate > 0.0 && rate <= MOST_PER_HOUR {
        Ok(rate)
    } else {
        Err(form())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_reads_as_it_is_said() {
        let target = Target::from_str("p95 < 60 s at 200/h").expect("a target");
        assert_eq!(target.metric, Metric::Percentile(95));
        assert_eq!((target.limit_s, target.per_hour), (60.0, Some(200.0)));
        let short = Target::from_str("mean<1.5h").expect("a target");
        assert_eq!((short.limit_s, short.per_hour), (5400.0, None));
        let daily = Target::from_str("median < 5min at 4800/d").expect("a target");
        assert_eq!(
            (daily.metric.to_string(), daily.per_hour),
            ("median".to_owned(), Some(200.0))
        );
    }

    #[test]
    fn a_target_that_says_nothing_is_refused() {
        for text in [
            "p95",
            "p96 < 60 s",
            "p95 < x",
            "p95 < 0 s",
            "p95 < 60 s at 200",
            "p95 < -1 s",
        ] {
            assert!(Target::from_str(text).is_err(), "{text}");
        }
    }
}
