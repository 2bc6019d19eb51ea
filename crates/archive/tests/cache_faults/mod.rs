//! A directory and records that stop at a chosen step, as in a process that is killed there.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tapewise_archive::cache::{Directory, Disk, DiskFile};
use tapewise_archive::catalogue::{
    CacheKey, CacheRecords, Cached, Catalogue, CatalogueError, Evicted, FileId, Holds, NewStore,
    RequestId, Result, Tie,
};
use tapewise_archive::sums::Sum;

/// What happens at the chosen step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The process is killed: nothing is done any more.
    Dies,
    /// This step fails, the next ones do not.
    FailsOnce,
}

/// Counts steps, and pulls the plug at one of them.
pub struct Plug {
    left: Mutex<u64>,
    fate: Fate,
}

impl Plug {
    pub fn new(steps: u64, fate: Fate) -> Arc<Plug> {
        let left = Mutex::new(steps);
        Arc::new(Plug { left, fate })
    }

    /// One that nobody pulls.
    pub fn fast() -> Arc<Plug> {
        Plug::new(u64::MAX, Fate::Dies)
    }

    pub fn dead(&self) -> bool {
        self.fate == Fate::Dies && *self.left.lock().expect("a count") == 0
    }

    /// Whether the instant that comes now is one of failure.
    fn fails(&self) -> bool {
        let mut left = self.left.lock().expect("a count");
        match (*left, self.fate) {
            (0, Fate::Dies) => true,
            (0, Fate::FailsOnce) => false,
            _ => {
                *left -= 1;
                *left == 0
            }
        }
    }

    /// Does a step; the plug may be pulled before it and behind it.
    fn step<T, E>(
        &self,
        error: impl Fn() -> E,
        step: impl FnOnce() -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        if self.fails() {
            return Err(error());
        }
        let done = step()?;
        if self.fails() {
            return Err(error());
        }
        Ok(done)
    }
}

/// What a power cut undoes.
#[derive(Clone, Default)]
pub struct Wreck(Arc<Mutex<Unsynced>>);

#[derive(Default)]
struct Unsynced {
    /// Files whose contents are not on the medium.
    contents: Vec<PathBuf>,
    /// Renames whose directory is not synced: to, from, and what had the name before.
    names: BTreeMap<PathBuf, (PathBuf, Option<Vec<u8>>)>,
    /// Files whose removal is not on the medium.
    removed: BTreeMap<PathBuf, Vec<u8>>,
}

impl Wreck {
    /// What was not synced is as a power cut may leave it.
    pub fn cut_power(&self, root: &Path) {
        let unsynced = std::mem::take(&mut *self.0.lock().expect("a wreck"));
        for (name, bytes) in unsynced.removed {
            if !root.join(&name).exists() {
                fs::write(root.join(&name), bytes).expect("back again");
            }
        }
        for name in unsynced.contents {
            if let Ok(file) = File::options().write(true).open(root.join(name)) {
                let half = file.metadata().expect("a length").len() / 2;
                file.set_len(half).expect("cut");
            }
        }
        for (to, (from, before)) in unsynced.names {
            // It is not there where it was removed since.
            let _ = fs::rename(root.join(&to), root.join(from));
            if let Some(before) = before {
                fs::write(root.join(to), before).expect("back again");
            }
        }
    }
}

/// A directory that stops at a step.
pub struct Mortal {
    root: PathBuf,
    directory: Directory,
    plug: Arc<Plug>,
    wreck: Wreck,
}

impl Mortal {
    pub fn new(root: &Path, plug: Arc<Plug>) -> io::Result<Mortal> {
        Ok(Mortal {
            root: root.to_owned(),
            directory: Directory::open(root)?,
            plug,
            wreck: Wreck::default(),
        })
    }

    pub fn wreck(&self) -> Wreck {
        self.wreck.clone()
    }

    fn step<T>(&self, step: impl FnOnce(&mut Unsynced) -> io::Result<T>) -> io::Result<T> {
        let failed = || io::Error::other("the plug was pulled");
        let mut unsynced = self.wreck.0.lock().expect("a wreck");
        self.plug.step(failed, || step(&mut unsynced))
    }
}

impl Disk for Mortal {
    fn create(&self, name: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.step(|unsynced| {
            unsynced.contents.push(name.to_owned());
            self.directory.create(name)
        })
    }

