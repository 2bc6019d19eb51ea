//! `tapewise library stress`: mounts and dismounts without a pause, as NERSC did for three days.

use super::inventory::READY_LIMIT;
use super::{consent, ended, said};
use crate::device::{Devices, Way, refuse_twice};
use crate::error::{CliError, Exit};
use crate::interrupt::stop_on_interrupt;
use crate::json;
use crate::log_file::{self, Watched};
use crate::output;
use crate::progress::{Left, Meter, State};
use crate::quantity;
use crate::units;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_formats::event_log::Header;
use tapewise_library::stress::{SlottedCartridge, Spread, Tally, Terms, Tested, stress};
use tapewise_model::Micros;
use tapewise_plot::Table;
use tapewise_scsi::{Changer, Inventory};

/// Mount and dismount random cartridges without a pause, and report how long each takes.
///
/// tapewise mounts a random cartridge in a random drive and dismounts it. The next cycle begins as soon
/// as the cartridge is back. Nothing is read or written, and cleaning cartridges are left alone. The
/// drives must be empty. After Ctrl-C the test ends when every cartridge is back in its slot.
#[derive(clap::Args, Debug)]
pub struct Stress {
    /// The library's robot.
    #[arg(value_name = "DEVICE")]
    device: String,
    /// The drives to mount in, separated by commas.
    #[arg(long, value_name = "DEVICES", value_delimiter = ',', required = true)]
    drives: Vec<String>,
    /// Begin no cycle after this long on the library's clock: hours, or a time such as 90m.
    #[arg(long, value_name = "HOURS", default_value = "67.5", value_parser = quantity::hours)]
    hours: f64,
    /// Cycles that run at once, each with its own drive.
    #[arg(long, value_name = "CYCLES", default_value_t = 1, value_parser = quantity::count::<usize>)]
    in_flight: usize,
    /// Seed that chooses cartridges and drives.
    #[arg(long, default_value_t = 1, value_parser = quantity::count::<u64>)]
    seed: u64,
    /// Time an inventory of the whole library first.
    #[arg(long)]
    inventory: bool,
    /// Append every move to this event log.
    #[arg(long, value_name = "LOG")]
    events: Option<PathBuf>,
    /// Allow a real robot to move.
    #[arg(long)]
    yes_move: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What is printed.
#[derive(Serialize)]
struct Document {
    in_flight: usize,
    seed: u64,
    hours: f64,
    mounts: usize,
    dismounts: usize,
    mounts_per_hour: f64,
    mount_s: Option<Times>,
    dismount_s: Option<Times>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inventory_s: Option<f64>,
    failures: Vec<Failed>,
    not_in_their_slots: Vec<String>,
    interrupted: bool,
}

/// A spread in seconds.
#[derive(Serialize)]
struct Times {
    mean: f64,
    p5: f64,
    median: f64,
    p95: f64,
    max: f64,
}

#[derive(Serialize)]
struct Failed {
    at_s: f64,
    action: tapewise_formats::event::Action,
    cartridge: String,
    drive_element: u16,
    said: String,
}

/// Runs the verb.
pub fn run(args: &Stress) -> Result<(), CliError> {
    let limit = Duration::try_from_secs_f64(args.hours * 3600.0)
        .map_err(|error| CliError::input(format!("--hours {}: {error}", args.hours)))?;
    let is_emulated = consent(&args.device, args.yes_move)? == Way::Emulated;
    let stop = stop_on_interrupt()?;
    let mut devices = Devices::apart();
    let mut changer = devices.changer(&args.device)?;
    changer.wait_until_ready(READY_LIMIT)?;
    let inventory = changer.inventory()?;
    let mut drives = all_tested(&mut devices, &args.drives, &inventory)?;
    let cartridges = SlottedCartridge::all(&inventory);
    let terms = Terms {
        in_flight: args.in_flight,
        limit,
        seed: args.seed,
    };
    terms
        .check(drives.len(), cartridges.len())
        .map_err(|error| CliError::from(error).of("--in-flight"))?;
    let meter = Meter::new();
    let mounts = AtomicU64::new(0);
    let watch = |event: &Event| {
        let is_mount = event.action == Action::Mount && event.outcome == Outcome::Done;
        let more = u64::from(is_mount);
        let mounts = mounts.fetch_add(more, Ordering::Relaxed) + more;
        meter.show(state(event, mounts, args.hours * 3600.0));
    };
    let header = Header {
        seed: Some(args.seed),
        // Nothing is read, so a byte is a byte.
        ..log_file::header_of(changer.identity(), is_emulated.then_some(1))
    };
    let mut log = log_file::session_if_wanted(args.events.as_deref(), &header)?;
    let mut log = Watched {
        log: log.as_mut(),
        watch: &watch,
    };
    let inventory_s = if args.inventory {
        output::say("the robot looks at every label\n");
        Some(time_of_inventory(&mut changer)?.as_secs_f64())
    } else {
        None
    };
    output::say(format_args!(
        "the robot moves for {}: {}, {}, {} at once\n",
        units::time(args.hours * 3600.0),
        units::count(cartridges.len(), "cartridge"),
        units::count(drives.len(), "drive"),
        args.in_flight
    ));
    let tally = stress(
        &mut changer,
        &mut drives,
        &cartridges,
        terms,
        devices.pace(),
        &mut log,
        &stop,
    )?;
    drop(meter);
    let document = document(args, &tally, inventory_s);
    if args.json {
        json::print("library-stress", &document)?;
    } else {
        output::print(&text(&document, &tally))?
    }
    let failed = (!tally.failures.is_empty()).then(|| {
        let failures = units::count(tally.failures.len(), "failure");
        format!("{failures}; all cartridges are back")
    });
    ended(&tally.left, failed, tally.interrupted)
}

/// How far the test has come, by the robot's clock.
fn state(event: &Event, mounts: u64, limit_s: f64) -> State {
    let at_s = (event.at_us + event.took_us).as_secs_f64();
    State {
        share: Some((at_s / limit_s).min(1.0)),
        left: Some(Left::predicted(Micros::from_secs_f64(
            (limit_s - at_s).max(0.0),
        ))),
        ..State::counted("mount", mounts, None).after(event)
    }
}

/// How long the robot takes to look at every label.
pub fn time_of_inventory(changer: &mut Changer) -> Result<Micros, CliError> {
    let began = changer.now();
    changer.initialize(None)?;
    let took = changer.now().saturating_sub(began);
    Ok(Micros(i64::try_from(took.as_micros()).unwrap_or(i64::MAX)))
}

/// The drives of these names, each as [`tested`].
pub fn all_tested(
    devices: &mut Devices,
    names: &[String],
    inventory: &Inventory,
) -> Result<Vec<Tested>, CliError> {
    refuse_twice(names)?;
    let drives = names.iter();
    drives
        .map(|name| tested(devices, name, inventory))
        .collect()
}

/// A drive that nobody else uses, with its element; it must be empty.
pub fn tested(
    devices: &mut Devices,
    name: &str,
    inventory: &Inventory,
) -> Result<Tested, CliError> {
    let drive = devices.tape_for_use(name)?;
    let serial = drive.identity().serial.as_deref().unwrap_or_default();
    let element = inventory
        .element_of(serial)
        .map_err(|error| CliError::from(error).of(name))?;
    if inventory
        .element(element)
        .is_some_and(|place| place.is_full)
    {
        let what = format!("{name} holds a cartridge");
        let hint = "`tapewise drive unload`, then `tapewise library dismount`";
        return Err(CliError::with(Exit::Busy, what).hint(hint));
    }
    Ok(Tested { drive, element })
}

fn document(args: &Stress, tally: &Tally, inventory_s: Option<f64>) -> Document {
    let failed = tally.failures.iter().map(|failure| Failed {
        at_s: failure.at.as_secs_f64(),
        action: failure.action,
        cartridge: failure.label.clone(),
        drive_element: failure.element,
        said: failure.said.clone(),
    });
    Document {
        in_flight: args.in_flight,
        seed: args.seed,
        hours: tally.took.as_secs_f64() / 3600.0,
        mounts: tally.mounts.len(),
        dismounts: tally.unmounts.len(),
        mounts_per_hour: tally.per_hour(),
        mount_s: Times::of(&tally.mounts),
        dismount_s: Times::of(&tally.unmounts),
        inventory_s,
        failures: failed.collect(),
        not_in_their_slots: tally.left.clone(),
        interrupted: tally.interrupted,
    }
}

impl Times {
    fn of(times: &[Micros]) -> Option<Times> {
        let spread = Spread::of(times)?;
        let [p5, median, p95, max] = spread.percentiles.map(|time| time.as_secs_f64());
        Some(Times {
            mean: spread.mean.as_secs_f64(),
            p5,
            median,
            p95,
            max,
        })
    }
}

fn text(document: &Document, tally: &Tally) -> String {
    let mut table = Table::new(
        format!(
            "{} and {} in {}: {:.1} mounts an hour, {}",
            units::count(document.mounts, "mount"),
            units::count(document.dismounts, "dismount"),
            units::time(document.hours * 3600.0),
            document.mounts_per_hour,
            units::count(document.failures.len(), "failure")
        ),
        &["seconds", "mean", "5 %", "median", "95 %", "longest"],
    );
    for (what, times) in [("mount", &tally.mounts), ("dismount", &tally.unmounts)] {
        if let Some(times) = Times::of(times) {
            let cells = [times.mean, times.p5, times.median, times.p95, times.max];
            let cells = cells.map(|seconds| format!("{seconds:.1}"));
            table.row([what.to_owned()].into_iter().chain(cells));
        }
    }
    table.note(
        "from the request until the drive was ready; until the cartridge was back in its slot",
    );
    if let Some(seconds) = document.inventory_s {
        table.note(format!(
            "inventory of the whole library: {}",
            units::time(seconds)
        ));
    }
    for failure in &tally.failures {
        table.note(format!("failed {}", said(failure)));
    }
    output::table(&table)
}
