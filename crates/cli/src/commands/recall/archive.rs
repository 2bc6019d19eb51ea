//! `tapewise recall --archive`: files of an archive, from its cache and its tapes.

mod pull_list;
mod queue;
mod there;

use super::Recall;
use super::common::is_no_file;
use crate::archive::Archive;
use crate::buckets;
use crate::commands::store::volumes_and_why;
use crate::error::{CliError, Exit};
use crate::interrupt::stop_on_interrupt;
use crate::json::Answer;
use crate::names::as_text;
use crate::output::say;
use crate::units;
use crate::watch::lost;
use queue::Worked;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tapewise::batch::Listed;
use tapewise_archive::catalogue::{
    Cause, CopyState, FileId, Pattern, Request, RequestId, RequestState, Terms,
};
use tapewise_archive::deliver::shown;
use tapewise_archive::mover::{FullPlace, Place, Recalled};
use tapewise_archive::record::File;
use tapewise_formats::name_match::{MatchBy, Paths};
use there::Looked;

/// Runs it.
pub fn run(args: &Recall, directory: &Path) -> Result<ExitCode, CliError> {
    let archive = Archive::open(directory)?;
    let files = wanted(args, &archive)?;
    let stop = stop_on_interrupt()?;
    let look = |files, place: &Place| there::look(&archive, files, place, &stop, args.quiet);
    if args.pull_list || args.dry_run {
        let looked = match existing(args)? {
            Some(place) => look(files, &place)?,
            None => Looked::missing(files),
        };
        pull_list::print(&archive, &looked, args.dry_run, args.json)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (to, place) = destination(args.to())?;
    let looked = look(files, &place)?;
    let terms = Terms {
        user: args.user.clone().unwrap_or_default(),
        activity: args.activity.clone().unwrap_or_default(),
        ..Terms::default()
    };
    let asked = queue::ask(&archive, &looked.missing, &terms, &to)?;
    let usual = Duration::from_secs(archive.settings.batch_window_s.unwrap_or(0));
    let window = args.batch_window.unwrap_or(usual);
    let worked = queue::answered(&archive, &asked.requests, window, &stop, args.quiet);
    queue::say_disabled(&archive, &asked.requests)?;
    let withdrawn = if args.keep_queued {
        HashSet::new()
    } else {
        asked.withdraw(&archive)?
    };
    let mut answer = Answer::new("recall", args.json);
    let end = End {
        archive: &archive,
        looked: &looked,
        asked: &asked.requests,
        withdrawn,
    };
    let worked = match worked {
        Ok(worked) => worked,
        Err(error) => {
            end.tell(None, error.message(), &mut answer)?;
            answer.end()?;
            // Requests were entered, and files may be there: input alone is not to blame.
            let error = match error.exit() {
                Exit::Input if end.is_any_there()? => error.with_exit(Exit::Partial),
                Exit::Input => error.with_exit(Exit::Failed),
                _ => error,
            };
            return Err(error.or_hint(super::common::GO_ON));
        }
    };
    if let (Some(worked), false) = (&worked, args.quiet) {
        // A volume that was read several times is named once.
        let positions: BTreeSet<&(String, String)> = worked.did.positions.iter().collect();
        for (label, source) in positions {
            say(format_args!("tapewise: {label}: positions: {source}\n"));
        }
    }
    let how = match &worked {
        None if !looked.there.is_empty() => "there already".to_owned(),
        Some(Worked { did, .. }) => format!(
            "{} without the tape, {}",
            did.at_hand,
            units::count(did.mounts as usize, "mount")
        ),
        None if !looked.taken.is_empty() => "no tape was moved".to_owned(),
        None if asked.requests.is_empty() => "the list has no names".to_owned(),
        None => "by another tapewise".to_owned(),
    };
    let kept_back = worked.as_ref().map_or_else(String::new, |worked| {
        let full = worked.did.full.iter().find(|full| is_for(full, &to));
        let unavailable = worked.did.unavailable.iter();
        let unavailable = unavailable.map(|(label, why)| format!("volume {label}: {why}"));
        full.map_or_else(
            || unavailable.collect::<Vec<_>>().join("; "),
            |full| full.why.clone(),
        )
    });
    end.tell(Some(how), &kept_back, &mut answer)?;
    if let Some(Worked { did, for_others }) = &worked {
        told_of_work(did, *for_others, &mut answer)?;
    }
    answer.end()?;
    end.ended(&to, worked.as_ref())
}

/// Where the files are to appear, with the one name that the queue knows it by: a directory, made if it is missing, or a
/// bucket.
fn destination(to: &Path) -> Result<(PathBuf, Place), CliError> {
    let buckets = buckets::of_environment();
    if let Some(bucket) = buckets::named(&buckets, to)? {
        let name = PathBuf::from(bucket.url().to_string());
        return Ok((name, Place::Bucket(bucket)));
    }
    is_no_file(to)?;
    let failed = |error| CliError::failed(error).of(to.display());
    std::fs::create_dir_all(to).map_err(failed)?;
    let name = to.canonicalize().map_err(failed)?;
    let place = Place::open(name.as_os_str().as_bytes(), &buckets).map_err(CliError::failed)?;
    Ok((name, place))
}

/// The destination, if one was given that is there.
fn existing(args: &Recall) -> Result<Option<Place>, CliError> {
    let Some(to) = args.to.as_deref() else {
        return Ok(None);
    };
    if args.is_to_bucket() || to.is_dir() {
        return Ok(Some(destination(to)?.1));
    }
    is_no_file(to)?;
    Ok(None)
}

/// The files that are asked for; one that the archive does not have is an error before anything moves.
fn wanted(args: &Recall, archive: &Archive) -> Result<Vec<FileId>, CliError> {
    if args.all_files {
        let every = every_file(archive)?.into_iter();
        return Ok(every.map(|(file, _)| file).collect());
    }
    let hint = "--all-files recalls everything; `tapewise catalog find` lists what there is";
    let (name, names) = args.list(hint)?;
    let matching = args.matching.matching();
    let is_plain = matches!(matching.by, MatchBy::Auto | MatchBy::Path);
    let mut files = Vec::new();
    let mut seen = HashSet::new();
    if is_plain && matching.strip_prefix.is_none() {
        let mut is_exact = true;
        for wanted in &names {
            match archive.catalogue.live_file(&wanted.bytes)? {
                Some(file) if seen.insert(file) => files.push(file),
                Some(_) => {}
                None => is_exact = false,
            }
        }
        if is_exact {
            return Ok(files);
        }
    }
    // Some names are not paths as they stand: all paths are looked at.
    let every = every_file(archive)?;
    // A name may be no text: such bytes are seen as they are printed.
    let (every, paths): (Vec<FileId>, Vec<Vec<u8>>) = every.into_iter().unzip();
    let paths = Paths::new(paths.iter().map(|path| as_text(path)).collect());
    let listed = Listed {
        list: &name,
        names: &names,
        ignore_missing: args.ignore_missing,
        matching: &matching,
    };
    let found = listed.among("the archive", &paths).map_err(|error| {
        CliError::from(error).or_hint("`tapewise catalog find PATTERN` lists what there is")
    })?;
    for notice in &found.notices {
        say(format_args!("tapewise: {notice}\n"));
    }
    Ok(found.files.into_iter().map(|at| every[at]).collect())
}

/// Every live file of the archive.
fn every_file(archive: &Archive) -> Result<Vec<(FileId, Vec<u8>)>, CliError> {
    const AT_ONCE: usize = 10_000;
    let everything = Pattern::Prefix(Vec::new());
    let mut files = Vec::new();
    let mut after: Option<Vec<u8>> = None;
    loop {
        let found = archive
            .catalogue
            .find(&everything, after.as_deref(), AT_ONCE)?;
        let is_last = found.len() < AT_ONCE;
        after = found.last().map(|last| last.path.clone());
        files.extend(found.into_iter().map(|one| (one.file, one.path)));
        if is_last {
            return Ok(files);
        }
    }
}

/// The end of a recall.
struct End<'a> {
    archive: &'a Archive,
    /// What was at the destination before.
    looked: &'a Looked,
    asked: &'a [RequestId],
    /// Requests that this run took back, because it could not have them answered.
    withdrawn: HashSet<RequestId>,
}

