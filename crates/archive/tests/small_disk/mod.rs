//! Disks of caches with little room.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tapewise_archive::cache::{Directory, Disk, DiskFile};

/// A disk that has room for `bytes`. Without a number it is full, and says that there is room.
pub struct SmallDisk {
    pub directory: Directory,
    pub bytes: Option<u64>,
}

impl SmallDisk {
    pub fn new(root: &Path, bytes: Option<u64>) -> Box<SmallDisk> {
        let directory = Directory::open(root).expect("a directory");
        Box::new(SmallDisk { directory, bytes })
    }
}

impl Disk for SmallDisk {
    fn create(&self, name: &Path) -> io::Result<Box<dyn DiskFile>> {
        // Whose cache it is was written while there was room.
        if self.bytes.is_some() || name.starts_with("catalogue-id.new") {
            return self.directory.create(name);
        }
        let full = File::options().write(true).open("/dev/full")?;
        Ok(Box::new(full))
    }

    fn free_bytes(&self) -> io::Result<u64> {
        let Some(bytes) = self.bytes else {
            return Ok(u64::MAX);
        };
        let files = self.directory.files()?;
        let files = files
            .iter()
            .filter(|(name, _)| !name.starts_with("catalogue-id"));
        Ok(bytes.saturating_sub(files.map(|(_, bytes)| bytes).sum()))
    }

    fn sync(&self, name: &Path, file: &mut dyn DiskFile) -> io::Result<()> {
        self.directory.sync(name, file)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.directory.rename(from, to)
    }

    fn sync_directory(&self, name: &Path) -> io::Result<()> {
        self.directory.sync_directory(name)
    }

    fn remove(&self, name: &Path) -> io::Result<()> {
        self.directory.remove(name)
    }

    fn open(&self, name: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.directory.open(name)
    }

    fn files(&self) -> io::Result<Vec<(PathBuf, u64)>> {
        self.directory.files()
    }

    fn make_directories(&self, names: &[PathBuf]) -> io::Result<()> {
        self.directory.make_directories(names)
    }
}
