//! `tapewise catalog verify`, `scrub`, `check`, `backup`: that what is kept stays right.

use crate::archive::Archive;
use crate::commands::store::copies::say_remade;
use crate::error::{CliError, Exit};
use crate::interrupt::stop_on_interrupt;
use crate::json::Answer;
use crate::now::now_ns;
use crate::output::say;
use crate::progress::{Drives, Left, State};
use crate::quantity;
use crate::units;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_archive::catalogue::VolumeId;
use tapewise_archive::damage::{Damaged, Look, Looked};
use tapewise_archive::deliver::shown;
use tapewise_archive::mover::{MoveError, Verified, scrub_order, within};
use tapewise_model::Micros;
use tapewise_run::RunError;

/// What is kept of a verification that was interrupted, and how to go on.
const GO_ON_VERIFY: &str =
    "the catalogue keeps what was found so far; the same command reads all of its volumes again";
const GO_ON_SCRUB: &str = "the catalogue keeps what was found so far; the same command goes on with the volumes that were \
    read longest ago";

/// Read volumes whole, in the order of the tape, and compare every checksum.
///
/// All drives read at once. If a copy is wrong or cannot be read, tapewise reads it again, in another drive if
/// there is one, before the copy counts as lost. A lost copy that turns out to be right counts again. Files that
/// lack a copy get a new one from their other copy.
#[derive(clap::Args, Debug)]
pub struct Verify {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Labels of the volumes.
    #[arg(value_name = "VOLUME", required = true)]
    volumes: Vec<String>,
    /// Print only errors on standard error.
    #[arg(short, long)]
    quiet: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn verify(args: &Verify) -> Result<ExitCode, CliError> {
    let archive = Archive::open(&args.archive)?;
    let volumes = args.volumes.iter();
    let volumes = volumes.map(|label| volume(&archive, label));
    let volumes: Vec<VolumeId> = volumes.collect::<Result<_, CliError>>()?;
    let mut answer = Answer::new("catalog-verify", args.json);
    let on_paper = archive.settings_on_paper()?;
    let order = scrub_order(archive.catalogue.as_ref(), &on_paper, Some(&volumes))?;
    let work = Verifying {
        volumes: &volumes,
        predicted: order.iter().map(|one| one.predicted).sum(),
        budget: Micros::FAR,
    };
    let verified = verify_all(&archive, &work, args.quiet, &mut answer);
    verified.map_err(|error| error.if_interrupted(GO_ON_VERIFY))
}

/// Verify the volumes that were read longest ago, within a budget of drive hours.
///
/// If several volumes were last read on the same day, the one whose cartridge was loaded most often comes first.
/// A volume that cannot be read has its turn again after the others. Run every night, this covers the whole archive in
/// time. tapewise reads each volume as `verify` does.
#[derive(clap::Args, Debug)]
pub struct Scrub {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Drive time it may take, all drives together: hours, or a time such as 90m. At least one volume
    /// is read.
    #[arg(long, value_name = "HOURS", value_parser = quantity::whole_hours(1..=100_000))]
    hours: u32,
    /// Print what would be read, and read nothing.
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
pub fn scrub(args: &Scrub) -> Result<ExitCode, CliError> {
    let archive = Archive::open(&args.archive)?;
    let budget = Micros(i64::from(args.hours) * 3_600_000_000);
    let order = scrub_order(
        archive.catalogue.as_ref(),
        &archive.settings_on_paper()?,
        None,
    )?;
    let chosen = within(order, budget);
    let mut answer = Answer::new("catalog-scrub", args.json);
    if args.dry_run || chosen.is_empty() {
        return say_scrub(&chosen, &mut answer);
    }
    let volumes: Vec<VolumeId> = chosen.iter().map(|scrub| scrub.volume).collect();
    let work = Verifying {
        volumes: &volumes,
        predicted: (chosen.iter()).fold(Micros::ZERO, |sum, one| sum + one.predicted),
        budget,
    };
    let verified = verify_all(&archive, &work, args.quiet, &mut answer);
    verified.map_err(|error| error.if_interrupted(GO_ON_SCRUB))
}

/// Prints what is to be scrubbed, a line for each volume.
fn say_scrub(
    chosen: &[tapewise_archive::mover::Scrub],
    answer: &mut Answer,
) -> Result<ExitCode, CliError> {
    answer.set("planned", Vec::<Value>::new());
    if chosen.is_empty() {
        answer.line("no volume has files")?;
    }
    for scrub in chosen {
        let days = now_ns().saturating_sub(scrub.read_ns) / 86_400_000_000_000;
        let ago = units::count(days as usize, "day");
        let read = match (scrub.is_read, scrub.read_ns) {
            (true, _) => format!("last read {ago} ago"),
            (false, 0) => "never read".to_owned(),
            (false, _) => format!("never read, written {ago} ago"),
        };
        let loads = scrub.loads.map_or_else(String::new, |loads| {
            format!(", loaded {}", units::count(loads as usize, "time"))
        });
        answer.line(&format!(
            "{}: {read}{loads}, about {}",
            scrub.label, scrub.predicted
        ))?;
        answer.push(
            "planned",
            json!({
                "volume": scrub.label,
                "read_unix_ns": scrub.is_read.then_some(scrub.read_ns),
                "loads": scrub.loads,
                "predicted_us": scrub.predicted.0,
            }),
        );
    }
    answer.end()?;
    Ok(ExitCode::SUCCESS)
}

/// What is to be verified.
struct Verifying<'a> {
    volumes: &'a [VolumeId],
    /// Drive time that it is likely to take.
    predicted: Micros,
    /// Drive time after which no further volume is begun.
    budget: Micros,
}

impl Verifying<'_> {
    /// How far it has come, by drive time.
    fn complete(&self, drives: &Drives, state: State) -> State {
        let took = drives.took().min(self.predicted);
        State {
            share: Some(took.as_secs_f64() / self.predicted.as_secs_f64().max(1e-6)),
            left: Some(Left::predicted(self.predicted - took)),
            ..state
        }
    }
}

