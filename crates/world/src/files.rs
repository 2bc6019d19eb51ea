//! The cache's disk, in memory, with what is on its medium beside what its file system shows.
//!
//! After a power cut every name that was not synced with its directory is there or not, each for itself; contents that
//! were not synced are as they were, or new, or new up to somewhere, or have holes.

use crate::fate::{Kind, Steps, Wrong};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tapewise_archive::cache::{Disk, DiskFile};

/// What a disk writes as one.
const SECTOR_BYTES: usize = 512;

/// Numbers below their argument.
pub type Choose<'c> = dyn FnMut(u64) -> u64 + 'c;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    bytes: Vec<u8>,
    /// What is on the medium; none where nothing was ever synced.
    durable: Option<Vec<u8>>,
    /// The path that was noted with it.
    path: Option<Vec<u8>>,
}

/// What a power cut leaves of contents that were not synced: what was there before, all of it, its beginning, or some
/// of its sectors.
pub fn torn(old: Vec<u8>, new: Vec<u8>, choose: &mut Choose<'_>) -> Vec<u8> {
    match choose(4) {
        0 => old,
        1 => new,
        2 => new[..choose(new.len() as u64 + 1) as usize].to_vec(),
        _ => {
            let mut torn = new;
            for sector in torn.chunks_mut(SECTOR_BYTES) {
                if choose(2) == 0 {
                    sector.fill(0);
                }
            }
            torn
        }
    }
}

/// All that is on a disk.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: BTreeMap<u64, Node>,
    /// How often each is open.
    open: BTreeMap<u64, u64>,
    names: BTreeMap<PathBuf, u64>,
    durable: BTreeMap<PathBuf, u64>,
    next: u64,
}

impl Tree {
    /// A file's contents.
    pub fn contents(&self, name: &Path) -> Option<&[u8]> {
        let node = self.nodes.get(self.names.get(name)?)?;
        Some(&node.bytes)
    }

    /// Every file: its name, its contents, and the path that was noted with it.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &[u8], Option<&[u8]>)> {
        self.names.iter().filter_map(|(name, node)| {
            let node = self.nodes.get(node)?;
            Some((name.as_path(), node.bytes.as_slice(), node.path.as_deref()))
        })
    }

    /// Removes files by hand.
    pub fn remove(&mut self, gone: impl Fn(&Path) -> bool) {
        self.names.retain(|name, _| !gone(name));
        self.durable.retain(|name, _| !gone(name));
    }

    /// A new disk stands in the place of this one.
    pub fn clear(&mut self) {
        *self = Tree::default();
    }

    /// Turns a bit of a file, as a disk may that says nothing of it.
    pub fn rot(&mut self, name: &Path, bit: u64) {
        let node = self
            .names
            .get(name)
            .and_then(|node| self.nodes.get_mut(node));
        if let Some(node) = node
            && !node.bytes.is_empty()
        {
            let at = (bit / 8) as usize % node.bytes.len();
            node.bytes[at] ^= 1 << (bit % 8);
            node.durable = Some(node.bytes.clone());
        }
    }

    /// Everything is on the medium.
    pub fn settle(&mut self) {
        self.durable = self.names.clone();
        for node in self.nodes.values_mut() {
            node.durable = Some(node.bytes.clone());
        }
        self.sweep();
    }

    /// Leaves what a power cut may leave; how much of it was lost.
    pub fn cut_power(&mut self, choose: &mut Choose<'_>) -> u64 {
        let mut lost = 0;
        for node in self.nodes.values_mut() {
            if node.durable.as_ref() == Some(&node.bytes) {
                continue;
            }
            lost += 1;
            let old = node.durable.take().unwrap_or_default();
            let new = std::mem::take(&mut node.bytes);
            node.bytes = torn(old, new, choose);
        }
        let all: BTreeSet<PathBuf> = self
            .names
            .keys()
            .chain(self.durable.keys())
            .cloned()
            .collect();
        for name in all {
            let (now, then) = (self.names.get(&name), self.durable.get(&name));
            if now != then && choose(2) == 0 {
                lost += 1;
                match then.copied() {
                    Some(node) => self.names.insert(name, node),
                    None => self.names.remove(&name),
                };
            }
        }
        self.settle();
        lost
    }

    /// Forgets what has no name.
    fn sweep(&mut self) {
        let named: BTreeSet<u64> = self
            .names
            .values()
            .chain(self.durable.values())
            .copied()
            .collect();
        let open = &self.open;
        self.nodes
            .retain(|node, _| named.contains(node) || open.contains_key(node));
    }
}

