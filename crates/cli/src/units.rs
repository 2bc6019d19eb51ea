//! Quantities as people say them.

use tapewise_model::Micros;
pub use tapewise_plot::{metres, tape_moved};

/// Bytes in decimal units, three digits.
pub fn bytes(bytes: u64) -> String {
    let (value, unit) = match bytes {
        0..1_000 => return format!("{bytes} B"),
        1_000..1_000_000 => (bytes as f64 / 1e3, "kB"),
        1_000_000..1_000_000_000 => (bytes as f64 / 1e6, "MB"),
        1_000_000_000..1_000_000_000_000 => (bytes as f64 / 1e9, "GB"),
        _ => (bytes as f64 / 1e12, "TB"),
    };
    match value {
        value if value >= 100.0 => format!("{value:.0} {unit}"),
        value if value >= 10.0 => format!("{value:.1} {unit}"),
        value => format!("{value:.2} {unit}"),
    }
}

/// A number of things: "1 request", "2 requests".
pub fn count(number: usize, thing: &str) -> String {
    let ending = match (number, thing.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{number} {thing}{ending}")
}

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
    fn quantities_keep_three_digits() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(2_390_000_000_000), "2.39 TB");
        assert_eq!(bytes(416_000_000_000), "416 GB");
        assert_eq!(metres(62_123.0), "62 km");
        assert_eq!(metres(5_120.0), "5.1 km");
        assert_eq!(seconds(0.0004), "<1 ms");
    }

    #[test]
    fn a_wait_is_said_in_minutes() {
        assert_eq!(about(Micros(20_000_000)), "1 min");
        assert_eq!(about(Micros(41 * 60_000_000)), "41 min");
        assert_eq!(about(Micros(125 * 60_000_000)), "2 h 05 min");
    }

    #[test]
    fn one_thing_is_no_plural() {
        assert_eq!(count(1, "request"), "1 request");
        assert_eq!(count(0, "request"), "0 requests");
    }
}
