//! The directory below a cache, as a trait: tests replace it by one that loses names and contents as a power cut does.

use super::place::{MODE_ATTRIBUTE, PATH_ATTRIBUTE};
use crate::reserve;
use rustix::fs::{FlockOperation, Timespec, Timestamps, UTIME_OMIT, XattrFlags, flock};
use rustix::io::Errno;
use std::any::Any;
use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What a cache does to its directory; all names are relative to it.
pub trait Disk: Send + Sync {
    /// Makes a file for writing; what had its name is gone.
    fn create(&self, name: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Puts a file's contents on the medium.
    fn sync(&self, name: &Path, file: &mut dyn DiskFile) -> io::Result<()>;
    /// Gives a file another name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Puts the names in a directory on the medium.
    fn sync_directory(&self, name: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &Path) -> io::Result<()>;
    /// Opens a file for reading.
    fn open(&self, name: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Every file with its length, in all directories.
    fn files(&self) -> io::Result<Vec<(PathBuf, u64)>>;
    /// Makes directories that are not there, and puts their names on the medium.
    fn make_directories(&self, names: &[PathBuf]) -> io::Result<()>;
    /// Bytes that files may still take; more than anybody wants where that is not known.
    fn free_bytes(&self) -> io::Result<u64> {
        Ok(u64::MAX)
    }
    /// From now on others may have the cache too.
    fn let_others_in(&self) -> io::Result<()> {
        Ok(())
    }
    /// What the cache does as long as the answer is kept, nobody else does at the same time.
    fn turn(&self) -> io::Result<Box<dyn Any>> {
        Ok(Box::new(()))
    }
    /// Whether one thing must be done after the other, so that the same steps come in the same order again.
    fn is_in_turns(&self) -> bool {
        false
    }
}

/// An open file of a cache's directory.
pub trait DiskFile: Read + Write + Seek + Send + Sync {
    /// Puts its contents on the medium.
    fn sync(&mut self) -> io::Result<()>;
    /// Notes with it under what path it is stored, when it was last written, and its permissions. Not every file
    /// system keeps such notes.
    fn note(&self, path: &[u8], modified_ns: i64, mode: u32);
    /// The path that was noted.
    fn noted_path(&self) -> Option<Vec<u8>>;
    /// Gives it the permissions that were noted.
    fn take_noted_mode(&self) {}
}

/// No path of a file is longer.
const MOST_PATH_BYTES: usize = 1 << 16;

impl DiskFile for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }

    fn note(&self, path: &[u8], modified_ns: i64, mode: u32) {
        let mode = format!("{mode:o}");
        for (name, value) in [(PATH_ATTRIBUTE, path), (MODE_ATTRIBUTE, mode.as_bytes())] {
            let _ = rustix::fs::fsetxattr(self, name, value, XattrFlags::empty());
        }
        let at = |tv_nsec| Timespec {
            tv_sec: modified_ns.div_euclid(1_000_000_000),
            tv_nsec,
        };
        let times = Timestamps {
            last_access: at(UTIME_OMIT),
            last_modification: at(modified_ns.rem_euclid(1_000_000_000)),
        };
        let _ = rustix::fs::futimens(self, &times);
    }

    fn noted_path(&self) -> Option<Vec<u8>> {
        let mut path = vec![0; MOST_PATH_BYTES];
        let bytes = rustix::fs::fgetxattr(self, PATH_ATTRIBUTE, &mut path[..]).ok()?;
        path.truncate(bytes);
        Some(path)
    }

    fn take_noted_mode(&self) {
        let mut digits = [0; 8];
        let noted = rustix::fs::fgetxattr(self, MODE_ATTRIBUTE, &mut digits[..]).ok();
        let digits = noted.and_then(|count| std::str::from_utf8(&digits[..count]).ok());
        if let Some(mode) = digits.and_then(|digits| u32::from_str_radix(digits, 8).ok()) {
            let _ = self.set_permissions(Permissions::from_mode(mode & 0o777));
        }
    }
}

/// A directory that belongs to one cache of one process. Nobody else of the machine's users can look into it.
pub struct Directory {
    root: PathBuf,
    /// What is kept free for the catalogue: nothing where the cache has a disk of its own.
    kept_bytes: u64,
    /// The file and the directory, both locked as long as they are open: the file can be removed, and network
    /// file systems lock no directories.
    locks: Vec<File>,
}

/// The locks end now, also while a child that is just being started has a copy of the open files.
impl Drop for Directory {
    fn drop(&mut self) {
        // Those with whom it was shared may go on.
        if let Some(lock) = self.locks.first()
            && holder(&self.root) == Some(std::process::id())
        {
            let _ = lock.set_len(0);
        }
        for lock in &self.locks {
            let _ = flock(lock, FlockOperation::Unlock);
        }
    }
}

/// The name of the lock in its directory.
const LOCK: &str = "lock";

/// The name of the lock for what those who share it do one after the other.
const TURN: &str = "turn";

impl Directory {
    /// Takes a directory, making it where it is not; an error of kind `ResourceBusy` when another
    /// process has it.
    pub fn open(root: &Path) -> io::Result<Directory> {
        Directory::lock(root, FlockOperation::NonBlockingLockExclusive)
    }

