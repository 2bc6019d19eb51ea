//! The directory below which files appear: opened once, and from then on only by parts relative to it.

use super::delivery::Delivery;
use super::expected::{Expected, READ_BYTES, kinds, mismatch};
use super::watch::{Step, Watch, Watched};
use super::{DeliverError, InnerPath, Outcome, shown};
use crate::sums::{Kind, Sum, Summer};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};
use std::ffi::CStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

/// How directories on the way are opened: never through a link.
const DIRECTORY: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::RDONLY)
    .union(OFlags::CLOEXEC);

/// The directory below which files appear.
///
/// It may be used by several threads, and several processes may deliver to one directory.
#[derive(Clone, Debug)]
pub struct Destination {
    root: Arc<OwnedFd>,
    replace: bool,
    watched: Watched,
}

/// What stands where a file is to be delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Nothing.
    Absent,
    /// The file: it was delivered before. With these sums, computed now.
    Delivered(Outcome, Vec<Sum>),
    /// Something else, and in what it differs.
    Other(String),
}

impl Destination {
    /// Opens a directory that exists; links on the way to it are the caller's own and followed.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(directory: &Path) -> Result<Destination, DeliverError> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let root = rustix::fs::open(directory, flags, Mode::empty()).map_err(|error| {
            let name = directory.as_os_str().as_encoded_bytes();
            DeliverError::io(name, "open the destination", error)
        })?;
        Ok(Destination {
            root: Arc::new(root),
            replace: false,
            watched: Watched {
                directory: directory.to_owned(),
                by: None,
            },
        })
    }

    /// The same where files take the place of others that have their name; directories never do.
    pub fn replacing(self) -> Destination {
        Destination {
            replace: true,
            ..self
        }
    }

    /// The same where somebody is asked before each step.
    pub fn watched_by(mut self, watch: Option<Arc<dyn Watch>>) -> Destination {
        self.watched.by = watch;
        self
    }

    pub(super) fn root(&self) -> &OwnedFd {
        &self.root
    }

    pub(super) fn replaces(&self) -> bool {
        self.replace
    }

    /// Whether it has no entries.
    ///
    /// # Errors
    /// When it cannot be listed.
    pub fn is_empty(&self) -> Result<bool, DeliverError> {
        let cannot = |error| {
            let name = self.watched.directory.as_os_str().as_encoded_bytes();
            DeliverError::io(name, "list the destination", error)
        };
        let mut entries = Dir::read_from(&*self.root).map_err(cannot)?;
        let its_own = |name: &CStr| [c".", c".."].contains(&name);
        let other = entries.find(|entry| !entry.as_ref().is_ok_and(|one| its_own(one.file_name())));
        match other.transpose() {
            Ok(other) => Ok(other.is_none()),
            Err(error) => Err(cannot(error)),
        }
    }

    /// Begins to deliver a file; directories on the way are made.
    ///
    /// # Errors
    /// When something has its name, something on the way is no directory, another process is delivering the same
    /// file, or there is no room for it.
    pub fn begin(&self, path: &InnerPath, expected: Expected) -> Result<Delivery, DeliverError> {
        let (directory, name) = path.split();
        let parent = self.make_parent(path)?;
        if let Some(there) = look(&parent, name, path)? {
            let is_directory = FileType::from_raw_mode(there.st_mode) == FileType::Directory;
            if is_directory || !self.replace {
                return Err(DeliverError::Exists {
                    path: path.to_string(),
                    why: self.difference(&there, &expected),
                });
            }
        }
        let watched = self.watched.below(directory.unwrap_or_default());
        Delivery::begin((parent, watched), path.clone(), expected, self.replace)
    }

    /// Makes a directory, and those on the way to it; that it is there already is no error.
    ///
    /// # Errors
    /// When something that is no directory has its name.
    pub fn make_directory(&self, path: &InnerPath) -> Result<(), DeliverError> {
        let parent = self.make_parent(path)?;
        let (directory, name) = path.split();
        let watched = self.watched.below(directory.unwrap_or_default());
        enter((&parent, &watched), name, path, true).map(|_| ())
    }

    /// What stands where a file is to be delivered; a file that is there is read if it has the right length and
    /// sums of it are known. Without sums, length and time make it the same.
    ///
    /// # Errors
    /// When it cannot be read, or what should be a directory on the way is none.
    pub fn presence(
        &self,
        path: &InnerPath,
        expected: &Expected,
    ) -> Result<Presence, DeliverError> {
        let (directory, name) = path.split();
        let Some(parent) = self.walk(directory, path, false)? else {
            return Ok(Presence::Absent);
        };
        let Some(there) = look(&parent, name, path)? else {
            return Ok(Presence::Absent);
        };
        let is_file = FileType::from_raw_mode(there.st_mode) == FileType::RegularFile;
        if !is_file || there.st_size as u64 != expected.bytes {
            return Ok(Presence::Other(self.difference(&there, expected)));
        }
        if expected.sums.is_empty() && !has_time(&there, expected) {
            return Ok(Presence::Other(
                "its length is the same, its time is not, and no checksum is known".to_owned(),
            ));
        }
        let kinds = kinds(expected);
        let sums = if kinds.is_empty() {
            Vec::new()
        } else {
            let watched = self.watched.below(directory.unwrap_or_default());
            watched
                .before(name, |file| Step::Read(file))
                .map_err(|error| DeliverError::io(path.as_bytes(), "read it", error))?;
            sum_of(&parent, name, path, &kinds)?
        };
        match mismatch(&expected.sums, &sums) {
            Some((wanted, found)) => Ok(Presence::Other(format!(
                "its checksum is {found}, not {wanted}"
            ))),
            None => Ok(Presence::Delivered(expected.outcome(), sums)),
        }
    }

    /// In what something that is there differs from a file, as far as can be told without reading it.
    fn difference(&self, there: &Stat, expected: &Expected) -> String {
        let file_type = FileType::from_raw_mode(there.st_mode);
        match there.st_size as u64 {
            _ if file_type != FileType::RegularFile => format!("it is {}", word(file_type)),
            bytes if bytes != expected.bytes => {
                format!("it has {bytes} bytes, not {}", expected.bytes)
            }
            _ => "it has the same length".to_owned(),
        }
    }

    fn make_parent(&self, path: &InnerPath) -> Result<OwnedFd, DeliverError> {
        let (directory, _) = path.split();
        let parent = self.walk(directory, path, true)?;
        // Only a walk that makes nothing can end before its end.
        parent.ok_or_else(|| DeliverError::io(path.as_bytes(), "make its directory", Errno::NOENT))
    }

    /// Opens the directory of a path, part by part; `None` where one is missing and none is to be made.
    pub(super) fn walk(
        &self,
        directory: Option<&[u8]>,
        path: &InnerPath,
        make: bool,
    ) -> Result<Option<OwnedFd>, DeliverError> {
        let root = self.root.try_clone();
        let mut at = root.map_err(|error| DeliverError::io(path.as_bytes(), "open", error))?;
        let parts = directory
            .into_iter()
            .flat_map(|path| path.split(|&byte| byte == b'/'));
        let mut watched = self.watched.clone();
        for part in parts {
            match enter((&at, &watched), part, path, make)? {
                Some(next) => at = next,
                None => return Ok(None),
            }
            watched = watched.below(part);
        }
        Ok(Some(at))
    }
}

