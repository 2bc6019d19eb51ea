//! What movers do for a service that has no drives of its own: drives as the event log tells them, and answers as the
//! catalogue counts them.

use super::IDLE;
use crate::archive::Archive;
use crate::error::CliError;
use crate::gather::LOOK;
use crate::interrupt::is_set;
use crate::log::{self, About};
use crate::moving::window;
use crate::now::now_ns;
use crate::units;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tapewise_archive::catalogue::{Ended, Lease, OpenRecalls, Tally};
use tapewise_archive::kept::Kept;
use tapewise_archive::movers::why_nobody_begins;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_formats::event_log::{EventLogError, EventReader, Record};
use tapewise_serve::{Counts, Doing, Work};

/// Bytes of the log that are read at once.
const MOST_BYTES: u64 = 16 << 20;

/// How long movers may take to begin with something beyond what requests wait for one another. The longest pause of one
/// whose drives could not be used is a minute.
const LONGEST_QUIET: Duration = Duration::from_secs(120);

/// A log that others write, read on as it grows.
struct Growing {
    path: PathBuf,
    /// Bytes that were read, whole lines.
    read_bytes: u64,
}

impl Growing {
    /// What is appended to a log from now on.
    fn new(path: &Path) -> Result<Growing, CliError> {
        let mut growing = Growing {
            path: path.to_owned(),
            read_bytes: 0,
        };
        while growing.whole_lines()?.is_some() {}
        Ok(growing)
    }

    /// Whole lines that have come; none where there are none. A log that is shorter than before is another one.
    fn whole_lines(&mut self) -> Result<Option<Vec<u8>>, CliError> {
        let bad = |error| CliError::failed(error).of(self.path.display());
        let mut log = match File::open(&self.path) {
            Ok(log) => log,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(bad(error)),
        };
        if log.metadata().map_err(bad)?.len() < self.read_bytes {
            self.read_bytes = 0;
        }
        log.seek(SeekFrom::Start(self.read_bytes)).map_err(bad)?;
        let mut bytes = Vec::new();
        log.take(MOST_BYTES).read_to_end(&mut bytes).map_err(bad)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n');
        bytes.truncate(whole.map_or(0, |last| last + 1));
        self.read_bytes += bytes.len() as u64;
        Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }

