//! `tapewise library accept`: NERSC's tests of a new library within a budget of hours.

use super::consent;
use super::inventory::READY_LIMIT;
use super::stress::{all_tested, time_of_inventory};
use crate::acceptance::{self, Finished};
use crate::device::Devices;
use crate::error::{CliError, Exit};
use crate::interrupt::stop_on_interrupt;
use crate::log_file::{self, Watched};
use crate::output::{say, table_to_say};
use crate::progress::{Meter, State};
use crate::{html, quantity, units};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_formats::event_log::{EventLog, Header};
use tapewise_library::acceptance::{measures, took};
use tapewise_library::pool::Pace;
use tapewise_library::stress::{SlottedCartridge, Terms, Tested, stress};
use tapewise_model::Micros;
use tapewise_plot::{Drawn, Figure};
use tapewise_run::Log;
use tapewise_run::accept::{AcceptanceReport, Ended, Kind, Part, Stage};
use tapewise_run::check::DriveName;
use tapewise_run::measure::summary::{Measure, TIME};
use tapewise_scsi::Changer;

/// Run the tests of a new library within a budget of hours, and write a report.
///
/// tapewise times an inventory three times, and then mounts and dismounts random cartridges without a pause, with one to
/// four cycles at once, as NERSC did in 2001. Nothing is read or written. The drives must be empty. Run the same command
/// again to go on after Ctrl-C or a kill. `drive check --full` tests a drive.
#[derive(clap::Args, Debug)]
pub struct Accept {
    /// The library's robot.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// The drives to mount in, separated by commas.
    #[arg(long, value_name = "DEVICES", value_delimiter = ',', required = true)]
    drives: Vec<String>,
    /// Begin no cycle after this long on the library's clock: hours, or a time such as 90m.
    #[arg(long, value_name = "HOURS", required = true, value_parser = quantity::hours)]
    hours: f64,
    /// Where to write the report.
    #[arg(short, long, value_name = "REPORT")]
    output: PathBuf,
    /// Compare with this former report. Exit with 1 if something got worse.
    #[arg(long, value_name = "FORMER")]
    before: Option<PathBuf>,
    /// Write the report as one page for a browser, too.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Seed that chooses cartridges and drives.
    #[arg(long, default_value_t = 1, value_parser = quantity::count::<u64>)]
    seed: u64,
    /// Allow a real robot to move.
    #[arg(long)]
    yes_move: bool,
}

/// Inventories that are timed.
const INVENTORIES: u32 = 3;

/// Rounds of each stress. Cycles that meet at the robot once go on meeting there, so that rates within a round are alike;
/// from round to round they differ.
const ROUNDS: f64 = 10.0;

/// Cycles at once at most, as NERSC had drives.
const MOST_AT_ONCE: usize = 4;

const INVENTORY: &str = "inventory";

/// Runs the verb.
pub fn run(args: &Accept) -> Result<(), CliError> {
    let path = args.output.as_path();
    acceptance::is_file(path)?;
    let way = consent(&args.device, args.yes_move)?;
    let former = args.before.as_deref();
    let former = former
        .map(|path| acceptance::former(path, Kind::Library))
        .transpose()?;
    let begun = acceptance::begun(path)?;
    let stop = stop_on_interrupt()?;
    let mut devices = Devices::apart();
    let mut changer = devices.changer(&args.device)?;
    changer.wait_until_ready(READY_LIMIT)?;
    if begun
        .as_ref()
        .is_some_and(|begun| begun.stage != Stage::Done)
    {
        bring_back(args, &mut devices, &mut changer)?;
    }
    let inventory = changer.inventory()?;
    let mut drives = all_tested(&mut devices, &args.drives, &inventory)?;
    let cartridges = SlottedCartridge::all(&inventory);
    let most = drives.len().min(cartridges.len()).min(MOST_AT_ONCE);
    let new = AcceptanceReport {
        seed: args.seed,
        parts: parts(most),
        ..AcceptanceReport::new(
            html::MADE_BY,
            Kind::Library,
            acceptance::way_of(way),
            DriveName::of(changer.identity()),
            Micros::from_secs_f64(args.hours * 3600.0),
        )
    };
    let mut report = match begun {
        Some(begun) => acceptance::same(begun, &new, path)?,
        None => new,
    };
    let mut worked = Ok(());
    if report.stage != Stage::Done {
        if drives.is_empty() || cartridges.is_empty() {
            return Err(CliError::input("no slot has a cartridge with a label"));
        }
        let mut work = Work {
            path,
            changer: &mut changer,
            drives: &mut drives,
            cartridges: &cartridges,
            pace: devices.pace(),
            stop: &stop,
            report: &mut report,
        };
        worked = work.run();
        note(&mut report, &acceptance::read_log(path)?);
        acceptance::save(path, &report)?;
    }
    worked?;
    let log = acceptance::read_log(path)?;
    let finished = Finished {
        report: &report,
        former: former.as_ref(),
        figures: figure(&report).into_iter().collect(),
        sheets: vec![html::moves(log.events())],
    };
    finished.show(args.html.as_deref())?;
    match report.failures.len() {
        0 => Ok(()),
        count => Err(CliError::with(
            Exit::Hardware,
            format!(
                "{} failed: {}",
                units::count(count, "step"),
                report.failures.join("; ")
            ),
        )),
    }
}