impl Expected {
    pub(crate) fn outcome(&self) -> Outcome {
        if self.sums.is_empty() {
            Outcome::Unverified
        } else {
            Outcome::Verified
        }
    }
}

/// Opens a directory in another, and makes it first if it is to be made.
fn enter(
    (at, watched): (&OwnedFd, &Watched),
    part: &[u8],
    path: &InnerPath,
    make: bool,
) -> Result<Option<OwnedFd>, DeliverError> {
    let open = || rustix::fs::openat(at, part, DIRECTORY, Mode::empty());
    let opened = match open() {
        Err(Errno::NOENT) if !make => return Ok(None),
        Err(Errno::NOENT) => {
            let cannot = |doing| move |error| DeliverError::io(path.as_bytes(), doing, error);
            watched
                .before(part, |directory| Step::MakeDirectory(directory))
                .map_err(cannot("make its directory"))?;
            match rustix::fs::mkdirat(at, part, Mode::from_raw_mode(0o777)) {
                // Another thread or process was faster.
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(cannot("make its directory")(error.into())),
            }
            watched
                .before_sync()
                .and_then(|()| Ok(retry_on_intr(|| rustix::fs::fsync(at))?))
                .map_err(cannot("sync its directory"))?;
            open()
        }
        opened => opened,
    };
    opened.map(Some).map_err(|error| match error {
        Errno::LOOP | Errno::NOTDIR => {
            let there = rustix::fs::statat(at, part, AtFlags::SYMLINK_NOFOLLOW);
            let what = there.map(|stat| word(FileType::from_raw_mode(stat.st_mode)));
            DeliverError::InTheWay {
                path: path.to_string(),
                part: shown(part),
                what: what.unwrap_or("something"),
            }
        }
        error => DeliverError::io(path.as_bytes(), "open its directory", error),
    })
}

/// What has a name in a directory, a link itself and not what it points to; `None` where nothing has.
fn look(parent: &OwnedFd, name: &[u8], path: &InnerPath) -> Result<Option<Stat>, DeliverError> {
    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(DeliverError::io(path.as_bytes(), "look at it", error)),
    }
}

fn word(file_type: FileType) -> &'static str {
    match file_type {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "something unknown",
    }
}

/// Whether a file has the time it would be given, as closely as FAT keeps times: two seconds.
fn has_time(there: &Stat, expected: &Expected) -> bool {
    let there_ns = i128::from(there.st_mtime) * 1_000_000_000 + i128::from(there.st_mtime_nsec);
    let wanted_ns = expected.metadata.modified_ns.map(i128::from);
    wanted_ns.is_some_and(|wanted_ns| wanted_ns.abs_diff(there_ns) < 2_000_000_000)
}

fn sum_of(
    parent: &OwnedFd,
    name: &[u8],
    path: &InnerPath,
    kinds: &[Kind],
) -> Result<Vec<Sum>, DeliverError> {
    let cannot = |error| DeliverError::io(path.as_bytes(), "read it", error);
    // Not blocking, in case it has become a pipe since it was looked at.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::openat(parent.as_fd(), name, flags, Mode::empty())
        .map_err(|error| cannot(error.into()))?;
    let mut file = File::from(file);
    let mut summer = Summer::new(kinds.iter().copied());
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(summer.finish()),
            Ok(bytes) => summer.update(&buffer[..bytes]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(cannot(error)),
        }
    }
}
