//! `tapewise recall --archive`: files of an archive, from its cache and its tapes.

mod pull_list;
mod queue;

use super::Recall;
use crate::archive::Archive;
use crate::error::{CliError, Exit};
use crate::interrupt::stop_on_interrupt;
use crate::output::{print, say};
use crate::units;
use queue::Worked;
use std::collections::{BTreeSet, HashSet};
use std::io::{BufReader, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use tapewise_archive::catalogue::{
    Cause, CopyState, FileId, Files, Request, RequestId, RequestState, Requests,
};
use tapewise_archive::deliver::shown;
use tapewise_archive::mover::Recalled;
use tapewise_formats::list::{Name, Separator, read_list};

/// Runs it.
pub fn run(args: &Recall, directory: &Path) -> Result<ExitCode, CliError> {
    let archive = Archive::open(directory)?;
    let files = wanted(args, &archive)?;
    if args.pull_list || args.dry_run {
        pull_list::print(&archive, &files, args.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.json {
        return Err(CliError::input(
            "--json with --archive goes with --pull-list or --dry-run",
        ));
    }
    let failed = |error| CliError::failed(error).of(args.to.display());
    std::fs::create_dir_all(&args.to).map_err(failed)?;
    let to = args.to.canonicalize().map_err(failed)?;
    let stop = stop_on_interrupt()?;
    let asked = queue::ask(&archive, &files, &to)?;
    let usual = Duration::from_secs(archive.settings.batch_window_s.unwrap_or(0));
    let window = args.batch_window.unwrap_or(usual);
    let worked = queue::answered(&archive, &asked, window, &stop, args.quiet)?;
    if let (Some(worked), false) = (&worked, args.quiet) {
        // A volume that was read several times is named once.
        let positions: BTreeSet<&(String, String)> = worked.did.positions.iter().collect();
        for (label, whence) in positions {
            say(format_args!("tapewise: {label}: positions: {whence}\n"));
        }
    }
    told(&archive, &asked, worked.as_ref())?;
    ended(&archive, &asked, &to, worked.as_ref())
}

/// The files that are asked for; one that the archive does not have is an error before anything moves.
fn wanted(args: &Recall, archive: &Archive) -> Result<Vec<FileId>, CliError> {
    let separator = if args.null {
        Separator::Nul
    } else {
        Separator::Newline
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
    let mut seen = HashSet::new();
    let mut missing: Vec<&Name> = Vec::new();
    for wanted in &list.names {
        match archive.catalogue.live_file(&wanted.bytes)? {
            Some(file) if seen.insert(file) => files.push(file),
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

/// What became of the requests, and what this process did for it.
fn told(archive: &Archive, asked: &[RequestId], worked: Option<&Worked>) -> Result<(), CliError> {
    let (mut delivered, mut bytes, mut failed) = (0, 0, 0);
    for &request in asked {
        let request = archive.catalogue.request(request)?;
        let file = archive.catalogue.file(request.file)?.file;
        match request.state {
            RequestState::Delivered => {
                delivered += 1;
                bytes += file.bytes;
            }
            RequestState::Failed | RequestState::Cancelled => {
                failed += 1;
                let why = request.reason.as_deref().unwrap_or(request.state.name());
                say(format_args!("tapewise: {}: {why}\n", shown(&file.path)));
            }
            RequestState::Queued | RequestState::Started => {}
        }
    }
    let how = match worked {
        Some(Worked { did, .. }) => format!(
            "{} without the tape, {}",
            did.at_hand,
            units::count(did.mounts as usize, "mount")
        ),
        None if asked.is_empty() => "the list has no names".to_owned(),
        None => "by another tapewise".to_owned(),
    };
    print(&format!(
        "delivered  {} ({}), {how}\n",
        units::count(delivered, "file"),
        units::bytes(bytes),
    ))?;
    if let Some(Worked { did, for_others }) = worked {
        told_of_work(did, *for_others)?;
    }
    let waiting = asked.len() - delivered - failed;
    if waiting > 0 {
        print(&format!(
            "waiting    {}: the same command goes on\n",
            units::count(waiting, "file")
        ))?;
    }
    Ok(())
}

/// What this process did besides, and what it could not.
fn told_of_work(did: &Recalled, for_others: u64) -> Result<(), CliError> {
    if for_others > 0 {
        print(&format!(
            "for others {}\n",
            units::count(for_others as usize, "file")
        ))?;
    }
    if did.unverified > 0 {
        print(&format!(
            "unverified {}: nobody ever said what their contents sum up to\n",
            units::count(did.unverified as usize, "file")
        ))?;
    }
    for (label, why) in &did.unavailable {
        say(format_args!(
            "tapewise: volume {label}: {why}; what waits for it stays in the queue\n"
        ));
    }
    Ok(())
}

/// The exit code where nothing arrived: a wrong checksum says more than a tape that could not be read.
fn of_causes(archive: &Archive, missing: &[Request]) -> Result<Exit, CliError> {
    let mut exit = Exit::Failed;
    for request in missing {
        let copies = archive.catalogue.file(request.file)?.copies;
        match request.cause {
            Some(Cause::WrongContents) => return Ok(Exit::Checksum),
            Some(Cause::Unreadable) => exit = Exit::Medium,
            Some(Cause::NoCopy) if copies.iter().all(|copy| copy.state == CopyState::Lost) => {
                exit = Exit::Medium;
            }
            _ => {}
        }
    }
    Ok(exit)
}

/// How it ended: what is to go to a destination that is full waits, ours and those of others.
fn ended(
    archive: &Archive,
    asked: &[RequestId],
    to: &Path,
    worked: Option<&Worked>,
) -> Result<ExitCode, CliError> {
    let mut missing = Vec::new();
    for &request in asked {
        let request = archive.catalogue.request(request)?;
        if request.state != RequestState::Delivered {
            missing.push(request);
        }
    }
    let is_open = |one: &Request| matches!(one.state, RequestState::Queued | RequestState::Started);
    for (place, why) in worked.iter().flat_map(|worked| &worked.did.full) {
        if place == to.as_os_str().as_bytes() && missing.iter().any(is_open) {
            return Err(CliError::failed(why).hint(
                "make room: what has arrived is whole, the rest stays in the queue: the same command goes on",
            ));
        }
        say(format_args!(
            "tapewise: {}: {why}; what is to go there stays in the queue\n",
            shown(place)
        ));
    }
    if missing.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let exit = if missing.len() < asked.len() {
        Exit::Partial
    } else {
        of_causes(archive, &missing)?
    };
    let said = format!("{} not delivered", units::count(missing.len(), "file"));
    Err(CliError::with(exit, said).hint("the same command tries those again, and only those"))
}