/// The parts: inventories, then one to so many cycles at once.
fn parts(most: usize) -> Vec<Part> {
    let part = |name: String, planned| Part {
        name,
        planned,
        each_us: Micros::ZERO,
        samples: 0,
        ended: Ended::NotYet,
    };
    let stress = (1..=most).map(|at_once| part(stress_name(at_once), 0));
    std::iter::once(part(INVENTORY.to_owned(), INVENTORIES))
        .chain(stress)
        .collect()
}

fn stress_name(at_once: usize) -> String {
    format!("stress-{at_once}")
}

/// What a killed run has left in the drives goes back to its slots.
fn bring_back(args: &Accept, devices: &mut Devices, changer: &mut Changer) -> Result<(), CliError> {
    let inventory = changer.inventory()?;
    for name in &args.drives {
        let mut drive = devices.tape_for_use(name)?;
        let serial = drive.identity().serial.clone().unwrap_or_default();
        let element = inventory
            .element_of(&serial)
            .map_err(|error| CliError::from(error).of(name))?;
        let Some(slot) = inventory
            .element(element)
            .filter(|place| place.is_full)
            .and_then(|place| place.source)
        else {
            continue;
        };
        say(format_args!(
            "{name} holds a cartridge: back into slot {slot}\n"
        ));
        drive.wait_until_ready(READY_LIMIT)?;
        drive.unload()?;
        changer.move_medium(element, slot)?;
    }
    Ok(())
}

/// A log of one part.
struct Tagged<'a, L> {
    log: &'a mut L,
    part: &'a str,
}

impl<L: Log> Log for Tagged<'_, L> {
    fn event(&mut self, event: &Event) -> std::io::Result<()> {
        self.log.event(&Event {
            purpose: Some(self.part.to_owned()),
            ..event.clone()
        })
    }
}

/// An acceptance at work.
struct Work<'a> {
    path: &'a Path,
    changer: &'a mut Changer,
    drives: &'a mut [Tested],
    cartridges: &'a [SlottedCartridge],
    pace: Pace,
    stop: &'a AtomicBool,
    report: &'a mut AcceptanceReport,
}