/// The disk as the cache sees it; clones are the same disk.
#[derive(Clone)]
pub struct MemoryDisk {
    tree: Arc<Mutex<Tree>>,
    steps: Arc<dyn Steps>,
    /// Bytes that fit.
    capacity_bytes: u64,
}

impl MemoryDisk {
    /// An empty disk.
    pub fn new(steps: Arc<dyn Steps>, capacity_bytes: u64) -> MemoryDisk {
        MemoryDisk {
            tree: Arc::default(),
            steps,
            capacity_bytes,
        }
    }

    /// What is on it.
    pub fn tree(&self) -> MutexGuard<'_, Tree> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A step that is done or not.
    fn step(&self, kind: Kind) -> io::Result<()> {
        match self.steps.step(kind)? {
            None => Ok(()),
            Some(wrong) => Err(error(wrong)),
        }
    }

    /// The same disk as another process sees it.
    pub fn seen_by(&self, steps: Arc<dyn Steps>) -> MemoryDisk {
        MemoryDisk {
            steps,
            ..self.clone()
        }
    }

    fn file(&self, node: u64) -> Box<dyn DiskFile> {
        *self.tree().open.entry(node).or_insert(0) += 1;
        Box::new(Handle {
            disk: self.clone(),
            node,
            at: 0,
        })
    }
}

/// What the system says.
pub fn error(wrong: Wrong) -> io::Error {
    match wrong {
        Wrong::Full => ErrorKind::StorageFull.into(),
        Wrong::Interrupted => ErrorKind::Interrupted.into(),
        _ => io::Error::from_raw_os_error(5),
    }
}

fn missing() -> io::Error {
    ErrorKind::NotFound.into()
}

impl Disk for MemoryDisk {
    fn create(&self, name: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.step(Kind::Name)?;
        let mut tree = self.tree();
        let node = tree.next;
        tree.next += 1;
        tree.nodes.insert(node, Node::default());
        tree.names.insert(name.to_owned(), node);
        drop(tree);
        Ok(self.file(node))
    }

    fn sync(&self, _name: &Path, file: &mut dyn DiskFile) -> io::Result<()> {
        file.sync()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(Kind::Name)?;
        let mut tree = self.tree();
        let node = tree.names.remove(from).ok_or_else(missing)?;
        tree.names.insert(to.to_owned(), node);
        Ok(())
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        self.step(Kind::Sync)?;
        let mut tree = self.tree();
        let is_in = |name: &PathBuf| name.parent() == Some(directory);
        tree.durable.retain(|name, _| !is_in(name));
        let here: Vec<(PathBuf, u64)> = tree
            .names
            .iter()
            .filter(|(name, _)| is_in(name))
            .map(|(name, node)| (name.clone(), *node))
            .collect();
        tree.durable.extend(here);
        tree.sweep();
        Ok(())
    }

    fn remove(&self, name: &Path) -> io::Result<()> {
        self.step(Kind::Name)?;
        self.tree().names.remove(name).map(drop).ok_or_else(missing)
    }

    fn open(&self, name: &Path) -> io::Result<Box<dyn DiskFile>> {
        let node = self.tree().names.get(name).copied();
        Ok(self.file(node.ok_or_else(missing)?))
    }

