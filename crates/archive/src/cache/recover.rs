//! What opening a cache finds, and what it does about it.

use super::disk::Disk;
use super::error::{CacheError, io_error};
use super::place::{INCOMING, incoming, place};
use super::state::State;
use super::tie::{self, NEW_TIE, TIE, Tied};
use crate::catalogue::{CacheKey, CacheRecords, Cached, FileId, Tie};
use crate::deliver::InnerPath;
use crate::sums::matches;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where files go that no record knows.
pub(crate) const QUARANTINE: &str = "quarantine";

/// What opening a cache found and put right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Files of steps that were not finished, removed.
    pub leftovers: u64,
    /// Files whose place was empty or wrong: no longer recorded as cached. They are on tape too, if not on as many
    /// volumes as were wanted, except where the catalogue was restored or made anew.
    pub forgotten: u64,
    /// Files without a whole copy on tape whose place is empty or wrong: somebody or something took
    /// them away. Nothing was changed, what is left of them is still there.
    pub damaged: Vec<FileId>,
    /// Files in the directory that are not the cache's, left alone.
    pub strangers: Vec<PathBuf>,
    /// Files in their place that the catalogue does not know, though they may have been acknowledged.
    pub set_aside: Option<SetAside>,
}

/// Files that were moved out of a cache, because its catalogue does not know them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// How many.
    pub files: usize,
    /// How many of them a later one of the same path took the place of: they have names that say so.
    pub earlier: usize,
    /// Where they are now, relative to the cache: under the paths that they were stored with, or under their
    /// numbers where the file system keeps no attributes.
    pub directory: PathBuf,
}

/// What to do with a catalogue that is older than the cache, or another than it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reconcile {
    /// Refuse: the right catalogue may yet be put back.
    No,
    /// Go on with it. Cached files that it does not know are set aside.
    Yes,
}

/// What a name in the directory is.
enum Name {
    Incoming,
    Place(CacheKey),
    Ours,
    Stranger,
}

fn name_of(path: &Path) -> Name {
    if path == Path::new(TIE) || path == Path::new(NEW_TIE) || path.starts_with(QUARANTINE) {
        return Name::Ours;
    }
    let digits = path.file_name().and_then(|name| name.to_str());
    let key = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    // The catalogue has no greater ones.
    let key = key.filter(|&key| key < i64::MAX as u64);
    match key.map(CacheKey) {
        Some(key) if path == place(key) => Name::Place(key),
        Some(key) if path == incoming(key) => Name::Incoming,
        _ => Name::Stranger,
    }
}

/// What stands in the directory.
struct Standing {
    /// Files in their place, with their lengths.
    places: HashMap<CacheKey, u64>,
    /// Files that never got one.
    incoming: Vec<PathBuf>,
    strangers: Vec<PathBuf>,
}

impl Standing {
    fn look(disk: &dyn Disk) -> Result<Standing, CacheError> {
        let files = disk.files().map_err(io_error("listing", Path::new(".")))?;
        let mut standing = Standing {
            places: HashMap::new(),
            incoming: Vec::new(),
            strangers: Vec::new(),
        };
        for (path, bytes) in files {
            match name_of(&path) {
                Name::Incoming => standing.incoming.push(path),
                Name::Place(key) => {
                    standing.places.insert(key, bytes);
                }
                Name::Ours => {}
                Name::Stranger => standing.strangers.push(path),
            }
        }
        Ok(standing)
    }
}

/// Compares directory and records, puts right what a killed process left, and ties the two together anew.
pub(super) fn recover(
    disk: &dyn Disk,
    records: &dyn CacheRecords,
    reconcile: Reconcile,
) -> Result<(State, Recovered), CacheError> {
    let standing = Standing::look(disk)?;
    let (tied, catalogue) = (tie::read(disk)?, records.tie()?);
    if let (Some(tied), Reconcile::No) = (&tied, reconcile) {
        refuse_another(tied, &catalogue, || Ok(standing.places.len()))?;
    }
    // Only such a catalogue knows everything that was acknowledged.
    let knows_all = tied
        .as_ref()
        .is_some_and(|tied| tied.has_led_to(&catalogue));
    let mut recovered = Recovered {
        strangers: standing.strangers,
        ..Recovered::default()
    };
    let looks_inside = reconcile == Reconcile::Yes && !knows_all;
    let (state, kept) = compare(
        disk,
        records,
        &standing.places,
        looks_inside,
        &mut recovered,
    )?;
    let unknown = standing.places.keys().filter(|key| !kept.contains(key));
    let mut unknown: Vec<CacheKey> = unknown.copied().collect();
    unknown.sort_unstable();
    let beyond = tied.as_ref().map_or(0, |tied| tied.tie.generation);
    let mut leftovers = standing.incoming;
    if knows_all {
        leftovers.extend(unknown.into_iter().map(place));
    } else if !unknown.is_empty() {
        let generation = beyond.max(catalogue.generation).saturating_add(1);
        recovered.set_aside = set_aside(disk, &unknown, generation)?;
    }
    for path in leftovers {
        disk.remove(&path).map_err(io_error("removing", &path))?;
        recovered.leftovers += 1;
    }
    tie_anew(disk, records, tied.filter(|_| !knows_all), beyond)?;
    Ok((state, recovered))
}

