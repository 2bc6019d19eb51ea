//! Files that lack copies go from the cache onto volumes, on all drives at once.
//!
//! A drive that is free claims a volume and a share of what waits, and fills the volume segment by segment,
//! see [`super::segment`]; the frames of the next segment are made while it writes. A volume whose medium
//! fails takes no more, and its files go to another one. A file that no volume takes keeps nobody else
//! waiting.

mod beside;
mod grouped;
mod spread;
mod state;
mod unwritable;
mod work;

use super::frames::Unsqueezed;
use super::job::{Job, Parts};
use super::migrated::Migrated;
use super::open::LABEL_END;
use super::segment::Closed;
use super::session::DriveContext;
use super::{MoveError, Moved, Mover};
use crate::catalogue::{CatalogueError, FileId, Migration, VolumeId};
use crate::placement::GroupBy;
use crate::record::{Volume, VolumeFormat, VolumeState};
use spread::{Spread, Target};
use state::{Claim, State};
use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tapewise_library::pool::{Fit, Whereabouts};
use tapewise_run::{Log, Recorder, RunError};
use tapewise_scsi::{ScsiError, TapeDrive};

/// Files looked at together.
const AT_ONCE: usize = 10_000;

/// Segments that a further drive takes at least: for less it is quicker to write on with the first one than
/// to mount another cartridge.
const LEAST_SHARE_SEGMENTS: u64 = 4;

/// Lists what waits to be written, up to a number of files.
pub(super) type Waiting<'f> = dyn Fn(usize) -> Result<Vec<Migration>, MoveError> + Sync + 'f;

/// What all drives of a migration share.
struct Writing<'a> {
    with: DriveContext<'a>,
    new_uuid: &'a (dyn Fn() -> String + Sync),
    waiting: &'a Waiting<'a>,
    /// Labels of the cartridges that can be had.
    present: BTreeSet<String>,
    drives: u64,
    /// Which files go together.
    group_by: GroupBy,
    /// Sums of files of which more parts come.
    parts: Parts,
    state: Mutex<State>,
}

/// Whether a drive can be given something.
enum Choice {
    /// This volume.
    Volume(VolumeId, String),
    /// A blank cartridge of this label.
    Blank(String),
    /// Another drive has the volumes that would take it.
    Later,
    /// No volume takes any of it.
    Nobody,
}

impl Mover<'_> {
    /// Writes the copies that files lack which came into the cache up to a time; all of them, unless it is
    /// asked to stop.
    ///
    /// # Errors
    /// [`MoveError`]; [`MoveError::NoVolume`] when all was written that a volume takes. What was committed
    /// until then stays.
    pub fn migrate(&mut self, entered_until_ns: i64) -> Result<Migrated, MoveError> {
        let catalogue = self.catalogue;
        self.write_out(&|limit| Ok(catalogue.next_migrations(entered_until_ns, limit)?))
    }

    /// Writes what waits, asking again what that is each time a drive is free.
    pub(super) fn write_out(&mut self, waiting: &Waiting<'_>) -> Result<Migrated, MoveError> {
        let learned = self.learn()?;
        let places = self.pool.volumes();
        let present = places.iter().filter(|(_, place)| match place {
            Whereabouts::Missing(_) => false,
            // It is no blank of ours, even if nothing is recorded on it.
            Whereabouts::Drive(drive) => !self.pool.is_left(*drive),
            Whereabouts::Element(_) => true,
        });
        let writing = Writing {
            with: self.with(),
            new_uuid: self.new_uuid,
            waiting,
            present: present.map(|(label, _)| label.clone()).collect(),
            drives: self.pool.drives() as u64,
            group_by: learned.map_or(self.settings.group_by, |learned| learned.by),
            parts: Parts::default(),
            state: Mutex::new(State {
                done: Migrated {
                    learned,
                    ..Migrated::default()
                },
                ..State::default()
            }),
        };
        self.pool.work_off(&writing, self.log, self.stop);
        let left = writing.left();
        let state = writing.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = state.ended {
            return Err(error);
        }
        match left? {
            Some(_) if self.lessee.is_some() => Ok(state.done),
            Some(label) if self.stop.load(Ordering::Relaxed) => Err(MoveError::Run {
                label,
                source: RunError::Interrupted,
            }),
            Some(label) => Err(self.pool.none_for(&label).into()),
            None if state.homeless.is_empty() => Ok(state.done),
            None => Err(MoveError::NoVolume {
                files: state.homeless.len(),
                volumes: self.catalogue.volumes()?.len(),
                lost: state.done.volumes_lost.clone(),
                done: Box::new(Moved {
                    migrated: state.done,
                    ..Moved::default()
                }),
            }),
        }
    }
}