/// Verifies volumes on all drives, and makes again what was lost.
fn verify_all(
    archive: &Archive,
    work: &Verifying<'_>,
    quiet: bool,
    answer: &mut Answer,
) -> Result<ExitCode, CliError> {
    let cache = archive.cache()?;
    let stop = stop_on_interrupt()?;
    let (mut lost, mut verified, mut lacks, mut told) = (0, 0, false, Ok(()));
    let complete = |drives: &Drives, state| work.complete(drives, state);
    let read = archive.with_measured_mover(&cache, &stop, quiet, &complete, |mover| {
        let mut failed = None;
        let mut to_remake = BTreeSet::new();
        for (id, found) in mover.verify(work.volumes, work.budget)? {
            let label = mover.catalogue.volume(id)?.label;
            match found {
                Ok(found) => {
                    verified += 1;
                    to_remake.extend(found.to_remake.iter().copied());
                    match say_verified(&label, &found, answer) {
                        Ok(more) => lost += more,
                        Err(error) => told = Err(error),
                    }
                }
                Err(error) => {
                    say(format_args!("tapewise: {label}: not verified: {error}\n"));
                    let why = error.to_string();
                    answer.push("not_verified", json!({ "volume": label, "why": why }));
                    if is_interrupted(&error) {
                        return Err(error);
                    }
                    failed.get_or_insert(error);
                }
            }
        }
        match mover.remake(to_remake.into_iter().collect()) {
            Ok(moved) if moved.files == 0 && moved.failed.is_empty() => {}
            Ok(moved) => {
                lacks = !moved.failed.is_empty();
                if let Err(error) = say_remade(archive, &moved, answer) {
                    told = Err(error);
                }
            }
            Err(error) => {
                say(format_args!(
                    "tapewise: the copies that files lack were not made: {error}\n"
                ));
                if is_interrupted(&error) {
                    return Err(error);
                }
                lacks = true;
            }
        }
        Ok(failed)
    });
    told?;
    answer.end()?;
    let failed = read?;
    let is_part = lacks || failed.is_some();
    if let Some(error) = failed.filter(|_| verified == 0) {
        return Err(error.into());
    }
    Ok(match lost {
        0 if is_part => ExitCode::from(Exit::Partial as u8),
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(Exit::Checksum as u8),
    })
}

fn is_interrupted(error: &MoveError) -> bool {
    let MoveError::Run { source, .. } = error else {
        return false;
    };
    matches!(source, RunError::Interrupted)
}

/// Says what was found on a volume; how many copies are lost.
fn say_verified(label: &str, found: &Verified, answer: &mut Answer) -> Result<usize, CliError> {
    let taken_back = match found.taken_back {
        0 => String::new(),
        count => format!(", {count} of them had counted as lost"),
    };
    answer.line(&format!(
        "{label}: {} right ({}){taken_back}, {} without a known checksum, {} that span volumes, {} lost",
        units::count(found.right as usize, "copy").replace("copys", "copies"),
        units::bytes(found.bytes),
        found.unknown,
        found.parts,
        found.lost.len()
    ))?;
    let lost = found.lost.iter();
    let lost = lost.map(|(path, why)| json!({ "path": shown(path), "why": why }));
    answer.push(
        "volumes",
        json!({
            "volume": label,
            "right": found.right,
            "bytes": found.bytes,
            "taken_back": found.taken_back,
            "without_checksum": found.unknown,
            "parts_of_files": found.parts,
            "took_us": found.took.0,
            "lost": lost.collect::<Vec<Value>>(),
        }),
    );
    for (path, why) in &found.lost {
        say(format_args!("tapewise: {label}: {}: {why}\n", shown(path)));
    }
    Ok(found.lost.len())
}

