//! `tapewise drive check --full`: the acceptance of a drive within a budget of hours.
//!
//! What reads comes first, while the cartridge still holds its data; what writes comes last. The report is written before
//! anything is measured, with the plan in it, and after every stage: with the event log beside it the same command goes on
//! where it stopped.

use super::{Check, choose, way};
use crate::acceptance::{self, Finished};
use crate::commands::drive::{READY_LIMIT, heed};
use crate::commands::measure::state;
use crate::device::{self, Devices};
use crate::error::{CliError, Exit};
use crate::html;
use crate::interrupt;
use crate::log_file;
use crate::output::{say, table_to_say};
use crate::progress::{Meter, State};
use crate::units;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use tapewise_formats::event::Event;
use tapewise_formats::event_log::{EventLog, Header};
use tapewise_model::{Micros, Profile};
use tapewise_run::accept::{AcceptanceReport, Kind, Stage, WrittenCartridge};
use tapewise_run::check::{DriveName, pseudonym};
use tapewise_run::measure::pictures::pictures;
use tapewise_run::measure::summary::{Summary, measures};
use tapewise_run::measure::{Subject, Suite, fill};
use tapewise_run::{CartridgeFacts, Recorder, RunError, optional};
use tapewise_scsi::TapeDrive;

/// The share of the budget in which a blank cartridge is filled.
const FILL_SHARE: f64 = 0.2;

/// Length of the blocks that a blank cartridge is filled with.
const BLOCK_BYTES: u64 = 262_144;

/// Runs it.
pub fn run(args: &Check, name: &str, path: &Path, hours: f64) -> Result<(), CliError> {
    acceptance::is_file(path)?;
    if let Some(kind) = device::new_kind(name) {
        let what = format!(
            "{name} is a new drive in every command, so nothing could go on where it stopped"
        );
        let hint = format!("tapewise emulate lib --drive {kind} --scale 20000, then emulated:lib");
        return Err(CliError::input(what).hint(hint));
    }
    let way = way(name)?;
    let former = args.before.as_deref();
    let former = former
        .map(|path| acceptance::former(path, Kind::Drive))
        .transpose()?;
    let begun = acceptance::begun(path)?;
    let log_path = acceptance::log_of(path);
    let stop = interrupt::stop_on_interrupt()?;
    let mut devices = Devices::default();
    let mut drive = devices.tape_alone(name)?;
    let scale = devices.byte_scale(name)?;
    let ready = drive.wait_until_ready(READY_LIMIT);
    ready.map_err(|error| CliError::from(error).of(name))?;
    let profile = profile_of(args, &mut drive)?;
    let new = AcceptanceReport {
        profile: Some(profile.name.clone()),
        seed: args.seed.unwrap_or(1),
        writes: args.write,
        medium: medium(&mut drive)?,
        ..AcceptanceReport::new(
            html::MADE_BY,
            Kind::Drive,
            way,
            DriveName::of(drive.identity()),
            Micros::from_secs_f64(hours * 3600.0),
        )
    };
    let is_new = begun.is_none();
    let mut report = match begun {
        Some(begun) => {
            let begun = acceptance::same(begun, &new, path)?;
            is_its_cartridge(&begun, new.medium.as_deref(), args.overwrite)?;
            begun
        }
        None => new,
    };
    if !report.is_planned() && log_path.exists() {
        // Killed before it had filled the cartridge: that begins again, and so do the hours.
        remove(&log_path)?;
    }
    if report.stage != Stage::Done {
        let header = Header {
            seed: Some(report.seed),
            profile: report.profile.clone(),
            ..log_file::header_of(drive.identity(), scale)
        };
        let past = acceptance::read_log(path)?;
        let work = Work {
            args,
            profile: &profile,
            scale: scale.unwrap_or(1),
            path,
            former: former.as_ref(),
            events: past.events().cloned().collect(),
            spent: acceptance::spent(&past),
            report: &mut report,
        };
        work.carry_out(&mut drive, &header, is_new, &stop)?;
    }
    let log = acceptance::read_log(path)?;
    let saved = report.clone();
    note(&mut report, &log, &profile)?;
    if report != saved {
        // It was killed after its last sample, before that was noted.
        acceptance::save(path, &report)?;
    }
    let figures = match &report.cartridge {
        Some(cartridge) => {
            let subject = cartridge.subject(&profile)?;
            let summary = Summary::of(log.events(), &subject);
            pictures(&summary, &subject, None, scale.is_some())?
        }
        None => Vec::new(),
    };
    let finished = Finished {
        report: &report,
        former: former.as_ref(),
        figures,
        sheets: vec![html::moves(log.events())],
    };
    finished.show(args.html.as_deref())?;
    all_could_be_read(&log)
}

