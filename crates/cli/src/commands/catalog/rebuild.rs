//! `tapewise catalog rebuild`: the catalogue again, from what stands on the cartridges.

use super::tend::lacking_copies;
use crate::archive::Archive;
use crate::error::{CliError, Exit};
use crate::interrupt::stop_on_interrupt;
use crate::json::Answer;
use crate::output::say;
use crate::units;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_archive::catalogue::Rejoined;
use tapewise_archive::deliver::shown;
use tapewise_archive::mover::{Others, ReadIn, Rebuilt};
use tapewise_archive::open::read_settings;

/// Read all cartridges of the library and make the catalogue again from what is on them.
///
/// If the catalogue is missing or empty, tapewise makes a new one. tapewise reads every cartridge of ours from end
/// to end, on all drives: names, times, checksums, versions and the number of copies are on the tape. It adds what
/// it finds to what the catalogue knows. Nothing that the catalogue knows is lost, so the same command brings an
/// older catalogue or a restored backup up to date. If a file spans several cartridges, tapewise joins its parts
/// when all of them have been read, and lists the parts that are missing. It passes over blank cartridges and those
/// of others. Files in the cache that the catalogue does not know go to cache/quarantine of the archive.
#[derive(clap::Args, Debug)]
pub struct Rebuild {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Labels of the cartridges to read [default: all of the library]. Without a robot, name them.
    #[arg(value_name = "VOLUME")]
    volumes: Vec<String>,
    /// Print only errors on standard error.
    #[arg(short, long)]
    quiet: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// After an interruption.
pub(super) const GO_ON: &str = "the catalogue has the cartridges that were read to their end; the same command reads all again, \
    or name those that are left";

/// Runs it.
pub fn run(args: &Rebuild) -> Result<ExitCode, CliError> {
    // Before a lost catalogue is made anew: without cartridges it would stay empty.
    if args.volumes.is_empty() && read_settings(&args.archive)?.changers.is_empty() {
        let archive = args.archive.display();
        let what = "no robot says which cartridges there are; nothing was read or changed";
        return Err(CliError::input(what).hint(format!(
            "name them: `tapewise catalog rebuild --archive {archive} VOLUME...` asks you for one after the other"
        )));
    }
    let archive = Archive::open_to_rebuild(&args.archive)?;
    let (cache, _) = archive.reconcile()?;
    let stop = stop_on_interrupt()?;
    let copies = archive.settings.copies;
    let read = archive.with_mover(&cache, &stop, args.quiet, |mover| {
        let labels = if args.volumes.is_empty() {
            mover.cartridges()
        } else {
            args.volumes.clone()
        };
        mover.read_in(&labels, Others::Pass, copies)
    });
    let rebuilt = read.map_err(|error| error.if_interrupted(GO_ON))?;
    if rebuilt.volumes.is_empty() {
        return Err(CliError::failed(
            "the libraries hold no cartridge: nothing was read",
        ));
    }
    let mut answer = Answer::new("catalog-rebuild", args.json);
    let told = told(rebuilt, &mut answer);
    let lacking = archive.catalogue.count_lacking()?;
    answer.set("files_lacking_copies", lacking);
    if lacking > 0 {
        answer.line(&lacking_copies(lacking))?;
    }
    answer.end()?;
    told
}

/// Says what was read in, and what could not be joined: then a part is done.
pub(super) fn told(rebuilt: Rebuilt, answer: &mut Answer) -> Result<ExitCode, CliError> {
    let mut is_whole = rebuilt.left_out.is_empty();
    let mut failed = None;
    let mut is_added = false;
    for (label, read) in rebuilt.volumes {
        match read {
            ReadIn::Added(added) => {
                is_added = true;
                is_whole &= added.troubles.is_empty();
                for trouble in &added.troubles {
                    say(format_args!("tapewise: {label}: {trouble}\n"));
                }
                for (path, why) in &added.left_out {
                    let path = shown(path);
                    say(format_args!("tapewise: {label}: {path}: left out: {why}\n"));
                }
                let (joined, left_out) = (&added.joined, added.left_out.len());
                answer.line(&line(&label, joined, left_out))?;
                let mut document = document(&label, joined, left_out);
                document["left_out_files"] = added.left_out.iter().map(left_out_file).collect();
                document["troubles"] = added.troubles.into();
                answer.push("volumes", document);
            }
            ReadIn::Passed(why) => {
                answer.line(&format!("{label}: passed over: {why}"))?;
                answer.push("passed_over", json!({ "volume": label, "why": why }));
            }
            ReadIn::Failed(error) => {
                say(format_args!("tapewise: {label}: not added: {error}\n"));
                let why = error.to_string();
                answer.push("failed", json!({ "volume": label, "why": why }));
                failed.get_or_insert(error);
            }
        }
    }
    let joined = &rebuilt.joined;
    if joined.files + joined.copies + joined.known > 0 {
        answer.line(&line("files in parts", joined, rebuilt.left_out.len()))?;
        answer.set(
            "files_in_parts",
            document("", joined, rebuilt.left_out.len()),
        );
    }
    for (path, why) in &rebuilt.left_out {
        say(format_args!("tapewise: {}: left out: {why}\n", shown(path)));
    }
    let left_out: Value = rebuilt.left_out.iter().map(left_out_file).collect();
    answer.set("left_out_files_in_parts", left_out);
    match failed {
        Some(error) if !is_added => Err(CliError::from(error).hint("nothing was added")),
        None if is_whole => Ok(ExitCode::SUCCESS),
        _ => Ok(ExitCode::from(Exit::Partial as u8)),
    }
}

fn left_out_file((path, why): &(Vec<u8>, String)) -> Value {
    json!({ "path": shown(path), "why": why })
}

/// What came of a cartridge, in a line.
fn line(what: &str, joined: &Rejoined, left_out: usize) -> String {
    let mut line = format!(
        "{what}: {} added, {left_out} left out",
        units::count(joined.files as usize, "file")
    );
    let counts = [
        (
            joined.copies,
            "further copy of a known file",
            "further copies of known files",
        ),
        (joined.versions, "older version", "older versions"),
        (joined.known, "known before", "known before"),
        (
            joined.displaced,
            "copy lost: something else lies in its place",
            "copies lost: something else lies in their place",
        ),
    ];
    for (count, one, many) in counts.into_iter().filter(|(count, ..)| *count > 0) {
        line.push_str(&format!(
            ", {count} {}",
            if count == 1 { one } else { many }
        ));
    }
    line
}

/// The same for a program; without a volume for files in parts.
fn document(volume: &str, joined: &Rejoined, left_out: usize) -> Value {
    json!({
        "volume": Some(volume).filter(|volume| !volume.is_empty()),
        "files_added": joined.files,
        "left_out": left_out,
        "copies": joined.copies,
        "versions": joined.versions,
        "known_before": joined.known,
        "displaced": joined.displaced,
    })
}