/// That files lack copies, and how they are listed.
pub fn lacking_copies(files: u64) -> String {
    let have = if files == 1 { "has" } else { "have" };
    format!(
        "{} {have} fewer copies on tape than wanted: `catalog find --lacking` lists them",
        units::count(files as usize, "file")
    )
}

/// Look for contradictions in the catalogue, and for files that are damaged in the cache.
///
/// tapewise checks that every file of the cache is there and has its length. With --contents, it also reads the
/// files and compares their checksums. It names each damaged file, and says whether a copy on tape is whole.
/// A catalogue that is older than the cache, or that the cache does not belong to, is refused as `store` refuses it.
/// Nothing is changed.
#[derive(clap::Args, Debug)]
pub struct Check {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Read the files in the cache, and compare their checksums.
    #[arg(long)]
    contents: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn check(args: &Check) -> Result<ExitCode, CliError> {
    let archive = Archive::open_to_read(&args.archive)?;
    archive.check_tie()?;
    let findings = archive.catalogue.integrity()?;
    let mut answer = Answer::new("catalog-check", args.json);
    answer.set("contradictions", Vec::<Value>::new());
    for finding in &findings {
        answer.push("contradictions", finding.to_string());
        answer.line(&finding.to_string())?;
    }
    if findings.is_empty() {
        answer.line("the catalogue does not contradict itself")?;
    }
    let lacking = archive.catalogue.count_lacking()?;
    answer.set("files_lacking_copies", lacking);
    if lacking > 0 {
        answer.line(&lacking_copies(lacking))?;
    }
    let look = if args.contents {
        Look::AtContents
    } else {
        Look::AtLengths
    };
    let looked = archive.look_at_cache(look)?;
    say_looked(&looked, look, &mut answer)?;
    answer.end()?;
    let is_whole = looked.damaged.iter().all(|one| one.is_replaced);
    Ok(match (findings.is_empty(), is_whole) {
        (true, true) => ExitCode::SUCCESS,
        (true, false) => ExitCode::from(Exit::Checksum as u8),
        (false, _) => ExitCode::from(Exit::Failed as u8),
    })
}

/// Says which files are damaged in the cache, and what to do about each.
fn say_looked(looked: &Looked, look: Look, answer: &mut Answer) -> Result<(), CliError> {
    answer.set("damaged", Vec::<Value>::new());
    for Damaged {
        path,
        what,
        is_on_tape,
        is_replaced,
    } in &looked.damaged
    {
        let path = shown(path);
        let help = if *is_replaced {
            "it is an older version, which nobody is given any more"
        } else if *is_on_tape {
            "a copy on tape is whole, and a recall reads that"
        } else {
            "no copy on tape is whole: store it again"
        };
        answer.line(&format!("{path}: in the cache it {what}; {help}"))?;
        let found =
            json!({ "path": path, "what": what, "on_tape": is_on_tape, "replaced": is_replaced });
        answer.push("damaged", found);
    }
    answer.set("cached_files", looked.files);
    let how = match look {
        Look::AtLengths => "have their lengths",
        Look::AtContents => "match their checksums",
    };
    let files = units::count(looked.files as usize, "file");
    if looked.damaged.is_empty() && looked.files > 0 {
        answer.line(&format!("{files} in the cache: all {how}"))?;
    }
    Ok(())
}

/// Write a copy of the catalogue. The file appears when it is complete, and replaces an older copy of that name. Other
/// files and the catalogues of archives are not replaced.
#[derive(clap::Args, Debug)]
pub struct Backup {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// The file to write.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs it.
pub fn backup(args: &Backup) -> Result<ExitCode, CliError> {
    let archive = Archive::open_to_read(&args.archive)?;
    archive.catalogue.backup(&args.file)?;
    let mut answer = Answer::new("catalog-backup", args.json);
    answer.set("file", args.file.display().to_string());
    answer.end()?;
    Ok(ExitCode::SUCCESS)
}

pub(in crate::commands) fn volume(archive: &Archive, label: &str) -> Result<VolumeId, CliError> {
    match archive.catalogue.find_volume(label)? {
        Some((id, _)) => Ok(id),
        None => Err(
            CliError::input(format!("the archive has no volume {label}"))
                .hint("`tapewise catalog volumes` lists them"),
        ),
    }
}
