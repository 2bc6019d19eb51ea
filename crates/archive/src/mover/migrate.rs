//! Files that lack copies go from the cache onto volumes.
//!
//! A volume is filled segment by segment, see [`super::segment`]. A volume whose medium fails takes no
//! more, and its files go to another one. A file that no volume takes keeps nobody else waiting.

use super::segment::Parts;
use super::{MoveError, Mover};
use crate::catalogue::{FileId, Loss, Migration, VolumeId};
use crate::record::{Volume, VolumeFormat, VolumeState};
use crate::volume::{Blank, Label, VolumeError, VolumeWriter};
use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, UNIX_EPOCH};
use tapewise_library::pool::Place;
use tapewise_run::Recorder;

/// Files looked at together.
const AT_ONCE: usize = 10_000;

/// What a migration did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Migrated {
    /// Files that now have all their copies.
    pub files: u64,
    /// Bytes recorded, headers among them.
    pub bytes: u64,
    /// Segments that were closed.
    pub segments: u64,
    /// Volumes that were mounted for it.
    pub mounts: u64,
    /// What was compressed before it was written.
    pub compressed: Compressed,
    /// Files that stay in the cache because they cannot be written, and why.
    pub refused: Vec<(FileId, String)>,
    /// Volumes that take no more, and cartridges that are not blank though we know nothing of them,
    /// and why.
    pub volumes_lost: Vec<(String, String)>,
}

impl Migrated {
    /// Adds what another migration did.
    pub(super) fn add(&mut self, other: Migrated) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.segments += other.segments;
        self.mounts += other.mounts;
        self.compressed.copies += other.compressed.copies;
        self.compressed.file_bytes += other.compressed.file_bytes;
        self.compressed.frame_bytes += other.compressed.frame_bytes;
        self.compressed.no_room += other.compressed.no_room;
        self.refused.extend(other.refused);
        self.volumes_lost.extend(other.volumes_lost);
    }
}

/// Copies that were written as zstd frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compressed {
    /// How many.
    pub copies: u64,
    /// Bytes of their files.
    pub file_bytes: u64,
    /// Bytes of their frames.
    pub frame_bytes: u64,
    /// Copies that were written as they are because the cache had no room for their frames.
    pub no_room: u64,
}

/// Says what waits to be written, at most so many files.
pub(super) type Waiting<'f> = dyn Fn(&Mover<'_>, usize) -> Result<Vec<Migration>, MoveError> + 'f;

/// What is known while a migration runs.
#[derive(Default)]
pub(super) struct Run {
    pub done: Migrated,
    /// Files whose contents cannot be written.
    pub refused: HashSet<FileId>,
    /// Files that no volume takes.
    pub homeless: HashSet<FileId>,
    /// Bytes that a blank cartridge took until it was full, where a file did not fit it.
    pub whole_cartridge: Option<u64>,
    /// Sums of files of which more parts come.
    pub parts: Parts,
}

