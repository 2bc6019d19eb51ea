//! What part of a file a client wants: one range of bytes, as RFC 9110 (section 14) has it.

use std::ops::Range;

/// What a header `Range` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All of it: there is no such header, or one that a server may pass over, such as several ranges.
    All,
    /// These bytes.
    Part(Range<u64>),
    /// The file has no byte in this range.
    Nothing,
}

/// What a header asks for of a file of `bytes` bytes.
pub(crate) fn wanted(header: Option<&str>, bytes: u64) -> Wanted {
    let range = header.and_then(|header| header.trim().strip_prefix("bytes="));
    let Some((first, last)) = range.and_then(|range| range.split_once('-')) else {
        return Wanted::All;
    };
    // More digits than a number has are more bytes than any file has.
    let number = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        is_number.then(|| digits.parse().unwrap_or(u64::MAX))
    };
    let part = match (number(first), number(last)) {
        (Some(first), None) if last.is_empty() => first..bytes,
        (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(bytes),
        (None, Some(count)) if first.is_empty() => bytes.saturating_sub(count)..bytes,
        _ => return Wanted::All,
    };
    if part.is_empty() {
        Wanted::Nothing
    } else {
        Wanted::Part(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_a_part_and_what_is_no_range_is_all() {
        let of = |header| wanted(Some(header), 100);
        for (header, part) in [
            ("bytes=0-0", 0..1),
            ("bytes=40-", 40..100),
            ("bytes=40-59", 40..60),
            ("bytes=40-99999999999999999999", 40..100),
            ("bytes=-30", 70..100),
            ("bytes=-300", 0..100),
        ] {
            assert_eq!(of(header), Wanted::Part(part), "{header}");
        }
        for nothing in ["bytes=100-", "bytes=100-200", "bytes=-0"] {
            assert_eq!(of(nothing), Wanted::Nothing, "{nothing}");
        }
        for all in [
            "bytes=0-1,5-6",
            "bytes=9-3",
            "bytes=-",
            "bytes=x-3",
            "bytes=+1-3",
            "lines=1-2",
            "",
        ] {
            assert_eq!(of(all), Wanted::All, "{all}");
        }
        assert_eq!(wanted(None, 100), Wanted::All);
        assert_eq!(wanted(Some("bytes=0-"), 0), Wanted::Nothing);
    }
}