impl Writing<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What waits and nobody is writing.
    fn batch(&self, state: &State) -> Result<Vec<Migration>, MoveError> {
        let claimed: usize = state.claimed.values().map(|one| one.waiting.len()).sum();
        let passed = state.refused.len() + state.homeless.len() + claimed;
        // The list begins anew each time. With as many again as have found no volume, all that finds none is listed a few
        // times, however much it is.
        let new = AT_ONCE.max(state.homeless.len());
        let mut batch = (self.waiting)(new + passed)?;
        batch.retain(|migration| !state.is_known(migration.file));
        let claims = state.claims();
        for migration in &mut batch {
            let Some(claims) = claims.get(&migration.file) else {
                continue;
            };
            let entry = self.with.catalogue.file(migration.file)?;
            let is_begun = |number: u32| entry.copies.iter().any(|copy| copy.number == number);
            let is_listed = |number| migration.missing.iter().any(|one| one.number == number);
            // Copies that are claimed count as written, though the catalogue may not know of them yet.
            let taken = claims
                .iter()
                .filter(|(number, _)| !is_begun(*number) || is_listed(*number));
            let lacking = migration.missing.len().saturating_sub(taken.count());
            let is_free = |number| claims.iter().all(|(claimed, _)| *claimed != number);
            migration.missing.retain(|missing| is_free(missing.number));
            migration.missing.truncate(lacking);
            let Some(first) = migration.missing.first() else {
                continue;
            };
            let others = entry
                .copies
                .iter()
                .filter(|copy| copy.number != first.number);
            let others = others.flat_map(|copy| copy.segments.iter().map(|(volume, _)| *volume));
            migration.elsewhere = others
                .chain(claims.iter().map(|(_, volume)| *volume))
                .collect();
        }
        batch.retain(|migration| !migration.missing.is_empty());
        Ok(batch)
    }

    /// Whether the first copy that a file lacks may go onto a volume.
    fn may_go_onto(
        &self,
        (id, volume): (VolumeId, &Volume),
        migration: &Migration,
        state: &State,
    ) -> bool {
        let settings = self.with.settings;
        let has_place =
            || settings.has_place_on(&volume.label, migration.stored_ns, self.with.now());
        let fits =
            || volume.written_bytes == 0 || !state.is_too_long(migration, settings.part_bytes);
        !migration.missing.is_empty() && !migration.elsewhere.contains(&id) && has_place() && fits()
    }

    /// The volumes of ours that take at least one of these files, first what is in the drive, then the fullest, so that
    /// few volumes are open at a time.
    fn writable<'v>(
        &self,
        known: &'v [(VolumeId, Volume)],
        waiting: &[Migration],
        state: &State,
        fits: &dyn Fn(&str) -> Fit,
    ) -> Vec<(Fit, VolumeId, &'v Volume)> {
        let takes_one = |id: VolumeId, volume: &Volume| {
            let mut waiting = waiting.iter();
            waiting.any(|file| self.may_go_onto((id, volume), file, state))
        };
        let is_writable = |(id, volume): &&(VolumeId, Volume)| {
            volume.format == VolumeFormat::Tapewise
                && matches!(volume.state, VolumeState::Empty | VolumeState::Filling)
                && self.is_at_hand(&volume.label, state)
                && takes_one(*id, volume)
        };
        let writable = known.iter().filter(is_writable);
        let mut writable: Vec<_> = writable
            .map(|(id, volume)| (fits(&volume.label), *id, volume))
            .collect();
        writable.sort_by_key(|(fit, _, volume)| {
            (*fit != Fit::Here, std::cmp::Reverse(volume.written_bytes))
        });
        writable
    }

    /// Whether a cartridge is there, and neither its medium has failed nor others have it.
    fn is_at_hand(&self, label: &str, state: &State) -> bool {
        let lost = &state.done.volumes_lost;
        let is_lost = lost.iter().any(|(lost, _)| lost == label)
            || (self.with.lessee).is_some_and(|lessee| lessee.leaves_alone(label));
        self.present.contains(label) && !is_lost && !state.denied.contains(label)
    }

    /// The blank cartridges that may take one of these files.
    fn blanks(
        &self,
        known: &[(VolumeId, Volume)],
        waiting: &[Migration],
        state: &State,
    ) -> Vec<&String> {
        let labels: HashSet<&String> = known.iter().map(|(_, volume)| &volume.label).collect();
        let (settings, now_ns) = (self.with.settings, self.with.now());
        let has_place = |label: &str| {
            let mut waiting = waiting.iter();
            waiting.any(|file| settings.has_place_on(label, file.stored_ns, now_ns))
        };
        let is_blank = |label: &&String| {
            !labels.contains(label)
                && self.is_at_hand(label, state)
                && !is_cleaning(label)
                && has_place(label)
        };
        self.present.iter().filter(is_blank).collect()
    }

    /// A volume that takes at least one of these files, and where all of them go if several volumes are filled side by
    /// side.
    fn choose(
        &self,
        waiting: &[Migration],
        state: &mut State,
        fits: &dyn Fn(&str) -> Fit,
    ) -> Result<(Choice, Option<Spread>), MoveError> {
        let known = self.with.catalogue.volumes()?;
        let writable = self.writable(&known, waiting, state, fits);
        let blanks = self.blanks(&known, waiting, state);
        let is_used = |(fit, _, volume): &&(Fit, VolumeId, &Volume)| {
            *fit != Fit::Not || state.claimed.contains_key(&volume.label)
        };
        let used = writable.iter().filter(is_used);
        let used: Vec<_> = used.map(|(_, id, volume)| (*id, *volume)).collect();
        let is_empty = |volume: &Volume, state: &State| {
            volume.written_bytes == 0 && !state.claimed.contains_key(&volume.label)
        };
        let empty = used.iter().filter(|(_, volume)| is_empty(volume, state));
        let empty = empty.count() + blanks.len();
        let spread = self.spread(waiting, state, &used, empty)?;
        let can = || writable.iter().filter(|(fit, ..)| *fit != Fit::Not);
        let takes = |id: VolumeId, volume: &Volume| match &spread {
            Some(spread) if is_empty(volume, state) => spread.has(Target::Blank),
            Some(spread) => spread.has(Target::Volume(id)),
            None => self.has_room_for_a_group((id, volume), waiting, state),
        };
        let choice = |id: VolumeId, volume: &Volume| Choice::Volume(id, volume.label.clone());
        if let Some((_, id, volume)) = can().find(|(_, id, volume)| takes(*id, volume)) {
            return Ok((choice(*id, volume), spread));
        }
        if spread
            .as_ref()
            .is_some_and(|spread| !spread.has(Target::Blank))
        {
            // Other drives fill the volumes to which it all goes.
            return Ok((Choice::Later, spread));
        }
        if blanks.is_empty() {
            // A group is divided before its files have no place.
            let choice = match can().next() {
                Some((_, id, volume)) => choice(*id, volume),
                None if writable.is_empty() => Choice::Nobody,
                None => Choice::Later,
            };
            return Ok((choice, None));
        }
        let blank = blanks.into_iter().find(|label| fits(label) != Fit::Not);
        let choice = blank.map_or(Choice::Later, |label| Choice::Blank(label.clone()));
        Ok((choice, spread))
    }

    fn new_volume(&self, label: &str) -> Result<VolumeId, MoveError> {
        let volume = Volume {
            label: label.to_owned(),
            uuid: (self.new_uuid)(),
            format: VolumeFormat::Tapewise,
            state: VolumeState::Empty,
            block_bytes: self.with.settings.block_bytes,
            next_block: LABEL_END,
            written_bytes: 0,
        };
        Ok(self.with.catalogue.add_volume(&volume, self.with.now())?)
    }

    /// Claims a volume and a share of what waits.
    fn claim(
        &self,
        state: &mut State,
        fits: &dyn Fn(&str) -> Fit,
    ) -> Result<Option<String>, MoveError> {
        loop {
            let batch = self.batch(state)?;
            if batch.is_empty() {
                state.is_all_claimed = !state.claimed.is_empty();
                return Ok(None);
            }
            if state.refuse_too_long(self.with.settings, &batch) {
                continue;
            }
            let (choice, spread) = self.choose(&batch, state, fits)?;
            let (volume, label) = match choice {
                Choice::Volume(volume, label) => (volume, label),
                Choice::Blank(label) => match self.new_volume(&label) {
                    // Another mover has just added it: look again.
                    Err(MoveError::Catalogue(CatalogueError::VolumeKnown { .. }))
                        if self.with.lessee.is_some() =>
                    {
                        continue;
                    }
                    added => (added?, label),
                },
                Choice::Nobody if state.claimed.is_empty() => {
                    let files = batch.iter().map(|migration| migration.file);
                    state.homeless.extend(files);
                    continue;
                }
                Choice::Later | Choice::Nobody => return Ok(None),
            };
            let mut waiting = match spread {
                Some(spread) => spread.onto(volume, batch),
                None => self.share(volume, batch, state)?,
            };
            // While the cartridge is blank those are tried that fit no other.
            let part_bytes = self.with.settings.part_bytes;
            waiting.sort_by_key(|migration| !state.is_too_long(migration, part_bytes));
            let claim = Claim {
                volume,
                waiting,
                is_here: fits(&label) == Fit::Here,
                leased: None,
            };
            state.claimed.insert(label.clone(), claim);
            return Ok(Some(label));
        }
    }

    /// What this drive writes of what waits: all that the volume takes, or its share of it.
    fn share(
        &self,
        id: VolumeId,
        batch: Vec<Migration>,
        state: &State,
    ) -> Result<Vec<Migration>, MoveError> {
        let volume = self.with.catalogue.volume(id)?;
        let all: u64 = batch
            .iter()
            .map(|migration| migration.bytes)
            .fold(0, u64::saturating_add);
        let least = LEAST_SHARE_SEGMENTS.saturating_mul(self.with.settings.segment_bytes);
        let most = match self.drives {
            1 => u64::MAX,
            drives => least.max(all.div_ceil(drives)),
        };
        let mut bytes = 0u64;
        let mut share = Vec::new();
        for group in self.groups_onto((id, &volume), batch, state) {
            if bytes >= most {
                break;
            }
            for migration in group {
                bytes = bytes.saturating_add(migration.bytes);
                share.push(migration);
            }
        }
        Ok(share)
    }

    /// A volume for which something still waits after all drives have ended.
    fn left(&self) -> Result<Option<String>, MoveError> {
        let mut state = self.state();
        if state.ended.is_some() {
            return Ok(None);
        }
        let batch = self.batch(&state)?;
        if batch.is_empty() {
            return Ok(None);
        }
        let (choice, _) = self.choose(&batch, &mut state, &|_| Fit::Fetch)?;
        Ok(match choice {
            Choice::Volume(_, label) | Choice::Blank(label) => Some(label),
            Choice::Later | Choice::Nobody => None,
        })
    }

    /// Files of the next segment, compressed if they are to be.
    fn prepare(
        &self,
        waiting: &mut (dyn Iterator<Item = Migration> + Send),
    ) -> Result<(Vec<Job>, Unsqueezed), MoveError> {
        let mut jobs = self.with.next_segment(waiting)?;
        let unsqueezed = match self.with.settings.precompress {
            Some(precompress) => self.with.squeeze(&mut jobs, precompress)?,
            None => Unsqueezed::default(),
        };
        Ok((jobs, unsqueezed))
    }

    /// Writes what was claimed onto a mounted volume, until it is full or nothing is left.
    fn fill(
        &self,
        claim: &Claim,
        drive: &mut TapeDrive,
        log: &mut dyn Log,
    ) -> Result<(), MoveError> {
        let with = match &claim.leased {
            Some(leased) => self.with.under(leased),
            None => self.with,
        };
        let id = claim.volume;
        let label = with.catalogue.volume(id)?.label;
        with.note_loads(id, drive)?;
        let run = |source: ScsiError| MoveError::Run {
            label: label.clone(),
            source: source.into(),
        };
        drive.prevent_removal(true).map_err(run)?;
        let mut recorder = Recorder::new(drive, log, self.with.stop);
        let filled = match self.fill_from(with, claim, &mut recorder) {
            Err(MoveError::Volume { source, .. }) if source.is_of_the_volume() => {
                self.lose(with, id, label.clone(), &source)
            }
            filled => filled,
        };
        // What ended it matters more than that the cartridge could not be released afterwards.
        let released = drive.prevent_removal(false).map_err(run);
        filled.and(released)
    }

    fn fill_from(
        &self,
        with: DriveContext<'_>,
        claim: &Claim,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), MoveError> {
        let id = claim.volume;
        let mut writer = with.open_volume(id, self.new_uuid, recorder)?;
        let mut waiting = claim.waiting.clone().into_iter();
        let mut next = self.prepare(&mut waiting)?;
        loop {
            let (jobs, unsqueezed) = next;
            let is_over = jobs.is_empty() && unsqueezed.refused.is_empty();
            self.note_unsqueezed(unsqueezed)?;
            if is_over {
                return Ok(());
            }
            if jobs.is_empty() {
                next = self.prepare(&mut waiting)?;
                continue;
            }
            let ahead = Mutex::new(None);
            let closed = std::thread::scope(|scope| {
                let prepare = || {
                    let prepared = self.prepare(&mut waiting);
                    *ahead.lock().unwrap_or_else(PoisonError::into_inner) = Some(prepared);
                };
                let settings = self.with.settings;
                if settings.precompress.is_some() && settings.overlap {
                    // Where no thread can be had the frames are made after the segment.
                    let _ = std::thread::Builder::new().spawn_scoped(scope, prepare);
                }
                with.write_segment(id, recorder, &mut writer, &jobs, &self.parts)
            });
            let closed = match closed {
                // Another mover writes one of them: what it leaves is listed again.
                Err(MoveError::Catalogue(CatalogueError::CopyExists { .. }))
                    if with.lessee.is_some() =>
                {
                    Closed::default()
                }
                closed => closed?,
            };
            let is_full = closed.is_full;
            let mut state = self.state();
            state.done.files += closed.complete;
            state.done.bytes = state.done.bytes.saturating_add(closed.bytes);
            state.done.segments += 1;
            state.attentions = 0;
            for job in &jobs[..closed.written] {
                state.done.compressed.count(job);
                state.done.copies += u64::from(job.range.end == job.record.bytes);
            }
            state.whole_cartridge = closed.whole_cartridge.or(state.whole_cartridge);
            drop(state);
            self.refuse(closed.refused)?;
            if is_full {
                return Ok(());
            }
            next = match ahead.into_inner().unwrap_or_else(PoisonError::into_inner) {
                Some(prepared) => prepared?,
                None => self.prepare(&mut waiting)?,
            };
        }
    }

    fn note_unsqueezed(&self, unsqueezed: Unsqueezed) -> Result<(), MoveError> {
        self.state().done.compressed.no_room += unsqueezed.no_room;
        self.refuse(unsqueezed.refused)
    }

    /// Files that cannot be written, and why. One that is damaged makes way for the copy that is whole on tape, if there
    /// is one.
    fn refuse(&self, refused: Vec<(FileId, String)>) -> Result<(), MoveError> {
        for (file, why) in refused {
            self.with.cache.discard(file)?;
            let mut state = self.state();
            state.refused.insert(file);
            state.done.refused.push((file, why));
        }
        Ok(())
    }
}

/// Whether a barcode is that of a cleaning cartridge, by the convention of all libraries.
pub(super) fn is_cleaning(label: &str) -> bool {
    label.starts_with("CLN")
}
