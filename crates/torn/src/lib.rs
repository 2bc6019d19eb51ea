//! A file layer under SQLite that loses what was not synced, tears it, and runs full.
//!
//! The layer stands between SQLite and its own one for Unix. Databases keep their files, locks and shared memory, so
//! that the journal mode, the locking and the shared pages of production are what is tested. [`watch`] puts one
//! directory under a [`Plug`], which is asked before every step and may let it fail, or end the world. What was
//! written to files of that directory since their last sync is remembered, and [`Watched::cut_power`] leaves of it
//! what a power cut may leave:
//!
//! - every write that was not synced is there or not, whatever came before or after it, and of a write that is there
//!   any sectors of 512 bytes may be missing;
//! - a file whose name was not synced is gone; a file whose removal was not synced is back;
//! - shared memory is gone.
//!
//! Other directories are left alone.

mod files;
mod vfs;

use files::Files;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What SQLite is about to do with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Write so many bytes.
    Write(u64),
    /// Cut it off.
    Truncate,
    /// Put it on the medium.
    Sync,
    /// Remove it.
    Remove,
    /// Read some of it.
    Read,
    /// Open it.
    Open,
    /// Begin to read or write the database, while nothing of it is locked: what others commit meanwhile is seen.
    Begin,
}

/// Whether a step is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Go,
    /// It fails as on a broken disk.
    Fail,
    /// It fails as on a full disk.
    Full,
}

/// Decides what becomes of each step.
pub trait Plug: Send + Sync {
    /// Asked before a step. A process that was killed does none of them any more: every step fails then.
    fn step(&self, step: Step) -> Verdict;
}

/// A directory under a plug; until it is dropped.
pub struct Watched {
    directory: PathBuf,
    files: Arc<Mutex<Files>>,
}

/// What stands under plugs.
#[derive(Default)]
struct Directories(HashMap<PathBuf, Under>);

/// A directory's plug, and its files.
#[derive(Clone)]
struct Under {
    plug: Arc<dyn Plug>,
    files: Arc<Mutex<Files>>,
}

fn directories() -> MutexGuard<'static, Directories> {
    static DIRECTORIES: OnceLock<Mutex<Directories>> = OnceLock::new();
    let directories = DIRECTORIES.get_or_init(Mutex::default);
    lock(directories)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a file is under, if its directory is watched.
fn under(file: &Path) -> Option<Under> {
    directories().0.get(file.parent()?).cloned()
}

/// Puts the databases in a directory under a plug. The directory's path must be the one that SQLite finds: absolute,
/// and without links.
pub fn watch(directory: &Path, plug: Arc<dyn Plug>) -> Watched {
    vfs::register();
    let files = Arc::new(Mutex::new(Files::default()));
    let under = Under {
        plug,
        files: Arc::clone(&files),
    };
    directories().0.insert(directory.to_owned(), under);
    Watched {
        directory: directory.to_owned(),
        files,
    }
}

impl Watched {
    /// Leaves of what was not synced what a power cut may leave; no database in the directory may be open. `choose`
    /// gives a number below its argument. How many writes were lost or torn.
    ///
    /// # Errors
    /// Those of the real file system.
    pub fn cut_power(&self, choose: &mut dyn FnMut(u64) -> u64) -> std::io::Result<u64> {
        lock(&self.files).cut_power(choose)
    }

    /// What was written stays, whatever becomes of the machine: as after a sync of all file systems.
    pub fn settle(&self) {
        lock(&self.files).settle();
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        directories().0.remove(&self.directory);
    }
}
