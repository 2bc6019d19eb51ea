//! `tapewise recall queue` and `recall cancel`: what recalls still wait for, and taking it back. `recall queue --failed`,
//! `recall retry` and `recall dismiss` are in [`failed`](super::failed).

use super::failed::{self, Dismiss, Retry};
use crate::archive::Archive;
use crate::error::{CliError, Exit};
use crate::now::now_ns;
use crate::output::print;
use crate::{json, quantity, units};
use serde::Serialize;
use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::ExitCode;
use tapewise_archive::catalogue::{Request, RequestId, RequestKind, RequestState};
use tapewise_archive::deliver::shown;
use tapewise_plot::Table;

/// What can be done with recalls that wait.
#[derive(clap::Subcommand, Debug)]
pub enum Waiting {
    Queue(Queue),
    Cancel(Cancel),
    Retry(Retry),
    Dismiss(Dismiss),
}

/// List the recalls that wait in an archive's queue.
///
/// The next `tapewise recall --archive` reads these files too. They were left by a recall with
/// --keep-queued, by one that was killed, or by one that is still running.
#[derive(clap::Args, Debug)]
pub struct Queue {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// List the recalls that failed instead. They stay on this list until `tapewise recall retry` asks for them again,
    /// `tapewise recall dismiss` takes them off, or a later recall brings the file to the same place.
    #[arg(long)]
    failed: bool,
    /// Print the list as JSON.
    #[arg(long)]
    json: bool,
}

/// Cancel recalls that wait in an archive's queue.
///
/// Give the numbers that `tapewise recall queue` shows, --to for all recalls into one directory, or
/// --all. tapewise does not cancel a file that a drive is reading at this moment.
#[derive(clap::Args, Debug)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["requests", "to", "all"])))]
pub struct Cancel {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Numbers of requests, as `tapewise recall queue` shows them.
    #[arg(value_name = "REQUEST", value_parser = quantity::count::<i64>)]
    requests: Vec<i64>,
    /// Cancel all recalls into this directory.
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Cancel all recalls of the archive.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(what: &Waiting) -> Result<ExitCode, CliError> {
    match what {
        Waiting::Queue(args) if args.failed => failed::list(&args.archive, args.json),
        Waiting::Queue(args) => queue(args),
        Waiting::Cancel(args) => cancel(args),
        Waiting::Retry(args) => failed::retry(args),
        Waiting::Dismiss(args) => failed::dismiss(args),
    }
}

/// The recalls that have no answer yet, oldest first.
fn open(archive: &Archive) -> Result<Vec<Request>, CliError> {
    let mut open = archive.catalogue.unanswered()?;
    open.retain(|request| request.kind == RequestKind::Recall);
    Ok(open)
}

/// A recall in the queue, for a program.
#[derive(Serialize)]
struct Entry {
    request: i64,
    path: String,
    bytes: u64,
    to: Option<String>,
    state: &'static str,
    asked_unix_ns: i64,
}

fn queue(args: &Queue) -> Result<ExitCode, CliError> {
    let archive = Archive::open_to_read(&args.archive)?;
    let held: HashSet<RequestId> = archive.catalogue.held_back()?.into_iter().collect();
    let mut entries = Vec::new();
    for request in open(&archive)? {
        let is_held = held.contains(&request.id);
        let file = archive.catalogue.file(request.file)?.file;
        entries.push(Entry {
            request: request.id.0,
            path: shown(&file.path),
            bytes: file.bytes,
            to: request.place.as_deref().map(shown),
            state: if is_held {
                "held"
            } else {
                request.state.name()
            },
            asked_unix_ns: request.created_ns,
        });
    }
    if args.json {
        json::print("recall-queue", &serde_json::json!({ "requests": entries }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if entries.is_empty() {
        print("no recall waits\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    // The first two columns stay however long the paths are.
    let mut table = Table::new("", &["request", "file", "state", "size", "to"]);
    for entry in entries {
        table.row([
            entry.request.to_string(),
            entry.path,
            entry.state.to_owned(),
            units::bytes(entry.bytes),
            entry.to.unwrap_or_else(|| "the cache".to_owned()),
        ]);
    }
    print(&crate::output::table(&table))?;
    Ok(ExitCode::SUCCESS)
}

fn cancel(args: &Cancel) -> Result<ExitCode, CliError> {
    let archive = Archive::open(&args.archive)?;
    let open = open(&archive)?;
    for number in &args.requests {
        if !open.iter().any(|request| request.id.0 == *number) {
            return Err(
                CliError::input(format!("no recall with the number {number} waits")).hint(format!(
                    "`tapewise recall queue --archive {}` lists those that wait",
                    args.archive.display()
                )),
            );
        }
    }
    let to = args.to.as_ref().map(|to| {
        let resolved = to.canonicalize();
        resolved.unwrap_or_else(|_| to.clone())
    });
    let is_meant = |request: &Request| {
        let goes_there = to
            .as_ref()
            .is_some_and(|to| request.place.as_deref() == Some(to.as_os_str().as_bytes()));
        args.all || goes_there || args.requests.contains(&request.id.0)
    };
    let meant: Vec<_> = open.iter().filter(|request| is_meant(request)).collect();
    // With the cache in our hands nobody reads: what a killed recall had begun is put back first.
    let alone = archive.cache_if_free()?.ok();
    if alone.is_some() {
        let ids: Vec<_> = meant
            .iter()
            .filter(|request| request.state == RequestState::Started)
            .map(|request| request.id)
            .collect();
        archive.catalogue.requeue(&ids)?;
    }
    let ids: Vec<_> = meant.iter().map(|request| request.id).collect();
    let cancelled = archive.catalogue.withdraw(&ids, now_ns())?.len();
    let reading = ids.len() - cancelled;
    if args.json {
        let document = serde_json::json!({ "cancelled": cancelled, "being_read": reading });
        json::print("recall-cancel", &document)?;
    } else {
        print(&format!(
            "cancelled  {}\n",
            units::count(cancelled, "recall")
        ))?;
    }
    if reading > 0 {
        let files = units::count(reading, "file");
        let said = format!("another tapewise reads {files} of these now and will deliver them");
        return Err(CliError::with(Exit::Partial, said));
    }
    Ok(ExitCode::SUCCESS)
}
