//! One file on its way: written beside its place, compared, and only then given its name.

use super::expected::{Expected, READ_BYTES, kinds, mismatch};
use super::watch::{Step, Watched};
use super::{DeliverError, Delivered, InnerPath};
use crate::sums::{Sum, Summer};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{
    AtFlags, FallocateFlags, FileType, FlockOperation, Mode, OFlags, RenameFlags, XattrFlags,
};
use rustix::io::{Errno, retry_on_intr};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use xxhash_rust::xxh64::xxh64;

/// The attribute of a file that is being written, and of one that a killed delivery has left.
const MARK: &str = "user.tapewise.part";

/// How the name of a file begins and ends while it is written.
const PREFIX: &str = ".tapewise-";
const SUFFIX: &str = ".part";

/// How many files that are no leftovers may have the name of one.
const MOST_NAMESAKES: u32 = 16;

/// A file on its way; dropped before it is finished, nothing of it is left.
#[derive(Debug)]
pub struct Delivery {
    path: InnerPath,
    expected: Expected,
    replace: bool,
    parent: OwnedFd,
    part: Part,
    written: Written,
    summer: Option<Summer>,
    /// Where [`Delivery::write`] goes on.
    offset: u64,
}

impl Delivery {
    pub(super) fn begin(
        (parent, watched): (OwnedFd, Watched),
        path: InnerPath,
        expected: Expected,
        replace: bool,
    ) -> Result<Delivery, DeliverError> {
        let part = Part::create((&parent, &watched), &path, &expected)?;
        let kinds = kinds(&expected);
        Ok(Delivery {
            summer: (!kinds.is_empty()).then(|| Summer::new(kinds)),
            path,
            expected,
            replace,
            parent,
            part,
            written: Written::default(),
            offset: 0,
        })
    }

    /// Where the file will be.
    pub fn path(&self) -> &InnerPath {
        &self.path
    }