    fn files(&self) -> io::Result<Vec<(PathBuf, u64)>> {
        self.step(Kind::Read)?;
        let tree = self.tree();
        Ok(tree
            .files()
            .map(|(name, bytes, _)| (name.to_owned(), bytes.len() as u64))
            .collect())
    }

    /// Directories are there: what is made in them, and lost, is files.
    fn make_directories(&self, _names: &[PathBuf]) -> io::Result<()> {
        self.step(Kind::Name)
    }

    fn is_in_turns(&self) -> bool {
        true
    }

    fn turn(&self) -> io::Result<Box<dyn Any>> {
        Ok(self.steps.turn()?)
    }

    fn free_bytes(&self) -> io::Result<u64> {
        let tree = self.tree();
        let held: u64 = tree
            .nodes
            .values()
            .map(|node| node.bytes.len() as u64)
            .sum();
        Ok(self.capacity_bytes.saturating_sub(held))
    }
}

/// An open file. What has lost its name is kept until it is closed, or until the next sync of its directory.
struct Handle {
    disk: MemoryDisk,
    node: u64,
    at: usize,
}

impl Drop for Handle {
    fn drop(&mut self) {
        let mut tree = self.disk.tree();
        if let Some(count) = tree.open.get_mut(&self.node) {
            *count -= 1;
            if *count == 0 {
                tree.open.remove(&self.node);
            }
        }
    }
}

impl Read for Handle {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wrong = self.disk.steps.step(Kind::Read)?;
        let most = match wrong {
            None => buffer.len(),
            Some(Wrong::Short) => buffer.len().div_ceil(3),
            Some(wrong) => return Err(error(wrong)),
        };
        let tree = self.disk.tree();
        let bytes = tree
            .nodes
            .get(&self.node)
            .map_or(&[][..], |node| &node.bytes);
        let left = bytes.get(self.at..).unwrap_or_default();
        let count = left.len().min(most);
        buffer[..count].copy_from_slice(&left[..count]);
        drop(tree);
        self.at += count;
        Ok(count)
    }
}

impl Write for Handle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let wrong = self.disk.steps.step(Kind::Write)?;
        let count = match wrong {
            None => bytes.len(),
            Some(Wrong::Short) => bytes.len().div_ceil(3),
            Some(wrong) => return Err(error(wrong)),
        };
        if self.disk.free_bytes()? < count as u64 {
            return Err(ErrorKind::StorageFull.into());
        }
        let mut tree = self.disk.tree();
        let Some(node) = tree.nodes.get_mut(&self.node) else {
            return Ok(count);
        };
        let end = self.at + count;
        if node.bytes.len() < end {
            node.bytes.resize(end, 0);
        }
        node.bytes[self.at..end].copy_from_slice(&bytes[..count]);
        drop(tree);
        self.at = end;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Handle {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let end = self
            .disk
            .tree()
            .nodes
            .get(&self.node)
            .map_or(0, |node| node.bytes.len());
        let at = match to {
            SeekFrom::Start(at) => i64::try_from(at).unwrap_or(i64::MAX),
            SeekFrom::End(by) => end as i64 + by,
            SeekFrom::Current(by) => self.at as i64 + by,
        };
        self.at = usize::try_from(at).map_err(|_| ErrorKind::InvalidInput)?;
        Ok(self.at as u64)
    }
}

impl DiskFile for Handle {
    fn sync(&mut self) -> io::Result<()> {
        self.disk.step(Kind::Sync)?;
        if let Some(node) = self.disk.tree().nodes.get_mut(&self.node) {
            node.durable = Some(node.bytes.clone());
        }
        Ok(())
    }

    fn note(&self, path: &[u8], _modified_ns: i64, _mode: u32) {
        if let Some(node) = self.disk.tree().nodes.get_mut(&self.node) {
            node.path = Some(path.to_owned());
        }
    }

    fn noted_path(&self) -> Option<Vec<u8>> {
        self.disk.tree().nodes.get(&self.node)?.path.clone()
    }
}
