//! Files come into the archive: read once, summed on the way, and safe in the cache when they are acknowledged.

mod sources;

pub use sources::{FileSystem, SourceError, SourceFile, Sources, Stamp};

use crate::cache::{Arrived, Cache, CacheError, Incoming};
use crate::catalogue::{
    CatalogueError, Copy, CopyState, FileId, Files, NewFile, NewStore, RequestId, Terms,
};
use crate::deliver::{BadPath, InnerPath, mismatch, shown};
use crate::finishing::Finishing;
use crate::record::{File, Owner};
use crate::sums::{Kind, Sum, Summer};
use std::collections::HashMap;
use std::fs::Metadata;
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A file that is to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Where it is.
    pub from: PathBuf,
    /// Its path in the archive.
    pub path: InnerPath,
    /// Its length when it was found.
    pub bytes: u64,
}

/// How files are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreTerms {
    /// Who stores them.
    pub terms: Terms,
    /// On how many volumes each is to lie, at least 1.
    pub copies: u32,
    /// Whether a file of the same path is replaced.
    pub replace: bool,
    /// Sums to keep besides XXH3.
    pub also: Vec<Kind>,
}

/// Why a file is not stored. Nothing of it is left in the archive.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The path could leave the destination when it is recalled.
    #[error(transparent)]
    BadPath(#[from] BadPath),
    /// It cannot be read, or is no regular file.
    #[error("{path}: {what}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        what: String,
    },
    /// It was written to while it was read.
    #[error("{path}: changed while it was read; store it again when nobody writes to it")]
    Changed {
        /// The file.
        path: String,
    },
    /// A bucket cannot be used.
    #[error("{place}: {why}")]
    Unavailable {
        /// The place in it.
        place: String,
        /// Why.
        why: String,
    },
    /// What came of it is not what its bucket states of it.
    #[error("{path}: checksum {found}, and the bucket states {stated}; nothing was stored")]
    Mismatch {
        /// The object.
        path: String,
        /// What is stated.
        stated: Sum,
        /// What was computed.
        found: Sum,
    },
    /// It never fits the cache.
    #[error("{path}: {source}")]
    TooLarge {
        /// The file.
        path: String,
        /// How long it is, and the cache's limit.
        source: CacheError,
    },
    /// The cache.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Two files have the same path in the archive.
    #[error("{one} and {other} would both be {path} in the archive; nothing was stored")]
    Twice {
        /// One file.
        one: String,
        /// Another one.
        other: String,
        /// The path in the archive.
        path: InnerPath,
    },
    /// The archive has another file of this path.
    #[error("{path}: another file of this path is in the archive; nothing was stored")]
    Another {
        /// The path in the archive.
        path: InnerPath,
    },
    /// The catalogue.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
}

/// Stores files, all of them or none: when this returns each is on disk with its directory, its sums
/// are in the catalogue, and it is acknowledged.
///
/// # Errors
/// [`StoreError`], with nothing stored.
pub fn store(
    cache: &Cache,
    sources: &[Source],
    how: &StoreTerms,
    at_ns: i64,
) -> Result<Vec<(FileId, RequestId)>, StoreError> {
    store_from(&FileSystem, cache, sources, how, at_ns)
}

/// As [`store`], from what somebody has in hand instead of the file system.
///
/// # Errors
/// As [`store`].
pub fn store_from(
    from: &dyn Sources,
    cache: &Cache,
    sources: &[Source],
    how: &StoreTerms,
    at_ns: i64,
) -> Result<Vec<(FileId, RequestId)>, StoreError> {
    store_others(from, cache, sources, how, at_ns, &mut Err)
}

/// As [`store_from`], but a file that has gone, cannot be read or changes while it is read, or is too long for the cache,
/// or whose path is for the catalogue, keeps no other one from being stored: `left_out` is told why the file is left out,
/// or makes an error of that.
///
/// # Errors
/// As [`store`], and those of `left_out`.
pub fn store_others(
    from: &dyn Sources,
    cache: &Cache,
    sources: &[Source],
    how: &StoreTerms,
    at_ns: i64,
    left_out: &mut dyn FnMut(StoreError) -> Result<(), StoreError>,
) -> Result<Vec<(FileId, RequestId)>, StoreError> {
    let mut buffer = vec![0; 1 << 20];
    // The next file is read while those before it are synced.
    let mut finishing = Finishing::new(Incoming::finish).in_turns(cache.is_in_turns());
    let (mut arrived, mut stores) = (Vec::new(), Vec::new());
    let longest = cache.longest_path()?;
    for (number, source) in sources.iter().enumerate() {
        let path = source.path.as_bytes();
        if let Some(most) = longest.filter(|most| path.len() > *most) {
            let path = path.to_vec();
            left_out(CatalogueError::PathTooLong { path, most }.into())?;
            continue;
        }
        let (incoming, store) = match bring_in(from, cache, source, how, &mut buffer, at_ns) {
            Err(
                error @ (StoreError::Changed { .. }
                | StoreError::Unreadable { .. }
                | StoreError::TooLarge { .. }),
            ) => {
                left_out(error)?;
                continue;
            }
            brought => brought?,
        };
        stores.push(store);
        arrived.extend(finishing.finish(number, incoming));
    }
    arrived.extend(finishing.rest());
    let arrived = arrived.into_iter().map(|(_, arrived)| arrived);
    let arrived: Vec<Arrived> = arrived.collect::<Result<_, _>>()?;
    let stored = cache.store(arrived.into_iter().zip(stores).collect(), at_ns);
    stored.map_err(|error| match error {
        CacheError::Catalogue(
            error @ (CatalogueError::InTheWay { .. } | CatalogueError::PathTooLong { .. }),
        ) => error.into(),
        error => error.into(),
    })
}