/// Refuses a catalogue that is not the one to which the cache was tied last.
fn refuse_another(
    tied: &Tied,
    catalogue: &Tie,
    files: impl FnOnce() -> Result<usize, CacheError>,
) -> Result<(), CacheError> {
    if tied.tie.id != catalogue.id {
        return Err(CacheError::OtherCatalogue { files: files()? });
    }
    if tied.tie.generation > catalogue.generation {
        return Err(CacheError::OlderCatalogue {
            catalogue: catalogue.generation,
            cache: tied.tie.generation,
        });
    }
    if !tied.is_of_line(&catalogue.line) {
        return Err(CacheError::ForkedCatalogue);
    }
    Ok(())
}

/// Refuses such a catalogue without having the cache. A process that opens the cache meanwhile ties the two anew, one
/// after the other, so a tie that does not match is looked at once more.
pub(super) fn look(disk: &dyn Disk, records: &dyn CacheRecords) -> Result<(), CacheError> {
    let look = || match tie::read(disk)? {
        Some(tied) => refuse_another(&tied, &records.tie()?, || {
            Ok(Standing::look(disk)?.places.len())
        }),
        None => Ok(()),
    };
    look().or_else(|_| look())
}

/// Begins a new line in catalogue and cache. `other` is the tie of a cache that belonged to another catalogue: it keeps
/// that one until the catalogue has the new line.
fn tie_anew(
    disk: &dyn Disk,
    records: &dyn CacheRecords,
    other: Option<Tied>,
    beyond: u64,
) -> Result<(), CacheError> {
    let line = uuid::Uuid::new_v4().simple().to_string();
    let present = match other {
        Some(other) => other.tie,
        // The line and the generation that it has now may be those of a killed process, and not be on the medium yet:
        // this transaction brings them there.
        None => records.move_on(beyond, &records.tie()?.line)?,
    };
    tie::write(disk, &present, Some(&line))?;
    tie::write(disk, &records.move_on(beyond, &line)?, None)
}

/// Whether a place holds the contents of a file. A catalogue that was restored may have given the same name to another
/// file than the one that stands there now, of the same length.
pub(super) fn is_of(
    disk: &dyn Disk,
    records: &dyn CacheRecords,
    cached: &Cached,
) -> Result<bool, CacheError> {
    let known = records.sums_of(cached.file)?;
    let name = place(cached.key);
    let file = match disk.open(&name) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        opened => opened.map_err(io_error("opening", &name))?,
    };
    matches(file, cached.bytes, &known).map_err(io_error("reading", &name))
}

/// Looks for the file of every record, and into it where the catalogue was restored or made anew; the keys of those
/// that stay.
fn compare(
    disk: &dyn Disk,
    records: &dyn CacheRecords,
    places: &HashMap<CacheKey, u64>,
    looks_inside: bool,
    recovered: &mut Recovered,
) -> Result<(State, HashSet<CacheKey>), CacheError> {
    let mut state = State::default();
    let mut kept: HashSet<CacheKey> = HashSet::new();
    let mut gone: Vec<Cached> = Vec::new();
    for cached in records.all_cached()? {
        state.next_key = state.next_key.max(cached.key.0.saturating_add(1));
        let whole = places.get(&cached.key) == Some(&cached.bytes);
        if looks_inside && !(whole && is_of(disk, records, &cached)?) {
            // The record is of another time. What stands in its place is set aside with all that no record knows; if
            // nothing does, the file may be among those, or on tape. If the record stayed, `store` would take the file
            // for known and not store it again.
            records.drop_cached(cached.file)?;
            recovered.forgotten += 1;
            continue;
        }
        if !whole {
            gone.push(cached);
            continue;
        }
        kept.insert(cached.key);
        state.held_bytes = state.held_bytes.saturating_add(cached.bytes);
    }
    let files: Vec<FileId> = gone.iter().map(|cached| cached.file).collect();
    let damaged: HashSet<FileId> = records.forget_cached(&files)?.into_iter().collect();
    for cached in gone {
        if damaged.contains(&cached.file) {
            recovered.damaged.push(cached.file);
            kept.insert(cached.key);
            state.held_bytes = state.held_bytes.saturating_add(cached.bytes);
        } else {
            recovered.forgotten += 1;
        }
    }
    Ok((state, kept))
}

