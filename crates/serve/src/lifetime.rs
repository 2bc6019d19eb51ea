//! How long a staged file stays in the cache.

use jiff::SpanRelativeTo;
use jiff::fmt::temporal::SpanParser;

/// Two days, where the client says nothing.
pub const USUAL_NS: i64 = 2 * 86_400_000_000_000;

/// A year: whoever asks for longer gets this.
pub const LONGEST_NS: i64 = 366 * 86_400_000_000_000;

/// Nanoseconds of a duration as ISO 8601 writes it, such as `PT1H` or `P7D`.
///
/// # Errors
/// Words for the client where it is no duration, or a negative one.
pub fn of(text: &str) -> Result<i64, String> {
    let wrong = || {
        let text: String = text.chars().take(40).collect();
        format!(
            "diskLifetime \"{text}\" is not a duration of weeks, days, hours, minutes and seconds as ISO 8601 writes it, \
             such as \"PT1H\" or \"P7D\""
        )
    };
    // Not `text.parse()`, which also takes "2 days".
    let span = SpanParser::new().parse_span(text).map_err(|_| wrong())?;
    let length = span
        .to_duration(SpanRelativeTo::days_are_24_hours())
        .map_err(|_| wrong())?;
    if length.is_negative() {
        return Err(wrong());
    }
    let ns = i64::try_from(length.as_nanos()).unwrap_or(LONGEST_NS);
    Ok(ns.min(LONGEST_NS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_bounded_and_refused_with_an_example() {
        assert_eq!(of("PT1H"), Ok(3_600_000_000_000));
        assert_eq!(of("P7D"), Ok(7 * 86_400_000_000_000));
        assert_eq!(of("P3000D"), Ok(LONGEST_NS));
        for wrong in ["", "1 parsec", "2 days", "1h", "-PT1H", "P1M"] {
            let said = of(wrong).expect_err(wrong);
            assert!(said.contains("PT1H"), "{said}");
        }
    }
}
