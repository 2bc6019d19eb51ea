//! When a request has to be done: seconds from now, or a point in time (RFC 3339).

use crate::number::excerpt;
use jiff::civil;
use std::fmt;

/// When a request has to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Deadline {
    /// Seconds from now, zero or more.
    Seconds(f64),
    /// A point in time.
    At(Timestamp),
}

/// A point in time that was written as RFC 3339 and checked: `2026-11-21T04:01:25Z`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timestamp {
    text: String,
    unix_us: i64,
}

/// Why a text is no deadline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeadlineError {
    /// Neither a number of seconds nor a time.
    #[error(
        "\"{text}\" is not a deadline: give seconds from now (3600), or a time with its zone (2026-11-21T04:01:25Z)"
    )]
    NotADeadline {
        /// The text, shortened.
        text: String,
    },
    /// A negative or not finite number of seconds.
    #[error("\"{text}\" is not a deadline: seconds from now must be zero or more")]
    BadSeconds {
        /// The text, shortened.
        text: String,
    },
}

impl Deadline {
    /// Reads seconds from now, or an RFC 3339 time.
    ///
    /// # Errors
    /// When the text is neither, or the seconds are negative or not finite.
    pub fn parse(text: &str) -> Result<Self, DeadlineError> {
        let text = text.trim_ascii();
        if let Some(at) = Timestamp::parse(text) {
            return Ok(Deadline::At(at));
        }
        let numeric = text
            .bytes()
            .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
        match text.parse::<f64>() {
            Ok(seconds) if numeric && seconds.is_finite() && seconds >= 0.0 => {
                Ok(Deadline::Seconds(seconds))
            }
            Ok(_) => Err(DeadlineError::BadSeconds {
                text: excerpt(text),
            }),
            Err(_) => Err(DeadlineError::NotADeadline {
                text: excerpt(text),
            }),
        }
    }

    /// The seconds left at `now_unix_us` (microseconds since 1970); negative when the deadline has passed.
    pub fn seconds_from(&self, now_unix_us: i64) -> f64 {
        match self {
            Deadline::Seconds(seconds) => *seconds,
            Deadline::At(at) => (at.unix_us as f64 - now_unix_us as f64) / 1e6,
        }
    }
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Deadline::Seconds(seconds) => write!(f, "{seconds}"),
            Deadline::At(at) => f.write_str(&at.text),
        }
    }
}

impl Timestamp {
    /// Reads an RFC 3339 time with its zone; `None` when the text is not one.
    ///
    /// A leap second (`:60`) counts as the second after it. Digits beyond microseconds are dropped from
    /// [`Timestamp::unix_us`], not from the text.
    pub fn parse(text: &str) -> Option<Self> {
        Some(Self {
            text: text.to_string(),
            unix_us: unix_us(text)?,
        })
    }

    /// The text as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Microseconds since 1970-01-01T00:00:00Z.
    pub fn unix_us(&self) -> i64 {
        self.unix_us
    }
}

/// Microseconds since 1970 of an RFC 3339 time with its zone; `None` when the text is not one.
pub(crate) fn unix_us(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() < 20 || !text.is_ascii() {
        return None;
    }
    let number = |from: usize, to: usize| -> Option<i64> {
        let part = &bytes[from..to];
        part.iter().all(u8::is_ascii_digit).then(|| {
            part.iter()
                .fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'))
        })
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let separators = bytes[4] == b'-'
        && bytes[7] == b'-'
        && matches!(bytes[10], b'T' | b't' | b' ')
        && bytes[13] == b':'
        && bytes[16] == b':';
    if !separators || second > 60 {
        return None;
    }
    // The calendar is the library's; a leap second is counted below, because it knows none.
    let minute_began = civil::DateTime::new(
        i16::try_from(year).ok()?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
        i8::try_from(hour).ok()?,
        i8::try_from(minute).ok()?,
        0,
        0,
    );
    // Its instants end before the last day of 9999 does; its calendar does not.
    let since_1970 = minute_began
        .ok()?
        .duration_since(civil::date(1970, 1, 1).at(0, 0, 0, 0));
    let (fraction_us, zone) = parse_fraction(&bytes[19..])?;
    let seconds = since_1970.as_secs() + second - parse_zone(zone)?;
    Some(seconds * 1_000_000 + fraction_us)
}

/// Reads `.123` as microseconds, and returns what follows.
fn parse_fraction(rest: &[u8]) -> Option<(i64, &[u8])> {
    let Some(digits) = rest.strip_prefix(b".") else {
        return Some((0, rest));
    };
    let count = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    if count == 0 {
        return None;
    }
    let us = (0..6).fold(0, |sum, i| {
        let digit = if i < count { digits[i] - b'0' } else { 0 };
        sum * 10 + i64::from(digit)
    });
    Some((us, &digits[count..]))
}

/// Reads `Z` or `+hh:mm` as seconds east of UTC.
fn parse_zone(zone: &[u8]) -> Option<i64> {
    if zone == b"Z" || zone == b"z" {
        return Some(0);
    }
    let &[sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] = zone else {
        return None;
    };
    if ![h1, h2, m1, m2].iter().all(u8::is_ascii_digit) {
        return None;
    }
    let hours = i64::from(h1 - b'0') * 10 + i64::from(h2 - b'0');
    let minutes = i64::from(m1 - b'0') * 10 + i64::from(m2 - b'0');
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = hours * 3600 + minutes * 60;
    Some(if sign == b'-' { -seconds } else { seconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_instants() {
        let us = |text| Timestamp::parse(text).map(|t| t.unix_us());
        assert_eq!(us("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(us("2000-02-29T12:00:00+01:30"), Some(951_820_200_000_000));
        assert_eq!(
            us("2026-11-21T04:01:25.992648535Z"),
            Some(1_795_233_685_992_648)
        );
        assert_eq!(us("1969-12-31T23:59:59.5Z"), Some(-500_000));
        let last = us("9999-12-31T23:59:59-23:59");
        assert_eq!(last, Some((253_402_300_799 + 86_340) * 1_000_000));
    }

    #[test]
    fn what_is_no_time() {
        for text in [
            "",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-21T24:00:00Z",
            "2026-11-21T04:01:25",
            "2026-11-21T04:01:25.Z",
            "2026-11-21T04:01:25+1:00",
            "2026-11-21T04:01:25+24:00",
            "2026/11/21T04:01:25Z",
            "2026-11-21T04:01:25Z and more",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn seconds_must_be_zero_or_more() {
        assert_eq!(Deadline::parse("90.5"), Ok(Deadline::Seconds(90.5)));
        for text in ["-1", "1e999"] {
            assert!(matches!(
                Deadline::parse(text),
                Err(DeadlineError::BadSeconds { .. })
            ));
        }
        for text in ["tomorrow", "", "90s"] {
            assert!(matches!(
                Deadline::parse(text),
                Err(DeadlineError::NotADeadline { .. })
            ));
        }
        assert!(Deadline::parse("inf").is_err());
        assert!(Deadline::parse("NaN").is_err());
    }

    #[test]
    fn time_left_is_counted_from_now() {
        let at = Deadline::parse("1970-01-01T00:01:00Z").unwrap();
        assert_eq!(at.seconds_from(0), 60.0);
        assert_eq!(at.seconds_from(90_000_000), -30.0);
        assert_eq!(Deadline::Seconds(7.0).seconds_from(1), 7.0);
    }
}
