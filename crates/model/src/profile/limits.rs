//! Values that no drive has, among them those with which integer arithmetic on times would overflow.

use super::ProfileError;
use toml::{Table, Value};

/// Eleven days: no tape takes that long to get anywhere.
const MAX_S: f64 = 1e6;
/// A terabyte a second.
const MAX_MB_S: f64 = 1e6;
/// An exabyte on one cartridge.
const MAX_GB: f64 = 1e9;
/// Of whatever else: a thousand million million.
const MAX: f64 = 1e15;
/// Most sections of a wrap; the DLT4000 has 14.
const MAX_SECTIONS: f64 = 1_000.0;
/// Longest tape of the four-region model in LPOS: it adds up three lengths in 32 bits.
const MAX_FOUR_REGION_LPOS: f64 = 5e8;

/// What no cartridge and no drive is without: a value of 0 stands for one that is not known.
const ABOVE_ZERO: [&str; 11] = [
    "capacity_gb",
    "length_m",
    "usable_m",
    "wraps",
    "sections",
    "wrap_gb",
    "data_sets_per_wrap",
    "data_set_kb",
    "partitions",
    "position_areas",
    "rate_mb_s",
];

/// What makes a limit: the length of the tape as the locate-time models see it.
struct Tape {
    lpos: f64,
    sections: f64,
    section_segments: f64,
    four_region: bool,
}

/// Refuses a profile with a value beyond its limit.
pub(super) fn check(file: &str, table: &Table) -> Result<(), ProfileError> {
    let number = |section: &str, name: &str| {
        let value = table.get(section)?.get(name)?.get("value")?;
        numbers(value).first().copied()
    };
    let section_segments = number("locate", "section_segments").unwrap_or(1.0).max(1.0);
    let sections = number("cartridge", "sections").unwrap_or(1.0);
    let last = number("locate", "last_section_segments").unwrap_or(0.0);
    let model = table.get("locate").and_then(|locate| locate.get("model"));
    let lpos_max = number("cartridge", "lpos_max").unwrap_or(0.0);
    let tape = Tape {
        lpos: lpos_max.max(sections * section_segments + last),
        sections,
        section_segments,
        four_region: model.and_then(Value::as_str) == Some("four-region"),
    };
    for (section, entry) in table {
        for (name, value) in entry.as_table().into_iter().flatten() {
            let Some(value) = value.get("value") else {
                continue;
            };
            let (limit, unit) = tape.limit(name);
            let digits = if limit < 1e3 { 3 } else { 0 };
            for number in numbers(value) {
                let reason = if number.abs() > limit {
                    format!("is {number:?}, but no drive has more than {limit:.digits$}{unit}")
                } else if ABOVE_ZERO.contains(&name.as_str()) && number <= 0.0 {
                    format!("is {number:?}, but must be above 0; leave it out if it is not known")
                } else {
                    continue;
                };
                return Err(ProfileError::Value {
                    file: file.to_owned(),
                    field: format!("{section}.{name}"),
                    reason,
                });
            }
        }
    }
    Ok(())
}

impl Tape {
    /// The largest value of a field, and its unit in words.
    fn limit(&self, name: &str) -> (f64, &'static str) {
        match name {
            "per_lpos_s" | "travel_per_lpos_s" | "read_per_lpos_s" => {
                (MAX_S / self.lpos.max(1.0), " s for each LPOS on this tape")
            }
            // LPOS on helical tape counts KB.
            "short_s_per_gb" => (MAX_S / (self.lpos / 1e6).max(1.0), " s/GB on this tape"),
            "read_s_per_section" | "scan_s_per_section" => {
                let sections = (self.lpos / self.section_segments).max(1.0);
                (MAX_S / sections, " s a section on this tape")
            }
            "forward_lpos" | "reverse_lpos" | "landing_spread_lpos" => {
                (self.lpos, " LPOS on this tape")
            }
            "offset_tracks" => (1.0, " track"),
            "sections" => (MAX_SECTIONS, " sections"),
            "section_segments" | "last_section_segments" => {
                let most = f64::from(i32::MAX) / (self.sections + 1.0);
                (most.floor(), " segments")
            }
            "lpos_max" if self.four_region => (MAX_FOUR_REGION_LPOS, " LPOS with this model"),
            _ if name.ends_with("_s_per_track") => (MAX_S, " s a track"),
            _ if name.ends_with("_s") && !name.ends_with("_mb_s") => (MAX_S, " s"),
            _ if name.ends_with("_ms") => (MAX_S * 1e3, " ms"),
            _ if name.ends_with("_mb_s") => (MAX_MB_S, " MB/s"),
            _ if name.ends_with("_gb") => (MAX_GB, " GB"),
            _ => (MAX, ""),
        }
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Integer(number) => vec![*number as f64],
        Value::Float(number) => vec![*number],
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::BUILTIN;

    fn checked(text: &str) -> Result<(), ProfileError> {
        check("my.toml", &toml::from_str(text).unwrap())
    }

    #[test]
    fn every_profile_that_comes_with_tapewise_is_within_the_limits() {
        for (name, text) in BUILTIN {
            assert!(checked(text).is_ok(), "{name}");
        }
    }

    #[test]
    fn values_that_would_overflow_times_are_refused_by_name() {
        for (name, value, huge) in [
            ("lto8", "0.0006192,", "1e3,"),
            ("lto8", "4.2389745", "1e300"),
            ("dlt4000-jm98", "0.04", "1e9"),
            ("dlt4000-jm98", "value = 100000,", "value = 2000000000,"),
            ("dlt4000", "value = 704,", "value = 4000000000,"),
            ("dlt4000", "value = 15.5,", "value = 1e30,"),
            ("dat-4mm", "value = 436,", "value = 1e30,"),
            ("dat-4mm", "value = 110,", "value = 1e30,"),
            ("dat-4mm", "value = 0.325,", "value = 1e300,"),
            ("dat-4mm", "value = 1.615,", "value = 1e300,"),
            ("dat-4mm", "value = 1500,", "value = 1e300,"),
        ] {
            let (_, text) = BUILTIN.iter().find(|(known, _)| *known == name).unwrap();
            assert!(text.contains(value), "{name}: {value}");
            let error = checked(&text.replace(value, huge)).unwrap_err().to_string();
            assert!(error.starts_with("my.toml: "), "{error}");
            assert!(error.contains("no drive has more than"), "{error}");
        }
    }

    #[test]
    fn a_cartridge_without_length_or_capacity_is_refused() {
        for name in ABOVE_ZERO {
            for value in ["0", "0.0", "-1.5"] {
                let text = format!("[cartridge]\n{name} = {{ value = {value}, source = \"x\" }}");
                let error = checked(&text).unwrap_err().to_string();
                assert!(error.contains(&format!("cartridge.{name}")), "{error}");
                assert!(error.contains("must be above 0"), "{error}");
            }
        }
    }
}
