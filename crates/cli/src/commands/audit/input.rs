//! Logs of all kinds, event by event, in memory that does not grow with their length.

use crate::commands::fit::log_kind::{HEAD_BYTES, LogFormat, LogKind, recognise};
use crate::error::CliError;
use crate::log_file;
use crate::output::{refuse_copies, refuse_twice};
use crate::twin::NO_CTA;
use crate::units;
use std::collections::BTreeMap;
use std::io::{BufRead, Cursor, Read};
use std::path::PathBuf;
use tapewise::audit::{Mount, Mounts};
use tapewise_formats::audit_csv::AuditCsv;
use tapewise_formats::cta_log::{CtaRead, read_cta_log_of};
use tapewise_formats::event::{Action, Event, Spot};
use tapewise_formats::event_log::{EventReader, Record};
use tapewise_model::Micros;

/// How logs are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogTerms {
    /// What they are.
    pub format: LogFormat,
    /// Events that began before are not counted: since 1970.
    pub since: Option<Micros>,
    /// Year of the first line of a log whose times have none.
    pub year: Option<i16>,
}

/// What was read, besides the mounts.
#[derive(Debug, Default)]
pub struct Logs {
    /// Where the hours went.
    pub mounts: Mounts,
    /// Whether a log says that its times come from an emulated drive.
    pub emulated: bool,
    /// What was left out or odd.
    pub notices: Vec<String>,
    /// Whether one is CTA's.
    has_cta: bool,
}

/// Reads all logs and hands out each mount when it ends.
pub fn read(
    paths: &[PathBuf],
    terms: LogTerms,
    close: &mut dyn FnMut(Mount),
) -> Result<Logs, CliError> {
    let mut logs = Logs::default();
    logs.mounts.since = terms.since;
    refuse_twice(paths, "each hour counts once")?;
    refuse_copies(paths, "each hour counts once")?;
    for path in paths {
        let name = path.display().to_string();
        let input = log_file::open(path)?;
        logs.read(&name, input, terms, close)
            .map_err(|error| error.of(&name))?;
        // The clock of the next log has nothing to do with this one.
        logs.mounts.end(close);
    }
    if terms.year.is_some() && !logs.has_cta {
        return Err(CliError::input(NO_CTA));
    }
    if logs.mounts.before > 0 {
        let before = logs.mounts.before;
        logs.notices.push(format!(
            "{} before --since: not counted",
            units::count(before as usize, "event")
        ));
    }
    let (overlaps, overlapped) = (logs.mounts.overlaps, logs.mounts.overlapped);
    if overlaps > 0 {
        logs.notices.push(format!(
            "events that overlap the one before them on the same drive: {overlaps}, by {overlapped} in all; hours add up to that much more than the clock's"
        ));
    }
    Ok(logs)
}

impl Logs {
    fn read(
        &mut self,
        name: &str,
        mut input: Box<dyn BufRead>,
        terms: LogTerms,
        close: &mut dyn FnMut(Mount),
    ) -> Result<(), CliError> {
        let mut head = Vec::new();
        let read = input.by_ref().take(HEAD_BYTES).read_to_end(&mut head);
        read.map_err(CliError::input)?;
        let kind = recognise(&head, terms.format)?;
        let input = Cursor::new(head).chain(input);
        match kind {
            LogKind::Events if terms.since.is_some() => {
                Err(undated("an event log counts from its own beginning"))
            }
            LogKind::Events => self.read_events(name, input, close),
            LogKind::Cta => self.read_cta(name, input, terms, close),
            LogKind::Locates | LogKind::BlockMoves => self.read_csv(name, input, terms, close),
        }
    }

    fn read_events(
        &mut self,
        name: &str,
        input: impl BufRead,
        close: &mut dyn FnMut(Mount),
    ) -> Result<(), CliError> {
        let mut reader = EventReader::new(input);
        while let Some(record) = reader.next_record().map_err(CliError::input)? {
            match record {
                Record::Header(header) => {
                    self.emulated |= header.emulated;
                    self.mounts.begin(&header, close);
                }
                Record::Event(event) => self.mounts.add(&event, close),
            }
        }
        let notices = reader.finish();
        let said = notices.iter().map(|notice| format!("{name}: {notice}"));
        self.notices.extend(said);
        Ok(())
    }

    fn read_csv(
        &mut self,
        name: &str,
        input: impl BufRead,
        terms: LogTerms,
        close: &mut dyn FnMut(Mount),
    ) -> Result<(), CliError> {
        let hint = "`tapewise help audit-csv` shows what is read; --log-format says otherwise what a log is";
        let bad = |error| CliError::input(error).hint(hint);
        let mut csv = AuditCsv::open(input).map_err(bad)?;
        if !csv.unknown().is_empty() {
            let unknown = csv.unknown().join(", ");
            self.notices
                .push(format!("{name}: columns left out: {unknown}"));
        }
        self.mounts.has_dates = csv.tells_date();
        if terms.since.is_some() && !csv.tells_date() {
            return Err(undated("it has no column `time`"));
        }
        let mut clocks = (!csv.tells_time()).then(Clocks::default);
        if clocks.is_some() {
            self.notices.push(without_times(name));
        }
        while let Some(mut event) = csv.next_event().map_err(bad)? {
            if let Some(clocks) = &mut clocks {
                clocks.stamp(&mut event);
            }
            self.mounts.add(&event, close);
        }
        Ok(())
    }

