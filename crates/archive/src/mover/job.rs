//! One copy that goes onto a volume: which bytes of which file, and how they are read.
//!
//! What goes to tape is compared with the catalogue's XXH3 while it is written: a file as it is by the
//! writer, a frame when it is made, and a file that is cut into parts by a sum that goes on from part to
//! part. A file that was damaged in the cache is refused, and nothing of it counts.

use super::MoveError;
use super::session::DriveContext;
use crate::cache::{Cache, DiskFile, Incoming};
use crate::catalogue::{FileId, Migration};
use crate::record::File;
use crate::sums::Kind;
use crate::volume::{Entry, Frame, Member, Part};
use std::collections::HashMap;
use std::io::{Error, ErrorKind, Read, Seek, SeekFrom, Take};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use xxhash_rust::xxh3::Xxh3;

/// A frame, in the cache until its segment is closed.
pub(super) struct Squeezed {
    pub frame: Frame,
    pub incoming: Incoming,
}

/// A copy that goes onto the volume in the drive.
pub(super) struct Job {
    pub file: FileId,
    pub number: u32,
    /// Which bytes of the file go into this segment.
    pub range: Range<u64>,
    /// The length of the parts into which this copy is cut.
    part_bytes: u64,
    pub record: File,
    /// When the file was stored, and on how many volumes it is to lie.
    pub stored_ns: i64,
    pub copies: u32,
    /// The frame that is written in its place.
    pub frame: Option<Squeezed>,
}

impl Job {
    /// Whether all of the file goes into this segment.
    pub fn is_whole(&self) -> bool {
        self.range == (0..self.record.bytes)
    }

    /// What the tape is to say of it.
    fn member(&self) -> Member {
        let member = Member {
            stored_ns: Some(self.stored_ns),
            copies: Some(self.copies),
            ..Member::of(&self.record)
        };
        if let Some(squeezed) = &self.frame {
            return squeezed.frame.member(member);
        }
        if self.is_whole() {
            return member;
        }
        let part = Part {
            number: (self.range.start / self.part_bytes) as u32 + 1,
            of: self.record.bytes.div_ceil(self.part_bytes) as u32,
            offset: self.range.start,
        };
        member.cut(part, self.range.end - self.range.start)
    }

    /// What is written.
    pub fn entry<'c>(&self, cache: &Cache, sum: &SumSoFar) -> std::io::Result<Entry<'c>> {
        let contents: Box<dyn Read + Send> = match &self.frame {
            Some(squeezed) => Box::new(squeezed.incoming.reread().map_err(Error::other)?),
            None => {
                let opened = cache.read(self.file, None).map_err(Error::other)?;
                let contents = opened.ok_or_else(|| Error::from(ErrorKind::NotFound))?;
                if self.is_whole() {
                    Box::new(contents)
                } else {
                    Box::new(OfPart::new(contents, self, sum)?)
                }
            }
        };
        Ok(Entry {
            member: self.member(),
            contents,
        })
    }
}

impl DriveContext<'_> {
    /// The next files, as many as make a segment.
    pub fn next_segment(
        &self,
        waiting: &mut dyn Iterator<Item = Migration>,
    ) -> Result<Vec<Job>, MoveError> {
        let mut jobs = Vec::new();
        let mut bytes = 0;
        for migration in waiting {
            let Some(missing) = migration.missing.first() else {
                continue;
            };
            let entry = self.catalogue.file(migration.file)?;
            let (mut from, mut part_bytes) = (missing.from, self.settings.part_bytes);
            let mut copies = entry.copies.iter();
            let begun = copies.find(|copy| copy.number == missing.number);
            if let Some((_, first)) = begun.and_then(|copy| copy.segments.first()) {
                // Only the very same frame could go on, and that is gone with who made it. Other parts go on, cut as they
                // were begun, unless the settings want shorter ones, such as for a cartridge that takes less.
                if missing.zstd_bytes.is_some() || first.bytes > part_bytes {
                    self.catalogue.drop_part(migration.file, missing.number)?;
                    from = 0;
                } else {
                    part_bytes = first.bytes;
                }
            }
            let to = migration.bytes.min(from.saturating_add(part_bytes));
            bytes += to - from + HEADER_BYTES;
            jobs.push(Job {
                file: migration.file,
                number: missing.number,
                range: from..to,
                part_bytes,
                record: entry.file,
                stored_ns: entry.created_ns,
                copies: entry.copies_wanted,
                frame: None,
            });
            if bytes >= self.settings.segment_bytes {
                break;
            }
        }
        Ok(jobs)
    }
}

/// What a header takes, about.
pub(super) const HEADER_BYTES: u64 = 2048;

/// The sum of a file up to the end of the part that was read last.
pub(super) type SumSoFar = Arc<Mutex<Option<(u64, Xxh3)>>>;

/// The sums of files that are cut into parts, by copy.
#[derive(Default)]
pub(super) struct Parts(Mutex<HashMap<(FileId, u32), SumSoFar>>);

impl Parts {
    /// Where the sum of a job's file goes on. A file that is not cut needs none.
    pub fn of(&self, job: &Job) -> SumSoFar {
        if job.is_whole() {
            SumSoFar::default()
        } else {
            let mut sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(sums.entry((job.file, job.number)).or_default())
        }
    }
}

/// A part of a file, and the sum of the file up to where it is read. Its end is an error where that is
/// the end of the file and the sum is not the catalogue's.
struct OfPart {
    contents: Take<Box<dyn DiskFile>>,
    at: u64,
    sum: Xxh3,
    so_far: SumSoFar,
    bytes: u64,
    known: Option<u64>,
}

impl OfPart {
    fn new(
        mut contents: Box<dyn DiskFile>,
        job: &Job,
        so_far: &SumSoFar,
    ) -> std::io::Result<OfPart> {
        let from = job.range.start;
        let before = so_far.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = match &*before {
            Some((at, sum)) if *at == from => sum.clone(),
            // The parts before were written by a run that is gone, or this one was begun and given up.
            _ => sum_of_beginning(contents.as_mut(), from)?,
        };
        drop(before);
        contents.seek(SeekFrom::Start(from))?;
        let known = job.record.sums.iter().find(|sum| sum.kind == Kind::Xxh3);
        Ok(OfPart {
            contents: contents.take(job.range.end - from),
            at: from,
            sum,
            so_far: Arc::clone(so_far),
            bytes: job.record.bytes,
            known: known
                .and_then(|sum| <[u8; 8]>::try_from(sum.value.as_slice()).ok())
                .map(u64::from_be_bytes),
        })
    }
}

impl Read for OfPart {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.contents.read(buffer)?;
        if count > 0 {
            self.sum.update(&buffer[..count]);
            self.at += count as u64;
            return Ok(count);
        }
        let xxh3 = self.sum.digest();
        match self.known {
            Some(known) if self.at == self.bytes && known != xxh3 => Err(Error::new(
                ErrorKind::InvalidData,
                format!("its contents have xxh3:{xxh3:016x}, not xxh3:{known:016x} as was said"),
            )),
            _ => {
                let mut so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
                *so_far = Some((self.at, self.sum.clone()));
                Ok(0)
            }
        }
    }
}

/// Sums a file up to a byte.
fn sum_of_beginning(contents: &mut dyn DiskFile, bytes: u64) -> std::io::Result<Xxh3> {
    let mut sum = Xxh3::new();
    let mut buffer = vec![0; 1 << 20];
    let mut beginning = contents.take(bytes);
    loop {
        match beginning.read(&mut buffer) {
            Ok(0) => return Ok(sum),
            Ok(count) => sum.update(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
