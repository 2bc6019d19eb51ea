//! `tapewise drive check`: what a drive says and does in ten minutes, as a report to send in.

mod answers;
mod hidden;
mod judge;
mod report;
mod sample;
mod verified;

use super::map;
use super::question::Question;
use super::status::optional;
use crate::error::CliError;
use crate::{device, output, units};
use answers::Answers;
use report::{Cartridge, DriveName, DriveReport, VERSION, Way};
use sample::{Move, sample};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tapewise_formats::event::Event;
use tapewise_model::{EndOfWrap, Micros};
use tapewise_run::Recorder;
use tapewise_scsi::commands::RequestSense;
use tapewise_scsi::{Sense, TapeDrive};

/// Check a drive in ten minutes of its time, and write a report. Reads only.
///
/// Asks the drive who it is and what it can do, goes to places of the cartridge that is in it, and
/// takes the time of every locate: up to 200, as many as fit. The times are compared with those that
/// the drive's profile predicts. Names and serial numbers are struck out of the report. An interrupt
/// ends it without a report. The tape is rewound at the end.
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
    /// Three minutes and at most 40 locates.
    #[arg(long, conflicts_with = "minutes")]
    quick: bool,
    /// Begin no locate after so many minutes of drive time.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=600))]
    minutes: u32,
    /// The profile to compare with, instead of the one for this drive.
    #[arg(long, value_name = "NAME|FILE")]
    profile: Option<String>,
    /// Print the README's table of verified drives from the reports in a folder. No drive is used.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["device", "quick", "profile"])]
    table: Option<PathBuf>,
}

const QUICK_MINUTES: u32 = 3;
const QUICK_LOCATES: usize = 40;
const LOCATES: usize = 200;

/// Places, besides the beginning of tape, where sense is kept byte by byte.
const SENSE_PLACES: usize = 5;

/// Nobody sets it: an interrupt ends the program, and a report is written whole or not at all.
static STOP: AtomicBool = AtomicBool::new(false);

