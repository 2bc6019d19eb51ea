//! Room that is kept for the catalogue, because it must grow when the disk is full: what makes room on the disk,
//! such as bringing files to tape, is written into it first.
//!
//! The file `reserve` takes the room while nobody needs it. It is given up when others have filled the disk, and
//! taken again when there is room. Cached files never use it: see [`free_bytes`].

use rustix::fs::FallocateFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// How much is kept: some thousand files' worth of records, and a write-ahead log at its usual length.
pub const RESERVE_BYTES: u64 = 16 << 20;

/// The disk is taken for full when less than this is free.
const FULL_BYTES: u64 = RESERVE_BYTES / 4;

/// Whether there is room for the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReserveState {
    /// The reserve is there, or is not needed.
    Kept,
    /// The disk is full, and the reserve was given up: there is room for some work, which had better make more.
    Released,
    /// The disk is full, and the reserve was given up before.
    Gone,
}

/// The reserve of an archive.
pub struct Reserve {
    path: PathBuf,
}

impl Reserve {
    /// The reserve of the archive in a directory.
    pub fn of(directory: &Path) -> Reserve {
        Reserve {
            path: directory.join("reserve"),
        }
    }

    /// Takes room while there is some, and gives it up when the disk is full.
    ///
    /// No error: where the reserve cannot be had there is none, and the catalogue says when it cannot grow.
    pub fn prepare(&self) -> ReserveState {
        let Some(free) = self.path.parent().and_then(|path| free_bytes(path).ok()) else {
            return ReserveState::Kept;
        };
        let held = match self.path.metadata() {
            // Blocks of 512 bytes that it really takes.
            Ok(there) => there.blocks() * 512,
            Err(_) => 0,
        };
        let is_full = free < FULL_BYTES;
        if is_full && held > 0 {
            return match std::fs::remove_file(&self.path) {
                Ok(()) => ReserveState::Released,
                Err(_) => ReserveState::Gone,
            };
        }
        if is_full {
            return ReserveState::Gone;
        }
        // Twice as much, so that it does not come and go.
        if held < RESERVE_BYTES && free >= 2 * RESERVE_BYTES && self.take().is_err() {
            let _ = std::fs::remove_file(&self.path);
        }
        ReserveState::Kept
    }

    fn take(&self) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let options = options.create(true).write(true).truncate(true).mode(0o600);
        let mut file = options.open(&self.path)?;
        match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, RESERVE_BYTES) {
            Ok(()) => Ok(()),
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => fill(&mut file),
            Err(error) => Err(error.into()),
        }
    }
}

/// Writes what no file system makes smaller: the output of a generator of random numbers.
fn fill(file: &mut File) -> io::Result<()> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut chunk = vec![0; 1 << 20];
    for _ in 0..RESERVE_BYTES >> 20 {
        for word in chunk.chunks_exact_mut(8) {
            // Marsaglia's xorshift.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            word.copy_from_slice(&state.to_le_bytes());
        }
        file.write_all(&chunk)?;
    }
    file.sync_all()
}

/// Bytes that a process without privileges can still write into the file system of a directory.
///
/// # Errors
/// When it cannot be asked.
pub fn free_bytes(directory: &Path) -> io::Result<u64> {
    let space = rustix::fs::statvfs(directory)?;
    Ok(space.f_bavail.saturating_mul(space.f_frsize))
}
