//! The pull list: which cartridges a recall needs, in the order in which they go in; and, without anything moving,
//! when each file is likely to be there.

use super::there::Looked;
use crate::archive::Archive;
use crate::error::CliError;
use crate::now::now_ns;
use crate::{json, output, units};
use serde::Serialize;
use std::collections::HashSet;
use tapewise_archive::catalogue::{FileId, RequestKind};
use tapewise_archive::deliver::shown;
use tapewise_archive::pull_list::{Asking, PullList, pull_list};

/// The list as JSON.
#[derive(Serialize)]
struct Document<'a> {
    /// Files that are at the destination already.
    there: usize,
    /// Files that need no cartridge.
    at_hand: usize,
    cartridges: Vec<PullRow<'a>>,
    files: Vec<FileRow>,
    /// Cartridges that are disabled, with the files that wait until they are put into use again.
    disabled: Vec<DisabledRow<'a>>,
}

#[derive(Serialize)]
struct DisabledRow<'a> {
    volume: &'a str,
    why: &'a str,
    paths: Vec<String>,
}

#[derive(Serialize)]
struct PullRow<'a> {
    volume: &'a str,
    files: usize,
    bytes: u64,
    drive_time_us: i64,
    why: String,
}

#[derive(Serialize)]
struct FileRow {
    path: String,
    soonest_us: i64,
    latest_us: i64,
}

/// Prints what the recall of these files needs, with `dry_run` why and when too; nothing is asked for.
pub fn print(
    archive: &Archive,
    looked: &Looked,
    dry_run: bool,
    as_json: bool,
) -> Result<(), CliError> {
    let list = of_files(archive, &looked.missing)?;
    for (file, why) in &looked.taken {
        let path = path(archive, *file)?;
        output::say(format_args!("tapewise: {path}: {why}\n"));
    }
    if as_json {
        let cartridges = list.pulls.iter().map(|pull| PullRow {
            volume: &pull.label,
            files: pull.files,
            bytes: pull.bytes,
            drive_time_us: pull.drive_time.0,
            why: pull.why.to_string(),
        });
        let files = list.expected.iter().map(|expected| {
            Ok(FileRow {
                path: path(archive, expected.file)?,
                soonest_us: expected.soonest.0,
                latest_us: expected.latest.0,
            })
        });
        let disabled = list.disabled.iter().map(|(what, files)| {
            let paths = files.iter().map(|&file| path(archive, file));
            Ok(DisabledRow {
                volume: &what.name,
                why: &what.why,
                paths: paths.collect::<Result<_, CliError>>()?,
            })
        });
        let document = Document {
            there: looked.there.len(),
            at_hand: list.at_hand,
            cartridges: cartridges.collect(),
            files: files.collect::<Result<_, CliError>>()?,
            disabled: disabled.collect::<Result<_, CliError>>()?,
        };
        return json::print("pull-list", &document);
    }
    let mut text = words(archive, &list);
    if !looked.there.is_empty() {
        text.push_str(&format!(
            "{} at the destination already\n",
            units::count(looked.there.len(), "file")
        ));
    }
    if dry_run {
        text.push_str(&when_and_why(archive, &list)?);
    }
    output::print(&text)
}

/// Why each cartridge is read when it is, and when each file is likely to be there.
fn when_and_why(archive: &Archive, list: &PullList) -> Result<String, CliError> {
    let mut text = String::new();
    for (pull, nth) in list.pulls.iter().zip(1..) {
        text.push_str(&format!("{nth}. {}, because {}\n", pull.label, pull.why));
    }
    if !list.expected.is_empty() {
        text.push_str(
            "when each file is likely to arrive, from now: if nothing else waits, and after all that waits\n",
        );
    }
    for expected in &list.expected {
        let (soonest, latest) = (expected.soonest.to_string(), expected.latest.to_string());
        let path = path(archive, expected.file)?;
        text.push_str(&format!("{soonest:>8} to {latest:>8}  {path}\n"));
    }
    Ok(text)
}

fn path(archive: &Archive, file: FileId) -> Result<String, CliError> {
    Ok(shown(&archive.catalogue.file(file)?.file.path))
}

/// What a person has to put in for all that is in the queue: said before anything moves.
pub fn say_of_queue(archive: &Archive) -> Result<(), CliError> {
    let open = archive.catalogue.unanswered()?;
    let mut seen = HashSet::new();
    let files: Vec<FileId> = open
        .iter()
        .filter(|request| request.kind == RequestKind::Recall && seen.insert(request.file))
        .map(|request| request.file)
        .collect();
    let list = of_files(archive, &files)?;
    output::say(words(archive, &list));
    Ok(())
}

fn of_files(archive: &Archive, files: &[FileId]) -> Result<PullList, CliError> {
    let asking = Asking {
        files,
        now_ns: now_ns(),
        drives: archive.settings.drives.len(),
        robots: archive.settings.changers.len().max(1),
    };
    let list = pull_list(
        archive.catalogue.as_ref(),
        asking,
        &archive.settings_on_paper()?,
    )?;
    for &file in &list.stranded {
        let path = path(archive, file)?;
        output::say(format_args!(
            "tapewise: {path}: no copy of the file is whole\n"
        ));
    }
    Ok(list)
}

/// A line for each cartridge.
fn words(archive: &Archive, list: &PullList) -> String {
    let drive = match archive.settings.drives.as_slice() {
        [drive] => drive.as_str(),
        _ => "a drive",
    };
    let by_hand = archive.is_loaded_by_hand();
    let mut text = String::new();
    for pull in &list.pulls {
        let label = &pull.label;
        let move_it = if by_hand {
            format!("insert {label} into {drive}")
        } else {
            format!("{label}, mounted by the robot")
        };
        text.push_str(&format!(
            "{move_it}: {}, {}, about {}\n",
            units::count(pull.files, "file"),
            units::bytes(pull.bytes),
            pull.drive_time
        ));
    }
    for (what, files) in &list.disabled {
        text.push_str(&format!(
            "not read now: {}; {what}\n",
            units::count(files.len(), "file")
        ));
    }
    if list.at_hand > 0 {
        text.push_str(&format!(
            "{} in the cache, or empty: no cartridge needed\n",
            units::count(list.at_hand, "file")
        ));
    }
    text
}
