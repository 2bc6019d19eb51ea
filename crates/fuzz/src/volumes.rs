//! What stands on cartridges, and lists of sums.

use tapewise_archive::deliver::InnerPath;
use tapewise_archive::ltfs::label::Coherency;
use tapewise_archive::sums::read_sums;
use tapewise_archive::volume::{Found, Label, scan_blocks};

pub(crate) fn coherency(bytes: &[u8]) {
    let _ = Coherency::parse(bytes);
}

pub(crate) fn inner_path(bytes: &[u8]) {
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
