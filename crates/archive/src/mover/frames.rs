//! Copies that are compressed before they are written: zstd frames, made in the cache by several threads.
//!
//! A tar header needs the length of what follows it, so a segment's frames are made before its first block
//! is written: those of the next segment while the drive writes this one. A file that hardly shrinks is written as it is.

use super::MoveError;
use super::job::{Job, Squeezed};
use super::session::DriveContext;
use crate::cache::{CacheError, Reservation};
use crate::catalogue::FileId;
use crate::sums::{Kind, Sum};
use crate::volume::compress;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

/// How files are compressed before they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precompress {
    /// zstd's level: 1 is quick, 3 usual, 19 slow.
    pub level: i32,
    /// Files compressed at the same time.
    pub threads: usize,
}

/// What could not be compressed.
#[derive(Default)]
pub(super) struct Unsqueezed {
    /// Files whose contents are wrong; they are left out.
    pub refused: Vec<(FileId, String)>,
    /// Files that are written as they are because the cache had no room for their frames.
    pub no_room: u64,
}

/// What came of compressing a file.
enum Outcome {
    Frame(Squeezed),
    /// It hardly shrinks.
    Plain,
    /// The cache has no room for its frame.
    NoRoom,
    /// It cannot be read, or is not what the catalogue says.
    Wrong(String),
}

impl DriveContext<'_> {
    /// Compresses the files of a segment. One whose contents are wrong is refused and left out.
    pub fn squeeze(&self, jobs: &mut Vec<Job>, how: Precompress) -> Result<Unsqueezed, MoveError> {
        let next = AtomicUsize::new(0);
        let outcomes = Mutex::new(Vec::new());
        let work = || {
            // Whoever is interrupted writes nothing of this segment.
            while !self.stop.load(Ordering::Relaxed) {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(index) else { break };
                let outcome = squeezed(self, job, how.level);
                let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
                outcomes.push((index, outcome));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..how.threads.min(jobs.len()) {
                // With fewer threads it takes longer; this one does what no other takes.
                if Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        let mut outcomes = outcomes
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        outcomes.sort_by_key(|(index, _)| *index);
        let mut unsqueezed = Unsqueezed::default();
        for (index, outcome) in outcomes {
            let job = &mut jobs[index];
            match outcome? {
                Outcome::Frame(squeezed) => job.frame = Some(squeezed),
                Outcome::Plain => {}
                Outcome::NoRoom => unsqueezed.no_room += 1,
                Outcome::Wrong(why) => unsqueezed.refused.push((job.file, why)),
            }
        }
        let refused = &unsqueezed.refused;
        jobs.retain(|job| refused.iter().all(|(file, _)| *file != job.file));
        Ok(unsqueezed)
    }
}

/// The frame of a file, where that is worth it.
fn squeezed(with: &DriveContext<'_>, job: &Job, level: i32) -> Result<Outcome, CacheError> {
    let cache = with.cache;
    let bytes = job.record.bytes;
    if !job.is_whole() {
        // A frame can only be continued by who has made it.
        return Ok(Outcome::Plain);
    }
    // What saves less than 3 in 100 is not worth a `zstd -d` to whoever restores it.
    let most = bytes - bytes.div_ceil(33);
    if most == 0 {
        return Ok(Outcome::Plain);
    }
    let room = cache.reserve(most, with.now());
    let mut incoming = match room.and_then(Reservation::create) {
        Ok(incoming) => incoming,
        Err(CacheError::TooLarge { .. }) => return Ok(Outcome::NoRoom),
        Err(error) if error.is_full() => return Ok(Outcome::NoRoom),
        Err(error) => return Err(error),
    };
    let mut contents = match cache.read(job.file, None) {
        Ok(Some(contents)) => contents,
        Ok(None) => {
            return Ok(Outcome::Wrong("it is not in the cache any more".to_owned()));
        }
        Err(error) if error.is_of_the_file() => return Ok(Outcome::Wrong(error.to_string())),
        Err(error) => return Err(error),
    };
    let frame = match compress(&mut contents, bytes, level, &mut incoming) {
        Ok(frame) => frame,
        Err(error) if error.kind() == ErrorKind::QuotaExceeded => return Ok(Outcome::Plain),
        Err(error) if error.kind() == ErrorKind::StorageFull => return Ok(Outcome::NoRoom),
        Err(error) => return Ok(Outcome::Wrong(error.to_string())),
    };
    let found = Sum {
        kind: Kind::Xxh3,
        value: frame.file_xxh3.to_be_bytes().to_vec(),
    };
    let known = job.record.sums.iter().find(|sum| sum.kind == Kind::Xxh3);
    if let Some(known) = known.filter(|known| **known != found) {
        let why = format!("its contents have {found}, not {known} as was said");
        return Ok(Outcome::Wrong(why));
    }
    Ok(Outcome::Frame(Squeezed { frame, incoming }))
}
