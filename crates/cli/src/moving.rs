//! Drives at work for an archive, under leases and beside other movers: what `mover` does, and `serve` with drives.

use crate::archive::Archive;
use crate::crew::Crew;
use crate::device::refuse_twice;
use crate::error::{CliError, Exit};
use crate::gather::{LOOK, gather};
use crate::interrupt::is_set;
use crate::log::{self, About};
use crate::output::say;
use crate::units;
use crate::watch::Watch;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tapewise_archive::catalogue::{FileId, Migration, OutOfUse};
use tapewise_archive::deliver::shown;
use tapewise_archive::mover::{Denied, Leased, Lessee, Migrated, MoveError, Mover, Recalled};
use tapewise_formats::event::Event;
use tapewise_serve::Doing;

/// How long recalls go on, at most, while files wait to be written.
const LONGEST: Duration = Duration::from_secs(3600);

/// How often the catalogue is looked at while nothing waits.
const IDLE: Duration = Duration::from_secs(2);

/// Pauses before something that went wrong is tried again: doubled each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// In how many parts of its time a lease is renewed: two that fail do no harm.
const RENEWALS: u32 = 4;

/// How long requests wait for one another, as the archive's settings have it.
pub fn window(archive: &Archive) -> Duration {
    Duration::from_secs(archive.settings.batch_window_s.unwrap_or(0))
}

/// The desk, or why this mover may not work now.
fn sit_down(desk: Result<Leased, Denied>) -> Result<Leased, CliError> {
    desk.map_err(|(Denied::Drive(why) | Denied::Volume(why))| CliError::with(Exit::Refused, why))
}

/// What came of a look at what waits.
struct Round {
    /// Whether a recall was answered or something was written.
    has_worked: bool,
    /// Why something waits that cannot be read or written now.
    held_up: Option<CliError>,
    /// Files that stay in the cache because they could not be written, and why.
    refused: Vec<(FileId, String)>,
    /// Volumes that were taken out of use, because their labels cannot be read or are others.
    disabled: Vec<OutOfUse>,
}

impl Round {
    const IDLE: Round = Round {
        has_worked: false,
        held_up: None,
        refused: Vec::new(),
        disabled: Vec::new(),
    };
}

/// Tells the threads beside the work that it is over, even if it panics: else they would keep the process, and its claims.
pub struct SetAtEnd<'a>(pub &'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Drives at work.
pub struct Moving<'a> {
    pub archive: &'a Archive,
    pub lessee: &'a Lessee,
    /// How long a claim lasts that is not renewed.
    pub lease: Duration,
    pub drives: Vec<String>,
    pub changers: Vec<String>,
    /// Drives that it uses at most at a time.
    pub most_drives: usize,
    /// How old the oldest request is at least when a cartridge is mounted for it.
    pub window: Duration,
    /// What lies in the cache is left to others.
    pub only_recall: bool,
    /// It ends when nothing waits that can be read or written now.
    pub until_idle: bool,
    pub stop: &'a Arc<AtomicBool>,
    pub watch: Watch<'a>,
}

