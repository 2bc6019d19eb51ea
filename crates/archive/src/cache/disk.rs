//! The directory under a cache, behind a trait so that tests can pull its plug.

use rustix::fs::FlockOperation;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What a cache does to its directory; all names are relative to it.
pub trait Disk: Send + Sync {
    /// Makes a file for writing; what had its name is gone.
    fn create(&self, name: &Path) -> io::Result<File>;
    /// Puts a file's contents on the medium.
    fn sync(&self, name: &Path, file: &File) -> io::Result<()>;
    /// Gives a file another name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Puts the names in a directory on the medium.
    fn sync_directory(&self, name: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &Path) -> io::Result<()>;
    /// Opens a file for reading.
    fn open(&self, name: &Path) -> io::Result<File>;
    /// Every file with its length, in all directories.
    fn files(&self) -> io::Result<Vec<(PathBuf, u64)>>;
    /// Makes directories that are not there, and puts their names on the medium.
    fn make_directories(&self, names: &[PathBuf]) -> io::Result<()>;
}

/// A directory that belongs to one cache of one process.
pub struct Directory {
    root: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
}

/// The name of the lock in its directory.
const LOCK: &str = "lock";

impl Directory {
    /// Takes a directory, making it where it is not; an error of kind `ResourceBusy` when another
    /// process has it.
    pub fn open(root: &Path) -> io::Result<Directory> {
        fs::create_dir_all(root)?;
        let mut options = OpenOptions::new();
        let mut lock = options
            .create(true)
            .truncate(false)
            .write(true)
            .open(root.join(LOCK))?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|error| {
            if error == rustix::io::Errno::WOULDBLOCK {
                let who = holder(root).map_or("another process".to_owned(), |id| {
                    format!("process {id}, which works with it")
                });
                let text = format!("{} is the cache of {who}", root.display());
                return io::Error::new(io::ErrorKind::ResourceBusy, text);
            }
            io::Error::from(error)
        })?;
        lock.set_len(0)?;
        lock.write_all(std::process::id().to_string().as_bytes())?;
        Ok(Directory {
            root: root.to_owned(),
            _lock: lock,
        })
    }
}

/// Who has the cache, as it wrote into the lock; a process that has just taken it has not yet.
fn holder(root: &Path) -> Option<u32> {
    let text = fs::read_to_string(root.join(LOCK)).ok()?;
    text.parse().ok()
}

/// Adds the files below a directory; what is neither file nor directory is nobody's.
fn add_files(root: &Path, below: &Path, files: &mut Vec<(PathBuf, u64)>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = below.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            add_files(root, &name, files)?;
        } else if kind.is_file() && name != Path::new(LOCK) {
            files.push((name, entry.metadata()?.len()));
        }
    }
    Ok(())
}

impl Disk for Directory {
    fn create(&self, name: &Path) -> io::Result<File> {
        File::create(self.root.join(name))
    }

    fn sync(&self, _name: &Path, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(self.root.join(from), self.root.join(to))
    }

    fn sync_directory(&self, name: &Path) -> io::Result<()> {
        File::open(self.root.join(name))?.sync_all()
    }

    fn remove(&self, name: &Path) -> io::Result<()> {
        fs::remove_file(self.root.join(name))
    }

    fn open(&self, name: &Path) -> io::Result<File> {
        File::open(self.root.join(name))
    }

    fn files(&self) -> io::Result<Vec<(PathBuf, u64)>> {
        let mut files = Vec::new();
        add_files(&self.root, Path::new(""), &mut files)?;
        files.sort();
        Ok(files)
    }

    fn make_directories(&self, names: &[PathBuf]) -> io::Result<()> {
        for name in names {
            fs::create_dir_all(self.root.join(name))?;
        }
        self.sync_directory(Path::new(""))
    }
}
