//! Files that are stored, in memory: reading them fails, does less than was asked for, and finds that somebody writes
//! to them meanwhile.

use crate::fate::{Kind, Steps, Wrong};
use crate::files::error;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tapewise_archive::store::{SourceFile, Sources, Stamp};

/// The files that are to be stored.
pub struct Given {
    files: BTreeMap<PathBuf, Arc<Mutex<One>>>,
    steps: Arc<dyn Steps>,
}

struct One {
    bytes: Vec<u8>,
    modified_ns: i64,
    /// How often it was changed.
    changes: i64,
}

impl Given {
    /// None yet.
    pub fn new(steps: Arc<dyn Steps>) -> Given {
        Given {
            files: BTreeMap::new(),
            steps,
        }
    }

    /// Another file, written at this time.
    pub fn add(&mut self, path: &Path, bytes: Vec<u8>, modified_ns: i64) {
        let one = One {
            bytes,
            modified_ns,
            changes: 0,
        };
        self.files
            .insert(path.to_owned(), Arc::new(Mutex::new(one)));
    }
}

impl Sources for Given {
    fn open(&self, path: &Path) -> io::Result<Box<dyn SourceFile>> {
        let file = self.files.get(path).ok_or(ErrorKind::NotFound)?;
        Ok(Box::new(Reading {
            file: Arc::clone(file),
            steps: Arc::clone(&self.steps),
            at: 0,
        }))
    }
}

struct Reading {
    file: Arc<Mutex<One>>,
    steps: Arc<dyn Steps>,
    at: usize,
}

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wrong = self.steps.step(Kind::Source)?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let most = match wrong {
            None => buffer.len(),
            Some(Wrong::Short) => buffer.len().min(file.bytes.len()).div_ceil(3),
            Some(Wrong::Changed) => {
                file.change();
                buffer.len()
            }
            Some(wrong) => return Err(error(wrong)),
        };
        let left = file.bytes.get(self.at..).unwrap_or_default();
        let count = left.len().min(most);
        buffer[..count].copy_from_slice(&left[..count]);
        self.at += count;
        Ok(count)
    }
}

impl One {
    /// Somebody writes to it: other bytes, more, or fewer.
    fn change(&mut self) {
        self.changes += 1;
        match self.bytes.len() % 3 {
            0 => self.bytes.iter_mut().for_each(|byte| *byte ^= 0x55),
            1 => self.bytes.extend([9; 700]),
            _ => self.bytes.truncate(self.bytes.len() / 2),
        }
    }
}

impl SourceFile for Reading {
    fn stamp(&self) -> io::Result<Stamp> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Stamp {
            is_file: true,
            bytes: file.bytes.len() as u64,
            modified_ns: file.modified_ns + file.changes,
            changed_ns: file.modified_ns + file.changes,
            mode: 0o644,
        })
    }
}
