//! `tapewise measure`: how fast a drive is, by doing it.

mod table;

use crate::device::{self, Devices, ScaledBlock};
use crate::error::{CliError, Exit};
use crate::html;
use crate::interrupt;
use crate::log_file;
use crate::output::say;
use crate::plot;
use crate::progress::{Left, Meter, State};
use crate::quantity;
use crate::units;
use clap::Args;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use tapewise_formats::event::Event;
use tapewise_formats::event_log::{Device, EventLog, Header, read_events};
use tapewise_formats::map_file::{MapFile, ProbedPlace};
use tapewise_model::{KeyPoints, Micros, Profile, profile};
use tapewise_plot::Drawn;
use tapewise_plot::html::{Report, Sheet};
use tapewise_run::measure::pictures::pictures;
use tapewise_run::measure::summary::Summary;
use tapewise_run::measure::{
    Progress, Purpose, QUICK, Robot, Step, Subject, Suite, fill, key_points, probe,
};
use tapewise_run::{READY_LIMIT, Recorder};
use tapewise_scsi::{Changer, Identity, TapeDrive};

/// Measure how long a drive takes for everything it does.
///
/// This is the suite of Johnson & Miller (1998): mount and unmount, seeks from the beginning of tape and
/// between any two places, short seeks compared with reading on, rewinds, rates, and delays between
/// reads. For a DLT, tapewise finds the key points of the cartridge by timing; other drives report where
/// blocks lie. tapewise only reads, unless you give --write. Then it also measures the rate for each
/// block size and what the drive's compression gains. If the suite is stopped, start it again with the
/// same log to continue. `tapewise fit` makes a profile from the log.
#[derive(Args, Debug)]
pub struct Measure {
    /// The drive: /dev/sgN, /dev/nstN, iscsi://..., emulated:KIND or emulated:DIRECTORY.
    device: String,
    /// Write the event log to this file. Measurements that are in it already are not repeated.
    #[arg(short, long, value_name = "LOG")]
    output: PathBuf,
    /// The drive's profile [default: the one for its name in INQUIRY].
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// The robot that serves the drive, to measure its moves too.
    #[arg(long, value_name = "DEVICE")]
    changer: Option<String>,
    /// Measure as much as fits into 30 minutes of drive time, without the time for writing.
    #[arg(long)]
    quick: bool,
    /// Measure only what `tapewise fit` learns most from, for this long [default: 2h30m].
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "2h30m",
          value_parser = quantity::hours, conflicts_with_all = ["quick", "only", "write", "changer"])]
    for_fit: Option<f64>,
    /// Only these steps: mount, robot, seek-bot, seek-opposite, seek-mid, short-seek, stream, delay,
    /// large-read, midtape, positions, landing, key-points, probe, walk; with --write: block-size,
    /// compression, data-path, file-size.
    #[arg(long, value_delimiter = ',', value_name = "STEPS")]
    only: Vec<Step>,
    /// With --only key-points: learn the key points as well as this much drive time allows, by locates
    /// chosen for it. Two hours are enough for good orders; without it, they take three days.
    #[arg(long, value_name = "TIME", requires = "only", value_parser = quantity::hours)]
    budget: Option<f64>,
    /// Measure writing on a blank cartridge, then fill it with data that does not compress.
    #[arg(long)]
    write: bool,
    /// With --write: write even if there is data on the cartridge. That data is lost.
    #[arg(long, requires = "write")]
    overwrite: bool,
    /// With --write: length of the blocks in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 262_144, value_parser = quantity::size::<usize>)]
    block_size: usize,
    /// Write a map for `order --map` to this file: the drive's table of wrap ends, the key points that
    /// were found, or the places that the drive reported.
    #[arg(long, value_name = "MAP")]
    map: Option<PathBuf>,
    /// Draw the measurements into this directory, one SVG each.
    #[arg(long, value_name = "DIR", conflicts_with = "dry_run")]
    plot: Option<PathBuf>,
    /// Write what was measured as one page for a browser.
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    html: Option<PathBuf>,
    /// Print what would be measured and how long it takes, and stop.
    #[arg(long)]
    dry_run: bool,
    /// Seed that chooses the places to measure.
    #[arg(long, default_value_t = 1, value_parser = quantity::count::<u64>)]
    seed: u64,
}

