//! A library's directory belongs to one process.

use crate::error::LibraryError;
use std::fs::{File, TryLockError};
use std::path::Path;

const NAME: &str = "lock";

/// The lock on a library's directory. It ends when this is dropped, also while a child that is just being started has
/// a copy of the open file.
pub struct Lock(File);

impl Lock {
    /// Takes the directory.
    ///
    /// # Errors
    /// [`LibraryError::InUse`] if another process has it.
    pub fn take(directory: &Path) -> Result<Lock, LibraryError> {
        let path = directory.join(NAME);
        let file = File::create(&path).map_err(LibraryError::io(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => Err(LibraryError::InUse {
                path: directory.to_owned(),
            }),
            Err(TryLockError::Error(source)) => Err(LibraryError::Io { path, source }),
        }
    }

    /// Whether a process has the directory.
    ///
    /// # Errors
    /// [`LibraryError::Io`] when there is no library.
    pub fn is_held(directory: &Path) -> Result<bool, LibraryError> {
        let path = directory.join(NAME);
        let file = File::open(&path).map_err(LibraryError::io(&path))?;
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(source)) => Err(LibraryError::Io { path, source }),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}