    /// Writes the bytes that follow those written last.
    ///
    /// # Errors
    /// As [`Delivery::write_at`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), DeliverError> {
        self.write_at(self.offset, bytes)
    }

    /// Writes bytes at an offset in the file; in any order, but in order its sums are computed on the way.
    ///
    /// # Errors
    /// When they end beyond the length expected, or the destination does not take them.
    pub fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), DeliverError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let end = offset.saturating_add(bytes.len() as u64);
        if end > self.expected.bytes {
            return Err(DeliverError::Beyond {
                path: self.path.to_string(),
                end,
                bytes: self.expected.bytes,
            });
        }
        let written = self
            .part
            .before(|file| Step::Write(file, bytes.len() as u64))
            .and_then(|()| self.part.file.write_all_at(bytes, offset));
        written.map_err(|error| self.cannot("write it", error))?;
        // What begins before the end of what was summed up was summed up as something else: a hole, or other bytes.
        let summed_to = self.written.end();
        if offset < summed_to {
            self.summer = None;
        }
        if let Some(summer) = &mut self.summer {
            update_with_zeros(summer, offset - summed_to);
            summer.update(bytes);
        }
        self.written.add(offset, end);
        self.offset = end;
        Ok(())
    }

    /// Compares the file with what is known of it, syncs it, and gives it its name.
    ///
    /// # Errors
    /// When bytes are missing, a sum does not match, its name was taken meanwhile, or the destination fails. The
    /// file is then removed, unless it has its name and only its directory cannot be synced: then it stays, whole,
    /// and may be gone after a crash.
    pub fn finish(mut self) -> Result<Delivered, DeliverError> {
        let bytes = self.expected.bytes;
        if let (false, Some((from, to))) = (self.expected.sparse, self.written.first_gap(bytes)) {
            let path = self.path.to_string();
            return Err(DeliverError::Short {
                path,
                from,
                to,
                bytes,
            });
        }
        let sized = self
            .part
            .before(|file| Step::SetLength(file, bytes))
            .and_then(|()| self.part.file.set_len(bytes));
        sized.map_err(|error| self.cannot("set its length", error))?;
        let sums = self.sums()?;
        if let Some((expected, found)) = mismatch(&self.expected.sums, &sums) {
            return Err(DeliverError::Mismatch {
                path: self.path.to_string(),
                expected,
                found,
            });
        }
        let file = self.part.file.as_fd();
        let not_kept = self.expected.metadata.give(file, self.path.as_bytes())?;
        let name = self.path.split().1;
        // A whole file that is called as a part is must never be taken for a leftover. All others keep the mark until
        // they have their name: whoever is killed before that leaves one.
        let is_called_so = name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes());
        if is_called_so {
            self.part.unmark();
        }
        let synced = self
            .part
            .before(|file| Step::Sync(file))
            .and_then(|()| self.part.file.sync_all());
        synced.map_err(|error| self.cannot("sync it", error))?;
        self.name_it()?;
        self.part.is_named = true;
        let watched = &self.part.watched;
        watched
            .before_sync()
            .and_then(|()| Ok(retry_on_intr(|| rustix::fs::fsync(&self.parent))?))
            .map_err(|error| self.cannot("sync its directory", error))?;
        if !is_called_so {
            self.part.unmark();
        }
        Ok(Delivered {
            path: self.path.clone(),
            bytes,
            outcome: self.expected.outcome(),
            modified_ns: self.expected.metadata.modified_ns,
            sums,
            not_kept,
        })
    }

    /// The sums of the whole file: those computed on the way, or of what is read again.
    fn sums(&mut self) -> Result<Vec<Sum>, DeliverError> {
        let kinds = kinds(&self.expected);
        if kinds.is_empty() {
            return Ok(Vec::new());
        }
        let bytes = self.expected.bytes;
        if let Some(mut summer) = self.summer.take() {
            update_with_zeros(&mut summer, bytes - self.written.end());
            return Ok(summer.finish());
        }
        let mut summer = Summer::new(kinds);
        let mut buffer = vec![0; READ_BYTES];
        let mut at = 0;
        while at < bytes {
            let chunk = (bytes - at).min(READ_BYTES as u64);
            let chunk = &mut buffer[..chunk as usize];
            let read = self.part.file.read_exact_at(chunk, at);
            read.map_err(|error| self.cannot("read it again", error))?;
            summer.update(chunk);
            at += chunk.len() as u64;
        }
        Ok(summer.finish())
    }

    /// Gives the file its name, in one step that replaces nothing unless that was asked for.
    fn name_it(&self) -> Result<(), DeliverError> {
        let (_, name) = self.path.split();
        let (parent, part) = (&self.parent, self.part.name.as_str());
        self.part
            .watched
            .before_rename(part.as_bytes(), name)
            .map_err(|error| self.cannot("give it its name", error))?;
        let named = if self.replace {
            rustix::fs::renameat(parent, part, parent, name)
        } else {
            rustix::fs::renameat_with(parent, part, parent, name, RenameFlags::NOREPLACE)
        };
        let named = match named {
            // Some file systems, NFS among them, cannot rename so; a hard link does not replace anything either.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) if !self.replace => {
                rustix::fs::linkat(parent, part, parent, name, AtFlags::empty())
                    .and_then(|()| rustix::fs::unlinkat(parent, part, AtFlags::empty()))
            }
            named => named,
        };
        named.map_err(|error| match error {
            Errno::EXIST => DeliverError::Exists {
                path: self.path.to_string(),
                why: "it came while this one was written".to_owned(),
            },
            error => self.cannot("give it its name", error.into()),
        })
    }

    fn cannot(&self, doing: &'static str, error: io::Error) -> DeliverError {
        DeliverError::io(self.path.as_bytes(), doing, error)
    }
}

/// Sums up a hole.
fn update_with_zeros(summer: &mut Summer, bytes: u64) {
    static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
    let mut left = bytes;
    while left > 0 {
        let some = left.min(ZEROS.len() as u64);
        summer.update(&ZEROS[..some as usize]);
        left -= some;
    }
}

/// The file under the name that it has while it is written; removed when dropped, unless it was given its own.
#[derive(Debug)]
struct Part {
    /// The directory again: what removes the file must not borrow from what holds it.
    parent: OwnedFd,
    name: String,
    /// Locked for as long as it is written, so that what nobody holds is a leftover.
    file: File,
    is_named: bool,
    watched: Watched,
}

impl Part {
    /// Creates the file, and removes what a delivery that was killed has left of it.
    ///
    /// The name follows from that of the file, so that whoever tries again finds the leftover. Nothing that has the
    /// name is ever written to: it could be a hard link to anything. A file may be called like this and be wanted:
    /// only one that is [marked](MARK) is a leftover. Beside others a number is added to the name.
    fn create(
        parent: (&OwnedFd, &Watched),
        path: &InnerPath,
        expected: &Expected,
    ) -> Result<Part, DeliverError> {
        let (_, file_name) = path.split();
        let hash = xxh64(file_name, 0);
        for number in 0..MOST_NAMESAKES {
            let name = match number {
                0 => format!("{PREFIX}{hash:016x}{SUFFIX}"),
                number => format!("{PREFIX}{hash:016x}-{number}{SUFFIX}"),
            };
            if let Some(part) = Part::create_as(parent, path, expected, name)? {
                return Ok(part);
            }
        }
        Err(DeliverError::io(
            path.as_bytes(),
            "find a name for it that no file has",
            Errno::EXIST,
        ))
    }

