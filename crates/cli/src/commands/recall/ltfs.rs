//! `recall --ltfs`: files straight from an LTFS tape, without a mount.

mod choice;
mod power_cut;
mod tape;

use super::report::Report;
use super::{Recall, common};
use crate::device::Devices;
use crate::error::{CliError, Exit};
use crate::log_file::Watched;
use crate::names::as_text;
use crate::progress::{Drives, Left, Meter, State};
use crate::{interrupt, json, log_file, output, units};
use choice::Choice;
use power_cut::Powered;
use std::fs::File;
use std::io::BufReader;
use std::process::ExitCode;
use tapewise_archive::deliver::{Check, Delivered, Destination, Took};
use tapewise_archive::ltfs::Fallback;
use tapewise_archive::ltfs::deliver::{Deliveries, Missing, Wanted};
use tapewise_archive::ltfs::volume::{LtfsError, LtfsVolume};
use tapewise_archive::read::{MappedTape, Outcome, Progress, TapeRead};
use tapewise_archive::record::Segment;
use tapewise_formats::event::Event;
use tapewise_formats::event_log::Header;
use tapewise_formats::ltfs_index::{LtfsFile, LtfsIndex, read_ltfs_index};
use tapewise_model::Micros;
use tapewise_order::{Action, Plan, Problem};
use tapewise_run::{READY_LIMIT, Recorder, RunError};

/// Says something on standard error, unless nothing is to be said.
type Say<'a> = &'a (dyn Fn(&dyn std::fmt::Display) + Sync);

