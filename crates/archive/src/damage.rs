//! Files of the cache that are damaged or gone, found without having the cache: by whoever only looks.

use crate::cache::Cache;
use crate::catalogue::{Cached, Copy, CopyState, FileState};
use crate::open::{Archive, OpenError};
use crate::sums::matches;
use std::io;

/// How closely cached files are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Whether they are there, in their length.
    AtLengths,
    /// All of them are read, and their checksums compared.
    AtContents,
}

/// A file that is not in the cache as it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Its path in the archive.
    pub path: Vec<u8>,
    /// What is wrong with it.
    pub what: String,
    /// A copy on tape is whole, so that nothing is lost.
    pub is_on_tape: bool,
    /// It is a version that was replaced or deleted.
    pub is_replaced: bool,
}

/// What looking found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// Files that were looked at.
    pub files: u64,
    /// Those that are not as they were stored.
    pub damaged: Vec<Damaged>,
}

impl Archive {
    /// Whether its catalogue is the one that its cache belongs to. Nothing is changed, and another process may work
    /// meanwhile.
    ///
    /// # Errors
    /// As [`Archive::cache`].
    pub fn look_at_tie(&self) -> Result<(), OpenError> {
        Ok(Cache::look_at_tie(
            &self.cache_directory(),
            self.catalogue.as_ref(),
        )?)
    }

    /// Looks at every file in the cache. Nothing is changed, and another process may work meanwhile. What is wrong is
    /// read once more before it counts.
    ///
    /// # Errors
    /// [`OpenError::Catalogue`].
    pub fn look_at_cache(&self, look: Look) -> Result<Looked, OpenError> {
        let mut looked = Looked::default();
        for cached in self.catalogue.all_cached()? {
            looked.files += 1;
            if self.damage(&cached, look)?.is_none() {
                continue;
            }
            let Some(what) = self.damage(&cached, look)? else {
                continue;
            };
            let entry = self.catalogue.file(cached.file)?;
            let is_whole = |copy: &Copy| copy.state == CopyState::Whole;
            looked.damaged.push(Damaged {
                is_replaced: entry.state == FileState::Retired,
                is_on_tape: entry.copies.iter().any(is_whole),
                path: entry.file.path,
                what,
            });
        }
        Ok(looked)
    }

    /// What is wrong with a cached file; nothing if it was evicted meanwhile.
    fn damage(&self, cached: &Cached, look: Look) -> Result<Option<String>, OpenError> {
        let unreadable = |error: io::Error| Some(format!("cannot be read: {error}"));
        let file = match self.open_cached(cached.file) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(None),
            Err(OpenError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(Some("is gone".to_owned()));
            }
            Err(OpenError::Io { source, .. }) if source.kind() == io::ErrorKind::InvalidData => {
                return Ok(Some(source.to_string()));
            }
            Err(OpenError::Io { source, .. }) => return Ok(unreadable(source)),
            Err(error) => return Err(error),
        };
        match look {
            Look::AtLengths => Ok(None),
            Look::AtContents => {
                let known = self.catalogue.sums_of(cached.file)?;
                Ok(match matches(file, cached.bytes, &known) {
                    Ok(true) => None,
                    Ok(false) => Some("has another checksum than when it was stored".to_owned()),
                    Err(error) => unreadable(error),
                })
            }
        }
    }
}
