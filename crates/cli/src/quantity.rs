//! Numbers as people write them on a command line: counts, sizes and times, each read in one way everywhere.

use jiff::SignedDuration;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Reads a whole number: `10`, `1_000_000`, `1e9`.
pub fn count<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let number = whole(text).ok_or("give a whole number, such as 10 or 1e6")?;
    T::try_from(number).map_err(|_| format!("{text} is too large here"))
}

/// Reads a whole number within limits.
pub fn count_in<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| within(text, whole(text), &range, "a whole number")
}

/// Reads a number that need not be whole, within limits.
pub fn number_in(
    range: RangeInclusive<f64>,
) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = number(text).filter(|number| range.contains(number));
        number.ok_or_else(|| {
            if range.end().is_finite() {
                format!("give a number from {} to {}", range.start(), range.end())
            } else {
                format!("give a number, {} or more", range.start())
            }
        })
    }
}

/// Reads a number above 0, a billion at most.
pub fn positive(text: &str) -> Result<f64, String> {
    let number = number(text).filter(|number| *number > 0.0 && *number <= 1e9);
    number.ok_or_else(|| "give a number above 0, at most 1e9".to_owned())
}

/// Reads bytes: `4096`, `512K` and `512KiB` (1024 bytes each), `2TB` (powers of 1000), `1.5 GB`, `1e9`.
pub fn size<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let bytes = bytes(text).ok_or(SIZE)?;
    T::try_from(bytes).map_err(|_| format!("{text} is too much here"))
}

/// Reads bytes within limits.
pub fn size_in<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| match bytes(text) {
        None => Err(SIZE.to_owned()),
        read => within(text, read, &range, "bytes"),
    }
}

/// Reads gigabytes: a bare number is GB, and any size will do.
pub fn gigabytes(text: &str) -> Result<f64, String> {
    let gigabytes = number(text).or_else(|| Some(bytes(text)? as f64 / 1e9));
    gigabytes
        .filter(|gigabytes| (0.0..=1e9).contains(gigabytes))
        .ok_or_else(|| {
            "give gigabytes, such as 100, or a size such as 2TB, at most 1e9 GB".to_owned()
        })
}

const SIZE: &str = "give a size, such as 524288, 512K, 512KiB or 2TB";

/// Reads a time with its unit: `5s`, `90s`, `10m`, `1h30m`, `250ms`.
pub fn duration(text: &str) -> Result<Duration, String> {
    time(text).ok_or_else(|| "give a time with its unit, such as 90s, 10m or 1h30m".to_owned())
}

/// Reads seconds above 0, a billion at most: a bare number, or a time with its unit.
pub fn seconds(text: &str) -> Result<f64, String> {
    let seconds = in_units(text, 1.0).filter(|seconds| *seconds > 0.0 && *seconds <= 1e9);
    seconds.ok_or_else(|| {
        "give seconds, or a time such as 90s or 5m, more than 0 and at most 1e9 s".to_owned()
    })
}

/// Reads hours above 0, a million at most: a bare number, or a time with its unit.
pub fn hours(text: &str) -> Result<f64, String> {
    let hours = in_units(text, 3600.0).filter(|hours| *hours > 0.0 && *hours <= 1e6);
    hours.ok_or_else(|| {
        "give hours, or a time such as 90m or 2h30m, more than 0 and at most 1e6 hours".to_owned()
    })
}

/// Reads whole hours, rounded up, within limits.
pub fn whole_hours(
    range: RangeInclusive<u32>,
) -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    move |text| whole_units(text, 3600.0, &range, "hours")
}

/// Reads whole minutes, rounded up, within limits.
pub fn whole_minutes(
    range: RangeInclusive<u32>,
) -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    move |text| whole_units(text, 60.0, &range, "minutes")
}

fn whole_units(
    text: &str,
    unit_s: f64,
    range: &RangeInclusive<u32>,
    what: &str,
) -> Result<u32, String> {
    let units = in_units(text, unit_s).map(f64::ceil);
    let units = units
        .filter(|units| *units >= f64::from(*range.start()) && *units <= f64::from(*range.end()));
    units.map(|units| units as u32).ok_or_else(|| {
        let (from, to) = (range.start(), range.end());
        format!("give {what} from {from} to {to}, or a time such as 90m")
    })
}

