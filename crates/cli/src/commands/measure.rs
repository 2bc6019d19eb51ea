//! `tapewise measure`: how fast a drive is, by doing it.

mod open;
mod table;

use crate::error::CliError;
use crate::output::say;
use clap::Args;
use std::fs::File;
use std::io::{BufReader, BufWriter, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tapewise_formats::event::Event;
use tapewise_formats::event_log::{Device, EventLog, EventWriter, Header, read_events};
use tapewise_model::{Micros, Profile, profile};
use tapewise_run::measure::summary::Summary;
use tapewise_run::measure::{Progress, QUICK, Robot, Step, Subject, Suite, fill, key_points};
use tapewise_run::{READY_LIMIT, Recorder};
use tapewise_scsi::{Changer, TapeDrive};

/// Measure how long a drive takes for everything it does, and write the event log.
///
/// The suite of Johnson & Miller (1998): mount and unmount, seeks from the beginning of tape and
/// between any places, short seeks against reading on, rewinds, rates, delays between reads; for a
/// DLT the key points of the cartridge by timing, for drives that report it where blocks lie. It
/// reads only, unless --write is given. A suite that was stopped goes on when it is started again
/// with the same log. `tapewise fit` makes a profile of the log.
#[derive(Args, Debug)]
pub struct Measure {
    /// The drive: /dev/sgN, /dev/nstN, iscsi://..., emulated:KIND or emulated:DIRECTORY.
    device: String,
    /// Where to write the event log; what is in it already is not measured again.
    #[arg(short, long, value_name = "LOG")]
    output: PathBuf,
    /// The drive's profile; without it the one that its name in INQUIRY tells.
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// The robot that serves the drive, to measure its ways too.
    #[arg(long, value_name = "DEVICE")]
    changer: Option<String>,
    /// As much as fits into 30 minutes of drive time.
    #[arg(long)]
    quick: bool,
    /// Only these steps: mount, robot, seek-bot, seek-opposite, seek-mid, short-seek, stream, delay,
    /// large-read, midtape, positions, landing, key-points.
    #[arg(long, value_delimiter = ',', value_name = "STEPS")]
    only: Vec<Step>,
    /// Fill a blank cartridge first, with data that does not compress.
    #[arg(long)]
    write: bool,
    /// With --write: fill it even though there is data on it, which is then gone.
    #[arg(long, requires = "write")]
    overwrite: bool,
    /// With --write: length of the blocks in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 262_144)]
    block_size: usize,
    /// Where to write the key points that were found, for `order --map`.
    #[arg(long, value_name = "MAP")]
    map: Option<PathBuf>,
    /// Say what would be measured and how long that takes, and stop.
    #[arg(long)]
    dry_run: bool,
    /// Chooses the places that are measured.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Nobody sets it: an interrupt ends the program, and the log is whole up to the last event.
static STOP: AtomicBool = AtomicBool::new(false);

/// Runs the verb.
pub fn run(args: &Measure) -> Result<std::process::ExitCode, CliError> {
    let mut opened = open::drive(&args.device)?;
    let profile = profile_of(args, &opened.drive)?;
    let before = past(args)?;
    let mut header = header(args, &opened.drive, &profile);
    header.emulated = opened.emulated;
    header.byte_scale = (opened.byte_scale > 1).then_some(opened.byte_scale);
    let drive = &mut opened.drive;
    drive.wait_until_ready(READY_LIMIT)?;
    let log = File::options().create(true).append(true).open(&args.output);
    let log = log.map_err(|error| at(args, &error))?;
    let mut writer = EventWriter::new(BufWriter::new(log), &header).map_err(|e| at(args, &e))?;
    let mut recorder = Recorder::new(drive, &mut writer, &STOP);
    prepare(args, &mut recorder, &profile, opened.blank_block)?;
    let subject = Subject::explore(&mut recorder, &profile, opened.byte_scale)?;
    let mut changer = args.changer.as_deref().map(open::changer).transpose()?;
    let wanted = (!args.only.is_empty()).then_some(args.only.as_slice());
    let limit = args.quick.then_some(QUICK);
    let suite = Suite::plan(&subject, wanted, changer.is_some(), limit, args.seed);
    say(table::plan(&suite));
    if args.dry_run {
        return Ok(std::process::ExitCode::SUCCESS);
    }
    let past: Vec<Event> = before.events().cloned().collect();
    let robot = match &mut changer {
        Some(changer) => Some(robot(changer, &recorder.drive().identity().serial.clone())?),
        None => None,
    };
    let progress = Bar::new();
    let result = suite.run(&mut recorder, &subject, robot, &past, &mut |now| {
        progress.show(now);
    });
    progress.clear();
    let took = recorder.clock();
    drop(recorder);
    result.map_err(|error| {
        CliError::from(error).hint("start it again with the same log, and it goes on from there")
    })?;
    let log = read(args)?;
    write_map(args, &log, &subject)?;
    let summary = Summary::of(log.events(), &subject);
    print!(
        "{}",
        table::summary(&summary, &subject, took, opened.emulated)
    );
    Ok(std::process::ExitCode::SUCCESS)
}

/// Writes the key points of the log as a map.
fn write_map(args: &Measure, log: &EventLog, subject: &Subject) -> Result<(), CliError> {
    let Some(path) = &args.map else { return Ok(()) };
    let nominal = subject
        .profile
        .nominal_sections()
        .ok_or_else(|| CliError::input(format!("a {} has no key points", subject.profile.title)))?;
    let found = key_points::of_log(log.events(), nominal, subject.blocks).map_err(failed)?;
    let points = found.key_points;
    crate::output::write(Some(path), |out| {
        let mut text = "track,segment\n".to_owned();
        for track in 0..points.tracks() {
            for segment in points.track(track) {
                text.push_str(&format!("{track},{segment}\n"));
            }
        }
        text.push_str(&format!("{},{}\n", points.tracks(), points.segments()));
        out.write_all(text.as_bytes()).map_err(failed)
    })
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::failed(error)
}

fn at(args: &Measure, error: &dyn std::fmt::Display) -> CliError {
    CliError::failed(format!("{}: {error}", args.output.display()))
}

fn read(args: &Measure) -> Result<EventLog, CliError> {
    let file = File::open(&args.output).map_err(|error| at(args, &error))?;
    let bad = |error| CliError::input(format!("{}: {error}", args.output.display()));
    read_events(BufReader::new(file)).map_err(bad)
}

/// What was measured before. Another seed would have chosen other places for the same samples.
fn past(args: &Measure) -> Result<EventLog, CliError> {
    if !args.output.exists() {
        return Ok(EventLog::default());
    }
    let log = read(args)?;
    let mut headers = log
        .sessions
        .iter()
        .filter_map(|session| session.header.as_ref());
    match headers.find(|header| header.seed != Some(args.seed)) {
        Some(other) => Err(CliError::input(format!(
            "{} was measured with {}, not --seed {}",
            args.output.display(),
            other
                .seed
                .map_or("no seed".to_owned(), |seed| format!("--seed {seed}")),
            args.seed
        ))),
        None => Ok(log),
    }
}

fn header(args: &Measure, drive: &TapeDrive, profile: &Profile) -> Header {
    let identity = drive.identity();
    Header {
        seed: Some(args.seed),
        profile: Some(profile.name.clone()),
        device: Some(Device {
            vendor: identity.vendor.clone(),
            product: identity.product.clone(),
            revision: identity.revision.clone(),
            serial: identity.serial.clone(),
        }),
        ..Header::new(concat!("tapewise ", env!("CARGO_PKG_VERSION")))
    }
}

fn profile_of(args: &Measure, drive: &TapeDrive) -> Result<Profile, CliError> {
    if let Some(name) = &args.profile {
        return crate::profiles::load(name);
    }
    let product = &drive.identity().product;
    let name = open::profile_name(&args.device, product).ok_or_else(|| {
        CliError::input(format!("no profile is known for a {product}"))
            .hint("name one with --profile; `tapewise profile list` shows them")
    })?;
    Ok(profile::find(&name)?)
}

/// Fills a blank cartridge where that was asked for, or where it is a new emulated one.
fn prepare(
    args: &Measure,
    recorder: &mut Recorder<'_>,
    profile: &Profile,
    blank_block: Option<(usize, u64)>,
) -> Result<(), CliError> {
    let (bytes, scale) = match blank_block {
        Some(block) => block,
        None if args.write => (args.block_size, 1),
        None => return Ok(()),
    };
    recorder.rewind()?;
    let there = recorder.end_of_data()?.block.unwrap_or(0);
    if there > 0 && !args.overwrite {
        return match blank_block.is_some() || !args.write {
            true => Ok(()),
            false => Err(CliError::input(format!(
                "the cartridge holds {there} blocks; --write would overwrite them"
            ))
            .hint(
                "without --write it is measured as it is; --overwrite says that the data may go",
            )),
        };
    }
    let most = Subject::most_blocks(profile, bytes as u64 * scale);
    let terminal = std::io::stderr().is_terminal();
    let filled = fill(recorder, bytes, most, args.seed, &mut |now| {
        if terminal {
            say(format_args!(
                "\rfilling: {} blocks, {} of drive time",
                now.blocks, now.took
            ));
        }
    });
    let filled = filled?;
    say(format_args!(
        "{}filled with {} blocks in {} of drive time\n",
        if terminal { "\r" } else { "" },
        filled.blocks,
        filled.took
    ));
    Ok(())
}

/// The robot with the drive's element, found by serial number, and the slots that are empty.
fn robot<'a>(changer: &'a mut Changer, serial: &Option<String>) -> Result<Robot<'a>, CliError> {
    let inventory = changer.inventory()?;
    let serial = serial.as_deref().unwrap_or_default();
    let drive = inventory.element_of(serial)?;
    let empty = inventory.slots.iter().filter(|slot| !slot.is_full);
    let slots: Vec<u16> = empty.map(|slot| slot.address).collect();
    if slots.is_empty() {
        return Err(CliError::failed(
            "no slot is empty: nowhere to bring the cartridge",
        ));
    }
    Ok(Robot {
        changer,
        drive,
        slots,
    })
}

/// A line with what is done and how much time is left, on a terminal only.
struct Bar {
    terminal: bool,
}

impl Bar {
    fn new() -> Bar {
        Bar {
            terminal: std::io::stderr().is_terminal(),
        }
    }

    fn show(&self, now: Progress) {
        if self.terminal {
            let left: Micros = now.left;
            say(format_args!(
                "\r\x1b[K{} {}/{}   about {left} of drive time left",
                now.step, now.done, now.of
            ));
        }
    }

    fn clear(&self) {
        if self.terminal {
            say("\r\x1b[K");
        }
    }
}
