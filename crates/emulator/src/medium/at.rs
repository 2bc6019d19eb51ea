//! Reading and writing a file at a place.

use std::fs::File;
use std::io::Result;
#[cfg(not(unix))]
use std::io::{Read, Seek, SeekFrom, Write};
#[cfg(unix)]
use std::os::unix::fs::FileExt;

/// Fills `into` from the file's byte `at` on.
pub fn read(file: &File, into: &mut [u8], at: u64) -> Result<()> {
    #[cfg(unix)]
    return file.read_exact_at(into, at);
    // Two calls, not one: no two threads use a partition at once.
    #[cfg(not(unix))]
    {
        let mut file = file;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(into)
    }
}

/// Writes all of `bytes` from the file's byte `at` on.
pub fn write(file: &File, bytes: &[u8], at: u64) -> Result<()> {
    #[cfg(unix)]
    return file.write_all_at(bytes, at);
    #[cfg(not(unix))]
    {
        let mut file = file;
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)
    }
}
