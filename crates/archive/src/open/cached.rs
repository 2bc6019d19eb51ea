//! Files of the cache, for a process that does not have it.

use super::{Archive, OpenError, at};
use crate::cache::{Cache, place};
use crate::catalogue::{CacheKey, Cached, FileId};
use std::io;

impl Archive {
    /// Opens the contents of a file that lies in the cache, for a process that does not have the cache; nothing
    /// where it does not lie there. Whoever reads it gets all of it, even if it is evicted meanwhile.
    ///
    /// # Errors
    /// [`OpenError::Catalogue`] and [`OpenError::Io`]; the latter of kind `InvalidData` if it has another length than it
    /// was stored with.
    pub fn open_cached(&self, file: FileId) -> Result<Option<std::fs::File>, OpenError> {
        let Some(cached) = self.catalogue.cached(file)? else {
            return Ok(None);
        };
        let path = self.cache_directory().join(place(cached.key));
        match std::fs::File::open(&path) {
            Ok(opened) => match opened.metadata().map_err(at(&path))?.len() {
                bytes if bytes == cached.bytes => Ok(Some(opened)),
                bytes => {
                    let stored = cached.bytes;
                    let what = format!("has {bytes} bytes, and was stored with {stored}");
                    Err(at(&path)(io::Error::new(io::ErrorKind::InvalidData, what)))
                }
            },
            // Evicted since the catalogue was asked.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    && self.catalogue.cached(file)? != Some(cached) =>
            {
                Ok(None)
            }
            Err(error) => Err(at(&path)(error)),
        }
    }

    /// Takes files out of the records of the cache that are not there any more, or not in their length, so that whoever
    /// wants them has them read from tape. Returns those; the others stay recorded: no copy of them is whole there, or no
    /// cache is there at all, as on a disk that is not mounted.
    ///
    /// # Errors
    /// As [`Archive::look_at_tie`].
    pub fn forget_gone(&self, files: &[FileId]) -> Result<Vec<FileId>, OpenError> {
        let root = self.cache_directory();
        Ok(Cache::forget_gone(&root, self.catalogue.as_ref(), files)?)
    }

    /// Looks for the live files of these paths in the cache, as far as they are recorded there, and does the same with
    /// those that are gone.
    ///
    /// # Errors
    /// As [`Archive::look_at_tie`].
    pub fn look_for(&self, paths: &[&[u8]]) -> Result<(), OpenError> {
        let mut gone = Vec::new();
        for placed in self.catalogue.placed(paths)? {
            let Some(key) = placed.cached else { continue };
            let is_there = self.is_in_place(key, placed.bytes);
            // What was evicted meanwhile may have been brought again.
            let is_it = |now: Cached| now.key == key;
            if !is_there && self.catalogue.cached(placed.file)?.is_some_and(is_it) {
                gone.push(placed.file);
            }
        }
        if !gone.is_empty() {
            self.forget_gone(&gone)?;
        }
        Ok(())
    }

    /// Whether a file that is recorded in the cache lies there, as far as its length tells.
    pub fn is_in_place(&self, key: CacheKey, bytes: u64) -> bool {
        let path = self.cache_directory().join(place(key));
        std::fs::metadata(path).is_ok_and(|found| found.len() == bytes)
    }
}
