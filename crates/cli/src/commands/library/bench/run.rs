//! `tapewise library bench run`: a pattern, carried out.

use super::super::inventory::READY_LIMIT;
use super::super::stress::all_tested;
use super::super::{consent, ended, said};
use super::report::shown;
use super::{at, create_new, read_pattern, read_stocked};
use crate::device::Devices;
use crate::error::CliError;
use crate::interrupt::stop_on_interrupt;
use crate::log_file::{self, Watched};
use crate::progress::{Meter, State};
use crate::{output, units};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use tapewise_formats::bench_csv::Stocked;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_formats::event_log::EventWriter;
use tapewise_library::bench::measured::Measured;
use tapewise_library::bench::{Shelved, bench};
use tapewise_library::stress::SlottedCartridge;
use tapewise_run::Log;
use tapewise_scsi::Inventory;

/// Carry out the requests of a pattern at their times, and report how soon they were answered.
///
/// Nothing is written to tape. A request waits for a drive and for the robot. Its cartridge is fetched
/// and loaded, and the block is located and read: that is the answer. Then the drive rewinds and unloads,
/// and the robot puts the cartridge back. The drives must be empty. After Ctrl-C the run ends when every
/// cartridge is back in its slot; the answers so far stay in the log for `tapewise library bench
/// report`.
#[derive(clap::Args, Debug)]
pub struct Run {
    /// The library's robot.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// The requests, from `tapewise library bench pattern`.
    #[arg(value_name = "PATTERN")]
    pattern: PathBuf,
    /// What is on the cartridges: from `tapewise library bench prepare`, or written by hand.
    #[arg(long, value_name = "FILE")]
    cartridges: PathBuf,
    /// The drives to read in, separated by commas.
    #[arg(long, value_name = "DEVICES", value_delimiter = ',', required = true)]
    drives: Vec<String>,
    /// Write every move to this event log, a new file.
    #[arg(short, long, value_name = "LOG")]
    output: PathBuf,
    /// Allow a real robot to move.
    #[arg(long)]
    yes_move: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The log in its file, and kept for the report.
struct Kept<W: std::io::Write> {
    file: EventWriter<W>,
    events: Vec<Event>,
}

impl<W: std::io::Write> Log for Kept<W> {
    fn event(&mut self, event: &Event) -> std::io::Result<()> {
        self.events.push(event.clone());
        self.file.event(event)
    }
}

/// Runs the verb.
pub fn run(args: &Run) -> Result<(), CliError> {
    let pattern = read_pattern(&args.pattern)?;
    let stocked = read_stocked(&args.cartridges)?;
    consent(&args.device, args.yes_move)?;
    let stop = stop_on_interrupt()?;
    let mut devices = Devices::apart();
    let mut changer = devices.changer(&args.device)?;
    changer.wait_until_ready(READY_LIMIT)?;
    let inventory = changer.inventory()?;
    let mut drives = all_tested(&mut devices, &args.drives, &inventory)?;
    let shelved = shelve(stocked, &inventory)?;
    let scale = devices.byte_scale(&args.device)?;
    let header = log_file::header_of(changer.identity(), scale);
    let file = create_new(&args.output)?;
    let meter = Meter::new();
    let answered = AtomicU64::new(0);
    let watch = |event: &Event| {
        let is_answer = event.action == Action::Read && event.outcome == Outcome::Done;
        let more = u64::from(is_answer);
        let answered = answered.fetch_add(more, Ordering::Relaxed) + more;
        let of = Some(pattern.len() as u64);
        meter.show(State::counted("request", answered, of).after(event));
    };
    let mut kept = Kept {
        file: EventWriter::new(file, &header).map_err(|error| at(&args.output, &error))?,
        events: Vec::new(),
    };
    let mut log = Watched {
        log: &mut kept,
        watch: &watch,
    };
    let lasts = pattern.last().map(|one| one.at).unwrap_or_default();
    output::say(format_args!(
        "the robot moves for {}: {}, {}, {}\n",
        units::time(lasts.as_secs_f64()),
        units::count(pattern.len(), "request"),
        units::count(shelved.len(), "cartridge"),
        units::count(drives.len(), "drive")
    ));
    let tally = bench(
        &mut changer,
        &mut drives,
        &shelved,
        &pattern,
        devices.pace(),
        &mut log,
        &stop,
    )?;
    drop(meter);
    // Without an answer there is nothing to report, but there is why.
    if tally.answered > 0 {
        let measured = Measured::new(&pattern, &kept.events, scale.is_some())?;
        output::print(&shown(&measured, args.json)?)?;
    }
    let failed = tally.failures.first().map(|first| {
        let failures = units::count(tally.failures.len(), "failure");
        format!("{failures}, the first {}", said(first))
    });
    ended(&tally.left, failed, tally.interrupted)
}

/// The cartridges of the table in their slots.
fn shelve(stocked: Vec<Stocked>, inventory: &Inventory) -> Result<Vec<Shelved>, CliError> {
    let all = SlottedCartridge::all(inventory);
    let shelve = |stocked: Stocked| {
        let found = all.iter().find(|one| one.label == stocked.label);
        let slot = found.map(|one| one.slot).ok_or_else(|| {
            CliError::input(format!("no cartridge {} is in a slot", stocked.label))
                .hint("`tapewise library inventory` shows what is where")
        })?;
        Ok(Shelved { stocked, slot })
    };
    stocked.into_iter().map(shelve).collect()
}
