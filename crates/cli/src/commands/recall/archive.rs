//! `tapewise recall --archive`: files of an archive, from its cache and its tapes.

use super::Recall;
use crate::archive::{Archive, now_ns};
use crate::error::{CliError, Exit};
use crate::interrupt::stop_on_interrupt;
use crate::output::{print, say};
use crate::units;
use std::io::{BufReader, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;
use tapewise_archive::catalogue::{FileId, Files, NewRecall, Requests, Terms};
use tapewise_archive::deliver::shown;
use tapewise_archive::mover::Recalled;
use tapewise_formats::list::{Name, Separator, read_list};

/// Runs it.
pub fn run(args: &Recall, directory: &Path) -> Result<ExitCode, CliError> {
    let archive = Archive::open(directory)?;
    let files = wanted(args, &archive)?;
    std::fs::create_dir_all(&args.to)
        .map_err(|error| CliError::failed(error).of(args.to.display()))?;
    let to = args
        .to
        .canonicalize()
        .map_err(|error| CliError::failed(error).of(args.to.display()))?;
    let cache = archive.cache()?;
    let stop = stop_on_interrupt()?;
    let recalls: Vec<NewRecall> = files
        .iter()
        .map(|&file| NewRecall {
            file,
            terms: Terms::default(),
            destination: Some(to.as_os_str().as_bytes().to_vec()),
        })
        .collect();
    let recalled = archive.with_mover(&cache, &stop, args.quiet, |mover| {
        // What an interrupted run of the same command still wants is not asked for twice.
        let waiting = archive.catalogue.unanswered()?;
        let is_new = |recall: &&NewRecall| {
            !waiting
                .iter()
                .any(|old| old.file == recall.file && old.place == recall.destination)
        };
        let new: Vec<NewRecall> = recalls.iter().filter(is_new).cloned().collect();
        archive.catalogue.submit(&new, now_ns())?;
        mover.recall()
    })?;
    told(&archive, &recalled)
}

/// The files that are asked for; one that the archive does not have is an error before anything moves.
fn wanted(args: &Recall, archive: &Archive) -> Result<Vec<FileId>, CliError> {
    let separator = match args.null {
        true => Separator::Nul,
        false => Separator::Newline,
    };
    let (name, list) = match args.files_from.as_deref() {
        Some(path) if path != Path::new("-") => {
            let file = std::fs::File::open(path)
                .map_err(|error| CliError::input(error).of(path.display()))?;
            (
                path.display().to_string(),
                read_list(BufReader::new(file), separator),
            )
        }
        _ => {
            let stdin = std::io::stdin();
            if stdin.is_terminal() {
                return Err(CliError::input(
                    "nothing to read: give names with --files-from or on standard input",
                )
                .hint("`tapewise catalog find` lists what there is"));
            }
            (
                "standard input".to_owned(),
                read_list(BufReader::new(stdin), separator),
            )
        }
    };
    let list = list.map_err(|error| CliError::input(error).of(&name))?;
    let mut files = Vec::new();
    let mut missing: Vec<&Name> = Vec::new();
    for wanted in &list.names {
        match archive.catalogue.live_file(&wanted.bytes)? {
            Some(file) if !files.contains(&file) => files.push(file),
            Some(_) => {}
            None => missing.push(wanted),
        }
    }
    match missing.first() {
        None => Ok(files),
        Some(first) => Err(CliError::input(format!(
            "{name}: line {}: {} is not in the archive, {} in all; nothing was read",
            first.line,
            shown(&first.bytes),
            units::count(missing.len(), "name")
        ))
        .hint("`tapewise catalog find PATTERN` says what there is")),
    }
}

fn told(archive: &Archive, recalled: &Recalled) -> Result<ExitCode, CliError> {
    print(&format!(
        "delivered  {} ({}), {} without the tape, {}\n",
        units::count(recalled.delivered as usize, "file"),
        units::bytes(recalled.bytes),
        recalled.at_hand,
        units::count(recalled.mounts as usize, "mount"),
    ))?;
    if recalled.unverified > 0 {
        print(&format!(
            "unverified {}: nobody ever said what their contents sum up to\n",
            units::count(recalled.unverified as usize, "file")
        ))?;
    }
    for (request, why) in &recalled.failed {
        let file = archive.catalogue.request(*request)?.file;
        let path = archive.catalogue.file(file)?.file.path;
        say(format_args!("tapewise: {}: {why}\n", shown(&path)));
    }
    for (label, why) in &recalled.unavailable {
        say(format_args!(
            "tapewise: volume {label}: {why}; what waits for it stays in the queue\n"
        ));
    }
    Ok(
        match recalled.failed.is_empty() && recalled.unavailable.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(Exit::Partial as u8),
        },
    )
}
