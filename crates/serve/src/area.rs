//! A directory of the archive and all below it, compared by whole components.

use std::fmt;

/// A directory: its components, none for the whole archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Area(Vec<Vec<u8>>);

impl Area {
    /// A directory as a settings file writes it: `/cms/data`. None where it has no root, or climbs.
    pub fn of(path: &str) -> Option<Area> {
        Area::of_parts(path, |part| part.as_bytes().to_vec())
    }

    /// A directory as a token writes it: each component with the escapes of a URL. A slash or a dot that was
    /// escaped does not become one of the path.
    pub fn of_escaped(path: &str) -> Option<Area> {
        Area::of_parts(path, |part| {
            percent_encoding::percent_decode_str(part).collect()
        })
    }

    fn of_parts(path: &str, part: impl Fn(&str) -> Vec<u8>) -> Option<Area> {
        let inner = path.strip_prefix('/')?;
        let parts = inner.split('/').filter(|part| !part.is_empty()).map(part);
        let is_name = |part: &Vec<u8>| {
            !part.contains(&b'/') && !part.contains(&0) && part != b"." && part != b".."
        };
        let parts: Vec<Vec<u8>> = parts.collect();
        parts.iter().all(is_name).then_some(Area(parts))
    }

    /// A directory that is written from this one.
    pub fn join(&self, inner: &Area) -> Area {
        Area([self.0.as_slice(), inner.0.as_slice()].concat())
    }

    /// Whether a path of the archive, which has no root and no dots, is this directory or below it.
    pub fn covers(&self, path: &[u8]) -> bool {
        let mut parts = path.split(|&byte| byte == b'/');
        self.0
            .iter()
            .all(|mine| parts.next() == Some(mine.as_slice()))
    }
}

impl fmt::Display for Area {
    /// As a settings file writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("/");
        }
        let mut parts = self.0.iter();
        parts.try_for_each(|part| write!(f, "/{}", String::from_utf8_lossy(part)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_components_are_compared() {
        let area = Area::of_escaped("/foo/bar").expect("an area");
        for inside in ["foo/bar", "foo/bar/x", "foo/bar/x/y"] {
            assert!(area.covers(inside.as_bytes()), "{inside}");
        }
        for outside in ["foo", "foo/bargain", "foo/ba", "x/foo/bar", "foo%2Fbar", ""] {
            assert!(!area.covers(outside.as_bytes()), "{outside}");
        }
        assert!(Area::of("/").expect("all").covers(b"foo"));
        assert_eq!(Area::of("/foo//bar/"), Some(area));
    }

    #[test]
    fn escapes_are_those_of_components_and_nothing_climbs() {
        let spaced = Area::of_escaped("/a%20b").expect("an area");
        assert!(spaced.covers(b"a b/x") && !spaced.covers(b"a%20b/x"));
        for wrong in [
            "",
            "foo",
            "/foo/..",
            "/./foo",
            "/foo%2Fbar",
            "/%2e%2e/x",
            "/a%00",
        ] {
            assert_eq!(Area::of_escaped(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_area_within_another_cannot_leave_it() {
        let cms = Area::of("/cms").expect("an area");
        let data = cms.join(&Area::of_escaped("/data").expect("an area"));
        assert!(data.covers(b"cms/data/1") && !data.covers(b"data/1"));
        assert!(!data.covers(b"cms/other"));
    }
}
