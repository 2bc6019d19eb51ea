//! Whole numbers as people write them in files, read strictly.

use std::fmt;

/// Why a text is not a whole number from 0 to 2^64 - 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberFault {
    /// Nothing but blanks.
    Empty,
    /// A minus sign in front.
    Negative,
    /// More than 18446744073709551615.
    TooLarge,
    /// Anything else: letters, a decimal point, thousands separators.
    NotWhole,
}

impl fmt::Display for NumberFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NumberFault::Empty => "a whole number (it is empty)",
            NumberFault::Negative => "a whole number that is not negative",
            NumberFault::TooLarge => "a whole number up to 18446744073709551615",
            NumberFault::NotWhole => "a whole number written with digits only",
        })
    }
}

/// Reads digits as a number; blanks around them are allowed, signs and separators are not.
///
/// `u64::from_str` accepts a plus sign; a plus in a block number is more likely a damaged file.
pub(crate) fn parse_u64(text: &str) -> Result<u64, NumberFault> {
    let text = text.trim_ascii();
    if text.is_empty() {
        return Err(NumberFault::Empty);
    }
    if let Some(rest) = text.strip_prefix('-') {
        let digits = !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
        return Err(if digits {
            NumberFault::Negative
        } else {
            NumberFault::NotWhole
        });
    }
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(NumberFault::NotWhole);
    }
    text.parse().map_err(|_| NumberFault::TooLarge)
}

/// Shortens a text for an error message: a megabyte of garbage helps nobody.
pub(crate) fn excerpt(text: &str) -> String {
    const KEPT: usize = 60;
    let mut out = String::new();
    for character in text.chars().take(KEPT) {
        // Quotes stay as they are: they are common in names, and the messages are for people.
        match character {
            '"' | '\'' => out.push(character),
            other => out.extend(other.escape_debug()),
        }
    }
    if text.chars().nth(KEPT).is_some() {
        out.push('…');
    }
    out
}

/// Shortens bytes for an error message, with what is not UTF-8 replaced.
pub(crate) fn excerpt_bytes(bytes: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(&bytes[..bytes.len().min(300)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_are_a_number() {
        assert_eq!(parse_u64(" 42 "), Ok(42));
        assert_eq!(parse_u64("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(
            parse_u64("18446744073709551616"),
            Err(NumberFault::TooLarge)
        );
        assert_eq!(parse_u64("-1"), Err(NumberFault::Negative));
        assert_eq!(parse_u64(""), Err(NumberFault::Empty));
        for text in ["+1", "1.0", "1e3", "1,000", "0x10", "--1", "-", "١"] {
            assert_eq!(parse_u64(text), Err(NumberFault::NotWhole), "{text}");
        }
    }

    #[test]
    fn excerpts_are_short_and_printable() {
        assert_eq!(excerpt("a\n'b\u{202e}"), "a\\n'b\\u{202e}");
        assert_eq!(excerpt(&"x".repeat(1000)).chars().count(), 61);
        assert_eq!(excerpt_bytes(b"a\xff"), "a\u{fffd}");
    }
}
