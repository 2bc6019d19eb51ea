//! `tapewise recall queue --failed`, `recall retry` and `recall dismiss`: recalls that failed, until somebody deals with
//! them.

use crate::archive::Archive;
use crate::error::CliError;
use crate::now::now_ns;
use crate::output::print;
use crate::{json, quantity, units};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tapewise_archive::catalogue::RequestId;
use tapewise_archive::deliver::shown;
use tapewise_plot::Table;

/// Ask again for recalls that failed.
///
/// Do this once the cause is gone. The recalls go back into the queue, for whoever asked before, and leave the list that
/// `tapewise recall queue --failed` prints. A recall whose file is no longer in the archive stays on the list.
#[derive(clap::Args, Debug)]
pub struct Retry {
    #[command(flatten)]
    which: Which,
}

/// Take recalls that failed off the list.
///
/// Nothing is recalled. `tapewise recall queue --failed` prints the list.
#[derive(clap::Args, Debug)]
pub struct Dismiss {
    #[command(flatten)]
    which: Which,
}

/// Some of the recalls that failed.
#[derive(clap::Args, Debug)]
#[command(group(clap::ArgGroup::new("failures").required(true).args(["requests", "all"])))]
struct Which {
    /// The archive.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    /// Numbers of requests, as `tapewise recall queue --failed` shows them.
    #[arg(value_name = "REQUEST", value_parser = quantity::count::<i64>)]
    requests: Vec<i64>,
    /// All recalls on the list.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Which {
    /// The requests that are meant. A number that is not on the list is an error before anything changes.
    fn requests(&self, archive: &Archive) -> Result<Vec<RequestId>, CliError> {
        let failures = archive.catalogue.failures(usize::MAX >> 1)?;
        let listed: Vec<RequestId> = failures.iter().map(|failure| failure.id).collect();
        if self.all {
            return Ok(listed);
        }
        let requests = self.requests.iter().map(|&number| RequestId(number));
        let requests: Vec<RequestId> = requests.collect();
        match requests.iter().find(|id| !listed.contains(id)) {
            None => Ok(requests),
            Some(RequestId(number)) => {
                let said = format!("no recall with the number {number} is on the list of failures");
                Err(CliError::input(said).hint(format!(
                    "`tapewise recall queue --failed --archive {}` prints the list",
                    self.archive.display()
                )))
            }
        }
    }
}

/// A recall that failed, for a program.
#[derive(Serialize)]
struct Entry {
    request: i64,
    /// How often it has failed since somebody dealt with it.
    attempts: u64,
    user: String,
    path: String,
    to: Option<String>,
    cause: Option<&'static str>,
    why: String,
    failed_unix_ns: i64,
}

/// Prints the list.
pub fn list(directory: &Path, as_json: bool) -> Result<ExitCode, CliError> {
    let archive = Archive::open_to_read(directory)?;
    let mut entries = Vec::new();
    let failures = archive.catalogue.failures(usize::MAX >> 1)?;
    let ids: Vec<RequestId> = failures.iter().map(|failure| failure.id).collect();
    let attempts = archive.catalogue.attempts(&ids)?;
    for (failure, attempts) in failures.into_iter().zip(attempts) {
        entries.push(Entry {
            request: failure.id.0,
            attempts,
            path: shown(&archive.catalogue.file(failure.file)?.file.path),
            user: failure.terms.user,
            to: failure.place.as_deref().map(shown),
            cause: failure.cause.map(|cause| cause.name()),
            why: failure.reason.unwrap_or_default(),
            failed_unix_ns: failure.done_ns.unwrap_or(failure.created_ns),
        });
    }
    if as_json {
        json::print("recall-failed", &serde_json::json!({ "requests": entries }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if entries.is_empty() {
        print("no recall that failed is left to deal with\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new("", &["request", "file", "why", "to", "attempts"]);
    for entry in entries {
        table.row([
            entry.request.to_string(),
            entry.path,
            entry.why,
            entry.to.unwrap_or_else(|| "the cache".to_owned()),
            entry.attempts.to_string(),
        ]);
    }
    print(&crate::output::table(&table))?;
    Ok(ExitCode::SUCCESS)
}

/// Puts recalls back into the queue.
pub fn retry(args: &Retry) -> Result<ExitCode, CliError> {
    let archive = Archive::open(&args.which.archive)?;
    let requests = args.which.requests(&archive)?;
    let left = archive.catalogue.retry(&requests, now_ns())?.len();
    let gone = requests.len() - left;
    if args.which.json {
        let document = serde_json::json!({ "queued": left, "gone": gone });
        json::print("recall-retry", &document)?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&format!("queued     {}\n", units::count(left, "recall")))?;
    if gone > 0 {
        print(&format!(
            "gone       {}: the archive does not have the files any more; `tapewise recall dismiss` takes them off the \
             list\n",
            units::count(gone, "recall")
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Takes recalls off the list.
pub fn dismiss(args: &Dismiss) -> Result<ExitCode, CliError> {
    let archive = Archive::open(&args.which.archive)?;
    let requests = args.which.requests(&archive)?;
    let left = archive.catalogue.dismiss(&requests, now_ns())?.len();
    if args.which.json {
        let document = serde_json::json!({ "dismissed": left });
        json::print("recall-dismiss", &document)?;
    } else {
        print(&format!("dismissed  {}\n", units::count(left, "recall")))?;
    }
    Ok(ExitCode::SUCCESS)
}