    /// A directory to look into, whoever has it.
    pub(super) fn look(root: &Path) -> Directory {
        Directory {
            root: root.to_owned(),
            kept_bytes: 0,
            locks: Vec::new(),
        }
    }

    /// Takes a directory together with those who [let others in](Disk::let_others_in); an error of kind
    /// `ResourceBusy` when a process has it that does not.
    pub fn join(root: &Path) -> io::Result<Directory> {
        Directory::lock(root, FlockOperation::NonBlockingLockShared)
    }

    fn lock(root: &Path, how: FlockOperation) -> io::Result<Directory> {
        let is_new = !root.try_exists()?;
        DirBuilder::new().recursive(true).mode(0o700).create(root)?;
        let itself = File::open(root)?;
        if itself.metadata()?.mode() & 0o077 != 0 {
            itself.set_permissions(Permissions::from_mode(0o700))?;
        }
        if let (true, Some(parent)) = (is_new, root.parent()) {
            let parent = Some(parent).filter(|name| !name.as_os_str().is_empty());
            File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
        }
        // Not every file system locks directories, so any other answer is left alone: the file is locked too.
        let locked = flock(&itself, how);
        if locked == Err(Errno::WOULDBLOCK) {
            return Err(busy(root));
        }
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true).mode(0o600);
        let mut lock = options.open(root.join(LOCK))?;
        match flock(&lock, how) {
            Err(Errno::WOULDBLOCK) => return Err(busy(root)),
            locked => locked?,
        }
        // One name only, that of who had it first: those who join come and go.
        if how == FlockOperation::NonBlockingLockExclusive {
            lock.set_len(0)?;
            lock.write_all(std::process::id().to_string().as_bytes())?;
        }
        let beside = root.parent().unwrap_or(Path::new("/")).join(".");
        let is_shared = beside.metadata().is_ok_and(|beside| {
            itself
                .metadata()
                .is_ok_and(|itself| itself.dev() == beside.dev())
        });
        Ok(Directory {
            root: root.to_owned(),
            kept_bytes: if is_shared { reserve::RESERVE_BYTES } else { 0 },
            locks: vec![lock, itself],
        })
    }
}

/// Another process has the cache.
fn busy(root: &Path) -> io::Error {
    let who = holder(root).map_or("another process".to_owned(), |id| {
        format!("process {id}, which works with it")
    });
    let text = format!("{} is the cache of {who}", root.display());
    io::Error::new(io::ErrorKind::ResourceBusy, text)
}

/// Who has the cache, as it wrote into the lock; a process that has just taken it has not yet. Others may have the cache
/// after one that was killed.
fn holder(root: &Path) -> Option<u32> {
    let text = fs::read_to_string(root.join(LOCK)).ok()?;
    let process = text.parse().ok()?;
    let is_alive = Path::new("/proc").join(text).exists();
    is_alive.then_some(process)
}

/// Adds the files below a directory; what is neither file nor directory is nobody's.
fn add_files(root: &Path, below: &Path, files: &mut Vec<(PathBuf, u64)>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = below.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            add_files(root, &name, files)?;
        } else if kind.is_file() && name != Path::new(LOCK) && name != Path::new(TURN) {
            files.push((name, entry.metadata()?.len()));
        }
    }
    Ok(())
}

impl Disk for Directory {
    fn create(&self, name: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(true).write(true).mode(0o600);
        Ok(Box::new(options.open(self.root.join(name))?))
    }

    fn sync(&self, _name: &Path, file: &mut dyn DiskFile) -> io::Result<()> {
        file.sync()
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

    fn open(&self, name: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(File::open(self.root.join(name))?))
    }

    fn files(&self) -> io::Result<Vec<(PathBuf, u64)>> {
        let mut files = Vec::new();
        add_files(&self.root, Path::new(""), &mut files)?;
        files.sort();
        Ok(files)
    }

    fn make_directories(&self, names: &[PathBuf]) -> io::Result<()> {
        for name in names {
            let mut builder = DirBuilder::new();
            let builder = builder.recursive(true).mode(0o700);
            builder.create(self.root.join(name))?;
        }
        let parents: BTreeSet<&Path> = names.iter().filter_map(|name| name.parent()).collect();
        for parent in parents {
            self.sync_directory(parent)?;
        }
        Ok(())
    }

    fn let_others_in(&self) -> io::Result<()> {
        for lock in &self.locks {
            // Not every file system locks directories: any other answer is left alone.
            if flock(lock, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK) {
                return Err(busy(&self.root));
            }
        }
        Ok(())
    }

    fn turn(&self) -> io::Result<Box<dyn Any>> {
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true).mode(0o600);
        let turn = options.open(self.root.join(TURN))?;
        flock(&turn, FlockOperation::LockExclusive)?;
        Ok(Box::new(turn))
    }

    fn free_bytes(&self) -> io::Result<u64> {
        let free = reserve::free_bytes(&self.root)?;
        Ok(free.saturating_sub(self.kept_bytes))
    }
}