impl Moving<'_> {
    /// Works until it is stopped, and gives back what it has.
    pub fn work(&self) -> Result<(), CliError> {
        refuse_twice(&self.drives)?;
        let is_over = AtomicBool::new(false);
        let done = std::thread::scope(|scope| {
            let _ends = SetAtEnd(&is_over);
            scope.spawn(|| self.keep_leases(&is_over));
            // What is wrong with the cache comes again when a round opens it.
            let _ = self.succeed();
            self.rounds()
        });
        self.lessee.give_back_all()?;
        done
    }

    /// Takes over at once from a process of this host that was killed, such as the last run of the same service.
    fn succeed(&self) -> Result<(), CliError> {
        if let Ok(alone) = self.archive.cache_if_free()? {
            self.lessee.succeed(&alone)?;
        }
        Ok(())
    }

    /// One round after the other. What goes wrong is printed, and tried again: the work does not end because a drive is in
    /// use or a cartridge is not there.
    fn rounds(&self) -> Result<(), CliError> {
        let mut pause = FIRST_PAUSE;
        let mut said = String::new();
        let mut has_ever_worked = false;
        let mut told = HashSet::new();
        // Another drive comes first each time: what a dead mover has left in one is found in the end.
        let mut drives = self.drives.clone();
        while !is_set(self.stop) {
            drives.rotate_left(1);
            let round = self.round(&drives, &told);
            let has_worked = round.as_ref().is_ok_and(|round| round.has_worked);
            has_ever_worked |= has_worked;
            let (held_up, refused) = match round {
                Ok(round) => {
                    for volume in round.disabled {
                        log::warn(About::default(), &volume);
                    }
                    (round.held_up, round.refused)
                }
                Err(_) if is_set(self.stop) => return Ok(()),
                // Somebody has to decide something first, such as to put this host into use again.
                Err(error) if self.until_idle && error.exit() == Exit::Refused => {
                    return Err(error);
                }
                Err(error) => {
                    self.retry(&error, &mut pause, &mut said);
                    continue;
                }
            };
            self.tell_refused(&refused, &mut told);
            match held_up {
                None if has_worked => {
                    pause = FIRST_PAUSE;
                    said.clear();
                }
                None if self.until_idle && told.is_empty() => {
                    return match self.left_disabled()? {
                        Some(why) => Err(self.left_behind(&why, has_ever_worked)?),
                        None => Ok(()),
                    };
                }
                None if self.until_idle => {
                    let left = units::count(told.len(), "file");
                    let said = format!("ended with {left} in the cache that could not be written");
                    return Err(CliError::with(Exit::Partial, said));
                }
                None => {
                    self.watch.work.say(Doing::Idle);
                    self.rest(IDLE);
                }
                Some(_) if is_set(self.stop) => return Ok(()),
                Some(why) if self.until_idle && !has_worked => {
                    return Err(self.left_behind(&why, has_ever_worked)?);
                }
                Some(why) => self.retry(&why, &mut pause, &mut said),
            }
        }
        Ok(())
    }

    /// Says what went wrong, and waits until it is tried again.
    fn retry(&self, error: &CliError, pause: &mut Duration, said: &mut String) {
        self.watch.is_stuck(error.message(), said);
        // Others may be able to use them. Where the catalogue is not reached, the next round begins with it.
        let _ = self.lessee.give_back_drives();
        self.rest(*pause);
        *pause = (*pause * 2).min(LONGEST_PAUSE);
    }

    /// Why something waits for a volume that is out of use, whoever took it out of use.
    fn left_disabled(&self) -> Result<Option<CliError>, CliError> {
        let catalogue = &self.archive.catalogue;
        if catalogue.open_recalls()?.queued == 0 {
            return Ok(None);
        }
        let queue = catalogue.recall_queue()?;
        let mut out = catalogue.out_of_use()?.into_iter();
        let waits_for = |what: &OutOfUse| {
            let mut disabled = queue.disabled.iter();
            disabled.any(|(_, label)| what.is_volume(label))
        };
        Ok(out.find(waits_for).map(CliError::failed))
    }

    /// The error of a mover that ends because nothing that waits can be read or written.
    fn left_behind(&self, why: &CliError, has_worked: bool) -> Result<CliError, CliError> {
        let open = self.archive.catalogue.open_recalls()?;
        let exit = if has_worked {
            Exit::Partial
        } else {
            why.exit()
        };
        let said = format!(
            "ended with {} in the queue, because nothing of what waits can be read or written now: {}",
            units::count(open.queued as usize, "recall"),
            why.message()
        );
        Ok(CliError::with(exit, said)
            .hint("put this right: what waits stays in the queue, and the same command goes on"))
    }

    /// Waits until somebody asks a service for something, or interrupts.
    fn rest(&self, most: Duration) {
        let until = Instant::now() + most;
        while Instant::now() < until && !is_set(self.stop) {
            if self.watch.work.wait(LOOK) {
                return;
            }
        }
    }

    /// Renews what this mover has, until it is over.
    fn keep_leases(&self, is_over: &AtomicBool) {
        let every = self.lease / RENEWALS;
        let mut renewed = Instant::now();
        while !is_over.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK);
            if renewed.elapsed() < every {
                continue;
            }
            renewed = Instant::now();
            if let Err(error) = self.lessee.renew() {
                let said = format_args!("a claim could not be renewed: {error}");
                log::warn(About::default(), said);
            }
        }
    }

    /// Carries out what waits, as far as this mover gets drives and cartridges. Files that were refused before do not make
    /// it mount a cartridge again.
    fn round(&self, drives: &[String], told: &HashSet<FileId>) -> Result<Round, CliError> {
        self.lessee.give_back_drives()?;
        sit_down(self.lessee.desk()?)?;
        let catalogue = &self.archive.catalogue;
        let writes = || -> Result<bool, MoveError> {
            let waiting = catalogue.next_migrations(i64::MAX, told.len() + 1)?;
            let is_new = |file: &Migration| !told.contains(&file.file);
            Ok(!self.only_recall && waiting.iter().any(is_new))
        };
        if catalogue.open_recalls()?.queued == 0 && !writes()? {
            return Ok(Round::IDLE);
        }
        gather(self.archive, self.window, self.stop)?;
        let desk = sit_down(self.lessee.desk_anew()?)?;
        let cache = self.archive.shared_cache(desk.lease.epoch)?;
        let crew = Crew {
            drives,
            changers: &self.changers,
            lessee: Some(self.lessee),
            most_drives: self.most_drives,
        };
        let quiet = self.watch.quiet;
        let tell = |recalled: &Recalled| self.watch.did(recalled);
        let began = Instant::now();
        // There may be no moment in days in which no recall waits.
        let ends = || began.elapsed() > LONGEST && writes().is_ok_and(|writes| writes);
        let work = |mover: &mut Mover<'_>| {
            let recalled = mover.recall_and_empty(&tell, &ends)?;
            let migrated = if writes()? {
                self.watch.work.say(Doing::Writing);
                mover.migrate(i64::MAX)
            } else {
                Ok(Migrated::default())
            };
            Ok((recalled, migrated))
        };
        let watch = |event: &Event| self.watch.saw(event);
        self.watch.work.say(Doing::Recalling);
        let (recalled, migrated) = self
            .archive
            .with_crew(&cache, &crew, self.stop, quiet, &watch, work)?;
        let answered = recalled.delivered + recalled.failed.len() as u64;
        let full = recalled.full.first().map(CliError::failed);
        let mut disabled = catalogue.out_of_use()?;
        let is_in_use = |label: &str| !disabled.iter().any(|what| what.is_volume(label));
        let mut unavailable = recalled.unavailable.iter();
        let unavailable = unavailable.find(|(label, _)| is_in_use(label));
        let unavailable =
            unavailable.map(|(label, why)| CliError::failed(format_args!("volume {label}: {why}")));
        let (migrated, unwritten) = match migrated {
            Ok(migrated) => (migrated, None),
            Err(mut error) => match error.take_done() {
                Some(done) => (done, Some(error.into())),
                None => return Err(error.into()),
            },
        };
        self.tell(&migrated);
        let is_new = |what: &OutOfUse| {
            let mut labels = recalled.unavailable.iter().map(|(label, _)| label);
            labels.any(|label| what.is_volume(label))
        };
        disabled.retain(is_new);
        Ok(Round {
            has_worked: answered + migrated.segments > 0,
            held_up: full.or(unavailable).or(unwritten),
            refused: migrated.refused,
            disabled,
        })
    }

    /// Says once of each file why it stays in the cache.
    fn tell_refused(&self, refused: &[(FileId, String)], told: &mut HashSet<FileId>) {
        for (file, why) in refused.iter().filter(|(file, _)| told.insert(*file)) {
            // A catalogue that does not answer now is no reason to say nothing.
            let entry = self.archive.catalogue.file(*file);
            let path = entry.map_or_else(
                |_| format!("file {} of the catalogue", file.0),
                |entry| shown(&entry.file.path).to_string(),
            );
            let said = format_args!("{path}: stays in the cache: {why}");
            log::warn(About::default(), said);
        }
    }

    fn tell(&self, migrated: &Migrated) {
        if !self.watch.quiet && migrated.segments > 0 {
            say(format_args!("tapewise: {}\n", wrote(migrated)));
        }
    }
}

