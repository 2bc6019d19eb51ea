//! `tapewise drive check`: what a drive says and does in ten minutes, as a report to send in.

mod full;
mod page;
mod verified;

use super::heed;
use crate::error::CliError;
use crate::progress::{Meter, State};
use crate::{device, html, interrupt, output, profiles, quantity, units};
use std::path::PathBuf;
use tapewise_emulator::DriveKind;
use tapewise_formats::event::{Action, Event, Outcome};
use tapewise_model::{Micros, Profile, profile};
use tapewise_run::check::{Asked, CheckError, Chosen, DriveReport, Ended, Limits, Move, Way};
use tapewise_run::{RunError, profile_of_density};
use tapewise_scsi::TapeDrive;

/// Check a drive in ten minutes, and write a report. Nothing is written to the tape.
///
/// tapewise asks the drive what it is and what it can do, moves to places on the cartridge that is in
/// it, and times every locate, up to 200. Long and short locates are mixed, so it does not matter when
/// the time runs out. The report compares the times with the profile's predictions. If a locate fails,
/// tapewise records it and goes on; after three failures in a row it ends. Names and serial numbers are
/// removed from the report. Ctrl-C ends the check without a report. At the end the tape is rewound.
///
/// With --full, tapewise runs the tests of a new drive (Johnson and Miller 1998, NERSC 2001) for as many hours as you
/// give: mounts, locates, rates, delays; and with --write data that compresses and does not, files and blocks of all
/// sizes. It reads first and writes last.
#[derive(clap::Args, Debug)]
pub struct Check {
    /// The drive, with a cartridge that has data on it.
    #[arg(value_name = "DEVICE", required_unless_present = "table")]
    device: Option<String>,
    /// Where to write the report, `-` for standard output.
    #[arg(
        short,
        long,
        value_name = "REPORT",
        required_unless_present = "table",
        conflicts_with = "table"
    )]
    output: Option<PathBuf>,
    /// Write the report as one page for a browser, too.
    #[arg(long, value_name = "FILE", conflicts_with = "table")]
    html: Option<PathBuf>,
    /// Three minutes and at most 40 locates.
    #[arg(long, conflicts_with = "minutes")]
    quick: bool,
    /// Begin no locate after this much drive time: minutes, or a time such as 1h.
    #[arg(long, value_name = "MINUTES", default_value_t = 10, value_parser = quantity::whole_minutes(1..=600))]
    minutes: u32,
    /// The profile to compare with, instead of the one for this drive.
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<String>,
    /// Measure everything worth knowing of a new drive, not only ten minutes of locates. The report has another format
    /// then. Run the same command again to go on after Ctrl-C or a kill.
    #[arg(long, requires = "hours", conflicts_with_all = ["quick", "minutes"])]
    full: bool,
    /// With --full: measure as much as fits into this much drive time: hours, or a time such as 90m.
    #[arg(long, value_name = "HOURS", requires = "full", value_parser = quantity::hours)]
    hours: Option<f64>,
    /// With --full: compare with this former report. Exit with 1 if something got worse.
    #[arg(long, value_name = "FORMER", requires = "full")]
    before: Option<PathBuf>,
    /// With --full: measure writing too, and fill a blank cartridge.
    #[arg(long, requires = "full")]
    write: bool,
    /// With --write: write even if there is data on the cartridge. That data is lost.
    #[arg(long, requires = "write")]
    overwrite: bool,
    /// With --full: seed that chooses the places to measure [default: 1].
    #[arg(long, requires = "full", value_parser = quantity::count::<u64>)]
    seed: Option<u64>,
    /// Print the README's table of verified drives from the reports in a folder. No drive is used.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["device", "quick", "profile", "full"])]
    table: Option<PathBuf>,
}

const QUICK_MINUTES: u32 = 3;
const QUICK_LOCATES: usize = 40;
const LOCATES: usize = 200;

/// Runs the verb.
pub fn run(args: &Check) -> Result<(), CliError> {
    if let Some(folder) = &args.table {
        return output::print(&verified::block(folder)?);
    }
    let (Some(name), Some(path)) = (&args.device, &args.output) else {
        return Err(CliError::input("neither DEVICE nor --table"));
    };
    if let Some(hours) = args.hours {
        return full::run(args, name, path, hours);
    }
    interrupt::end_on_interrupt(
        "no report was written; the same command begins again, and --quick takes three minutes",
    )?;
    let way = way(name)?;
    let mut drive = device::tape_for_use(name)?;
    let ready = drive.wait_until_ready(super::READY_LIMIT);
    ready.map_err(|error| CliError::from(error).of(name))?;
    let (report, failure, profile) = check(args, way, &mut drive)?;
    output::write(Some(path), |out| {
        serde_json::to_writer_pretty(&mut *out, &report).map_err(CliError::failed)?;
        writeln!(out).map_err(CliError::failed)
    })?;
    if let Some(path) = &args.html {
        html::write(
            path,
            &page::page(&report, &summary(&report), profile.as_ref()),
        )?;
    }
    output::say(summary(&report));
    // The report says what failed; the exit code says that something did.
    failure.map_or(Ok(()), |error| Err(CliError::from(error).of(name)))
}

/// How the drive is reached; the kernel's tape driver tells too little for a report.
fn way(name: &str) -> Result<Way, CliError> {
    Ok(match device::way(name)? {
        device::Way::Sg => Way::Sg,
        device::Way::Iscsi => Way::Iscsi,
        device::Way::Replay => Way::Replay,
        device::Way::Emulated => Way::Emulated,
        device::Way::St => {
            let what = format!("{name}: a report needs the SCSI generic device of the drive");
            return Err(CliError::input(what).hint("load the sg module: modprobe sg"));
        }
    })
}

