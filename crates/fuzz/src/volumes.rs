//! What stands on cartridges, and lists of sums.

use tapewise_archive::deliver::{InnerPath, shown};
use tapewise_archive::ltfs::label::Coherency;
use tapewise_archive::ltfs::wanted::ByteRange;
use tapewise_archive::settings::ArchiveSettings;
use tapewise_archive::sums::read_sums;
use tapewise_archive::volume::{Found, Label, scan_blocks};
use tapewise_formats::misleading::misleads;

/// Settings that are read are written as they were read.
pub(crate) fn archive_settings(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(settings) = toml::from_str::<ArchiveSettings>(text) else {
        return;
    };
    if settings.check().is_ok() {
        let written = toml::to_string(&settings).expect("settings that were read");
        let again: ArchiveSettings = toml::from_str(&written).expect("what was written");
        assert_eq!(again, settings);
    }
}

pub(crate) fn byte_range(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(range) = text.parse::<ByteRange>()
    {
        assert_eq!(range.to_string().parse(), Ok(range));
    }
}

pub(crate) fn coherency(bytes: &[u8]) {
    let _ = Coherency::parse(bytes);
}

pub(crate) fn inner_path(bytes: &[u8]) {
    assert!(
        !shown(bytes).contains(misleads),
        "a name that moves the cursor"
    );
    if let Ok(path) = InnerPath::new(bytes) {
        let parts = path.as_bytes().split(|&byte| byte == b'/');
        assert!(
            parts
                .into_iter()
                .all(|part| part != b".." && !part.is_empty())
        );
    }
}

pub(crate) fn label(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(label) = Label::parse(text)
    {
        assert_eq!(
            Label::parse(&label.text()).expect("what was written"),
            label
        );
    }
}

/// A list under names that say what it is, and one that does not.
pub(crate) fn sums(bytes: &[u8]) {
    for name in ["clips", "clips.md5", "manifest-sha256.txt"] {
        let _ = read_sums(bytes, name);
    }
}

/// Archives in blocks of an odd length and of a large one: what is found must not depend on them.
pub(crate) fn tar(bytes: &[u8]) {
    let members = |block_bytes: usize| {
        let mut found = Vec::new();
        scan_blocks(bytes.chunks(block_bytes), &mut |each| {
            if let Found::Member(located) = each {
                found.push((located.member, located.kind, located.target));
            }
        });
        found
    };
    assert_eq!(members(777), members(1 << 16));
}