    fn read_cta(
        &mut self,
        name: &str,
        input: impl BufRead,
        terms: LogTerms,
        close: &mut dyn FnMut(Mount),
    ) -> Result<(), CliError> {
        self.has_cta = true;
        let log = read_cta_log_of(input, terms.year).map_err(CliError::input)?;
        let said = log.notices.iter().map(|notice| format!("{name}: {notice}"));
        self.notices.extend(said);
        // One read without a time would stand at no place among the others.
        let is_dated = log.reads.iter().all(|read| read.written_us.is_some());
        if !is_dated {
            if terms.since.is_some() {
                let hint = "--year gives the year of its first line";
                return Err(undated("its times have no year").hint(hint));
            }
            self.notices.push(without_times(name));
        }
        self.mounts.has_dates = is_dated;
        self.notices.push(format!(
            "{name}: CTA tells positionTime and readWriteTime of files that were read: robots, mounts, rewinds and writes are not in it, and the first positionTime of a mount may hold more than a locate"
        ));
        let untimed = log.reads.iter().filter(|read| read.read_time.is_none());
        let untimed = untimed.count();
        if untimed > 0 {
            self.notices.push(format!(
                "{name}: {untimed} of {} without readWriteTime: their reading counts as no time",
                units::count(log.reads.len(), "file")
            ));
        }
        let mut clocks = Clocks::default();
        // By drive: the mount, and the block behind the file before.
        let mut last: BTreeMap<&str, (&CtaRead, u64)> = BTreeMap::new();
        for read in &log.reads {
            let drive = read.drive().unwrap_or("-");
            let before = last.insert(drive, (read, read.end_block()));
            let before =
                before.filter(|(b, _)| (&b.mount, &b.volume) == (&read.mount, &read.volume));
            let from = before.filter(|_| !read.lost_before).map(|(_, block)| block);
            for mut event in cta_events(read, drive, before.is_none(), from) {
                match read.written_us.filter(|_| is_dated) {
                    Some(written_us) => date(&mut event, read, written_us),
                    None => clocks.stamp(&mut event),
                }
                self.mounts.add(&event, close);
            }
        }
        Ok(())
    }
}

/// Puts an event of a read at its time: the line is written when the file has been read.
fn date(event: &mut Event, read: &CtaRead, written_us: i64) {
    let read_time = read.read_time.unwrap_or(Micros::ZERO);
    let before_end = match event.action {
        Action::Read => read_time,
        _ => read_time + read.position_time,
    };
    event.at_us = Micros(written_us) - before_end;
}

/// What --since cannot be held against.
fn undated(why: &str) -> CliError {
    CliError::input(format!("--since needs dates, and {why}"))
}

fn without_times(name: &str) -> String {
    format!(
        "{name}: has no times of day, so tapewise cannot tell how long a drive was idle within a mount"
    )
}

/// What a file read by CTA took, as events.
fn cta_events(read: &CtaRead, drive: &str, mounts: bool, from: Option<u64>) -> Vec<Event> {
    let spot = |block| Spot {
        block: Some(block),
        ..Spot::default()
    };
    let (first, behind) = (read.first_block(), read.end_block());
    let event = |action, took| Event {
        device: Some(drive.to_owned()),
        cartridge: Some(read.volume.clone()),
        ..Event::new(action, Micros::ZERO, took)
    };
    let locate = Event {
        from: from.map(spot),
        to: Some(spot(first)),
        ..event(Action::Locate, read.position_time)
    };
    let data = Event {
        from: Some(spot(first)),
        to: Some(spot(behind)),
        blocks: behind.saturating_sub(first),
        bytes: read.data_bytes,
        ..event(Action::Read, read.read_time.unwrap_or(Micros::ZERO))
    };
    let mount = mounts.then(|| event(Action::Mount, Micros::ZERO));
    mount.into_iter().chain([locate, data]).collect()
}

/// Clocks for logs without times: each drive does one thing right after the other.
#[derive(Default)]
struct Clocks(BTreeMap<Option<String>, Micros>);

impl Clocks {
    fn stamp(&mut self, event: &mut Event) {
        match self.0.get_mut(&event.device) {
            Some(clock) => {
                event.at_us = *clock;
                *clock += event.took_us;
            }
            None => {
                event.at_us = Micros::ZERO;
                self.0.insert(event.device.clone(), event.took_us);
            }
        }
    }
}
