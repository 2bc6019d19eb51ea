//! A hierarchy of volumes: files go from the cache onto quick ones, and as they age onto others.
//!
//! A tier is a pool of volumes, told by their labels, and the age at which files come to it. What is due is
//! first a value, [`due`], that can be shown; [`Mover::migrate_due`] carries it out: new files go onto tape,
//! then volume after volume is read in portions that the cache has room for, written onto volumes of the
//! next tier, and dropped from the catalogue where it was when it is committed where it is to be.

use super::session::DriveContext;
use super::{Migrated, MoveError, Mover, Settings};
use crate::catalogue::{
    Answer, Catalogue, CatalogueError, Copy, CopyState, Entry, FileId, FileState, Migration,
    Missing, NewRecall, Pattern, Terms, VolumeId,
};
use crate::record::{Volume, VolumeFormat};
use std::collections::{BTreeMap, HashSet};

/// A pool of volumes, and when files come to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tier {
    /// What it is called.
    pub name: String,
    /// The labels of its volumes. One that several tiers have is the first one's.
    pub volumes: Pattern,
    /// How long files are stored before they come here, nanoseconds; each tier's is longer than that of
    /// the tier before it.
    pub after_ns: i64,
}

/// Files that are to be moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// The volume that they lie on; none where that is the cache alone.
    pub from: Option<(VolumeId, String)>,
    /// The tier that they go to, by its place among the tiers; none where there are no tiers.
    pub to: Option<usize>,
    /// The files, as they lie on the tape or came into the cache.
    pub files: Vec<FileId>,
    /// Their bytes there.
    pub bytes: u64,
}

/// What was moved from volumes to others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Files whose copies are where they are to be.
    pub files: u64,
    /// Copies that the catalogue has no more.
    pub dropped: u64,
    /// Bytes that were read into the cache for it.
    pub staged_bytes: u64,
    /// What was written.
    pub migrated: Migrated,
    /// Files that stay where they are, and why.
    pub failed: Vec<(FileId, String)>,
    /// Volumes that could not be read as a whole, and why.
    pub unavailable: Vec<(String, String)>,
    /// Volumes of which nothing is wanted any more.
    pub emptied: Vec<String>,
}

/// The tier that a file of this age belongs to; the first for those that are not due anywhere.
fn tier_at(tiers: &[Tier], stored_ns: i64, now_ns: i64) -> Option<usize> {
    let age_ns = now_ns.saturating_sub(stored_ns);
    let due = tiers.iter().rposition(|tier| tier.after_ns <= age_ns);
    due.or((!tiers.is_empty()).then_some(0))
}

/// The tier that a volume belongs to.
fn tier_of(tiers: &[Tier], label: &str) -> Option<usize> {
    tiers
        .iter()
        .position(|tier| tier.volumes.matches(label.as_bytes()))
}

impl Settings {
    /// Whether a file belongs onto volumes of this label.
    pub(super) fn has_place_on(&self, label: &str, stored_ns: i64, now_ns: i64) -> bool {
        match tier_at(&self.tiers, stored_ns, now_ns) {
            Some(due) => tier_of(&self.tiers, label) == Some(due),
            None => true,
        }
    }

    /// Files that came into the cache up to this time are due for tape.
    pub fn due_until_ns(&self, now_ns: i64) -> i64 {
        let after_ns = self.tiers.first().map_or(0, |tier| tier.after_ns);
        now_ns.saturating_sub(after_ns)
    }
}

