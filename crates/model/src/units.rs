//! Quantities as people say them.

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

/// A time in seconds, or any number of that size: to a tenth below a thousand.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0..0.095 => format!("{value:.2}"),
        0.095..999.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A share as a percentage, to a tenth.
pub fn share(value: f64) -> String {
    format!("{:.1} %", value * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_keep_three_digits() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(2_390_000_000_000), "2.39 TB");
        assert_eq!(bytes(416_000_000_000), "416 GB");
    }

    #[test]
    fn one_thing_is_no_plural() {
        assert_eq!(count(1, "request"), "1 request");
        assert_eq!(count(0, "request"), "0 requests");
    }
}
