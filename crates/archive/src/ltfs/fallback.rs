//! Whether a volume is read by its newest index, or by an older one because the newest cannot be read.

use super::doubt::Doubt;
use std::fmt;

/// That a volume is read by an index that is older than the newest one, or may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// The generation of the index that it is read by.
    pub read: u64,
    /// The newest generation that was written; none where nothing that can be read says it.
    pub newest: Option<u64>,
}

impl fmt::Display for Fallback {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read = self.read;
        match self.newest {
            Some(newest) => write!(
                out,
                "read by the index of generation {read}; the newest was generation {newest}, which cannot be read: \
                 files that were written or changed since are missing or old"
            ),
            None => write!(
                out,
                "read by the index of generation {read}; an index that cannot be read may be newer, and its \
                 generation is unknown: files may be missing or old"
            ),
        }
    }
}

/// Whether an index of this generation is the newest one, by what the cartridge's memory says of this volume
/// and by the indexes that could not be read.
pub(super) fn fallback(read: u64, in_memory: Option<u64>, doubts: &[Doubt]) -> Option<Fallback> {
    let mut newest = in_memory;
    let mut is_unknown = false;
    for doubt in doubts {
        match doubt {
            Doubt::BadIndex {
                generation: Some(generation),
                ..
            } => newest = newest.max(Some(*generation)),
            Doubt::BadIndex { .. } | Doubt::Unread { .. } => is_unknown = true,
            _ => {}
        }
    }
    match newest {
        Some(newest) if newest > read => Some(Fallback {
            read,
            newest: Some(newest),
        }),
        // The memory is written after every index: it would know of a newer one.
        _ if is_unknown && in_memory.is_none() => Some(Fallback { read, newest: None }),
        _ => None,
    }
}

/// The generation that the beginning of an index says.
pub(super) fn generation_in(block: &[u8]) -> Option<u64> {
    const TAG: &[u8] = b"<generationnumber>";
    let head = &block[..block.len().min(64 << 10)];
    let at = head.windows(TAG.len()).position(|window| window == TAG)?;
    let digits = head[at + TAG.len()..].iter().take(20);
    let digits: Vec<u8> = digits.copied().take_while(u8::is_ascii_digit).collect();
    std::str::from_utf8(&digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bad(generation: Option<u64>) -> Doubt {
        Doubt::BadIndex {
            partition: 1,
            block: 11,
            generation,
            why: "medium error".to_owned(),
        }
    }

    #[test]
    fn an_older_index_is_one_that_something_readable_or_nothing_at_all_says_to_be_older() {
        let newer = |newest| Some(Fallback { read: 2, newest });
        for (in_memory, doubts, expected) in [
            (None, vec![], None),
            (Some(2), vec![], None),
            (Some(3), vec![], newer(Some(3))),
            (None, vec![bad(Some(3))], newer(Some(3))),
            (None, vec![bad(Some(2))], None),
            (None, vec![bad(None)], newer(None)),
            (Some(2), vec![bad(None)], None),
            (Some(4), vec![bad(None), bad(Some(3))], newer(Some(4))),
        ] {
            assert_eq!(
                fallback(2, in_memory, &doubts),
                expected,
                "{in_memory:?} {doubts:?}"
            );
        }
    }

    #[test]
    fn the_generation_is_read_from_the_beginning_of_an_index() {
        let text = b"<?xml?><ltfsindex><generationnumber>12</generationnumber>";
        assert_eq!(generation_in(text), Some(12));
        assert_eq!(generation_in(b"<ltfsindex>"), None);
        assert_eq!(
            generation_in(b"<generationnumber></generationnumber>"),
            None
        );
    }
}
