//! Quantities as people say them.

use jiff::SignedDuration;
use std::time::Duration;
use tapewise_model::Micros;
pub use tapewise_model::units::{bytes, count};
pub use tapewise_plot::{metres, tape_moved};

/// A part in per cent, without the sign: a small one keeps its digits.
pub fn percent(percent: f64) -> String {
    match percent {
        0.0 => "0".to_owned(),
        percent if percent < 0.01 => "under 0.01".to_owned(),
        percent if percent < 1.0 => format!("{percent:.2}"),
        percent => format!("{percent:.0}"),
    }
}

/// A time that a person waits: whole minutes, or hours and minutes.
pub fn about(time: Micros) -> String {
    let minutes = (time.as_secs_f64() / 60.0).round() as u64;
    match minutes {
        0 => "1 min".to_owned(),
        1..120 => format!("{minutes} min"),
        _ => format!("{} h {:02} min", minutes / 60, minutes % 60),
    }
}

/// Reads a time with its unit, as of an option: `90s`, `10m`, `1h30m`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let time = text.parse::<SignedDuration>().ok();
    time.and_then(|time| Duration::try_from(time).ok())
        .ok_or_else(|| "give a time with its unit, such as 90s, 10m or 1h30m".to_owned())
}

/// Reads a size, as of an option: `500GB`, `1.5TB`, `64MiB`, or bytes.
pub fn size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 9] = [
        ("KIB", 1 << 10),
        ("MIB", 1 << 20),
        ("GIB", 1 << 30),
        ("TIB", 1 << 40),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("B", 1),
    ];
    let upper = text.trim().to_ascii_uppercase();
    let unit = UNITS
        .iter()
        .find_map(|(unit, bytes)| Some((upper.strip_suffix(unit)?, *bytes)));
    let (number, bytes) = unit.unwrap_or((&upper, 1));
    match number.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok((number * bytes as f64) as u64),
        _ => Err("give a size with its unit, such as 500GB, 1.5TB or 64MiB".to_owned()),
    }
}

/// Processor time.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        seconds if seconds >= 1.0 => format!("{seconds:.1} s"),
        seconds if seconds >= 1e-3 => format!("{:.0} ms", seconds * 1e3),
        _ => "<1 ms".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_under_a_millisecond_is_none_to_speak_of() {
        assert_eq!(seconds(0.0004), "<1 ms");
        assert_eq!(seconds(0.25), "250 ms");
    }

    #[test]
    fn a_time_has_a_unit() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_secs(5400)));
        for text in ["90", "-5s", "soon", ""] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_size_has_a_unit_or_is_bytes() {
        assert_eq!(size("1.5TB"), Ok(1_500_000_000_000));
        assert_eq!(size("64 MiB"), Ok(64 << 20));
        assert_eq!(size("17"), Ok(17));
        for text in ["", "GB", "-1GB", "nan", "inf", "12 parsecs"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_wait_is_said_in_minutes() {
        assert_eq!(about(Micros(20_000_000)), "1 min");
        assert_eq!(about(Micros(41 * 60_000_000)), "41 min");
        assert_eq!(about(Micros(125 * 60_000_000)), "2 h 05 min");
    }
}