/// Runs the mode.
pub fn run(args: &Recall, name: &str) -> Result<ExitCode, CliError> {
    let say = |text: &dyn std::fmt::Display| output::remark(args.quiet, text);
    // Whatever can be wrong with the input is found before the drive is touched.
    let given = given_index(args)?;
    let choice = Choice::read(args)?;
    let mut ledger = common::ledger(&args.sums, None, &say)?;
    let destination = common::destination(args)?;
    let stop = interrupt::stop_on_interrupt()?;

    let mut devices = Devices::default();
    let mut drive = devices.tape_alone(name)?;
    drive.wait_until_ready(READY_LIMIT)?;
    let (profile, how) = tape::profile(args.profile(), &mut drive)?;
    say(&format_args!("profile {}, {how}", profile.name));
    let volume = LtfsVolume::look(&mut drive).map_err(|error| of_volume(error).of(name))?;
    say(&described(&volume));
    if let Some(fallback) = &volume.fallback {
        say(&format_args!("{}: {fallback}", volume.title()));
    }
    for doubt in &volume.doubts {
        say(&format_args!("{}: {doubt}", volume.title()));
    }
    let files = files(args, given, &volume)?;
    let chosen = choice.of(args, &files, &volume.layout, &mut ledger, &say)?;
    let check = match &destination {
        Some(destination) => common::checked(
            destination,
            chosen.wanted.iter().map(|one| (&one.path, &one.expected)),
        )?,
        None => Check::default(),
    };
    common::say_check(&check, &say);
    let wanted = without_those_there(chosen.wanted, &check);
    let byte_scale = devices.byte_scale(name)?;
    let (cartridge, provenance) = tape::cartridge(
        &mut drive,
        &profile,
        &volume.layout,
        byte_scale.unwrap_or(1),
    )?;
    let cartridge = MappedTape {
        algorithm: args.algorithm(),
        ..cartridge
    };
    say(&format_args!("positions: {provenance}"));
    let (head, learns) = cartridge.head(&mut drive)?;
    let wants: Vec<Vec<Segment>> = wanted.iter().map(|one| one.segments.clone()).collect();
    let read = TapeRead::new(&cartridge, head, &wants, learns).map_err(CliError::input)?;
    let (problem, plan) = read.plan();
    say(&format_args!(
        "{} as predicted: {} positioning, {} reading",
        plan.totals.total, plan.totals.locate, plan.totals.read
    ));
    if args.dry_run {
        output::print(&dry_run(&wanted, &problem, &plan, args.json)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(destination) = destination else {
        return Err(CliError::failed("the destination was not opened"));
    };
    let work = Work {
        args,
        destination: &destination,
        wanted: &wanted,
        volume: &volume,
        predicted: plan.totals.total,
        left_out: chosen.left_out,
    };
    let header = Header {
        profile: Some(profile.name.clone()),
        cartridge: volume.name.clone(),
        ..log_file::header_of(drive.identity(), byte_scale)
    };
    let drives = Drives::default();
    let watch = |event: &Event| drives.saw(event);
    let mut log = log_file::session_if_wanted(args.events.as_deref(), &header)?;
    let mut log = Watched {
        log: log.as_mut(),
        watch: &watch,
    };
    let mut recorder = Recorder::new(&mut drive, &mut log, &stop);
    work.recall(read, &mut recorder, &drives, check, &say)
}

/// The files of the index that was given, or of the tape's own.
fn files(
    args: &Recall,
    given: Option<(LtfsIndex, Vec<LtfsFile>)>,
    volume: &LtfsVolume,
) -> Result<Vec<LtfsFile>, CliError> {
    if let Some((index, files)) = given {
        check_index(args, &index, volume)?;
        return Ok(files);
    }
    let mut files = Vec::new();
    volume
        .index
        .visit(|file| files.push(file))
        .map_err(of_volume)?;
    Ok(files)
}

/// The index that was given, and its files.
fn given_index(args: &Recall) -> Result<Option<(LtfsIndex, Vec<LtfsFile>)>, CliError> {
    let Some(path) = &args.ltfs_index else {
        return Ok(None);
    };
    let bad =
        |error: &dyn std::fmt::Display| CliError::input(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(|e| bad(&e))?;
    let read = read_ltfs_index(BufReader::with_capacity(1 << 20, file)).map_err(|e| bad(&e))?;
    Ok(Some(read))
}

/// What a cartridge says that is no LTFS volume, or not one that can be read.
fn of_volume(error: LtfsError) -> CliError {
    match error {
        LtfsError::Scsi(error) => error.into(),
        LtfsError::Spool(_) => CliError::failed(error),
        LtfsError::NoIndex { .. } => CliError::with(Exit::Medium, error),
        _ => CliError::with(Exit::Refused, error)
            .hint("is it the right cartridge? `tapewise drive status` says what is in the drive"),
    }
}

fn described(volume: &LtfsVolume) -> String {
    let head = &volume.index.head;
    let bytes = units::bytes(head.extent_bytes);
    let files = units::count(head.file_count as usize, "file");
    let generation = head.generation;
    format!(
        "{}: {files}, {bytes}, LTFS {}, generation {generation}",
        volume.title(),
        head.version
    )
}

/// The index that was given must be of the volume in the drive, and as new.
fn check_index(args: &Recall, index: &LtfsIndex, volume: &LtfsVolume) -> Result<(), CliError> {
    let on_tape = &volume.index.head;
    if index.volume_uuid != on_tape.volume_uuid {
        let wanted = if index.volume_name.is_empty() {
            index.volume_uuid.clone()
        } else {
            format!("{} ({})", index.volume_name, index.volume_uuid)
        };
        let said = format!(
            "the index is of {wanted}, in the drive is {}",
            volume.title()
        );
        return Err(CliError::with(Exit::Refused, said)
            .hint("nothing was read; put the right cartridge in"));
    }
    if index.generation != on_tape.generation && !args.any_generation {
        let said = format!(
            "the index is generation {}, the volume in the drive {} is at generation {}",
            index.generation,
            volume.title(),
            on_tape.generation
        );
        return Err(CliError::with(Exit::Refused, said)
            .hint("without --ltfs-index the tape's own index is used; --any-generation takes the one given"));
    }
    Ok(())
}

fn without_those_there(wanted: Vec<Wanted>, check: &Check) -> Vec<Wanted> {
    let mut there = check.there.iter().map(|(at, _)| *at).collect::<Vec<_>>();
    there.sort_unstable();
    let left = wanted.into_iter().enumerate();
    left.filter(|(at, _)| there.binary_search(at).is_err())
        .map(|(_, one)| one)
        .collect()
}

/// A line, or a JSON object, for each file in the order of reading: when its reading begins, its
/// length.
fn dry_run(
    wanted: &[Wanted],
    problem: &Problem,
    plan: &Plan,
    as_json: bool,
) -> Result<String, CliError> {
    let (empty, on_tape): (Vec<&Wanted>, Vec<&Wanted>) =
        wanted.iter().partition(|one| one.segments.is_empty());
    let mut rows: Vec<(Option<Micros>, &Wanted)> = empty.iter().map(|one| (None, *one)).collect();
    let first = |step: &&tapewise_order::Step| step.action == Action::Read && step.extent == 0;
    for step in plan.steps.iter().filter(first) {
        for &request in &problem.visits()[step.visit as usize].requests {
            // Requests are those wants that need the tape, in their order.
            rows.push((Some(step.begin), on_tape[request as usize]));
        }
    }
    if as_json {
        let files: Vec<serde_json::Value> = rows
            .iter()
            .map(|(begin, one)| {
                serde_json::json!({
                    "path": as_text(one.path.as_bytes()),
                    "bytes": one.expected.bytes,
                    "begins_s": begin.map(|begin| begin.as_secs_f64()),
                })
            })
            .collect();
        let total_s = plan.totals.total.as_secs_f64();
        let document = serde_json::json!({ "predicted_s": total_s, "files": files });
        return json::text("recall-plan", &document);
    }
    let mut lines = format!("{:>8} {:>8}  file\n", "begins", "bytes");
    for (begin, one) in rows {
        let begins = begin.map_or("-".to_owned(), |begin| begin.to_string());
        let bytes = units::bytes(one.expected.bytes);
        lines.push_str(&format!("{begins:>8} {bytes:>8}  {}\n", one.path));
    }
    Ok(lines)
}

/// A recall that is about to begin.
struct Work<'a> {
    args: &'a Recall,
    destination: &'a Destination,
    wanted: &'a [Wanted],
    volume: &'a LtfsVolume,
    predicted: Micros,
    /// Files that were asked for and cannot be recalled, with why.
    left_out: Vec<(String, String)>,
}

impl Work<'_> {
    fn recall(
        &self,
        read: TapeRead<'_>,
        recorder: &mut Recorder<'_>,
        drives: &Drives,
        check: Check,
        say: Say<'_>,
    ) -> Result<ExitCode, CliError> {
        let start_ns = crate::now::now_ns();
        let mut report = Report::new(check.there.into_iter().map(|(_, delivered)| delivered));
        let mut failed = self.left_out.clone();
        let meter = Meter::unless(self.args.quiet);
        let mut said = |one: Result<Delivered, Missing>| match one {
            Ok(delivered) => report.delivered(delivered, Took::default()),
            Err(missing) => {
                say(&missing);
                let path = match &missing {
                    Missing::Lost { path, .. } => {
                        report.lost();
                        path.to_string()
                    }
                    Missing::Delivery(error) => {
                        report.failed(error);
                        String::new()
                    }
                };
                failed.push((path, missing.to_string()));
            }
        };
        let result = {
            let mut receiver = Powered {
                deliveries: Deliveries::new(self.destination, self.wanted, &mut said),
                ended: 0,
                cut_after: self.args.power_cut_after,
            };
            let name = |want: usize| self.wanted[want].path.to_string();
            read.run(recorder, &name, &mut receiver, &mut |now| {
                meter.show(self.state(now, drives))
            })
        };
        drop(meter);
        let took = recorder.clock();
        if !self.args.no_mhl {
            report.write_mhl(self.destination, self.args.to(), start_ns, say)?;
        }
        say(&report);
        say(&format_args!(
            "{took} of drive time, {} were predicted",
            self.predicted
        ));
        if self.args.json {
            json::print(
                "recall",
                &self.json(&report, &failed, took, result.as_ref().ok()),
            )?;
        }
        match result {
            Ok(_) => match (
                report.exit(self.wanted.len() + self.left_out.len())?,
                self.older(),
            ) {
                (_, Some(older)) => Err(CliError::with(
                    Exit::Partial,
                    format!("{}: {older}", self.volume.title()),
                )
                .hint("everything in the older index is there; `ltfsck` may repair the volume")),
                (exit, None) => Ok(exit),
            },
            Err(RunError::Interrupted) => {
                let left = report.missing(self.wanted.len());
                let said = format!("interrupted, {} left", units::count(left, "file"));
                Err(CliError::with(Exit::Interrupted, said).hint(common::GO_ON))
            }
            Err(error) => {
                let error = CliError::from(error);
                let hint = match error.exit() {
                    // An adapter that is too small for the blocks of this volume is too small the next time, too.
                    Exit::Input => {
                        "what has arrived stays; through another adapter the same command goes on"
                    }
                    _ => common::GO_ON,
                };
                Err(error.hint(hint))
            }
        }
    }

    /// What is done, and how much time is left: predicted, and if the rest is off as what is done was.
    fn state(&self, now: Progress, drives: &Drives) -> State {
        let of_bytes = self.wanted.iter().map(|one| one.expected.bytes).sum();
        let predicted = self.predicted - now.left;
        State {
            unit: Some("file"),
            // Files without bytes need no tape, and are there before the first of the others.
            done: Some((self.wanted.len() - now.of + now.done) as u64),
            of: Some(self.wanted.len() as u64),
            bytes: Some(now.bytes),
            of_bytes: Some(of_bytes),
            left: Some(Left::as_before(now.left, drives.took(), predicted)),
            ..drives.state()
        }
    }

    /// That all files are asked for, and the newest index, which knows them, could not be read.
    fn older(&self) -> Option<Fallback> {
        self.volume.fallback.filter(|_| self.args.all_files)
    }

    fn json(
        &self,
        report: &Report,
        failed: &[(String, String)],
        took: Micros,
        outcome: Option<&Outcome>,
    ) -> serde_json::Value {
        let doubts: Vec<String> = self.volume.doubts.iter().map(ToString::to_string).collect();
        let failed: Vec<serde_json::Value> = failed
            .iter()
            .map(|(path, why)| serde_json::json!({ "path": path, "why": why }))
            .collect();
        serde_json::json!({
            "volume": self.volume.name,
            "volume_uuid": self.volume.label.volume_uuid,
            "generation": self.volume.index.head.generation,
            "newest_generation": match self.volume.fallback {
                Some(fallback) => fallback.newest,
                None => Some(self.volume.index.head.generation),
            },
            "doubts": doubts,
            "delivered": report.files_json(),
            "failed": failed,
            "predicted_s": self.predicted.as_secs_f64(),
            "took_s": took.as_secs_f64(),
            "complete": outcome.is_some() && failed.is_empty() && self.older().is_none(),
            "replans": outcome.map(|outcome| outcome.replans),
            "places_learned": outcome.map(|outcome| outcome.learned),
        })
    }
}
