//! What is known of a file before it is delivered, and how what came differs from it.

use super::metadata::Metadata;
use crate::record::File;
use crate::sums::{Kind, Sum};

/// Bytes read at once where a file is read again.
pub(super) const READ_BYTES: usize = 1 << 20;

/// What is known of a file before it is delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Its length, holes included.
    pub bytes: u64,
    /// What its contents must sum up to; with none it is delivered unverified.
    pub sums: Vec<Sum>,
    /// Sums to be computed besides, for lists that are written afterwards.
    pub also: Vec<Kind>,
    /// Whether bytes that nobody writes are holes, read as zeros; otherwise they are an error.
    pub sparse: bool,
    /// Times, mode, owner, attributes.
    pub metadata: Metadata,
}

impl Expected {
    /// A file of which nothing is known but its length, in bytes.
    pub fn of(bytes: u64) -> Expected {
        Expected {
            bytes,
            ..Expected::default()
        }
    }

    /// A file of an archive: all that the catalogue knows of it.
    pub fn of_file(file: &File) -> Expected {
        Expected {
            sums: file.sums.clone(),
            metadata: Metadata {
                modified_ns: Some(file.modified_ns),
                mode: Some(file.mode),
                ..Metadata::default()
            },
            ..Expected::of(file.bytes)
        }
    }
}

/// The kinds of sums that are computed of a file: each once, those that are compared first.
pub(crate) fn kinds(expected: &Expected) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    let compared = expected.sums.iter().map(|sum| sum.kind);
    for kind in compared.chain(expected.also.iter().copied()) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// The first sum that is not what was expected: that, and what was found.
pub(crate) fn mismatch(expected: &[Sum], found: &[Sum]) -> Option<(Sum, Sum)> {
    expected.iter().find_map(|wanted| {
        let found = found.iter().find(|found| found.kind == wanted.kind)?;
        (found != wanted).then(|| (wanted.clone(), found.clone()))
    })
}