/// How many of the first files are stored together: no more than `most`, and, unless it is one file, than these bytes.
pub fn together(sources: &[Source], most: usize, most_bytes: u64) -> usize {
    let mut bytes = 0u64;
    for (number, source) in sources.iter().take(most).enumerate() {
        bytes = bytes.saturating_add(source.bytes);
        if number > 0 && bytes > most_bytes {
            return number;
        }
    }
    sources.len().min(most)
}

/// What files that are to be stored need.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ToStore {
    /// Those that are not in the archive, or that replace what is.
    pub new: Vec<Source>,
    /// How many others the archive has already.
    pub known: usize,
    /// Files of the archive of which more copies are wanted now, or that lack one and are on tape alone.
    pub to_copy: Vec<FileId>,
}

/// Finds those that are not in the archive, so that storing can go on after it was killed. What waits in the cache alone
/// is read: `given_up` is told of files that are damaged or gone there, and where what was left of them is, relative to
/// the cache.
///
/// # Errors
/// [`StoreError::Another`] for another file of the same path, unless it is replaced; [`StoreError::Twice`].
pub fn to_store(
    from: &dyn Sources,
    catalogue: &dyn Files,
    cache: &Cache,
    sources: Vec<Source>,
    how: &StoreTerms,
    given_up: &mut dyn FnMut(&Source, Option<PathBuf>),
) -> Result<ToStore, StoreError> {
    let sources = each_path_once(sources)?;
    let mut found = ToStore::default();
    for source in sources {
        let Some(known) = catalogue.live_file(source.path.as_bytes())? else {
            found.new.push(source);
            continue;
        };
        let entry = catalogue.file(known)?;
        let is_whole = |copy: &Copy| copy.state == CopyState::Whole;
        if !entry.copies.iter().any(is_whole) && !cache.is_whole(known)? {
            // Nothing is left of it that could be given back.
            if entry.cached.is_some() {
                given_up(&source, cache.give_up(known)?);
            }
            found.new.push(source);
            continue;
        }
        // What has gone meanwhile is told when it is to be read.
        let is_known = match from.stamp(&source.from) {
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            stamp => {
                let now = stamp.map_err(|error| {
                    unreadable(&shown(source.from.as_os_str().as_bytes()), &error)
                })?;
                let is_known =
                    entry.file.bytes == now.bytes && entry.file.modified_ns == now.modified_ns;
                if !is_known && !how.replace {
                    return Err(StoreError::Another { path: source.path });
                }
                is_known
            }
        };
        if !is_known {
            found.new.push(source);
            continue;
        }
        found.known += 1;
        if entry.copies_wanted < how.copies || entry.cached.is_none() && entry.lacks() > 0 {
            found.to_copy.push(known);
        }
    }
    Ok(found)
}

/// Refuses two files of one path: the archive would have the last one only. A file that is named twice is stored once.
fn each_path_once(sources: Vec<Source>) -> Result<Vec<Source>, StoreError> {
    let mut known: HashMap<InnerPath, PathBuf> = HashMap::with_capacity(sources.len());
    let mut once = Vec::with_capacity(sources.len());
    for source in sources {
        match known.insert(source.path.clone(), source.from.clone()) {
            None => once.push(source),
            Some(other) if is_one_file(&other, &source.from) => {}
            Some(other) => {
                let named = |path: &Path| shown(path.as_os_str().as_bytes());
                return Err(StoreError::Twice {
                    one: named(&other),
                    other: named(&source.from),
                    path: source.path,
                });
            }
        }
    }
    Ok(once)
}

