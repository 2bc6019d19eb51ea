//! Files that lack copies go from the cache onto volumes.
//!
//! A volume is filled segment by segment: the catalogue notes which copies are begun, the segment is
//! written and closed, and only when the drive says that the filemark is on the tape are the copies
//! committed. A volume whose medium fails takes no more, and its files go to another one.

use super::{MoveError, Mover};
use crate::catalogue::{Copy, FileId, Loss, Migration, Part as WrittenPart, VolumeId, Written};
use crate::pool::Place;
use crate::record::{File, Volume, VolumeFormat, VolumeState};
use crate::volume::{Blank, Entry, Label, Member, Part, VolumeError, VolumeWriter};
use std::collections::HashSet;
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::time::{Duration, UNIX_EPOCH};
use tapewise_run::{Recorder, RunError};

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
    /// Files that stay in the cache because they cannot be written, and why.
    pub refused: Vec<(FileId, String)>,
    /// Volumes that take no more, and cartridges that are not blank though we know nothing of them,
    /// and why.
    pub volumes_lost: Vec<(String, String)>,
}

/// A copy that goes onto the volume in the drive.
struct Job {
    file: FileId,
    number: u32,
    /// Which bytes of the file go into this segment.
    range: Range<u64>,
}

impl Mover<'_> {
    /// Writes the copies that files lack which came into the cache up to a time; all of them, unless it is
    /// asked to stop.
    ///
    /// # Errors
    /// [`MoveError`]. What was committed until then stays.
    pub fn migrate(&mut self, entered_until_ns: i64) -> Result<Migrated, MoveError> {
        let mut done = Migrated::default();
        let mut refused = HashSet::new();
        loop {
            let mut waiting = self
                .catalogue
                .next_migrations(entered_until_ns, AT_ONCE + refused.len())?;
            waiting.retain(|migration| !refused.contains(&migration.file));
            if waiting.is_empty() {
                return Ok(done);
            }
            let volume = self.volume_for(&waiting, &done)?;
            self.fill(volume, waiting, &mut refused, &mut done)?;
        }
    }

    /// A volume that takes at least the first of these files.
    fn volume_for(
        &mut self,
        waiting: &[Migration],
        done: &Migrated,
    ) -> Result<VolumeId, MoveError> {
        let known = self.catalogue.volumes()?;
        let present = self.pool.volumes();
        let is_here = |label: &str| {
            let is_lost = |lost: &(String, String)| lost.0 == label;
            if done.volumes_lost.iter().any(is_lost) {
                return false;
            }
            present
                .get(label)
                .is_some_and(|place| !matches!(place, Place::Missing(_)))
        };
        let first = self.holders(waiting[0].file)?;
        let mut writable: Vec<_> = known
            .iter()
            .filter(|(id, volume)| {
                volume.format == VolumeFormat::Tapewise
                    && matches!(volume.state, VolumeState::Empty | VolumeState::Filling)
                    && is_here(&volume.label)
                    && !first.contains(id)
            })
            .collect();
        // The fullest first, so that few volumes are open at a time.
        writable.sort_by_key(|(_, volume)| std::cmp::Reverse(volume.written_bytes));
        if let Some((id, _)) = writable.first() {
            return Ok(*id);
        }
        let labels: HashSet<&str> = known
            .iter()
            .map(|(_, volume)| volume.label.as_str())
            .collect();
        let is_blank = |label: &&String| {
            !labels.contains(label.as_str()) && is_here(label) && !is_cleaning(label)
        };
        let Some(label) = present.keys().find(is_blank) else {
            return Err(MoveError::NoVolume {
                files: waiting.len(),
                volumes: known.len(),
            });
        };
        let volume = Volume {
            label: label.clone(),
            uuid: uuid::Uuid::new_v4().to_string(),
            format: VolumeFormat::Tapewise,
            state: VolumeState::Empty,
            block_bytes: self.settings.block_bytes,
            next_block: LABEL_END,
            written_bytes: 0,
        };
        Ok(self.catalogue.add_volume(&volume, (self.now_ns)())?)
    }

    /// Volumes that hold some of a copy of a file.
    fn holders(&self, file: FileId) -> Result<HashSet<VolumeId>, MoveError> {
        let copies = self.catalogue.file(file)?.copies;
        let volumes = copies
            .iter()
            .flat_map(|copy: &Copy| &copy.segments)
            .map(|(volume, _)| *volume);
        Ok(volumes.collect())
    }

    /// Writes what it takes of the files that wait onto a volume, until it is full or they are.
    fn fill(
        &mut self,
        id: VolumeId,
        waiting: Vec<Migration>,
        refused: &mut HashSet<FileId>,
        done: &mut Migrated,
    ) -> Result<(), MoveError> {
        let label = self.label(id)?;
        let index = self.pool.mount(&label, self.log)?;
        done.mounts += 1;
        let result = self.fill_mounted(id, index, waiting, refused, done);
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
        waiting: Vec<Migration>,
        refused: &mut HashSet<FileId>,
        done: &mut Migrated,
    ) -> Result<(), MoveError> {
        let label = self.label(id)?;
        let mut writer = match self.open_volume(id, drive) {
            Ok(writer) => writer,
            Err(MoveError::Volume { source, .. }) if is_of_the_volume(&source) => {
                return self.lose(id, label, &source, done);
            }
            Err(error) => return Err(error),
        };
        let mut waiting = waiting.into_iter().peekable();
        while waiting.peek().is_some() {
            let jobs = self.next_segment(id, &mut waiting)?;
            if jobs.is_empty() {
                continue;
            }
            match self.write_segment(id, drive, &mut writer, &jobs, refused, done)? {
                After::GoOn => {}
                After::Full => return Ok(()),
                After::Lost(source) => return self.lose(id, label, &source, done),
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

    /// The next files that this volume may take, as many as make a segment.
    fn next_segment(
        &self,
        volume: VolumeId,
        waiting: &mut dyn Iterator<Item = Migration>,
    ) -> Result<Vec<Job>, MoveError> {
        let mut jobs = Vec::new();
        let mut bytes = 0;
        for migration in waiting {
            let Some(missing) = migration.missing.first().copied() else {
                continue;
            };
            // Only a file with another copy can have one here already.
            if missing.number > 1 || missing.from > 0 || migration.missing.len() == 1 {
                let here = self.holders(migration.file)?.contains(&volume);
                if here && missing.from == 0 {
                    continue;
                }
            }
            let to = migration
                .bytes
                .min(missing.from.saturating_add(self.settings.part_bytes));
            bytes += to - missing.from + HEADER_BYTES;
            jobs.push(Job {
                file: migration.file,
                number: missing.number,
                range: missing.from..to,
            });
            if bytes >= self.settings.segment_bytes {
                break;
            }
        }
        Ok(jobs)
    }

    fn write_segment(
        &mut self,
        id: VolumeId,
        drive: usize,
        writer: &mut VolumeWriter,
        jobs: &[Job],
        refused: &mut HashSet<FileId>,
        done: &mut Migrated,
    ) -> Result<After, MoveError> {
        let copies: Vec<(FileId, u32)> = jobs.iter().map(|job| (job.file, job.number)).collect();
        let write = self.catalogue.begin_write(id, &copies, (self.now_ns)())?;
        let files = jobs
            .iter()
            .map(|job| Ok(self.catalogue.file(job.file)?.file));
        let files: Vec<File> = files.collect::<Result<_, MoveError>>()?;
        let (cache, part_bytes) = (self.cache, self.settings.part_bytes);
        let mut entries = jobs.iter().zip(&files).map(|(job, file)| {
            let opened = cache.read(job.file, None).map_err(Error::other)?;
            let mut contents = opened.ok_or_else(|| Error::from(ErrorKind::NotFound))?;
            contents.seek(SeekFrom::Start(job.range.start))?;
            Ok(Entry {
                member: member(file, &job.range, part_bytes),
                contents: Box::new(contents.take(job.range.end - job.range.start)),
            })
        });
        let mut log = self.pool.stamp(drive, self.log);
        let mut recorder = Recorder::new(self.pool.drive(drive), &mut log, self.stop);
        let written = match writer.write_segment(&mut recorder, &mut entries) {
            Ok(written) => written,
            Err(source) => {
                self.catalogue.abandon_write(write.id)?;
                return match is_of_the_volume(&source) {
                    true => Ok(After::Lost(source)),
                    false => Err(MoveError::Volume {
                        label: self.label(id)?,
                        source,
                    }),
                };
            }
        };
        let volume = self.catalogue.volume(id)?;
        let bytes = volume.written_bytes + written.bytes;
        let is_full =
            written.is_full || self.settings.volume_bytes.is_some_and(|most| bytes >= most);
        let parts = jobs
            .iter()
            .zip(&written.files)
            .map(|(job, placed)| WrittenPart {
                file: job.file,
                number: job.number,
                segment: placed.segment,
                zstd_bytes: None,
            });
        let record = Written {
            parts: parts.collect(),
            next_block: written.next_block,
            bytes: written.bytes,
            state: match is_full {
                true => VolumeState::Full,
                false => VolumeState::Filling,
            },
        };
        let complete = self
            .catalogue
            .commit_write(write.id, &record, (self.now_ns)())?;
        done.files += complete.len() as u64;
        done.bytes += written.bytes;
        done.segments += 1;
        if let (Some(why), Some(job)) = (&written.failed, jobs.get(written.files.len())) {
            refused.insert(job.file);
            done.refused.push((job.file, why.to_string()));
        }
        if written.files.is_empty() && written.failed.is_none() && !is_full {
            return Ok(After::Full);
        }
        Ok(match is_full {
            true => After::Full,
            false => After::GoOn,
        })
    }
}

/// How to go on behind a segment.
enum After {
    GoOn,
    Full,
    Lost(VolumeError),
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

/// What a header takes, about.
const HEADER_BYTES: u64 = 2048;

/// What the tape is to say of these bytes of a file.
fn member(file: &File, range: &Range<u64>, part_bytes: u64) -> Member {
    let member = Member::of(file);
    match *range == (0..file.bytes) {
        true => member,
        false => {
            let part = Part {
                number: (range.start / part_bytes) as u32 + 1,
                of: file.bytes.div_ceil(part_bytes) as u32,
                offset: range.start,
            };
            member.cut(part, range.end - range.start)
        }
    }
}

/// Whether another volume may well take what this one did not.
fn is_of_the_volume(error: &VolumeError) -> bool {
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