    /// Nothing but the test cuts the power: the medium is not waited for.
    fn sync(&self, name: &Path, _file: &mut dyn DiskFile) -> io::Result<()> {
        self.step(|unsynced| {
            unsynced.contents.retain(|unsynced| unsynced != name);
            Ok(())
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(|unsynced| {
            for name in &mut unsynced.contents {
                if name == from {
                    *name = to.to_owned();
                }
            }
            let before = fs::read(self.root.join(to)).ok();
            let undone = || (from.to_owned(), before);
            unsynced.names.entry(to.to_owned()).or_insert_with(undone);
            self.directory.rename(from, to)
        })
    }

    fn sync_directory(&self, name: &Path) -> io::Result<()> {
        self.step(|unsynced| {
            unsynced.names.retain(|to, _| to.parent() != Some(name));
            unsynced.removed.retain(|of, _| of.parent() != Some(name));
            Ok(())
        })
    }

    fn remove(&self, name: &Path) -> io::Result<()> {
        self.step(|unsynced| {
            let bytes = fs::read(self.root.join(name))?;
            unsynced.removed.insert(name.to_owned(), bytes);
            self.directory.remove(name)
        })
    }

    fn open(&self, name: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.step(|_| self.directory.open(name))
    }

    fn files(&self) -> io::Result<Vec<(PathBuf, u64)>> {
        self.step(|_| self.directory.files())
    }

    fn make_directories(&self, names: &[PathBuf]) -> io::Result<()> {
        self.step(|_| self.directory.make_directories(names))
    }
}

/// Records that stop at a step.
pub struct MortalRecords {
    catalogue: Arc<dyn Catalogue>,
    plug: Arc<Plug>,
}

impl MortalRecords {
    pub fn new(catalogue: Arc<dyn Catalogue>, plug: Arc<Plug>) -> MortalRecords {
        MortalRecords { catalogue, plug }
    }

    fn step<T>(&self, step: impl FnOnce(&dyn Catalogue) -> Result<T>) -> Result<T> {
        let source = || "the plug was pulled".into();
        let failed = || match self.plug.fate {
            Fate::Dies => CatalogueError::Database(source()),
            Fate::FailsOnce => CatalogueError::CommitUnknown { source: source() },
        };
        self.plug.step(failed, || step(&*self.catalogue))
    }
}

impl CacheRecords for MortalRecords {
    fn store_cached(
        &self,
        files: &[(CacheKey, NewStore)],
        at_ns: i64,
    ) -> Result<Vec<(FileId, RequestId)>> {
        self.step(|catalogue| catalogue.store_cached(files, at_ns))
    }

    fn stage_cached(&self, key: CacheKey, file: FileId, bytes: u64, at_ns: i64) -> Result<()> {
        self.step(|catalogue| catalogue.stage_cached(key, file, bytes, at_ns))
    }

    fn longest_path(&self) -> Result<Option<usize>> {
        self.step(|catalogue| catalogue.longest_path())
    }

    fn tie(&self) -> Result<Tie> {
        self.step(|catalogue| catalogue.tie())
    }

    fn move_on(&self, beyond: u64, line: &str) -> Result<Tie> {
        self.step(|catalogue| catalogue.move_on(beyond, line))
    }

    fn cached(&self, file: FileId) -> Result<Option<Cached>> {
        self.step(|catalogue| catalogue.cached(file))
    }

    fn all_cached(&self) -> Result<Vec<Cached>> {
        self.step(|catalogue| catalogue.all_cached())
    }

    fn pin(&self, file: FileId, holder: &str, until_ns: Option<i64>) -> Result<()> {
        self.step(|catalogue| catalogue.pin(file, holder, until_ns))
    }

    fn unpin(&self, file: FileId, holder: &str) -> Result<bool> {
        self.step(|catalogue| catalogue.unpin(file, holder))
    }

    fn evict(&self, bytes: u64, used: &[(FileId, i64)], at_ns: i64) -> Result<Vec<Evicted>> {
        self.step(|catalogue| catalogue.evict(bytes, used, at_ns))
    }

    fn forget_cached(&self, files: &[FileId]) -> Result<Vec<FileId>> {
        self.step(|catalogue| catalogue.forget_cached(files))
    }

    fn sums_of(&self, file: FileId) -> Result<Vec<Sum>> {
        self.step(|catalogue| catalogue.sums_of(file))
    }

    fn drop_cached(&self, file: FileId) -> Result<()> {
        self.step(|catalogue| catalogue.drop_cached(file))
    }

    fn cache_holds(&self, at_ns: i64) -> Result<Holds> {
        self.step(|catalogue| catalogue.cache_holds(at_ns))
    }
}