/// What is due: from the cache, then volume by volume.
///
/// # Errors
/// Those of the catalogue.
pub fn due(
    catalogue: &dyn Catalogue,
    settings: &Settings,
    now_ns: i64,
) -> Result<Vec<Due>, CatalogueError> {
    let tiers = &settings.tiers;
    let mut found = Vec::new();
    let mut from_cache = BTreeMap::new();
    for waiting in catalogue.next_migrations(settings.due_until_ns(now_ns), usize::MAX)? {
        let to = tier_at(tiers, waiting.stored_ns, now_ns);
        let due = from_cache.entry(to).or_insert_with(|| Due::new(None, to));
        due.files.push(waiting.file);
        due.bytes = due.bytes.saturating_add(waiting.bytes);
    }
    found.extend(from_cache.into_values());
    for (id, volume) in catalogue.volumes()? {
        let Some(here) = tier_of(tiers, &volume.label) else {
            continue;
        };
        if volume.format != VolumeFormat::Tapewise || here + 1 == tiers.len() {
            continue;
        }
        let mut seen = HashSet::new();
        let mut from_here = BTreeMap::new();
        for on in catalogue.contents(id)? {
            let to = tier_at(tiers, on.stored_ns, now_ns);
            if !on.live || to <= Some(here) {
                continue;
            }
            let from = || Due::new(Some((id, volume.label.clone())), to);
            let due = from_here.entry(to).or_insert_with(from);
            due.bytes = due.bytes.saturating_add(on.segment.bytes);
            if seen.insert(on.file) {
                due.files.push(on.file);
            }
        }
        found.extend(from_here.into_values());
    }
    Ok(found)
}

impl Due {
    fn new(from: Option<(VolumeId, String)>, to: Option<usize>) -> Due {
        Due {
            from,
            to,
            files: Vec::new(),
            bytes: 0,
        }
    }
}

/// Says on which volumes copies may stay.
pub(super) type Stays<'f> = dyn Fn(VolumeId, &Volume) -> bool + Sync + 'f;

/// How long a file that is on its way may stay in the cache when its mover was killed.
const PIN_NS: i64 = 86_400_000_000_000;

/// Why a file is not moved whose volume is not to be had.
const NOT_READ: &str = "no volume with a copy of it could be read";

/// Adds what was written, also if no volume was left for more: then that error.
fn add_written(
    written: Result<Migrated, MoveError>,
    moved: &mut Moved,
) -> Result<Option<MoveError>, MoveError> {
    let (written, unwritten) = match written {
        Ok(written) => (written, None),
        Err(mut error) => match error.take_done() {
            Some(written) => (written, Some(error)),
            None => return Err(error),
        },
    };
    moved.migrated.add(written);
    Ok(unwritten)
}

/// Who asks for files that are on their way, and keeps them in the cache.
const HOLDER: &str = "on its way to another volume";