impl End<'_> {
    /// What became of the requests, how those that were delivered were, and what kept those back that were withdrawn.
    fn tell(
        &self,
        how: Option<String>,
        kept_back: &str,
        answer: &mut Answer,
    ) -> Result<(), CliError> {
        answer.set("delivered", Vec::<Value>::new());
        answer.set("failed", Vec::<Value>::new());
        let (mut delivered, mut bytes, mut waiting) = (0, 0, 0);
        let mut is_delivered = |file: &File, answer: &mut Answer| {
            delivered += 1;
            bytes += file.bytes;
            let path = shown(&file.path);
            answer.push("delivered", json!({ "path": path, "bytes": file.bytes }));
        };
        for &file in &self.looked.there {
            is_delivered(&self.archive.catalogue.file(file)?.file, answer);
        }
        for (file, why) in &self.looked.taken {
            let path = shown(&self.archive.catalogue.file(*file)?.file.path);
            say(format_args!("tapewise: {path}: {why}\n"));
            answer.push("failed", json!({ "path": path, "why": why }));
        }
        for &request in self.asked {
            let request = self.archive.catalogue.request(request)?;
            let file = self.archive.catalogue.file(request.file)?.file;
            match request.state {
                RequestState::Delivered => is_delivered(&file, answer),
                RequestState::Cancelled if self.withdrawn.contains(&request.id) => {
                    let path = shown(&file.path);
                    let why = without_path(kept_back, &path);
                    answer.push("failed", json!({ "path": path, "why": why }));
                }
                RequestState::Failed | RequestState::Cancelled => {
                    let why = request.reason.as_deref();
                    let why = why.unwrap_or("somebody else cancelled the recall");
                    let path = shown(&file.path);
                    let why = without_path(why, &path);
                    say(format_args!("tapewise: {path}: {why}\n"));
                    answer.push("failed", json!({ "path": path, "why": why }));
                }
                RequestState::Queued | RequestState::Started => waiting += 1,
            }
        }
        let how = how.map(|how| format!(", {how}")).unwrap_or_default();
        answer.set("queued", waiting);
        answer.set("withdrawn", self.withdrawn.len());
        answer.line(&format!(
            "delivered  {} ({}){how}",
            units::count(delivered, "file"),
            units::bytes(bytes),
        ))?;
        if waiting > 0 {
            answer.line(&format!(
                "queued     {}: the next recall reads them too; `tapewise recall cancel --archive {}` removes them",
                units::count(waiting, "file"),
                self.archive.directory().display()
            ))?;
        }
        if !self.withdrawn.is_empty() {
            answer.line(&format!(
                "withdrawn  {} that did not arrive; nothing of this recall stays in the queue",
                units::count(self.withdrawn.len(), "file"),
            ))?;
        }
        Ok(())
    }

    /// Whether a file is where it is to be.
    fn is_any_there(&self) -> Result<bool, CliError> {
        for &request in self.asked {
            if self.archive.catalogue.request(request)?.state == RequestState::Delivered {
                return Ok(true);
            }
        }
        Ok(!self.looked.there.is_empty())
    }

    /// The exit code.
    fn ended(&self, to: &Path, worked: Option<&Worked>) -> Result<ExitCode, CliError> {
        let mut missing = Vec::new();
        for &request in self.asked {
            let request = self.archive.catalogue.request(request)?;
            if request.state != RequestState::Delivered {
                missing.push(request);
            }
        }
        let is_open = |one: &Request| match one.state {
            RequestState::Queued | RequestState::Started => true,
            _ => self.withdrawn.contains(&one.id),
        };
        for full in worked.iter().flat_map(|worked| &worked.did.full) {
            if is_for(full, to) && missing.iter().any(is_open) {
                return Err(CliError::failed(&full.why).hint(
                    "put this right: what has arrived is complete; the same command recalls the rest",
                ));
            }
            say(format_args!(
                "tapewise: {full}; what is to go there stays in the queue\n"
            ));
        }
        let Looked { there, taken, .. } = self.looked;
        let failed = missing.len() + taken.len();
        if failed == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        let exit = if failed < self.asked.len() + there.len() + taken.len() {
            Exit::Partial
        } else if missing.is_empty() {
            Exit::Refused
        } else {
            of_causes(self.archive, &missing)?
        };
        let said = format!("{} not delivered", units::count(failed, "file"));
        Err(CliError::with(exit, said).hint(if taken.is_empty() {
            "the same command tries these again, and only these"
        } else {
            "move away what has their names, or recall to another place: the same command tries these again, and only these"
        }))
    }
}