impl Mover<'_> {
    /// Writes the copies that files lack which came into the cache up to a time; all of them, unless it is
    /// asked to stop.
    ///
    /// # Errors
    /// [`MoveError`]; [`MoveError::NoVolume`] when all was written that a volume takes. What was committed
    /// until then stays.
    pub fn migrate(&mut self, entered_until_ns: i64) -> Result<Migrated, MoveError> {
        self.write_out(&|mover, limit| {
            Ok(mover.catalogue.next_migrations(entered_until_ns, limit)?)
        })
    }

    /// Writes what waits, asking again what that is behind every volume.
    pub(super) fn write_out(&mut self, waiting: &Waiting<'_>) -> Result<Migrated, MoveError> {
        let mut run = Run::default();
        loop {
            let passed = run.refused.len() + run.homeless.len();
            let mut batch = waiting(self, AT_ONCE + passed)?;
            batch.retain(|migration| {
                !run.refused.contains(&migration.file) && !run.homeless.contains(&migration.file)
            });
            if batch.is_empty() {
                break;
            }
            match self.volume_for(&batch, &run)? {
                Some(volume) => self.fill(volume, batch, &mut run)?,
                None => run
                    .homeless
                    .extend(batch.iter().map(|migration| migration.file)),
            }
        }
        match run.homeless.len() {
            0 => Ok(run.done),
            files => Err(MoveError::NoVolume {
                files,
                volumes: self.catalogue.volumes()?.len(),
            }),
        }
    }

    /// Whether the first copy that a file lacks may go onto a volume.
    fn may_go_onto(
        &self,
        (id, volume): (VolumeId, &Volume),
        migration: &Migration,
        run: &Run,
    ) -> bool {
        let has_place = || {
            self.settings
                .has_place_on(&volume.label, migration.stored_ns, (self.now_ns)())
        };
        let fits = || volume.written_bytes == 0 || !self.is_too_long(migration, run);
        !migration.missing.is_empty() && !migration.elsewhere.contains(&id) && has_place() && fits()
    }

    /// Whether what is written of a file next is as long as what a whole cartridge took: it may still fit
    /// one, because its contents shrink better, but it would only fill up one that was begun.
    fn is_too_long(&self, migration: &Migration, run: &Run) -> bool {
        let from = migration.missing.first().map_or(0, |missing| missing.from);
        let next = (migration.bytes.saturating_sub(from)).min(self.settings.part_bytes);
        run.whole_cartridge.is_some_and(|bytes| next >= bytes)
    }

    /// A volume that takes at least one of these files; none where not even a blank cartridge does.
    fn volume_for(
        &mut self,
        waiting: &[Migration],
        run: &Run,
    ) -> Result<Option<VolumeId>, MoveError> {
        let known = self.catalogue.volumes()?;
        let present = self.present(&run.done);
        let mut writable: Vec<_> = known
            .iter()
            .filter(|(_, volume)| {
                volume.format == VolumeFormat::Tapewise
                    && matches!(volume.state, VolumeState::Empty | VolumeState::Filling)
                    && present.contains(&volume.label)
            })
            .collect();
        // The fullest first, so that few volumes are open at a time.
        writable.sort_by_key(|(_, volume)| std::cmp::Reverse(volume.written_bytes));
        let takes_one = |(id, volume): &&&(VolumeId, Volume)| {
            let mut waiting = waiting.iter();
            waiting.any(|file| self.may_go_onto((*id, volume), file, run))
        };
        if let Some((id, _)) = writable.iter().find(takes_one) {
            return Ok(Some(*id));
        }
        let labels: HashSet<&String> = known.iter().map(|(_, volume)| &volume.label).collect();
        let now_ns = (self.now_ns)();
        let is_blank = |label: &&String| {
            let mut waiting = waiting.iter();
            !labels.contains(label)
                && !is_cleaning(label)
                && waiting.any(|file| self.settings.has_place_on(label, file.stored_ns, now_ns))
        };
        let Some(label) = present.iter().find(is_blank) else {
            return Ok(None);
        };
        let volume = Volume {
            label: label.clone(),
            uuid: (self.new_uuid)(),
            format: VolumeFormat::Tapewise,
            state: VolumeState::Empty,
            block_bytes: self.settings.block_bytes,
            next_block: LABEL_END,
            written_bytes: 0,
        };
        Ok(Some(self.catalogue.add_volume(&volume, (self.now_ns)())?))
    }

    /// Labels of the cartridges that can be had, in their order.
    fn present(&mut self, done: &Migrated) -> BTreeSet<String> {
        let is_lost = |label: &String| done.volumes_lost.iter().any(|(lost, _)| lost == label);
        let places = self.pool.volumes();
        let present = places
            .iter()
            .filter(|(label, place)| !matches!(place, Place::Missing(_)) && !is_lost(label));
        present.map(|(label, _)| label.clone()).collect()
    }

    /// Writes what it takes of the files that wait onto a volume, until it is full or they are.
    fn fill(
        &mut self,
        id: VolumeId,
        waiting: Vec<Migration>,
        run: &mut Run,
    ) -> Result<(), MoveError> {
        let label = self.label(id)?;
        let index = match self.pool.mount(&label, self.log).map_err(MoveError::from) {
            Ok(index) => index,
            // Dropped, held by a drive that failed, used by others: the next volume takes the files.
            Err(error) if error.is_of_the_volume() => {
                run.done.volumes_lost.push((label, error.to_string()));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        run.done.mounts += 1;
        let result = self.fill_mounted(id, index, waiting, run);
        match self.let_go(index, result) {
            // The files wait still: another drive takes them.
            Err(error) if error.is_of_the_drive() => Ok(()),
            result => result,
        }
    }

    fn fill_mounted(
        &mut self,
        id: VolumeId,
        drive: usize,
        mut waiting: Vec<Migration>,
        run: &mut Run,
    ) -> Result<(), MoveError> {
        let volume = self.catalogue.volume(id)?;
        let label = volume.label.clone();
        let mut writer = match self.open_volume(id, drive) {
            Ok(writer) => writer,
            Err(MoveError::Volume { source, .. }) if is_of_the_volume(&source) => {
                return self.lose(id, label, &source, &mut run.done);
            }
            Err(error) => return Err(error),
        };
        waiting.retain(|migration| self.may_go_onto((id, &volume), migration, run));
        // While the cartridge is blank those are tried that fit no other.
        waiting.sort_by_key(|migration| !self.is_too_long(migration, run));
        let mut waiting = waiting.into_iter().peekable();
        while waiting.peek().is_some() {
            let jobs = self.next_segment(&mut waiting)?;
            match self.write_segment(id, drive, &mut writer, jobs, run) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(MoveError::Volume { source, .. }) if is_of_the_volume(&source) => {
                    return self.lose(id, label, &source, &mut run.done);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The volume takes no more: its medium failed, or it is not what the catalogue says.
    fn lose(
        &mut self,
        id: VolumeId,
        label: String,
        why: &VolumeError,
        done: &mut Migrated,
    ) -> Result<(), MoveError> {
        let is_new = self.catalogue.volume(id)?.state == VolumeState::Empty;
        match why {
            // Somebody else's cartridge, or one of ours that was given up: nothing was written.
            VolumeError::NotBlank { .. } | VolumeError::OtherVolume { .. } if is_new => {
                self.catalogue
                    .forget_volume(id, Loss::Refused, (self.now_ns)())?;
            }
            _ => self.catalogue.set_volume_state(id, VolumeState::Suspect)?,
        }
        done.volumes_lost.push((label, why.to_string()));
        Ok(())
    }

    /// Labels a volume that has nothing on it yet, or goes to the end of one that has.
    fn open_volume(&mut self, id: VolumeId, drive: usize) -> Result<VolumeWriter, MoveError> {
        let volume = self.catalogue.volume(id)?;
        let label = volume.label.clone();
        let mut log = self.pool.stamp(drive, self.log);
        let mut recorder = Recorder::new(self.pool.drive(drive), &mut log, self.stop);
        let writer = match volume.state {
            // Killed between the catalogue's word and the label, or right behind the label.
            VolumeState::Empty => {
                VolumeWriter::resume(&mut recorder, &volume).or_else(|error| match error {
                    VolumeError::NoLabel { .. } => VolumeWriter::label(
                        &mut recorder,
                        &Label {
                            uuid: volume.uuid.clone(),
                            barcode: volume.label.clone(),
                            block_bytes: volume.block_bytes,
                            created: date((self.now_ns)()),
                        },
                        Blank::Required,
                    ),
                    error => Err(error),
                })
            }
            _ => VolumeWriter::resume(&mut recorder, &volume),
        };
        let writer = writer.map_err(|source| MoveError::Volume { label, source })?;
        Ok(writer.with_segments_of(self.settings.segment_bytes))
    }
}

/// The block behind the label and its filemark.
const LABEL_END: u64 = 2;

/// A time as RFC 3339 has it, to the second.
fn date(at_ns: i64) -> String {
    let since = Duration::from_nanos(at_ns.max(0).unsigned_abs());
    humantime::format_rfc3339_seconds(UNIX_EPOCH + since).to_string()
}

/// Whether a barcode is that of a cleaning cartridge, by the convention of all libraries.
fn is_cleaning(label: &str) -> bool {
    label.starts_with("CLN")
}

/// Whether another volume may well take what this one did not.
fn is_of_the_volume(error: &VolumeError) -> bool {
    use tapewise_run::RunError;
    use tapewise_scsi::Condition::{DataProtect, Medium};
    let run = match error {
        VolumeError::Run(source) | VolumeError::Abandoned { source, .. } => source,
        VolumeError::BlockLength { .. } => return false,
        _ => return true,
    };
    match run {
        RunError::Scsi(error) => matches!(error.condition(), Some(Medium | DataProtect)),
        _ => false,
    }
}
