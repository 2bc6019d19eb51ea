//! The disk that holds the cartridges: if it refuses, no tape is to blame.

use super::Drive;
use crate::check::Check;
use crate::medium::MediumError;
use std::io::{Error, ErrorKind};

impl Drive {
    /// Keeps what the disk said for the one who sent the command, to whom the drive has failed.
    pub(super) fn host_disk(&mut self, error: MediumError) -> Check {
        self.host_error = Some(match error {
            MediumError::Io { path, source } => {
                let kind = source.kind();
                let path = path.display();
                let is_full = matches!(
                    kind,
                    ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
                );
                let words = if is_full {
                    format!(
                        "the disk that holds the emulated cartridges is full: {path}: {source}; make room on it"
                    )
                } else {
                    format!("{path}: {source}")
                };
                Error::new(kind, words)
            }
            other => Error::other(other),
        });
        Check::INTERNAL_FAILURE
    }
}