/// Whether two paths are one file, however they are spelled.
fn is_one_file(one: &Path, other: &Path) -> bool {
    let which = |path: &Path| {
        let metadata = std::fs::symlink_metadata(path).ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    one == other || which(one).is_some_and(|one| Some(one) == which(other))
}

/// Regular files below a path, in the order of their names, to be stored below `inner`; `other` is told of links and
/// devices, which are not stored, nor are directories that are left out.
///
/// # Errors
/// [`StoreError::Unreadable`] and [`StoreError::BadPath`].
pub fn find(
    path: &Path,
    inner: &Path,
    sources: &mut Vec<Source>,
    leave_out: &dyn Fn(&Metadata) -> bool,
    other: &mut dyn FnMut(&Path),
) -> Result<(), StoreError> {
    let failed = |error: std::io::Error| unreadable(&path.display().to_string(), &error);
    let metadata = std::fs::symlink_metadata(path).map_err(failed)?;
    if metadata.is_dir() && leave_out(&metadata) {
        other(path);
    } else if metadata.is_dir() {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(path)
            .map_err(failed)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(failed)?;
        entries.sort();
        for entry in entries {
            let name = entry.file_name().unwrap_or_default();
            find(&entry, &inner.join(name), sources, leave_out, other)?;
        }
    } else if metadata.is_file() {
        sources.push(Source {
            from: path.to_owned(),
            path: InnerPath::new(inner.as_os_str().as_bytes())?,
            bytes: metadata.len(),
        });
    } else {
        other(path);
    }
    Ok(())
}

/// Copies a file and sums it on the way; how many bytes it has, or more than `most` as soon as it has.
fn copy_summed(
    name: &str,
    from: &mut dyn SourceFile,
    most: u64,
    summer: &mut Summer,
    to: &mut Incoming,
    buffer: &mut [u8],
) -> Result<u64, StoreError> {
    let mut bytes = 0;
    loop {
        let count = match from.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read.map_err(|error| unreadable(name, &error))?,
        };
        bytes += count as u64;
        if count == 0 || bytes > most {
            return Ok(bytes);
        }
        summer.update(&buffer[..count]);
        let written = to.write_all(&buffer[..count]);
        written.map_err(|source| CacheError::Write {
            path: name.to_owned(),
            source,
        })?;
    }
}

fn unreadable(name: &str, error: &std::io::Error) -> StoreError {
    let path = name.to_owned();
    let inner = error.get_ref();
    match inner.and_then(|inner| inner.downcast_ref().cloned()) {
        Some(SourceError::Changed) => StoreError::Changed { path },
        Some(SourceError::Unavailable { place, why }) => StoreError::Unavailable { place, why },
        None => StoreError::Unreadable {
            path,
            what: error.to_string(),
        },
    }
}

/// The kinds of sums that are computed of a file, each once: ours, what is asked for, and what its bucket states.
fn summed(how: &StoreTerms, stated: &[Sum]) -> Vec<Kind> {
    let of_stated = stated.iter().map(|sum| sum.kind);
    let mut kinds = vec![Kind::Xxh3];
    for kind in how.also.iter().copied().chain(of_stated) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// Copies a file into the cache; it is not synced yet.
fn bring_in(
    from: &dyn Sources,
    cache: &Cache,
    source: &Source,
    how: &StoreTerms,
    buffer: &mut [u8],
    at_ns: i64,
) -> Result<(Incoming, NewStore), StoreError> {
    let name = shown(source.from.as_os_str().as_bytes());
    let failed = |error: std::io::Error| unreadable(&name, &error);
    let mut file = from.open(&source.from).map_err(failed)?;
    let before = file.stamp().map_err(failed)?;
    if !before.is_file {
        return Err(StoreError::Unreadable {
            path: name,
            what: "is not a regular file; links, devices and directories are not stored".to_owned(),
        });
    }
    let stated = file.stated().to_vec();
    let mut summer = Summer::new(summed(how, &stated));
    let room = cache.reserve(before.bytes, at_ns);
    let room = room.map_err(|error| match error {
        source @ CacheError::TooLarge { .. } => StoreError::TooLarge {
            path: name.clone(),
            source,
        },
        error => error.into(),
    })?;
    let mut incoming = room.create()?;
    let most = before.bytes;
    let bytes = copy_summed(
        &name,
        file.as_mut(),
        most,
        &mut summer,
        &mut incoming,
        buffer,
    )?;
    let after = file.stamp().map_err(failed)?;
    if bytes != before.bytes || before != after {
        return Err(StoreError::Changed { path: name });
    }
    let sums = summer.finish();
    if let Some((stated, found)) = mismatch(&stated, &sums) {
        return Err(StoreError::Mismatch {
            path: name,
            stated,
            found,
        });
    }
    incoming.note(source.path.as_bytes(), before.modified_ns, before.mode);
    let record = File {
        path: source.path.as_bytes().to_vec(),
        bytes,
        modified_ns: before.modified_ns,
        mode: before.mode,
        sums,
    };
    let new = NewFile {
        file: record,
        owner: Owner {
            account: how.terms.user.clone(),
            ..Owner::default()
        },
        copies: how.copies,
        replace: how.replace,
    };
    let store = NewStore {
        new,
        terms: how.terms.clone(),
        source: Some(source.from.as_os_str().as_bytes().to_vec()),
    };
    Ok((incoming, store))
}
