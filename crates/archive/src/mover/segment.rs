//! One segment of a volume: the catalogue notes which copies are begun, the segment is written and closed,
//! and only when the drive says that the filemark is on the tape, and that it still stands after it, are
//! the copies committed.

use super::MoveError;
use super::job::{Job, Parts, SumSoFar};
use super::session::DriveContext;
use crate::catalogue::{CatalogueError, FileId, Part as WrittenPart, VolumeId, Written};
use crate::record::VolumeState;
use crate::volume::{self, VolumeWriter};
use tapewise_run::Recorder;

/// What came of a segment.
#[derive(Default)]
pub(super) struct Closed {
    /// Files that now have all their copies.
    pub complete: u64,
    /// Bytes recorded.
    pub bytes: u64,
    /// How many of the jobs are on the tape: the first ones.
    pub written: usize,
    /// Files that cannot be written, and why.
    pub refused: Vec<(FileId, String)>,
    /// The volume takes no more.
    pub is_full: bool,
    /// Bytes that a blank cartridge took until it was full.
    pub whole_cartridge: Option<u64>,
}

/// Why a file is refused of which a whole cartridge, which takes this many bytes, is too short.
pub(super) fn too_long(bytes: u64) -> String {
    format!("it does not fit a whole cartridge: set part_bytes below {bytes}")
}

impl DriveContext<'_> {
    /// Writes a segment and commits what is whole on it.
    pub fn write_segment(
        &self,
        id: VolumeId,
        recorder: &mut Recorder<'_>,
        writer: &mut VolumeWriter,
        jobs: &[Job],
        parts: &Parts,
    ) -> Result<Closed, MoveError> {
        let copies: Vec<(FileId, u32)> = jobs.iter().map(|job| (job.file, job.number)).collect();
        let write = self.catalogue.begin_write(id, &copies, self.now())?;
        if let Some(job) = self.gone_on_with(jobs)? {
            self.catalogue.abandon_write(write.id)?;
            return Err(MoveError::Catalogue(CatalogueError::CopyExists {
                file: job.file,
                number: job.number,
                state: "longer than when it was listed".to_owned(),
            }));
        }
        let with_sums: Vec<(&Job, SumSoFar)> =
            jobs.iter().map(|job| (job, parts.of(job))).collect();
        let mut entries = with_sums
            .iter()
            .map(|(job, sum)| job.entry(self.cache, sum));
        let first_block = writer.next_block();
        let written = writer.write_segment(recorder, &mut entries);
        let written = written.and_then(|written| {
            // If nothing fitted, there is no filemark, and the head is behind blocks that do not count.
            if written.next_block > first_block {
                writer.confirm(recorder)?;
            }
            Ok(written)
        });
        let written = match written {
            Ok(written) => written,
            Err(source) => {
                self.catalogue.abandon_write(write.id)?;
                return Err(MoveError::Volume {
                    label: self.catalogue.volume(id)?.label,
                    source,
                });
            }
        };
        let is_blank = self.catalogue.volume(id)?.written_bytes == 0;
        // What ended it did not fit a cartridge on which nothing else is: no other one takes it.
        let is_too_long =
            written.is_full && is_blank && written.files.is_empty() && written.failed.is_none();
        let record = self.what_to_commit(id, jobs, &written, is_too_long)?;
        let complete = self.catalogue.commit_write(write.id, &record, self.now())?;
        let mut closed = Closed {
            complete: complete.len() as u64,
            bytes: written.bytes,
            written: written.files.len(),
            is_full: record.state == VolumeState::Full,
            whole_cartridge: (written.is_full && is_blank).then_some(written.reached_bytes),
            ..Closed::default()
        };
        if let (Some(why), Some(job)) = (&written.failed, jobs.get(written.files.len())) {
            if job.range.start > 0 {
                // What its other parts were made of is as doubtful.
                self.catalogue.drop_part(job.file, job.number)?;
            }
            closed.refused.push((job.file, why.to_string()));
        }
        if let (true, Some(job)) = (is_too_long, jobs.first()) {
            let bytes = written.reached_bytes;
            closed.refused.push((job.file, too_long(bytes)));
        }
        Ok(closed)
    }

    /// A part of a copy that another mover has gone on with since it was listed. From now on nobody does.
    fn gone_on_with<'j>(&self, jobs: &'j [Job]) -> Result<Option<&'j Job>, MoveError> {
        let parts = jobs.iter().filter(|job| !job.is_whole());
        for job in parts.filter(|_| self.lessee.is_some()) {
            let copies = self.catalogue.file(job.file)?.copies;
            let begun = copies.iter().find(|copy| copy.number == job.number);
            let last = begun.and_then(|copy| copy.segments.last());
            if last.map_or(0, |(_, last)| last.file_offset + last.bytes) != job.range.start {
                return Ok(Some(job));
            }
        }
        Ok(None)
    }

    /// What the catalogue is to note of a segment.
    fn what_to_commit(
        &self,
        id: VolumeId,
        jobs: &[Job],
        written: &volume::Written,
        is_too_long: bool,
    ) -> Result<Written, MoveError> {
        let bytes = self.catalogue.volume(id)?.written_bytes + written.bytes;
        let is_long = self.settings.volume_bytes.is_some_and(|most| bytes >= most);
        let placed = jobs.iter().zip(&written.files);
        let parts = placed.map(|(job, placed)| WrittenPart {
            file: job.file,
            number: job.number,
            segment: placed.segment,
            zstd_bytes: job.frame.as_ref().map(|squeezed| squeezed.frame.bytes),
        });
        Ok(Written {
            parts: parts.collect(),
            next_block: written.next_block,
            // An empty archive is nothing: the cartridge is as good as blank.
            bytes: if is_too_long { 0 } else { written.bytes },
            state: if (written.is_full && !is_too_long) || is_long {
                VolumeState::Full
            } else {
                VolumeState::Filling
            },
        })
    }
}