    /// Events that have come, as far as they can be read.
    fn events(&mut self, mut saw: impl FnMut(&Event)) -> Result<(), CliError> {
        while let Some(lines) = self.whole_lines()? {
            for line in lines.split_inclusive(|&byte| byte == b'\n') {
                match event_of(line) {
                    Ok(event) => event.iter().for_each(&mut saw),
                    Err(error) => {
                        let path = self.path.display();
                        let said = format_args!("{path}: a line is left out: {error}");
                        log::warn(About::default(), said);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The event of a line; none where it is a header. Movers name drive and cartridge in each event.
fn event_of(line: &[u8]) -> Result<Option<Event>, EventLogError> {
    Ok(match EventReader::new(line).next_record()? {
        Some(Record::Event(event)) => Some(*event),
        _ => None,
    })
}

/// Keeps the books of what movers carry out.
pub struct Books<'a> {
    archive: &'a Archive,
    work: &'a Work,
    log: Growing,
    tally: Tally,
    /// The last count. To count takes long if a recall has been open for weeks: all that came after it is counted again.
    counted: Kept<Tally>,
    /// What has ended since the service began.
    ended: Ended,
    mounts: u64,
    quiet: Quiet,
}

/// How long recalls have waited for movers that are running but have no drive and begin nothing. A mover whose library is
/// gone looks like that from here.
struct Quiet {
    /// How long movers may take to begin.
    most: Duration,
    since: Option<Instant>,
    /// Recalls that had been answered.
    answered: u64,
}

impl Quiet {
    /// Why to look after the movers, if they have begun nothing for too long.
    fn saw(
        &mut self,
        open: &OpenRecalls,
        leases: &[Lease],
        answered: u64,
        now: Instant,
    ) -> Option<String> {
        let has_drive = leases.iter().any(|lease| !lease.is_desk());
        let is_new = std::mem::replace(&mut self.answered, answered) != answered;
        if open.queued == 0 || open.started > 0 || has_drive || is_new {
            self.since = None;
            return None;
        }
        let quiet = now - *self.since.get_or_insert(now);
        let mover = leases.first().filter(|_| quiet > self.most)?;
        let quiet = units::seconds(quiet.as_secs() as f64);
        Some(format!(
            "nothing of what waits was begun for {quiet}, and no mover has a drive: see what the mover says ({})",
            mover.holder
        ))
    }
}

impl<'a> Books<'a> {
    /// From now on.
    pub fn open(archive: &'a Archive, work: &'a Work) -> Result<Books<'a>, CliError> {
        let tally = archive.catalogue.tally(&Tally::default())?;
        Ok(Books {
            archive,
            work,
            log: Growing::new(&archive.events())?,
            ended: Ended::default(),
            tally,
            counted: Kept::default(),
            mounts: 0,
            quiet: Quiet {
                most: window(archive) + LONGEST_QUIET,
                since: None,
                answered: 0,
            },
        })
    }

    /// Until somebody interrupts. It prints what goes wrong, once, and tries again.
    pub fn keep(mut self, stop: &AtomicBool) {
        let mut said = String::new();
        while !is_set(stop) {
            match self.look() {
                Ok(()) => said.clear(),
                Err(error) => {
                    let why = error.message().to_owned();
                    if said != why {
                        log::warn(About::default(), format_args!("{why}; it is tried again"));
                        said = why;
                    }
                }
            }
            self.rest(stop);
        }
    }

    /// Waits until somebody asks for something, or interrupts.
    fn rest(&self, stop: &AtomicBool) {
        let looks = IDLE.as_millis().div_ceil(LOOK.as_millis());
        for _ in 0..looks {
            if self.work.wait(LOOK) || is_set(stop) {
                return;
            }
        }
    }

    fn look(&mut self) -> Result<(), CliError> {
        let Books {
            log, work, mounts, ..
        } = self;
        log.events(|event| {
            let is_mount = event.action == Action::Mount && event.outcome == Outcome::Done;
            *mounts += u64::from(is_mount);
            work.saw(event, now_ns());
        })?;
        let catalogue = &self.archive.catalogue;
        let count_on = || catalogue.tally(&self.tally);
        let now = (self.counted).with(Instant::now, count_on, |tally| tally.clone())?;
        self.ended = self.ended + now.total().since(self.tally.total());
        self.tally = now;
        let counts = Counts {
            delivered: self.ended.delivered,
            bytes: self.ended.bytes,
            failed: self.ended.failed,
            mounts: self.mounts,
            troubles: 0,
        };
        self.work.counted(counts);
        // It ends what is over, so that what a dead mover had begun waits again.
        let nobody = why_nobody_begins(catalogue.as_ref(), now_ns())?;
        let open = catalogue.open_recalls()?;
        let leases = catalogue.leases()?;
        let answered = self.ended.delivered + self.ended.failed;
        let idle = self.quiet.saw(&open, &leases, answered, Instant::now());
        self.work.is_unattended(nobody.or(idle));
        self.work.say(if open.started > 0 {
            Doing::Recalling
        } else {
            Doing::Idle
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use tapewise_archive::catalogue::Holder;

    #[test]
    fn movers_that_have_no_drive_for_long_although_recalls_wait_are_looked_after() {
        let holder = Holder {
            host: "ada".to_owned(),
            process: 4711,
            run: "a".to_owned(),
        };
        let lease = |drive: &str| Lease {
            epoch: 1,
            drive: drive.to_owned(),
            volume: None,
            holder: holder.clone(),
            until_ns: 1,
        };
        let idle = [lease(&holder.desk())];
        let busy = [lease(&holder.desk()), lease("D1")];
        let waiting = OpenRecalls {
            queued: 3,
            ..OpenRecalls::default()
        };
        let begun = OpenRecalls {
            started: 1,
            ..waiting
        };
        let mut quiet = Quiet {
            most: Duration::from_secs(120),
            since: None,
            answered: 0,
        };
        let began = Instant::now();
        let mut saw = |open: &OpenRecalls, leases: &[Lease], answered, at_s| {
            let now = began + Duration::from_secs(at_s);
            quiet.saw(open, leases, answered, now)
        };
        assert_eq!(saw(&waiting, &idle, 0, 0), None);
        assert_eq!(saw(&waiting, &idle, 0, 120), None);
        let why = saw(&waiting, &idle, 0, 121).expect("a reason");
        assert!(why.contains("process 4711 on ada"), "{why}");
        // It has a drive, has begun or answered something, or nothing waits: it counts anew.
        let nothing = OpenRecalls::default();
        let at_work = [
            (waiting, &busy[..], 0),
            (begun, &idle, 0),
            (waiting, &idle, 1),
            (nothing, &idle, 1),
        ];
        for ((open, leases, answered), at_s) in at_work.into_iter().zip([200, 400, 600, 800]) {
            assert_eq!(saw(&open, leases, answered, at_s), None);
            assert_eq!(saw(&waiting, &idle, answered, at_s + 60), None);
            assert_eq!(saw(&waiting, &idle, answered, at_s + 180), None);
            assert!(saw(&waiting, &idle, answered, at_s + 181).is_some());
        }
    }

    #[test]
    fn what_others_append_to_a_log_is_read_once_and_by_whole_lines() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("events.jsonl");
        let append = |text: &str| {
            let log = File::options().create(true).append(true).open(&path);
            log.expect("a log")
                .write_all(text.as_bytes())
                .expect("written");
        };
        let line = |us: u64| format!("{{\"action\":\"mount\",\"at_us\":{us},\"took_us\":1}}\n");
        append(&line(1));
        let mut log = Growing::new(&path).expect("a log");
        let mut read = || {
            let mut seen = Vec::new();
            log.events(|event| seen.push(event.at_us.0)).expect("read");
            seen
        };
        assert!(read().is_empty(), "what was there before is not told");
        append("{\"tapewise_events\":1,\"tool\":\"another mover\"}\n");
        append(&(line(2) + &line(3)[..9]));
        assert_eq!(read(), [2]);
        append(&line(3)[9..]);
        append("no event\n");
        append(&line(4));
        assert_eq!(read(), [3, 4]);
        std::fs::write(&path, line(5)).expect("another log");
        assert_eq!(read(), [5]);
    }
}