fn within<T: TryFrom<u64>>(
    text: &str,
    number: Option<u64>,
    range: &RangeInclusive<u64>,
    what: &str,
) -> Result<T, String> {
    let (from, to) = (*range.start(), *range.end());
    let number = number.filter(|number| range.contains(number));
    number
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| match (number, to) {
            (Some(_), _) => format!("{text} is too large here"),
            (None, u64::MAX) => format!("give {what}, {from} or more"),
            (None, _) => format!("give {what} from {from} to {to}"),
        })
}

/// Time in some unit: a bare number counts the unit.
fn in_units(text: &str, unit_s: f64) -> Option<f64> {
    number(text).or_else(|| Some(time(text)?.as_secs_f64() / unit_s))
}

fn time(text: &str) -> Option<Duration> {
    let time = text.trim().parse::<SignedDuration>().ok()?;
    Duration::try_from(time).ok()
}

/// A finite number, with an exponent or underscores if need be.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: f64 = text.replace('_', "").parse().ok()?;
    number.is_finite().then_some(number)
}

/// A whole number from 0 up. Digits are read as they stand; with a point or an exponent the number must be whole.
fn whole(text: &str) -> Option<u64> {
    let plain = text.trim().replace('_', "");
    if let Ok(number) = plain.parse() {
        return Some(number);
    }
    let number = number(&plain)?;
    const EXACT: f64 = 9_007_199_254_740_992.0;
    ((0.0..=EXACT).contains(&number) && number.fract() == 0.0).then_some(number as u64)
}

/// A number of bytes.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Some(bytes) = whole(text) {
        return Some(bytes);
    }
    let unit = text.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
    let (value, unit) = (unit, &text[unit.len()..]);
    let power = |letter: char| "KMGTPE".find(letter.to_ascii_uppercase());
    let mut signs = unit.chars();
    let first = signs.next()?;
    let factor = match (power(first), signs.as_str()) {
        (None, "") if first.eq_ignore_ascii_case(&'b') => 1,
        (Some(power), "" | "i" | "iB" | "ib") => 1024u64.pow(power as u32 + 1),
        (Some(power), "B" | "b") => 1000u64.pow(power as u32 + 1),
        _ => return None,
    };
    if let Some(whole) = whole(value) {
        return whole.checked_mul(factor);
    }
    let bytes = number(value)? * factor as f64;
    (bytes >= 0.0 && bytes < u64::MAX as f64).then_some(bytes.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        for (text, bytes) in [
            ("4096", 4096),
            ("512K", 524_288),
            ("512k", 524_288),
            ("512KiB", 524_288),
            ("512 KiB", 524_288),
            ("512kB", 512_000),
            ("2TB", 2_000_000_000_000),
            ("2T", 2 << 40),
            ("1.5GB", 1_500_000_000),
            ("1e9", 1_000_000_000),
            ("100B", 100),
            ("1_000", 1000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(size::<u64>(text), Ok(bytes), "{text}");
        }
        for text in ["", "K", "5X", "-1K", "1.5", "512KBB", "20E", "nan", "1e40"] {
            assert!(size::<u64>(text).is_err(), "{text}");
        }
        assert!(size_in::<u32>(1..=100)("101").is_err());
        assert_eq!(gigabytes("0.5"), Ok(0.5));
        assert_eq!(gigabytes("2TB"), Ok(2000.0));
    }

    #[test]
    fn times_are_read_with_and_without_units() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5400)));
        for text in ["90", "-5s", "soon", ""] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!(seconds("5"), Ok(5.0));
        assert_eq!(seconds("1m30s"), Ok(90.0));
        assert_eq!(hours("90m"), Ok(1.5));
        assert_eq!(whole_minutes(1..=600)("61s"), Ok(2));
        assert_eq!(whole_hours(1..=10)("3"), Ok(3));
        for text in ["0", "-1", "inf", "x", "1e300"] {
            assert!(seconds(text).is_err() && hours(text).is_err(), "{text}");
        }
    }

    #[test]
    fn counts_are_whole() {
        assert_eq!(count::<u64>("1e9"), Ok(1_000_000_000));
        assert_eq!(count::<u16>("12"), Ok(12));
        for text in ["70000", "1.5", "-1", "", "x", "1e30"] {
            assert!(count::<u16>(text).is_err(), "{text}");
        }
        let most = count_in::<u32>(1..=8);
        assert_eq!(most("9").unwrap_err(), "give a whole number from 1 to 8");
        assert_eq!(
            number_in(0.0..=f64::INFINITY)("-1").unwrap_err(),
            "give a number, 0 or more"
        );
        assert_eq!(positive("0.5"), Ok(0.5));
    }
}
