//! What is kept of a file besides its contents, and what could not be.

use super::DeliverError;
use rustix::fs::{Gid, Mode, Timespec, Timestamps, UTIME_OMIT, Uid};
use rustix::io::Errno;
use std::fmt;
use std::os::fd::BorrowedFd;

/// What is kept of a file besides its contents; what is not known is left to the system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// When it was last written, in nanoseconds since 1970.
    pub modified_ns: Option<i64>,
    /// Permission bits; only the lower nine are taken, so that no archive can make a file run as somebody else.
    pub mode: Option<u32>,
    /// User and group; without privileges they are the caller's, and that is said.
    pub owner: Option<(u32, u32)>,
    /// Extended attributes with their full names; only those that begin with `user.` are taken.
    pub attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

/// A part of the metadata that the destination did not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotKept {
    /// What it is.
    pub what: String,
    /// Why not.
    pub why: String,
}

impl fmt::Display for NotKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} not kept: {}", self.what, self.why)
    }
}

/// The bits of a mode that an archive may set.
const MODE_BITS: u32 = 0o777;

impl Metadata {
    /// The mode to create a file with: what the archive says or what is usual, both less the umask.
    pub(super) fn creation_mode(&self) -> Mode {
        Mode::from_raw_mode((self.mode.unwrap_or(0o666) & MODE_BITS) | 0o600)
    }

    /// Gives a file that is written all of it; the time last, because all else would change it.
    ///
    /// # Errors
    /// When mode or time cannot be set: every file system takes those of one's own file in some form.
    pub(super) fn give(
        &self,
        file: BorrowedFd<'_>,
        path: &[u8],
    ) -> Result<Vec<NotKept>, DeliverError> {
        let mut not_kept = Vec::new();
        if let Some((user, group)) = self.owner {
            let owner = (Uid::from_raw(user), Gid::from_raw(group));
            if let Err(error) = rustix::fs::fchown(file, Some(owner.0), Some(owner.1)) {
                not_kept.push(NotKept {
                    what: format!("owner {user}:{group}"),
                    why: error.to_string(),
                });
            }
        }
        not_kept.extend(self.give_attributes(file));
        if let Some(mode) = self.mode {
            let bits = Mode::from_raw_mode(mode & MODE_BITS);
            match rustix::fs::fchmod(file, bits) {
                Ok(()) => {}
                // File systems without modes, such as FAT, refuse what they cannot store.
                Err(error @ (Errno::PERM | Errno::OPNOTSUPP)) => not_kept.push(NotKept {
                    what: format!("mode {:o}", mode & MODE_BITS),
                    why: error.to_string(),
                }),
                Err(error) => return Err(DeliverError::io(path, "set its mode", error)),
            }
        }
        if let Some(modified_ns) = self.modified_ns {
            let times = Timestamps {
                last_access: Timespec {
                    tv_sec: 0,
                    tv_nsec: UTIME_OMIT,
                },
                last_modification: Timespec {
                    tv_sec: modified_ns.div_euclid(1_000_000_000),
                    tv_nsec: modified_ns.rem_euclid(1_000_000_000),
                },
            };
            rustix::fs::futimens(file, &times)
                .map_err(|error| DeliverError::io(path, "set its time", error))?;
        }
        Ok(not_kept)
    }

    fn give_attributes(&self, file: BorrowedFd<'_>) -> Vec<NotKept> {
        let mut not_kept = Vec::new();
        for (name, value) in &self.attributes {
            let given = if name.starts_with(b"user.") {
                rustix::fs::fsetxattr(
                    file,
                    name.as_slice(),
                    value,
                    rustix::fs::XattrFlags::empty(),
                )
                .map_err(|error| error.to_string())
            } else {
                Err("only attributes of users (user.*) are taken".to_owned())
            };
            if let Err(why) = given {
                not_kept.push(NotKept {
                    what: format!("attribute {}", super::shown(name)),
                    why,
                });
            }
        }
        not_kept
    }
}
