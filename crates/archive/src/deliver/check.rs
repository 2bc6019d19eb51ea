//! What would go wrong with a delivery, said before the tape moves.

use super::destination::{Destination, Presence};
use super::{DeliverError, Delivered, Expected, InnerPath, shown};
use rustix::fs::{AtFlags, Mode, OFlags, StatVfs};
use rustix::io::Errno;
use std::collections::{HashMap, HashSet};
use std::fmt;
use tapewise_model::units::count;
use unicode_normalization::UnicodeNormalization as _;

/// What was found before a delivery.
#[derive(Debug, Default)]
pub struct Check {
    /// Bytes that the files still to be delivered take, in blocks of the destination; holes count in full.
    pub needed_bytes: u64,
    /// Bytes that are free there.
    pub free_bytes: u64,
    /// Files that are there already, by their place in the list: they need not be read from tape.
    pub there: Vec<(usize, Delivered)>,
    /// What would make the delivery fail.
    pub problems: Vec<Problem>,
    /// What would go wrong elsewhere: names that this file system keeps apart and others do not.
    pub elsewhere: Vec<Problem>,
}

/// How two different names can be the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sameness {
    /// In capital and small letters: macOS, Windows, SMB, exFAT.
    Case,
    /// In how accents are encoded, NFC or NFD: macOS.
    Unicode,
}

/// What would make a delivery fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The files do not fit.
    NoSpace {
        /// What they take.
        needed_bytes: u64,
        /// What is free.
        free_bytes: u64,
    },
    /// The file system has room for fewer files.
    NoInodes {
        /// How many are to come.
        files: u64,
        /// How many it takes.
        free: u64,
    },
    /// Two files have one path.
    Twice(InnerPath),
    /// Two files have names that are the same there.
    Alike(InnerPath, InnerPath, Sameness),
    /// A path is that of a file, and of a directory for others.
    FileAndDirectory(InnerPath),
    /// Something is there and is another.
    Exists(InnerPath, String),
    /// Something on the way is no directory.
    InTheWay(String),
    /// A part of a path is longer than the file system takes.
    TooLong {
        /// The path.
        path: InnerPath,
        /// Length of the part, in bytes.
        part_bytes: usize,
        /// The longest part it takes.
        limit_bytes: usize,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NoSpace {
                needed_bytes,
                free_bytes,
            } => write!(
                f,
                "the files take {needed_bytes} bytes, the destination has {free_bytes} free"
            ),
            Problem::NoInodes { files, free } => {
                write!(
                    f,
                    "{}, the destination takes {free} more",
                    count(*files as usize, "file")
                )
            }
            Problem::Twice(path) => write!(f, "{path}: is listed twice"),
            Problem::Alike(first, second, sameness) => {
                let how = match sameness {
                    Sameness::Case => "capital and small letters",
                    Sameness::Unicode => "the encoding of their accents (NFC, NFD)",
                };
                write!(f, "{first} and {second} differ only in {how}")
            }
            Problem::FileAndDirectory(path) => {
                write!(f, "{path}: is a file, and a directory of others")
            }
            Problem::Exists(path, why) => {
                write!(
                    f,
                    "{path}: another file of this name is there already: {why}"
                )
            }
            Problem::InTheWay(what) => f.write_str(what),
            Problem::TooLong {
                path,
                part_bytes,
                limit_bytes,
            } => write!(
                f,
                "{path}: a name of {part_bytes} bytes, the destination takes {limit_bytes}"
            ),
        }
    }
}

/// How many names are tried for a probe.
const MOST_PROBES: u32 = 100;

impl Destination {
    /// Looks for what would go wrong with a delivery, and for what of it is there already.
    ///
    /// A file that is there with the right length is read if sums of it are known. Whether the destination keeps
    /// names apart that differ only in case or encoding is tried, by a hidden file at its top that is removed at
    /// once, and only where there are such names.
    ///
    /// # Errors
    /// When the destination cannot be asked or read; what is wrong with the files is in the answer.
    pub fn check(&self, files: &[(InnerPath, Expected)]) -> Result<Check, DeliverError> {
        let space = rustix::fs::fstatvfs(self.root())
            .map_err(|error| DeliverError::io(b".", "ask how much is free", error))?;
        let mut check = Check {
            free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
            ..Check::default()
        };
        let mut coming = 0;
        for (at, (path, expected)) in files.iter().enumerate() {
            if let Some(problem) = too_long(path, &space) {
                check.problems.push(problem);
                continue;
            }
            match self.presence(path, expected) {
                Ok(Presence::Delivered(outcome, sums)) => {
                    let delivered = Delivered {
                        path: path.clone(),
                        bytes: expected.bytes,
                        outcome,
                        modified_ns: expected.metadata.modified_ns,
                        sums,
                        not_kept: Vec::new(),
                    };
                    check.there.push((at, delivered));
                    continue;
                }
                Ok(Presence::Other(why)) if !self.replaces() => {
                    check.problems.push(Problem::Exists(path.clone(), why));
                }
                Ok(_) => {}
                Err(error @ DeliverError::InTheWay { .. }) => {
                    check.problems.push(Problem::InTheWay(error.to_string()));
                }
                Err(error) => return Err(error),
            }
            coming += 1;
            let blocks = expected.bytes.div_ceil(space.f_frsize.max(1));
            let bytes = blocks.saturating_mul(space.f_frsize);
            check.needed_bytes = check.needed_bytes.saturating_add(bytes);
        }
        check.room(coming, &space);
        self.names(files, &mut check)?;
        Ok(check)
    }