    /// The file under a name; none where that is another file's.
    fn create_as(
        (parent, watched): (&OwnedFd, &Watched),
        path: &InnerPath,
        expected: &Expected,
        name: String,
    ) -> Result<Option<Part>, DeliverError> {
        let cannot =
            |doing, error: Errno| DeliverError::io(path.as_bytes(), doing, io::Error::from(error));
        let busy = || DeliverError::Busy {
            path: path.to_string(),
            part: name.clone(),
        };
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let before = |step: for<'s> fn(&'s Path) -> Step<'s>, doing| {
            let asked = watched.before(name.as_bytes(), step);
            asked.map_err(|error| DeliverError::io(path.as_bytes(), doing, error))
        };
        before(|file| Step::Create(file), "create it")?;
        let create = || {
            let mode = expected.metadata.creation_mode();
            rustix::fs::openat(parent, name.as_str(), flags, mode)
        };
        let created = match create() {
            Err(Errno::EXIST) => match Leftover::lock(parent, &name).and_then(|leftover| {
                leftover.remove(parent, &name, &|| {
                    let asked = watched.before(name.as_bytes(), |file| Step::Remove(file));
                    asked.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
                })
            }) {
                Ok(true) => create(),
                Ok(false) => return Ok(None),
                Err(Errno::WOULDBLOCK) => return Err(busy()),
                Err(error) => return Err(cannot("remove its leftover", error)),
            },
            created => created,
        };
        let file = match created {
            Ok(file) => File::from(file),
            Err(Errno::EXIST) => return Err(busy()),
            Err(error) => return Err(cannot("create it", error)),
        };
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(busy()),
            Err(error) => return Err(cannot("lock it", error)),
        }
        // Between creation and lock another may have taken it for a leftover and removed it.
        if !has_name(&file, parent, &name).map_err(|error| cannot("look at it", error))? {
            return Err(busy());
        }
        let parent = parent.try_clone();
        let part = Part {
            parent: parent.map_err(|error| DeliverError::io(path.as_bytes(), "open", error))?,
            name,
            file,
            is_named: false,
            watched: watched.clone(),
        };
        part.mark();
        part.reserve(path, expected)?;
        Ok(Some(part))
    }

    /// Says of the file that it is not whole. Where a file system keeps no such notes, what a killed delivery leaves
    /// stays until somebody removes it.
    fn mark(&self) {
        if self.before(|file| Step::Mark(file)).is_err() {
            return;
        }
        let _ = rustix::fs::fsetxattr(&self.file, MARK, b"1", XattrFlags::empty());
    }

    /// The file is whole.
    fn unmark(&self) {
        if self.before(|file| Step::Mark(file)).is_err() {
            return;
        }
        let _ = rustix::fs::fremovexattr(&self.file, MARK);
    }

    /// Asks whether a step with it is done.
    fn before(&self, step: impl FnOnce(&Path) -> Step<'_>) -> io::Result<()> {
        self.watched.before(self.name.as_bytes(), step)
    }

    /// Takes the room for the file, so that a disk too small is known before the file is read from tape.
    fn reserve(&self, path: &InnerPath, expected: &Expected) -> Result<(), DeliverError> {
        if expected.sparse || expected.bytes == 0 {
            return Ok(());
        }
        // ext4 takes all that is free before it says that this is too little, and everyone else on the disk finds it
        // full meanwhile: so ask first.
        let fits = || {
            let space = rustix::fs::fstatvfs(&self.file)?;
            let free_bytes = space.f_bavail.saturating_mul(space.f_frsize);
            if free_bytes < expected.bytes {
                return Err(Errno::NOSPC);
            }
            let flags = FallocateFlags::KEEP_SIZE;
            retry_on_intr(|| rustix::fs::fallocate(&self.file, flags, 0, expected.bytes))
        };
        match fits() {
            // Not every file system can: then a full disk is found when it is full.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Err(error) => Err(DeliverError::io(
                path.as_bytes(),
                "reserve room for it",
                error,
            )),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.is_named && self.before(|file| Step::Remove(file)).is_ok() {
            // There is nobody to tell; the next delivery of the file removes what is left.
            let _ = rustix::fs::unlinkat(&self.parent, self.name.as_str(), AtFlags::empty());
        }
    }
}