/// Runs the verb.
pub fn run(args: &Measure) -> Result<std::process::ExitCode, CliError> {
    check(args)?;
    let stop = interrupt::stop_on_interrupt()?;
    let mut devices = Devices::default();
    let new = match device::new_kind(&args.device) {
        Some(kind) => Some(devices.new_scaled(kind)?),
        None => None,
    };
    let mut drive = devices.tape_alone(&args.device)?;
    let mut changer = match &args.changer {
        Some(name) => Some(devices.changer(name)?),
        None => None,
    };
    let scale = devices.byte_scale(&args.device)?;
    let profile = profile_of(args, &drive)?;
    if args.budget.is_some() && profile.nominal_sections().is_none() {
        let what = format!("--budget: {} is not modelled by key points", profile.name);
        return Err(CliError::input(what).hint("`tapewise drive map` maps other drives"));
    }
    let past: Vec<Event> = past(args, drive.identity())?.events().cloned().collect();
    let header = Header {
        seed: Some(args.seed),
        profile: Some(profile.name.clone()),
        ..log_file::header_of(drive.identity(), scale)
    };
    drive.wait_until_ready(READY_LIMIT)?;
    let robot = match &mut changer {
        Some(changer) => Some(robot(changer, &drive.identity().serial)?),
        None => None,
    };
    let mut writer = log_file::session(&args.output, &header)?;
    let mut recorder = Recorder::new(&mut drive, &mut writer, &stop);
    let asked = Asked {
        args,
        profile: &profile,
        new,
        scale: scale.unwrap_or(1),
        past: &past,
    };
    let measured = measure(&asked, &mut recorder, robot);
    drop(recorder);
    let Some(measured) = measured.map_err(go_on_later)? else {
        return Ok(std::process::ExitCode::SUCCESS);
    };
    let subject = &measured.subject;
    let log = read(args)?;
    let summary = Summary::of(log.events(), subject);
    let key_points = key_points(&log, &summary, subject, args.seed)?;
    if let Some(path) = &args.map {
        write_map(path, map_file(&summary, subject, key_points.as_ref())?)?;
    }
    let emulated = scale.is_some();
    let mut table = table::summary(&summary, subject, measured.took, emulated);
    table::key_points(&mut table, &summary, key_points.as_ref());
    table::cut_short(&mut table, &measured.cut_short);
    let failed: Vec<&Event> = tapewise_run::measure::failed(log.events()).collect();
    table::failed(&mut table, &failed);
    crate::output::print(&crate::output::table(&table))?;
    let drawn = || pictures(&summary, subject, key_points.as_ref(), emulated);
    if let Some(path) = &args.html {
        let report = Report {
            title: format!("tapewise measure: {}", subject.profile.title),
            answer: table::answer(&summary, subject, emulated),
            remarks: Vec::new(),
            figures: drawn()?,
            sheets: vec![Sheet::new("measured", table), html::moves(log.events())],
            tracks: Vec::new(),
            made_by: html::MADE_BY.to_owned(),
        };
        html::write(path, &report)?;
        say(format_args!("{}\n", path.display()));
    }
    if let Some(directory) = &args.plot {
        write_pictures(directory, &drawn()?)?;
    }
    match failed.len() {
        0 => Ok(std::process::ExitCode::SUCCESS),
        count => Err(unmeasured(count, summary.samples)),
    }
}

/// Some samples of the log, or all, have no times, because the tape could not be read.
fn unmeasured(failed: usize, measured: usize) -> CliError {
    let (exit, others) = match measured {
        0 => (Exit::Medium, "none could be measured"),
        _ => (Exit::Partial, "the others were measured"),
    };
    let what = format!("samples that could not be measured: {failed}; {others}");
    CliError::with(exit, what).hint("the log says at which block each of them failed; the same command goes on with what is left, and leaves such places out")
}

fn write_pictures(directory: &Path, drawn: &[Drawn]) -> Result<(), CliError> {
    plot::write(directory, drawn)?;
    for picture in drawn {
        let directory = directory.display();
        say(format_args!("{directory}/{}.svg\n", picture.name));
    }
    Ok(())
}

/// Steps that were asked for by name must be possible.
fn check(args: &Measure) -> Result<(), CliError> {
    if args.output == Path::new("-") {
        let what = "--output -: the log is a file, which the next run goes on with";
        return Err(CliError::input(what).hint("give it a name, such as log.jsonl"));
    }
    if let Some(step) = args.only.iter().find(|step| step.writes() && !args.write) {
        let hint = "with --write, which needs a blank cartridge or --overwrite";
        return Err(CliError::input(format!("{step} writes on the cartridge")).hint(hint));
    }
    if args.budget.is_some() && args.only != [Step::KeyPoints] {
        return Err(
            CliError::input("--budget is for the search for key points alone")
                .hint("give it with --only key-points"),
        );
    }
    if args.only.contains(&Step::Robot) && args.changer.is_none() {
        return Err(
            CliError::input("robot: give the robot with --changer").hint("name it with --changer")
        );
    }
    Ok(())
}

/// What the steps are carried out with.
struct Asked<'a> {
    args: &'a Measure,
    profile: &'a Profile,
    /// A new emulated drive, whose cartridge is to be filled.
    new: Option<ScaledBlock>,
    scale: u64,
    past: &'a [Event],
}

