//! The archive's queue: several ask, one process works, and each waits for its own answers.
//!
//! Whoever has the archive's cache carries out all that is asked for, by whomever, and looks for more
//! between volumes. The others look at the catalogue; when the cache is free and they still have no
//! answer, the next of them goes on with the work.

use super::pull_list;
use crate::archive::Archive;
use crate::error::CliError;
use crate::gather::{LOOK, gather, go_on};
use crate::now::now_ns;
use crate::output::say;
use crate::progress::{Drives, State};
use crate::units;
use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tapewise_archive::cache::Cache;
use tapewise_archive::catalogue::{FileId, NewRecall, RequestId, RequestState, Terms};
use tapewise_archive::mover::Recalled;
use tapewise_archive::pull_list::disabled;

/// What a run asks the archive for.
pub struct Asked {
    /// The requests. Some may have been in the queue before: an earlier run, or another process, asked for them.
    pub requests: Vec<RequestId>,
    /// When this run asked: its own requests have this time.
    at_ns: i64,
}

/// Asks for files. A request that is in the queue already is not asked for twice.
pub fn ask(
    archive: &Archive,
    files: &[FileId],
    terms: &Terms,
    to: &Path,
) -> Result<Asked, CliError> {
    let recalls: Vec<NewRecall> = files
        .iter()
        .map(|&file| NewRecall {
            file,
            terms: terms.clone(),
            destination: Some(to.as_os_str().as_bytes().to_vec()),
        })
        .collect();
    let at_ns = now_ns();
    let requests = archive.catalogue.join(&recalls, at_ns)?;
    Ok(Asked { requests, at_ns })
}

impl Asked {
    /// Takes back what this run has asked for and nobody has begun to read.
    pub fn withdraw(&self, archive: &Archive) -> Result<HashSet<RequestId>, CliError> {
        let mut own = Vec::new();
        for &id in &self.requests {
            if archive.catalogue.request(id)?.created_ns == self.at_ns {
                own.push(id);
            }
        }
        let withdrawn = archive.catalogue.withdraw(&own, now_ns())?;
        Ok(withdrawn.into_iter().collect())
    }
}

/// What waits besides: it is read too, and comes where those who asked for it want it.
fn say_others(archive: &Archive, ours: usize) -> Result<(), CliError> {
    let open = archive.catalogue.open_recalls()?;
    match (open.queued + open.held + open.started).saturating_sub(ours as u64) {
        0 => {}
        count => say(format_args!(
            "tapewise: the queue has {} of others or of earlier runs; tapewise recalls these too. \
             `tapewise recall queue --archive {}` lists them, `recall cancel` removes them\n",
            units::count(count as usize, "more recall"),
            archive.directory().display()
        )),
    }
    Ok(())
}

/// Says which of these requests are not carried out because their cartridges are out of use.
pub fn say_disabled(archive: &Archive, asked: &[RequestId]) -> Result<(), CliError> {
    let open = archive.catalogue.recalls_among(asked)?;
    for (what, requests) in disabled(archive.catalogue.as_ref(), open.disabled)? {
        let files = units::count(requests.len(), "file");
        say(format_args!("tapewise: {files} not read: {what}\n"));
    }
    Ok(())
}

/// What this process did, for whomever.
pub struct Worked {
    /// All of it.
    pub did: Recalled,
    /// Of the files that it delivered, those that only others asked for.
    pub for_others: u64,
}

/// Recalls whatever waits, and shows how many files of all that are there.
fn recalled(
    archive: &Archive,
    cache: &Cache,
    stop: &Arc<AtomicBool>,
    quiet: bool,
) -> Result<Recalled, CliError> {
    let waiting = || {
        let open = archive.catalogue.open_recalls().ok()?;
        Some(open.queued + open.started)
    };
    let of = waiting();
    let complete = |_: &Drives, state: State| State {
        unit: Some("file"),
        done: of.zip(waiting()).map(|(of, left)| of.saturating_sub(left)),
        of,
        ..state
    };
    archive.with_measured_mover(cache, stop, quiet, &complete, |mover| mover.recall())
}

/// Waits until all requests are answered, or have been found to wait for volumes that cannot be had.
/// What this process did itself; nothing where others did all.
pub fn answered(
    archive: &Archive,
    asked: &[RequestId],
    window: Duration,
    stop: &Arc<AtomicBool>,
    quiet: bool,
) -> Result<Option<Worked>, CliError> {
    // Two of the list may be one request.
    let mut left = asked.to_vec();
    left.sort_unstable();
    left.dedup();
    let open = |asked: &[RequestId]| archive.catalogue.unanswered_among(asked);
    let mut said = None;
    loop {
        left = open(&left)?;
        if left.is_empty() {
            return Ok(None);
        }
        let busy = match archive.cache_if_free()? {
            Ok(cache) => {
                gather(archive, window, stop)?;
                // Those before us may have answered some since we looked.
                let ours = open(&left)?;
                if !quiet {
                    say_others(archive, ours.len())?;
                }
                if archive.is_loaded_by_hand() && !quiet {
                    pull_list::say_of_queue(archive)?;
                }
                let worked = recalled(archive, &cache, stop, quiet);
                if worked.is_err() && archive.is_loaded_by_hand() {
                    say("tapewise: still to be put in:\n");
                    pull_list::say_of_queue(archive)?;
                }
                let did = worked?;
                let mut for_others = did.delivered;
                for id in ours {
                    let state = archive.catalogue.request(id)?.state;
                    for_others -= u64::from(state == RequestState::Delivered);
                }
                return Ok(Some(Worked { did, for_others }));
            }
            Err(busy) => busy.to_string(),
        };
        if !quiet && said.as_ref() != Some(&busy) {
            say(format_args!(
                "tapewise: {busy}; {} in its queue\n",
                units::count(left.len(), "request")
            ));
            said = Some(busy);
        }
        go_on(stop)?;
        std::thread::sleep(LOOK);
    }
}