/// Whether it is this destination that takes nothing more.
fn is_for(full: &FullPlace, to: &Path) -> bool {
    full.place.as_deref() == Some(to.as_os_str().as_bytes())
}

/// What this process did besides, and what it could not.
fn told_of_work(did: &Recalled, for_others: u64, answer: &mut Answer) -> Result<(), CliError> {
    answer.set("mounts", did.mounts);
    answer.set("without_the_tape", did.at_hand);
    answer.set("for_others", for_others);
    answer.set("unverified", did.unverified);
    answer.set("unavailable", volumes_and_why(&did.unavailable));
    answer.set("lost_copies", did.lost);
    if for_others > 0 {
        answer.line(&format!(
            "for others {}",
            units::count(for_others as usize, "file")
        ))?;
    }
    if did.unverified > 0 {
        answer.line(&format!(
            "unverified {}: no checksum of these files is known",
            units::count(did.unverified as usize, "file")
        ))?;
    }
    if did.lost > 0 {
        say(format_args!("tapewise: {}\n", lost(did.lost)));
    }
    for (label, why) in &did.unavailable {
        say(format_args!(
            "tapewise: volume {label}: {why}; files with another copy were read from that one\n"
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

/// A reason without the path that some begin with, for where the path stands beside it.
fn without_path<'w>(why: &'w str, path: &str) -> &'w str {
    let rest = why.strip_prefix(path);
    rest.and_then(|rest| rest.strip_prefix(": ")).unwrap_or(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stands_once_beside_a_reason() {
        let why = "s/a: cannot make its directory: Not a directory";
        assert_eq!(
            without_path(why, "s/a"),
            "cannot make its directory: Not a directory"
        );
        assert_eq!(without_path(why, "s"), why);
    }
}