/// The report, the last failure of a locate if there was one, and the profile that the times stand beside.
fn check(
    args: &Check,
    way: Way,
    drive: &mut TapeDrive,
) -> Result<(DriveReport, Option<RunError>, Option<Profile>), CliError> {
    let (locates, minutes) = if args.quick {
        (QUICK_LOCATES, QUICK_MINUTES)
    } else {
        (LOCATES, args.minutes)
    };
    let limits = Limits {
        time: Micros::from_secs_f64(f64::from(minutes) * 60.0),
        locates,
        way,
        program: concat!("tapewise ", env!("CARGO_PKG_VERSION")).to_owned(),
    };
    let asked = Asked::ask(drive, &mut heed)?;
    let chosen = choose(args.profile.as_deref(), asked.density, drive)?;
    let meter = Meter::new();
    let mut watch = |number| {
        meter.show(State::counted(
            "locate",
            number as u64,
            Some(locates as u64),
        ));
    };
    let (report, failure) = asked.walk(drive, &limits, chosen.as_ref(), &mut heed, &mut watch)?;
    Ok((report, failure, chosen.map(|chosen| chosen.profile)))
}

impl From<CheckError> for CliError {
    fn from(error: CheckError) -> CliError {
        match error {
            CheckError::Run(error) => error.into(),
            CheckError::NoData => {
                CliError::failed(error).hint("take one that was written; it is only read")
            }
            CheckError::Map(_) => {
                CliError::failed(error).hint("is it another cartridge's profile? --profile NAME")
            }
            _ => CliError::input(error),
        }
    }
}

/// How a profile is found that was asked for.
const GIVEN: &str = "given";

/// The profile that was asked for, else one of the drive's product and the cartridge's density (a
/// drive reads cartridges of several), else of either; none where none fits.
pub fn choose(
    given: Option<&str>,
    density: Option<u8>,
    drive: &mut TapeDrive,
) -> Result<Option<Chosen>, CliError> {
    let chosen = |profile, found_by| Some(Chosen { profile, found_by });
    if let Some(name) = given {
        return Ok(chosen(profiles::load_drive(name)?, GIVEN));
    }
    let product = drive.identity().product.clone();
    let kinds: Vec<DriveKind> = DriveKind::names()
        .filter_map(DriveKind::find)
        .filter(|kind| kind.identity.product == product)
        .collect();
    let both = kinds
        .iter()
        .find(|kind| Some(kind.identity.density_code) == density);
    if let Some(kind) = both {
        return Ok(chosen(profile::find(&kind.name)?, "product and density"));
    }
    if let Some(kind) = kinds.first() {
        return Ok(chosen(profile::find(&kind.name)?, "product"));
    }
    Ok(profile_of_density(drive).and_then(|profile| chosen(profile, "density")))
}

/// What was found, for a person.
fn summary(report: &DriveReport) -> String {
    let refused = report.answers.iter().filter(|answer| answer.hex.is_none());
    let mut lines = tapewise_scsi::Report::default();
    let drive = &report.drive;
    let who = format!("{} {}", drive.vendor, drive.product);
    lines.line("drive", format_args!("{who}, firmware {}", drive.revision));
    if report.way == Way::Emulated {
        lines.line("emulated", "this says nothing of any real drive");
    }
    let answers = units::count(report.answers.len(), "question");
    lines.line(
        "asked",
        format_args!("{answers}, {} refused", refused.count()),
    );
    let blocks: Vec<String> = report.cartridge.blocks.iter().map(u64::to_string).collect();
    lines.line("blocks", blocks.join(" + "));
    locates(report, &mut lines);
    match &report.judged {
        None => lines.line(
            "predicted",
            "nothing: no profile for this drive, or it does not tell where its head is",
        ),
        Some(judged) => {
            let how = match judged.found_by.as_str() {
                GIVEN => "as given".to_owned(),
                by => format!("found by {by}"),
            };
            let (profile, model) = (&judged.profile, &judged.model);
            lines.line(
                "predicted by",
                format_args!("profile {profile} ({model}, {how})"),
            );
            for errors in &judged.errors {
                lines.line(
                    format_args!("off, {}", errors.kind),
                    format_args!(
                        "{:+.1} s on average, {:.1} s rms; {:.0} % of {} by more than 2 s",
                        errors.mean_s,
                        errors.rms_s,
                        errors.off_share * 100.0,
                        errors.locates
                    ),
                );
            }
        }
    }
    lines.to_string()
}

/// How many were timed of each kind, and why not all.
fn locates(report: &DriveReport, lines: &mut tapewise_scsi::Report) {
    let sampled = report
        .events
        .iter()
        .filter(|event| event.purpose.is_some() && event.action == Action::Locate);
    let (done, failed): (Vec<&Event>, Vec<&Event>) =
        sampled.partition(|event| event.outcome == Outcome::Done);
    let kinds = Move::ALL.map(|kind| {
        let is_it = |event: &&&Event| event.purpose.as_deref() == Some(kind.name());
        format!("{} {}", done.iter().filter(is_it).count(), kind.name())
    });
    let why = match report.ended {
        Ended::Done => "",
        Ended::TimeOut => "; then the time was up: --minutes gives more",
        Ended::Failures => "; then too many failed",
    };
    lines.line(
        "locates",
        format_args!(
            "{} of {} timed ({}), all in {} of drive time{why}",
            done.len(),
            report.planned,
            kinds.join(", "),
            report.took_us
        ),
    );
    if let Some(first) = failed.first() {
        lines.line(
            "FAILED",
            format_args!(
                "{}, the first: {}",
                units::count(failed.len(), "locate"),
                first.sense.as_deref().unwrap_or("without sense")
            ),
        );
    }
}
