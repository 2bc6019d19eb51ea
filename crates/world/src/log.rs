//! The archive's event log, in memory, on a disk that fails, does less than was asked for, or is full.
//!
//! Nobody syncs it. A power cut leaves what other processes had written, and some of the beginning of the rest.

use crate::fate::{Fates, Kind, Wrong};
use crate::files::Choose;
use std::io::{self, Cursor, ErrorKind, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tapewise_formats::event_log::{read_events, whole_lines_bytes};

/// The log, whatever process has it.
#[derive(Clone)]
pub struct LogDisk {
    fates: Arc<Fates>,
    bytes: Arc<Mutex<Bytes>>,
}

#[derive(Default)]
struct Bytes {
    all: Vec<u8>,
    /// So many were there before the process.
    before: usize,
    /// Why it could not be read after one of the processes.
    trouble: Option<String>,
}

impl LogDisk {
    /// An empty one.
    pub fn new(fates: Arc<Fates>) -> LogDisk {
        LogDisk {
            fates,
            bytes: Arc::default(),
        }
    }

    fn bytes(&self) -> MutexGuard<'_, Bytes> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process begins. What the one before has written is on the medium, and is looked at once more.
    pub fn begin(&self) {
        let trouble = self.look().err();
        let mut bytes = self.bytes();
        bytes.trouble = bytes.trouble.take().or(trouble);
        bytes.before = bytes.all.len();
    }

    /// Goes on with it, as the program does.
    ///
    /// # Errors
    /// None, as there is nothing that could fail.
    pub fn append(&self) -> io::Result<LogDisk> {
        let mut bytes = self.bytes();
        let whole = whole_lines_bytes(&mut Cursor::new(&bytes.all))?;
        bytes.all.truncate(whole as usize);
        bytes.before = bytes.before.min(bytes.all.len());
        Ok(self.clone())
    }

    /// The power is cut.
    pub fn cut_power(&self, choose: &mut Choose<'_>) {
        let mut bytes = self.bytes();
        let new = bytes.all.len() - bytes.before;
        let left = bytes.before + choose(new as u64 + 1) as usize;
        bytes.all.truncate(left);
    }

    /// Whether everything can be read that the processes have written.
    ///
    /// # Errors
    /// What its reader says.
    pub fn look(&self) -> Result<(), String> {
        let bytes = self.bytes();
        if let Some(trouble) = &bytes.trouble {
            return Err(trouble.clone());
        }
        let new = bytes.all.get(bytes.before..).unwrap_or_default();
        read_events(new)
            .map(drop)
            .map_err(|error| format!("the event log cannot be read: {error}"))
    }
}

impl Write for LogDisk {
    fn write(&mut self, new: &[u8]) -> io::Result<usize> {
        let wrong = self.fates.step(Kind::Log)?;
        let (taken, error) = match wrong {
            None => (new.len(), None),
            Some(Wrong::Short) => (new.len().div_ceil(2), None),
            // What there is room for is written before.
            Some(Wrong::Full) => (new.len() / 3, Some(ErrorKind::StorageFull)),
            Some(Wrong::Interrupted) => (0, Some(ErrorKind::Interrupted)),
            Some(_) => (0, Some(ErrorKind::Other)),
        };
        self.bytes().all.extend_from_slice(&new[..taken]);
        match error {
            Some(error) if taken == 0 => Err(error.into()),
            _ => Ok(taken),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
