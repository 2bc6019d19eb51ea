//! What an error of the database means to whoever keeps the archive, and what to do.

use rusqlite::{Error, ErrorCode};
use std::fmt;

/// An error of the database, in words.
#[derive(Debug)]
pub(super) struct Failure(pub Error);

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", words(&self.0), self.0)
    }
}

fn words(error: &Error) -> &'static str {
    if let Error::IntegralValueOutOfRange(..) = error {
        return "the catalogue holds a number that cannot be: restore a backup of it";
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => {
            "two rows have one name, a path that a list has twice for one: nothing was entered"
        }
        Some(ErrorCode::DiskFull) => "the disk of the catalogue is full: make room on it",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another process has been writing to the catalogue for too long: wait for it, or see what it does"
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            "the catalogue is damaged: restore a backup of it"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            "the catalogue cannot be written: see who owns it and its directory, and how its disk is mounted"
        }
        Some(ErrorCode::CannotOpen) => {
            "the catalogue cannot be opened: see who owns it and its directory, and whether their disk is full"
        }
        Some(ErrorCode::SystemIoFailure) => {
            "the disk of the catalogue failed, or is full: see the system's log"
        }
        _ => "the catalogue's database failed",
    }
}