/// What the steps that read were carried out on.
struct Measured {
    subject: Subject,
    /// Steps that the limit cut short.
    cut_short: Vec<Step>,
    /// Drive time, what was written before not counted.
    took: Micros,
}

/// Writes where that was asked for, then carries out the steps that read. `None` after a dry run.
fn measure(
    asked: &Asked,
    recorder: &mut Recorder<'_>,
    robot: Option<Robot<'_>>,
) -> Result<Option<Measured>, CliError> {
    let args = asked.args;
    let wanted = (!args.only.is_empty()).then_some(args.only.as_slice());
    write(asked, wanted, recorder)?;
    let began = recorder.clock();
    let subject = Subject::explore(recorder, asked.profile, asked.scale)?;
    let left = |hours: f64| {
        let time = Micros::from_secs_f64(hours * 3600.0) - subject.expected().explore;
        time.max(Micros::ZERO)
    };
    let suite = match (args.for_fit, args.budget) {
        (Some(hours), _) => Suite::for_fit(&subject, left(hours), args.seed),
        (_, Some(hours)) => Suite::for_key_points(&subject, left(hours), args.seed),
        (None, None) => {
            let limit = args.quick.then(|| QUICK - subject.expected().explore);
            Suite::plan(&subject, wanted, robot.is_some(), limit, args.seed)
        }
    };
    say(table::plan(&suite));
    if args.dry_run {
        return Ok(None);
    }
    let meter = Meter::new();
    let result = suite.run(recorder, &subject, robot, asked.past, &mut |now| {
        meter.show(state(now))
    });
    drop(meter);
    Ok(Some(Measured {
        cut_short: result?,
        took: recorder.clock() - began,
        subject,
    }))
}

/// How far the suite has come, by drive time.
pub fn state(now: Progress) -> State {
    State {
        share: Some(now.took.as_secs_f64() / (now.took + now.left).as_secs_f64().max(1e-6)),
        left: Some(Left::predicted(now.left)),
        ..State::counted("sample", u64::from(now.done), Some(u64::from(now.of))).doing(now.step)
    }
}

/// Interrupted or not: what stands in the log is not lost. What was asked for in vain would be asked for in vain again.
fn go_on_later(error: CliError) -> CliError {
    match error.exit() {
        Exit::Input => error,
        _ => error.or_hint(
            "the log keeps every measurement made so far; the same command continues from there",
        ),
    }
}

/// The key points: those that were searched for one by one, else what locates chosen for it tell of them.
fn key_points(
    log: &EventLog,
    summary: &Summary,
    subject: &Subject,
    seed: u64,
) -> Result<Option<KeyPoints>, CliError> {
    let Some(nominal) = subject.profile.nominal_sections() else {
        return Ok(None);
    };
    if summary.key_point_probes > 0 {
        let found = key_points::of_log(log.events(), nominal, subject.blocks).map_err(failed)?;
        return Ok(Some(found.key_points));
    }
    if summary.chosen_probes == 0 {
        return Ok(None);
    }
    let end = probe::full_end(&subject.profile, subject.blocks);
    let learned = probe::learned(log.events(), &subject.profile, end, seed);
    Ok(learned.map(|learned| learned.key_points()))
}

/// Where blocks lie: by the best that is known.
fn map_file(
    summary: &Summary,
    subject: &Subject,
    key_points: Option<&KeyPoints>,
) -> Result<MapFile, CliError> {
    if let Some(table) = &subject.wrap_ends {
        return Ok(MapFile::EndOfWrap(table.clone()));
    }
    if let Some(points) = key_points {
        return Ok(MapFile::KeyPoints(points.clone()));
    }
    let places = summary.positions.iter().filter(|place| place.0 > 0);
    let mut places: Vec<ProbedPlace> = places
        .map(|&(block, wrap, lpos)| ProbedPlace {
            partition: subject.partition,
            block,
            wrap,
            lpos,
        })
        .collect();
    places.dedup_by_key(|place| place.block);
    if places.is_empty() {
        let what = "nothing is known of where blocks lie: no table of wrap ends, no places reported, no key points";
        return Err(failed(what));
    }
    Ok(MapFile::Probed(places))
}