/// What a delivery that was killed has left, locked until it is removed: of two that take it over one is told
/// that it is held, and neither removes what the other has created in its place.
struct Leftover {
    /// What is no file is held by nobody, and not opened.
    file: Option<OwnedFd>,
}

impl Leftover {
    /// [`Errno::WOULDBLOCK`] where a process holds it.
    fn lock(parent: &OwnedFd, name: &str) -> Result<Leftover, Errno> {
        let there = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
        match there.map(|there| FileType::from_raw_mode(there.st_mode)) {
            Ok(FileType::RegularFile) => {}
            Ok(_) | Err(Errno::NOENT) => return Ok(Leftover { file: None }),
            Err(error) => return Err(error),
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(parent, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(Leftover { file: None }),
            Err(error) => return Err(error),
        };
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Leftover { file: Some(file) })
    }

    /// Whether it is gone; false where it is somebody's file and no leftover. [`Errno::WOULDBLOCK`] where another
    /// has removed it before it was locked, and may hold what has its name.
    fn remove(
        self,
        parent: &OwnedFd,
        name: &str,
        before: &dyn Fn() -> Result<(), Errno>,
    ) -> Result<bool, Errno> {
        let Some(file) = &self.file else {
            // Removed meanwhile by whoever left it, or no file and so none of ours.
            let there = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
            return Ok(matches!(there, Err(Errno::NOENT)));
        };
        if !has_name(file, parent, name)? {
            return Err(Errno::WOULDBLOCK);
        }
        if rustix::fs::fgetxattr(file, MARK, &mut [0; 8]).is_err() {
            return Ok(false);
        }
        before()?;
        match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(error) => Err(error),
        }
    }
}

/// Whether an open file is what has this name in a directory.
fn has_name(file: impl AsFd, parent: &OwnedFd, name: &str) -> Result<bool, Errno> {
    let held = rustix::fs::fstat(file)?;
    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(named) => Ok((named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The runs of bytes that were written: beginnings to ends, apart from each other.
#[derive(Debug, Default)]
struct Written(BTreeMap<u64, u64>);

impl Written {
    fn add(&mut self, from: u64, to: u64) {
        let (mut from, mut to) = (from, to);
        // The usual case, without touching the tree.
        if let Some(mut last) = self.0.last_entry()
            && *last.get() == from
        {
            *last.get_mut() = to;
            return;
        }
        // Everything that touches the new run becomes part of it.
        while let Some((&begin, &end)) = self.0.range(..=to).next_back()
            && end >= from
        {
            self.0.remove(&begin);
            (from, to) = (from.min(begin), to.max(end));
        }
        self.0.insert(from, to);
    }

    /// The end of the last run.
    fn end(&self) -> u64 {
        self.0.last_key_value().map_or(0, |(_, &end)| end)
    }

    /// The first run that is missing from a file of some length.
    fn first_gap(&self, bytes: u64) -> Option<(u64, u64)> {
        let mut reached = 0;
        for (&begin, &end) in &self.0 {
            if begin > reached {
                return Some((reached, begin));
            }
            reached = end;
        }
        (reached < bytes).then_some((reached, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_that_take_over_a_leftover_one_is_busy_and_no_new_file_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let parent = rustix::fs::open(directory.path(), flags, Mode::empty()).unwrap();
        let path = InnerPath::new("clip").unwrap();
        let watched = Watched {
            directory: directory.path().to_owned(),
            by: None,
        };
        let create = || Part::create((&parent, &watched), &path, &Expected::of(5));
        let name = create().unwrap().name.clone();
        let place = directory.path().join(&name);
        std::fs::write(&place, "half").unwrap();
        let leftover = File::open(&place).unwrap();
        rustix::fs::fsetxattr(&leftover, MARK, b"1", XattrFlags::empty()).unwrap();

        let theirs = Leftover::lock(&parent, &name).unwrap();
        assert!(matches!(create(), Err(DeliverError::Busy { .. })));
        // They have removed it and begun anew before we lock what we have opened.
        std::fs::remove_file(&place).unwrap();
        let ours = create().unwrap();
        let late = theirs.remove(&parent, &name, &|| Ok(()));
        assert_eq!(late, Err(Errno::WOULDBLOCK));
        assert!(has_name(&ours.file, &parent, &name).unwrap());
    }
}
