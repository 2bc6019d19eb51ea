//! What brings an older catalogue up to date.

use std::path::PathBuf;

/// What opening a catalogue to write would do to its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgrade {
    /// The schema that it has.
    pub found: u32,
    /// For each version above it up to this program's: what it brings, in a sentence.
    pub brings: Vec<(u32, String)>,
    /// The copy of the catalogue as it is, which is made first.
    pub copy: PathBuf,
}

impl Upgrade {
    /// What these migrations, each with the version that it leads to, bring to a catalogue.
    pub(super) fn new(
        found: u32,
        migrations: impl IntoIterator<Item = (u32, &'static str)>,
        copy: PathBuf,
    ) -> Upgrade {
        let newer = migrations
            .into_iter()
            .filter(|(version, _)| *version > found);
        Upgrade {
            found,
            brings: newer
                .map(|(version, migration)| (version, first_sentence(migration)))
                .collect(),
            copy,
        }
    }
}

/// A migration says in its first comment what it is for.
fn first_sentence(migration: &str) -> String {
    let comment = migration.lines().map_while(|line| line.strip_prefix("-- "));
    let text = comment.collect::<Vec<_>>().join(" ");
    text.split_inclusive('.').take(1).collect()
}