/// The profile that was named, or that of drives like this one.
fn profile_of(args: &Check, drive: &mut TapeDrive) -> Result<Profile, CliError> {
    let mode = optional(drive.mode(0x3f), &mut heed)?;
    let density = mode.and_then(|mode| Some(mode.block?.density));
    let chosen = choose(args.profile.as_deref(), density, drive)?.ok_or_else(|| {
        let product = &drive.identity().product;
        CliError::input(format!("no profile is known for a {product}"))
            .hint("name one with --profile; `tapewise profile list` shows them")
    })?;
    Ok(chosen.profile)
}

fn remove(path: &Path) -> Result<(), CliError> {
    std::fs::remove_file(path).map_err(|error| CliError::failed(error).of(path.display()))
}

fn all_could_be_read(log: &EventLog) -> Result<(), CliError> {
    let Some(event) = tapewise_run::measure::failed(log.events()).last() else {
        return Ok(());
    };
    let what = format!(
        "a part of the tape could not be read: {}",
        event.sense.as_deref().unwrap_or_default()
    );
    Err(CliError::with(Exit::Medium, what)
        .hint("the report is written; its log says at which blocks"))
}

/// A pseudonym of the cartridge in the drive, where the drive tells who that is.
fn medium(drive: &mut TapeDrive) -> Result<Option<String>, CliError> {
    let facts = CartridgeFacts::ask(drive, &mut heed)?;
    let name = facts.serial_number.or(facts.barcode);
    Ok(name.map(|name| pseudonym("cartridge", &name)))
}

/// Refuses to go on with another cartridge; one that is written on may only be the one that it began with.
fn is_its_cartridge(
    begun: &AcceptanceReport,
    medium: Option<&str>,
    overwrite: bool,
) -> Result<(), CliError> {
    let refused = |what: &str, hint: &str| Err(CliError::with(Exit::Refused, what).hint(hint));
    match (begun.medium.as_deref(), medium) {
        (Some(then), Some(now)) if then != now => refused(
            "another cartridge is in the drive than when this acceptance began",
            "put in the cartridge it began with, or give another -o",
        ),
        (Some(_), Some(_)) => Ok(()),
        _ if overwrite || !matches!(begun.stage, Stage::Filling | Stage::Writing) => Ok(()),
        _ => refused(
            "the drive does not tell which cartridge this is, and going on writes over it",
            "if this is the cartridge it began with, add --overwrite",
        ),
    }
}

/// Notes what the log says by now.
fn note(report: &mut AcceptanceReport, log: &EventLog, profile: &Profile) -> Result<(), CliError> {
    let events: Vec<Event> = log.events().cloned().collect();
    report.count(&events);
    report.took_us = acceptance::spent(log);
    if let Some(cartridge) = &report.cartridge {
        report.measures = measures(&events, &cartridge.subject(profile)?);
    }
    Ok(())
}

fn go_on_later(error: CliError, path: &Path) -> CliError {
    match error.exit() {
        Exit::Input | Exit::Refused => error,
        _ => error.or_hint(&format!(
            "{} and its log keep what was measured; the same command goes on from there",
            path.display()
        )),
    }
}

/// An acceptance at work.
struct Work<'a> {
    args: &'a Check,
    profile: &'a Profile,
    scale: u64,
    path: &'a Path,
    /// A former report to compare with.
    former: Option<&'a AcceptanceReport>,
    /// What was measured before, and how long that took.
    events: Vec<Event>,
    spent: Micros,
    report: &'a mut AcceptanceReport,
}