    /// Finds paths that name one file.
    fn names(
        &self,
        files: &[(InnerPath, Expected)],
        check: &mut Check,
    ) -> Result<(), DeliverError> {
        let mut directories: HashSet<&[u8]> = HashSet::new();
        for (path, _) in files {
            let mut directory = path.split().0;
            // Whose directory is known, its directories are too.
            while let Some(known) = directory
                && directories.insert(known)
            {
                let slash = known.iter().rposition(|&byte| byte == b'/');
                directory = slash.map(|slash| &known[..slash]);
            }
        }
        let mut seen: HashMap<Vec<u8>, &InnerPath> = HashMap::new();
        let mut apart: HashMap<bool, bool> = HashMap::new();
        for (path, _) in files {
            if directories.contains(path.as_bytes()) {
                check.problems.push(Problem::FileAndDirectory(path.clone()));
            }
            let Some(first) = seen.insert(folded(path), path) else {
                continue;
            };
            if first == path {
                check.problems.push(Problem::Twice(path.clone()));
                continue;
            }
            let sameness = sameness(first, path);
            let is_case = sameness == Sameness::Case;
            let is_apart = match apart.get(&is_case) {
                Some(&known) => known,
                None => self.keeps_apart(sameness)?,
            };
            apart.insert(is_case, is_apart);
            let alike = Problem::Alike(first.clone(), path.clone(), sameness);
            if is_apart {
                check.elsewhere.push(alike)
            } else {
                check.problems.push(alike)
            }
        }
        Ok(())
    }

    /// Tries whether two names that differ only so are two files here.
    fn keeps_apart(&self, sameness: Sameness) -> Result<bool, DeliverError> {
        let cannot = |error: Errno| DeliverError::io(b".", "make a probe in it", error);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // A probe that was killed may have left one, and a file may be called so: neither is touched.
        for number in 0..MOST_PROBES {
            let made = format!(".tapewise-probe-{number}-\u{e9}");
            let asked = match sameness {
                Sameness::Case => format!(".TAPEWISE-PROBE-{number}-\u{e9}"),
                Sameness::Unicode => format!(".tapewise-probe-{number}-e\u{301}"),
            };
            match rustix::fs::openat(self.root(), &made, flags, Mode::from_raw_mode(0o600)) {
                Ok(_) => {}
                Err(Errno::EXIST) => continue,
                Err(error) => return Err(cannot(error)),
            }
            let found = rustix::fs::statat(self.root(), &asked, AtFlags::SYMLINK_NOFOLLOW);
            rustix::fs::unlinkat(self.root(), &made, AtFlags::empty()).map_err(cannot)?;
            return match found {
                Ok(_) => Ok(false),
                Err(Errno::NOENT) => Ok(true),
                Err(error) => Err(cannot(error)),
            };
        }
        Err(cannot(Errno::EXIST))
    }
}

impl Check {
    fn room(&mut self, coming: u64, space: &StatVfs) {
        if self.needed_bytes > self.free_bytes {
            self.problems.push(Problem::NoSpace {
                needed_bytes: self.needed_bytes,
                free_bytes: self.free_bytes,
            });
        }
        // File systems that make them as they go say that they have none at all.
        if space.f_files > 0 && coming > space.f_favail {
            self.problems.push(Problem::NoInodes {
                files: coming,
                free: space.f_favail,
            });
        }
    }
}

fn too_long(path: &InnerPath, space: &StatVfs) -> Option<Problem> {
    let limit_bytes = usize::try_from(space.f_namemax).unwrap_or(usize::MAX);
    let part = path.parts().find(|part| part.len() > limit_bytes)?;
    Some(Problem::TooLong {
        path: path.clone(),
        part_bytes: part.len(),
        limit_bytes,
    })
}

/// What paths have in common that some file system takes for one; names that are no text are only themselves.
fn folded(path: &InnerPath) -> Vec<u8> {
    match std::str::from_utf8(path.as_bytes()) {
        Ok(text) => text.to_lowercase().nfd().collect::<String>().into_bytes(),
        Err(_) => path.as_bytes().to_vec(),
    }
}

fn sameness(first: &InnerPath, second: &InnerPath) -> Sameness {
    let composed = |path: &InnerPath| shown(path.as_bytes()).nfc().collect::<String>();
    if composed(first) == composed(second) {
        Sameness::Unicode
    } else {
        Sameness::Case
    }
}