/// Moves files that no record knows out of the way, under the paths that they were stored with. Keys grow: of several
/// files of one path the one that came last has it, and the others have names beside it.
pub(super) fn set_aside(
    disk: &dyn Disk,
    keys: &[CacheKey],
    generation: u64,
) -> Result<Option<SetAside>, CacheError> {
    let directory = Path::new(QUARANTINE).join(generation.to_string());
    let mut latest_first = keys.to_vec();
    latest_first.sort_unstable_by(|one, other| other.cmp(one));
    let mut known: HashMap<InnerPath, usize> = HashMap::new();
    let mut earlier = Vec::new();
    for key in latest_first {
        let Some(path) = path_of(disk, &place(key)) else {
            move_aside(disk, key, &directory, None)?;
            continue;
        };
        let later = known.entry(path.clone()).or_default();
        match *later {
            0 => move_aside(disk, key, &directory, Some(path.as_bytes()))?,
            later => earlier.push((key, path, later)),
        }
        *later += 1;
    }
    // Now every path has its own file, and no name below is one that a file was stored with.
    for (key, path, later) in &earlier {
        let mut beside = (*later..).map(|number| {
            let ending = format!(".earlier-{number}");
            [path.as_bytes(), ending.as_bytes()].concat()
        });
        let is_free = |name: &Vec<u8>| {
            let found = disk.open(&directory.join(OsStr::from_bytes(name)));
            found.is_err()
        };
        let name = beside.find(is_free);
        move_aside(disk, *key, &directory, name.as_deref())?;
    }
    Ok(Some(SetAside {
        files: keys.len(),
        earlier: earlier.len(),
        directory,
    }))
}

/// Moves a file to a name in the directory; or to its number, where it has none, or that one is too long for this file
/// system or taken. It gets the permissions that it was stored with.
fn move_aside(
    disk: &dyn Disk,
    key: CacheKey,
    directory: &Path,
    name: Option<&[u8]>,
) -> Result<(), CacheError> {
    let from = place(key);
    let numbered = directory.join(format!("{:016x}", key.0));
    let mut to = name.map_or(numbered.clone(), |name| {
        directory.join(OsStr::from_bytes(name))
    });
    if put(disk, &from, &to).is_err() {
        to = numbered;
        put(disk, &from, &to).map_err(io_error("setting aside", &from))?;
    }
    if let Ok(file) = disk.open(&to) {
        file.take_noted_mode();
    }
    for parent in [to.parent(), from.parent()].into_iter().flatten() {
        disk.sync_directory(parent)
            .map_err(io_error("syncing", parent))?;
    }
    Ok(())
}

/// The path that a file was stored with, as far as its file system keeps attributes.
fn path_of(disk: &dyn Disk, name: &Path) -> Option<InnerPath> {
    let path = disk.open(name).ok()?.noted_path()?;
    InnerPath::new(&path).ok()
}

/// Moves a file to a place where nothing stands yet; directories on the way are made, and are there for good.
fn put(disk: &dyn Disk, from: &Path, to: &Path) -> std::io::Result<()> {
    match disk.open(to) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
        Ok(_) => return Err(ErrorKind::AlreadyExists.into()),
    }
    let parents = to.ancestors().skip(1);
    let mut parents: Vec<PathBuf> = parents
        .filter(|parent| !parent.as_os_str().is_empty())
        .map(Path::to_owned)
        .collect();
    parents.reverse();
    disk.make_directories(&parents)?;
    disk.rename(from, to)
}

/// The directories that a cache needs.
pub(super) fn directories() -> Vec<PathBuf> {
    let places = (0..=0xffu32).map(|byte| PathBuf::from(format!("{byte:02x}")));
    places.chain([PathBuf::from(INCOMING)]).collect()
}
