//! The way of a file into the cache: room, contents, its place, its record.

use super::disk::DiskFile;
use super::error::{CacheError, io_error};
use super::place::{incoming, place};
use super::state::Inner;
use crate::catalogue::CacheKey;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Room in the cache, given back when it is dropped.
pub struct Reservation {
    pub(super) cache: Arc<Inner>,
    pub(super) key: CacheKey,
    pub(super) bytes: u64,
    pub(super) unwritten_bytes: u64,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.cache.state().reserved_bytes -= self.bytes;
        self.note_written(self.unwritten_bytes);
    }
}

impl Reservation {
    /// So much of what was reserved is on the disk, or never will be.
    fn note_written(&mut self, bytes: u64) {
        self.unwritten_bytes -= bytes;
        let unwritten = &self.cache.unwritten_bytes;
        unwritten.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Makes the file that the contents are written to.
    pub fn create(self) -> Result<Incoming, CacheError> {
        let name = incoming(self.key);
        let created = self.cache.disk.create(&name);
        let file = created.map_err(io_error("making", &name))?;
        Ok(Incoming {
            file,
            named: Named {
                reservation: self,
                name: Some(name),
            },
        })
    }
}

/// A file without a record: it goes when it is dropped.
struct Named {
    reservation: Reservation,
    name: Option<PathBuf>,
}

impl Drop for Named {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // What stays behind here is found and removed at the next start.
            let _ = self.reservation.cache.disk.remove(name);
        }
    }
}

/// A file that is being written; when it is dropped it is gone.
pub struct Incoming {
    file: Box<dyn DiskFile>,
    named: Named,
}

impl Write for Incoming {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let reservation = &mut self.named.reservation;
        if bytes.len() as u64 > reservation.unwritten_bytes {
            let reserved = reservation.bytes;
            let text = format!("more than the {reserved} bytes that were reserved in the cache");
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, text));
        }
        let written = self.file.write(bytes)?;
        reservation.note_written(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Incoming {
    /// Notes with the file under what path it is stored, when it was last written, and its permissions.
    ///
    /// That is for whoever finds it in a cache whose catalogue was lost. Not every file system keeps such notes.
    pub fn note(&self, path: &[u8], modified_ns: i64, mode: u32) {
        self.file.note(path, modified_ns, mode);
    }

    /// Opens what was written so far for reading, from its beginning.
    ///
    /// # Errors
    /// [`CacheError::Io`].
    pub fn reread(&self) -> Result<Box<dyn DiskFile>, CacheError> {
        let name = incoming(self.named.reservation.key);
        let opened = self.named.reservation.cache.disk.open(&name);
        opened.map_err(io_error("opening", &name))
    }

    /// Puts the contents on disk and the file in its place.
    pub fn finish(mut self) -> Result<Arrived, CacheError> {
        let key = self.named.reservation.key;
        let (from, to) = (incoming(key), place(key));
        let disk = &self.named.reservation.cache.disk;
        disk.sync(&from, self.file.as_mut())
            .map_err(io_error("syncing", &from))?;
        disk.rename(&from, &to)
            .map_err(io_error("renaming", &from))?;
        self.named.name = Some(to.clone());
        let directory = to.parent().unwrap_or(Path::new(""));
        let synced = self.named.reservation.cache.disk.sync_directory(directory);
        synced.map_err(io_error("syncing", directory))?;
        let reservation = &self.named.reservation;
        Ok(Arrived {
            bytes: reservation.bytes - reservation.unwritten_bytes,
            named: self.named,
        })
    }
}

/// A file that is whole, on disk and in its place, of which nobody knows: when it is dropped it is gone.
pub struct Arrived {
    bytes: u64,
    named: Named,
}

impl Arrived {
    /// Its name in the cache.
    pub fn key(&self) -> CacheKey {
        self.named.reservation.key
    }

    /// Its length.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Leaves the file where it is: it is counted as held from now on.
    pub(super) fn keep(mut self) {
        self.named.name = None;
        self.named.reservation.cache.state().held_bytes += self.bytes;
    }
}