impl Work<'_> {
    /// Measures what is still to be measured, into the log and the report.
    fn carry_out(
        mut self,
        drive: &mut TapeDrive,
        header: &Header,
        is_new: bool,
        stop: &AtomicBool,
    ) -> Result<(), CliError> {
        let (path, log_path) = (self.path, acceptance::log_of(self.path));
        // A log without its report is taken for somebody else's.
        acceptance::save(path, self.report)?;
        let mut writer = log_file::session(&log_path, header)?;
        let worked = self.run(&mut Recorder::new(drive, &mut writer, stop));
        drop(writer);
        if self.report.cartridge.is_none() {
            if is_new && self.report.stage == Stage::Reading {
                // It was refused before anything was measured, so nothing is left of it.
                remove(&log_path)?;
                remove(path)?;
            }
            return worked;
        }
        note(self.report, &acceptance::read_log(path)?, self.profile)?;
        acceptance::save(path, self.report)?;
        worked.map_err(|error| go_on_later(error, path))
    }

    fn run(&mut self, recorder: &mut Recorder<'_>) -> Result<(), CliError> {
        let subject = match &self.report.cartridge {
            None => self.begin(recorder)?,
            Some(cartridge) => {
                let subject = cartridge.subject(self.profile)?;
                if self.report.stage == Stage::Reading {
                    self.is_same_cartridge(recorder)?;
                }
                subject
            }
        };
        let suite = self.report.suite().ok_or_else(|| {
            CliError::input(format!(
                "{}: no drive has a part of this name",
                self.path.display()
            ))
        })?;
        let (reads, writes) = suite.apart();
        if self.report.stage == Stage::Reading {
            let later = writes.total();
            let stage = if writes.steps.is_empty() {
                Stage::Done
            } else {
                Stage::Writing
            };
            self.measure(recorder, reads, &subject, later, stage)?;
        }
        if self.report.stage == Stage::Writing {
            let blank = Subject::blank(recorder, self.profile, subject.block_bytes, self.scale)?;
            self.measure(recorder, writes, &blank, Micros::ZERO, Stage::Done)?;
        }
        recorder.rewind()?;
        Ok(())
    }

    /// Budget that is left.
    fn left(&self, recorder: &Recorder<'_>) -> Micros {
        self.report.budget_us - self.spent - recorder.clock()
    }

    /// Looks at the cartridge, or fills a blank one, and plans.
    fn begin(&mut self, recorder: &mut Recorder<'_>) -> Result<Subject, CliError> {
        if self.args.write {
            // Refuses what can be written only once, before anything is.
            Subject::blank(recorder, self.profile, BLOCK_BYTES, self.scale)?;
        }
        recorder.rewind()?;
        let there = recorder.end_of_data()?.block.unwrap_or(0);
        let may_fill = there == 0 || self.report.stage == Stage::Filling || self.args.overwrite;
        if self.args.write && may_fill {
            if self.report.stage == Stage::Filling || self.holds_little(there, recorder)? {
                self.report.stage = Stage::Filling;
                acceptance::save(self.path, self.report)?;
                self.fill(recorder)?;
            }
        } else if self.args.write {
            let what = format!(
                "the cartridge holds {}, which --write would overwrite",
                units::count(there as usize, "block")
            );
            let hint = "leave out --write to measure the cartridge as it is, or add --overwrite if its data may be lost";
            return Err(CliError::with(Exit::Refused, what).hint(hint));
        }
        let subject = Subject::explore(recorder, self.profile, self.scale)?;
        let left = self.left(recorder);
        self.report.cartridge = Some(WrittenCartridge::of(&subject));
        let is_planned = self
            .former
            .is_some_and(|former| self.report.plan_as(former));
        if !is_planned {
            let suite = Suite::acceptance(&subject, self.args.write, left, self.report.seed);
            self.report.plan(&suite);
        }
        if !self.report.is_planned() {
            self.report.cartridge = None;
            let what = "no part fits into so little time";
            return Err(CliError::input(what).hint("give more --hours"));
        }
        self.report.stage = Stage::Reading;
        acceptance::save(self.path, self.report)?;
        say(table_to_say(&acceptance::plan(self.report, left)));
        Ok(subject)
    }

    /// Bytes that the host writes to fill the cartridge, as many as take a share of the budget, and whether it is full
    /// then.
    fn to_fill(&self) -> (u64, bool) {
        let drive = Subject::new(self.profile, 0, 1, self.scale);
        let seconds = self.report.budget_us.as_secs_f64() * FILL_SHARE;
        let most = Subject::most_blocks(self.profile, self.scale);
        let bytes = drive.blocks_of_s(seconds, 1);
        (bytes.min(most), bytes >= most)
    }

    /// Whether a cartridge whose data may go holds less than a fill would give: an earlier acceptance leaves hardly
    /// anything.
    fn holds_little(&self, blocks: u64, recorder: &mut Recorder<'_>) -> Result<bool, CliError> {
        match Subject::explore(recorder, self.profile, self.scale) {
            Ok(subject) => {
                let bytes = subject.blocks.saturating_mul(subject.block_bytes);
                Ok(bytes < self.to_fill().0)
            }
            Err(RunError::Unsuitable(_)) => Ok(true),
            Err(_) if blocks == 0 => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Fills the cartridge, or a part of it.
    fn fill(&self, recorder: &mut Recorder<'_>) -> Result<(), CliError> {
        let (bytes, is_full) = self.to_fill();
        // Places are told apart on thousands of blocks.
        let block = (bytes / 10_000).clamp(1, BLOCK_BYTES);
        let blocks = bytes.div_ceil(block);
        let taken = if is_full {
            "is filled"
        } else {
            "is only partly filled: positions are measured on that part, and more --hours fill more"
        };
        say(format_args!("the cartridge {taken}\n"));
        let meter = Meter::new();
        let filled = fill(
            recorder,
            block as usize,
            blocks,
            self.report.seed,
            &mut |now| {
                meter.show(State {
                    bytes: Some(now.blocks * block),
                    ..State::counted("block", now.blocks, Some(blocks)).doing("write")
                });
            },
        )?;
        drop(meter);
        say(format_args!(
            "filled with {} in {} of drive time\n",
            units::count(filled.blocks as usize, "block"),
            filled.took
        ));
        Ok(())
    }

    /// Refuses another cartridge than the one it began with.
    fn is_same_cartridge(&self, recorder: &mut Recorder<'_>) -> Result<(), CliError> {
        let subject = Subject::explore(recorder, self.profile, self.scale)?;
        let now = WrittenCartridge::of(&subject);
        let Some(then) = &self.report.cartridge else {
            return Ok(());
        };
        if (now.partition, now.blocks, now.block_bytes)
            == (then.partition, then.blocks, then.block_bytes)
        {
            say(format_args!("goes on after {} of drive time\n", self.spent));
            return Ok(());
        }
        let what = format!(
            "the cartridge holds {}, and held {} when this acceptance began",
            units::count(now.blocks as usize, "block"),
            then.blocks
        );
        let hint = "put in the cartridge it began with, or give another -o";
        Err(CliError::with(Exit::Refused, what).hint(hint))
    }

    /// Carries out a stage, and notes that it has ended.
    fn measure(
        &mut self,
        recorder: &mut Recorder<'_>,
        mut suite: Suite,
        subject: &Subject,
        later: Micros,
        next: Stage,
    ) -> Result<(), CliError> {
        suite.limit = Some(self.left(recorder) - later);
        let meter = Meter::new();
        let ran: Result<_, RunError> =
            suite.run(recorder, subject, None, &self.events, &mut |mut now| {
                now.left += later;
                meter.show(state(now));
            });
        drop(meter);
        self.report.end(&suite, &ran?);
        self.report.stage = next;
        acceptance::save(self.path, self.report)
    }
}
