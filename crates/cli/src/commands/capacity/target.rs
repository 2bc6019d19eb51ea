//! What is to hold, and what may be varied, as a person writes it.

use std::fmt;
use tapewise_sim::PERCENTILES;

/// What is to be below which time, at which rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    pub metric: Metric,
    pub limit_s: f64,
    /// Requests an hour; without it, the scenario's.
    pub per_hour: Option<f64>,
}

/// What of the responses is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    Mean,
    Percentile(u8),
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

impl Target {
    /// # Errors
    /// In words.
    pub fn parse(text: &str) -> Result<Target, String> {
        let form = || format!("`{text}` is not of the form `p95 < 60 s at 200/h`");
        let (metric, rest) = text.split_once('<').ok_or_else(form)?;
        let (limit, rate) = match rest.split_once(" at ") {
            Some((limit, rate)) => (limit, Some(per_hour(rate)?)),
            None => (rest, None),
        };
        let limit_s = time_s(limit)?;
        if limit_s <= 0.0 {
            return Err(format!("{limit_s} s: a response takes longer than no time"));
        }
        Ok(Target {
            metric: metric_of(metric.trim())?,
            limit_s,
            per_hour: rate,
        })
    }
}

fn metric_of(name: &str) -> Result<Metric, String> {
    let percent = name
        .strip_prefix('p')
        .and_then(|digits| digits.parse().ok());
    match (name, percent) {
        ("mean", _) => Ok(Metric::Mean),
        ("median", _) => Ok(Metric::Percentile(50)),
        (_, Some(percent)) if PERCENTILES.contains(&percent) => Ok(Metric::Percentile(percent)),
        _ => {
            let there = PERCENTILES.map(|percent| format!("p{percent}")).join(", ");
            Err(format!(
                "no metric `{name}`; there are: mean, median, {there}"
            ))
        }
    }
}

/// A time in seconds: `60`, `60 s`, `5min`, `1.5 h`.
fn time_s(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let unit_s = match unit.trim() {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        other => {
            return Err(format!(
                "{text}: no unit `{other}`; there are ms, s, min, h, d"
            ));
        }
    };
    let number: f64 = (number.trim().parse()).map_err(|_| format!("`{text}` is not a time"))?;
    if number.is_finite() && number >= 0.0 {
        Ok(number * unit_s)
    } else {
        Err(format!("{text}: a time is 0 or more"))
    }
}

/// A rate: `200/h`, `3/min`, `5000/d`.
fn per_hour(text: &str) -> Result<f64, String> {
    let form = || format!("`{}` is not a rate, as 200/h", text.trim());
    let (number, unit) = text.trim().split_once('/').ok_or_else(form)?;
    let an_hour = match unit.trim() {
        "h" => 1.0,
        "min" => 60.0,
        "s" => 3600.0,
        "d" => 1.0 / 24.0,
        _ => return Err(form()),
    };
    let number: f64 = number.trim().parse().map_err(|_| form())?;
    if number.is_finite() && number > 0.0 {
        Ok(number * an_hour)
    } else {
        Err(form())
    }
}

/// Numbers to try, from the least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts(pub Vec<u32>);

/// More combinations than that of one number are a slip of the finger.
const MOST_COUNTS: u32 = 1000;

impl Counts {
    /// # Errors
    /// In words.
    pub fn parse(text: &str) -> Result<Counts, String> {
        let number = |text: &str| {
            let number = text.trim().parse::<u32>().ok();
            number
                .filter(|&number| number > 0)
                .ok_or_else(|| format!("`{text}` is not a number above 0; give 6, 1..12 or 2,4,8"))
        };
        let mut counts: Vec<u32> = match text.split_once("..") {
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last)?);
                if last < first || last - first >= MOST_COUNTS {
                    return Err(format!(
                        "{text}: from the lesser to the greater, {MOST_COUNTS} at most"
                    ));
                }
                (first..=last).collect()
            }
            None => text.split(',').map(number).collect::<Result<_, _>>()?,
        };
        counts.sort_unstable();
        counts.dedup();
        Ok(Counts(counts))
    }
}

/// A batch window in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window(pub f64);

impl Window {
    /// # Errors
    /// In words.
    pub fn parse(text: &str) -> Result<Window, String> {
        time_s(text).map(Window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_reads_as_it_is_said() {
        let target = Target::parse("p95 < 60 s at 200/h").expect("a target");
        assert_eq!(target.metric, Metric::Percentile(95));
        assert_eq!((target.limit_s, target.per_hour), (60.0, Some(200.0)));
        let short = Target::parse("mean<1.5h").expect("a target");
        assert_eq!((short.limit_s, short.per_hour), (5400.0, None));
        let daily = Target::parse("median < 5min at 4800/d").expect("a target");
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
            assert!(Target::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts_are_a_number_a_range_or_a_list() {
        let counts = |text| Counts::parse(text).map(|counts| counts.0);
        assert_eq!(counts("6"), Ok(vec![6]));
        assert_eq!(counts("1..3"), Ok(vec![1, 2, 3]));
        assert_eq!(counts("8,2,8"), Ok(vec![2, 8]));
        for text in ["0", "3..1", "", "x", "1..9999", "-1"] {
            assert!(counts(text).is_err(), "{text}");
        }
    }
}
