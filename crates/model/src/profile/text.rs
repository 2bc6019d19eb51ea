//! Profiles in words: units from names, places in the file, names of what is an enum.

use super::{Kind, Status};

/// Endings of field names with their unit; the longer of two that fit stands first.
const UNITS: [(&str, &str); 16] = [
    ("_s_per_section", "s/section"),
    ("_s_per_track", "s/track"),
    ("_s_per_mb", "s/MB"),
    ("_s_per_gb", "s/GB"),
    ("_per_lpos_s", "s/LPOS"),
    ("_mb_s", "MB/s"),
    ("_sd_segments", "segments"),
    ("_segments", "segments"),
    ("_tracks", "tracks"),
    ("_gb", "GB"),
    ("_mb", "MB"),
    ("_kb", "KB"),
    ("_ms", "ms"),
    ("_s", "s"),
    ("_m", "m"),
    ("_error", "share"),
];

/// The unit of a field, from the ending of its name; empty for counts, words and pure numbers.
pub fn unit(field: &str) -> &'static str {
    let name = field.rsplit('.').next().unwrap_or(field);
    if name.starts_with("lpos_") {
        return "LPOS";
    }
    // An underscore in front lets a name that is all ending (`per_lpos_s`) fit too.
    let name = format!("_{name}");
    let fits = UNITS.iter().find(|(ending, _)| name.ends_with(ending));
    fits.map_or("", |(_, unit)| unit)
}

/// The line, counted from 1, on which a field or a section of a profile's text begins.
///
/// Finds a key under its `[section]` header, which is how profiles are written; a file that uses
/// other forms of TOML gets no line.
fn line_of(text: &str, section: &str, name: Option<&str>) -> Option<usize> {
    let mut inside = section.is_empty();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            inside = header.split(']').next().map(str::trim) == Some(section);
            if inside && name.is_none() {
                return Some(at + 1);
            }
        } else if inside && name.is_some() && line.split('=').next().map(str::trim) == name {
            return Some(at + 1);
        }
    }
    None
}

/// The same for a dotted path such as `cartridge.wraps`, or a section alone.
pub fn line_of_field(text: &str, field: &str) -> Option<usize> {
    match field.split_once('.') {
        Some((section, name)) => line_of(text, section, Some(name)),
        None => line_of(text, field, None).or_else(|| line_of(text, "", Some(field))),
    }
}

impl Kind {
    /// `drive` or `library`, as the file spells it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Drive => "drive",
            Kind::Library => "library",
        }
    }
}

impl Status {
    /// The status as the file spells it.
    pub fn name(self) -> &'static str {
        match self {
            Status::Verified => "verified",
            Status::PublishedModel => "published-model",
            Status::Emulated => "emulated",
            Status::Estimate => "estimate",
            Status::FactsOnly => "facts-only",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_from_the_endings_of_names() {
        for (field, expected) in [
            ("cartridge.capacity_gb", "GB"),
            ("cartridge.lpos_max", "LPOS"),
            ("cartridge.usable_m", "m"),
            ("cartridge.wraps", ""),
            ("cartridge.data_sets_per_wrap", ""),
            ("cartridge.nominal_error", "share"),
            ("transfer.rate_mb_s", "MB/s"),
            ("transfer.read_s_per_mb", "s/MB"),
            ("transfer.read_delay_ms", "ms"),
            ("handling.mount_s", "s"),
            ("locate.per_lpos_s", "s/LPOS"),
            ("locate.ahead_s_per_track", "s/track"),
            ("locate.scan_s_per_section", "s/section"),
            ("locate.short_s_per_gb", "s/GB"),
            ("locate.offset_tracks", "tracks"),
            ("locate.track_sd_segments", "segments"),
            ("life.motion_m", "m"),
        ] {
            assert_eq!(unit(field), expected, "{field}");
        }
    }

    #[test]
    fn fields_are_found_in_their_own_section() {
        let text = "name = \"x\"\n\n[seek]\nstartup_s = { value = 1, source = \"A\" }\n\n[locate]\n\
                    model = \"helical-linear\"\nstartup_s = { value = 2, source = \"A\" }\n";
        assert_eq!(line_of_field(text, "seek.startup_s"), Some(4));
        assert_eq!(line_of_field(text, "locate.startup_s"), Some(8));
        assert_eq!(line_of_field(text, "locate"), Some(6));
        assert_eq!(line_of_field(text, "name"), Some(1));
        assert_eq!(line_of_field(text, "seek.full_s"), None);
    }
}