impl Work<'_> {
    fn run(&mut self) -> Result<(), CliError> {
        acceptance::save(self.path, self.report)?;
        if is_open(&self.report.parts[0]) {
            self.inventory()?;
        }
        let inventories = self
            .report
            .measures
            .iter()
            .find(|measure| measure.part == INVENTORY);
        let inventories: f64 = inventories.map_or(0.0, |measure| measure.values.iter().sum());
        let left = self.report.budget_us - Micros::from_secs_f64(inventories);
        let stresses = self.report.parts.len() as i64 - 1;
        let share = Micros((left.0 / stresses.max(1)).max(0));
        for part in self.report.parts.iter_mut().skip(1) {
            (part.planned, part.each_us) = (1, share);
        }
        say(table_to_say(&acceptance::plan(self.report, left)));
        for at_once in 1..self.report.parts.len() {
            if is_open(&self.report.parts[at_once]) {
                self.stress(at_once, share)?;
            }
        }
        self.report.stage = Stage::Done;
        Ok(())
    }

    fn inventory(&mut self) -> Result<(), CliError> {
        say("the robot looks at every label\n");
        let mut seconds = Vec::new();
        for _ in 0..INVENTORIES {
            seconds.push(time_of_inventory(self.changer)?.as_secs_f64());
        }
        let measure = Measure::of(INVENTORY, "inventory of the whole library", TIME, &seconds);
        self.report.measures.extend(measure);
        self.end(0)
    }

    /// Cycles without a pause in several rounds, for what is left of the part's share.
    fn stress(&mut self, at_once: usize, share: Micros) -> Result<(), CliError> {
        let name = stress_name(at_once);
        let meter = Meter::new();
        loop {
            let past = acceptance::read_log(self.path)?;
            let sessions = of_part(&past, &name);
            let spent: Micros = sessions.iter().map(|session| took(session)).sum();
            let left = (share - spent).as_secs_f64();
            let round = share.as_secs_f64() / ROUNDS;
            // A last round that is hardly one would say nothing.
            if left < round / 2.0 {
                drop(meter);
                return self.end(at_once);
            }
            // Another round goes on with other cartridges.
            let number = (sessions.len() * 1_000 + at_once) as u64;
            let terms = Terms {
                in_flight: at_once,
                limit: Duration::try_from_secs_f64(round).map_err(CliError::input)?,
                seed: self.report.seed.wrapping_add(number),
            };
            let watch = |event: &Event| {
                let at_s = (spent + event.at_us + event.took_us).as_secs_f64();
                meter.show(State {
                    share: Some((at_s / share.as_secs_f64()).min(1.0)),
                    ..State::counted("part", at_once as u64, None).after(event)
                });
            };
            self.round(&name, terms, &watch)?;
        }
    }

    fn round(
        &mut self,
        part: &str,
        terms: Terms,
        watch: &(dyn Fn(&Event) + Sync),
    ) -> Result<(), CliError> {
        let path = acceptance::log_of(self.path);
        // Nothing is read, so a byte is a byte.
        let is_emulated = self.report.way == tapewise_run::check::Way::Emulated;
        let header = Header {
            seed: Some(terms.seed),
            ..log_file::header_of(self.changer.identity(), is_emulated.then_some(1))
        };
        let mut log = log_file::session(&path, &header)?;
        let mut log = Tagged {
            log: &mut log,
            part,
        };
        let mut log = Watched {
            log: &mut log,
            watch,
        };
        let tally = stress(
            self.changer,
            self.drives,
            self.cartridges,
            terms,
            self.pace,
            &mut log,
            self.stop,
        )?;
        let lost = tally
            .left
            .iter()
            .map(|label| format!("{label} is not in its slot"));
        self.report.failures.extend(lost);
        if tally.interrupted {
            let what =
                "interrupted; all cartridges that the robot could bring back are in their slots";
            return Err(CliError::with(Exit::Interrupted, what)
                .hint("the same command goes on where it stopped"));
        }
        Ok(())
    }

    fn end(&mut self, part: usize) -> Result<(), CliError> {
        self.report.parts[part].ended = Ended::Done;
        acceptance::save(self.path, self.report)
    }
}

fn is_open(part: &Part) -> bool {
    part.ended == Ended::NotYet
}

/// The sessions of a part.
fn of_part<'a>(log: &'a EventLog, part: &str) -> Vec<&'a [Event]> {
    let sessions = log.sessions.iter().map(|session| session.events.as_slice());
    let is_it = |session: &&[Event]| {
        let first = session.first().and_then(|event| event.purpose.as_deref());
        first == Some(part)
    };
    sessions.filter(is_it).collect()
}

/// Notes what the log says by now.
fn note(report: &mut AcceptanceReport, log: &EventLog) {
    report.measures.retain(|measure| measure.part == INVENTORY);
    let inventories: f64 = report
        .measures
        .iter()
        .flat_map(|measure| &measure.values)
        .sum();
    report.took_us = acceptance::spent(log) + Micros::from_secs_f64(inventories);
    for part in &mut report.parts {
        if part.name == INVENTORY {
            let done = report.measures.first().map_or(0, |measure| measure.n);
            part.samples = done as u32;
            continue;
        }
        let sessions = of_part(log, &part.name);
        let events = sessions.iter().flat_map(|session| session.iter());
        let is_mount =
            |event: &&Event| event.action == Action::Mount && event.outcome == Outcome::Done;
        part.samples = events.filter(is_mount).count() as u32;
        report.measures.extend(measures(&part.name, &sessions));
    }
    report
        .failures
        .retain(|failure| failure.contains("not in its slot"));
    let failed = log
        .events()
        .filter(|event| event.outcome == Outcome::Failed);
    report.failures.extend(failed.map(|event| {
        format!(
            "{} of {}: {}",
            event.action,
            event.cartridge.as_deref().unwrap_or("a cartridge"),
            event.sense.as_deref().unwrap_or("without sense")
        )
    }));
}

/// Mounts an hour by cycles at once, beside what NERSC had.
fn figure(report: &AcceptanceReport) -> Option<Drawn> {
    let rates = report.measures.iter().filter_map(|measure| {
        let at_once: f64 = measure.part.strip_prefix("stress-")?.parse().ok()?;
        measure
            .what
            .starts_with("mounts an hour")
            .then_some((at_once, measure.mean))
    });
    let rates: Vec<(f64, f64)> = rates.collect();
    let last = rates.last()?.0.max(2.0);
    let nersc = [(1.0, 133.0), (last, 133.0)];
    let title = "Mounts an hour by cycles at once";
    Figure::new("mounts", title, "cycles at once", "mounts an hour")
        .dots("here", rates)
        .guide("NERSC 2001: 133", nersc)
        .counts()
        .draw()
        .ok()
}
