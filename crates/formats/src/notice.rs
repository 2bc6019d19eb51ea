//! What a reader ignored, assumed or found odd.

use std::collections::HashMap;
use std::fmt;

use crate::number::excerpt;
use serde::{Deserialize, Serialize};

/// One thing a reader ignored, assumed or found odd, for a person to read.
///
/// Nothing in this crate falls back silently: where input was not used as it stood, a notice says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// A short stable name of the kind of notice, for programs: `block-size-assumed`.
    pub code: String,
    /// The line of the input, counted from 1, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// One sentence.
    pub text: String,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

/// How many notices of one kind are kept; the rest are counted in a last one.
const KEPT_PER_CODE: u64 = 5;

/// Collects notices, keeping the first few of each kind so that a million odd rows stay readable.
#[derive(Debug, Default)]
pub struct Notices {
    kept: Vec<Notice>,
    // Kinds are few (a dozen), so a list is quicker than a map and keeps the order of appearance.
    counts: Vec<(&'static str, u64)>,
}

impl Notices {
    /// Makes an empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a notice; `text` is called only when the notice is kept.
    pub fn push(&mut self, code: &'static str, line: Option<u64>, text: impl FnOnce() -> String) {
        let count = match self.counts.iter_mut().find(|(c, _)| *c == code) {
            Some((_, count)) => count,
            None => {
                self.counts.push((code, 0));
                &mut self.counts.last_mut().expect("just pushed").1
            }
        };
        *count += 1;
        if *count <= KEPT_PER_CODE {
            self.kept.push(Notice {
                code: code.to_string(),
                line,
                text: text(),
            });
        }
    }

    /// Tells which ids of requests, each with the line where its request begins, were there before.
    pub fn repeated_ids<'i>(&mut self, ids: impl Iterator<Item = (&'i str, u64)>) {
        let mut first: HashMap<&str, u64> = HashMap::new();
        for (id, line) in ids {
            let before = *first.entry(id).or_insert(line);
            if before != line {
                self.push("repeated-id", Some(line), || {
                    let id = excerpt(id);
                    format!(
                        "the id \"{id}\" is in line {before} too; each line is a request of its own"
                    )
                });
            }
        }
    }

    /// Returns the notices in order, with one more for each kind that had more than were kept.
    pub fn finish(mut self) -> Vec<Notice> {
        for (code, count) in self.counts {
            if count > KEPT_PER_CODE {
                self.kept.push(Notice {
                    code: code.to_string(),
                    line: None,
                    text: format!("{} more like these ({code})", count - KEPT_PER_CODE),
                });
            }
        }
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_five_of_a_kind_are_kept_and_the_rest_counted() {
        let mut notices = Notices::new();
        for line in 1..=9 {
            notices.push("odd", Some(line), || format!("odd {line}"));
        }
        notices.push("other", None, || "other".to_string());
        let all = notices.finish();
        assert_eq!(all.len(), 7);
        assert_eq!(all[0].to_string(), "line 1: odd 1");
        assert_eq!(all[5].to_string(), "other");
        assert_eq!(all[6].to_string(), "4 more like these (odd)");
    }
}
