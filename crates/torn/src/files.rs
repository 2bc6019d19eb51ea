//! What was done to the files of a directory since they were synced.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// What a disk writes as one: more of a write may be missing.
const SECTOR_BYTES: usize = 512;

/// The files of a directory, by path.
#[derive(Default)]
pub struct Files {
    unsynced: BTreeMap<PathBuf, Unsynced>,
    /// Files that were removed, and what stood in them, where the directory was not synced since.
    removed: BTreeMap<PathBuf, Vec<u8>>,
}

/// What was done to a file since it was synced.
#[derive(Default)]
struct Unsynced {
    /// It was made, and its name is not on the medium.
    is_new: bool,
    changes: Vec<Change>,
}

/// One change, and what undoes it.
struct Change {
    offset: u64,
    /// What was written; a truncation to `offset` where there is nothing.
    new: Option<Vec<u8>>,
    /// What stood there, as far as anything did.
    old: Vec<u8>,
    /// The length of the file before.
    length: u64,
}

fn read_at(path: &Path, offset: u64, bytes: usize) -> io::Result<(Vec<u8>, u64)> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((Vec::new(), 0)),
        opened => opened?,
    };
    let length = file.metadata()?.len();
    let there = length.saturating_sub(offset).min(bytes as u64) as usize;
    let mut old = vec![0; there];
    file.read_exact_at(&mut old, offset)?;
    Ok((old, length))
}

impl Files {
    /// A file was made.
    pub fn made(&mut self, path: &Path) {
        self.unsynced.entry(path.to_owned()).or_default().is_new = true;
    }

    /// A file is about to be written.
    pub fn writes(&mut self, path: &Path, offset: u64, new: &[u8]) -> io::Result<()> {
        let (old, length) = read_at(path, offset, new.len())?;
        self.note(path, offset, Some(new.to_vec()), old, length);
        Ok(())
    }

    /// A file is about to be cut off.
    pub fn truncates(&mut self, path: &Path, to: u64) -> io::Result<()> {
        let (old, length) = read_at(path, to, usize::MAX)?;
        self.note(path, to, None, old, length);
        Ok(())
    }

    fn note(&mut self, path: &Path, offset: u64, new: Option<Vec<u8>>, old: Vec<u8>, length: u64) {
        let file = self.unsynced.entry(path.to_owned()).or_default();
        file.changes.push(Change {
            offset,
            new,
            old,
            length,
        });
    }

    /// A file is on the medium. SQLite syncs the directory with the first sync of a journal that it has made.
    pub fn synced(&mut self, path: &Path) {
        let synced = self.unsynced.remove(path);
        if synced.is_some_and(|file| file.is_new) {
            self.names_synced();
        }
    }

    /// A file is about to be removed.
    pub fn removes(&mut self, path: &Path) -> io::Result<()> {
        match fs::read(path) {
            Ok(bytes) => {
                let was_new = self.unsynced.remove(path).is_some_and(|file| file.is_new);
                if !was_new {
                    self.removed.entry(path.to_owned()).or_insert(bytes);
                }
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The names in the directory are on the medium.
    pub fn names_synced(&mut self) {
        self.removed.clear();
        for file in self.unsynced.values_mut() {
            file.is_new = false;
        }
    }

    /// Everything is on the medium.
    pub fn settle(&mut self) {
        self.unsynced.clear();
        self.removed.clear();
    }

    /// Leaves what a power cut may leave.
    pub fn cut_power(&mut self, choose: &mut dyn FnMut(u64) -> u64) -> io::Result<u64> {
        let mut lost = 0;
        for (path, file) in std::mem::take(&mut self.unsynced) {
            if file.is_new && choose(2) == 0 {
                lost += 1;
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                    _ => continue,
                }
            }
            if path.exists() {
                lost += tear(&path, &file.changes, choose)?;
            }
        }
        for (path, bytes) in std::mem::take(&mut self.removed) {
            if choose(2) == 0 && !path.exists() {
                fs::write(&path, bytes)?;
                lost += 1;
            }
        }
        Ok(lost)
    }
}

/// Undoes all changes of a file, and does those again that have come to the medium.
fn tear(path: &Path, changes: &[Change], choose: &mut dyn FnMut(u64) -> u64) -> io::Result<u64> {
    let file = OpenOptions::new().write(true).open(path)?;
    for change in changes.iter().rev() {
        file.write_all_at(&change.old, change.offset)?;
        file.set_len(change.length)?;
    }
    let mut lost = 0;
    for change in changes {
        // Most of what was written just before has come to the medium, or most of it has not.
        match (choose(4), &change.new) {
            (0, _) => lost += 1,
            (1, Some(new)) => {
                lost += 1;
                for (sector, bytes) in new.chunks(SECTOR_BYTES).enumerate() {
                    if choose(2) == 0 {
                        let offset = change.offset + (sector * SECTOR_BYTES) as u64;
                        file.write_all_at(bytes, offset)?;
                    }
                }
            }
            (_, Some(new)) => file.write_all_at(new, change.offset)?,
            (_, None) => file.set_len(change.offset)?,
        }
    }
    Ok(lost)
}