fn write_map(path: &Path, map: MapFile) -> Result<(), CliError> {
    crate::output::write(Some(path), |mut out| {
        tapewise_formats::map_file::write_map(&mut out, &map).map_err(failed)
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

/// What was measured before. Another seed would have chosen other places for the same samples, and times of two drives
/// make no profile.
fn past(args: &Measure, drive: &Identity) -> Result<EventLog, CliError> {
    if !args.output.exists() {
        return Ok(EventLog::default());
    }
    let log = read(args)?;
    let headers = || {
        let sessions = log.sessions.iter();
        sessions.filter_map(|session| session.header.as_ref())
    };
    let mut devices = headers().filter_map(|header| header.device.as_ref());
    let is_other =
        |device: &&Device| (&device.product, &device.serial) != (&drive.product, &drive.serial);
    if let Some(other) = devices.find(is_other) {
        let named = |product: &str, serial: &Option<String>| match serial {
            Some(serial) => format!("{product} {serial}"),
            None => product.to_owned(),
        };
        let what = format!(
            "{} is the log of drive {}, and this is {}",
            args.output.display(),
            named(&other.product, &other.serial),
            named(&drive.product, &drive.serial)
        );
        return Err(CliError::input(what).hint("give each drive a log of its own with --output"));
    }
    let mut headers = headers();
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

fn profile_of(args: &Measure, drive: &TapeDrive) -> Result<Profile, CliError> {
    if let Some(name) = &args.profile {
        return crate::profiles::load(name);
    }
    let product = &drive.identity().product;
    let name = device::profile_name(&args.device, product).ok_or_else(|| {
        CliError::input(format!("no profile is known for a {product}"))
            .hint("name one with --profile; `tapewise profile list` shows them")
    })?;
    Ok(profile::find(&name)?)
}

/// Measures what writing takes and fills the cartridge, where that was asked for, or where it is a new
/// emulated one.
fn write(
    asked: &Asked,
    wanted: Option<&[Step]>,
    recorder: &mut Recorder<'_>,
) -> Result<(), CliError> {
    let args = asked.args;
    if (asked.new.is_none() && !args.write) || !may_write(asked, recorder)? {
        return Ok(());
    }
    let host_bytes = match asked.new {
        Some(block) => block.host_bytes,
        None => block_bytes(asked),
    };
    if args.write {
        let blank = Subject::blank(recorder, asked.profile, host_bytes as u64, asked.scale)?;
        let suite = Suite::writing(&blank, wanted, args.quick, args.seed);
        say(table::plan(&suite));
        if !args.dry_run {
            let meter = Meter::new();
            suite.run(recorder, &blank, None, asked.past, &mut |now| {
                meter.show(state(now))
            })?;
        }
    }
    // A dry run looks at the cartridge as it is, but a new emulated one must first hold something.
    if !args.dry_run || asked.new.is_some() {
        fill_up(asked, recorder, host_bytes)?;
    }
    Ok(())
}

/// The length of the blocks to write. A cartridge that is emulated in little holds too few of the
/// usual ones.
fn block_bytes(asked: &Asked) -> usize {
    let wanted = asked.args.block_size;
    let most = Subject::longest_block(asked.profile, asked.scale).filter(|_| asked.scale > 1);
    match most.and_then(|most| usize::try_from(most).ok()) {
        Some(most) if most < wanted => {
            say(format_args!(
                "each byte stands for {} on the tape, so blocks of {most} bytes are written, not {wanted}\n",
                asked.scale
            ));
            most
        }
        _ => wanted,
    }
}

/// Whether there is anything to write: not on a cartridge that this log was measured on already.
fn may_write(asked: &Asked, recorder: &mut Recorder<'_>) -> Result<bool, CliError> {
    recorder.rewind()?;
    let there = recorder.end_of_data()?.block.unwrap_or(0);
    let reads = |event: &Event| {
        let purpose = event.purpose.as_deref().and_then(Purpose::parse);
        purpose.is_some_and(|purpose| !purpose.step.writes())
    };
    if there > 0 && asked.past.iter().any(reads) {
        return Ok(false);
    }
    if there == 0 || asked.args.overwrite {
        return Ok(true);
    }
    let what = format!(
        "the cartridge holds {}, which --write would overwrite",
        units::count(there as usize, "block")
    );
    let hint = "leave out --write to measure the cartridge as it is, or add --overwrite if its data may be lost";
    Err(CliError::with(Exit::Refused, what).hint(hint))
}

fn fill_up(asked: &Asked, recorder: &mut Recorder<'_>, host_bytes: usize) -> Result<(), CliError> {
    let most = Subject::most_blocks(asked.profile, host_bytes as u64 * asked.scale);
    let meter = Meter::new();
    let filled = fill(recorder, host_bytes, most, asked.args.seed, &mut |now| {
        meter.show(State {
            bytes: Some(now.blocks * host_bytes as u64),
            ..State::counted("block", now.blocks, None).doing("write")
        });
    })?;
    drop(meter);
    say(format_args!(
        "filled with {} in {} of drive time\n",
        units::count(filled.blocks as usize, "block"),
        filled.took
    ));
    Ok(())
}

/// The robot with the drive's element, found by serial number, and the slots that are empty.
fn robot<'a>(changer: &'a mut Changer, serial: &Option<String>) -> Result<Robot<'a>, CliError> {
    changer.wait_until_ready(READY_LIMIT)?;
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
