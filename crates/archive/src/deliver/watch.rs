//! Who is asked before a delivery touches its destination: nobody, or a test that has the destination in hand, lets
//! steps fail and ends the process.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a delivery is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'s> {
    /// Make a directory.
    MakeDirectory(&'s Path),
    /// Make a file.
    Create(&'s Path),
    /// Set or remove the mark of a file that is not whole.
    Mark(&'s Path),
    /// Write so many bytes.
    Write(&'s Path, u64),
    /// Give a file its length.
    SetLength(&'s Path, u64),
    /// Put a file's contents on the medium.
    Sync(&'s Path),
    /// Give a file its name.
    Rename(&'s Path, &'s Path),
    /// Put the names in a directory on the medium.
    SyncDirectory(&'s Path),
    /// Remove a file.
    Remove(&'s Path),
    /// Read a file.
    Read(&'s Path),
}

/// Decides what becomes of each step.
pub trait Watch: Send + Sync + Debug {
    /// Asked before a step, which is not done if this fails.
    ///
    /// # Errors
    /// What the delivery is told instead.
    fn before(&self, step: Step<'_>) -> io::Result<()>;
}

/// A directory, and who watches it.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    pub directory: PathBuf,
    pub by: Option<Arc<dyn Watch>>,
}

impl Watched {
    /// A place below.
    pub fn below(&self, name: &[u8]) -> Watched {
        let directory = match self.by {
            // Nobody asks where it is.
            None => PathBuf::new(),
            Some(_) => self.place(name),
        };
        Watched {
            directory,
            by: self.by.clone(),
        }
    }

    fn place(&self, name: &[u8]) -> PathBuf {
        use std::os::unix::ffi::OsStrExt;
        self.directory.join(std::ffi::OsStr::from_bytes(name))
    }

    /// Asks whether a step with a file of the directory is done.
    pub fn before(&self, name: &[u8], step: impl FnOnce(&Path) -> Step<'_>) -> io::Result<()> {
        match &self.by {
            None => Ok(()),
            Some(by) => by.before(step(&self.place(name))),
        }
    }

    /// Asks whether a file gets its name.
    pub fn before_rename(&self, from: &[u8], to: &[u8]) -> io::Result<()> {
        match &self.by {
            None => Ok(()),
            Some(by) => by.before(Step::Rename(&self.place(from), &self.place(to))),
        }
    }

    /// Asks whether the directory itself is synced.
    pub fn before_sync(&self) -> io::Result<()> {
        match &self.by {
            None => Ok(()),
            Some(by) => by.before(Step::SyncDirectory(&self.directory)),
        }
    }
}