/// What was written, in words. Where files want several copies, or have many parts, few files may have all of theirs.
fn wrote(migrated: &Migrated) -> String {
    let files = units::count(migrated.files as usize, "file");
    let (what, rest) = match migrated.copies {
        copies if copies == migrated.files && copies > 0 => (files, String::new()),
        copies => {
            let what = match copies {
                0 => "parts of files".to_owned(),
                1 => "1 copy".to_owned(),
                copies => format!("{copies} copies"),
            };
            (what, format!("; {files} now complete on tape"))
        }
    };
    format!(
        "wrote {what} ({}) to tape, {}{rest}",
        units::bytes(migrated.bytes),
        units::count(migrated.mounts as usize, "mount")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_told_in_copies_where_files_want_several() {
        let told = |files, copies| {
            wrote(&Migrated {
                files,
                copies,
                bytes: 1_840_000,
                segments: 1,
                mounts: 1,
                ..Migrated::default()
            })
        };
        assert_eq!(told(134, 134), "wrote 134 files (1.84 MB) to tape, 1 mount");
        assert_eq!(
            told(0, 134),
            "wrote 134 copies (1.84 MB) to tape, 1 mount; 0 files now complete on tape"
        );
        assert_eq!(
            told(1, 2),
            "wrote 2 copies (1.84 MB) to tape, 1 mount; 1 file now complete on tape"
        );
        assert_eq!(
            told(0, 0),
            "wrote parts of files (1.84 MB) to tape, 1 mount; 0 files now complete on tape"
        );
    }

    #[test]
    fn threads_beside_work_that_panics_end() {
        let is_over = AtomicBool::new(false);
        let ended = std::panic::catch_unwind(|| {
            std::thread::scope(|scope| {
                let _ends = SetAtEnd(&is_over);
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        std::thread::yield_now();
                    }
                });
                std::panic::resume_unwind(Box::new("the work"));
            })
        });
        assert!(ended.is_err());
    }
}