/// Runs the verb.
pub fn run(args: &Check) -> Result<(), CliError> {
    if let Some(folder) = &args.table {
        return output::print(&verified::block(folder)?);
    }
    let (Some(name), Some(path)) = (&args.device, &args.output) else {
        return Err(CliError::input("neither DEVICE nor --table"));
    };
    let way = way(name)?;
    let mut drive = device::tape_for_use(name)?;
    let ready = drive.wait_until_ready(super::READY_LIMIT);
    ready.map_err(|error| CliError::from(error).of(name))?;
    let report = check(args, way, &mut drive)?;
    output::write(Some(path), |out| {
        serde_json::to_writer_pretty(&mut *out, &report).map_err(CliError::failed)?;
        writeln!(out).map_err(CliError::failed)
    })?;
    output::say(summary(&report));
    Ok(())
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

fn check(args: &Check, way: Way, drive: &mut TapeDrive) -> Result<DriveReport, CliError> {
    let began = drive.now();
    let mut answers = Answers::new(drive);
    answers.of_the_drive(drive)?;
    let opcodes = answers::opcodes(drive)?;
    let table = map::table(drive)?;
    let mode = optional(drive.mode(0x3f))?;
    let density = mode.and_then(|mode| Some(mode.block?.density));
    let chosen = judge::choose(args.profile.as_deref(), density, drive)?;
    let partitions = map::partitions(drive)?;
    let (most, minutes) = match args.quick {
        true => (QUICK_LOCATES, QUICK_MINUTES),
        false => (LOCATES, args.minutes),
    };
    let mut events: Vec<Event> = Vec::new();
    let mut recorder = Recorder::new(drive, &mut events, &STOP);
    let mut walk = Walk {
        answers: &mut answers,
        recorder: &mut recorder,
        limit: Micros::from_secs_f64(f64::from(minutes) * 60.0),
        cartridge: None,
    };
    walk.recorder.rewind()?;
    walk.sense(0)?;
    let blocks = walk.blocks(partitions, table.as_deref())?;
    let partition = fullest(&blocks)?;
    walk.locates(partition, blocks[usize::from(partition)], most)?;
    walk.recorder.rewind()?;
    let cartridge = walk.cartridge.take();
    drop(recorder);
    let identity = drive.identity();
    let judged = match &chosen {
        Some(chosen) => judge::judge(chosen, &events, table.as_deref())?,
        None => None,
    };
    Ok(DriveReport {
        tapewise_drive_report: VERSION,
        program: concat!("tapewise ", env!("CARGO_PKG_VERSION")).to_owned(),
        way,
        drive: DriveName {
            vendor: identity.vendor.clone(),
            product: identity.product.clone(),
            revision: identity.revision.clone(),
            pseudonym: identity
                .serial
                .as_deref()
                .map(|serial| hidden::pseudonym("drive", serial)),
        },
        cartridge: Cartridge {
            pseudonym: cartridge,
            density: density.map(|code| format!("{code:02x}")),
            blocks,
            partition,
        },
        answers: answers.list,
        opcodes,
        events,
        took_us: Micros::from_secs_f64((drive.now() - began).as_secs_f64()),
        planned: most,
        judged,
    })
}

/// The way over the tape.
struct Walk<'w, 'r> {
    answers: &'w mut Answers,
    recorder: &'w mut Recorder<'r>,
    limit: Micros,
    cartridge: Option<String>,
}

impl Walk<'_, '_> {
    /// Keeps the sense where the head stands, and learns from it whose name to strike out.
    fn sense(&mut self, block: u64) -> Result<(), CliError> {
        let bytes = Question::of(&RequestSense).send(self.recorder.drive().transport())?;
        if let Ok(sense) = Sense::decode(&bytes) {
            let device = &sense.device;
            let named = [&device.cartridge_serial, &device.volume_label];
            let name = named
                .into_iter()
                .flatten()
                .find(|name| !name.trim().is_empty());
            self.cartridge = name.map(|name| hidden::pseudonym("cartridge", name));
            self.answers.hidden.add_cartridge(&sense);
        }
        self.answers.keep_sense(block, bytes);
        Ok(())
    }

    /// Blocks of each partition: from the table of wrap ends, else by going to the end of data.
    fn blocks(
        &mut self,
        partitions: u8,
        table: Option<&[EndOfWrap]>,
    ) -> Result<Vec<u64>, CliError> {
        (0..partitions)
            .map(|partition| {
                if let Some(table) = table {
                    let wraps = table.iter().filter(|end| end.partition == partition);
                    return Ok(wraps.map(|end| end.block).max().unwrap_or(0));
                }
                if partition > 0 {
                    self.recorder.locate(partition, 0)?;
                }
                let end = self.recorder.end_of_data()?;
                Ok(end.block.unwrap_or(0))
            })
            .collect()
    }

    /// Goes to the places of the sample until the time is out.
    fn locates(&mut self, partition: u8, blocks: u64, most: usize) -> Result<(), CliError> {
        let terminal = std::io::stderr().is_terminal();
        // Where it begins: the first locate of the sample is from the first block.
        self.recorder.locate(partition, 0)?;
        let mut sensed = 0;
        for (done, (kind, block)) in sample(blocks, most).into_iter().enumerate() {
            if self.recorder.clock() >= self.limit {
                break;
            }
            self.recorder
                .set_purpose(Some(kind.name().to_owned()), None);
            self.recorder.locate(partition, block)?;
            if kind == Move::Far && sensed < SENSE_PLACES {
                sensed += 1;
                self.sense(block)?;
            }
            if terminal {
                output::say(format_args!("\r\x1b[Klocate {} of {most}", done + 1));
            }
        }
        self.recorder.set_purpose(None, None);
        if terminal {
            output::say("\r\x1b[K");
        }
        Ok(())
    }
}

/// The partition with the most blocks.
fn fullest(blocks: &[u64]) -> Result<u8, CliError> {
    let fullest = (0..).zip(blocks).max_by_key(|(_, blocks)| **blocks);
    match fullest {
        Some((partition, blocks)) if *blocks > 1 => Ok(partition),
        _ => Err(
            CliError::failed("the cartridge has no data: there is nowhere to go")
                .hint("take one that was written; it is only read"),
        ),
    }
}

/// What was found, for a person.
fn summary(report: &DriveReport) -> String {
    let refused = report.answers.iter().filter(|answer| answer.hex.is_none());
    let done = sampled(report).count();
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
    lines.line(
        "locates",
        format_args!(
            "{done} of {}, all in {} of drive time",
            report.planned, report.took_us
        ),
    );
    match &report.judged {
        None => lines.line(
            "predicted",
            "nothing: no profile for this drive, or it does not tell where its head is",
        ),
        Some(judged) => {
            lines.line(
                "predicted by",
                format_args!(
                    "profile {} ({}, found by {})",
                    judged.profile, judged.model, judged.found_by
                ),
            );
            for errors in &judged.errors {
                lines.line(
                    format_args!("off, {}", errors.kind),
                    format_args!(
                        "{:+.1} s in the mean, {:.1} s rms; {:.0} % of {} by more than 2 s",
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

/// The locates of the sample.
fn sampled(report: &DriveReport) -> impl Iterator<Item = &Event> {
    report.events.iter().filter(|event| event.purpose.is_some())
}
