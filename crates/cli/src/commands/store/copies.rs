//! Copies that files of the archive lack, made from their other copies.

use super::{Store, say_files};
use crate::archive::Archive;
use crate::error::CliError;
use crate::json::Answer;
use crate::output::say;
use crate::units;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tapewise_archive::cache::Cache;
use tapewise_archive::catalogue::FileId;
use tapewise_archive::mover::Moved;

/// Says of how many files more copies are wanted than they were stored with.
pub fn say_wanted(files: usize, answer: &mut Answer) -> Result<(), CliError> {
    if files == 0 {
        return Ok(());
    }
    answer.set("more_copies", files);
    answer.line(&format!(
        "copies     {} of these {} to get further copies",
        units::count(files, "file"),
        if files == 1 { "is" } else { "are" }
    ))
}

/// Files that lack copies, and are not in the cache, from where `to_tape` writes them.
fn on_tape_alone(archive: &Archive, files: &[FileId]) -> Result<Vec<FileId>, CliError> {
    let mut found = Vec::new();
    for &file in files {
        let entry = archive.catalogue.file(file)?;
        if entry.cached.is_none() && entry.lacks() > 0 {
            found.push(file);
        }
    }
    Ok(found)
}

/// Makes the copies that files on tape alone lack from their others; whether some still lack one.
pub fn make(
    archive: &Archive,
    cache: &Cache,
    stop: &Arc<AtomicBool>,
    args: &Store,
    wanted: &[FileId],
    answer: &mut Answer,
) -> Result<bool, CliError> {
    let files = on_tape_alone(archive, wanted)?;
    if files.is_empty() {
        return Ok(false);
    }
    if args.later {
        say(format_args!(
            "tapewise: {} on tape alone: the same command without --later, or `tapewise catalog scrub`, makes further copies\n",
            units::count(files.len(), "file")
        ));
        return Ok(true);
    }
    let made = archive.with_mover(cache, stop, args.quiet, |mover| mover.remake(files));
    let made = made.map_err(|error| error.or_hint("the same command goes on"))?;
    say_remade(archive, &made, answer)?;
    Ok(!made.failed.is_empty())
}

/// Says what was made again.
pub fn say_remade(archive: &Archive, moved: &Moved, answer: &mut Answer) -> Result<(), CliError> {
    answer.set("made_again", moved.files);
    answer.line(&format!(
        "made again {} from their other copies",
        units::count(moved.files as usize, "file")
    ))?;
    say_files(archive, &moved.failed, "has no new copy")
}
