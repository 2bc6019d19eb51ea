//! `tapewise catalog migrate` and `repack`: files go from where they are to where they belong.

use super::tend::volume;
use crate::archive::{Archive, READ_IN_THE_REST};
use crate::commands::store::{files_and_why, say_files, told as told_of_tape, volumes_and_why};
use crate::error::{CliError, Exit};
use crate::interrupt::stop_on_interrupt;
use crate::json::Answer;
use crate::now::now_ns;
use crate::output::say;
use crate::units;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_archive::mover::{MoveError, Moved, Repacked, due};

/// Move files that are due: from the cache onto tape, and from tier to tier.
///
/// archive.toml describes the tiers: pools of volumes, chosen by label, and after how many days files
/// move to each. tapewise reads volumes in the fastest order, in portions that fit the cache. It removes
/// a copy from the catalogue when the copies of the next tier are on tape. If the program is killed, the
/// same command continues.
#[derive(clap::Args, Debug)]
pub struct Migrate {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Print what would be moved, and move nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print only errors on standard error.
    #[arg(short, long)]
    quiet: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn migrate(args: &Migrate) -> Result<ExitCode, CliError> {
    let archive = Archive::open(&args.archive)?;
    if args.dry_run {
        return say_due(&archive, args.json);
    }
    let cache = archive.cache()?;
    let stop = stop_on_interrupt()?;
    let moved = archive.with_mover(&cache, &stop, args.quiet, |mover| {
        as_far_as_it_went(mover.migrate_due(), |moved| moved)
    });
    let (moved, unwritten) = moved.map_err(go_on_later)?;
    let mut answer = Answer::new("catalog-migrate", args.json);
    let done = told(&archive, &moved, &mut answer)?;
    unwritten.map_or(Ok(done), |error| Err(error.into()))
}

/// What was done, and why no more was: what was moved before no volume was left is told too.
fn as_far_as_it_went<T>(
    done: Result<T, MoveError>,
    of: impl Fn(Moved) -> T,
) -> Result<(T, Option<MoveError>), MoveError> {
    match done {
        Ok(done) => Ok((done, None)),
        Err(mut error) => match error.take_moved() {
            Some(moved) => Ok((of(moved), Some(error))),
            None => Err(error),
        },
    }
}

fn go_on_later(error: CliError) -> CliError {
    error.if_interrupted(
        "files that were moved stay where they are now; the same command moves the rest",
    )
}

/// Prints what is due, a line for each volume and tier.
fn say_due(archive: &Archive, as_json: bool) -> Result<ExitCode, CliError> {
    let mut answer = Answer::new("catalog-migrate", as_json);
    answer.set("due", Vec::<Value>::new());
    // How many bytes of tape a byte stands for does not matter to what is due.
    let settings = archive.mover_settings(1)?;
    let due = due(archive.catalogue.as_ref(), &settings, now_ns())?;
    for due in &due {
        let from = due.from.as_ref().map_or("cache", |(_, label)| label);
        let to = due.to.and_then(|to| settings.tiers.get(to));
        let to = to.map_or("tape", |tier| &tier.name);
        answer.line(&format!(
            "{from} -> {to}: {}, {}",
            units::count(due.files.len(), "file"),
            units::bytes(due.bytes)
        ))?;
        answer.push(
            "due",
            json!({ "from": from, "to": to, "files": due.files.len(), "bytes": due.bytes }),
        );
    }
    if due.is_empty() {
        answer.line("nothing is due")?;
    }
    answer.end()?;
    Ok(ExitCode::SUCCESS)
}

/// Copy the files of a volume that are still wanted onto other volumes, and remove the volume.
///
/// tapewise reads the volume in portions that fit the cache, writes its files to other volumes, and
/// removes the volume from the catalogue. Lost copies on it are made again from their other copies. The
/// cartridge itself is not changed, unless you give --reuse.
#[derive(clap::Args, Debug)]
pub struct Repack {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Label of the volume.
    #[arg(value_name = "VOLUME")]
    volume: String,
    /// Label the emptied cartridge again, so that `store` can write on it. What is on it is lost.
    #[arg(long)]
    reuse: bool,
    /// Print only errors on standard error.
    #[arg(short, long)]
    quiet: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn repack(args: &Repack) -> Result<ExitCode, CliError> {
    let archive = Archive::open(&args.archive)?;
    let cache = archive.cache()?;
    let stop = stop_on_interrupt()?;
    let id = volume(&archive, &args.volume)?;
    let record = archive.catalogue.volume(id)?;
    let repacked = archive.with_mover(&cache, &stop, args.quiet, |mover| {
        let part = |moved| Repacked {
            moved,
            forgotten: None,
            holds_more: None,
        };
        let (repacked, unwritten) = as_far_as_it_went(mover.repack(id), part)?;
        if args.reuse && repacked.forgotten.is_some() {
            mover.reuse(&record)?;
        }
        Ok((repacked, unwritten))
    });
    let (repacked, unwritten) = repacked.map_err(go_on_later)?;
    let mut answer = Answer::new("catalog-repack", args.json);
    answer.set("volume", args.volume.as_str());
    answer.set("forgotten", repacked.forgotten.is_some());
    answer.set("labelled_anew", args.reuse && repacked.forgotten.is_some());
    answer.set("holds_more", repacked.holds_more.as_deref());
    answer.line(&format!(
        "{}: {} read, the volume is {}",
        args.volume,
        units::count(repacked.moved.files as usize, "file"),
        match repacked.forgotten {
            Some(_) if args.reuse => "removed, and its cartridge has a new label",
            Some(_) => "forgotten",
            None if repacked.holds_more.is_some() =>
                "kept, because the cartridge holds what the catalogue lacks",
            None => "kept, because files stay on it",
        }
    ))?;
    let mut done = told(&archive, &repacked.moved, &mut answer)?;
    if let Some(what) = repacked.holds_more {
        say(format_args!(
            "tapewise: {}: {what}\nhint: {READ_IN_THE_REST}\n",
            args.volume
        ));
        done = ExitCode::from(Exit::Partial as u8);
    }
    unwritten.map_or(Ok(done), |error| Err(error.into()))
}

/// Says what was moved.
fn told(archive: &Archive, moved: &Moved, answer: &mut Answer) -> Result<ExitCode, CliError> {
    answer.set("moved", moved.files);
    answer.set("read_bytes", moved.staged_bytes);
    answer.set("emptied", moved.emptied.as_slice());
    answer.set("unavailable", volumes_and_why(&moved.unavailable));
    answer.set("failed", files_and_why(archive, &moved.failed)?);
    if moved.files > 0 {
        answer.line(&format!(
            "moved      {} from volume to volume, {} read",
            units::count(moved.files as usize, "file"),
            units::bytes(moved.staged_bytes)
        ))?;
    }
    for label in &moved.emptied {
        say(format_args!(
            "tapewise: nothing on volume {label} is still wanted: `catalog repack` removes the volume\n"
        ));
    }
    for (label, why) in &moved.unavailable {
        say(format_args!(
            "tapewise: volume {label} could not be read: {why}\n"
        ));
    }
    say_files(archive, &moved.failed, "stays where it is")?;
    let written = told_of_tape(archive, &moved.migrated, answer)?;
    answer.end()?;
    Ok(if moved.failed.is_empty() {
        written
    } else {
        ExitCode::from(Exit::Partial as u8)
    })
}