impl Mover<'_> {
    /// Moves what is due, see [`due`]: from the cache onto tape, then from tier to tier.
    ///
    /// # Errors
    /// [`MoveError`]. What was committed until then stays, and nothing is dropped that has no other place.
    pub fn migrate_due(&mut self) -> Result<Moved, MoveError> {
        let now_ns = (self.now_ns)();
        let mut moved = Moved::default();
        let written = self.migrate(self.settings.due_until_ns(now_ns));
        // What finds no volume in its tier keeps nothing else from going to another one, which may make room.
        let mut unwritten = add_written(written, &mut moved)?;
        for due in due(self.catalogue, self.settings, now_ns)? {
            let (Some((id, label)), Some(to)) = (due.from, due.to) else {
                continue;
            };
            let tiers = &self.settings.tiers;
            let stays =
                |_, volume: &Volume| tier_of(tiers, &volume.label).is_none_or(|at| at >= to);
            match self.move_off(due.files, &stays, &mut moved) {
                Ok(()) => {}
                Err(error @ MoveError::NoVolume { .. }) => {
                    unwritten.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
            if !self.catalogue.contents(id)?.iter().any(|on| on.live) {
                moved.emptied.push(label);
            }
        }
        match unwritten {
            Some(error) => Err(error.after(moved)),
            None => Ok(moved),
        }
    }

    /// Gives files as many copies as they are to have on volumes where copies may stay, in portions that
    /// the cache has room for, and drops the other copies.
    pub(super) fn move_off(
        &mut self,
        files: Vec<FileId>,
        stays: &Stays<'_>,
        moved: &mut Moved,
    ) -> Result<(), MoveError> {
        let (mut left, mut unwritten) = (&files[..], None);
        while !left.is_empty() {
            let (portion, rest) = left.split_at(self.portion(left)?);
            left = rest;
            let before = (moved.files, moved.migrated.copies);
            let result = self.move_portion(portion, stays, moved);
            for &file in portion {
                self.catalogue.unpin(file, HOLDER)?;
            }
            match result {
                Ok(()) => {}
                Err(error @ MoveError::NoVolume { .. }) => {
                    unwritten.get_or_insert(error);
                    if (moved.files, moved.migrated.copies) == before {
                        // Most likely nothing has a place: to read more would be for nothing.
                        break;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        unwritten.map_or(Ok(()), Err)
    }

    /// Makes the copies that files lack again from their sisters, or from the cache, and drops the lost ones
    /// in whose place they stand.
    ///
    /// # Errors
    /// [`MoveError`]; what was committed until then stays.
    pub fn remake(&mut self, files: Vec<FileId>) -> Result<Moved, MoveError> {
        let mut moved = Moved::default();
        let moved_off = self.move_off(files.clone(), &|_, _| true, &mut moved);
        for file in files {
            let entry = self.catalogue.file(file)?;
            if entry.lacks() > 0 {
                continue;
            }
            let is_lost = |copy: &&Copy| copy.state == CopyState::Lost;
            for lost in entry.copies.iter().filter(is_lost) {
                self.catalogue.drop_copy(file, lost.number)?;
                moved.dropped += 1;
            }
            moved.files += 1;
        }
        match moved_off {
            Ok(()) => Ok(moved),
            Err(error) => Err(error.after(moved)),
        }
    }

    /// How many of these files the cache has room for below its low water, at least one.
    fn portion(&self, files: &[FileId]) -> Result<usize, MoveError> {
        let room = self.cache.room((self.now_ns)())?;
        let mut bytes = 0u64;
        for (count, &file) in files.iter().enumerate() {
            bytes = bytes.saturating_add(self.catalogue.file(file)?.file.bytes);
            if bytes > room {
                return Ok(count.max(1));
            }
        }
        Ok(files.len())
    }

    fn move_portion(
        &mut self,
        portion: &[FileId],
        stays: &Stays<'_>,
        moved: &mut Moved,
    ) -> Result<(), MoveError> {
        let lacking = self.with().lacking(portion, stays, usize::MAX)?;
        let files: Vec<FileId> = lacking.iter().map(|lacks| lacks.file).collect();
        let staged = self.stage(&files, moved)?;
        let with = self.with();
        let written = self.write_out(&|limit| with.lacking(&staged, stays, limit));
        let unwritten = add_written(written, moved)?;
        let staying = self.with().staying(stays)?;
        for &file in portion {
            self.drop_others(file, &staying, moved)?;
        }
        unwritten.map_or(Ok(()), Err)
    }

    /// Reads files into the cache, where they are kept until they are written; those that are there.
    fn stage(&mut self, files: &[FileId], moved: &mut Moved) -> Result<Vec<FileId>, MoveError> {
        let now_ns = (self.now_ns)();
        let mut recalls = Vec::with_capacity(files.len());
        for &file in files {
            let until_ns = now_ns.saturating_add(PIN_NS);
            self.catalogue.pin(file, HOLDER, Some(until_ns))?;
            recalls.push(NewRecall {
                file,
                terms: Terms {
                    user: HOLDER.to_owned(),
                    ..Terms::default()
                },
                destination: None,
            });
        }
        let requests = self.catalogue.submit(&recalls, now_ns)?;
        let recalled = self.recall();
        let mut staged = Vec::with_capacity(files.len());
        for (request, &file) in requests.into_iter().zip(files) {
            let request = self.catalogue.request(request)?;
            if request.done_ns.is_none() {
                // Its volume is not to be had, or this was interrupted: nobody waits for it any more.
                let at_ns = (self.now_ns)();
                self.catalogue
                    .answer(request.id, &Answer::Cancelled, at_ns)?;
            }
            match request.reason {
                _ if self.catalogue.cached(file)?.is_some() => staged.push(file),
                Some(why) => moved.failed.push((file, why)),
                None => moved.failed.push((file, NOT_READ.to_owned())),
            }
        }
        let recalled = recalled?;
        moved.staged_bytes = moved.staged_bytes.saturating_add(recalled.bytes);
        moved.unavailable.extend(recalled.unavailable);
        Ok(staged)
    }

    /// Nobody waits any more for what a mover that was killed had asked for: its files would take the
    /// room of the next portion.
    pub(super) fn drop_stagings(&mut self) -> Result<(), MoveError> {
        let now_ns = (self.now_ns)();
        for request in self.catalogue.unanswered()? {
            if request.terms.user == HOLDER && request.place.is_none() {
                self.catalogue
                    .answer(request.id, &Answer::Cancelled, now_ns)?;
                self.catalogue.unpin(request.file, HOLDER)?;
            }
        }
        Ok(())
    }

    /// Drops the copies of a file that may not stay where they are, if it has all that it wants elsewhere.
    fn drop_others(
        &self,
        file: FileId,
        staying: &HashSet<VolumeId>,
        moved: &mut Moved,
    ) -> Result<(), MoveError> {
        let entry = self.catalogue.file(file)?;
        if entry.state != FileState::Live || !missing(&entry, staying).is_empty() {
            return Ok(());
        }
        let dropped = moved.dropped;
        for copy in entry.copies.iter().filter(|copy| !is_on(copy, staying)) {
            match copy.state {
                CopyState::Writing => self.catalogue.drop_part(file, copy.number)?,
                CopyState::Whole | CopyState::Lost => {
                    self.catalogue.drop_copy(file, copy.number)?;
                }
            }
            moved.dropped += 1;
        }
        moved.files += u64::from(moved.dropped > dropped);
        Ok(())
    }
}

impl DriveContext<'_> {
    /// Which of these files lack copies where copies may stay, the first `limit` of them.
    pub fn lacking(
        &self,
        files: &[FileId],
        stays: &Stays<'_>,
        limit: usize,
    ) -> Result<Vec<Migration>, MoveError> {
        let staying = self.staying(stays)?;
        let mut lacking = Vec::new();
        for &file in files {
            if lacking.len() == limit {
                break;
            }
            let entry = self.catalogue.file(file)?;
            let missing = missing(&entry, &staying);
            let (Some(first), FileState::Live) = (missing.first(), entry.state) else {
                continue;
            };
            let others = entry
                .copies
                .iter()
                .filter(|copy| copy.number != first.number);
            lacking.push(Migration {
                file,
                elsewhere: others.flat_map(volumes_of).collect(),
                path: entry.file.path,
                bytes: entry.file.bytes,
                stored_ns: entry.created_ns,
                modified_ns: entry.file.modified_ns,
                missing,
            });
        }
        Ok(lacking)
    }

    /// The volumes on which copies may stay.
    fn staying(&self, stays: &Stays<'_>) -> Result<HashSet<VolumeId>, MoveError> {
        let volumes = self.catalogue.volumes()?.into_iter();
        let staying = volumes.filter(|(id, volume)| stays(*id, volume));
        Ok(staying.map(|(id, _)| id).collect())
    }
}

fn volumes_of(copy: &Copy) -> impl Iterator<Item = VolumeId> {
    copy.segments.iter().map(|(volume, _)| *volume)
}

/// Whether all of a copy lies on some of these volumes.
fn is_on(copy: &Copy, volumes: &HashSet<VolumeId>) -> bool {
    volumes_of(copy).all(|volume| volumes.contains(&volume))
}

/// The copies that a file lacks on some volumes.
fn missing(entry: &Entry, staying: &HashSet<VolumeId>) -> Vec<Missing> {
    let here = || entry.copies.iter().filter(|copy| is_on(copy, staying));
    let whole = here().filter(|copy| copy.state == CopyState::Whole);
    let lacking = (entry.copies_wanted as usize).saturating_sub(whole.count());
    let parts = here().filter(|copy| copy.state == CopyState::Writing);
    let parts = parts.map(|copy| Missing {
        number: copy.number,
        from: copy
            .segments
            .iter()
            .map(|(_, segment)| segment.bytes)
            .fold(0, u64::saturating_add),
        zstd_bytes: copy.zstd_bytes,
    });
    let new = (entry.next_number()..).map(|number| Missing {
        number,
        from: 0,
        zstd_bytes: None,
    });
    parts.chain(new).take(lacking).collect()
}
